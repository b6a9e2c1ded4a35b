#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Renders the tables of docs/performance.md, between its markers, from a file that bench/run.py wrote. Without an
# argument, from the file that the page names. --check changes nothing and fails where the page differs from the
# rendered one.
import argparse
import json
import math
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "performance.md"
SOURCE = re.compile(r"<!-- figures from (\S+) -->")
LINE_RATE = 100e9  # bit/s
BURST = 32
NOT_MEASURED = "Not measured in this run.\n"
TXONLY = "testpmd txonly"  # measured beside programs that generate packets


def table(head, rows):
    """Markdown; all columns but the first are figures."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" + "---:|" * (len(head) - 1)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def number(v):
    """Three significant digits, no exponent."""
    if v >= 1000:
        return f"{v:,.0f}"
    return f"{v:.0f}" if v >= 100 else f"{v:.1f}"


def cycles(figures, name):
    """A figure of a benchmark, or the reason why there is none."""
    f = figures.get(name)
    if f is None:
        return "not run"
    return f"not run: {f['error']}" if "error" in f else number(f["cycles"])


def times(figures, slow, fast):
    """Ratio of the cycles of one to those of the other."""
    a, b = figures.get(slow, {}), figures.get(fast, {})
    return f"{a['cycles'] / b['cycles']:.1f}" if "cycles" in a and "cycles" in b else "-"


def commit_rows(commits):
    """One of all parts, or which parts are of which."""
    alike = {}
    for part, commit in commits.items():
        alike.setdefault(commit, []).append(part)
    return [("commit" if len(alike) == 1 else f"commit of {', '.join(parts)}", commit)
            for commit, parts in alike.items()]


def paper_state(m):
    return f" ({m['paper_state_bytes'] / 1024:.0f} with preset paper)" if "paper_state_bytes" in m else ""


def set_up(m):
    """Rows of the machine's set-up; results of earlier versions have none of them."""
    pages = ", ".join(f"{n['total']} of {size}" for size, n in m.get("hugepages", {}).items() if n["total"])
    facts = [("kernel", m.get("kernel")), ("its command line", " ".join(m.get("command_line", []))),
             ("isolated CPUs", m.get("isolated")), ("frequency governor", ", ".join(m.get("governors", []))),
             ("hugepages", pages)]
    return [(name, value or "-") for name, value in facts] if "kernel" in m else []


def render_machine(r):
    m = r["machine"]
    counted = any("instructions" in f for f in r.get("micro", {}).values())
    rows = [("processor", f"{m['cpu']}, {m['cpus']} CPUs, {m['tsc_hz'] / 1e9:g} GHz time stamp counter"),
            ("vector instructions it has", ", ".join(m["vectors"])),
            ("vector instructions used everywhere", ", ".join(m["compiled_for"])),
            ("target, optimisation", " ".join([*m["target"], m["optimization"]])),
            ("compiler", m["compiler"]), ("DPDK", m["dpdk"]), *set_up(m),
            ("instructions", "counted" if counted else "no performance counters on this machine: "
             "`make bench-check` counts them with callgrind"),
            *([("state of a link, each lcore", f"{m['fcp_state_bytes'] / 1024:.0f} KiB of FCP"
                f"{paper_state(m)}, "
                f"{m['link_state_bytes'] / 1024:.0f} KiB of counters")] if "fcp_state_bytes" in m else []),
            *commit_rows(r["commits"]), ("date", r["date"]),
            ("figures", f"`{r['source']}`")]
    return "\n".join(["| | |", "|---|---|", *(f"| {k} | {v} |" for k, v in rows)])


def render_beside(r):
    rows = [(f"{load}, {name}", number(f["cycles"]), f"{number(f['least'])} to {number(f['most'])}",
             f"{f['ratio']:.2f}", number(r["machine"]["tsc_hz"] / f["cycles"] / 1e6))
            for load, runs in r.get("beside", {}).items() if TXONLY not in runs for name, f in runs.items()]
    return table(["packets, program", "cycles per packet", "least to most", "to testpmd mac", "Mpps"], rows)


def render_sent(r):
    rows = [(f"{load}, {name}", number(f["cycles"]), f"{number(f['least'])} to {number(f['most'])}",
             f"{f['ratio']:.2f}", number(r["machine"]["tsc_hz"] / f["cycles"] / 1e6))
            for load, runs in r["beside"].items() if TXONLY in runs for name, f in runs.items()]
    if not rows:
        return NOT_MEASURED
    return table(["packets, program", "cycles per packet", "least to most", "to testpmd txonly", "Mpps"], rows)


