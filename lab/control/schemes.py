# SPDX-License-Identifier: BSD-3-Clause
# Sets presets of FCP beside other schemes, with the same flows: completion times by flow size, utilisation, queue and
# loss where short flows are alone and where they come beside a long one. The lab's own comparison plays and measures;
# here its figures are averaged over seeds.
import csv
import json
import math
import statistics
import subprocess

import load_grid
import weaknesses
from play import ROOT

OTHERS = ["rcp", "qcp", "xcp", "qfcp", "tcp"]
FIGURES = ["bottleneck utilisation (%)", "bottleneck mean queue (ms)", "bottleneck loss (%)", "flows completed",
           "mean completion (s)", "p99 completion (s)"]


def cases(level):
    packets = load_grid.PACKETS[level]
    alone = [load_grid.case(load, "pareto", 100, 0.1, packets) for load in (0.7, 1.0)]
    return alone + [c for c in weaknesses.beside_long_flows() if c.name.endswith("%")]


def play(case, schemes, seed, options, folder):
    """The contents of compare.json; nothing where the comparison failed."""
    words = [options.turnpike, "lab", str(ROOT / case.file), "--threads", "1", "--seed", str(seed),
             "--out", str(folder),
             "--compare", ",".join(schemes)]
    for path, value in case.settings.items():
        words += ["--set", f"{path}={value}"]
    for setting in options.settings:
        words += ["--set", setting]
    done = subprocess.run(words, check=False, stdout=subprocess.DEVNULL)
    file = folder / "compare.json"
    return json.loads(file.read_text()) if file.exists() and done.returncode in (0, 1) else None


def mean(values):
    known = [v for v in values if v is not None]
    return statistics.fmean(known) if known else math.nan


def rows_of(case, schemes, results):
    """A row per figure, then one per tenth of the flows by size for mean and p99; a value per scheme, the mean over
    the seeds."""
    rows = []
    for figure in FIGURES:
        if all(figure in r["figures"] for r in results):
            rows.append([case.name, figure, *(mean([r["figures"][figure][i] for r in results])
                                              for i in range(len(schemes)))])
    tenths = min(len(sizes) for r in results for sizes in r["completion_by_size"].values())
    for figure in ("mean_s", "p99_s"):
        for tenth in range(tenths):
            of = [[r["completion_by_size"].get(s, [{}] * tenths)[tenth] for r in results] for s in schemes]
            size = mean([t.get("bytes") for t in of[0]])
            rows.append([case.name, f"{figure[:-2]} completion of {size / 1e3:.1f} KB (s)",
                         *(mean([t.get(figure) for t in runs]) for runs in of)])
    return rows


def compare(presets, level, seeds, options, out):
    """Prints a table, writes schemes.csv and leaves each case's page of the first seed in a folder of its own."""
    schemes = [f"fcp+{p}" for p in presets] + OTHERS
    rows = []
    for case in cases(level):
        folder = out / case.name.replace("/", "-").replace("%", "")
        results = [play(case, schemes, seed, options, folder / str(seed)) for seed in range(1, seeds + 1)]
        rows += rows_of(case, schemes, [r for r in results if r])
        print(f"{case.name}: {folder / '1' / 'compare.html'}")
    with (out / "schemes.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["case", "figure", *schemes], *rows])
    print(f"\n{'case':<26} {'figure':<34}" + "".join(f"{s:>13}" for s in schemes))
    for case, figure, *values in rows:
        print(f"{case:<26} {figure:<34}" + "".join(f"{v:>13.4g}" for v in values))
