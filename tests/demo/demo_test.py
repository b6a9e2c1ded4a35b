#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Runs the demo at one or more rates of its bottleneck, and checks summary.json by independent arithmetic.
# Usage: demo_test.py TURNPIKE RATE...     (such as '100 Mbps')
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from die_with_parent import die_with_parent  # noqa: E402
from tap import Tap  # noqa: E402

DEMO = ROOT / "configs" / "demo.yaml"
BUDGETS = {"alice": 1, "bob": 1, "carol": 2}
# From, to in s after the settling time, and the hosts that send then, as in the file.
INTERVALS = [(0.5, 2, {"alice"}), (2.5, 4, {"alice", "bob"}), (4.5, 11, {"alice", "bob", "carol"}),
             (11.5, 15, {"alice", "carol"})]
TOLERANCE, LEAST_UTILIZATION = 0.05, 0.95
# On the virtual clock; at low rates a share is few packets per round trip (20 ms), and may be off by a fifth of one.
LAB_TOLERANCE, LAB_PACKET = 0.01, 0.2
# A failed demo is no evidence where the machine took more than this share of the time, or where programs were stalled
# for longer than MOST_STALLED_S in one second: shorter stalls are compensated. It is repeated, at most twice.
MOST_TAKEN, MOST_STALLED_S, ATTEMPTS = 0.2, 0.05, 3


def play(turnpike, rate, folder):
    """(exit code, output, summary) of one demo."""
    text, count = re.subn(r"(bottleneck: .*rate: )100 Mbps", rf"\g<1>{rate}", DEMO.read_text())
    assert count == 1, "configs/demo.yaml has changed: mend this test"
    topology = folder / f"demo-{os.getpid()}.yaml"  # its name is in the names of memif's sockets
    topology.write_text(text)
    try:
        done = subprocess.run([turnpike, "demo", topology, "--out", folder / "out"], text=True,
                              timeout=100, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                              preexec_fn=die_with_parent)
    except subprocess.TimeoutExpired as late:
        return "none after 100 s", (late.stdout or b"").decode(errors="replace"), None
    path = folder / "out" / "summary.json"
    return done.returncode, done.stdout, json.loads(path.read_text()) if path.exists() else None


def lab_tolerance(mbps):
    return max(LAB_TOLERANCE, LAB_PACKET / (mbps * 1e6 * 0.02 / (1500 * 8)))


def most_taken(summary):
    """The largest part of an interval that the machine took; 0 where that is not known."""
    return max((i["taken"] for i in summary["intervals"]), default=0) if summary else 0


def play_undisturbed(turnpike, rate, folder):
    """Calls play() again where it failed on a disturbed machine; also returns what the machine did to the last run."""
    for _ in range(ATTEMPTS):
        code, said, summary = play(turnpike, rate, folder)
        taken, stalled = most_taken(summary), summary["machine"]["most_stalled_s"] if summary else 0
        if code == 0 or (taken <= MOST_TAKEN and stalled <= MOST_STALLED_S):
            return code, said, summary, ""
        disturbed = (f"the machine took {100 * taken:.0f} % of an interval, and programs were stalled for "
                     f"{1000 * stalled:.0f} ms in a second")
        print(f"# {rate}: exit code {code}; {disturbed}", flush=True)
    return code, said, summary, disturbed


def check_interval(tap, rate, found, start, end, senders):
    """Checks that the sending hosts share by budget, the others get no bytes, and the link is full, less the time that
    the machine took."""
    hosts, link, taken = found["hosts"], found["links"]["bottleneck"], found["taken"]
    measured = {name: host["measured_mbps"] for name, host in hosts.items()}
    used, paid = link["utilization"], sum(BUDGETS[name] for name in senders)
    whole = sum(host["entitled_mbps"] for host in hosts.values())
    errors = {name: measured.get(name, 0) / (whole * BUDGETS[name] / paid) - 1 for name in senders}
    worst = max(errors.values(), key=abs)
    tap.check(f"{rate}, {start} to {end} s: {', '.join(sorted(senders))} off by {100 * worst:+.1f} % at most, "
              f"the machine took {100 * taken:.1f} %",
              set(measured) == senders and abs(worst) <= TOLERANCE + taken, measured)
    tap.check(f"{rate}, {start} to {end} s: utilisation {100 * used:.1f} %",
              LEAST_UTILIZATION - taken <= used <= 1.01, found["links"])
    exact = [abs(host["lab"]) <= lab_tolerance(host["entitled_mbps"]) for host in hosts.values()]
    exact.append(link["lab"] >= 1 - LAB_TOLERANCE)
    tap.check(f"{rate}, {start} to {end} s: exact on the virtual clock", all(exact), found)


def check_conserved(tap, rate, folder):
    """Every packet that the router received left it, was dropped for a reason, or is still in it."""
    router = json.loads((folder / "out" / "router-gate.json").read_text())
    tap.check(f"{rate}: the router accounts for every packet",
              router["conserved"] and router["forwarded"] > 0, router)


def check_report(tap, rate, folder):
    report = folder / "out" / "report.html"
    html = report.read_text() if report.exists() else ""
    outside = re.findall(r"(?:src|href)\s*=\s*[\"']?(?!#|data:)[^\s>]+", html)
    tap.check(f"{rate}: the report has plots and needs nothing from outside",
              html.count("<svg") >= 4 and not outside, f"{html.count('<svg')} plots", *outside[:5])


def main():
    turnpike = pathlib.Path(sys.argv[1]).resolve()
    tap = Tap()
    for rate in sys.argv[2:]:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            code, said, summary, disturbed = play_undisturbed(turnpike, rate, folder)
            if disturbed:
                tap.skip(rate, disturbed)
                # Neither depends on the machine.
                tap.check(f"{rate}: exact on the virtual clock", summary["verdict"]["lab_ok"] is True,
                          *said.splitlines()[-25:])
                check_conserved(tap, rate, folder)
                continue
            machine = summary["machine"] if summary else {}
            stalled = f"stalls of {1000 * machine.get('most_stalled_s', 0):.0f} ms at most in a second"
            tap.check(f"{rate}: exit code {code}, {stalled}", code == 0, *said.splitlines()[-25:])
            if not tap.check(f"{rate}: summary.json is there", summary is not None):
                continue
            found = summary["intervals"]
            times = [(round(i["from"], 3), round(i["to"], 3)) for i in found]
            if tap.check(f"{rate}: the steady intervals are the file's",
                         times == [(start, end) for start, end, _ in INTERVALS], times):
                for interval, expected in zip(found, INTERVALS):
                    check_interval(tap, rate, interval, *expected)
            lost = {name: host["lost_packets"] for name, host in summary["hosts"].items()}
            tap.check(f"{rate}: lost packets: {sum(lost.values())}", not any(lost.values()), lost)
            check_conserved(tap, rate, folder)
            check_report(tap, rate, folder)
    tap.finish()


if __name__ == "__main__":
    main()
