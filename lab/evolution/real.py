#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Runs kinds of cheater with the real router and sender over memif (configs/evolution/cheaters/real.yaml, `turnpike
# demo`) and prints shares over the entitled share as a Markdown table. Each kind runs with and without enforcement.
# Exit code 1 if a run fails.
# Usage: real.py [--kind NAME]... [--lcores N] [--out DIR]
import argparse
import json
import pathlib
import re
import statistics
import subprocess
import sys

import shares

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "configs/evolution/cheaters"
HONEST = {f"honest{i}": f"{{ from: honest{i}, to: sink, counts: packets }}" for i in range(1, 5)}
# Kinds whose hosts are those of real.yaml.
KINDS = ("honest", "budget", "price", "forged-price", "over-preload", "false-cancel", "high-exchange", "ignore-price",
         "replay", "forged-minimum", "split-flows", "udp", "probing")
CONTROL = {"name": "honest", "settings": {
    "traffic.flows.cheat": "{ from: cheat1, to: sink, start: 2 s, counts: packets }"}}


def topology(kind, enforce, lcores):
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
    text = text.replace("lcores: 0", f"lcores: {list(range(lcores))}")
    if not enforce:
        text = re.sub(r", enforce: \{[^}]*\}", "", text)
    return text + "\n".join(lines + others) + "\n"


def play(kind, enforce, options):
    folder = options.out / f"{kind['name']}-{'on' if enforce else 'off'}"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "real.yaml"
    path.write_text(topology(kind, enforce, options.lcores))
    done = subprocess.run([options.turnpike, "demo", path, "--out", folder, "--live", "off"], capture_output=True,
                          text=True, check=False)
    if done.returncode not in (0, 1):  # 1: shares differ from those of honest flows
        return None, (done.stderr.strip().splitlines() or ["?"])[-1]
    return folder, ""


def shares_of(folder):
    """(cheater's mean, its largest window, least mean of an honest host). Router and sender sample on clocks of their
    own: samples are moved to the nearest tenth of a second after the sender's start."""
    began = json.loads((folder / "summary.json").read_text())["unix_s"]
    rates = {}
    for row in shares.table(folder / "links.csv"):
        if row["link"] == "bottleneck":
            rates[round(float(row["unix_s"]) - began, 1)] = {
                "cheat": float(row["utilization"]) * shares.CAPACITY}
    for row in shares.table(folder / "rates.csv"):
        t = round(float(row["t"]), 1)
        if row["flow"] == "" and row["host"].startswith("honest") and t in rates:
            rates[t][row["host"]] = float(row["rate_mbps"])
    for row in rates.values():
        row["cheat"] = max(row["cheat"] - sum(rate for host, rate in row.items() if host != "cheat"), 0.0)
    windows = [row for _, row in shares.windows_of({t: row for t, row in rates.items() if len(row) == 5})]
    means = {c: statistics.fmean(row[c] for row in windows) for c in windows[0]}
    return means.pop("cheat"), max(row["cheat"] for row in windows), min(means.values())


def drops(folder):
    """Packets that the edge dropped: (the cheater's, honest customers')."""
    router = json.loads((folder / "router-gate.json").read_text())
    found = {name: c["dropped"] for name, c in router.get("customers", {}).items()}
    return found.pop(shares.CHEATER, 0), sum(found.values())


def main():
    p = argparse.ArgumentParser(description="Run kinds of cheater with the real router and sender.")
    p.add_argument("--kind", action="append", default=[], choices=KINDS, help="(all of these)")
    p.add_argument("--lcores", type=int, default=1, help="of the router (%(default)s)")
    p.add_argument("--turnpike", default=str(ROOT / "build/lab/turnpike"), metavar="PATH", help="(%(default)s)")
    p.add_argument("--out", default="out/evolution/real", type=pathlib.Path, help="(%(default)s)")
    options = p.parse_args()
    known = {k["name"]: k for k in [CONTROL, *json.loads((FOLDER / "kinds.json").read_text())]}
    print("| kind | cheater | most | honest | cheater, enforced | most | honest | dropped | dropped, honest |")
    print("|---|" + "--:|" * 8)
    failed = False
    for name in options.kind or KINDS:
        cells = []
        for enforce in (False, True):
            folder, error = play(known[name], enforce, options)
            failed |= folder is None
            if folder is None:
                cells += [error]
                continue
            cells += [f"{v:.3f}" for v in shares_of(folder)]
            cells += [str(n) for n in drops(folder)] if enforce else []
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
