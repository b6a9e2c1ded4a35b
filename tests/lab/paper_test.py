#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# `turnpike paper --short`: claims of the baseline hold, and a claim that no longer holds is reported.
# Usage: paper_test.py TURNPIKE
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from tap import Tap  # noqa: E402


INDEX = """
paper: demo
experiments:
  - id: tiny
    figure: 0
    title: Two claims
    runs: { demo: { file: configs/demo.yaml, set: run.duration=12 s } }
    metrics: { utilisation: { summary: links.bottleneck.utilization, unit: "%" } }
    claims:
      - { metric: utilisation, at_least: 90 }
      - { metric: utilisation, at_least: 200, why: no link can }
"""


def paper(turnpike, folder, *more, cwd=ROOT):
    done = subprocess.run([turnpike, "paper", "--out", folder, *more], text=True, timeout=300,
                          capture_output=True, cwd=cwd, check=False)
    return done.returncode, done.stdout, done.stderr


def main():
    turnpike = pathlib.Path(sys.argv[1]).resolve()
    tap = Tap()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        code, out, err = paper(turnpike, folder, "--short")
        tap.check("every claim that the baseline has met is met", code == 0, code, out, err)
        last = out.splitlines()[-1]
        tap.check(f"{last.split('. Page')[0]}", re.match(r"\d+ of \d+ claims met; \d+ runs, 0 failed", last), out)
        page = (folder / "paper.html").read_text()
        claims = json.loads(re.search(r'id="claims">(.*?)</script>', page, re.S).group(1))
        tap.check("the page has every figure and its claims",
                  {"4", "7", "9"} <= {c["figure"] for c in claims} and page.count("<svg") >= 10, claims)
        silent = [f"{c['id']}: {c['metric']} {c['claim']}" for c in claims if not c["met"] and not c["why"]]
        tap.check("a claim that is not met has a reason", not silent, *silent)
        references = json.loads(re.search(r'id="references">(.*?)</script>', page, re.S).group(1))
        silent = [f"{r['id']}: {r['metric']}" for r in references if r["far"] and not r["why"]]
        tap.check("a figure far from ns-2's has a reason", references and not silent, *silent)
        tap.check("and nothing of it comes from elsewhere",
                  not re.search(r'(src|href)="', page) and "@import" not in page)

        (folder / "lab" / "paper" / "experiments").mkdir(parents=True)
        (folder / "lab" / "paper" / "experiments" / "tiny.yaml").write_text(INDEX)
        (folder / "configs").symlink_to(ROOT / "configs")
        baseline = folder / "lab" / "paper" / "baseline.json"
        code, out, err = paper(turnpike, "out", cwd=folder)
        tap.check("a claim that was never met fails nothing, and says why",
                  code == 0 and "not met" in out and "no link can" in out, code, out, err)
        code, out, err = paper(turnpike, "out", "--update-baseline", cwd=folder)
        met = {entry["claim"]: entry["met"] for entry in json.loads(baseline.read_text())}
        tap.check("--update-baseline writes the claims that are met", code == 0 and met ==
                  {"utilisation ≥ 90 %": True, "utilisation ≥ 200 %": False}, met, err)
        baseline.write_text(baseline.read_text().replace("false", "true"))
        code, out, err = paper(turnpike, "out", cwd=folder)
        tap.check("a claim that is lost ends with exit code 1",
                  code == 1 and "NOT MET" in out and "1 NOT MET any more" in out, code, out, err)
        tap.check("no such experiment is wrong usage, exit code 2",
                  paper(turnpike, folder, "fcp-fig99")[0] == 2)
    tap.finish()


if __name__ == "__main__":
    main()
