#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Checks FCP's presets: plays the study's cases in the lab under each preset, with several seeds, and compares their
# figures (see figures.py) with bounds. Prints a table, writes study.json and study.csv. Exit code 1 if the last preset
# of --preset breaks a bound or a run of it fails.
# Usage: study.py [--quick | --full] [--preset paper,turnpike] [--case PATTERN]... (--help has the rest)
import argparse
import pathlib
import shutil
import sys
import time

import ablation
import load_grid
import plots
import results
import schemes
import weaknesses
from case import chosen
from play import ROOT, Options, play_all


def arguments():
    p = argparse.ArgumentParser(description="Check FCP's presets by the cases of the study.")
    size = p.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="2 seeds, short runs, a few cases: about a minute")
    size.add_argument("--full", action="store_true", help="the whole load grid, about a million packets a run: hours")
    p.add_argument("--preset", default="paper,turnpike", help="presets, the last of which is checked (%(default)s)")
    p.add_argument("--case", action="append", default=[], metavar="PATTERN",
                   help="cases whose names match (shell pattern or a part of the name), of any size; may be repeated")
    p.add_argument("--seeds", type=int, default=0, help="seeds 1 to N (default 8; 2 with --quick)")
    p.add_argument("--other-seeds", type=int, default=0, metavar="N", help="of the other presets")
    p.add_argument("--set", action="append", default=[], dest="settings", metavar="PATH=VALUE", help="for all runs")
    p.add_argument("--turnpike", default=str(ROOT / "build/lab/turnpike"), metavar="PATH", help="(%(default)s)")
    p.add_argument("--out", default="out/control", type=pathlib.Path, help="folder for results (%(default)s)")
    p.add_argument("--jobs", type=int, default=2, help="processes at a time (%(default)s)")
    p.add_argument("--keep", action="store_true", help="keep each run's folder, with its report")
    p.add_argument("--plots", type=pathlib.Path, metavar="DIR",
                   help="draw some cases over time into DIR, presets beside each other, and run nothing else")
    p.add_argument("--schemes", action="store_true",
                   help="compare the presets with RCP, QCP, XCP, QFCP and TCP, and run nothing else")
    p.add_argument("--ablation", action="store_true",
                   help="run a few cases under the last preset with parts of its law left out, and nothing else")
    p.add_argument("--list", action="store_true", help="list the cases and run nothing")
    return p.parse_args()


def main():
    a = arguments()
    level = "quick" if a.quick else "full" if a.full else "default"
    cases = chosen(weaknesses.cases() + load_grid.cases(level), level, a.case)
    if a.list:
        print("\n".join(f"{c.name:<36} {c.level:<8} {c.file}" for c in cases))
        return 0
    if not cases:
        print("study: no case matches", file=sys.stderr)
        return 2
    a.out.mkdir(parents=True, exist_ok=True)
    presets = a.preset.split(",")
    seeds = a.seeds or (2 if a.quick else 8)
    # Copies the program, so that all runs use the same one even if a build replaces it meanwhile.
    program = shutil.copy2(a.turnpike, a.out / "turnpike")
    options = Options(str(program), a.out, a.settings, quick=a.quick, jobs=a.jobs, keep=a.keep)
    if a.plots:
        plots.draw(cases, presets, options, a.plots)
        return 0
    if a.schemes:
        schemes.compare(presets, level, seeds, options, a.out)
        return 0
    began = time.monotonic()

    def progress(run):
        print(f"{time.monotonic() - began:7.1f} s  {run.case.name} {run.preset} {run.seed}  {run.error}",
              file=sys.stderr, flush=True)

    if a.ablation:
        failed = ablation.compare(cases, presets[-1], seeds, options, a.out, progress)
        print(*failed, sep="\n", file=sys.stderr)
        return 1 if failed else 0
    runs = play_all(cases, {p: a.other_seeds or seeds for p in presets} | {presets[-1]: seeds}, options, progress)
    rows = results.rows_of(runs)
    results.write(a.out, rows, runs)
    print(results.text(rows))
    if failed := results.failures(runs):
        print("\nRuns that failed:", *failed, sep="\n  ")
    broken = results.broken(rows, presets[-1])
    print(f"\n{len(cases)} cases, {len(runs)} runs, {time.monotonic() - began:.0f} s; {a.out}/study.json and study.csv")
    if broken:
        print(f"\n{presets[-1]} breaks {len(broken)} bounds:", *broken, sep="\n  ")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
