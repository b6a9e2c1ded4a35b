#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# `turnpike trace` and `capture` between kernels: packets that are forwarded, dropped, and for the router itself.
# Usage: diagnose_test.py TURNPIKE-ROUTER TURNPIKE
import json
import pathlib
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import gate  # noqa: E402
import world  # noqa: E402

WAIT_S = 30
NOWHERE = "10.9.9.9"


class Started:
    """A verb of the tool that runs until it is ended, and has reached the router by now."""

    def __init__(self, *words):
        self.process = subprocess.Popen([sys.argv[2], *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(1)

    def end(self):
        """(exit code, output, errors) once it has ended by itself."""
        try:
            out, error = self.process.communicate(timeout=WAIT_S)
        except subprocess.TimeoutExpired:
            self.process.send_signal(signal.SIGINT)
            out, error = self.process.communicate(timeout=WAIT_S)
        return self.process.returncode, out, error


def ping(to, count=2):
    world.sh("ping", "-c", str(count), "-i", "0.2", "-W", "1", to, namespace="left", check=False)


def trace_of(to, *words):
    """The first packet of a trace while the left kernel sends to `to`, and its stages by name."""
    started = Started("trace", "-n", "1", "--json", "--filter", f"icmp and dst host {to}", *words)
    ping(to)
    code, out, error = started.end()
    packet = json.loads(out.splitlines()[0]) if out else {}
    return code, packet, {s["stage"]: s for s in packet.get("stages", [])}, error


def check_traces(tap):
    code, packet, stages, error = trace_of(gate.RIGHT[4])
    tap.check("a forwarded packet: sent", code == 0 and packet.get("verdict") == "sent" and
              stages["tx"]["link"] == "gate-right" and stages["rx"]["link"] == "left-gate", packet, error)
    code, packet, stages, error = trace_of(NOWHERE)
    tap.check("a packet without a route: dropped in lookup", code == 0 and packet.get("verdict") == "dropped" and
              packet.get("reason") == "no_route" and list(stages) == ["rx", "parse", "lookup"], packet, error)
    code, packet, stages, error = trace_of(gate.NEAR[4], "--link", "left-gate")
    tap.check("a packet for the router: delivered", code == 0 and packet.get("verdict") == "delivered" and
              list(stages)[-1] == "local_input", packet, error)


def check_drops(tap):
    started = Started("capture", "-w", "/run/drops.pcapng", "--drops", "-c", "2", "--filter", "icmp")
    ping(NOWHERE)
    code, _, error = started.end()
    if not shutil.which("tshark"):
        return tap.skip("a capture of dropped packets", "there is no tshark")
    shown = subprocess.run(["tshark", "-r", "/run/drops.pcapng", "-T", "fields", "-e", "frame.interface_name", "-e",
                            "frame.comment", "-e", "ip.dst"], capture_output=True, text=True, timeout=60, check=False)
    tap.check("a capture of dropped packets: each with its link and its reason", code == 0 and
              shown.stdout.splitlines() == [f"left-gate\tdropped: no_route\t{NOWHERE}"] * 2, shown.stdout, shown.stderr, error)
    return None


def main():
    tap = gate.enter("ping")
    gate.build_kernels()
    router = gate.start_router(tap, sys.argv[1], gate.TOPOLOGY)
    if router:
        check_traces(tap)
        check_drops(tap)
        gate.stop_router(tap, router)
    tap.finish()


if __name__ == "__main__":
    main()
