#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Runs every command of docs/gateway-guide.md, from the page's text, as an operator would, in namespaces of its own.
# gateway_test.py checks rates.
# Usage: gateway_guide_test.py [--verbose] ROUTER TURNPIKE
import json
import os
import pathlib
import sys

import gate
import world

sys.path[:0] = [str(world.ROOT / "tests" / "docs")]
from console import Shell, commands, missing  # noqa: E402

PAGE = (world.ROOT / "docs" / "gateway-guide.md").read_text()
SECONDS = 300  # for one command: the lab is slow beside other programs
CUSTOMERS = ("anna", "bert", "carla")


def run_page(tap, verbose):
    """Each command of the page; returns [(text, output)]."""
    shell = Shell("bash", "--noediting", "--norc", "-i")
    outputs = []
    for command in commands(PAGE):
        code, out = shell.run(command.text, SECONDS)
        absent = missing(command.shown, out)
        tap.check(command.text.splitlines()[0], code == 0 and not absent, f"exit code {code}", out,
                  *(f"not in the output: {line}" for line in absent))
        outputs.append((command.text, out))
        if verbose:
            print(f"# {command.text}\n{out}", file=sys.stderr, flush=True)
    shell.end()
    return outputs


def check_promises(tap, outputs):
    """Those of the page, beyond the exit codes of its commands."""
    shown = [out for text, out in outputs if text.startswith("turnpike show tunnels")]
    tap.check("show tunnels has all customers",
              len(shown) == 3 and all(c in out for out in shown for c in CUSTOMERS), *shown)
    bypassed = [[line for line in out.splitlines() if line.startswith("carla") and line.rstrip().endswith("yes")]
                for out in shown]
    tap.check("... and says which one is bypassed", [len(lines) for lines in bypassed] == [0, 0, 1], *shown)
    plans = [out for text, out in outputs if text.startswith("turnpike reload --dry-run")]
    tap.check("the plan names the budget", any("budget" in plan for plan in plans), *plans)
    for node in ("west", "east"):
        path = pathlib.Path(f"/run/out-{node}/router-{node}.json")
        tap.check(f"{node} has ended and left its counters",
                  world.until(path.exists, 60) and json.loads(path.read_text())["received"] > 0)


def main():
    arguments = [a for a in sys.argv[1:] if a != "--verbose"]
    folders = [str(pathlib.Path(program).resolve().parent) for program in arguments[:2]]
    tap = gate.enter("ping", "iperf3", "sysctl")
    os.environ["PATH"] = ":".join([*folders, os.environ["PATH"]])
    os.chdir(world.ROOT)
    check_promises(tap, run_page(tap, "--verbose" in sys.argv))
    tap.finish()


if __name__ == "__main__":
    main()
