#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# A router that an attacker has taken over: each of its threads makes system calls that the sandbox must refuse. Then
# router and sender run without any capability. Needs root, to stop the threads and to change the user.
# Usage: compromised_test.py TURNPIKE-ROUTER TURNPIKE-SENDER
import contextlib
import errno
import os
import pathlib
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from sandbox.inject import Thread  # noqa: E402
from tap import Tap  # noqa: E402

USER = 65534
CREATE = os.O_WRONLY | os.O_CREAT
RWX = 7
TOPOLOGY = """
run: { duration: 3 s, output: OUT }
hosts: { alice: { budget: 1 $/s }, server: {} }
routers: { gate: {} }
links:
  alice-gate: { ends: [alice, gate], rate: 1 Gbps, delay: 2 ms, attach: memif }
  bottleneck: { ends: [gate, server], rate: 20 Mbps, delay: 2 ms, law: fcp, attach: memif }
traffic: { flows: { a: { from: alice, to: server } } }
"""



def attempts(outside):
    """Name, number of the call (x86-64), arguments."""
    return [
        ("start a shell", 59, b"/bin/sh", 0, 0),
        ("start a shell by a descriptor", 322, -100, b"/bin/sh", 0, 0, 0),
        ("fork", 57), ("vfork", 58), ("clone a process", 56, signal.SIGCHLD, 0, 0, 0, 0),
        ("open a raw socket", 41, 2, 3, 1), ("open a raw IPv6 socket", 41, 10, 3, 58),
        ("open a packet socket", 41, 17, 3, 0x0300), ("open a TCP socket", 41, 2, 1, 0),
        ("open a UDP socket", 41, 2, 2, 0), ("open a netlink socket", 41, 16, 3, 0),
        ("open a VSOCK socket", 41, 40, 1, 0),
        ("trace a process", 101, 16, 1, 0, 0), ("read another process's memory", 310, 1, 0, 0, 0, 0, 0),
        ("get another process's descriptor", 438, 0, 0, 0), ("open a pidfd", 434, 1, 0),
        ("kill another process", 62, os.getpid(), signal.SIGTERM),
        ("signal another process's thread", 234, os.getpid(), os.getpid(), signal.SIGTERM),
        ("mount", 165, b"none", b"/mnt", b"tmpfs", 0, 0), ("unmount", 166, b"/proc", 0),
        ("move a mount", 429, 0, b"", 0, b"", 0), ("change its root", 161, b"/"), ("pivot its root", 155, b"/", b"/"),
        ("enter a namespace", 308, 0, 0), ("make a namespace", 272, 0x10000000),
        ("load a program into the kernel", 321, 0, b"", 0), ("load a module", 175, 0, 0, b""),
        ("load a kernel", 246, 0, 0, 0, 0), ("reboot", 169, 0, 0, 0, 0),
        ("watch the kernel", 298, b"", 0, 0, 0, 0), ("use io_uring", 425, 1, b""), ("use keys", 250, 0, 0, 0),
        ("use a userfaultfd", 323, 1), ("become root", 105, 0), ("set its capabilities", 126, b"", b""),
        ("change its seccomp mode", 317, 0, 0, 0), ("trace its children", 157, 0x59616d61, -1, 0, 0, 0),
        ("raise its limits", 302, 0, 7, b"\xff" * 16, 0), ("write to a terminal's input", 16, 0, 0x5412, b"x"),
        ("map memory to execute", 9, 0, 4096, RWX, 0x22, -1, 0),
        ("open a file by its handle", 304, 0, b"", 0), ("make a device", 133, outside + b"/device", 0o20666, 0),
        ("make a hard link", 86, b"/etc/shadow", outside + b"/hard"),
        ("make a symbolic link", 88, b"/etc/shadow", outside + b"/soft"),
    ]


def file_attempts(folder, outside):
    """Those that only Landlock refuses to the owner of the files."""
    link = os.fsencode(folder / "out" / "link")
    return [
        ("open /etc/shadow", 2, b"/etc/shadow", 0), ("read the shell", 2, b"/bin/sh", 0),
        ("open the kernel's log", 2, b"/dev/kmsg", 0), ("open /proc/1/environ", 2, b"/proc/1/environ", 0),
        ("write outside of its folders", 2, outside + b"/new", CREATE, 0o600),
        ("make a folder outside", 83, outside + b"/folder", 0o700),
        ("remove a file outside", 87, outside + b"/victim"),
        ("truncate a file outside", 76, outside + b"/victim", 0),
        ("move a file outside", 82, outside + b"/victim", outside + b"/gone"),
        ("follow a link out of its folder", 2, link, 0), ("write along that link", 2, link, CREATE, 0o600),
    ]


def allowed(folder, topology):
    return [
        ("read the topology again", 2, os.fsencode(topology), 0),
        ("write to the output folder", 2, os.fsencode(folder / "out" / "new"), CREATE, 0o600),
        ("write to the run-time folder", 2, os.fsencode(folder / "run" / "new"), CREATE, 0o600),
        ("open a Unix socket", 41, 1, 1, 0), ("map memory", 9, 0, 4096, 3, 0x22, -1, 0),
    ]


