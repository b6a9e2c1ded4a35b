#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Runs topology files in the lab with every host as a customer of its own and all budgets enforced, and counts the
# packets that edges and audits dropped: an honest host has none. Hosts whose flows do not share the host's budget
# (`strategy: each-flow`) are customers of a large budget. Exit code 1 if a run fails or an honest host is punished.
# Usage: honest.py [--lcores N] [--set PATH=VALUE]... [FILE]...
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parents[2]
UNBOUNDED = 1e6  # $/s
# Hosts that misbehave on purpose.
LIARS = {"fcp-text-negative-preload": {"taker"}, "fcp-fig13a": {"boaster"}}
# Settings of enforcement by file. Where a class carries traffic without prices, this is not charged.
ENFORCE = {"policies": "{ charge_unpriced: false }"}


def all_files():
    configs = ROOT / "configs"
    return [configs / "demo.yaml", *sorted(configs.glob("control/*.yaml")), *sorted(configs.glob("paper/fcp-*.yaml")),
            *(configs / "evolution" / f"{name}.yaml" for name in ("policies", "long-round-trip", "many-flows")),
            configs / "evolution/cheaters/five-hosts.yaml"]


def entries(text, section):
    """name -> text of each entry of a section of the file."""
    block = re.search(rf"^{section}:\n((?:  .*\n|\s*\n|#.*\n)*)", text, re.M)
    return {name.strip("'\""): rest for name, rest in
            re.findall(r"^  ([^\s#:]+):(.*\n(?:   .*\n)*)", block[1] if block else "", re.M)}


def budget_of(host):
    """The budget that the customer needs, in $/s, or None: the host only receives."""
    budgets = [float(b) for b in re.findall(r"budget: ([0-9.e+-]+) \$/s", host or "")]
    if not budgets:
        return None
    return UNBOUNDED if "each-flow" in host else max(budgets)


def settings(path, lcores=1):
    """The settings that make customers of the file's hosts and enforce their budgets, at routers with so many
    lcores."""
    text = path.read_text()
    hosts, routers = entries(text, "hosts"), entries(text, "routers")
    customers, edges = [], set()
    for link, spec in entries(text, "links").items():
        ends = re.search(r"ends: \[([^,\]]+), ([^,\]]+)\]", spec).groups()
        for host, router in (ends, ends[::-1]):
            budget = budget_of(hosts.get(host))
            if budget is not None and router in routers:
                customers.append(f"{host}: {{ budget: {budget:g} $/s, link: {link} }}")
                edges.add(router)
    enforce = ENFORCE.get(path.stem, "{}")
    return [f"customers={{ {', '.join(customers)} }}", *(f"routers.{r}.enforce={enforce}" for r in sorted(edges)),
            *(f"routers.{r}.lcores={list(range(lcores))}" for r in sorted(routers) if lcores > 1)]


def play(path, options):
    """(drops by customer or link, error)."""
    with tempfile.TemporaryDirectory() as folder:
        words = [options.turnpike, "lab", str(path), "--threads", "1", "--out", folder]
        for s in [*settings(path, options.lcores), *options.settings]:
            words += ["--set", s]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            return {}, (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        summary = json.loads((pathlib.Path(folder) / "summary.json").read_text())
    drops = {name: c["dropped"] for router in summary["customers"].values() for name, c in router.items()}
    drops |= {f"link {name}": link["drops"]["unpaid"] for name, link in summary["links"].items()
              if link.get("drops", {}).get("unpaid", 0) > 0}
    return {n: d for n, d in drops.items() if n not in LIARS.get(path.stem, ())}, ""


def main():
    p = argparse.ArgumentParser(description="Enforce the budgets of honest hosts; count what is dropped.")
    p.add_argument("files", nargs="*", type=pathlib.Path, metavar="FILE", help="topologies (all with FCP)")
    p.add_argument("--set", action="append", default=[], dest="settings", metavar="PATH=VALUE")
    p.add_argument("--lcores", type=int, default=1, metavar="N", help="of each router (%(default)s)")
    p.add_argument("--turnpike", default=str(ROOT / "build/lab/turnpike"), metavar="PATH", help="(%(default)s)")
    p.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1), help="(%(default)s)")
    options = p.parse_args()
    files = options.files or all_files()
    bad = 0
    with ThreadPoolExecutor(options.jobs) as pool:
        for path, (drops, error) in zip(files, pool.map(lambda f: play(f, options), files)):
            bad += bool(drops or error)
            print(f"{path.stem}: {error or drops or 'nothing dropped'}", flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
