#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# `turnpike lab --compare` on the demo: every scheme of the registry carries the same traffic over the same link, and
# one page has all results. Usage: compare_test.py TURNPIKE
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
                          text=True, timeout=600, capture_output=True, check=False)
    return done.returncode, done.stdout, done.stderr


def check_sizes(tap, turnpike, folder):
    """Flows by size: tenths that hold them all, the same ones under both schemes."""
    size = "traffic.workloads.short.size={pareto: {mean: 10 KB, cap: 1 MB}}"
    done = subprocess.run([turnpike, "lab", ROOT / "configs" / "control" / "short-flows.yaml", "--compare", "fcp,rcp",
                           "--out", folder, "--set", size, "--set", "links.bottleneck.delay=5 ms"],
                          text=True, timeout=600, capture_output=True, check=False)
    tap.check("short flows under two schemes", done.returncode == 0, done.stdout, done.stderr)
    by_scheme = json.loads((folder / "compare.json").read_text())["completion_by_size"]
    for scheme, tenths in by_scheme.items():
        flows = json.loads((folder / scheme / "summary.json").read_text())["flows"]
        mean = sum(t["flows"] * t["mean_s"] for t in tenths) / sum(t["flows"] for t in tenths)
        tap.check(f"{scheme}: ten tenths hold all flows and have their mean",
                  len(tenths) == 10 and sum(t["flows"] for t in tenths) == flows["completed"] and
                  abs(mean / flows["afct_s"] - 1) < 1e-9, tenths, flows)
    fcp, rcp = ([t["flows"] for t in by_scheme[s]] for s in ("fcp", "rcp"))
    tap.check("a tenth has the same flows under both", all(abs(a - b) <= 0.02 * a for a, b in zip(fcp, rcp)), fcp, rcp)
    page = (folder / "compare.html").read_text()
    tap.check("the page draws them by mean and p99, and the price",
              all(page.count(f"<title>{t}</title>") == 1 for t in (
                  "Mean completion time by flow size", "99th percentile of completion time by flow size",
                  "bottleneck: price ($/MB)")))


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
        tap.check("first windows are named, where flows begin with one",
                  figures["first window (packets)"] == [None, None, None, None, None, 1, 2, 2],
                  figures["first window (packets)"])
        # Schemes without budgets share equally among flows, not by hosts' budgets.
        steady = json.loads((folder / "rcp" / "summary.json").read_text())
        rates = [h["goodput_mbps"] for h in steady["hosts"].values() if h["goodput_mbps"] > 0]
        tap.check("three hosts send under rcp", len(rates) == 3, rates)
        page = (folder / "compare.html").read_text()
        tap.check("the page draws them, each in the legend",
                  page.count("<svg") >= 4 and all(page.count(f">{s}<") >= 4 for s in SCHEMES))
        tap.check("and names the first windows", "xcp 1, tcp 2, tcp+red 2" in page)
        again = pathlib.Path(name) / "again"
        compare(turnpike, again, SCHEMES[:2])
        tap.check("the same bytes again", (again / "rcp").exists() is False and
                  (again / "qcp" / "links.csv").read_bytes() == (folder / "qcp" / "links.csv").read_bytes())
        code, _, err = compare(turnpike, folder, ["fcp", "xpc"])
        tap.check("an unknown scheme is an error before any run",
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
        check_sizes(tap, turnpike, pathlib.Path(name) / "sizes")
    tap.finish()


if __name__ == "__main__":
    main()
