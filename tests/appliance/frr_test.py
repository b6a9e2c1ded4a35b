#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# FRR runs BGP and OSPF over a router whose control plane is Linux, between three network namespaces.
# Usage: frr_test.py ROUTER TURNPIKE [--routes N]
#
#     n1 (BGP, N routes) --- e1 +-----+ e3 --- n3 (OSPF and OSPFv3)
#                               | box |
#     n2 (BGP) ------------- e2 +-----+
import argparse
import pathlib
import re
import sys
import time

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / folder) for folder in ("", "netns")]
import frr  # noqa: E402
import world  # noqa: E402
from tap import Tap  # noqa: E402

NEIGHBOURS = (1, 2, 3)
TOPOLOGY = """
hosts:
""" + "".join(f"""
  n{i}: {{ external: true, addresses: [10.0.{i}.2/24, "fd00:{i}::2/64"], mac: "02:00:00:00:0{i}:02" }}
""" for i in NEIGHBOURS) + """
routers:
  box: { lcores: 0, control: { linux: { interfaces: { l1: e1, l2: e2, l3: e3 } } } }
links:
""" + "".join(f"""
  l{i}:
    ends: [n{i}, box]
    rate: 1 Gbps
    addresses: {{ box: [10.0.{i}.1/24, "fd00:{i}::1/64"] }}
    macs: {{ box: "02:00:00:00:0{i}:01" }}
    attach: {{ box: {{ af_packet: port{i} }} }}
""" for i in NEIGHBOURS)


def bgp(asn, router_id, peers, families):
    """bgpd's configuration. `peers`: address -> AS; `families`: text of each address family. Sessions with n1 hold out
    for 30 s without messages, whatever their link's carrier does; those with n2 end with it or after 3 s."""
    text = f"""router bgp {asn}
 bgp router-id {router_id}
 no bgp ebgp-requires-policy
 no bgp default ipv4-unicast
 no bgp network import-check
 no bgp fast-external-failover
 bgp bestpath as-path multipath-relax
 timers bgp 1 3
"""
    for address, peer in peers.items():
        text += f" neighbor {address} remote-as {peer}\n neighbor {address} timers connect 1\n"
        if 65001 in (asn, peer):
            text += f" neighbor {address} timers 3 30\n"
    for family, lines in families.items():
        text += f" address-family {family} unicast\n"
        text += "".join(f"  neighbor {a} activate\n" for a in peers if (":" in a) == (family == "ipv6"))
        text += "".join(f"  {line}\n" for line in lines) + " exit-address-family\n"
    return text


def start_neighbour(i):
    """n1 and n2 announce a common network, by BGP; n3 has a network of its own, by OSPF."""
    if i == 3:
        return frr.Frr("n3", {
            "ospfd": "interface eth0\n ip ospf hello-interval 1\n ip ospf dead-interval 3\n"
                     "router ospf\n ospf router-id 10.0.3.2\n network 10.0.3.0/24 area 0\n network 40.0.0.0/24 area 0\n",
            "ospf6d": "interface eth0\n ipv6 ospf6 area 0\n ipv6 ospf6 hello-interval 1\n ipv6 ospf6 dead-interval 3\n"
                      "interface net0\n ipv6 ospf6 area 0\nrouter ospf6\n ospf6 router-id 10.0.3.2\n"})
    common = {"ipv4": ["network 30.0.0.0/24", "redistribute kernel"], "ipv6": ["network fd30::/64", "redistribute kernel"]}
    return frr.Frr(f"n{i}", {"bgpd": bgp(65000 + i, f"10.0.{i}.2", {f"10.0.{i}.1": 65000, f"fd00:{i}::1": 65000}, common)})


def start_box():
    peers = {a: 65000 + i for i in (1, 2) for a in (f"10.0.{i}.2", f"fd00:{i}::2")}
    families = {"ipv4": ["maximum-paths 2", "redistribute ospf", "redistribute connected"],
                "ipv6": ["maximum-paths 2", "redistribute ospf6", "redistribute connected"]}
    return frr.Frr("box", {
        "bgpd": bgp(65000, "10.0.1.1", peers, families),
        "ospfd": "interface e3\n ip ospf hello-interval 1\n ip ospf dead-interval 3\n"
                 "router ospf\n ospf router-id 10.0.3.1\n redistribute bgp\n redistribute connected\n network 10.0.3.0/24 area 0\n",
        "ospf6d": "interface e3\n ipv6 ospf6 area 0\n ipv6 ospf6 hello-interval 1\n ipv6 ospf6 dead-interval 3\n"
                  "router ospf6\n ospf6 router-id 10.0.3.1\n redistribute bgp\n redistribute connected\n"})


