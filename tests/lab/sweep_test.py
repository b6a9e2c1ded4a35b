#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# `turnpike sweep` on the demo: results do not depend on the number of parallel runs, and failures are reported.
# Usage: sweep_test.py TURNPIKE
import csv
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from tap import Tap  # noqa: E402

RATE = "links.bottleneck.rate"


def call(turnpike, *more):
    done = subprocess.run([turnpike, "sweep", *more], text=True, timeout=600, capture_output=True, check=False)
    return done.returncode, done.stdout, done.stderr


def sweep(turnpike, folder, *more, seeds="1..2", to="--out"):
    return call(turnpike, ROOT / "configs" / "demo.yaml", "--set", f"{RATE}=10 Mbps,20 Mbps",
                "--set", "run.duration=12 s", "--seeds", seeds, to, folder, *more)


def numbered(tap, turnpike, folder, expected):
    """Runs the tasks of a plan one by one, and gathers their results."""
    code, out, err = sweep(turnpike, folder, to="--plan")
    tap.check("a plan is written, and nothing is run", code == 0 and "4 tasks, 4 of them without a result" in out
              and not list(folder.glob("results/*")), code, out, err)
    codes = [call(turnpike, "--plan", folder, "--task", str(task))[0] for task in (3, 0, 1)]
    code, _, err = call(turnpike, "--collect", folder)
    tap.check("a task that has not been run is named when results are gathered",
              codes == [0, 0, 0] and code == 1 and err.count("was not run") == 1, codes, code, err)
    code, _, err = call(turnpike, "--plan", folder, "--task", "4")
    tap.check("there is no task 4: wrong usage", code == 2 and "counted from 0" in err, code, err)
    codes = [call(turnpike, "--plan", folder, "--task", "2")[0], call(turnpike, "--collect", folder)[0]]
    tap.check("tasks that were run by number leave the same bytes", codes == [0, 0]
              and (folder / "sweep.csv").read_bytes() == expected.read_bytes(), codes)
    plan = folder / "plan.json"
    plan.write_text(plan.read_text().replace('"program": "', '"program": "other'))
    code, _, err = call(turnpike, "--collect", folder)
    tap.check("a plan of another build is refused", code == 3 and "another build" in err, code, err)


def main():
    turnpike = pathlib.Path(sys.argv[1]).resolve()
    tap = Tap()
    with tempfile.TemporaryDirectory() as name:
        one, three = pathlib.Path(name) / "one", pathlib.Path(name) / "three"
        code, out, err = sweep(turnpike, one, "--jobs", "1")
        tap.check("two rates with two seeds, exit code 0", code == 0, code, out[-2000:], err)
        rows = list(csv.DictReader((one / "sweep.csv").open()))
        used = {row[RATE]: float(row["median"]) for row in rows
                if row["metric"] == "links.bottleneck.utilization"}
        tap.check("a row per combination and metric, with the link's result",
                  set(used) == {"10 Mbps", "20 Mbps"} and min(used.values()) > 0.9, rows)
        tap.check("of both seeds", all(row["seeds"] == "2" for row in rows), rows)
        tap.check("and the same as JSON and as a page",
                  len(json.loads((one / "sweep.json").read_text())["rows"]) == len(rows)
                  and (one / "sweep.html").read_text().count("<svg") == len(rows) // 2)
        code, _, err = sweep(turnpike, three, "--jobs", "3")
        tap.check("three at a time leave the same bytes", code == 0
                  and (one / "sweep.csv").read_bytes() == (three / "sweep.csv").read_bytes(), code, err)
        numbered(tap, turnpike, pathlib.Path(name) / "numbered", one / "sweep.csv")
        before = {path: path.stat().st_mtime_ns for path in three.glob("results/*/summary.json")}
        code, out, err = sweep(turnpike, three, "--metric", "hosts.alice.goodput_mbps", seeds="1..3")
        after = {path: path.stat().st_mtime_ns for path in three.glob("results/*/summary.json")}
        tap.check("a third seed runs alone: the other runs have their results", code == 0 and "6 runs, 0 failed" in out
                  and len(after) == len(before) + 2 and before.items() <= after.items(), code, out, err)
        huge = "links.bottleneck.delay=8 ms,9 min"  # with a buffer for it that no machine has
        code, out, err = sweep(turnpike, three, "--set", huge, "--set", "links.bottleneck.buffer=64 GB", seeds="1")
        tap.check("a run that fails is named, with its reason, and the others go on",
                  code == 1 and "links.bottleneck.delay=9 min" in err and "of memory" in err and " failed. Page" in out
                  and "4 runs, 0 failed" not in out, code, out, err)
        code, _, err = sweep(turnpike, three, "--set", "links.bottleneck.rat=1 Gbps")
        tap.check("a setting that fits nothing ends with exit code 3 before anything runs",
                  code == 3 and err.count("did you mean 'rate'") == 1, code, err)
        blocked = pathlib.Path(name) / "file"
        blocked.write_text("")
        for verb in (["sweep", ROOT / "configs" / "demo.yaml"], ["paper"],
                     ["bench", "throughput", ROOT / "configs" / "throughput.yaml", "--lab"]):
            done = subprocess.run([turnpike, *verb, "--out", blocked / "out"], cwd=ROOT, text=True, timeout=60,
                                  capture_output=True, check=False)
            tap.check(f"{verb[0]}: a folder that cannot be made ends with exit code 4 before anything runs",
                      done.returncode == 4 and "cannot create" in done.stderr and not done.stdout,
                      done.returncode, done.stdout, done.stderr)
        code, _, err = sweep(turnpike, three, seeds="8..1")
        tap.check("seeds that are none are wrong usage, exit code 2", code == 2 and "8..1" in err, code, err)
    tap.finish()


if __name__ == "__main__":
    main()
