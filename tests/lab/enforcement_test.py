#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Enforcement in the lab: a cheater of each sort gains nothing, and honest hosts lose no packet. All kinds
# and all files: lab/evolution/cheaters.py --enforce --check, lab/evolution/honest.py.
# Usage: enforcement_test.py TURNPIKE
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "lab" / "evolution")]
import honest  # noqa: E402
from tap import Tap  # noqa: E402

KINDS = ("honest", "budget", "price", "over-preload", "false-cancel", "high-exchange", "ignore-price", "forged-minimum",
         "split-addresses", "udp-spoofed", "mix-18")
KINDS_ON_TWO = ("honest", "budget", "short-rtt", "split-flows", "udp")
FILES_ON_TWO = ("control/two-hosts.yaml", "paper/fcp-fig12cd.yaml", "evolution/policies.yaml", "evolution/many-flows.yaml")
FILES = ("demo.yaml", "control/two-hosts.yaml", "control/two-links.yaml", "control/reverse-path.yaml",
         "paper/fcp-fig12cd.yaml", "paper/fcp-fig20.yaml", "evolution/policies.yaml", "evolution/long-round-trip.yaml",
         "evolution/many-flows.yaml")


def run(script, turnpike, *words):
    done = subprocess.run([sys.executable, ROOT / "lab/evolution" / script, "--turnpike", turnpike, *words], text=True,
                          timeout=400, capture_output=True, check=False)
    return done.returncode, done.stdout, done.stderr


def check_settings(tap):
    found = honest.settings(ROOT / "configs/paper/fcp-fig12cd.yaml")
    tap.check("each host with a budget is a customer, at the routers of such hosts",
              found[0].count("budget: 1 $/s") == 3 and len(found) == 3, *found)
    tap.check("flows that do not share a budget have a large one",
              honest.budget_of(" { budget: 1 $/s, strategy: each-flow }") == honest.UNBOUNDED)
    tap.check("a budget that changes is the largest",
              honest.budget_of(" { budget: 1 $/s, changes: [{ at: 1 s, budget: 3 $/s }] }") == 3)


def main():
    turnpike = str(pathlib.Path(sys.argv[1]).resolve())
    tap = Tap()
    check_settings(tap)
    for lcores, kinds, files in (("1", KINDS, FILES), ("2", KINDS_ON_TWO, FILES_ON_TWO)):
        with tempfile.TemporaryDirectory() as folder:
            words = [w for kind in kinds for w in ("--kind", kind)]
            code, out, err = run("cheaters.py", turnpike, "--enforce", "--check", "--out", folder, "--lcores", lcores,
                                 "--set", "run.duration=6 s", *words)
            tap.check(f"no cheater gains, no honest customer loses a packet ({lcores} lcores)", code == 0, out, err)
        code, out, err = run("honest.py", turnpike, "--lcores", lcores, *(ROOT / "configs" / f for f in files))
        tap.check(f"nothing of honest hosts is dropped ({lcores} lcores)", code == 0, out, err)
    tap.finish()


if __name__ == "__main__":
    main()