class Bed:
    """Folders and a topology for one run as one user."""

    def __init__(self, folder, user):
        self.folder = folder
        self.topology = folder / "etc" / f"sandbox-{os.getpid()}.yaml"
        for name in ("etc", "out", "run", "outside"):
            (folder / name).mkdir(mode=0o755)
        (folder / "outside" / "victim").write_text("victim")
        (folder / "out" / "link").symlink_to("/etc/shadow")
        self.topology.write_text(TOPOLOGY.replace("OUT", str(folder / "out")))
        if user:
            for path in (folder / "out", folder / "run", folder / "outside", folder / "outside" / "victim"):
                os.chown(path, user, user)
        self.prefix = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", "--bounding-set=-all",
                       "--inh-caps=-all"] if user else []
        self.environment = {**os.environ, "RUNTIME_DIRECTORY": str(folder / "run")}

    def start(self, program, *arguments):
        log = self.folder / "out" / (pathlib.Path(program).name + ".log")
        with open(log, "w") as out:
            return log, subprocess.Popen([*self.prefix, program, self.topology, "--live", "off", *arguments],
                                         stdout=out, stderr=out, env=self.environment)


def wait_for(condition, seconds=30):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return False


def threads(pid):
    return sorted(int(t) for t in os.listdir(f"/proc/{pid}/task"))


def status(pid, thread):
    text = pathlib.Path(f"/proc/{pid}/task/{thread}/status").read_text()
    return dict(re.findall(r"^(\w+):\s*(\S*)", text, re.M))


def end(process, log, tap, who):
    process.send_signal(signal.SIGTERM)
    try:
        code = process.wait(30)
    except subprocess.TimeoutExpired:
        process.kill()
        code = "killed"
    tap.check(f"{who}: the router goes on and ends in order", code == 0, code, log.read_text())


def attack(tap, router, folder, user):
    who = "user" if user else "root"
    bed = Bed(folder, user)
    log, process = bed.start(router, "--sandbox", "auto")
    try:
        if not tap.check(f"{who}: the router starts", wait_for(lambda: "forwards on" in log.read_text()),
                         log.read_text()):
            return
        text = log.read_text()
        own = threads(process.pid)
        states = {t: status(process.pid, t) for t in own}
        tap.check(f"{who}: no thread has a capability", all(int(s["CapEff"], 16) == 0 == int(s["CapPrm"], 16)
                                                          for s in states.values()), states)
        tap.check(f"{who}: all threads have a filter and no new privileges",
                  all((s["Seccomp"], s["NoNewPrivs"]) == ("2", "1") for s in states.values()), states)
        outside = os.fsencode(folder / "outside")
        refused = attempts(outside)
        if "Landlock is missing" in text:
            tap.skip(f"{who}: files outside", "this kernel has no Landlock")
        else:
            refused += file_attempts(folder, outside)
        results = {}
        for thread in own:
            name = f"{who}, {pathlib.Path(f'/proc/{process.pid}/task/{thread}/comm').read_text().strip()}"
            with Thread(process.pid, thread) as victim:
                results[name] = ({n: victim.call(*c) for n, *c in refused},
                                 {n: victim.call(*c) for n, *c in allowed(folder, bed.topology)})
        for name, (bad, good) in results.items():
            wrong = [f"{n}: {r}" for n, r in bad.items() if r not in (-errno.EPERM, -errno.EACCES)]
            tap.check(f"{name}: all of {len(bad)} attempts are refused", not wrong, *wrong)
            wrong = [f"{n}: {r}" for n, r in good.items() if r < 0]
            tap.check(f"{name}: its own files, sockets and memory remain", not wrong, *wrong)
        # The control thread logs counts ten times a second: attempts of one kind may come in several lines.
        def logged():
            return sum(int(times) for times in re.findall(r"refused execve (\d+) times", log.read_text()))
        tap.check(f"{who}: the log counts what was refused", wait_for(lambda: logged() == len(own)), log.read_text())
        tap.check(f"{who}: files outside are as before",
                  [p.name for p in (folder / "outside").iterdir()] == ["victim"]
                  and (folder / "outside" / "victim").read_text() == "victim")
    finally:
        end(process, log, tap, who)


def runs_without_capability(tap, router, sender, folder):
    bed = Bed(folder, USER)
    routed, gate = bed.start(router, "--sandbox", "on", "--out", str(folder / "out" / "r"))
    log, hosts = bed.start(sender, "--sandbox", "on", "--out", str(folder / "out" / "s"))
    try:
        code = hosts.wait(60)
        sent = re.search(r"alice: sent (\d+) packets.*acknowledged (\d+)", log.read_text())
        tap.check("router and sender run sandboxed and without any capability",
                  code == 0 and sent and int(sent[2]) > 1000, code, log.read_text())
        tap.check("and the sender writes its results", (folder / "out" / "s" / "summary.json").exists())
    finally:
        hosts.kill()
        gate.send_signal(signal.SIGTERM)
        ended = gate.wait(30)
        tap.check("and the router ends in order", ended == 0, ended, routed.read_text())


def main():
    router, sender = sys.argv[1:]
    tap = Tap()
    if os.geteuid() != 0:
        tap.skip("a compromised router", "needs root")
        tap.finish()
    with contextlib.ExitStack() as stack:
        def folder():
            path = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="turnpike-sandbox-")))
            path.chmod(0o755)
            return path
        attack(tap, router, folder(), 0)
        attack(tap, router, folder(), USER)
        runs_without_capability(tap, router, sender, folder())
    tap.finish()


if __name__ == "__main__":
    main()
