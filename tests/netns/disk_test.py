#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# The folder for results is read-only, full, or fills up during the run.
# Usage: disk_test.py ROUTER SENDER
import json
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import gate  # noqa: E402
import world  # noqa: E402

DEMO = world.ROOT / "configs" / "demo.yaml"
DISK = pathlib.Path("/run/disk")
PROGRAMS = ("router", "sender")


def fill():
    with open(DISK / "filler", "ab", buffering=0) as file:
        try:
            while True:
                file.write(b"x" * 4096)
        except OSError:
            pass


def refused(tap, programs, what, said):
    """Both end before the run, exit code 4, and leave nothing."""
    for name, path in zip(PROGRAMS, programs):
        program = world.Program(path, "/run/demo.yaml", "--out", DISK / "results", "--live", "off")
        code = program.wait(5)
        left = list(DISK.glob("results/*"))
        tap.check(f"{what}: the {name} ends with exit code 4 before the run",
                  code == 4 and said in program.output() and not left, code, program.output()[-2000:], left)


def fills_up(tap, programs):
    router = world.Program(programs[0], "/run/demo.yaml", "--out", DISK / "router", "--live", "off")
    sender = world.Program(programs[1], "/run/demo.yaml", "--out", DISK / "sender", "--live", "off",
                           "--duration", "3s")
    world.until(lambda: "link bottleneck is up" in router.output())
    fill()
    codes = {"sender": (sender.wait(15), sender.output()), "router": (router.stop(), router.output())}
    for name, (code, output) in codes.items():
        tap.check(f"the disk fills up: the {name} ends with exit code 1 and says so",
                  code == 1 and "cannot write" in output and "No space left on device" in output, code, output[-2000:])
        left = [path for path in DISK.glob(f"{name}/*") if not whole(path)]
        tap.check(f"the disk fills up: no file of the {name}'s is there in part", not left, left)


def whole(path):
    if path.suffix == ".json":
        try:
            return bool(json.loads(path.read_text()))
        except ValueError:
            return False
    return path.suffix != ".part" and path.read_text().endswith("\n")


def main():
    programs = sys.argv[1:3]
    tap = gate.enter("mount")
    pathlib.Path("/run/demo.yaml").write_text(DEMO.read_text())
    DISK.mkdir()
    world.sh("mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", DISK)
    world.sh("mount", "-o", "remount,ro", DISK)
    refused(tap, programs, "a read-only folder", "Read-only file system")
    world.sh("mount", "-o", "remount,rw", DISK)
    (DISK / "results").mkdir()
    fill()
    refused(tap, programs, "a full disk", "No space left on device")
    os.unlink(DISK / "filler")
    fills_up(tap, programs)
    tap.finish()


if __name__ == "__main__":
    main()
