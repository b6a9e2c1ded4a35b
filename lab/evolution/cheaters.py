#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Runs every kind of cheater in the lab beside four honest hosts, and prints shares over the entitled share as a
# Markdown table. Writes cheaters.json, with each window, and cheaters.svg. --enforce makes the same table with five
# customers whose budgets are enforced; --check then compares the shares with bounds, and requires that no packet of an
# honest customer was dropped. Exit code 1 if a run fails or breaks a bound.
# Usage: cheaters.py [--kind PATTERN]... [--enforce] [--lcores N] [--set PATH=VALUE]... [--check] (--help has the rest)
import argparse
import fnmatch
import json
import pathlib
import random
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import chart
from shares import shares

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "configs/evolution/cheaters"
CONTROL = {"name": "honest", "about": "no cheater: five honest hosts", "settings": {}}
MOST, LEAST = 1.01, 0.99  # of the entitled share: the cheater's window, an honest host's mean
# Columns after name and lies: heading, field of Shares.
# With --enforce, columns of their own: packets of customers that the edge dropped.
DROPS = (("dropped", "cheater_drops"), ("dropped, honest", "honest_drops"))
COLUMNS = (("cheater", "cheater"), ("most", "cheater_window"), ("honest", "honest"), ("least", "honest_window"),
           ("loss", "loss"), ("queue (ms)", "queue_ms"))


def arguments():
    p = argparse.ArgumentParser(description="Run the kinds of cheater in the lab, with or without enforcement.")
    p.add_argument("--kind", action="append", default=[], metavar="PATTERN", help="kinds whose names match (all)")
    p.add_argument("--set", action="append", default=[], dest="settings", metavar="PATH=VALUE",
                   help="for all runs; a kind's own settings come later")
    p.add_argument("--enforce", action="store_true",
                   help="enforce customers' budgets: with the settings of enforcement.json in the same folder")
    p.add_argument("--lcores", type=int, default=1, metavar="N", help="of the edge router (%(default)s)")
    p.add_argument("--file", type=pathlib.Path, default=FOLDER / "five-hosts.yaml", help="topology (%(default)s)")
    p.add_argument("--kinds", type=pathlib.Path, default=FOLDER / "kinds.json", help="(%(default)s)")
    p.add_argument("--check", action="store_true",
                   help=f"fail if a cheater has more than {MOST} in a window, or an honest host less than {LEAST}")
    p.add_argument("--title", default="Shares over the entitled share", help="of the figure (%(default)s)")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--vary", type=int, metavar="SEED",
                   help="draw the honest hosts' starts and delays, on which a run depends more than on --seed")
    p.add_argument("--turnpike", default=str(ROOT / "build/lab/turnpike"), metavar="PATH", help="(%(default)s)")
    p.add_argument("--out", default="out/evolution/cheaters", type=pathlib.Path, help="(%(default)s)")
    p.add_argument("--jobs", type=int, default=2, help="processes at a time (%(default)s)")
    p.add_argument("--keep", action="store_true", help="keep each run's folder, with its report")
    p.add_argument("--list", action="store_true", help="list the kinds and run nothing")
    return p.parse_args()


def chosen(kinds, patterns):
    return [k for k in kinds if not patterns or any(fnmatch.fnmatch(k["name"], p) for p in patterns)]


def varied(seed):
    """Settings that move the honest hosts: starts within a round trip, delays within a twentieth."""
    chance = random.Random(seed)
    settings = []
    for i in range(1, 5):
        settings.append(f"traffic.flows.honest{i}.start={chance.uniform(0, 20):.3f} ms")
        settings.append(f"links.honest{i}-gate.delay={chance.uniform(1.9, 2.1):.4f} ms")
    return settings


def command(kind, options):
    enforced = json.loads((FOLDER / "enforcement.json").read_text()) if options.enforce else {}
    lcores = [f"routers.gate.lcores={list(range(options.lcores))}"] if options.lcores > 1 else []
    moved = varied(options.vary) if options.vary is not None else []
    settings = [*(f"{path}={value}" for path, value in enforced.items()), *lcores, *options.settings,
                *(f"{path}={value}" for path, value in kind["settings"].items()), *moved]
    words = [options.turnpike, "lab", str(options.file), "--threads", "1", "--seed", str(options.seed),
             "--out", str(options.out / kind["name"])]
    return words + [w for s in settings for w in ("--set", s)]


def play(kind, options):
    """The kind's shares, or the reason why there are none."""
    folder = options.out / kind["name"]
    shutil.rmtree(folder, ignore_errors=True)
    done = subprocess.run(command(kind, options), capture_output=True, text=True, check=False)
    print(f"{kind['name']}: exit code {done.returncode}", file=sys.stderr, flush=True)
    if done.returncode != 0:
        return None, (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
    found = shares(folder)
    if not options.keep:
        shutil.rmtree(folder)
    return found, ""


def markdown(rows, columns):
    """Rows of (kind, Shares or None, error) as a table."""
    lines = ["| kind | lie | " + " | ".join(heading for heading, _ in columns) + " |",
             "|---|---|" + "--:|" * len(columns)]
    for kind, found, error in rows:
        cells = [error] + [""] * (len(columns) - 1)
        if found:
            values = [getattr(found, field) for _, field in columns]
            cells = [f"{v:.3f}" if isinstance(v, float) else str(v) for v in values]
        lines.append(f"| {kind['name']} | {kind['about']} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def broken(rows):
    """Lines on each bound that a kind breaks."""
    out = []
    for kind, found, _ in rows:
        if found and kind is not CONTROL and found.cheater_window > MOST:
            out.append(f"{kind['name']}: the cheater has {found.cheater_window:.3f} in a window, more than {MOST}")
        if found and found.honest < LEAST:
            out.append(f"{kind['name']}: an honest host has {found.honest:.3f}, less than {LEAST}")
        if found and found.honest_drops > 0:
            out.append(f"{kind['name']}: the edge dropped {found.honest_drops} packets of honest customers")
    return out


def main():
    options = arguments()
    kinds = chosen([CONTROL, *json.loads(options.kinds.read_text())], options.kind)
    if options.list:
        print("\n".join(f"{k['name']:<18} {k['about']}" for k in kinds))
        return 0
    if not kinds:
        print("cheaters: no kind matches", file=sys.stderr)
        return 2
    options.out.mkdir(parents=True, exist_ok=True)
    # Copies the program, so that all runs use the same one even if a build replaces it meanwhile.
    options.turnpike = shutil.copy2(options.turnpike, options.out / "turnpike")
    with ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(lambda k: play(k, options), kinds))
    rows = [(kind, *result) for kind, result in zip(kinds, results)]
    print(markdown(rows, COLUMNS + DROPS if options.enforce else COLUMNS))
    (options.out / "cheaters.json").write_text(json.dumps(
        [{**kind, "error": error, **(vars(found) if found else {})} for kind, found, error in rows], indent=1) + "\n")
    drawn = [(k["name"], found.cheater, found.honest) for k, found, _ in rows if found]
    (options.out / "cheaters.svg").write_text(chart.draw(drawn, options.title))
    problems = broken(rows) if options.check else []
    problems += [f"{kind['name']}: {error}" for kind, _, error in rows if error]
    print(*problems, sep="\n", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
