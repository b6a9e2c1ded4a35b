#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# The reader of the kernel's state beside a real kernel: each kind of route, and each change that the kernel makes
# without a message. The oracle is iproute2.
# Usage: netlink_test.py MIRROR
import json
import pathlib
import re
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import gate  # noqa: E402
import kernel_routes  # noqa: E402
import world  # noqa: E402
from kernel_routes import batch  # noqa: E402

LINKS = {"v0": 0, "v1": 1, "v2": 2}  # veth to w0, w1, w2, which are no links of the router
FOREIGN = "x0"
ROUTES = """
route add 10.9.0.0/16 nexthop via 10.0.0.2 weight 3 nexthop via 10.0.1.2
route add 10.8.0.0/16 via inet6 fe80::5 dev v0 proto bgp metric 20
route add blackhole 10.7.0.0/16
route add unreachable 10.6.0.0/16 proto ospf
route add prohibit 10.6.1.0/24 metric 7
route add throw 10.6.2.0/24
route add 10.5.0.0/16 dev x0 scope link
route add 10.5.1.0/24 nexthop via 10.0.0.2 nexthop dev x0
route add 10.5.2.0/24 via 10.0.0.2 tos 0x10
route add 10.5.3.0/24 via 10.0.0.2 table 100
route add 10.5.4.0/24 via 10.0.0.2 metric 50
route add 10.5.4.0/24 via 10.0.1.2 metric 40
route add 10.5.5.0/24 dev x0 scope link metric 1
route add 10.5.5.0/24 via 10.0.1.2 metric 2 proto 196
route add default via 10.0.2.2
route add default via fe80::2 dev v2 proto 186
route add 2001:db8:9::/48 nexthop via 2001:db8:0::2 weight 4 nexthop via fe80::1 dev v1
route add 2001:db8:8::/48 via fe80::7 dev v0 metric 5
route add 2001:db8:8::/48 dev v1 metric 9
route add prohibit 2001:db8:7::/48
route add 2001:db8:6::/48 dev x0
nexthop add id 1 via 10.0.0.2 dev v0
nexthop add id 2 via 10.0.1.2 dev v1
nexthop add id 3 via fe80::3 dev v2
nexthop add id 4 blackhole
nexthop add id 5 via 2001:db8:0::9 dev v0
nexthop add id 10 group 1,3/2,200
nexthop add id 12 group 3/5
route add 10.4.0.0/16 nhid 10
route add 10.4.2.0/24 nhid 1
route add 10.4.3.0/24 nhid 3
route add 10.4.4.0/24 nhid 4
route add 2001:db8:4::/48 nhid 12
route add 2001:db8:5::/48 nhid 5 metric 3
""".strip().splitlines()
RESILIENT = ["nexthop add id 11 group 1,7/2,3 type resilient buckets 16", "route add 10.4.1.0/24 nhid 11"]


def build_interfaces():
    for sysctl in ("all", "default"):
        world.sh("sh", "-c", f"echo 0 >/proc/sys/net/ipv6/conf/{sysctl}/accept_dad")
    for i in range(3):
        world.sh("ip", "link", "add", f"v{i}", "type", "veth", "peer", "name", f"w{i}")
        world.sh("ip", "link", "set", f"w{i}", "up")
        configure(i)
    world.sh("ip", "link", "add", FOREIGN, "type", "veth", "peer", "name", "y0")
    for name in (FOREIGN, "y0"):
        world.sh("ip", "link", "set", name, "up")


def configure(i):
    world.sh("ip", "link", "set", f"v{i}", "up")
    for address in (f"10.0.{i}.1/24", f"2001:db8:{i}::1/64"):
        world.sh("ip", "address", "add", address, "dev", f"v{i}", check=False)


def each_kind(tap, mirror, program):
    batch(ROUTES)
    tap.check("routes of each kind, as they are added", not (lines := mirror.differences("peek")), *lines)
    out = batch(RESILIENT, force=True)
    if "rror" in out:
        tap.skip("resilient groups", f"this kernel has none: {out}")
    else:
        tap.check("a resilient group", not (lines := mirror.differences("peek")), *lines)
    later = kernel_routes.Mirror(program, LINKS)
    tap.check("routes of each kind, from a dump", not (lines := later.differences()), *lines)
    held = {r["prefix"]: r for r in later.ask("dump")["routes"]}
    want = [{"link": 0, "gateway": "10.0.0.2", "weight": 3}, {"link": 1, "gateway": "10.0.1.2", "weight": 1}]
    tap.check("weights of paths", held["10.9.0.0/16"]["paths"] == want, held["10.9.0.0/16"])
    ended = later.end()
    tap.check("the mirror ends with its input", ended == 0, ended)
    compared = mirror.ask("compare")
    tap.check("the comparison with the kernel finds no difference",
              not compared["differences"] and compared["kernel"] == compared["held"] > 30, compared)


