#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Attacks on two gateways: packets of their tunnels captured on the core link, then replayed and forged; customers who
# spoof other customers' addresses, send tunnel packets of their own, or address the core. --lax switches the source
# check of the customers' links off, and so shows the attacks that it stops.
# Usage: gateway_attack_test.py [--lax] ROUTER
#
#   anna ----+
#            west ==core link, over a bridge where the attacker is== east ---- server
#   mallory -+
import ctypes
import os
import pathlib
import random
import socket
import struct
import sys
import time

import gate
import world

CORE = {"west": "10.20.0.1", "east": "10.20.0.2"}
HOSTS = {"anna": (1, "west"), "mallory": (3, "west"), "server": (9, "east")}
MAC = "02:00:00:00:0{}:0{}"
STATIONS = bytes.fromhex((MAC.format(3, 1) + MAC.format(3, 2)).replace(":", ""))  # from mallory to west
SERVER, PORT = "10.20.9.2", 7001
TURNPIKE = 42             # B before the Turnpike header: Ethernet 14, IPv4 20, UDP 8
LENGTH, FLOW, SEQUENCE, TOKEN = TURNPIKE + 3, TURNPIKE + 4, TURNPIKE + 8, TURNPIKE + 20
DATA = 3
SO_NO_CHECK = 11          # the inner datagrams have no checksum, so that forgeries of them are whole
MARK = "mark-{:08d}"      # in each inner datagram; the same length always


def topology(lax):
    check = ", source_check: off" if lax else ""
    links = "".join(f"""  {host}-{node}:
    {{ ends: [{host}, {node}], rate: 1 Gbps, addresses: {{ {node}: [10.20.{net}.1/24] }},
      macs: {{ {node}: "{MAC.format(net, 1)}" }}, attach: {{ {node}: {{ af_packet: tp-{host} }} }}{check} }}
""" for host, (net, node) in HOSTS.items())
    hosts = "".join(f"""  {host}: {{ external: true, addresses: [10.20.{net}.2/24], mac: "{MAC.format(net, 2)}" }}
""" for host, (net, _) in HOSTS.items())
    customers = "".join(f"  {host}: {{ prefix: 10.20.{net}.0/24, budget: 1 $/s }}\n"
                        for host, (net, _) in HOSTS.items())
    return f"""run: {{ duration: 1 h, output: out/attack }}
hosts:
{hosts}routers: {{ west: {{ lcores: 0 }}, east: {{ lcores: 1 }} }}
links:
{links}  core:
    {{ ends: [west, east], rate: 100 Mbps, buffer: 1 MB, law: fcp,
      addresses: {{ west: [{CORE["west"]}/24], east: [{CORE["east"]}/24] }},
      macs: {{ west: "{MAC.format(0, 1)}", east: "{MAC.format(0, 2)}" }},
      attach: {{ west: {{ af_packet: tp-core }}, east: {{ af_packet: tp-core }} }} }}
customers:
{customers}gateways:
  west: {{ core: core, peers: {{ east: {{}} }} }}
  east: {{ core: core, peers: {{ west: {{}} }} }}
"""


def build():
    world.add_namespaces(*HOSTS, "west", "east", "bridge")
    for host, (net, node) in HOSTS.items():
        world.add_veth((host, "eth0"), (node, f"tp-{host}"))
        world.give_to_router(node, f"tp-{host}")
        world.give_to_host(host, "eth0", MAC.format(net, 2), [f"10.20.{net}.2/24"], [f"10.20.{net}.1"])
    world.sh("ip", "link", "add", "br0", "type", "bridge", namespace="bridge")
    for node in CORE:
        world.add_veth(("bridge", node), (node, "tp-core"))
        world.give_to_router(node, "tp-core")
        world.sh("ip", "link", "set", node, "master", "br0", "up", namespace="bridge")
    world.sh("ip", "link", "set", "br0", "up", namespace="bridge")


def socket_in(namespace, *kind):
    """A socket of a namespace; it stays there."""
    libc = ctypes.CDLL(None, use_errno=True)
    with open("/proc/self/ns/net", encoding="ascii") as own, open(f"/run/netns/{namespace}", encoding="ascii") as other:
        if libc.setns(other.fileno(), 0) != 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        try:
            return socket.socket(*kind)
        finally:
            libc.setns(own.fileno(), 0)


