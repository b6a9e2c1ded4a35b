#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Frames with 802.1Q tags on a kernel interface, for kernels without VLAN interfaces and for frames that these do not send.
# Usage: trunk.py switch TRUNK VID=PORT...     forwards between the trunk, tagged, and the ports, untagged, for ever
#        trunk.py ask TRUNK REQUEST TAG...     sends a frame (hexadecimal) with these tags, TYPE:CONTROL in hexadecimal, the
#                                              outer first; prints the control field of each ICMP answer within a second
import select
import socket
import struct
import sys
import time

SOL_PACKET, PACKET_AUXDATA, PACKET_IGNORE_OUTGOING = 263, 8, 23
SO_RCVBUFFORCE = 33
VLAN_VALID = 1 << 4  # TP_STATUS_VLAN_VALID
BUFFER = 4 << 20
MACS = 12            # B before the EtherType


def opened(interface):
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    s.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
    s.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
    s.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, BUFFER)
    s.bind((interface, 0))
    s.setblocking(False)
    return s


def received(s):
    """(frame without the outer tag, its control field or None); None: no frame waits."""
    try:
        frame, extra, _, _ = s.recvmsg(2048, 64)
    except BlockingIOError:
        return None
    for level, kind, data in extra:
        if level == SOL_PACKET and kind == PACKET_AUXDATA:
            status, _, _, _, _, control, _ = struct.unpack_from("=IIIHHHH", data)
            return frame, control if status & VLAN_VALID else None
    return frame, None


def tagged(frame, kind, control):
    return frame[:MACS] + struct.pack("!HH", kind, control) + frame[MACS:]


def send(s, frame):
    try:
        s.send(frame)
    except OSError:  # as a switch whose queue is full
        pass


def switch(trunk, ports):
    """ports: VID -> socket."""
    vids = {port.fileno(): vid for vid, port in ports.items()}
    sockets = {s.fileno(): s for s in (trunk, *ports.values())}
    poll = select.epoll()
    for number in sockets:
        poll.register(number, select.EPOLLIN)
    while True:
        for number, _ in poll.poll():
            for _ in range(64):
                got = received(sockets[number])
                if got is None:
                    break
                frame, control = got
                if number in vids:
                    send(trunk, tagged(frame, 0x8100, vids[number]))
                elif control is not None and control & 0xfff in ports:
                    send(ports[control & 0xfff], frame)


def ask(trunk, request, tags):
    for kind, control in reversed(tags):
        request = tagged(request, kind, control)
    trunk.send(request)
    end = time.monotonic() + 1
    while time.monotonic() < end:
        select.select([trunk], [], [], 0.1)
        while (got := received(trunk)) is not None:
            frame, control = got
            ipv4 = frame[MACS:MACS + 2] == b"\x08\x00"
            if ipv4 and frame[23] == 1 and frame[34] == 0:  # ICMP, echo reply
                print("untagged" if control is None else control, flush=True)


def main():
    verb, trunk, *rest = sys.argv[1:]
    if verb == "switch":
        pairs = (pair.split("=") for pair in rest)
        switch(opened(trunk), {int(vid): opened(port) for vid, port in pairs})
    else:
        tags = [tuple(int(field, 16) for field in tag.split(":")) for tag in rest[1:]]
        ask(opened(trunk), bytes.fromhex(rest[0]), tags)


if __name__ == "__main__":
    main()
