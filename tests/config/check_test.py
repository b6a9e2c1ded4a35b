#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# `turnpike check` reports every mistake at its place, accepts every topology that we ship, and needs no privileges.
# Usage: check_test.py TURNPIKE
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from tap import Tap  # noqa: E402

MISTAKES = "tests/config/ten-mistakes.yaml"


def run(*arguments):
    """(exit code, standard output, standard error), in an environment without privileges or EAL."""
    done = subprocess.run(arguments, capture_output=True, text=True, cwd=ROOT, timeout=600,
                          check=False)
    return done.returncode, done.stdout, done.stderr


def expected_mistakes():
    """(line, column, words) of each mistake, as the comment behind it says."""
    lines = (ROOT / MISTAKES).read_text().splitlines()
    return [(number, int(match.group(1)), match.group(2)) for number, line in enumerate(lines, 1)
            if (match := re.search(r" # (\d+): (.*)$", line))]


def thousand_links():
    """A router with more links than DPDK can open ports."""
    names = range(1000)
    return "\n".join(["hosts:", *(f"  h{i}: {{}}" for i in names), "routers: { gate: {} }", "links:",
                      *(f"  l{i}: {{ ends: [h{i}, gate], rate: 1 Gbps, attach: memif }}" for i in names), ""])


def main():
    turnpike = pathlib.Path(sys.argv[1]).resolve()
    tap = Tap()

    code, out, err = run(turnpike, "check", MISTAKES)
    told = re.findall(rf"^{re.escape(MISTAKES)}:(\d+):(\d+): \S+: (.*)$", out + err, re.M)
    expected = expected_mistakes()
    tap.check("a bad file ends with exit code 3", code == 3, code)
    tap.check("ten mistakes are ten messages, in the file's order", len(told) == len(expected) == 10,
              out, err)
    for (line, column, words), (told_line, told_column, message) in zip(expected, told):
        tap.check(f"{line}:{column}: {words}",
                  (int(told_line), int(told_column)) == (line, column) and words in message,
                  f"{told_line}:{told_column}: {message}")

    for path in sorted((ROOT / "configs").rglob("*.yaml")):
        code, out, err = run(turnpike, "check", path)
        tap.check(f"{path.relative_to(ROOT)} is right", code == 0 and out, out, err)
    code, out, _ = run(turnpike, "schema")
    tap.check("the schema beside configs/ is the program's",
              code == 0 and out == (ROOT / "configs" / "turnpike.schema.json").read_text(),
              "renew it with: turnpike schema > configs/turnpike.schema.json")
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "thousand.yaml"
        file.write_text(thousand_links())
        code, out, err = run(turnpike, "check", file)
        tap.check("1,000 links with ports are refused at the 33rd, in one message", code == 3 and
                  re.search(r":1036:\d+: links.l32.attach: .* more than 32 links with ports, the limit of DPDK", out + err) and
                  "1 mistake\n" in out + err, code, out, err)
        file.write_text(thousand_links().replace(", attach: memif", ""))
        code, out, err = run(turnpike, "check", file)
        tap.check("without ports, on the virtual clock, they are right", code == 0, code, out, err)
    tap.check("a file that is not there ends with exit code 3",
              run(turnpike, "check", "no-such-file.yaml")[0] == 3)
    tap.check("no file at all is wrong usage, exit code 2", run(turnpike, "check")[0] == 2)
    tap.finish()


if __name__ == "__main__":
    main()
