#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Plays a shorter demo in real time while its programs are held (SIGSTOP, SIGCONT) or beside busy loops, and prints
# shares, link utilisation and losses as a table. Takes minutes; `make test` does not run it.
import argparse
import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from die_with_parent import die_with_parent  # noqa: E402

DEMO = (ROOT / "configs" / "demo.yaml").read_text()
SHORTER = {"duration: 15 s": "duration: 8 s", "start: 2 s, stop: 11 s": "start: 1 s, stop: 6 s",
           "start: 4 s }": "start: 2 s }"}
HOLDS_MS = [(2, 100), (5, 250), (20, 500), (40, 1000)]


def topology(rate):
    text = re.sub(r"(bottleneck: .*rate: )100 Mbps", rf"\g<1>{rate}", DEMO)
    for old, new in SHORTER.items():
        assert old in text, "configs/demo.yaml has changed: mend SHORTER"
        text = text.replace(old, new)
    return text


def programs(file):
    """Process ids of the router and the sender that play this file."""
    found = {}
    for entry in pathlib.Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            words = (entry / "cmdline").read_text().split("\0") if entry.name.isdigit() else []
            if str(file) in words:
                found[pathlib.Path(words[0]).name.removeprefix("turnpike-")] = int(entry.name)
    return found


class Holder(threading.Thread):
    """Keeps the programs named from running for `hold_s` in each `period_s`."""

    def __init__(self, file, names, hold_s, period_s):
        super().__init__()
        self.file, self.names, self.hold_s, self.period_s = file, names, hold_s, period_s
        self.over, self.held_s = threading.Event(), 0.0

    def run(self):
        pids = {}
        while not self.over.is_set() and not set(self.names) <= set(pids):
            pids = programs(self.file)
            time.sleep(0.05)
        while not self.over.wait(self.period_s - self.hold_s):
            start = time.monotonic()
            self.signal(pids, signal.SIGSTOP)
            time.sleep(self.hold_s)
            self.signal(pids, signal.SIGCONT)
            self.held_s += time.monotonic() - start

    def signal(self, pids, number):
        for name in self.names:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pids[name], number)


@contextlib.contextmanager
def busy_loops(count):
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"], preexec_fn=die_with_parent)
             for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def play(options, rate, names, hold_ms, period_ms, loops):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        folder.chmod(0o777)
        file = folder / f"held-{os.getpid()}.yaml"
        file.write_text(topology(rate))
        become = ["setpriv", "--reuid", options.user, "--clear-groups"] if options.user else []
        holder = Holder(file, names, hold_ms / 1e3, period_ms / 1e3)
        with busy_loops(loops):
            start = time.monotonic()
            holder.start()
            done = subprocess.run([*become, options.turnpike, "demo", file, "--out", folder / "out", "--live", "off"],
                                  text=True, capture_output=True, check=False, preexec_fn=die_with_parent)
            holder.over.set()
            holder.join()
            taken = holder.held_s / (time.monotonic() - start) if names else 0
        path = folder / "out" / "summary.json"
        if not path.exists():
            return f"exit code {done.returncode}: {done.stderr.strip()[-200:]}"
        summary = json.loads(path.read_text())
    worst, used = 0, []
    for interval in summary["intervals"]:
        hosts = interval["hosts"].values()
        measured, entitled = (sum(h[key] for h in hosts) for key in ("measured_mbps", "entitled_mbps"))
        worst = max([worst, *(abs(h["measured_mbps"] / measured * entitled / h["entitled_mbps"] - 1) for h in hosts)])
        used.append(interval["links"]["bottleneck"]["utilization"])
    verdict, machine = summary["verdict"], summary["machine"]
    return (f"{100 * worst:.1f} % | {100 * min(used):.1f} to {100 * max(used):.1f} % | {100 * taken:.1f} % | "
            f"{100 * machine['taken']:.1f} % | {verdict['lost_packets']} | {done.returncode}")


def main():
    options = argparse.ArgumentParser(description="The demo on a machine that others use, as a table.")
    options.add_argument("--turnpike", default=ROOT / "build" / "lab" / "turnpike", type=pathlib.Path)
    options.add_argument("--rate", action="append", help="of the bottleneck (100 Mbps and 1 Gbps)")
    options.add_argument("--user", help="user that runs it, such as nobody")
    chosen = options.parse_args()
    rows = [("none", 0, 1, 0), ("none", 0, 1, 1), ("none", 0, 1, 2)]
    rows += [(who, *hold, 0) for who in ("router", "sender", "both") for hold in HOLDS_MS]
    print("| rate | held | beside busy loops | shares off by | link used | held for | taken in all | lost | exit |")
    print("|---|---|---|---|---|---|---|---|---|")
    for rate in chosen.rate or ["100 Mbps", "1 Gbps"]:
        for who, hold, period, loops in rows:
            names = {"none": [], "both": ["router", "sender"]}.get(who, [who])
            what = who + (f", {hold} of {period} ms" if names else "")
            print(f"| {rate} | {what} | {loops} | {play(chosen, rate, names, hold, period, loops)} |", flush=True)


if __name__ == "__main__":
    main()