# Name of a case, commands of ip(8), and whether the state is the kernel's without a resynchronisation.
SILENT = [
    ("a link down", ["link set v0 down"], True),
    ("... and up again", ["link set v0 up", "route add 10.9.0.0/16 via 10.0.0.2", "route add 10.8.0.0/16 via 10.0.0.7"],
     True),
    ("the carrier of a link lost", ["link set w1 down"], True),
    ("... and back", ["link set w1 up"], True),
    ("a preferred source address removed",
     ["address add 10.0.0.5/32 dev v0", "route add 10.10.0.0/16 via 10.0.0.2 src 10.0.0.5",
      "address del 10.0.0.5/32 dev v0"], True),
    ("the last address of a link removed", ["address del 10.0.1.1/24 dev v1"], False),
    ("... with another link's next hop beside",
     ["address add 10.0.1.1/24 dev v1", "route add 10.11.0.0/16 nexthop via 10.0.1.2 nexthop via 10.0.0.2",
      "address del 10.0.1.1/24 dev v1"], False),
    ("... and an address added", ["address add 10.0.1.1/24 dev v1"], False),
    ("a nexthop object removed",
     ["nexthop replace id 21 via 10.0.0.21 dev v0", "nexthop replace id 22 via 10.0.2.22 dev v2",
      "nexthop replace id 30 group 21/22,9", "route add 10.12.0.0/16 nhid 30", "route add 10.13.0.0/16 nhid 21",
      "nexthop del id 21"], True),
    ("a nexthop object replaced", ["nexthop replace id 22 via 10.0.2.23 dev v2"], True),
    ("a group replaced", ["nexthop add id 23 via 10.0.0.23 dev v0", "nexthop replace id 30 group 22,2/23,5"], True),
    ("an object of a link that goes down", ["link set v2 down"], True),
    ("all interfaces of a kind removed", ["link del v2"], True),
]
IPV6 = [
    ("next hops appended one by one",
     ["route add 2001:db8:20::/48 via fe80::1 dev v0", "route append 2001:db8:20::/48 via fe80::2 dev v0",
      "route append 2001:db8:20::/48 via fe80::3 dev v1"], True),
    ("one next hop removed", ["route del 2001:db8:20::/48 via fe80::2 dev v0"], True),
    ("several next hops appended",
     ["route append 2001:db8:20::/48 nexthop via fe80::4 dev v0 nexthop via fe80::5 dev v1"], True),
    ("a multipath route replaced by one next hop", ["route replace 2001:db8:20::/48 via fe80::9 dev v1"], True),
    ("... by several", ["route replace 2001:db8:20::/48 nexthop via fe80::4 dev v0 nexthop via fe80::5 dev v1"],
     True),
    ("... by a route over a device", ["route replace 2001:db8:20::/48 dev v0"], True),
    ("... which is replaced by a multipath route",
     ["route replace 2001:db8:20::/48 nexthop via fe80::4 dev v0 nexthop via fe80::5 dev v1"], True),
    ("a multipath route removed", ["route del 2001:db8:20::/48"], True),
    ("a link of a multipath route down",
     ["route add 2001:db8:21::/48 nexthop via fe80::4 dev v0 nexthop via fe80::5 dev v1", "link set v0 down"], True),
    ("... and up", ["link set v0 up"], True),
    ("a route replaced by one of a nexthop object",
     ["nexthop replace id 41 via fe80::41 dev v1", "route replace 2001:db8:21::/48 nhid 41"], True),
    ("... whose object is removed", ["nexthop del id 41"], True),
]
IPV4 = [
    ("aliases of one prefix",
     ["route add 10.20.0.0/16 via 10.0.0.2", "route append 10.20.0.0/16 via 10.0.0.3",
      "route prepend 10.20.0.0/16 via 10.0.0.4", "route append blackhole 10.20.0.0/16"], True),
    ("the first of them removed", ["route del 10.20.0.0/16 via 10.0.0.4"], True),
    ("the first of them replaced", ["route replace 10.20.0.0/16 via 10.0.0.9"], True),
    ("all removed but one", ["route del 10.20.0.0/16", "route del 10.20.0.0/16"], True),
    ("a type changed", ["route replace prohibit 10.20.0.0/16"], True),
    ("a route replaced by one that cannot be used", ["route replace throw 10.20.0.0/16"], True),
    ("a better metric added", ["route add 10.20.0.0/16 via 10.0.0.2 metric 5", "route del throw 10.20.0.0/16",
                               "route add 10.20.0.0/16 via 10.0.0.3 metric 4"], True),
    ("... and removed", ["route del 10.20.0.0/16 metric 4"], True),
]


