# SPDX-License-Identifier: BSD-3-Clause
# Cases that a law of this kind finds hard, and the paper's figures that a better one must reach.
from case import Case, at_least, at_most, within

QUIET = {"loss": at_most(0), "queue_ms": at_most(1), "refused": at_most(0), "spend": at_most(1.02)}
SHORT = "traffic.workloads.short"


def runaway():
    return [Case(
        "runaway", "configs/control/runaway.yaml",
        about="Short flows of two hosts that share their budgets; the price may not climb in a half-empty link.",
        bounds={"refused": at_most(0), "price_climb": at_most(2), "missing": at_most(0.01), "spend": at_most(1.02),
                "over_clearing": at_most(3)},
        shown=("utilisation", "loss", "queue_ms", "afct_s"), load=0.49, level="quick",
        shorter={"run.duration": "12 s"})]


def several_links():
    return [
        Case("mixed-rtt", "configs/control/mixed-rtt.yaml", bounds=QUIET,
             shown=("utilisation", "afct_s", "queue_max_ms"), level="quick", shorter={"run.duration": "15 s"}),
        Case("two-links", "configs/control/two-links.yaml", bounds=QUIET, shown=("utilisation", "queue_max_ms"),
             links=("first", "second"), level="quick", shorter={"run.duration": "12 s"}),
        Case("parking-lot", "configs/control/parking-lot.yaml", bounds=QUIET, shown=("utilisation", "queue_max_ms"),
             links=("link1", "link2", "link3"), shorter={"run.duration": "12 s"}),
    ]


def incast():
    """No more loss than the paper preset has; none with 100 flows of 300 KB at 100 Mbps."""
    cases = []
    for rate in (100, 1000):
        for count in (100, 1000):
            for size in (30, 300):
                work = count * size * 1e3 * 8 / (rate * 1e6)  # s
                bounds = {"loss_vs_paper": at_most(0), "refused": at_most(0)}
                if (rate, count, size) == (100, 100, 300):
                    bounds["loss"] = at_most(0)
                cases.append(Case(
                    f"incast/{count}x{size}k/{rate}M", "configs/control/incast.yaml", bounds=bounds, span="burst",
                    settings={"run.duration": f"{2 + 2.5 * work:g} s", "links.bottleneck.rate": f"{rate} Mbps",
                              "traffic.workloads.burst.size": f"{{trace: traces/incast-{count}x{size}k.csv}}"},
                    shown=("loss", "queue_max_ms", "afct_s", "ps_afct_s", "unfinished"), round_trip=0.1, seeds=1,
                    level="quick" if count * size <= 30000 and rate == 100 else "default"))
    return cases


def five_round_trips():
    """Figure 4. With the longest round trips first the link idles until their first promises are kept, at 2.5 s,
    whatever the law: it is measured from 3 s on."""
    descending = {f"traffic.flows.flow{i}.start": f"{6 - i} s" for i in range(1, 6)}
    descending["run.measure"] = "{active: {from: 3 s}}"
    file = "configs/paper/fcp-fig4.yaml"
    shown = ("queue_ms", "queue_max_ms", "loss")
    return [
        Case("figure4/ascending", file, bounds={"utilisation": at_least(0.984)}, shown=shown, span="active", seeds=1,
             level="quick"),
        Case("figure4/descending", file, settings=descending, bounds={"utilisation": at_least(0.95)}, shown=shown,
             span="active", seeds=1, level="quick"),
    ]


def beside_long_flows():
    """Figure 11: utilisation of the link while short flows come and go beside a long one."""
    file, cases = "configs/paper/fcp-fig10-11.yaml", []
    for name, size, arrivals, budget, least in [
            ("10%", 30, 41.6, 1, 0.975), ("20%", 30, 83.2, 1, 0.97), ("30%", 30, 124.8, 1, 0.965),
            ("300k", 300, 12.5, 1, 0.955), ("10$", 30, 124.8, 10, 0.98)]:
        cases.append(Case(
            f"figure11/{name}", file, bounds={"utilisation": at_least(least)}, span="loaded",
            settings={f"{SHORT}.size": f"{{pareto: {{mean: {size} KB, shape: 1.2}}}}",
                      f"{SHORT}.arrivals": f"{{poisson: {arrivals} /s}}", "hosts.long.budget": f"{budget} $/s"},
            shown=("loss", "queue_ms", "queue_max_ms", "afct_s"),
            level="quick" if name in ("30%", "300k") else "default"))
    return cases


def papers_figures():
    short = {"afct_s": at_most(0.235), "loss": at_most(0), "queue_ms": at_most(0.3)}
    return [
        Case("figure5", "configs/paper/fcp-fig5-6.yaml", bounds=short, shown=("utilisation", "queue_max_ms"), span="",
             level="quick", shorter={"run.duration": "20 s"}),
        Case("figure5/trace", "configs/paper/fcp-fig5-6-trace.yaml", bounds=short,
             shown=("utilisation", "queue_max_ms"), span="", seeds=1),
        Case("figure9", "configs/paper/fcp-fig9.yaml",
             bounds={"input_least": at_least(0.98), "input_most": at_most(1.02)}, shown=("queue_max_ms", "loss"),
             span="ramp", seeds=1, level="quick"),
        Case("many-against-one", "configs/control/many-against-one.yaml", bounds={"share_of_many": within(1, 1.05)},
             shown=("utilisation", "loss", "queue_ms"), seeds=1, level="quick"),
    ]


def other_traffic():
    lossy = [Case(
        f"random-loss/{percent}%", "configs/control/random-loss.yaml", bounds=QUIET,
        settings={"links.bottleneck.loss": percent / 100}, shown=("utilisation", "queue_max_ms", "afct_s"),
        level="quick" if percent == 1 else "default", shorter={"run.duration": "12 s"}) for percent in (0.1, 1)]
    return lossy + [
        Case("background", "configs/control/background.yaml", bounds=QUIET, shown=("utilisation", "queue_max_ms"),
             level="quick", shorter={"run.duration": "12 s"}),
        Case("application-limited", "configs/control/application-limited.yaml", bounds=QUIET,
             shown=("utilisation", "queue_max_ms"), seeds=1, level="quick"),
        Case("reverse-path", "configs/control/reverse-path.yaml", bounds=QUIET, shown=("utilisation", "afct_s"),
             shorter={"run.duration": "12 s"}),
    ]


def cases():
    return (runaway() + several_links() + incast() + five_round_trips() + beside_long_flows() + papers_figures()
            + other_traffic())
