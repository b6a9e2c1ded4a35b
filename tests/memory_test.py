#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Router and sender with decreasing address space (ulimit -v): each start runs, or ends with exit code 4 and a message
# about memory. The failing allocation changes within a few MB below the least size that suffices.
# Usage: memory_test.py ROUTER SENDER
import pathlib
import resource
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))
from die_with_parent import die_with_parent  # noqa: E402
from tap import Tap  # noqa: E402

DEMO = ROOT / "configs" / "demo.yaml"
MB = 1_000_000
STEP = 2 * MB
NO_PEER = "no link after"  # the sender's message, when started alone with enough memory


def start(program, folder, most):
    """(exit code, output) of a start with `most` bytes of address space."""
    def limit():
        die_with_parent()
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    done = subprocess.run([program, DEMO, "--duration", "50ms", "--wait", "50ms", "--live", "off", "--out", folder],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60, check=False, preexec_fn=limit)
    return done.returncode, done.stdout.decode(errors="replace")


def suffices(started):
    code, said = started
    return code == 0 or NO_PEER in said


def told(started):
    code, said = started
    return code == 4 and "not enough memory" in said and "EAL arguments" not in said


def least(program, folder):
    """The least address space that suffices, rounded to STEP."""
    low, high = 0, 16_384 * MB
    while high - low > STEP:
        middle = (low + high) // 2
        if suffices(start(program, folder, middle)):
            high = middle
        else:
            low = middle
    return high


def main():
    tap = Tap()
    for name, program in zip(("router", "sender"), sys.argv[1:3]):
        program = pathlib.Path(program).resolve()
        with tempfile.TemporaryDirectory() as folder:
            enough = least(program, folder)
            limits = [*range(enough - 8 * STEP, enough, STEP), *(enough * part // 5 for part in range(1, 5))]
            found = {most // MB: start(program, folder, most) for most in limits}
        wrong = {mb: (code, said[-300:]) for mb, (code, said) in found.items()
                 if not told((code, said)) and not suffices((code, said))}
        tap.check(f"the {name} says that memory is short where {enough // MB} MB would do, with {len(found)} limits",
                  not wrong and enough < 16_000 * MB, wrong)
    tap.finish()


if __name__ == "__main__":
    main()
