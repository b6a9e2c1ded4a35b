#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Two honest flows pay for a link beside a kernel host that sends lies through it: 1 % of the link's packets, with
# header fields of any value. The flows keep at least 90 % of their rate without it.
# Usage: vandal_test.py ROUTER SENDER
import csv
import json
import pathlib
import socket
import struct
import sys
import time

import gate
import world

sys.path[:0] = [str(world.ROOT / "tests")]
from undisturbed import undisturbed  # noqa: E402

LINK = 50                    # Mbit/s
LINK_PACKETS = LINK * 1e6 / 8 / 1500
PART = 0.01                  # of the link's packets, the vandal's
START = 3.0                  # s of the run, when the first lie begins
LYING, QUIET = 1.5, 1.5      # s of each lie, and of none after it
LEAST = 0.9                  # of the flows' rate alone
SERVER = "10.7.3.2"
TOPOLOGY = f"""
run: {{ duration: 30 s, sample: 100 ms, output: /run/vandal }}
hosts:
  alice: {{ budget: 1 $/s }}
  bob: {{ budget: 1 $/s }}
  server: {{ addresses: [{SERVER}/24] }}
  vandal: {{ external: true, addresses: [10.7.9.2/24, "fd00:7:9::2/64"], mac: "02:00:00:00:09:02" }}
routers:
  gate: {{ lcores: 0 }}
links:
  alice-gate: {{ ends: [alice, gate], rate: 1 Gbps, delay: 4 ms, attach: memif }}
  bob-gate: {{ ends: [bob, gate], rate: 1 Gbps, delay: 4 ms, attach: memif }}
  bottleneck: {{ ends: [gate, server], rate: {LINK} Mbps, delay: 6 ms, buffer: 1 BDP, law: fcp, attach: memif }}
  vandal-gate:
    ends: [vandal, gate]
    rate: 1 Gbps
    addresses: {{ gate: [10.7.9.1/24, "fd00:7:9::1/64"] }}
    macs: {{ gate: "02:00:00:00:09:01" }}
    attach: {{ gate: {{ af_packet: tp-vandal }} }}
traffic:
  flows:
    alice: {{ from: alice, to: server }}
    bob: {{ from: bob, to: server }}
"""

SYN, DATA = 1, 3
ANY = 0xffffffff             # ns
MOST_MONEY, MOST_PRELOAD = 0.99e12, 0.99e20


def header(kind=DATA, rtt=0, reserve=0.0, age=0, preload=0.0, balance=0.0, slot=0.0, flow=1):
    """Turnpike's common header and FCP's (docs/wire-format.md)."""
    common = struct.pack(">BBBBIIIII", 1 << 4 | kind, 1, 0, 14, flow, 0, 0, 0, 0)
    return common + struct.pack(">IffIffff", rtt, 0.0, reserve, age, preload, balance, 1.0, slot)


# Name -> (header, bytes of IP, s that it saves up for): a small packet is mostly headers.
LIES = {
    "an unknown past, any balance": (header(rtt=ANY, balance=MOST_MONEY), 1500, 0),
    "an unknown past in small packets": (header(rtt=ANY, preload=1e4, balance=MOST_MONEY), 84, 0),
    "a preload of 1e4": (header(rtt=20_000_000, preload=1e4, balance=1), 1500, 0),
    "inelastic demand in bursts": (header(rtt=20_000_000, reserve=MOST_MONEY, preload=MOST_PRELOAD), 1500, 1),
    "the longest slot": (header(rtt=1000, preload=MOST_PRELOAD, balance=MOST_MONEY, slot=MOST_MONEY), 1500, 0),
    "SYNs of short flows": (header(SYN, preload=MOST_PRELOAD, balance=MOST_MONEY, slot=10.0), 84, 0),
    "SYNs of long flows in bursts": (header(SYN, preload=MOST_PRELOAD, balance=MOST_MONEY), 84, 1),
}


def build():
    world.add_namespaces("gate", "vandal")
    world.add_veth(("vandal", "eth0"), ("gate", "tp-vandal"))
    world.give_to_router("gate", "tp-vandal")
    world.give_to_host("vandal", "eth0", "02:00:00:00:09:02", ["10.7.9.2/24", "fd00:7:9::2/64"], ["10.7.9.1"])
    topology = pathlib.Path("/run/vandal.yaml")
    topology.write_text(TOPOLOGY)
    return topology


