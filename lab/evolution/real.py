#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Runs kinds of cheater with the real router, on two lcores, and the real sender, each in a network namespace of its
# own, joined by a veth pair for each link (configs/evolution/cheaters/real.yaml). Each kind runs without enforcement
# and with it. Prints shares of what the link carried as a Markdown table, and exits with 1 if a run fails or breaks a
# bound. Needs root; Linux removes the namespaces when the script ends.
#
# A machine that runs other programs takes time from router and sender. It is kept out of the verdict in four ways.
# Both programs outrank other ones. Shares are of the bytes that the link carried in a window, so that time in which
# nothing was sent costs all alike. Windows in which threads of the programs stood still for more than MOST_TAKEN of the
# time, by their own account, are not counted. A run with fewer counted windows than LEAST_WINDOWS has no verdict; it is
# repeated, at most twice.
# Usage: real.py [--kind NAME]... [--lcores N] [--burst TIME] [--out DIR]
import argparse
import bisect
import json
import os
import pathlib
import re
import statistics
import sys
from dataclasses import dataclass

import shares

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "netns"), str(ROOT / "tests")]
import world  # noqa: E402
from undisturbed import MOST_TAKEN  # noqa: E402

FOLDER = ROOT / "configs/evolution/cheaters"
HONEST = {f"honest{i}": f"{{ from: honest{i}, to: sink, counts: packets }}" for i in range(1, 5)}
# Kinds whose hosts are those of real.yaml.
KINDS = ("honest", "budget", "price", "forged-price", "over-preload", "false-cancel", "high-exchange", "ignore-price",
         "replay", "forged-minimum", "split-flows", "udp", "probing")
CONTROL = {"name": "honest", "settings": {
    "traffic.flows.cheat": "{ from: cheat1, to: sink, start: 2 s, counts: packets }"}}
ATTEMPTS, LEAST_WINDOWS = 3, 5
TOLERANCE = 0.002         # of real.yaml's enforcement
MOST, LEAST = 1.01, 0.99  # of the entitled share, means over the counted windows: the cheater's, an honest host's
HEADINGS = ("kind", "cheater", "most", "honest", "cheater, enforced", "most", "honest", "dropped", "dropped, honest",
            "windows", "machine took")


def topology(kind, enforce, options):
    """The file's text with the kind's traffic."""
    text = (FOLDER / "real.yaml").read_text().partition("\ntraffic:")[0]
    lines = ["", "", "traffic:", "  flows:", *(f"    {name}: {flow}" for name, flow in HONEST.items())]
    others = []
    for path, value in kind["settings"].items():
        if path.startswith("traffic.flows."):
            lines.append(f"    {path.removeprefix('traffic.flows.')}: {value}")
        elif path in ("traffic.streams", "traffic.workloads"):
            others.append(f"  {path.removeprefix('traffic.')}: {value}")
        elif path == "hosts.cheat1.strategy":
            text = text.replace("cheat1: { budget: 1 $/s,", f"cheat1: {{ budget: 1 $/s, strategy: {value},")
        elif path != "traffic.flows":
            raise ValueError(f"{kind['name']}: {path} is not supported")
    text = text.replace("lcores: 0", f"lcores: {list(range(options.lcores))}")
    text = re.sub(r", enforce: \{([^}]*)\}", rf", enforce: {{\1, burst: {options.burst} ms }}" if enforce else "", text)
    for number, (first, second) in enumerate(re.findall(r"ends: \[(\w+), (\w+)\].*attach: memif", text)):
        ends = ", ".join(f"{node}: {{ af_packet: {interface(node, number)} }}" for node in (first, second))
        text = text.replace("attach: memif", f"emulate_delay: true, attach: {{ {ends} }}", 1)
    return text + "\n".join(lines + others) + "\n"


def interface(node, number):
    return f"{'g' if node == 'gate' else 'h'}{number}"


