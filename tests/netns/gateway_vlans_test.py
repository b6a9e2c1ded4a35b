#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# configs/gateway/vlans.yaml: two customers in two VLANs of one kernel's trunk. Pings, TCP and shares by budget through
# the tunnels; priority bits, frames in a VLAN of no link, untagged ones, and ones with two tags. Where the kernel has no
# VLAN interfaces, a program tags the frames (trunk.py), and the core has a lower rate.
# Usage: gateway_vlans_test.py ROUTER
import json
import pathlib
import struct
import subprocess
import sys
import time

import cases
import gate
import world
from gateway_rates_test import rates_now
from gateway_test import SERVER, tool

sys.path.insert(0, str(world.ROOT / "tests"))
from undisturbed import undisturbed  # noqa: E402

CONFIG = world.ROOT / "configs" / "gateway" / "vlans.yaml"
TRUNK = world.ROOT / "tests" / "netns" / "trunk.py"
VLANS = {"anna": 10, "bert": 20}
NETS = {"anna": 1, "bert": 2, "server": 9}
MAC = "02:00:00:00:0{}:0{}"
CORE = {True: 100, False: 30}  # Mbit/s of the core: with VLAN interfaces; that trunk.py keeps up with
USED = 0.85        # of it, at least
SHARE = 2 / 3      # bert's, by budget
OFF = 0.05         # by at most so much of it
SECONDS = 6


def addresses(host, end):
    return [f"10.20.{NETS[host]}.{end}", f"fd00:20:{NETS[host]}::{end}"]


def give(host):
    lengths = zip(addresses(host, 2), (24, 64))
    world.give_to_host(host, "eth0", MAC.format(NETS[host], 2), [f"{a}/{n}" for a, n in lengths], addresses(host, 1))


def build():
    """The program that tags the frames; None: the kernel does."""
    # A namespace for each router: DPDK may give the packet sockets of two processes the same fanout group.
    world.add_namespaces("trunk", "west", "east", *NETS)
    world.add_veth(("trunk", "eth0"), ("west", "tp-trunk"))
    world.add_veth(("server", "eth0"), ("east", "tp-server"))
    world.give_to_router("west", "tp-trunk")
    world.give_to_router("east", "tp-server")
    world.give_to_router("trunk", "eth0")
    said = world.sh("ip", "link", "add", "link", "eth0", "name", "probe", "type", "vlan", "id", 99, namespace="trunk",
                    check=False)
    by_kernel = said == ""
    for host, vid in VLANS.items():
        if by_kernel:
            world.sh("ip", "link", "add", "link", "eth0", "name", host, "type", "vlan", "id", vid, namespace="trunk")
            world.sh("ip", "link", "set", host, "netns", host, "name", "eth0", namespace="trunk")
        else:
            world.add_veth((host, "eth0"), ("trunk", host))
            world.give_to_router("trunk", host)
        give(host)
    give("server")
    if by_kernel:
        return None
    ports = [f"{vid}={host}" for host, vid in VLANS.items()]
    return world.Program(sys.executable, TRUNK, "switch", "eth0", *ports, namespace="trunk")


def start(tap, program, mbps):
    path = pathlib.Path("/run/vlans.yaml")
    path.write_text(CONFIG.read_text().replace("rate: 100 Mbps", f"rate: {mbps} Mbps"))
    routers = {node: gate.run_router(program, path, node, node) for node in ("west", "east")}
    ready = world.until(lambda: all(world.answers(host, address) for host in ("anna", "bert")
                                    for address in SERVER.values()), 30)
    tap.check("customers in two VLANs reach the server through the tunnels, IPv4 and IPv6", ready,
              *(r.output()[-2000:] for r in routers.values()))
    return routers


def shown(program, what):
    done = subprocess.run([tool(program), "show", what, "--json", "--router", "west"], capture_output=True, text=True,
                          timeout=30, check=False)
    return json.loads(done.stdout)[what]


def drops(program, reason):
    """At west's first link on the trunk, which has the frames of no link."""
    return sum(row["packets"] for row in shown(program, "drops") if (row["reason"], row["link"]) == (reason, "anna-west"))


def received(host):
    said = world.sh("ip", "-s", "-j", "link", "show", "eth0", namespace=host)
    return json.loads(said)[0]["stats64"]["rx"]["packets"]