class Box:
    """The router under test, its FRR, and its three neighbours."""

    def __init__(self, router, tool, tap):
        self.router_program, self.tool, self.tap = router, tool, tap
        world.add_namespaces("box", *(f"n{i}" for i in NEIGHBOURS))
        for i in NEIGHBOURS:
            world.add_veth((f"n{i}", "eth0"), ("box", f"port{i}"))
            world.give_to_router("box", f"port{i}")
            world.give_to_host(f"n{i}", "eth0", f"02:00:00:00:0{i}:02", [f"10.0.{i}.2/24", f"fd00:{i}::2/64"], [])
            # Answers find their way back while no daemon runs.
            for net, via in ((f"10.0.0.0/16", f"10.0.{i}.1"), ("fd00::/16", f"fd00:{i}::1")):
                world.sh("ip", "route", "add", net, "via", via, "metric", 5000, namespace=f"n{i}")
            # A network behind the neighbour.
            world.sh("ip", "link", "add", "net0", "type", "veth", "peer", "name", "net1", namespace=f"n{i}")
            for name in ("net0", "net1"):
                world.sh("ip", "link", "set", name, "up", namespace=f"n{i}")
        for i in (1, 2):
            for address in ("30.0.0.1/24", "fd30::1/64"):
                world.sh("ip", "address", "add", address, "dev", "net0", namespace=f"n{i}")
        for address in ("40.0.0.1/24", "fd40::1/64"):
            world.sh("ip", "address", "add", address, "dev", "net0", namespace="n3")
        self.file = pathlib.Path("/run/box.yaml")
        self.file.write_text(TOPOLOGY)
        self.start_router()

    def start_router(self):
        self.router = world.Program(self.router_program, self.file, "--out", "/run/out", "--live", "off", namespace="box")
        world.until(lambda: " forwards " in self.router.output() or self.router.process.poll() is not None)

    def differences(self):
        """Lines of `show routes --diff kernel`; None while it does not answer."""
        done = world.sh(self.tool, "show", "routes", "--diff", "kernel", timeout=60, check=False)
        return [line for line in done.splitlines() if re.match(r"(missing|extra|different) ", line)] if " compared" in done else [done]

    def settles(self, name, seconds):
        """Whether the router's routes become the kernel's within so long."""
        begin = time.monotonic()
        settled = world.until(lambda: self.differences() == [], seconds)
        return self.tap.check(f"{name}: the router's routes are the kernel's after {time.monotonic() - begin:.1f} s", settled,
                              *(self.differences() or [])[:10])


def bgp_routes(namespace):
    return world.sh("ip", "route", "show", "proto", "bgp", namespace=namespace, timeout=60).count("\n")


def reaches(source, *addresses, seconds=20):
    return world.until(lambda: all(world.answers(source, a) for a in addresses), seconds)


def check_adjacency(box, frr_box):
    up = world.until(lambda: frr_box.established() == 4, 60)
    box.tap.check("four BGP sessions, IPv4 and IPv6, are up", up, frr_box.vtysh("show bgp summary"), frr_box.logs())
    for command in ("show ip ospf neighbor", "show ipv6 ospf6 neighbor"):
        full = world.until(lambda c=command: "Full" in frr_box.vtysh(c), 60)
        box.tap.check(f"{command}: full", full, frr_box.vtysh(command), frr_box.logs())
    for source, addresses in {"n1": ("40.0.0.1", "fd40::1"), "n3": ("30.0.0.1", "fd30::1")}.items():
        box.tap.check(f"{source} reaches what the other protocol announced, {', '.join(addresses)}", reaches(source, *addresses),
                      world.sh("ip", "route", namespace="box"), world.sh("ip", "-6", "route", namespace="box"))
    box.settles("with all sessions up", 10)


# 5,000 packets a second: a burst of all would overrun the port's ring of a router that waits for its CPU.
SEND = """
import socket, sys, time
family = socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET
for port in range(20000, 22000):
    with socket.socket(family, socket.SOCK_DGRAM) as s:
        s.bind(("", port))
        for _ in range(5):
            s.sendto(b"x" * 100, (sys.argv[1], 9))
    time.sleep(0.001)
"""


