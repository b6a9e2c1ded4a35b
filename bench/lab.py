# SPDX-License-Identifier: BSD-3-Clause
# Measures the lab's speed on configs/speed.yaml, and the instructions of each of its parts.
import re
import statistics
import subprocess
import tempfile

import instructions

REPETITIONS = 5
# Parts are disjoint: the third entry names a part that is subtracted.
PARTS = [("source: packets paced, priced and sent", "sender::Source::on_timer(", None),
         ("both hosts: frames read and checked", "sender::Host::read(", None),
         ("sink: packets taken and answered", "sender::Host::take_request(", None),
         ("source: answers", "sender::Host::take_answer(", None),
         ("router: parse", "router::parse(", None),
         ("router: route", "router::route(", None),
         ("router: price", "router::price(", None),
         ("router: into the link's queue", "router::enqueue(", None),
         ("router: out of it, at the link's rate", "router::LinkShaper::poll(", "router::PortTx::flush("),
         ("wires: put in", "lab::SimChannel::send(", None),
         ("wires: taken out", "lab::SimLinkEnd::rx(", None)]


def speed(build):
    """Data packets a second, with their ACKs, of several runs."""
    rates = []
    for _ in range(REPETITIONS):
        with tempfile.TemporaryDirectory() as out:
            said = subprocess.run([build / "lab" / "turnpike", "lab", instructions.SPEED, "--threads", "1",
                                   "--out", out],
                                  capture_output=True, text=True, check=True).stdout
        rates.append(int(re.search(r"data packets in .*: (\d+) a second", said)[1]))
    return {"median": statistics.median(rates), "least": min(rates), "most": max(rates)}


def profile(build):
    """Instructions for a data packet and its ACK: part -> number, their sum under "all"."""
    with tempfile.NamedTemporaryFile() as counts:
        total, packets = instructions.run("lab", instructions.LOADS["lab"], build, counts.name)
        listing = subprocess.run(["callgrind_annotate", "--inclusive=yes", "--threshold=100", counts.name],
                                 capture_output=True, text=True, check=True).stdout
    inclusive = {}
    for cost, function in re.findall(r"^ *([\d,]+) \(.*?%\)  \S+?:turnpike::(\S+?\()", listing, re.M):
        inclusive[function] = max(inclusive.get(function, 0), int(cost.replace(",", "")))
    parts = {name: (inclusive[of] - (inclusive[less] if less else 0)) / packets for name, of, less in PARTS}
    return {**parts, "the rest": total / packets - sum(parts.values()), "all": total / packets}


def measure(build):
    return {"packets_per_second": speed(build),
            "instructions": {name: round(count, 1) for name, count in profile(build).items()}}
