#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Decodes a capture with the dissector, and checks the invariants of every capture of ours.
#
#   tests/dissector/capture.py FILE [UDP_PORT]
import pathlib
import sys

import tshark

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from tap import Tap  # noqa: E402

KINDS = {1: "SYN", 2: "SYN-ACK", 3: "DATA", 4: "ACK", 5: "FIN", 6: "FIN-ACK", 7: "RESET"}
INTEGERS = ["turnpike." + name for name in (
    "version", "kind", "protocol", "ranges", "length", "flow", "seq", "ack", "timestamp", "echo", "token",
    "range.begin", "range.end", "fcp.rtt", "fcp.age", "fcp.wait", "fcp.first", "sealed.key", "rate.rtt", "xcp.rtt",
    "tcp.capable", "tcp.marked", "tcp.in_profile", "acc.role", "acc.round")]
FLOATS = ["turnpike." + name for name in (
    "fcp.price", "fcp.reserve", "fcp.preload", "fcp.balance", "fcp.exchange", "fcp.charged", "fcp.slot", "fcp.limit",
    "fcp.first_round", "fcp.budget", "fcp.parts", "rate.rate", "qcp.interval", "xcp.flow",
    "xcp.feedback", "acc.measure")]
# Status: 0 bad, 1 good, 3 not present.
OTHERS = ["frame.number", "udp.srcport", "udp.dstport", "ip.checksum.status", "udp.checksum.status",
          "_ws.expert.message", "_ws.malformed", "_ws.col.Protocol", "_ws.col.Info"]
SEPARATOR, AGGREGATOR = "\x1f", "\x1e"


def whole(text):
    """Of a whole number, or of a boolean, which Wireshark writes as a word from 4.2 on."""
    return int(text == "True") if text in ("True", "False") else int(text, 0)


def numbers(text, kind):
    values = [kind(v) for v in text.split(AGGREGATOR) if v]
    return values if len(values) != 1 else values[0]


def read(path, port=4747):
    """A dict per frame: numbers for our fields (a list where there are several), else text."""
    names = OTHERS + INTEGERS + FLOATS
    options = ["-o", f"turnpike.port:{port}", "-o", "ip.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE",
               "-o", "udp.ignore_ipv6_zero_checksum:TRUE", "-n", "-T", "fields",
               "-E", f"separator={SEPARATOR}", "-E", f"aggregator={AGGREGATOR}"]
    done = tshark.run(path, *options, *(word for name in names for word in ("-e", name)))
    if done.returncode != 0 or "Lua" in done.stderr:
        raise RuntimeError(f"tshark: {done.stderr.strip()}")
    frames = []
    for line in filter(None, done.stdout.split("\n")):  # splitlines() takes \x1e for an end
        frame = dict(zip(names, line.split(SEPARATOR)))
        frame.update({n: numbers(frame[n], whole) for n in INTEGERS})
        frame.update({n: numbers(frame[n], float) for n in FLOATS})
        frames.append(frame)
    return frames


def show(frame):
    return f"frame {frame['frame.number']}: {frame['_ws.col.Info']} {frame['_ws.expert.message']}"


def check(tap, frames, port=4747):
    """Basic facts: every packet of ours decodes, none is malformed, conversations are whole."""
    ours = [f for f in frames if str(port) in (f["udp.srcport"], f["udp.dstport"])]
    tap.check(f"{len(ours)} of {len(frames)} frames are on our port", ours)
    for name, wrong in [
        ("all of them are dissected", [f for f in ours if f["turnpike.version"] != 1]),
        ("none is malformed", [f for f in ours if f["_ws.malformed"]]),
        ("the dissector objects to none", [f for f in ours if f["_ws.expert.message"]]),
        ("all checksums are right",
         [f for f in ours if "0" in (f["ip.checksum.status"], f["udp.checksum.status"])]),
    ]:
        tap.check(name, not wrong, *(show(f) for f in wrong[:5]))
    seen = {KINDS.get(f["turnpike.kind"]) for f in ours}
    tap.check("a flow opens, sends and is acknowledged", seen >= {"SYN", "SYN-ACK", "DATA", "ACK"},
              f"kinds seen: {sorted(str(k) for k in seen)}")
    tap.check("prices are stamped on acknowledged packets", any(
        f["turnpike.kind"] == 4 and isinstance(f["turnpike.fcp.price"], float)
        and f["turnpike.fcp.price"] > 0 for f in ours))


def main():
    path, port = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 4747
    tap = Tap()
    check(tap, read(path, port), port)
    tap.finish()


if __name__ == "__main__":
    main()
