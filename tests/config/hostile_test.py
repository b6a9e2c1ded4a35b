#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Hostile files through all programs: each is refused with exit code 3 and its place, or played. No program hangs,
# crashes, or prints control bytes or long messages.
# Usage: hostile_test.py [--slow] TURNPIKE [ROUTER SENDER]
# --slow: of instrumented programs, which need address space without limit and more time; without the largest files.
import concurrent.futures
import contextlib
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import hostile  # noqa: E402
from tap import Tap  # noqa: E402

CPU_SECONDS = 10     # of one program on one file
SECONDS = 120        # likewise, on a busy machine
MEMORY = 4 << 30     # B of address space; EAL reserves most of it
MESSAGE = 5000       # B of one line of standard error, file name included
MESSAGES = 1001      # lines
PLAYED = (0, 4)      # fine; the machine is not ready, which a router without its neighbours is not
PLACE = re.compile(rb": (cannot be read: |.*cannot be read: )|:\d+:\d+: ")
CONTROL = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]")


def run(command, folder, slow):
    """(exit code or 'hangs', output, errors, seconds)"""
    started = time.monotonic()
    with subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          start_new_session=True) as process:
        try:
            with contextlib.suppress(ProcessLookupError):  # it may have ended
                most = CPU_SECONDS * (8 if slow else 1)
                resource.prlimit(process.pid, resource.RLIMIT_CPU, (most, most))
            out, err = process.communicate(timeout=SECONDS)
            code = process.returncode
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
            code = "hangs"
    return code, out, err, time.monotonic() - started


def printed_wrong(out, err):
    """Forbidden content of messages: control bytes, invalid UTF-8, long lines."""
    wrong = []
    for text in (out, err):
        if found := CONTROL.search(text):
            wrong.append(f"control byte {found[0]!r} in {text[max(0, found.start() - 40):found.end() + 10]!r}")
        try:
            text.decode()
        except UnicodeDecodeError as error:
            wrong.append(f"no UTF-8: {error}")
    lines = err.splitlines()
    if len(lines) > MESSAGES or any(len(line) > MESSAGE for line in lines):
        wrong.append(f"{len(lines)} lines of up to {max(map(len, lines), default=0)} bytes")
    return wrong


def judge(verb, code, out, err, refused):
    """Violations in how a program ended; `refused`: `turnpike check` refuses the file."""
    wrong = printed_wrong(out, err)
    if code not in (3, *PLAYED):
        wrong.append(f"exit code {code}")
    elif refused and code != 3:
        wrong.append(f"check refuses the file, exit code {code}")
    elif not refused and code not in PLAYED:
        wrong.append(f"check accepts the file, exit code {code}")
    if code == 3 and not PLACE.search(err):
        wrong.append("no place")
    if wrong:
        wrong += [f"standard error: {err[:600]!r}"]
    return [f"{verb}: {text}" for text in wrong]


def commands(programs, path, folder):
    """(program, its command) for each; programs that play do so briefly and into a folder of their own."""
    turnpike, *others = programs
    yield "lab", [turnpike, "lab", path, "--duration", "10 ms", "--out", folder]
    for program, options in zip(others, (["--duration", "20 ms"], ["--duration", "20 ms"])):
        yield program.name, [program, path, "--live", "off", "--wait", "100 ms", "--out", folder, *options]


def put_through(name, path, programs, folder, slow):
    """(name, whether check accepts the file, violations, the longest time of a program)"""
    code, out, err, longest = run([programs[0], "check", path], folder, slow)
    accepted = code == 0
    wrong = printed_wrong(out, err)
    if code not in (0, 3):
        wrong.append(f"exit code {code}: {err[:600]!r}")
    if code == 3 and not PLACE.search(err):
        wrong.append(f"no place: {err[:600]!r}")
    wrong = [f"check: {text}" for text in wrong]
    for verb, command in commands(programs, path, folder / f"out-{name}"):
        code, out, err, seconds = run(command, folder, slow)
        wrong += judge(verb, code, out, err, not accepted)
        longest = max(longest, seconds)
    if pathlib.Path(path).suffix == ".yaml":
        os.unlink(path)  # some are large
    return name, accepted, wrong, longest


def main():
    slow = sys.argv[1] == "--slow"
    programs = [pathlib.Path(name).resolve() for name in sys.argv[2 if slow else 1:]]
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if not slow:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))  # of the programs, too
    tap = Tap()
    played = refused = 0
    slowest = (0, "")
    with tempfile.TemporaryDirectory() as name, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        folder = pathlib.Path(name)
        work = [pool.submit(put_through, *case, programs, folder, slow)
                for case in hostile.cases(folder, with_large=not slow)]
        for done in concurrent.futures.as_completed(work):
            case, accepted, wrong, seconds = done.result()
            played += accepted
            refused += not accepted
            slowest = max(slowest, (seconds, case))
            tap.check(case, not wrong, *wrong)
    print(f"# {played} played, {refused} refused; the slowest, {slowest[1]}, took {slowest[0]:.1f} s")
    tap.check("there are 200 files and more, most of them refused", refused >= (150 if slow else 200), played, refused)
    tap.finish()


if __name__ == "__main__":
    main()
