# SPDX-License-Identifier: BSD-3-Clause
# Ethernet frames as bytes: ARP, neighbour discovery, and ICMP echo over IPv4 and IPv6.
import ipaddress
import struct
from typing import NamedTuple, Optional

ARP, IPV4, IPV6, VLAN = 0x0806, 0x0800, 0x86DD, 0x8100
ICMP, ICMPV6 = 1, 58
ECHO_REQUEST = {4: 8, 6: 128}
ECHO_REPLY = {4: 0, 6: 129}


def mac_bytes(text):
    return bytes.fromhex(text.replace(":", ""))


def checksum(data):
    """RFC 1071."""
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def ethernet(destination, source, kind, payload, vlan=None):
    tag = b"" if vlan is None else struct.pack("!HH", VLAN, vlan)
    return mac_bytes(destination) + mac_bytes(source) + tag + struct.pack("!H", kind) + payload


class Echo(NamedTuple):
    """An ICMP echo request or reply."""
    source: str
    destination: str
    data: bytes = b"turnpike"
    kind: str = "request"
    identifier: int = 1
    sequence: int = 1
    ttl: int = 64
    may_fragment: bool = False

    @property
    def version(self):
        return ipaddress.ip_address(self.source).version

    def datagram(self):
        v = self.version
        kind = (ECHO_REQUEST if self.kind == "request" else ECHO_REPLY)[v]
        source, destination = (ipaddress.ip_address(a).packed for a in (self.source, self.destination))
        body = struct.pack("!HH", self.identifier, self.sequence) + self.data
        if v == 4:
            message = struct.pack("!BBH", kind, 0, checksum(struct.pack("!BBH", kind, 0, 0) + body)) + body
            flags = 0 if self.may_fragment else 0x4000
            header = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(message), self.identifier, flags, self.ttl, ICMP, 0)
            header += source + destination
            return header[:10] + struct.pack("!H", checksum(header)) + header[12:] + message
        pseudo = source + destination + struct.pack("!II", 4 + len(body), ICMPV6)
        value = checksum(pseudo + struct.pack("!BBH", kind, 0, 0) + body)
        message = struct.pack("!BBH", kind, 0, value) + body
        return struct.pack("!IHBB", 6 << 28, len(message), ICMPV6, self.ttl) + source + destination + message

    def frame(self, destination_mac, source_mac, vlan=None):
        return ethernet(destination_mac, source_mac, IPV4 if self.version == 4 else IPV6, self.datagram(), vlan)


class Packet(NamedTuple):
    """A received frame, as far as the tests look at it. `icmp`: (type, code)."""
    vlan: Optional[int]
    kind: int
    source: str = ""
    destination: str = ""
    ttl: int = 0
    length: int = 0  # of the IP datagram, B
    fragment: bool = False
    icmp: tuple = ()
    mtu: int = 0  # that "fragmentation needed" or "packet too big" reports
    data: bytes = b""  # of an echo


def parse(frame):
    """The packet in a frame; None for a frame that ends early."""
    try:
        kind, at, vlan = struct.unpack_from("!H", frame, 12)[0], 14, None
        if kind == VLAN:
            vlan, kind = struct.unpack_from("!HH", frame, 14)
            at = 18
        if kind == IPV4:
            return parse_ipv4(frame[at:], vlan)
        if kind == IPV6:
            return parse_ipv6(frame[at:], vlan)
        return Packet(vlan, kind)
    except struct.error:
        return None


def parse_ipv4(ip, vlan):
    header = (ip[0] & 15) * 4
    length, _, flags, ttl, protocol = struct.unpack_from("!HHHBB", ip, 2)
    packet = Packet(vlan, IPV4, str(ipaddress.ip_address(ip[12:16])), str(ipaddress.ip_address(ip[16:20])), ttl, length,
                    fragment=flags & 0x3FFF != 0)
    return with_icmp(packet, ip[header:length]) if protocol == ICMP and flags & 0x1FFF == 0 else packet


def parse_ipv6(ip, vlan):
    length, following, ttl = struct.unpack_from("!HBB", ip, 4)
    packet = Packet(vlan, IPV6, str(ipaddress.ip_address(ip[8:24])), str(ipaddress.ip_address(ip[24:40])), ttl,
                    40 + length)
    return with_icmp(packet, ip[40:40 + length]) if following == ICMPV6 else packet


def with_icmp(packet, message):
    kind, code, _, _, word = struct.unpack_from("!BBHHH", message)
    mtu = word if packet.kind == IPV4 and kind == 3 else 0
    if packet.kind == IPV6 and kind == 2:
        mtu = struct.unpack_from("!I", message, 4)[0]
    return packet._replace(icmp=(kind, code), mtu=mtu, data=message[8:])