def udp_from_ports(destination):
    """10,000 packets of 2,000 flows from n3; returns how many of them n1 and n2 received."""

    def counts():
        return [no_ports(f"n{i}", ":" in destination) for i in (1, 2)]

    before = counts()
    world.sh(sys.executable, "-c", SEND, destination, namespace="n3", timeout=60)
    world.until(lambda: sum(counts()) - sum(before) >= 10000, 2)
    return [now - then for now, then in zip(counts(), before)]


def no_ports(namespace, ipv6):
    """UDP packets to a port without a listener, so far."""
    if ipv6:
        text = world.sh("cat", "/proc/net/snmp6", namespace=namespace)
        return int(re.search(r"^Udp6NoPorts\s+(\d+)", text, re.M).group(1))
    names, values = [line.split() for line in world.sh("cat", "/proc/net/snmp", namespace=namespace).splitlines()
                     if line.startswith("Udp:")]
    return int(values[names.index("NoPorts")])


def check_ecmp(box):
    for destination in ("30.0.0.1", "fd30::1"):
        shares = udp_from_ports(destination)
        total = max(sum(shares), 1)
        box.tap.check(f"ECMP to {destination}: no packet lost, neighbours are resolved before packets need them", total == 10000, shares,
                      world.sh(box.tool, "show", "drops", check=False), world.sh(box.tool, "show", "ports", check=False))
        # Of 2,000 flows by a fair coin, five standard deviations are 112 flows, 5.6 % of the flows.
        box.tap.check(f"ECMP to {destination}: {shares[0]} and {shares[1]} packets of 10,000",
                      abs(shares[0] / total - 0.5) < 0.05, shares)


def check_many_routes(box, neighbour, routes):
    """Loads the routes into n1's kernel while its zebra is down, then starts it."""
    neighbour.kill()
    batch = pathlib.Path("/run/routes")
    batch.write_text("".join(f"route add {20 + (i >> 16)}.{i >> 8 & 255}.{i & 255}.0/24 dev net0\n" for i in range(routes)))
    world.sh("ip", "-batch", batch, namespace="n1", timeout=300)
    neighbour.start()
    begin, last = time.monotonic(), 0
    while time.monotonic() - begin < 180 and last < routes:
        last = bgp_routes("box")
        time.sleep(0.2)
    box.tap.check(f"BGP gives the kernel {routes} routes ({time.monotonic() - begin:.0f} s)", last >= routes, last)
    box.settles(f"with {routes} routes", 5)
    i = routes - 1
    last = f"{20 + (i >> 16)}.{i >> 8 & 255}.{i & 255}.1"
    world.sh("ip", "address", "add", f"{last}/32", "dev", "lo", namespace="n1")
    box.tap.check("n3 reaches the last of them by the router", reaches("n3", last))


def lasting_sessions(frr_box):
    """Of the sessions with n1, how often each was established."""
    return {address: peer.get("connectionsEstablished") for family in frr_box.json("show bgp summary").values()
            if isinstance(family, dict) for address, peer in family.get("peers", {}).items() if ":1::" in address or ".1." in address}


def check_router_killed(box, frr_box):
    """FRR runs on while the router is gone, with its interfaces, their addresses and n1's sessions."""
    def addresses():
        return re.findall(r"inet6? (\S+) ", world.sh("ip", "address", "show", "dev", "e1", namespace="box"))

    # Linux's own route, and addresses that the file does not have, stay as well.
    world.sh("ip", "address", "add", "10.9.9.1/24", "dev", "e1", namespace="box")
    world.sh("ip", "route", "add", "50.0.0.0/24", "via", "10.0.1.2", "dev", "e1", namespace="box")
    held, sessions = addresses(), lasting_sessions(frr_box)
    box.router.process.kill()
    box.router.process.wait()
    down = world.until(lambda: "NO-CARRIER" in world.sh("ip", "link", "show", "dev", "e1", namespace="box"), 5)
    box.tap.check("kill -9 of the router: its interfaces stay, without carrier, with their addresses",
                  down and addresses() == held, world.sh("ip", "address", namespace="box"))
    gone = world.until(lambda: "e1" not in world.sh("ip", "route", "show", "30.0.0.0/24", namespace="box"), 10)
    box.tap.check("FRR withdraws routes that nothing forwards", gone, world.sh("ip", "route", namespace="box")[-3000:])
    begin = time.monotonic()
    box.start_router()
    back = world.until(lambda: frr_box.established() == 4 and "nhid" in world.sh("ip", "route", "show", "30.0.0.0/24", namespace="box"), 60)
    box.tap.check(f"a new router, without a restart of FRR: sessions are up after {time.monotonic() - begin:.1f} s", back,
                  box.router.output()[-2000:], frr_box.logs())
    box.tap.check("sessions with n1 were never interrupted", lasting_sessions(frr_box) == sessions, sessions, lasting_sessions(frr_box))
    box.tap.check("addresses and routes by hand are there", addresses() == held
                  and "10.0.1.2" in world.sh("ip", "route", "show", "50.0.0.0/24", namespace="box"), addresses(), held)
    box.settles("after the router's restart", 15)


