#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Writes a topology of many tenants on one link, each with a group of its own: weights, budgets, numbers of flows and
# round trips are random, from one seed; a tenth of the tenants is idle. With --check it compares the shares in a run's
# summary.json with the weights instead.
# Usage: tenants.py > configs/evolution/tenants.yaml
#        tenants.py --check out/evolution/tenants/summary.json
import argparse
import json
import pathlib
import random
import sys

SEED, TENANTS, RATE = 1, 1000, 5000  # Mbps
SPAN = "shared"
TOP = """\
# yaml-language-server: $schema=../turnpike.schema.json
# Written by lab/evolution/tenants.py: {tenants} tenants share {rate} Mbps by their weights, 1 to 4. They differ in
# budgets (1e-6 to 1e6 $/s), flows (1 to 8), round trips (10 to 30 ms) and starts (0 to 1 s). Every tenth is idle.
run: {{ duration: 6 s, sample: 1 s, quantum: 200 us, output: out/evolution/tenants, measure: {{ {span}: {{ from: 3 s }} }} }}
routers: {{ gate: {{}} }}
"""


def tenants(count):
    """(name, weight, budget in $/s, flows or 0, one-way delay in ms, start in ms)"""
    draw = random.Random(SEED)
    return [(f"t{i}", draw.randint(1, 4), f"{10 ** draw.uniform(-6, 6):.3e}", draw.randint(1, 8) if i % 10 else 0,
             f"{draw.uniform(1, 11):.2f}", draw.randint(0, 1000)) for i in range(1, count + 1)]


def topology(count, rate):
    every = tenants(count)
    groups = "".join(f"  {name}: {{ weight: {weight} }}\n" for name, weight, *_ in every)
    customers = "".join(f"  {name}: {{ link: {name}, budget: {budget} $/s, group: {name} }}\n"
                        for name, _, budget, *_ in every)
    hosts = "".join(f"  {name}: {{ budget: {budget} $/s }}\n" for name, _, budget, *_ in every)
    links = "".join(f"  {name}: {{ ends: [{name}, gate], rate: 1 Gbps, delay: {delay} ms }}\n"
                    for name, *_, delay, _ in every)
    flows = "".join(f"    {name}: {{ from: {name}, to: sink, count: {flows}, start: {start} ms }}\n"
                    for name, _, _, flows, _, start in every if flows > 0)
    return (TOP.format(tenants=count, rate=rate, span=SPAN) + f"groups:\n{groups}customers:\n{customers}"
            f"hosts:\n  sink: {{}}\n{hosts}links:\n"
            f"  shared: {{ ends: [gate, sink], rate: {rate} Mbps, delay: 4 ms, buffer: 1 BDP, "
            f"forward: {{ law: {{ fcp: {{ groups: link }} }} }} }}\n{links}traffic:\n  flows:\n{flows}")


def shares(summary):
    """Of each tenant with flows: its rate by that of its weight."""
    count = sum(1 for name in summary["hosts"] if name != "sink")
    active = [(name, weight) for name, weight, _, flows, *_ in tenants(count) if flows > 0]
    rates = summary["measure"][SPAN]["groups"]
    whole = sum(rates[name]["goodput_mbps"] for name, _ in active)
    weights = sum(weight for _, weight in active)
    return {name: rates[name]["goodput_mbps"] / (whole * weight / weights) for name, weight in active}


def main():
    p = argparse.ArgumentParser(description="Writes a topology of many tenants, or checks their shares.")
    p.add_argument("--tenants", type=int, default=TENANTS, help="(%(default)s)")
    p.add_argument("--rate", type=float, default=RATE, metavar="MBPS", help="of the link (%(default)s)")
    p.add_argument("--check", type=pathlib.Path, metavar="SUMMARY", help="summary.json of a run")
    p.add_argument("--within", type=float, default=0.05, help="largest deviation of a share (%(default)s)")
    chosen = p.parse_args()
    if chosen.check is None:
        sys.stdout.write(topology(chosen.tenants, chosen.rate))
        return 0
    summary = json.loads(chosen.check.read_text())
    found = shares(summary)
    off = {name: share for name, share in found.items() if abs(share - 1) > chosen.within}
    link = summary["measure"][SPAN]["links"]["shared"]
    print(f"{len(found)} tenants; shares by weight from {min(found.values()):.3f} to {max(found.values()):.3f}, "
          f"{len(off)} of them off by more than {chosen.within:.0%}; utilisation {link['utilization']:.4f}")
    for name in sorted(off, key=lambda n: -abs(off[n] - 1))[:10]:
        print(f"  {name}: {off[name]:.3f}")
    return 1 if off else 0


if __name__ == "__main__":
    sys.exit(main())