def send_lies(report):
    """Each lie for LYING s, then none for QUIET s, from inside the vandal's namespace; reports when each began and how
    many packets it had."""
    sent = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
        for lie, size, saves in LIES.values():
            datagram = lie + bytes(size - 28 - len(lie))
            count, began, clock = 0, time.time(), time.monotonic()
            while (now := time.monotonic()) < clock + LYING:
                due = int((now - clock) * LINK_PACKETS * PART)
                if due - count >= max(1, saves * LINK_PACKETS * PART):
                    for _ in range(due - count):
                        out.sendto(datagram, (SERVER, 4747))
                    count = due
                time.sleep(0.005)
            sent.append([began, count])
            time.sleep(QUIET)
    report.write_text(json.dumps(sent))


def carried(rows, start, end):
    """Mean Mbit/s of both flows together in that interval of the run, by their own account."""
    inside = [r for r in rows if start <= float(r["t"]) < end]
    return sum(float(r["rate_mbps"]) for r in inside) / max(len({r["t"] for r in inside}), 1)


def shares_of(rows, begins):
    """The flows' rates beside each lie, relative to those right before and after it, which a busy machine reduces as
    well. Excludes half a second after each lie, because its promises last for some round trips."""
    beside = [carried(rows, at + 0.5, at + LYING) for at in begins]
    alone = [carried(rows, at + 0.5 - QUIET, at) for at in [*begins, begins[-1] + LYING + QUIET]]
    return [b / max((before + after) / 2, 1e-9) for b, before, after in zip(beside, alone, alone[1:])], alone


def play(tap, router_program, sender, topology):
    """(0 if the flows kept their share beside every lie, their share beside each, Mbit/s that they carry alone)."""
    seconds = START + (LYING + QUIET) * len(LIES) + 1
    router = gate.run_router(router_program, topology)
    ready = world.until(lambda: world.answers("vandal", "10.7.9.1"), 20)
    tap.check("the router forwards", ready, router.output()[-2000:])
    paying = world.Program(sender, topology, "--duration", f"{seconds}s", "--out", "/run/results", "--live", "off",
                           namespace="gate")
    world.until(lambda: False, START)
    report = pathlib.Path("/run/sent.json")
    liar = world.Program(sys.executable, __file__, "--send-lies", report, namespace="vandal")
    code = paying.wait(seconds + 30)
    lied = liar.wait(10)
    gate.stop_router(tap, router)
    if not tap.check("the sender ends by itself, exit code 0", code == 0, code, paying.output()[-3000:]):
        return 1, [], []
    sent = json.loads(report.read_text()) if lied == 0 else []
    if not tap.check(f"lies went out: {[count for _, count in sent]} packets", len(sent) == len(LIES), liar.output()):
        return 1, [], []
    began = json.loads(pathlib.Path("/run/results/summary.json").read_text())["unix_s"]
    with open("/run/results/rates.csv") as file:
        rows = [r for r in csv.DictReader(file) if r["flow"]]
    shares, alone = shares_of(rows, [at - began for at, _ in sent])
    print(f"# {min(alone):.1f} to {max(alone):.1f} Mbit/s alone; beside lies", *(f"{s:.3f}" for s in shares), flush=True)
    return 0 if min(alone) > 0.9 * LINK and min(shares) >= LEAST else 1, shares, alone


def main():
    if sys.argv[1] == "--send-lies":
        send_lies(pathlib.Path(sys.argv[2]))
        return
    router, sender = sys.argv[1:3]
    tap = gate.enter("ping")
    topology = build()
    (_, shares, alone), machine, disturbed = undisturbed("a vandal", lambda: play(tap, router, sender, topology))
    if disturbed:
        tap.skip("shares beside lies", machine)
    else:
        tap.check("two flows fill the link alone", min(alone, default=0) > 0.9 * LINK, alone, machine)
        for name, share in zip(LIES, shares):
            tap.check(f"beside {name}: {share:.3f} of it", share >= LEAST, machine)
    tap.finish()


if __name__ == "__main__":
    main()