def check_failures(box, frr_box, routes):
    world.sh("ip", "link", "set", "eth0", "down", namespace="n2")
    gone = world.until(lambda: "10.0.2.2" not in world.sh("ip", "route", namespace="box"), 20)
    box.tap.check("a link fails: the kernel forgets its routes", gone, world.sh("ip", "route", "show", "30.0.0.0/24", namespace="box"))
    box.settles("after a link's failure", 5)
    box.tap.check("the other path takes the traffic", reaches("n3", "30.0.0.1", "fd30::1"))
    world.sh("ip", "link", "set", "eth0", "up", namespace="n2")
    world.sh("ip", "-6", "address", "replace", "fd00:2::2/64", "dev", "eth0", "nodad", namespace="n2")
    back = world.until(lambda: frr_box.established() == 4, 30)
    box.tap.check("the link is back, and so are its sessions", back, frr_box.vtysh("show bgp summary"))
    box.settles("after its return", 10)

    frr_box.kill()
    box.tap.check("kill -9 of FRR: packets are forwarded meanwhile", world.answers("n3", "30.0.0.1"))
    frr_box.start()
    back = world.until(lambda: frr_box.established() == 4, 60)
    box.tap.check("FRR starts again: its sessions are up", back, frr_box.logs())
    box.settles("after FRR's restart", 15)
    box.tap.check("n3 reaches what BGP announces again", reaches("n3", "30.0.0.1", "fd30::1", seconds=20 + routes / 500),
                  frr_box.vtysh("show bgp ipv6 unicast summary"))

    check_router_killed(box, frr_box)
    for source, addresses in {"n1": ("40.0.0.1", "fd40::1"), "n3": ("30.0.0.1", "fd30::1")}.items():
        # All routes are redistributed into OSPF, whose daemons take a while for them.
        begin = time.monotonic()
        found = reaches(source, *addresses, seconds=20 + routes / 500)
        box.tap.check(f"{source} reaches {', '.join(addresses)} again after {time.monotonic() - begin:.1f} s", found,
                      frr_box.vtysh("show ip ospf neighbor"), frr_box.vtysh("show ipv6 ospf6 neighbor"),
                      *(f"{a}: {world.answers(source, a)} {world.sh('ip', 'route', 'get', a, namespace=source, check=False)}" for a in addresses),
                      world.sh(box.tool, "show", "drops", check=False))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("router")
    parser.add_argument("tool")
    parser.add_argument("--routes", type=int, default=20000)
    options = parser.parse_args()
    why = frr.missing() or world.isolate()
    tap = Tap()
    if why:
        tap.skip("frr", why)
        tap.finish()
    box = Box(options.router, options.tool, tap)
    neighbours = [start_neighbour(i) for i in NEIGHBOURS]
    frr_box = start_box()
    check_adjacency(box, frr_box)
    check_ecmp(box)
    check_many_routes(box, neighbours[0], options.routes)
    check_failures(box, frr_box, options.routes)
    code = box.router.stop()
    tap.check("the router stops with exit code 0", code == 0, box.router.output()[-3000:])
    removed = world.sh(options.router, box.file, "--remove-interfaces", namespace="box")
    left = world.sh("ip", "link", namespace="box")
    tap.check("--remove-interfaces removes its interfaces", removed.count("removed interface e") == 3 and " e1:" not in left, removed, left)
    tap.finish()


if __name__ == "__main__":
    main()
