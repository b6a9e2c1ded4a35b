#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Limits: flows beyond the flow table's capacity are counted, so that a trace's totals add up, and a run that exceeds
# the machine's memory is refused before it starts. Usage: limits_test.py TURNPIKE
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from tap import Tap  # noqa: E402

FLOWS = 9000  # in 9 s, each alone for longer than that: the table has places for 4 s of them
NETWORK = """
run: {{ duration: 10 s, sample: 100 ms, output: out/limits }}
hosts: {{ b: {{}}, a: {{ budget: 1 $/s }} }}
routers: {{ gate: {{}} }}
links:
  a-gate: {{ ends: [a, gate], rate: {access} }}
  narrow: {{ ends: [gate, b], rate: {rate}, delay: {delay}, buffer: 1 BDP, law: tcp }}
traffic:
"""
TRACE = "  workloads: { load: { from: a, to: b, protocol: tcp, size: { trace: trace.csv } } }\n"
ONE = "  flows: { one: { from: a, to: b, protocol: tcp } }\n"


def play(turnpike, file, folder, *more):
    done = subprocess.run([turnpike, "lab", file, "--out", folder, *more],
                          text=True, timeout=300, capture_output=True, check=False)
    return done.returncode, done.stdout, done.stderr


def main():
    turnpike = pathlib.Path(sys.argv[1]).resolve()
    tap = Tap()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        file = folder / "load.yaml"
        (folder / "trace.csv").write_text("".join(f"{i / 1000},20000\n" for i in range(FLOWS)))
        file.write_text(NETWORK.format(access="1 Gbps", rate="20 Mbps", delay="20 ms") + TRACE)
        code, out, err = play(turnpike, file, folder / "full")
        tap.check("a trace larger than the table is played", code == 0 and not err, code, out, err)
        summary = json.loads((folder / "full" / "summary.json").read_text())
        flows = summary["flows"]
        tap.check("all of its flows were asked for", flows["asked_for"] == FLOWS, flows)
        tap.check("each was started or not", flows["started"] + flows["not_started"] == FLOWS, flows)
        tap.check("some were not", flows["not_started"] > 0, flows)
        tap.check("each that was started has completed or has not",
                  flows["completed"] + flows["unfinished"] == flows["started"] == flows["count"], flows)
        says = [line for line in out.splitlines() if "NOT PLAYED AS ASKED" in line]
        tap.check("the run says so in a line", len(says) == 1 and
                  f"{flows['not_started']} of {FLOWS} flows never started" in says[0], out)
        page = (folder / "full" / "report.html").read_text()
        tap.check("and so does the report", "NOT PLAYED AS ASKED" in page)
        tap.check("the memory need is the first line", out.startswith("Memory: about "), out[:200])

        file.write_text(NETWORK.format(access="1 Gbps", rate="1 Mbps", delay="20 ms") + ONE)
        code, out, _ = play(turnpike, file, folder / "room", "--duration", "1s")
        tap.check("a run with enough flow table entries does not say so",
                  code == 0 and "NOT PLAYED" not in out, code, out)

        file.write_text(NETWORK.format(access="400 Gbps", rate="300 Gbps", delay="600 s") + ONE)
        code, out, err = play(turnpike, file, folder / "huge")
        tap.check("a run that no machine has the memory for is refused", code == 4, code, out, err)
        tap.check("with the largest part and the settings to change",
                  all(part in err for part in ("the machine has", "packet buffers take", "link narrow",
                                               "a lower rate, delay or buffer")), err)
        tap.check("and nothing was started", not out and not (folder / "huge").exists(), out)
    tap.finish()


if __name__ == "__main__":
    main()