def run_cases(tap, mirror, cases, group):
    for name, commands, at_once in cases:
        out = batch(commands, force=True)
        if at_once:
            lines = mirror.steady_differences("peek", pause=0.03)  # well before a resynchronisation
            tap.check(f"{group}: {name}: at once", not lines, out, *lines)
        lines = mirror.differences()
        tap.check(f"{group}: {name}: in the end", not lines, out, *lines)


def silent_ipv6(tap, mirror):
    """FRR recommends this parameter: the kernel then says nothing about IPv6 routes of a link that goes down."""
    path = pathlib.Path("/proc/sys/net/ipv6/route/skip_notify_on_dev_down")
    path.write_text("1")
    run_cases(tap, mirror, [
        ("a link down", ["route add 2001:db8:30::/48 via fe80::1 dev v0", "link set v0 down"], True),
        ("... and up", ["link set v0 up"], True)], "IPv6 without messages")
    path.write_text("0")


def links(tap, mirror):
    world.sh("ip", "link", "set", "v1", "mtu", "1400")
    world.sh("ip", "link", "set", "w1", "down")
    mirror.ask("settle")
    tap.check("MTU and carrier are reported", "link 1 present 1 up 1 carrier 1 mtu 1400" in mirror.output()
              and "link 1 present 1 up 1 carrier 0 mtu 1400" in mirror.output(), mirror.output())
    tap.check("a removed interface is reported", re.search(r"link 2 present 0", mirror.output()), mirror.output())
    world.sh("ip", "link", "set", "w1", "up")
    for old, new in (("v1", "z1"), ("z1", "v1")):
        world.sh("ip", "link", "set", old, "name", new)
        tap.check(f"renamed to {new}", not (lines := mirror.differences()), *lines)
    world.sh("ip", "link", "add", "v2", "type", "veth", "peer", "name", "w2")
    world.sh("ip", "link", "set", "w2", "up")
    configure(2)
    tap.check("an interface that returns is a link again", not (lines := mirror.differences()), *lines)


def neighbours(tap, mirror):
    world.add_namespaces("peer")
    world.sh("ip", "link", "set", "w0", "netns", "peer")
    world.give_to_host("peer", "w0", "02:00:00:00:00:02", ["10.0.0.2/24", "2001:db8:0::2/64"], [])
    configure(0)

    def known():
        return {n["address"]: n["mac"] for n in mirror.ask("dump")["neighbours"]}
    for address in ("10.0.0.2", "2001:db8::2", "10.0.0.77"):
        mirror.ask(f"resolve 0 {address}")
    found = world.until(lambda: {"10.0.0.2", "2001:db8::2"} <= known().keys(), 5)
    tap.check("the kernel resolves what it is asked for", found and known()["10.0.0.2"] == "02:00:00:00:00:02", known())
    tap.check("... and not what does not reply", "10.0.0.77" not in known(), known())
    asked = [mirror.ask("resolve 0 10.0.0.78") for _ in range(5)]
    tap.check("it is asked once in a while", asked == [True, False, False, False, False], asked)
    world.sh("ip", "neigh", "replace", "10.0.0.50", "lladdr", "02:00:00:00:00:50", "dev", "v0", "nud", "noarp")
    world.sh("ip", "neigh", "replace", "10.0.0.51", "lladdr", "02:00:00:00:00:51", "dev", "v0", "nud", "permanent")
    world.sh("ip", "neigh", "replace", "10.0.0.52", "lladdr", "02:00:00:00:00:52", "dev", "v0", "nud", "stale")
    world.sh("ip", "neigh", "add", "proxy", "10.0.0.53", "dev", "v0")
    now = known()
    tap.check("neighbours that can be used are known", {"10.0.0.50", "10.0.0.51", "10.0.0.52"} <= now.keys()
              and "10.0.0.53" not in now, now)
    world.sh("ip", "neigh", "replace", "10.0.0.51", "lladdr", "02:00:00:00:00:99", "dev", "v0", "nud", "permanent")
    tap.check("a MAC address changes", known()["10.0.0.51"] == "02:00:00:00:00:99", known())
    world.sh("ip", "neigh", "replace", "10.0.0.52", "dev", "v0", "nud", "failed", check=False)
    world.sh("ip", "neigh", "del", "10.0.0.50", "dev", "v0")
    now = known()
    tap.check("neighbours that failed or were removed are not", not {"10.0.0.50", "10.0.0.52"} & now.keys(), now)
    keeps_alive(tap, mirror, known)
    world.sh("ip", "link", "set", "v0", "down")
    tap.check("none on a link that is down", not any(a.startswith("10.0.0.") for a in known()), known())


