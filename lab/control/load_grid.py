# SPDX-License-Identifier: BSD-3-Clause
# Cases of short flows alone: offered load, sizes, round trips and rates.
from case import Case, at_most

PACKET = 1500       # B
LOADS = [0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1]
ROUND_TRIPS = [10, 100, 300]                    # ms
RATES = [100, 1000, 10000]                      # Mbps
PACKETS = {"quick": 50e3, "default": 250e3, "full": 1e6}  # that a run offers, about
LARGE = 20e3        # flows a second from which on a run takes gigabytes: the lab makes room for 4 s of them
LEAST_ROUND_TRIPS = 20                          # that arrivals last at least

# Name -> sizes in B by workload: share of the flows, value in the file, mean.
SIZES = {
    "packet": {"short": (1, "{fixed: 1500 B}", 1500)},
    "3k": {"short": (1, "{fixed: 3 KB}", 3000)},
    "10k": {"short": (1, "{fixed: 10 KB}", 10000)},
    "pareto": {"short": (1, "{pareto: {mean: 30 KB, shape: 1.2, cap: 20 MB}}", 30000)},
    "bimodal": {"small": (0.9, "{fixed: 3 KB}", 3000), "large": (0.1, "{fixed: 300 KB}", 300000)},
}
FILES = {"packet": "short-flows", "3k": "short-flows", "10k": "short-flows", "pareto": "short-flows",
         "bimodal": "two-sizes"}


def timing(load, rate, rtt, packets):
    """Times in s: arrivals end, measuring begins, the run ends."""
    arrivals = max(packets * PACKET * 8 / (load * rate * 1e6), LEAST_ROUND_TRIPS * rtt)
    return arrivals, max(0.2 * arrivals, 8 * rtt), arrivals + max(0.3 * arrivals, 10 * rtt)


def seconds(t):
    return f"{t * 1e3:.6g} ms"


def settings(load, sizes, rate, rtt, packets, hosts=("source",)):
    end, begin, stop = timing(load, rate, rtt, packets)
    out = {
        "run.duration": seconds(stop),
        "run.sample": seconds(max(0.01, round(stop / 400, 2))),
        "run.measure": f"{{steady: {{from: {seconds(begin)}, to: {seconds(end)}}}}}",
        "links.bottleneck.rate": f"{rate} Mbps",
        "links.bottleneck.delay": f"{rtt * 1e3 / 2:g} ms",
    }
    for host in hosts:
        out[f"links.{host}-gate.rate"] = f"{10 * rate} Mbps"
    for name, (share, size, _) in SIZES[sizes].items():
        flow = f"traffic.workloads.{name}"
        out[f"{flow}.arrivals"] = f"{{poisson: {share * load * rate * 1e6 / 8 / mean_size(sizes):.6g} /s}}"
        out[f"{flow}.size"] = size
        out[f"{flow}.stop"] = seconds(end)
    return out


def mean_size(sizes):
    return sum(share * size for share, _, size in SIZES[sizes].values())


def bounds(load):
    kept = {"missing": at_most(0.03), "refused": at_most(0), "spend": at_most(1.02)}
    if load <= 0.9:
        kept |= {"loss": at_most(0), "queue_ms": at_most(0.5),
                 "afct_vs_ps": at_most(1), "over_clearing": at_most(3)}
    return kept


def level(load, sizes, rate, rtt):
    """A third of the grid by default: all sizes, rates and round trips, at fewer loads where runs are long."""
    if rate == 100 and rtt == 0.1 and (sizes, load) in {("packet", 0.7), ("3k", 0.9), ("10k", 0.5), ("10k", 0.9),
                                                        ("pareto", 0.7), ("pareto", 0.9), ("bimodal", 0.9),
                                                        ("10k", 1.0)}:
        return "quick"
    if rate == 100:
        return "default" if load in (0.3, 0.5, 0.7, 0.9, 1.0, 1.1) else "full"
    if rate == 1000:
        return "default" if load in (0.5, 0.9) else "full"
    return "default" if load == 0.9 and rtt <= 0.1 else "full"


def case(load, sizes, rate, rtt, packets):
    return Case(
        name=f"load/{sizes}/{rate}M/{rtt * 1e3:g}ms/{load}", file=f"configs/control/{FILES[sizes]}.yaml",
        settings=settings(load, sizes, rate, rtt, packets), bounds=bounds(load), load=load, round_trip=rtt,
        shown=("utilisation", "afct_s", "ps_afct_s", "unfinished"), level=level(load, sizes, rate, rtt),
        large=load * rate * 1e6 / 8 / mean_size(sizes) > LARGE)


def shared(load, sizes, rtt, packets):
    """Two hosts that share 1 $/s each; processor sharing is between flows, so no bound on completion times."""
    kept = bounds(load)
    kept.pop("afct_vs_ps", None)
    return Case(
        name=f"shared/{sizes}/100M/{rtt * 1e3:g}ms/{load}", file="configs/control/two-hosts.yaml",
        settings=settings(load, sizes, 100, rtt, packets, ("alice", "bob")), bounds=kept, load=load, round_trip=rtt,
        shown=("utilisation", "afct_s", "ps_afct_s", "unfinished"),
        level="quick" if (load, sizes, rtt) in {(0.7, "10k", 0.1), (0.9, "pareto", 0.1)} else "default")


def overload(rtt):
    """Load 1.5 for 10 s leaves 5 s of work, which is the least time that any law needs; five more seconds are
    allowed."""
    end = 10
    return Case(
        name=f"overload/10k/100M/{rtt * 1e3:g}ms", file="configs/control/short-flows.yaml",
        settings={
            "run.duration": "25 s", "run.measure": f"{{steady: {{from: 2 s, to: {end} s}}}}",
            "links.bottleneck.delay": f"{rtt * 1e3 / 2:g} ms", "traffic.workloads.short.stop": f"{end} s",
            "traffic.workloads.short.arrivals": "{poisson: 1875 /s}"},
        bounds={"drained_s": at_most(5), "unfinished": at_most(0), "refused": at_most(0), "missing": at_most(0.03)},
        shown=("utilisation", "loss", "queue_ms"), load=1.5, round_trip=rtt, level="quick")


def cases(level):
    packets = PACKETS[level]
    grid = [case(load, sizes, rate, rtt / 1e3, packets)
            for rate in RATES for rtt in ROUND_TRIPS for sizes in SIZES for load in LOADS]
    grid += [shared(load, sizes, rtt, packets)
             for sizes in ("3k", "10k", "pareto") for rtt in (0.01, 0.1) for load in (0.5, 0.7, 0.9, 1.0)]
    return grid + [overload(0.1)]
