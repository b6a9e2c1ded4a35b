#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Plays the protocol of docs/write-a-protocol.md in the lab, on the page's own topology.
# Usage: example_test.py TURNPIKE FOLDER     (a turnpike with that protocol; the folder of the page's blocks)
import csv
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "docs")]
import blocks  # noqa: E402
from tap import Tap  # noqa: E402

PAGE = ROOT / "docs" / "write-a-protocol.md"
FROM_S, SHARE_MBPS, TOLERANCE = 6, 95 / 3, 0.02  # as the page says


def run(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=100, check=False)


def rates(path):
    """Mbps of each host from FROM_S on, by sample."""
    out = {}
    for row in csv.DictReader(path.read_text().splitlines()):
        if not row["flow"] and float(row["t"]) > FROM_S:
            out.setdefault(row["host"], []).append(float(row["rate_mbps"]))
    return out


def main():
    turnpike, folder = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    tap = Tap()
    page = PAGE.read_text()
    named = blocks.blocks(page)
    written = {path: (folder / path).read_text() for _, path, _ in named}
    tap.check("the compiled code equals the page's",
              all(written[path] == text for kind, path, text in named if kind != "diff"))
    added = [line for kind, _, text in named if kind == "diff" for line in text.splitlines() if line[0] == "+"]
    tap.check("a protocol is its folder and two lines of the registry", len(added) == 2, *added)
    law = "".join(text for kind, path, text in named if kind == "cpp" and not path.endswith("_test.cpp"))
    code = [line for line in law.splitlines() if line.strip() and not re.match(r"\s*(//|#|})", line)]
    tap.check(f"the protocol has {len(code)} lines of code, at most 150", len(code) <= 150)
    if shutil.which("clang-format"):
        for kind, path, text in named:
            if kind == "cpp":
                done = subprocess.run(["clang-format", f"--style=file:{ROOT}/.clang-format"], input=text, text=True,
                                      capture_output=True, check=False)
                tap.check(f"{path} is laid out as the tree is", done.stdout == text, done.stderr)
    else:
        tap.skip("the page's code is laid out as the tree is", "there is no clang-format")

    with tempfile.TemporaryDirectory() as name:
        out = pathlib.Path(name)
        done = run(turnpike, "lab", folder / "mimd.yaml", "--out", out, "--json")
        if tap.check("the lab plays the page's topology", done.stdout.startswith("{"), done.stdout, done.stderr):
            summary = json.loads(done.stdout)
            lost = summary["verdict"]["lost_packets"]
            tap.check("no packet is lost", lost == 0, lost)
            hosts = rates(out / "rates.csv")
            means = {host: sum(values) / len(values) for host, values in hosts.items()}
            for host in ("one", "two", "three"):
                tap.check(f"{host} has a third of 95 Mbps from {FROM_S} s on",
                          abs(means.get(host, 0) / SHARE_MBPS - 1) <= TOLERANCE, means)
    done = run(turnpike, "check", folder / "mimd.yaml")
    tap.check("turnpike check knows the protocol", done.returncode == 0, done.stderr)
    done = run(turnpike, "lab", folder / "mimd.yaml", "--set", "links.bottleneck.law.mimd.gain=2")
    tap.check("and the bounds of its parameters", done.returncode == 3 and "gain" in done.stderr, done.stderr)
    tap.finish()


if __name__ == "__main__":
    main()