def keeps_alive(tap, mirror, known):
    """Linux has no packets for the neighbours; the reader has it probe them, so that they are not forgotten."""
    for family in ("ipv4", "ipv6"):
        for name, value in (("base_reachable_time_ms", 2500), ("delay_first_probe_time", 1)):
            pathlib.Path(f"/proc/sys/net/{family}/neigh/v0/{name}").write_text(str(value))
    # The new times apply from the next confirmation on.
    addresses = ("10.0.0.2", "2001:db8::2")
    for address in addresses:
        world.sh("ip", "neigh", "replace", address, "lladdr", "02:00:00:00:00:02", "dev", "v0", "nud", "stale")
    before = mirror.counters()["probed"]
    time.sleep(14)  # Linux makes a neighbour stale after 1.25 to 3.75 s, and waits 1 s before a probe
    ages = {n["dst"]: n.get("confirmed") for n in json.loads(world.sh("ip", "-s", "-j", "neigh", "show", "dev", "v0"))}
    probed = mirror.counters()["probed"] - before
    tap.check("neighbours without packets from Linux are confirmed again and again",
              probed >= 4 and all(ages.get(a) is not None and ages[a] <= 7 for a in addresses), probed, ages)
    tap.check("... at a bounded rate", probed <= 60, probed)
    world.sh("ip", "link", "set", "w0", "arp", "off", namespace="peer")
    world.sh("ip", "address", "flush", "dev", "w0", namespace="peer")
    forgotten = world.until(lambda: not set(addresses) & known().keys(), 15)
    tap.check("a neighbour that does not reply any more is forgotten", forgotten, known())


def periodic(tap, program):
    mirror = kernel_routes.Mirror(program, LINKS, "--period", 100)
    found = world.until(lambda: mirror.counters()["resyncs"]["periodic"] >= 3, 10)
    tap.check("the state is read again now and then", found, mirror.counters())
    calls = mirror.counters()["calls"]
    world.until(lambda: mirror.counters()["resyncs"]["periodic"] >= 6, 10)
    tap.check("... which changes nothing where nothing changed", mirror.counters()["calls"] == calls, mirror.counters())
    mirror.end()


def main():
    tap = gate.enter()
    build_interfaces()
    # Only the test's resynchronisations: the state must be right without the periodic ones.
    mirror = kernel_routes.Mirror(sys.argv[1], LINKS, "--period", 3600_000, "--debounce", 400)
    each_kind(tap, mirror, sys.argv[1])
    run_cases(tap, mirror, IPV4, "IPv4")
    run_cases(tap, mirror, IPV6, "IPv6")
    silent_ipv6(tap, mirror)
    run_cases(tap, mirror, SILENT, "silent")
    links(tap, mirror)
    neighbours(tap, mirror)
    counters = mirror.counters()
    tap.check("each resynchronisation has a reason and is reported", counters["resyncs"]["link_down"] > 0
              and counters["resyncs"]["address_changed"] > 0 and counters["resyncs"]["nexthop_removed"] > 0
              and "resynchronised with the kernel (link_down)" in mirror.output(), counters, mirror.output())
    tap.check("no message was malformed, none lost", counters["malformed"] == counters["lost"] == 0, counters)
    ended = mirror.end()
    tap.check("the mirror ends with its input", ended == 0, ended)
    periodic(tap, sys.argv[1])
    tap.finish()


if __name__ == "__main__":
    main()