def render_cores(r):
    rows = []
    for load, runs in r.get("beside", {}).items():
        if "router ipv4" not in runs:
            continue
        for name in ("testpmd mac", "router ipv4", "router priced FCP"):
            f = runs[name]
            rate = LINE_RATE / 8 / f["wire"]
            cores = rate * f["cycles"] / r["machine"]["tsc_hz"]
            rows.append((f"{load}, {name}", number(f["wire"]), number(rate / 1e6),
                         number(r["machine"]["tsc_hz"] / rate), number(f["cycles"]),
                         f"{cores:.1f}", str(math.ceil(cores))))
    return table(["packets, program", "B on the wire", "Mpps at 100 Gbit/s", "cycles there are, one core",
                  "cycles it takes", "cores", "whole cores"], rows)


def render_forwarding(r):
    rows = []
    for name, f in r.get("datapath", {}).items():
        kind, load = name.split("/", 1)
        if kind != "forward":
            continue
        harness = r["datapath"].get("harness/" + load, {})
        rows.append((load, number(f["cycles"]), f"{number(f['least'])} to {number(f['most'])}",
                     number(f["items_per_second"] / 1e6), number(harness["cycles"]) if harness else ""))
    return table(["load", "cycles per packet", "least to most", "Mpps", "cycles of the ports alone"], rows)


def render_turns(r):
    rows = [(load, f["beside"], number(f["cycles"]), number(f["first"]["cycles"]), number(f["difference"]),
             f"{f['ratio']:.3f}", f"{f['ratio_low']:.3f} to {f['ratio_high']:.3f}")
            for load, f in r["turns"].items()]
    return table(["load", "beside", "cycles", "the other's", "more", "times", "middle half of times"], rows)


def render_two_lcores(r):
    rows = [(name.split("/")[1], number(f["one"] / 1e6), number(f["two"] / 1e6), f"{f['gain']:.2f}",
             f"{f['gain_apart']:.2f}")
            for name, f in r["datapath"].items() if name.startswith("two_lcores/")]
    return table(["Mpps of", "one lcore", "two, to the same links", "times one", "times one, nothing shared"], rows)


def render_sender(r):
    rows = [(f"{int(name.rsplit('/', 1)[1]):,}", number(f["cycles"]), f"{number(f['least'])} to {number(f['most'])}",
             number(f["items_per_second"] / 1e6), number(f["MB"]))
            for name, f in r.get("sender", {}).items() if name.startswith("sender/flows/")]
    return table(["paced flows", "cycles per packet and its ACK", "least to most", "Mpps", "MB of flows"], rows)


def render_pacing(r):
    rows = []
    for name, f in r.get("sender", {}).items():
        of = re.match(r"sender/pacing/flows:(\d+)/pps:(\d+)/", name)
        if of:
            for kind, who in (("gap", "the sender"), ("ideal", "reading the clock alone")):
                rows.append([f"{int(of[1]):,} flows, {int(of[2]):,} packets/s: {who}"] +
                            [number(f[f"{kind}_{what}_us"]) for what in ("p50", "p99", "p999", "stall")])
    return table(["microseconds", "half", "99 %", "99.9 %", "longest time without a poll"], rows)


def render_lab(r):
    counted = r["lab"]["instructions"]
    return table(["part of the lab", "instructions", "share"],
                 [(name, number(n), f"{100 * n / counted['all']:.0f} %") for name, n in counted.items()])


def render_lab_speed(r):
    f = r["lab"]["packets_per_second"]
    return (f"{f['median'] / 1e6:.2f} million data packets a second, median of several runs, from {f['least'] / 1e6:.2f} "
            f"to {f['most'] / 1e6:.2f} million.\n")


def render_sum(r):
    micro, ours = r["micro"], "expiring_sum/gap_ns:100/burst:"
    rows = []
    for what, name in (("`ExpiringSum`, bursts of 32", ours + "32"), ("`ExpiringSum`, bursts of 1", ours + "1"),
                       ("a deque of packets, bursts of 32", "expiring_sum/deque/gap_ns:100/burst:32"),
                       ("a deque of packets, bursts of 1", "expiring_sum/deque/gap_ns:100/burst:1"),
                       ("an `rte_timer` per packet", "expiring_sum/rte_timer/burst:32/min_time:0.300"),
                       ("`ExpiringSum`, the window moves", "expiring_sum/moving_window"),
                       ("`ExpiringSum`, its worst stream", "expiring_sum/growing")):
        rows.append((what, cycles(micro, name), times(micro, name, ours + "32")))
    return table(["window of 160 ms", "cycles per packet", "times ours"], rows)


