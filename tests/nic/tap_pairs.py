# SPDX-License-Identifier: BSD-3-Clause
# The NICs' pairs outside QEMU: a tap interface for each NIC, and a bridge for each pair. Only tap interfaces give an
# emulated NIC several queues. Needs a network namespace of its own.
import fcntl
import os
import struct
import subprocess

from segment import Segment

TUNSETIFF, IFF_TAP, IFF_NO_PI = 0x400454CA, 0x0002, 0x1000
MTU = 9000


def ip(*arguments):
    subprocess.run(["ip", *map(str, arguments)], check=True, capture_output=True, text=True)


def station(name):
    """A tap interface of this process: (read, write)."""
    tun = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH", name.encode(), IFF_TAP | IFF_NO_PI))
    return lambda: os.read(tun, 70000), lambda frame: os.write(tun, frame)


class TapPairs:
    @staticmethod
    def interface(n):
        return f"nic{n}"

    def join(self):
        """Joins the interfaces, which QEMU has made; returns a station's segment for each pair."""
        segments = []
        for pair in range(2):
            read, write = station(f"station{pair}")
            # Without ageing the bridge learns nothing and is a hub.
            ip("link", "add", f"wire{pair}", "type", "bridge", "ageing_time", 0, "mcast_snooping", 0)
            members = [self.interface(2 * pair), self.interface(2 * pair + 1), f"station{pair}"]
            for name in [f"wire{pair}", *members]:
                with open(f"/proc/sys/net/ipv6/conf/{name}/disable_ipv6", "w") as quiet:
                    quiet.write("1")
            for name in members:
                ip("link", "set", name, "mtu", MTU, "master", f"wire{pair}", "up")
            ip("link", "set", f"wire{pair}", "up")
            segments.append(Segment(read, write))
        return segments
