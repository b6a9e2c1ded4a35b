#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Figure 21's tree with real programs over memif: three routers, the one at the root on two lcores, and a sender that
# plays all hosts. A multicast flow pays each link of its tree once beside a unicast flow on each of three links.
# Usage: multicast_test.py ROUTER SENDER
import csv
import json
import pathlib
import re
import sys

import gate
import world

sys.path[:0] = [str(world.ROOT / "tests")]
from undisturbed import undisturbed  # noqa: E402

FIGURE = world.ROOT / "configs" / "paper" / "fcp-fig21.yaml"
ROUTERS = {"root": "[0, 1]", "left": "0", "right": "1"}  # and their lcores
SECONDS, FROM = 8, 5  # s of the run, and from when on rates count
# Mbit/s: budgets of 1 $/s by the sums of prices.
WANTED = {"multicast": 3.93, "unicast1": 6.07, "unicast2": 16.07, "unicast3": 36.07}
WITHIN = 0.05


def topology():
    """The figure's file with ports, the root on two lcores, and under the preset for real machines."""
    text = FIGURE.read_text().replace("preset: paper", "preset: turnpike")
    for node, lcores in ROUTERS.items():
        text = text.replace(f"{node}: {{}}", f"{node}: {{ lcores: {lcores} }}")
    text = re.sub(r"(rate: \d+ [MG]bps, delay: 5 ms)", r"\1, attach: memif", text)
    path = pathlib.Path("/run/multicast.yaml")
    path.write_text(text)
    return path


def mean_rates(path):
    """Mean Mbit/s of each flow from FROM on."""
    with open(path) as file:
        rows = [row for row in csv.DictReader(file) if row["flow"] and FROM <= float(row["t"]) < SECONDS - 0.5]
    sums = {}
    for row in rows:
        flow = re.sub(r"\W.*", "", row["flow"])
        sums.setdefault(flow, []).append(float(row["rate_mbps"]))
    return {flow: sum(rates) / len(rates) for flow, rates in sums.items()}


def play(tap, router_program, path, sender):
    """(0 if every rate is right, the rates) of one run."""
    routers = {node: gate.run_router(router_program, path, node) for node in ROUTERS}
    paying = world.Program(sender, path, "--duration", f"{SECONDS}s", "--out", "/run/results", "--live", "off",
                           namespace="gate")
    code = paying.wait(SECONDS + 60)
    tap.check("the sender ends by itself, exit code 0", code == 0, code, paying.output()[-3000:],
              *(r.output()[-1000:] for r in routers.values()))
    for node, router in routers.items():
        gate.stop_router(tap, router, node)
    if code != 0:
        return 1, {}
    counters = [json.loads(pathlib.Path(f"/run/{n}/router-{n}.json").read_text()) for n in ROUTERS]
    tap.check("every router made copies and took answers",
              all(c["originated"] > 100 and c["delivered"] > 100 for c in counters),
              *((c["originated"], c["delivered"]) for c in counters))
    rates = mean_rates("/run/results/rates.csv")
    return 0 if all(right(rates).values()) else 1, rates


def right(rates):
    return {flow: abs(rates.get(flow, 0) - wanted) <= WITHIN * wanted for flow, wanted in WANTED.items()}


def main():
    router_program, sender = sys.argv[1:3]
    tap = gate.enter()
    world.add_namespaces("gate")
    path = topology()
    (_, rates), machine, disturbed = undisturbed("a tree", lambda: play(tap, router_program, path, sender))
    for flow, is_right in right(rates).items():
        said = f"{flow} got {rates.get(flow, 0):.2f} of {WANTED[flow]:.2f} Mbit/s"
        if disturbed and not is_right:
            tap.skip(said, machine)
        else:
            tap.check(said, is_right, machine)
    tap.finish()


if __name__ == "__main__":
    main()
