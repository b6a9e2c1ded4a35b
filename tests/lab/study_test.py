#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# The study's oracle against queueing theory, and its comparison of figures with bounds.
# Usage: study_test.py TURNPIKE
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "lab" / "control")]
import ablation  # noqa: E402
import load_grid  # noqa: E402
import results  # noqa: E402
import weaknesses  # noqa: E402
from case import Case, at_least, at_most  # noqa: E402
from play import Run  # noqa: E402
from sharing import last_leaves, served, sojourns  # noqa: E402
from tap import Tap  # noqa: E402


def poisson(load, count, size):
    """Arrivals at a server of capacity 1 B/s; `size` draws sizes of mean 1 B."""
    chance, now, out = random.Random(7), 0.0, []
    for _ in range(count):
        now += chance.expovariate(load)
        out.append((now, size(chance)))
    return out


def check_sharing(tap):
    # Two flows of 100 B at 100 B/s, the second 0.5 s later: it shares from then on.
    stay = sojourns([(0.0, 100), (0.5, 100)], 100)
    tap.check("two flows share", all(math.isclose(a, b) for a, b in zip(stay, [1.5, 1.5])), stay)
    stay = sojourns([(0.0, 300), (1.0, 100), (9.0, 50)], 100)
    tap.check("a short flow leaves first, one after a pause is alone",
              all(math.isclose(a, b) for a, b in zip(stay, [4.0, 2.0, 0.5])), stay)
    # M/G/1-PS is insensitive to the distribution of sizes: the mean stay is S / (C (1 - rho)). 300 000 flows leave an
    # error of about 1 % at rho = 0.8.
    for name, size in [("exponential", lambda c: c.expovariate(1)), ("equal", lambda c: 1.0),
                       ("bimodal", lambda c: 0.1 if c.random() < 0.9 else 9.1)]:
        for load in (0.3, 0.5, 0.8):
            stay = sojourns(poisson(load, 300_000, size), 1)
            mean, theory = sum(stay) / len(stay), 1 / (1 - load)
            tap.check(f"mean stay of {name} sizes at load {load}", abs(mean / theory - 1) < 0.03, mean, theory)
    # Work is conserved: a server that never idles while it has work ends with processor sharing.
    arrivals = poisson(0.9, 20_000, lambda c: c.expovariate(1))
    ends = [at + stay for (at, _), stay in zip(arrivals, sojourns(arrivals, 1))]
    tap.check("the last flow leaves when the work is done", math.isclose(max(ends), last_leaves(arrivals, 1)))
    tap.check("busy as the load says", abs(served(arrivals, 1, 0, arrivals[-1][0]) - 0.9) < 0.02)
    tap.check("and not before the first flow", served([(5.0, 2)], 1, 0, 4) == 0 and served([(5.0, 2)], 1, 0, 10) == 0.2)


def check_bounds(tap):
    case = Case("some", "file", bounds={"loss": at_most(0), "utilisation": at_least(0.9)}, shown=("afct_s",))
    runs = [Run(case, "paper", seed, {"failed": 0, "loss": loss, "utilisation": used, "afct_s": seed})
            for seed, loss, used in [(1, 0, 0.95), (2, 0.1, 0.91)]]
    rows = {r["figure"]: r for r in results.rows_of(runs)}
    tap.check("mean and worst over the seeds", rows["loss"]["mean"] == 0.05 and rows["loss"]["worst"] == 0.1 and
              rows["utilisation"]["worst"] == 0.91 and rows["afct_s"]["worst"] == 2, rows)
    tap.check("the bound that is broken is named", results.broken(list(rows.values()), "paper") ==
              ["some: loss 0.1, bound <= 0"], results.broken(list(rows.values()), "paper"))
    tap.check("a run that fails breaks its case",
              len(results.broken(results.rows_of([Run(case, "paper", 1, {"failed": 1}, "why")]), "paper")) == 1)


def check_cases(tap):
    for level in ("quick", "default", "full"):
        cases = weaknesses.cases() + load_grid.cases(level)
        names = [c.name for c in cases]
        tap.check(f"{level}: every case has a name of its own", len(set(names)) == len(names))
        missing = [c.file for c in cases if not (ROOT / c.file).exists()]
        tap.check(f"{level}: every case has its file", not missing, *missing)
    tap.check("the ablation's cases are the study's", set(ablation.CASES) <= set(names), *ablation.CASES)


def study(turnpike, folder, *options):
    done = subprocess.run([sys.executable, ROOT / "lab/control/study.py", "--turnpike", turnpike, "--out", folder,
                           "--seeds", "1", *options], text=True, timeout=600, capture_output=True, check=False)
    return done.returncode, done.stdout, done.stderr


def check_tool(tap, turnpike):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        code, out, err = study(turnpike, folder, "--case", "figure9", "--preset", "paper,swift")
        tap.check("swift keeps figure 9's bounds, which paper breaks",
                  code == 0 and out.count(" !") == 2 and (folder / "study.csv").exists(), code, out, err)
        code, out, err = study(turnpike, folder, "--case", "figure9", "--preset", "swift,paper")
        tap.check("only the last preset is checked", code == 1 and "paper breaks 2 bounds" in out, out, err)
        code, out, err = study(turnpike, folder, "--case", "application*", "--preset", "paper", "--set",
                               "links.bottleneck.rate=50 Mbps", "--set", "run.duration=4 s")
        runs = json.loads((folder / "study.json").read_text())["runs"]
        tap.check("--set holds for all runs", runs[0]["figures"]["utilisation"] > 0.95 and not runs[0]["error"], runs)
        code, out, err = study(turnpike, folder, "--case", "figure4/ascending", "--ablation", "--set",
                               "links.bottleneck.rate=20 Mbps")
        lines = {line[:18].rstrip(): line[18:].split() for line in out.splitlines()}
        tap.check("a law without its queue term or discount is another one",
                  code == 0 and all(lines[form] != lines["as it is"] for form in ("no queue term", "no discount")),
                  out, err)
        code, out, err = study(turnpike, folder, "--case", "figure9", "--preset", "no-such")
        tap.check("a preset that there is not fails", code == 1 and "Runs that failed" in out, code, out, err)


def main():
    turnpike = pathlib.Path(sys.argv[1]).resolve()
    tap = Tap()
    check_sharing(tap)
    check_bounds(tap)
    check_cases(tap)
    check_tool(tap, turnpike)
    tap.finish()


if __name__ == "__main__":
    main()
