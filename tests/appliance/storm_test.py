#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Routes of the kernel flap beside a router that forwards a stream to a route that stays, and whose socket for the
# kernel's messages overruns: no packet is lost, and both agree in the end.
# Usage: storm_test.py ROUTER TURNPIKE [--long]        (--long: 100,000 routes, 60 s, and a buffer of 208 KB)
#
#     n1 (sends) --- e1 [box] e2 --- n2 (receives)
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import time

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / folder) for folder in ("", "netns")]
import world  # noqa: E402
from tap import Tap  # noqa: E402

# Routes, seconds, and B asked for, which the kernel doubles. On a quiet machine a short storm overruns a small buffer
# only.
SHORT, LONG = (10_000, 5, 4096), (100_000, 60, 106496)
RATE = 250  # packets/s: a port's ring of 512 frames holds them for two seconds while the router waits for its CPU
TOPOLOGY = """
hosts:
  n1: { external: true, addresses: [10.0.1.2/24], mac: "02:00:00:00:01:02" }
  n2: { external: true, addresses: [10.0.2.2/24], mac: "02:00:00:00:02:02" }
routers:
  box: { lcores: 0, control: { linux: { interfaces: { l1: e1, l2: e2 } } } }
links:
""" + "".join(f"""
  l{i}:
    ends: [n{i}, box]
    rate: 1 Gbps
    addresses: {{ box: [10.0.{i}.1/24] }}
    macs: {{ box: "02:00:00:00:0{i}:01" }}
    attach: {{ box: {{ af_packet: port{i} }} }}
""" for i in (1, 2))
SEND = """
import socket, sys, time
rate, seconds = int(sys.argv[2]), float(sys.argv[3])
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
begin, sent = time.monotonic(), 0
while time.monotonic() - begin < seconds:
    while sent < (time.monotonic() - begin) * rate:
        s.sendto(sent.to_bytes(8, "big") + bytes(92), (sys.argv[1], 5000))
        sent += 1
        if sent % 50 == 0: time.sleep(0.001)  # what a pause of this program left unsent does not come at once
    time.sleep(0.001)
print(sent)
"""
# Prints how many different packets came, how many twice or out of order, and the longest time without one, s.
RECEIVE = """
import signal, socket, time
signal.signal(signal.SIGTERM, lambda *_: (_ for _ in ()).throw(SystemExit))
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.SOL_SOCKET, 33, 1 << 24)  # SO_RCVBUFFORCE
s.bind(("0.0.0.0", 5000))
print("ready", flush=True)
count = late = longest = last = 0
expected = 0
try:
    while True:
        number = int.from_bytes(s.recv(2000)[:8], "big")
        now = time.monotonic()
        longest, last = max(longest, now - last if last else 0), now
        count, late = count + 1, late + (number < expected)
        expected = number + 1
finally:
    print(count, late, round(longest, 3), flush=True)
"""


def build():
    world.add_namespaces("box", "n1", "n2")
    for i in (1, 2):
        world.add_veth((f"n{i}", "eth0"), ("box", f"port{i}"))
        world.give_to_router("box", f"port{i}")
        world.give_to_host(f"n{i}", "eth0", f"02:00:00:00:0{i}:02", [f"10.0.{i}.2/24"], [f"10.0.{i}.1"])
    world.sh("ip", "address", "add", "50.0.0.1/32", "dev", "lo", namespace="n2")