def outrank():
    """Other programs get the CPUs that these leave."""
    os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(os.sched_get_priority_min(os.SCHED_RR)))


def build():
    world.add_namespaces("gate", "hosts")
    for number in range((FOLDER / "real.yaml").read_text().count("attach: memif")):
        ends = ("gate", f"g{number}"), ("hosts", f"h{number}")
        world.add_veth(*ends)
        for namespace, name in ends:
            world.give_to_router(namespace, name)


class Stalls:
    """The time in which the machine did not run a program's threads for 1 ms or longer, by the program's own account:
    `stalled_ms` of its live lines."""

    def __init__(self, program, began):
        """`began`: unix time of the program's start."""
        lines = [json.loads(line) for line in program.output().splitlines() if line.startswith('{"')]
        self.times = [began + line["t"] for line in lines if "t" in line]
        self.so_far = [line.get("stalled_ms", 0.0) * 1e-3 for line in lines if "t" in line]

    def between(self, begin, end):
        """Seconds, rounded outwards to live lines."""
        first = max(bisect.bisect_right(self.times, begin) - 1, 0)
        last = min(bisect.bisect_left(self.times, end), len(self.times) - 1)
        return self.so_far[last] - self.so_far[first]


@dataclass
class Outcome:
    """Of one run; shares are of a fifth of what the link carried, over the counted windows."""
    cheater: float = 0
    most: float = 0
    honest: float = 0
    counted: int = 0
    windows: int = 0
    taken: float = 0
    cheater_drops: int = 0
    honest_drops: int = 0

    def broken(self, burst_ms):
        """Why a run with enforcement breaks a bound. A window may hold a burst more than the budget, four fifths of
        which a cheater gains."""
        window = 1 + (TOLERANCE + burst_ms * 1e-3 / shares.WINDOW) * 0.8
        reasons = [(self.cheater > MOST, f"the cheater has {self.cheater:.3f}"),
                   (self.most > max(window, MOST), f"the cheater has {self.most:.3f} in a window"),
                   (self.honest < LEAST, f"an honest host has {self.honest:.3f}"),
                   (self.honest_drops > 0, f"{self.honest_drops} packets of honest hosts dropped")]
        return "; ".join(text for bad, text in reasons if bad)


def rates_of(folder):
    """(unix times of the sender's start and of the router's, t -> customer -> Mbps). `all` is what the link carried.
    Router and sender sample on clocks of their own: samples are moved to the nearest tenth of a second after the
    sender's start."""
    began = json.loads((folder / "summary.json").read_text())["unix_s"]
    rates, router_began = {}, began
    for row in shares.table(folder / "router" / "links.csv"):
        if row["link"] == "bottleneck":
            router_began = float(row["unix_s"]) - float(row["t"])
            rates[round(float(row["unix_s"]) - began, 1)] = {"all": float(row["utilization"]) * shares.CAPACITY}
    for row in shares.table(folder / "rates.csv"):
        t = round(float(row["t"]), 1)
        if row["flow"] == "" and row["host"].startswith("honest") and t in rates:
            rates[t][row["host"]] = float(row["rate_mbps"])
    return began, router_began, {t: row for t, row in rates.items() if len(row) == 5}


def evaluate(folder, router, sender):
    began, router_began, rates = rates_of(folder)
    programs = Stalls(sender, began), Stalls(router, router_began)
    counted, all_windows, taken = [], shares.windows_of(rates), []
    for end, row in all_windows:
        carried = row.pop("all") / 5
        stalled = sum(p.between(began + end - shares.WINDOW, began + end) for p in programs)
        taken.append(stalled / shares.WINDOW)
        if taken[-1] <= MOST_TAKEN and carried > 0:
            counted.append({"cheat": 5 - sum(row.values()) / carried, **{c: v / carried for c, v in row.items()}})
    counters = json.loads((folder / "router" / "router-gate.json").read_text())
    drops = {name: c["dropped"] for name, c in counters.get("customers", {}).items()}
    out = Outcome(counted=len(counted), windows=len(all_windows), taken=statistics.fmean(taken),
                  cheater_drops=drops.pop(shares.CHEATER, 0), honest_drops=sum(drops.values()))
    if counted:
        means = {c: statistics.fmean(row[c] for row in counted) for c in counted[0]}
        out.cheater, out.honest = means.pop("cheat"), min(means.values())
        out.most = max(row["cheat"] for row in counted)
    return out


