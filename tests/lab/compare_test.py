#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# `turnpike lab --compare` on the demo: every scheme of the registry fills the same link with the same
# traffic, and one page tells what came of it. Usage: compare_test.py TURNPIKE
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from tap import Tap  # noqa: E402

SCHEMES = ["fcp", "qcp", "qcp8", "qfcp", "rcp", "xcp", "tcp", "tcp+red"]


def compare(turnpike, folder, schemes, *more):
    done = subprocess.run([turnpike, "lab", ROOT / "configs" / "demo.yaml", "--compare", ",".join(schemes),
                           "--out", folder, *more],
                          text=True, timeout=120, capture_output=True, check=False)
    return done.returncode, done.stdout, done.stderr


def main():
    turnpike = pathlib.Path(sys.argv[1]).resolve()
    tap = Tap()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name) / "all"
        code, out, err = compare(turnpike, folder, SCHEMES)
        tap.check("all schemes, exit code 0", code == 0 and not err, code, out, err)
        tap.check("a column each", out.splitlines()[0].split() == SCHEMES, out)
        figures = json.loads((folder / "compare.json").read_text())["figures"]
        for i, scheme in enumerate(SCHEMES):
            used = figures["bottleneck utilisation (%)"][i]
            tap.check(f"{scheme} uses the link", used > 80, used)
            law = json.loads((folder / scheme / "summary.json").read_text())["links"]["bottleneck"]["law"]
            tap.check(f"and it is {scheme}'s law that runs there", law == scheme.split("+")[0], law)
        # Where budgets do not count, flows are equal, not hosts' budgets.
        steady = json.loads((folder / "rcp" / "summary.json").read_text())
        rates = [h["goodput_mbps"] for h in steady["hosts"].values() if h["goodput_mbps"] > 0]
        tap.check("three hosts send under rcp", len(rates) == 3, rates)
        page = (folder / "compare.html").read_text()
        tap.check("the page draws them, each in the legend",
                  page.count("<svg") >= 4 and all(page.count(f">{s}<") >= 4 for s in SCHEMES))
        again = pathlib.Path(name) / "again"
        compare(turnpike, again, SCHEMES[:2])
        tap.check("the same bytes again", (again / "rcp").exists() is False and
                  (again / "qcp" / "links.csv").read_bytes() == (folder / "qcp" / "links.csv").read_bytes())
        code, _, err = compare(turnpike, folder, ["fcp", "xpc"])
        tap.check("a scheme that there is not is told before anything runs",
                  code == 2 and err.count("did you mean 'xcp'?") == 1, code, err)
        compare(turnpike, again, ["fcp", "fcp", "xcp"], "--set", "links.bottleneck.law={fcp: {alpha: 3}}")
        laws = [(again / scheme / "resolved.yaml").read_text() for scheme in ("fcp", "xcp")]
        tap.check("a scheme that the file has runs with the file's parameters",
                  "alpha: 3," in laws[0] and "alpha: 0.4," in laws[1])
        tap.check("and one that is named twice runs once",
                  json.loads((again / "compare.json").read_text())["schemes"] == ["fcp", "xcp"])
        code, out, err = compare(turnpike, folder, ["rcp"], "--duration", "2s", "--json")
        tap.check("--duration and --json hold for all runs",
                  code == 0 and json.loads(out)["schemes"] == ["rcp"] and
                  json.loads((folder / "rcp" / "summary.json").read_text())["duration_s"] == 2, code, err)
    tap.finish()


if __name__ == "__main__":
    main()