def write_batches(routes):
    """Files for `ip -batch`: all routes by one gateway, by another one, and a third of them removed."""
    prefixes = [f"{20 + (i >> 16)}.{i >> 8 & 255}.{i & 255}.0/24" for i in range(routes)]
    lines = {
        "first": [f"route replace {p} via 10.0.2.2 proto bgp metric 20" for p in prefixes],
        "second": [f"route replace {p} via 10.0.1.2 proto bgp metric 20" for p in prefixes],
        "gone": [f"route del {p} metric 20" for p in prefixes[::3]],
    }
    files = []
    for name, text in lines.items():
        files.append(pathlib.Path(f"/run/{name}"))
        files[-1].write_text("\n".join(text) + "\n")
    return list(zip(files, [routes, routes, (routes + 2) // 3]))


def flap(batches, seconds):
    """Runs the batches in turn, and the first one in the end; returns the number of changes."""
    changes, end = 0, time.monotonic() + seconds
    while time.monotonic() < end:
        for file, n in batches:
            world.sh("ip", "-batch", file, namespace="box", timeout=300)
            changes += n
    world.sh("ip", "-batch", batches[0][0], namespace="box", timeout=300)
    return changes + batches[0][1]


class Stream:
    """From n1 to the address behind n2 that a route of its own leads to."""

    def __init__(self, seconds):
        python = [sys.executable, "-c"]
        self.receiver = subprocess.Popen(world.inside("n2", [*python, RECEIVE]), stdout=subprocess.PIPE, text=True)
        self.receiver.stdout.readline()
        self.sender = subprocess.Popen(world.inside("n1", [*python, SEND, "50.0.0.1", RATE, seconds]), stdout=subprocess.PIPE, text=True)

    def sending(self):
        return self.sender.poll() is None

    def end(self):
        """(sent, received, late, longest gap)"""
        sent = int(self.sender.communicate(timeout=300)[0])
        time.sleep(1)
        self.receiver.terminate()
        count, late, longest = self.receiver.communicate(timeout=10)[0].split()
        return sent, int(count), int(late), float(longest)


def prefer_workers(router):
    """On a busy machine the workers go first, as on lcores of their own; the control thread waits like any other."""
    for task in pathlib.Path(f"/proc/{router.process.pid}/task").iterdir():
        if (task / "comm").read_text().startswith("rte-worker"):
            os.setpriority(os.PRIO_PROCESS, int(task.name), -20)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("router")
    parser.add_argument("tool")
    parser.add_argument("--long", action="store_true")
    options = parser.parse_args()
    routes, seconds, buffer = LONG if options.long else SHORT
    missing = world.have("ip", "nsenter", "unshare", "ethtool")
    why = f"not installed: {', '.join(missing)}" if missing else world.isolate()
    tap = Tap()
    if why:
        tap.skip("storm", why)
        tap.finish()
    build()
    batches = write_batches(routes)
    file = pathlib.Path("/run/box.yaml")
    file.write_text(TOPOLOGY)
    router = world.Program(options.router, file, "--out", "/run/out", "--live", "off", "--netlink-buffer", buffer,
                           namespace="box")
    world.until(lambda: " forwards " in router.output() or router.process.poll() is not None)
    world.sh("ip", "route", "add", "50.0.0.0/24", "via", "10.0.2.2", namespace="box")
    forwards = world.until(lambda: world.answers("n1", "50.0.0.1"), 20)
    if not tap.check("the router forwards to the route that stays", forwards, router.output()[-3000:]):
        tap.finish()

    prefer_workers(router)

    def show(*what):
        return world.sh(options.tool, "show", *what, timeout=600, check=False)

    stream = Stream(seconds)
    changes = flap(batches, seconds)
    sent, received, late, longest = stream.end()
    tap.check(f"{changes} changes of routes: {sent - received} of {sent} packets are lost, {late} late; "
              f"longest gap {longest} s",
              sent == received and late == 0 and sent >= seconds * RATE * 0.9, show("drops"), show("ports"))
    begin = time.monotonic()
    equal = world.until(lambda: " compared" in show("routes", "--diff", "kernel") and not re.search(
        r"^(missing|extra|different) ", show("routes", "--diff", "kernel"), re.M), 60)
    tap.check(f"the router's routes are the kernel's {time.monotonic() - begin:.1f} s later", equal,
              show("routes", "--diff", "kernel")[:2000], show("linux"))
    health = json.loads(show("linux", "--json"))
    tap.check(f"its buffer of {health['receive_buffer_bytes']} B overran {health['overruns']} times, "
              f"{health['lost']} messages were lost",
              health["receive_buffer_bytes"] == 2 * buffer and health["overruns"] > 0, health)
    lines = router.output().count("resynchronised with the kernel (overrun")
    tap.check(f"the router said {lines} times that it resynchronised, and why", lines > 0, router.output()[-3000:])
    tap.check("it holds all routes", health["ipv4_routes"] >= routes, health)
    code = router.stop()
    tap.check("the router stops with exit code 0", code == 0, router.output()[-3000:])
    tap.finish()


if __name__ == "__main__":
    main()
