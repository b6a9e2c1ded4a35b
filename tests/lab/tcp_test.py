#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Eight TCP flows on one link under every queue discipline: each shows its known behaviour, and random numbers of
# different links are independent.
# Usage: tcp_test.py TURNPIKE
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from tap import Tap  # noqa: E402

PROPAGATION_MS = 40  # round trip; the buffer is as much again


def play(turnpike, folder, *settings, seed=1):
    command = [turnpike, "lab", ROOT / "configs" / "tcp.yaml", "--out", folder, "--json", "--seed", str(seed)]
    for s in settings:
        command += ["--set", s]
    done = subprocess.run(command, text=True, timeout=600, capture_output=True, check=False)
    return json.loads(done.stdout)["measure"]["steady"] if done.returncode == 0 else done.stderr


# The same flows over two identical links.
TWINS = """
preset: red
run: { duration: 5 s, sample: 100 ms, output: out/twins }
hosts: { a: { budget: 1 $/s }, b: { budget: 1 $/s }, c: {}, d: {} }
routers: { gate: {} }
links:
  a-gate: { ends: [a, gate], rate: 1 Gbps }
  b-gate: { ends: [b, gate], rate: 1 Gbps }
  one: { ends: [gate, c], rate: 20 Mbps, delay: 20 ms, buffer: 1 BDP, law: tcp }
  two: { ends: [gate, d], rate: 20 Mbps, delay: 20 ms, buffer: 1 BDP, law: tcp }
traffic:
  flows:
    a: { from: a, to: c, count: 4, protocol: tcp }
    b: { from: b, to: d, count: 4, protocol: tcp }
"""


def chance(tap, turnpike, folder):
    """RED's random numbers differ between links and between seeds."""
    file = folder / "twins.yaml"
    file.write_text(TWINS)
    links = {}
    for name, seed in (("first", 1), ("again", 1), ("other", 2)):
        done = subprocess.run([turnpike, "lab", file, "--seed", str(seed), "--out", folder / name], text=True,
                              timeout=600, capture_output=True, check=False)
        if not tap.check(f"twins play, {name} run", done.returncode == 0, done.stderr):
            return
        links[name] = (folder / name / "links.csv").read_text()
    tap.check("the same seed gives the same series to the byte", links["first"] == links["again"])
    tap.check("another seed gives another", links["first"] != links["other"])
    one, two = ([line.split(",")[3:] for line in links["first"].splitlines() if line.split(",")[2] == link]
                for link in ("one", "two"))
    tap.check("two links that are alike do not mark alike", len(one) == len(two) == 50 and one != two)


def play_text(tap, what, turnpike, folder, text):
    """The summary of a topology; None, after a failed check, if it did not play."""
    file = folder / "topology.yaml"
    file.write_text(text)
    done = subprocess.run([turnpike, "lab", file, "--out", folder / "text", "--json"], text=True, timeout=600,
                          capture_output=True, check=False)
    return json.loads(done.stdout) if tap.check(f"{what} plays", done.returncode == 0, done.stderr) else None


# A round trip longer than the least time-out. Events wait, so that ACKs come later than the smoothed round trip says.
LONG = """
run: { duration: 16 s, quantum: 100 us, output: out/long }
hosts: { a: { budget: 1 $/s }, b: {} }
routers: { gate: {} }
links:
  a-gate: { ends: [a, gate], rate: 10 Gbps, delay: 1 ms }
  bottleneck: { ends: [gate, b], rate: 150 Mbps, delay: 699 ms, buffer: 1 BDP, law: tcp }
traffic:
  workloads:
    a: { from: a, to: b, protocol: tcp, arrivals: { periodic: 1 /s }, stop: 1 s, size: { fixed: 100 KB }, packet: 1000 B }
"""


def long_round_trip(tap, turnpike, folder):
    """Waiting for the ACKs of a full window is no silence, after which the window begins anew (RFC 5681 section 4.1):
    slow start sends 103 packets in six round trips, of 2, 4, 8, ... packets; two in each would take 70 s."""
    found = play_text(tap, "a round trip of 1.4 s", turnpike, folder, LONG)
    if found:
        flows = found["flows"]
        tap.check("slow start doubles the window each round trip, however long that is",
                  flows["started"] == flows["completed"] == 1, flows)