def ones_sum(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total > 0xffff:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def echo_request(source, net):
    """A ping of the server, in a frame from the host of a network to west."""
    icmp = bytearray(struct.pack("!BBHHH", 8, 0, 0, 7, 7) + bytes(56))
    struct.pack_into("!H", icmp, 2, ones_sum(icmp))
    ends = [bytes(map(int, address.split("."))) for address in (source, SERVER[4])]
    ip = bytearray(struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(icmp), 7, 0, 64, 1, 0, *ends))
    struct.pack_into("!H", ip, 10, ones_sum(ip))
    macs = bytes.fromhex((MAC.format(net, 1) + MAC.format(net, 2)).replace(":", ""))
    return macs + b"\x08\x00" + bytes(ip) + bytes(icmp)


def ask(source, net, *tags):
    """Control fields of the tags of the answers to a ping with these tags."""
    said = world.sh(sys.executable, TRUNK, "ask", "eth0", echo_request(source, net).hex(), *tags, namespace="trunk")
    return said.split()


def replies(tap, program):
    for host in ("anna", "bert"):
        near = [world.answers(host, address) for address in addresses(host, 1)]
        tap.check(f"the gateway itself answers {host} in the VLAN", all(near), near)
    carried = {row["customer"]: row["packets"] for row in shown(program, "tunnels")}
    tap.check("each VLAN is a customer with tunnels", carried.get("anna", 0) > 0 and carried.get("bert", 0) > 0, carried)
    before = received("bert")
    said = world.sh("ping", "-n", "-c", "20", "-l", "20", "-i", "10", SERVER[4], namespace="anna", check=False)
    tap.check("anna's answers come to her VLAN alone", " 0% packet loss" in said and received("bert") - before < 5, said,
              received("bert") - before)
    said = world.sh("ping", "-n", "-c", "2", "-M", "do", "-s", "1472", SERVER[4], namespace="anna", check=False)
    tap.check("packets of 1500 B fit beside the tag", " 0% packet loss" in said, said)
    for name, control in (("no priority", "a"), ("PCP 5", "a00a"), ("DEI", "100a")):
        answers = ask("10.20.1.2", 1, f"8100:{control}")
        tap.check(f"a frame with {name} in VLAN 10 has its answer there, with PCP 0", answers == ["10"], answers)


def others(tap, program):
    """Frames that no customer's VLAN has."""
    for name, reason, source, net, tags in (
            ("in a VLAN of no link", "unknown_vlan", "10.20.1.2", 1, ["8100:1e"]),
            ("without a tag", "unknown_vlan", "10.20.1.2", 1, []),
            ("with a priority alone", "unknown_vlan", "10.20.1.2", 1, ["8100:e000"]),
            ("with two tags", "unknown_ethertype", "10.20.1.2", 1, ["8100:a", "8100:14"]),
            ("with a service tag", "unknown_ethertype", "10.20.1.2", 1, ["88a8:a", "8100:a"]),
            ("from bert's address in anna's VLAN", "source_check", "10.20.2.2", 1, ["8100:a"])):
        before = drops(program, reason)
        answers = ask(source, net, *tags)
        counted = drops(program, reason) - before
        tap.check(f"a frame {name}: no answer, and {reason} counts it", not answers and counted == 1, answers, counted)
    tap.check("the customers go on", all(world.answers(host, SERVER[4]) for host in ("anna", "bert")))


def shares(program, mbps):
    """(0 if the customers share by budget, what they send into their tunnels, Mbit/s)."""
    loads = [cases.Transfer("anna", "server", SERVER[4], SECONDS, 8),
             cases.Transfer("bert", "server", SERVER[4], SECONDS, 1, port=5301)]
    time.sleep(1.5)
    now = rates_now(program, 3000)
    for load in loads:
        load.finish()
    rates = [now[host] / 1e6 for host in VLANS]
    return 0 if sum(rates) >= USED * mbps and abs(rates[1] / sum(rates) / SHARE - 1) <= OFF else 1, rates


def bulk(tap, program, mbps):
    (wrong, rates), machine, disturbed = undisturbed("shares of two VLANs", lambda: shares(program, mbps))
    said = f"TCP of two VLANs shares {mbps} Mbit/s by budget, 1 to 2: {rates[0]:.1f} and {rates[1]:.1f} Mbit/s"
    if wrong and disturbed:
        tap.skip(said, machine)
    else:
        tap.check(said, not wrong, machine, shown(program, "tunnels"))


def main():
    tap = gate.enter("ping", "iperf3")
    switch = build()
    program, mbps = sys.argv[1], CORE[switch is None]
    routers = start(tap, program, mbps)
    if all(router.process.poll() is None for router in routers.values()):
        replies(tap, program)
        others(tap, program)
        bulk(tap, program, mbps)
    for node, router in routers.items():
        gate.stop_router(tap, router, node)
    if switch is not None:
        switch.process.kill()
    tap.finish()


if __name__ == "__main__":
    main()
