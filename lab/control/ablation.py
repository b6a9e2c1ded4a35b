# SPDX-License-Identifier: BSD-3-Clause
# Measures the effect of each part of the default law: plays cases with the part removed or changed.
import csv
import dataclasses

import results
from play import play_all

# Name of the removed or changed part -> its setting of the bottleneck's law, and of the flows' protocol.
FORMS = {
    "as it is": ({}, {}),
    "no turns": ({"without": "turns"}, {}),
    "no ease": ({"without": "ease"}, {}),
    "no credit": ({"without": "credit"}, {}),
    "no usual price": ({"without": "usual_price"}, {}),
    "no overbooking": ({"without": "overbooking"}, {}),
    "no margin": ({"without": "margin"}, {}),
    "no discount": ({"without": "discount"}, {}),
    "no queue term": ({"alpha": 0}, {}),
    "start_share 0.25": ({"start_share": 0.25}, {}),
    "growth 64": ({"growth": 64}, {"growth": 64}),
    "growth 2": ({"growth": 2}, {"growth": 2}),
    "promise_life 1": ({"promise_life": 1}, {"promise_life": 1}),
    "promise_life 0.1": ({"promise_life": 0.1}, {"promise_life": 0.1}),
    "first_round 1": ({}, {"first_round": 1}),
    "syn_packets 10": ({}, {"syn_packets": 10}),
}
# Case -> its flows and workloads, and the figures that its columns show.
SHORT = ("workloads.short",)
CASES = {
    "load/10k/100M/100ms/0.9": (SHORT, ("queue_ms", "afct_s")),
    "load/pareto/100M/10ms/0.9": (SHORT, ("queue_ms", "loss")),
    "load/pareto/100M/100ms/1.0": (SHORT, ("queue_ms", "loss")),
    "incast/1000x30k/100M": (("workloads.burst",), ("queue_max_ms", "loss")),
    "incast/100x300k/100M": (("workloads.burst",), ("queue_max_ms", "loss")),
    "figure4/ascending": (tuple(f"flows.flow{i}" for i in range(1, 6)), ("utilisation", "queue_ms")),
    "figure11/30%": (("workloads.short", "flows.long"), ("utilisation", "queue_ms")),
    "figure5": (SHORT, ("queue_ms", "afct_s")),
}


def words(values):
    return "{fcp: {" + ", ".join(f"{k}: {v}" for k, v in values.items()) + "}}"


def form_of(case, link, flow):
    traffic, shown = CASES[case.name]
    settings = dict(case.settings)
    if link:
        settings["links.bottleneck.law"] = words(link)
    if flow:
        settings |= {f"traffic.{name}.protocol": words(flow) for name in traffic}
    return dataclasses.replace(case, settings=settings, bounds={}, shown=shown)


def compare(cases, preset, seeds, options, out, progress):
    """Prints a line per form, with means over the seeds, and writes ablation.csv. Returns why runs failed."""
    cases = [c for c in cases if c.name in CASES]
    columns = [(c.name, figure) for c in cases for figure in CASES[c.name][1]]
    rows, failed = [], []
    for form, (link, flow) in FORMS.items():
        runs = play_all([form_of(c, link, flow) for c in cases], {preset: seeds}, options, progress)
        found = {(r["case"], r["figure"]): r.get("mean") for r in results.rows_of(runs)}
        failed += results.failures(runs)
        rows.append([form, *(found.get(c) for c in columns)])
    with (out / "ablation.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["form", *(f"{c} {f}" for c, f in columns)], *rows])
    for i, (case, figure) in enumerate(columns, 1):
        print(f"{i:3} {case}: {figure}")
    print("\n" + " " * 18 + "".join(f"{i:>10}" for i in range(1, len(columns) + 1)))
    for form, *values in rows:
        print(f"{form:<18}" + "".join(f"{results.number(v):>10}" for v in values))
    return failed
