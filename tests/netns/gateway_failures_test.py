#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Two gateways with two paths between them, while a kernel's TCP connection and a ping run through their tunnels: a core
# link loses its carrier, an interface is set down, a path fails beside another one, the route moves to a longer path
# and back, the path's MTU shrinks, and either gateway is killed and started again. Each time pings pass and the TCP
# connection goes on within the bound, and accounts are complete to the second.
# Usage: gateway_failures_test.py [--only WORD] ROUTER
#
#                       +-- near (round trip 5 ms) --+
#   anna --veth-- west -+                            +- east --veth-- server
#                       +-- far (round trip 60 ms) --+
#
# near and far are kernels that forward. west and east have Linux as control plane, whose routes decide.
import csv
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

import cases
import gate
import world

sys.path[:0] = [str(world.ROOT / "tests")]
from undisturbed import undisturbed  # noqa: E402

BOUND = 2.0        # s until pings pass again, and TCP goes on
RATE = 0.1         # of the rate before: TCP goes on. All of it takes a window that fits the new path
WINDOW = 0.5       # s for which it must have it
WARM = 2.5         # s of TCP before a disturbance
AWAY = 1.0         # s for which a link is down
IN_A_ROW = 10      # pings that pass: the path is back
SERVER = "10.41.19.2"
MTU, NARROW = 1500, 1300
FILE = pathlib.Path("/run/failures.yaml")
# Name: its ends, their places in 10.41.NET.0/24 from 1 on, NET, and the delay in ms, by the gateway that sends.
CORE = {"west-near": ("west", "near", 1, 2.5), "near-east": ("near", "east", 2, 2.5),
        "west-far": ("west", "far", 3, 30), "far-east": ("far", "east", 4, 30)}
HOSTS = {"anna": ("west", 11), "server": ("east", 19)}
# Prints the time and the bytes that the interface has received, every 20 ms.
WATCH = """
import time
while True:
    line = next(l for l in open("/proc/net/dev") if l.strip().startswith("eth0:"))
    print(time.time(), line.split(":")[1].split()[0], flush=True)
    time.sleep(0.02)
"""


def mac(net, place):
    return f"02:00:00:00:{net:02x}:{place:02x}"


def topology():
    text = "run: { duration: 1 h, output: out/failures }\nhosts:\n"
    for host, (_, net) in HOSTS.items():
        text += f'  {host}: {{ external: true, addresses: [10.41.{net}.2/24], mac: "{mac(net, 2)}" }}\n'
    text += "routers:\n"
    for node, lcore in (("west", 0), ("east", 1)):
        text += f"  {node}: {{ lcores: [{lcore}, {1 - lcore}], control: linux }}\n"
    text += "  near: { lcores: 0 }\n  far: { lcores: 0 }\nlinks:\n"
    for host, (node, net) in HOSTS.items():
        text += (f"  {host}-{node}:\n    {{ ends: [{host}, {node}], rate: 1 Gbps,\n"
                 f"      addresses: {{ {node}: [10.41.{net}.1/24] }},\n"
                 f'      macs: {{ {node}: "{mac(net, 1)}" }}, attach: {{ {node}: {{ af_packet: tp-{host} }} }} }}\n')
    for link, (a, b, net, delay) in CORE.items():
        node, other = (a, b) if a == "west" else (b, a)
        text += (f"  {link}:\n    {{ ends: [{a}, {b}], rate: 40 Mbps, delay: {delay} ms, emulate_delay: true,\n"
                 f"      buffer: 1 MB,\n"
                 f"      law: fcp, mtu: {MTU}, addresses: {{ {a}: [10.41.{net}.1/24], {b}: [10.41.{net}.2/24] }},\n"
                 f'      macs: {{ {a}: "{mac(net, 1)}", {b}: "{mac(net, 2)}" }}, '
                 f"attach: {{ {node}: {{ af_packet: tp-{other} }} }} }}\n")
    return text + """customers:
  anna: { link: anna-west, budget: 1 $/s }
  server: { link: server-east, budget: 1 $/s }
gateways:
  west: { core: [west-near, west-far], peers: { east: {} } }
  east: { core: [near-east, far-east], peers: { west: {} } }
"""


