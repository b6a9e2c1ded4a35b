#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Classes of a link in the lab: shares of configs/evolution's files, under attacks too. Each share is within 5 % of what
# the file entitles it to. Usage: classes_test.py TURNPIKE
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from tap import Tap  # noqa: E402

WITHIN = 0.05
THIRD = 100 / 3
# Best effort has 40 Mbit/s while two deadline flows are granted 20 each. Two more are refused, with a quarter of a budget
# each, since a host's budget is divided among all its flows; four groups have a budget each.
OF_BUDGET = 40 / 4.5
# By file and span: Mbit/s that groups of flows are entitled to together.
SHARES = {
    "class-attacks": {
        "alone": {"one": 50, "two": 50},
        "flood": {"one": 35, "two": 35},
        "requests": {"one": THIRD, "two": THIRD, "greedy": THIRD},  # refused: eight flows of one budget
        "stability": {"one": 50, "two": 50},  # the queue has no room for a packet of that class
        "priority": {"one": 50, "two": 50},
        "end": {"one": 50, "two": 50},
    },
    "policies": {
        "priced": {group: 25 for group in ("one", "two", "calm", "gold")},
        "with-tcp": {"tcp": 20} | {group: 20 for group in ("one", "two", "calm", "gold")},
        "crossed": {"tcp": 20, "cross": 80 * 20 / 24},
        "deadlines": {"tcp": 20, "urgent": 40 + OF_BUDGET / 2} |
                     {group: OF_BUDGET for group in ("one", "two", "calm", "gold")},
        "end": {group: 25 for group in ("one", "two", "calm", "gold")},
    },
    "tree": {
        "both": {"one": 2 / 9 * 100, "two": 2 / 9 * 100, "gold": 2 / 9 * 100, "rich tcp": THIRD, "tcp": 10},
        "alone": {"rich": 100},
    },
}


def main():
    turnpike = pathlib.Path(sys.argv[1])
    tap = Tap()
    for name, spans in SHARES.items():
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([turnpike, "lab", ROOT / "configs" / "evolution" / f"{name}.yaml", "--out", folder,
                                   "--json"], text=True, timeout=600, capture_output=True, check=False)
        if not tap.check(f"{name}.yaml runs", done.returncode == 0, done.stderr):
            continue
        measured = json.loads(done.stdout)["measure"]
        for span, wanted in spans.items():
            for groups, entitled in wanted.items():
                got = sum(measured[span]["groups"][g]["goodput_mbps"] for g in groups.split())
                tap.check(f"{name}, {span}: {groups} {got:.2f} of {entitled:.2f} Mbit/s",
                          abs(got / entitled - 1) <= WITHIN)
    tap.finish()


if __name__ == "__main__":
    main()