def tap_on(namespace, interface):
    """A packet socket, for whole frames."""
    s = socket_in(namespace, socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    s.bind((interface, 0))
    s.setblocking(False)
    return s


def drain(s):
    found = []
    while True:
        try:
            found.append(s.recv(65536))
        except BlockingIOError:
            return found


def sum16(data):
    total = sum(struct.unpack(f">{(len(data) + 1) // 2}H", data + b"\0" * (len(data) % 2)))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return total


def summed(frame):
    """The frame with right checksums of IPv4 and UDP."""
    f = bytearray(frame)
    f[24:26] = f[40:42] = b"\0\0"
    f[24:26] = struct.pack(">H", 0xffff ^ sum16(bytes(f[14:34])))
    pseudo = bytes(f[26:34]) + struct.pack(">HH", 17, len(f) - 34)
    f[40:42] = struct.pack(">H", (0xffff ^ sum16(pseudo + bytes(f[34:]))) or 0xffff)
    return bytes(f)


class Attacker:
    """Between the gateways. Reads all, and sends frames that each gateway takes for those of the core link."""

    def __init__(self):
        self.core = tap_on("bridge", "west")
        self.to_east = tap_on("bridge", "east")
        self.anna = socket_in("anna", socket.AF_INET, socket.SOCK_DGRAM)
        self.anna.setsockopt(socket.SOL_SOCKET, SO_NO_CHECK, 1)
        self.server = socket_in("server", socket.AF_INET, socket.SOCK_DGRAM)
        self.server.bind((SERVER, PORT))
        self.server.setblocking(False)
        self.mallory = tap_on("mallory", "eth0")
        self.next = 0

    def mark(self):
        self.next += 1
        return MARK.format(self.next).encode()

    def send(self, count):
        """anna's datagrams, by her own socket; returns their marks."""
        marks = [self.mark() for _ in range(count)]
        for mark in marks:
            self.anna.sendto(mark, (SERVER, PORT))
            time.sleep(0.002)
        return marks

    def arrived(self, customer="anna"):
        """Marks that the server has received. Waits for a datagram that the customer sends now, since a slow machine
        would otherwise hide packets that pass."""
        last, found = self.mark(), []

        def passes():  # a forgery that passes takes the sequence number of a true packet, which is then lost
            if customer == "anna":
                self.anna.sendto(last, (SERVER, PORT))
            else:
                self.mallory.send(frame_of("10.20.3.2", SERVER, last, PORT))
            time.sleep(0.1)
            found.extend(drain(self.server))
            return last in found

        if not world.until(passes, 20):
            raise RuntimeError(f"none of {customer}'s own datagrams passes")
        time.sleep(0.2)  # for packets that have taken another way, and further copies of the last
        return [mark for mark in found + drain(self.server) if mark != last]

    def captured(self):
        """Tunnel packets with data from west that have passed, oldest first."""
        west = bytes.fromhex(MAC.format(0, 1).replace(":", ""))
        return [f for f in drain(self.core) if f[6:12] == west and f[12:14] == b"\x08\x00" and f[23] == 17
                and len(f) > LENGTH and f[TURNPIKE] & 15 == DATA and b"mark-" in f]

    def fresh(self):
        """A tunnel packet with one of anna's datagrams, captured just now."""
        self.captured()
        for _ in range(20):
            self.send(1)
            self.arrived()
            if found := self.captured():
                return found[-1]
        raise RuntimeError("no tunnel packet was captured")

    def forge(self, frame, ahead=1, **changes):
        """(the frame with another mark, a later sequence number and other bytes at places, its mark)"""
        mark = self.mark()
        f = bytearray(frame)
        at = f.index(b"mark-")
        f[at:at + len(mark)] = mark
        f[SEQUENCE:SEQUENCE + 4] = struct.pack(">I", struct.unpack_from(">I", f, SEQUENCE)[0] + ahead & 0xffffffff)
        for change in changes.values():
            change(f)
        return summed(bytes(f)), mark


def xor(at, value):
    def change(f):
        f[at] ^= value
    return change


def put(at, data):
    def change(f):
        f[at:at + len(data)] = data
    return change


def on_the_core(tap, a):
    marks = a.send(100)
    got = a.arrived()
    frames = a.captured()
    tap.check("anna's datagrams reach the server, once each", sorted(got) == marks, len(got))
    for frame in frames:
        a.to_east.send(frame)
    twice = a.arrived()
    tap.check(f"{len(frames)} replayed tunnel packets deliver nothing again", len(frames) > 0 and not twice, twice[:5])
    forgeries = {
        "another token": {"token": xor(TOKEN + 3, 1)},
        "no token": {"token": put(TOKEN, b"\0\0\0\0")},
        "another flow": {"flow": xor(FLOW + 3, 1)},
        "the address of no peer": {"source": put(26, socket.inet_aton("10.20.0.9"))},
        "a customer's address": {"source": put(26, socket.inet_aton("10.20.1.2"))},
        "a header of 0 B": {"length": put(LENGTH, b"\0")},
        "a header of 1020 B": {"length": put(LENGTH, b"\xff")},
    }
    for what, changes in forgeries.items():
        forged, mark = a.forge(a.fresh(), 1, **changes)
        a.to_east.send(forged)
        tap.check(f"a tunnel packet forged with {what} delivers nothing", mark not in a.arrived())
    draw = random.Random(1)
    frame = a.fresh()
    for _ in range(300):  # any length; checksums are right, so that the Turnpike header's own checks decide
        f = bytearray(frame[:draw.randint(TURNPIKE + 1, len(frame))])
        for _ in range(draw.randint(1, 4)):
            f[draw.randrange(TURNPIKE, len(f))] ^= draw.randint(1, 255)
        f[TOKEN:TOKEN + 4] = b"\0\0\0\0"[:max(len(f) - TOKEN, 0)]
        f[16:18], f[38:40] = struct.pack(">H", len(f) - 14), struct.pack(">H", len(f) - 34)
        a.to_east.send(summed(bytes(f)))
    a.arrived()
    marks = a.send(20)
    tap.check("after 300 damaged ones the tunnel carries packets as before", set(marks) <= set(a.arrived()))
    # Shows that the forgeries above are well-formed, and states the limit: without encryption, an attacker who
    # reads the core link has the token.
    forged, mark = a.forge(a.fresh())
    a.to_east.send(forged)
    tap.check("with the token of a captured packet a forgery passes (docs/gateway.md, Security)", mark in a.arrived())


def frame_of(source, destination, payload, port):
    """A UDP datagram in a frame from mallory to west."""
    f = STATIONS + b"\x08\x00"
    f += struct.pack(">BBHHHBBH", 0x45, 0, 28 + len(payload), 0, 0, 64, 17, 0)
    f += socket.inet_aton(source) + socket.inet_aton(destination)
    return summed(f + struct.pack(">HHHH", port, port, 8 + len(payload), 0) + payload)


def from_a_customer(tap, a):
    for what, source in (("another customer's", "10.20.1.2"), ("no customer's", "198.18.0.1"), ("the core's", CORE["west"])):
        mark = a.mark()
        a.mallory.send(frame_of(source, SERVER, mark, PORT))
        tap.check(f"a customer's packet from {what} address passes nowhere", mark not in a.arrived("mallory"))
    # The customer has a true token here, which is worse than reality.
    forged, mark = a.forge(a.fresh())
    a.mallory.send(STATIONS + forged[12:])
    tap.check("a tunnel packet from a customer, with a true token and the gateway's address, delivers nothing",
              mark not in a.arrived("mallory"))


def control_plane(a):
    """{what of the core a customer reaches: whether}"""
    drain(a.core)
    found = {f"{node}'s core address answers": world.answers("mallory", address) for node, address in CORE.items()}
    forged, mark = a.forge(a.fresh(), source=put(26, socket.inet_aton("10.20.3.2")))
    a.mallory.send(STATIONS + forged[12:])
    time.sleep(0.5)
    found["tunnel packets cross the core link to east"] = any(mark in frame for frame in drain(a.core))
    return found


def main():
    lax = sys.argv[1] == "--lax"
    program = str(pathlib.Path(sys.argv[1 + lax]).resolve())
    tap = gate.enter("ping")
    build()
    path = pathlib.Path("/run/attack.yaml")
    path.write_text(topology(lax))
    routers = {node: gate.run_router(program, path, node, node) for node in CORE}
    ready = world.until(lambda: all(world.answers(host, SERVER) for host in ("anna", "mallory")), 60)
    if tap.check("two customers reach the server", ready, *(r.output()[-2000:] for r in routers.values())):
        attacker = Attacker()
        on_the_core(tap, attacker)
        from_a_customer(tap, attacker)
        for what, reached in control_plane(attacker).items():
            tap.check(f"a customer and the core: not so: {what}", not reached)
    for node, router in routers.items():
        gate.stop_router(tap, router, node)
    tap.finish()


if __name__ == "__main__":
    main()
