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
    runs: { demo: { file: configs/demo.yaml, set: run.duration=6 s } }
    metrics: { utilisation: { summary: links.bottleneck.utilization, unit: "%" } }
    claims:
      - id: tiny.c1
        says: Nearly all of the link is used.
        at: section 1
        checks: [{ metric: utilisation, at_least: 90 }]
    own:
      - { metric: utilisation, at_least: 200, why: no link can }
"""
MUTATED = """
paper: demo
experiments:
  - id: tiny
    figure: 0
    title: A rate
    runs: { demo: { file: configs/demo.yaml, set: run.duration=6 s } }
    metrics: { mean rate of alice: { summary: hosts.alice.goodput_mbps, unit: Mbps } }
    own:
      - { metric: mean rate of alice, at_least: 40 }
"""


def call(turnpike, *more, cwd=ROOT):
    done = subprocess.run([turnpike, "paper", *more], text=True, timeout=300, capture_output=True, cwd=cwd,
                          check=False)
    return done.returncode, done.stdout, done.stderr


def paper(turnpike, folder, *more, cwd=ROOT):
    return call(turnpike, "--out", folder, *more, cwd=cwd)


def main():
    turnpike = pathlib.Path(sys.argv[1]).resolve()
    tap = Tap()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        code, out, err = paper(turnpike, folder, "--short")
        tap.check("every claim that the baseline has met is met", code == 0, code, out, err)
        last = out.splitlines()[-1]
        tap.check(f"{last.split('. Page')[0]}",
                  re.match(r"\d+ of \d+ claims of the papers met, \d+ of \d+ checks of our own; \d+ runs, 0 failed",
                           last), out)
        page = (folder / "paper.html").read_text()
        experiments = json.loads(re.search(r'id="claims">(.*?)</script>', page, re.S).group(1))
        tap.check("the page has every figure and its claims",
                  {"4", "7", "9"} <= {e["figure"] for e in experiments} and page.count("<svg") >= 10, experiments)
        links = set(re.findall(r'href="#(.*?)"', page))
        tap.check("the contents lead to every section", links and links == set(re.findall(r'<h[23] id="(.*?)"', page)),
                  links)
        references = json.loads(re.search(r'id="references">(.*?)</script>', page, re.S).group(1))
        silent = [f"{r['id']}: {r['metric']}" for r in references if r["far"] and not r["why"]]
        tap.check("a figure far from ns-2's has a reason", references and not silent, *silent)
        tap.check("and nothing of it comes from elsewhere",
                  not re.search(r'(src="|href="[^#])', page) and "@import" not in page)

        (folder / "lab" / "paper" / "experiments").mkdir(parents=True)
        (folder / "lab" / "paper" / "experiments" / "tiny.yaml").write_text(INDEX)
        (folder / "configs").symlink_to(ROOT / "configs")
        baseline = folder / "lab" / "paper" / "baseline.json"
        code, out, err = paper(turnpike, "out", "--mutants", "--update-baseline", cwd=folder)
        met = {entry["check"]: entry["met"] for entry in json.loads(baseline.read_text())}
        tap.check("--update-baseline writes the claims that are met", code == 0 and met ==
                  {"utilisation ≥ 90 %": True, "utilisation ≥ 200 %": False}, met, err)
        code, out, err = paper(turnpike, "out", cwd=folder)
        tap.check("a claim that was never met fails nothing, and says why",
                  code == 0 and "not met" in out and "no link can" in out, code, out, err)
        baseline.write_text(baseline.read_text().replace("false", "true"))
        code, out, err = paper(turnpike, "out", cwd=folder)
        tap.check("a claim that is lost ends with exit code 1",
                  code == 1 and "NOT MET" in out and "1 NOT MET any more" in out, code, out, err)
        index = folder / "lab" / "paper" / "experiments" / "tiny.yaml"
        index.write_text(INDEX.replace(", why: no link can", ""))
        baseline.unlink()
        code, out, err = paper(turnpike, "out", cwd=folder)
        tap.check("a check that is not met needs a reason", code == 1 and "has no reason" in err, code, out, err)
        index.write_text(INDEX.replace("at_least: 90", "at_least: 90, why: it is hard"))
        code, out, err = paper(turnpike, "out", cwd=folder)
        tap.check("a check that is met has no reason for not being met", code == 1 and "is met, and has" in err,
                  code, out, err)
        for slip, word in ((INDEX.replace("says:", "say:"), "says"), (INDEX.replace("at: section 1", "at:"), "at"),
                           (INDEX.replace("at_least: 90", "at_least: 90, paper: 99"), "say why in `wider`")):
            index.write_text(slip)
            code, out, err = paper(turnpike, "out", cwd=folder)
            tap.check(f"a claim needs the paper's statement, and a word for a wider bound: {word}",
                      code == 3 and word in err and "tiny.yaml:" in err, code, out, err)
        baseline.unlink(missing_ok=True)
        index.write_text(MUTATED)
        code, out, err = paper(turnpike, "out", cwd=folder)
        tap.check("a check without a mutation that breaks it ends with exit code 1",
                  code == 1 and "no mutation of a run is known to break it; --mutants plays them" in err, code, out, err)
        code, out, err = paper(turnpike, "out", "--mutants", "--update-baseline", cwd=folder)
        broken = {entry["check"]: entry.get("broken_by") for entry in json.loads(baseline.read_text())}
        tap.check("--mutants finds what breaks a check, and plays no more runs for it", code == 0
                  and broken == {"mean rate of alice ≥ 40 Mbps": "demo: applications that send 10 kbit/s"}
                  and "; 3 runs, 0 failed" in out,
                  broken, out, err)
        index.write_text(MUTATED + MUTATED.split("experiments:\n")[1].replace("id: tiny", "id: second"))
        code, out, err = paper(turnpike, "both", cwd=folder)
        tap.check("a run that two experiments have is played once",
                  "2 of 2 checks of our own; 1 run, 0 failed" in out and
                  (folder / "both" / "second").is_dir(), code, out, err)
        planned = [call(turnpike, "tiny", "--plan", "plan", *task, cwd=folder) for task in ([], ["--task", "0"])]
        code, out, err = call(turnpike, "--collect", "plan", cwd=folder)
        tap.check("a plan of one experiment is run by number, and gathered without its name",
                  [done[0] for done in planned] == [0, 0] and "1 task, 1 of them" in planned[0][1] and code == 0
                  and "; 1 run, 0 failed" in out, planned, code, out, err)
        index.write_text(MUTATED.replace("at_least: 40", "at_least: 0"))
        code, out, err = paper(turnpike, "out", "--mutants", cwd=folder)
        tap.check("a check that no mutation breaks is named, exit code 1",
                  code == 1 and "no mutation of a run is known to break it" in err and "; 10 runs, 0 failed" in out,
                  code, out, err)
        tap.check("no such experiment is wrong usage, exit code 2",
                  paper(turnpike, folder, "fcp-fig99")[0] == 2)
    tap.finish()


if __name__ == "__main__":
    main()
