#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Kernel interfaces under a router and a sender lose their carrier, get it back, and vanish.
# Usage: vanish_test.py ROUTER SENDER
import csv
import json
import os
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import gate  # noqa: E402
import world  # noqa: E402

TOPOLOGY = """
run: { duration: 60 s, sample: 100 ms }
hosts:
  alice: { budget: 1 $/s }
  bob: {}
routers:
  gate: { lcores: 0 }
links:
  alice-gate: { ends: [alice, gate], rate: 1 Gbps, attach: { alice: { af_packet: a0 }, gate: { af_packet: a1 } } }
  gate-bob: { ends: [gate, bob], rate: 20 Mbps, law: fcp, attach: { gate: { af_packet: b1 }, bob: { af_packet: b0 } } }
traffic:
  flows:
    alice: { from: alice, to: bob, start: 0 s }
"""
AWAY_S, BACK_S, TOLD_S = 1.0, 2.0, 5.0


def cpu_s(process):
    """CPU time that a process has used."""
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def start(router, sender):
    path = pathlib.Path("/run/vanish.yaml")
    path.write_text(TOPOLOGY)
    programs = [world.Program(router, path, "--out", "/run/gate", "--live", "off", namespace="gate")]
    world.until(lambda: " forwards " in programs[0].output())
    programs.append(world.Program(sender, path, "--out", "/run/sender", "--live", "off", namespace="gate"))
    world.until(lambda: False, 2)
    return programs


def lose_carrier(tap, programs):
    """One end goes down: both programs report it and keep running without busy loops; then it comes up."""
    # nsenter executes the program itself: its process id is the program's.
    before = [cpu_s(p.process) for p in programs]
    world.sh("ip", "link", "set", "a1", "down", namespace="gate")
    world.until(lambda: False, AWAY_S)
    spent = [cpu_s(p.process) - b for p, b in zip(programs, before)]
    tap.check(f"without carrier no program uses a whole CPU: {spent[0]:.2f} and {spent[1]:.2f} of {AWAY_S} s",
              max(spent) < 0.9 * AWAY_S, *(p.output()[-2000:] for p in programs))
    # The kernel reports changes of carrier once a second.
    lost = world.until(lambda: all("alice-gate is down: no carrier on a" in p.output() for p in programs), TOLD_S)
    world.sh("ip", "link", "set", "a1", "up", namespace="gate")
    back = world.until(lambda: all("alice-gate is up again" in p.output() for p in programs), TOLD_S)
    tap.check("both programs report the loss and the return of the carrier", lost and back,
              *(p.output()[-2000:] for p in programs))
    world.until(lambda: False, BACK_S)


def vanish(tap, programs):
    world.sh("ip", "link", "del", "a0", namespace="gate")
    for program, name in zip(programs, ("router", "sender")):
        code = program.wait(5)
        tap.check(f"the {name} ends with exit code 1 and says which interface was removed",
                  code == 1 and re.search(r"link alice-gate: interface a\w+ was removed", program.output()),
                  code, program.output()[-3000:])
    counters = json.loads(pathlib.Path("/run/gate/router-gate.json").read_text())
    tap.check("the router accounts for every packet", counters["conserved"] and counters["forwarded"] > 0, counters)
    with open("/run/sender/rates.csv") as file:
        rates = [float(r["rate_mbps"]) for r in csv.DictReader(file) if r["flow"] == "" and r["host"] == "alice"]
    tap.check(f"the flow had come back: {max(rates[-10:]):.1f} Mbit/s in its last second", max(rates[-10:]) > 10, rates)


def main():
    tap = gate.enter()
    world.add_namespaces("gate")
    for a, b in (("a0", "a1"), ("b0", "b1")):
        world.add_veth(("gate", a), ("gate", b))
        world.give_to_router("gate", a)
        world.give_to_router("gate", b)
    programs = start(*sys.argv[1:3])
    lose_carrier(tap, programs)
    vanish(tap, programs)
    tap.finish()


if __name__ == "__main__":
    main()