# One flow whose slow start overruns a buffer of forty round trips.
OVERRUN = """
run: { duration: 5 s, output: out/overrun }
hosts: { a: { budget: 1 $/s }, b: {} }
routers: { gate: {} }
links:
  a-gate: { ends: [a, gate], rate: 1 Gbps, delay: 1 ms }
  bottleneck: { ends: [gate, b], rate: 10 Mbps, delay: 9 ms, buffer: 1 MB, law: tcp }
traffic:
  flows: { a: { from: a, to: b, protocol: tcp, packet: 1000 B, counts: packets } }
"""


def overrun(tap, turnpike, folder):
    """Slow start sends two packets for each that leaves the full queue, until three that follow the first loss have
    been answered (RFC 8985 section 6.2 step 4): after a round trip through the queue, 0.82 s, so 1,028 are lost."""
    found = play_text(tap, "a slow start that overruns the buffer", turnpike, folder, OVERRUN)
    if found:
        lost = found["links"]["bottleneck"]["dropped_packets"]
        tap.check("it loses what the link carries in a round trip through the full queue", 0.97 < lost / 1028 < 1.03,
                  lost)


def main():
    turnpike = pathlib.Path(sys.argv[1]).resolve()
    tap = Tap()
    with tempfile.TemporaryDirectory() as name:
        runs = {}
        for preset in ("paper", "red", "rem", "avq"):
            steady = play(turnpike, pathlib.Path(name) / preset, f"preset={preset}")
            if not tap.check(f"{preset} plays", isinstance(steady, dict), steady):
                continue
            link = runs[preset] = steady["links"]["bottleneck"]
            # REM marks at random with each packet; one run's shares differ by 6 % (standard deviation over seeds).
            more = [play(turnpike, pathlib.Path(name) / preset, f"preset={preset}", seed=s) for s in (2, 3, 4)]
            rates = [sum(run["hosts"][h]["goodput_mbps"] for run in (steady, *more)) / 4 for h in "ab"]
            tap.check(f"{preset}: both hosts' four flows have half of it", max(rates) < 1.1 * min(rates), rates)
            if preset != "paper":
                tap.check(f"{preset}: marks instead of losses", link["loss_rate"] == 0, link)
        if len(runs) == 4:
            used = {p: r["utilization"] for p, r in runs.items()}
            queue = {p: r["queue_delay_ms"]["mean"] for p, r in runs.items()}
            tap.check("drop-tail keeps the link busy", used["paper"] > 0.98, used)
            tap.check("and its queue between half full and full", 0.4 < queue["paper"] / PROPAGATION_MS < 1, queue)
            tap.check("RED's queue is below its lower threshold's third", queue["red"] < PROPAGATION_MS / 3, queue)
            tap.check("REM holds the queue at its target, a third of the buffer",
                      abs(queue["rem"] / (PROPAGATION_MS / 3) - 1) < 0.15, queue)
            tap.check("AVQ uses 98 % of the link", abs(used["avq"] - 0.98) < 0.01, used)
        promised = play(turnpike, pathlib.Path(name) / "rio", "preset=rio",
                        "traffic.flows.a.protocol={tcp: {allocation: 8 Mbps}}",
                        "traffic.flows.b.protocol={tcp: {allocation: 2 Mbps}}")
        if tap.check("rio plays", isinstance(promised, dict), promised):
            rates = [promised["hosts"][h]["goodput_mbps"] for h in "ab"]
            tap.check("RIO gives more to those whom more was promised", rates[0] > 1.5 * rates[1], rates)
        chance(tap, turnpike, pathlib.Path(name))
        long_round_trip(tap, turnpike, pathlib.Path(name))
        overrun(tap, turnpike, pathlib.Path(name))
    tap.finish()


if __name__ == "__main__":
    main()