def build():
    world.add_namespaces(*HOSTS, "west", "east", "near", "far")
    for host, (node, net) in HOSTS.items():
        world.add_veth((host, "eth0"), (node, f"tp-{host}"))
        world.give_to_router(node, f"tp-{host}")
        world.give_to_host(host, "eth0", mac(net, 2), [f"10.41.{net}.2/24"], [f"10.41.{net}.1"])
    for a, b, net, _ in CORE.values():
        node, other = (a, b) if a == "west" else (b, a)
        place = 2 if other == b else 1
        world.add_veth((other, node), (node, f"tp-{other}"))
        world.sh("ip", "link", "set", f"tp-{other}", "mtu", MTU, namespace=node)
        world.give_to_router(node, f"tp-{other}")
        world.give_to_host(other, node, mac(net, place), [f"10.41.{net}.{place}/24"], [], MTU)
    for node in ("near", "far"):
        for setting in ("ip_forward=1", "conf.all.rp_filter=0", "conf.default.rp_filter=0"):
            set_ipv4(node, setting)
    restore()


def set_ipv4(namespace, setting):
    key, value = setting.split("=")
    world.sh("sh", "-c", f"echo {value} >/proc/sys/net/ipv4/{key.replace('.', '/')}", namespace=namespace)


ROUTES = {"west": (("10.41.2.0/24", "10.41.19.0/24"), "10.41.1.2", "10.41.3.2"),
          "east": (("10.41.1.0/24", "10.41.11.0/24"), "10.41.2.1", "10.41.4.1")}


def prefer(path):
    """Both gateways' kernels route by this path, and by the other one if its link is down."""
    for node, (prefixes, *vias) in ROUTES.items():
        for prefix in prefixes:
            for via, name in zip(vias, ("near", "far")):
                metric = 10 if name == path else 20
                world.sh("ip", "route", "replace", prefix, "via", via, "metric", metric, namespace=node)
            for via, name in zip(vias, ("near", "far")):  # not before: one of the two always serves
                metric = 20 if name == path else 10
                world.sh("ip", "route", "del", prefix, "via", via, "metric", metric, namespace=node, check=False)


class Gateway:
    """A running gateway and the part of its accounts that this process writes."""

    def __init__(self, program, node):
        self.node = node
        self.before = len(self.rows(0))
        self.program = gate.run_router(program, FILE, node, node, "--accounting", f"/run/accounts-{node}")

    def rows(self, since=None):
        """Lines of accounts of this process, or from a line on."""
        files = sorted(pathlib.Path(f"/run/accounts-{self.node}").glob("*.csv"))
        lines = [line for file in files for line in csv.DictReader(file.open())]
        return lines[self.before if since is None else since:]

    def accounted(self, customer):
        return sum(int(row["bytes"]) for row in self.rows() if row["customer"] == customer)

    def sent(self, customer):
        """B, by the gateway's counter."""
        done = subprocess.run([TOOL, "show", "tunnels", "--json", "--router", self.node], capture_output=True,
                              text=True, timeout=10, check=False)
        rows = json.loads(done.stdout or "{}").get("tunnels", [])
        return next((row["bytes"] for row in rows if row["customer"] == customer), 0)

    def wait(self):
        """Until it forwards."""
        return world.until(lambda: " forwards " in self.program.output() or self.program.process.poll() is not None, 20)

    def kill(self):
        self.program.process.send_signal(signal.SIGKILL)
        self.program.wait(5)


GATEWAYS = {}
TOOL = None


def start(program, node):
    GATEWAYS[node] = Gateway(program, node)
    GATEWAYS[node].wait()