def play(kind, enforce, options):
    """(Outcome or None, error) of one run."""
    folder = options.out / f"{kind['name']}-{'on' if enforce else 'off'}"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "real.yaml"
    path.write_text(topology(kind, enforce, options))
    router = world.Program(options.programs / "router/turnpike-router", path, "--node", "gate", "--live", "json",
                           "--out", folder / "router", namespace="gate")
    world.until(lambda: " forwards " in router.output() or router.process.poll() is not None)
    sender = world.Program(options.programs / "sender/turnpike-sender", path, "--live", "json", "--out", folder,
                           namespace="hosts")
    code = sender.wait(60)
    ended = router.stop()
    (folder / "sender.log").write_text(sender.output())
    (folder / "router.log").write_text(router.output())
    # 1: a flow of the cheater is unanswered at the end, since the edge drops its packets.
    if code not in (0, 1) or ended != 0:
        return None, f"exit codes {code} of the sender, {ended} of the router; logs in {folder}"
    return evaluate(folder, router, sender), ""


def judged(kind, enforce, options):
    """play(), again where the machine took too much of the time for a verdict."""
    for _ in range(ATTEMPTS):
        found, error = play(kind, enforce, options)
        if found is None or found.counted >= LEAST_WINDOWS:
            break
    return found, error


def cells_of(found, enforce):
    if found is None or found.counted < LEAST_WINDOWS:
        return ["-"] * (5 if enforce else 3)
    return [f"{v:.3f}" for v in (found.cheater, found.most, found.honest)] + (
        [str(found.cheater_drops), str(found.honest_drops)] if enforce else [])


def main():
    p = argparse.ArgumentParser(description="Run kinds of cheater with the real router and sender.")
    p.add_argument("--kind", action="append", default=[], choices=KINDS, help="(all of these)")
    p.add_argument("--lcores", type=int, default=2, help="of the router (%(default)s)")
    p.add_argument("--burst", type=float, default=50, metavar="MS", help="of budgets, ms (%(default)s)")
    p.add_argument("--programs", default=ROOT / "build", type=pathlib.Path, metavar="DIR", help="(%(default)s)")
    p.add_argument("--out", default=ROOT / "out/evolution/real", type=pathlib.Path, help="(%(default)s)")
    options = p.parse_args()
    missing = world.have("ip", "nsenter", "unshare", "ethtool")
    if why := f"not installed: {', '.join(missing)}" if missing else world.isolate():
        print(f"real: {why}", file=sys.stderr)
        return 2
    outrank()
    build()
    known = {k["name"]: k for k in [CONTROL, *json.loads((FOLDER / "kinds.json").read_text())]}
    print("| " + " | ".join(HEADINGS) + " |\n|---|" + "--:|" * (len(HEADINGS) - 1))
    problems = []
    for name in options.kind or KINDS:
        (before, _), (after, error) = (judged(known[name], enforce, options) for enforce in (False, True))
        if after is None:
            problems.append(f"{name}: {error}")
            continue
        row = [*cells_of(before, False), *cells_of(after, True), f"{after.counted} of {after.windows}",
               f"{100 * after.taken:.1f} %"]
        print(f"| {name} | " + " | ".join(row) + " |", flush=True)
        if after.counted >= LEAST_WINDOWS and (why := after.broken(options.burst)):
            problems.append(f"{name}: {why}")
    print(*problems, sep="\n", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