def render_wheel(r):
    micro, rows = r["micro"], []
    for what in ("rearm", "cancel_schedule", "schedule_expire"):
        for n in (1000, 10_000, 100_000, 1_000_000):
            ours = f"timer_wheel/{what}/timers:{n}"
            rivals = [f"timer_wheel/{what}/{rival}/timers:{n}" for rival in ("rte_timer", "tbb")]
            rows.append((f"{what.replace('_', ' and ')}, {n:,}", cycles(micro, ours),
                         cycles(micro, rivals[0]), times(micro, rivals[0], ours),
                         cycles(micro, rivals[1]) if what == "schedule_expire" else "none"))
    return table(["operation, timers armed", "wheel", "`rte_timer`", "times ours", "TBB's queue"], rows)


def render_price(r):
    rows = [[f"bursts of {burst}"] + [cycles(r["micro"], f"price/burst:{burst}/links:{links}")
                                      for links in (1, 16, 256)] for burst in (1, 8, 32)]
    return table(["price stage, cycles per packet", "1 link", "16 links", "256 links"], rows)


def render_parse(r):
    rows = [[kind] + [cycles(r["micro"], f"parse/{kind}/burst:{burst}") for burst in (1, 8, 32)]
            for kind in ("ipv4", "ipv6", "fcp")]
    return table(["parse stage, cycles per packet", "bursts of 1", "8", "32"], rows)


def render_fib(r):
    rows = [[kind] + [cycles(r["micro"], f"fib/{kind}/routes:{n}")
                      for n in (1, 1000, 100_000, 1_000_000)] for kind in ("ipv4", "ipv6")]
    return table([f"look-ups in bursts of {BURST}, cycles each", "1 route", "1,000", "100,000",
                  "1,000,000"], rows)


def render_others(r):
    shown = ("expiring_sum", "timer_wheel/rearm", "timer_wheel/cancel", "timer_wheel/schedule", "fib/",
             "price/", "parse/")
    rows = [(name, number(f["ns"]), cycles(r["micro"], name)) for name, f in r["micro"].items()
            if not name.startswith(shown)]
    return table(["benchmark", "ns per iteration", "cycles per item"], rows)


BLOCKS = {"machine": render_machine, "beside": render_beside, "cores": render_cores,
          "forwarding": render_forwarding, "turns": render_turns, "two_lcores": render_two_lcores,
          "sent": render_sent, "sender": render_sender,
          "pacing": render_pacing, "lab": render_lab, "lab_speed": render_lab_speed,
          "sum": render_sum, "wheel": render_wheel, "price": render_price, "parse": render_parse,
          "fib": render_fib, "others": render_others}


# Block -> the part of the results that it needs; a run may lack parts.
PARTS = {"beside": "beside", "cores": "beside", "sent": "beside", "forwarding": "datapath",
         "turns": "turns", "two_lcores": "datapath",
         "sender": "sender", "pacing": "sender", "lab": "lab", "lab_speed": "lab",
         **dict.fromkeys(("sum", "wheel", "price", "parse", "fib", "others"), "micro")}


def block(name, results):
    if name in PARTS and PARTS[name] not in results:
        return NOT_MEASURED
    return BLOCKS[name](results)


def natural(item):
    """A key by which names/of:10 come before names/of:200."""
    return [int(piece) if piece.isdigit() else piece for piece in re.split(r"(\d+)", item[0])]


def rendered(page, results, source):
    """The page with every block made anew from these results."""
    results = {**results, "source": source,
               # Sorted, since benchmarks run in random order.
               **{part: dict(sorted(results[part].items(), key=natural))
                  for part in ("micro", "datapath", "sender") if part in results}}
    page = SOURCE.sub(f"<!-- figures from {source} -->", page)
    return re.sub(r"(<!-- figures: (\w+) -->\n).*?(<!-- /figures -->)",
                  lambda m: f"{m[1]}{block(m[2], results)}\n{m[3]}", page, flags=re.S)


def main():
    options = argparse.ArgumentParser(description="Renders docs/performance.md.")
    options.add_argument("results", type=pathlib.Path, nargs="?", help="results of bench/run.py")
    options.add_argument("--check", action="store_true", help="fail where the page is another")
    chosen = options.parse_args()
    page = PAGE.read_text()
    path = (chosen.results or ROOT / SOURCE.search(page)[1]).resolve()
    new = rendered(page, json.loads(path.read_text()), path.relative_to(ROOT).as_posix())
    if chosen.check:
        if new != page:
            print(f"docs/performance.md differs from bench/render.py's output for {path}", file=sys.stderr)
        return int(new != page)
    PAGE.write_text(new)
    return 0


if __name__ == "__main__":
    sys.exit(main())
