#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Measures the memory that the lab takes for a host, a router, an open flow and a packet: the difference in peak resident
# memory of two runs that differ in nothing else, divided by the difference in number. docs/architecture.md has the
# figures. Usage: world_memory.py [TURNPIKE]
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
NETWORK = """run: {{ duration: {duration}, sample: {duration} }}
generate:
  net: {{ shape: {{ {shape} }}, links: {{ rate: {rate}, delay: {delay}, law: fcp }}, hosts: {{ budget: 1 $/s }} }}
traffic: {{ flows: {{ all: {{ from: {sender}, to: {receiver}, count: {count}{more} }} }} }}
"""
DUMBBELL = {"duration": "1 s", "rate": "1 Gbps", "delay": "1 ms", "sender": "net-left0", "receiver": "net-right0",
            "count": 1, "more": ", limit: 1 Mbps"}
ROW = DUMBBELL | {"sender": "net-h0", "receiver": "net-h1"}
# A packet is under way for a round trip, and the flow fills the links.
FAST = DUMBBELL | {"shape": "dumbbell: 1", "more": "", "duration": "10 s"}


def peak(turnpike, settings):
    """Peak resident memory of a run in B."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "net.yaml"
        file.write_text(NETWORK.format(**settings))
        run = subprocess.Popen([turnpike, "lab", file, "--threads", "1", "--out", pathlib.Path(folder) / "out"],
                               stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(run.pid, 0)
        if status != 0:
            sys.exit(f"{settings}: the run failed")
        return usage.ru_maxrss * 1024


def each(turnpike, few, many, number):
    return (peak(turnpike, many) - peak(turnpike, few)) / number


def main():
    turnpike = sys.argv[1] if len(sys.argv) > 1 else ROOT / "build" / "lab" / "turnpike"
    host = each(turnpike, DUMBBELL | {"shape": "dumbbell: 200"}, DUMBBELL | {"shape": "dumbbell: 1200"}, 2000)
    # Above 16 routers all have tables of the same kind. Each more has a host and two links.
    row = each(turnpike, ROW | {"shape": "parking_lot: 200"}, ROW | {"shape": "parking_lot: 600"}, 400)
    flow = each(turnpike, DUMBBELL | {"shape": "dumbbell: 1", "count": 1000, "more": ", limit: 10 Kbps"},
                DUMBBELL | {"shape": "dumbbell: 1", "count": 21000, "more": ", limit: 10 Kbps"}, 20000)
    # Of a round trip of 120 ms and one of 600 ms at 1 Gbps: 40,000 packets of 1,500 B.
    packet = each(turnpike, FAST | {"delay": "20 ms"}, FAST | {"delay": "100 ms"}, 0.48 * 1e9 / 8 / 1500)
    for what, size in (("host and its link, without traffic", host), ("router and a link, among 600", row - host),
                       ("open flow", flow), ("packet under way", packet)):
        print(f"{what:40}{size / 1e3:8.1f} KB")


main()