class Watch:
    """Follows a connection and a ping of anna's."""

    def __init__(self, seconds):
        self.path = pathlib.Path(f"/run/watch-{time.monotonic_ns()}")
        with open(self.path, "w") as out:
            self.counter = subprocess.Popen(world.inside("server", [sys.executable, "-c", WATCH]), stdout=out)
        self.ping = subprocess.Popen(
            world.inside("anna", ["ping", "-n", "-D", "-i", "0.02", "-c", int(50 * seconds), SERVER]),  # -w ends it at an error
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.load = cases.Transfer("anna", "server", SERVER, int(seconds))

    def finish(self):
        self.rate, self.said = self.load.finish()
        pings, _ = self.ping.communicate(timeout=30)
        self.counter.kill()
        self.counter.wait()
        answered = re.findall(r"\[([\d.]+)\] \d+ bytes from .* icmp_seq=(\d+) ", pings)
        self.replies = {int(n): float(t) for t, n in answered}
        self.samples = [tuple(map(float, line.split())) for line in self.path.read_text().splitlines()
                        if len(line.split()) == 2]

    def rate_in(self, begin, end):
        """B/s, between the samples next to these times."""
        inside = [(t, n) for t, n in self.samples if begin <= t <= end]
        return (inside[-1][1] - inside[0][1]) / (inside[-1][0] - inside[0][0]) if len(inside) > 1 else 0.0

    def pings_after(self, end):
        """s from then until pings pass."""
        for n, at in sorted(self.replies.items()):
            if at >= end and all(n + i in self.replies for i in range(IN_A_ROW)):
                return at - end
        return float("inf")

    def tcp_after(self, end, before):
        """s from then until TCP goes on."""
        for at, _ in self.samples:
            if end <= at and self.rate_in(at, at + WINDOW) >= RATE * before and self.samples[-1][0] >= at + WINDOW:
                return at - end
        return float("inf")


def play(disturb, outage):
    """(0 if all is as it should be, the figures). `disturb` takes about `outage` s, and returns the times at which the
    path went away and at which its recovery begins."""
    watch = Watch(WARM + outage + max(BOUND, outage) + 2 * WINDOW + 0.5)
    time.sleep(WARM)
    begin, end = disturb()
    watch.finish()
    before = watch.rate_in(begin - 1, begin)
    pings, tcp = watch.pings_after(end), watch.tcp_after(end, before)
    most = max(BOUND, end - begin)  # a host's next retransmission may come as late as the link was away (RFC 6298)
    right = before > 0 and pings <= BOUND and tcp <= most and watch.rate > 0
    return 0 if right else 1, (f"pings after {pings:.2f} s", f"TCP after {tcp:.2f} s",
                               f"{8e-6 * before:.1f} Mbit/s before",
                               f"{8e-6 * watch.rate_in(end + BOUND, end + BOUND + WINDOW):.1f} {BOUND:.0f} s later",
                               f"{end - begin:.2f} s away", watch.said)


def judged(tap, name, run):
    (code, figures), machine, disturbed = undisturbed(name, run)
    if disturbed:
        tap.skip(f"{name}: {figures[:5]}", machine)
    else:
        tap.check(f"{name}: {', '.join(figures[:5])}", code == 0, machine, figures,
                  *(g.program.output()[-1500:] for g in GATEWAYS.values()))


def complete(tap, name):
    """Each gateway's accounts add up to its counters, once nothing is sent any more."""
    for node, customer in (("west", "anna"), ("east", "server")):
        g = GATEWAYS[node]
        same = world.until(lambda: 0 < g.sent(customer) == g.accounted(customer), 4)
        tap.check(f"... accounts of {node} are complete", same, name, g.sent(customer), g.accounted(customer))


def set_links(ends, state):
    for namespace, interface in ends:
        world.sh("ip", "link", "set", interface, state, namespace=namespace)


def away(ends):
    """These interfaces are down for AWAY s."""
    def disturb():
        began = time.time()
        set_links(ends, "down")
        time.sleep(AWAY)
        set_links(ends, "up")
        restore()
        return began, time.time()
    return disturb


def restore():
    """The kernel removes routes with an interface's address or state: near's and far's are as at the start."""
    for node, west, east, behind in (("near", "10.41.1.1", "10.41.2.2", ()),
                                     ("far", "10.41.3.1", "10.41.4.2", ("10.41.1.0/24", "10.41.2.0/24"))):
        routes = [("10.41.11.0/24", west), ("10.41.19.0/24", east), *zip(behind, (west, east))]
        for prefix, via in routes:
            world.sh("ip", "route", "replace", prefix, "via", via, namespace=node, check=False)


def alone():
    """far is down at both gateways: near has no second path."""
    set_links([("far", "west"), ("far", "east")], "down")


def both():
    set_links([("far", "west"), ("far", "east")], "up")
    restore()


def at_once(change, *arguments):
    """A change from which the recovery begins."""
    def disturb():
        now = time.time()
        change(*arguments)
        return now, now
    return disturb


def fails():
    """near fails for good, with both of its links; far serves."""
    set_links([("near", "west"), ("near", "east")], "down")


def returns():
    set_links([("near", "west"), ("near", "east")], "up")
    restore()


def narrows():
    world.sh("ip", "link", "set", "east", "mtu", NARROW, namespace="near")


def restarted(program, node):
    """Killed, and started at once. The recovery begins when the program says that it forwards."""
    def disturb():
        g = GATEWAYS[node]
        g.counted = g.sent("anna" if node == "west" else "server")
        time.sleep(1.1)  # what was counted then is written
        began = time.time()
        g.kill()
        g.lines = g.accounted("anna" if node == "west" else "server")
        start(program, node)
        return began, time.time()
    return disturb


def kills(tap, program, node):
    old = []

    def run():
        old.append(GATEWAYS[node])
        return play(restarted(program, node), 3.5)
    judged(tap, f"{node} is killed and started again", run)
    for g in old:
        tap.check("... what it had counted a second before the kill is in its accounts", g.lines >= g.counted > 0,
                  g.lines, g.counted)
    complete(tap, "kill")


def link_loss(tap):
    alone()
    judged(tap, "the only core link loses its carrier for a second", lambda: play(away([("near", "west")]), AWAY))
    judged(tap, "west's own interface is down for a second", lambda: play(away([("west", "tp-near")]), AWAY))
    both()
    complete(tap, "link loss")


def second_path(tap):
    def run(before, change):
        before()
        return play(at_once(change), 0)
    judged(tap, "near fails beside far", lambda: run(returns, fails))
    judged(tap, "near comes back", lambda: run(fails, returns))
    complete(tap, "second path")


def longer_path(tap):
    def run(before, after):
        prefer(before)
        return play(at_once(prefer, after), 0)
    judged(tap, "the route moves from 5 to 60 ms", lambda: run("near", "far"))
    judged(tap, "the route moves back", lambda: run("far", "near"))
    complete(tap, "longer path")


def narrower_path(tap):
    judged(tap, f"the path's MTU shrinks to {NARROW}", lambda: play(at_once(narrows), 0))
    complete(tap, "narrower path")


def main():
    global TOOL
    only = sys.argv[sys.argv.index("--only") + 1] if "--only" in sys.argv else ""
    program = str(pathlib.Path([a for a in sys.argv[1:] if a.endswith("turnpike-router")][0]).resolve())
    TOOL = pathlib.Path(program).parents[1] / "lab" / "turnpike"
    tap = gate.enter("ping", "iperf3")
    if not os.path.exists("/dev/net/tun"):
        tap.skip("gateway_failures_test", "no /dev/net/tun")
        return tap.finish()
    build()
    FILE.write_text(topology())
    for node in ("west", "east"):
        start(program, node)
        set_ipv4(node, "conf.all.ignore_routes_with_linkdown=1")
    outputs = [g.program.output() for g in GATEWAYS.values()]
    if not tap.check("both gateways start", all(" forwards " in said for said in outputs), *outputs):
        return tap.finish()
    prefer("near")
    if not tap.check("anna reaches the server", world.until(lambda: world.answers("anna", SERVER), 30),
                     *(g.program.output()[-3000:] for g in GATEWAYS.values())):
        return tap.finish()

    def wanted(name, run):
        if only in name:
            run()

    wanted("carrier", lambda: link_loss(tap))
    wanted("fails", lambda: second_path(tap))
    wanted("moves", lambda: longer_path(tap))
    wanted("MTU", lambda: narrower_path(tap))
    for node in ("west", "east"):
        wanted(f"kill {node}", lambda node=node: kills(tap, program, node))
    for node, g in GATEWAYS.items():
        gate.stop_router(tap, g.program, node)
    tap.finish()


if __name__ == "__main__":
    main()
