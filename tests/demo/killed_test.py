#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Kills `turnpike demo` (KILL) while it plays the virtual clock and while it plays in real time: the processes that it
# started end with it. The same for this test's own helper. Usage: killed_test.py TURNPIKE
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from die_with_parent import die_with_parent  # noqa: E402
from tap import Tap  # noqa: E402

DEMO = ROOT / "configs" / "demo.yaml"
PATIENCE_S, GONE_S = 30, 2
# Programs that run in each stage of the demo.
STAGES = {"the virtual clock": {"turnpike"}, "real time": {"turnpike-router", "turnpike-sender"}}


def status(pid):
    """(its parent, whether it runs, its program), or None if it does not exist."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        program = os.readlink(f"/proc/{pid}/exe")
    except OSError:
        return None
    return int(fields[1]), fields[0] not in "ZX", pathlib.Path(program).name


def children_of(parent):
    """Process ids by program."""
    found = {}
    for entry in pathlib.Path("/proc").iterdir():
        told = status(entry.name) if entry.name.isdigit() else None
        if told and told[0] == parent:
            found[told[2]] = int(entry.name)
    return found


def until(condition, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := condition():
            return found
        time.sleep(0.02)
    return None


def gone(pids):
    told = [status(pid) for pid in pids]
    return not any(t and t[1] for t in told)


def kill_in(tap, turnpike, stage, programs, folder):
    file = folder / f"killed-{os.getpid()}.yaml"  # its name is in the names of memif's sockets
    # Makes the virtual clock's run last longer than the test.
    text = DEMO.read_text()
    file.write_text(text.replace("duration: 15 s", "duration: 900 s") if stage == "the virtual clock" else text)
    with open(folder / "log", "w") as log:
        demo = subprocess.Popen([turnpike, "demo", file, "--out", folder / "out", "--live", "off"], stdout=log,
                                stderr=log, stdin=subprocess.DEVNULL, preexec_fn=die_with_parent)
    running = until(lambda: programs <= set(children_of(demo.pid)) and children_of(demo.pid), PATIENCE_S) or {}
    demo.kill()
    demo.wait()
    ended = until(lambda: gone(running.values()), GONE_S)
    tap.check(f"a demo that is killed in {stage} leaves no process behind: {', '.join(sorted(running))}",
              programs == set(running) and ended, running, (folder / "log").read_text()[-2000:])
    for pid in running.values() if not ended else ():
        os.kill(pid, signal.SIGKILL)


def kill_script(tap):
    """A killed script, whose processes must die with it."""
    script = ("import subprocess, sys, time; sys.path.insert(0, sys.argv[1]); "
              "from die_with_parent import die_with_parent; "
              "print(subprocess.Popen(['sleep', '60'], preexec_fn=die_with_parent).pid, flush=True); time.sleep(60)")
    with subprocess.Popen([sys.executable, "-c", script, ROOT / "tests"], stdout=subprocess.PIPE, text=True,
                          preexec_fn=die_with_parent) as parent:
        child = int(parent.stdout.readline())
        parent.kill()
    tap.check("nor does a test's script", until(lambda: gone([child]), GONE_S))


def main():
    turnpike = pathlib.Path(sys.argv[1]).resolve()
    tap = Tap()
    for stage, programs in STAGES.items():
        with tempfile.TemporaryDirectory() as name:
            kill_in(tap, turnpike, stage, programs, pathlib.Path(name))
    kill_script(tap)
    tap.finish()


if __name__ == "__main__":
    main()
