#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# A link with a smaller MTU behind the router: fragments where allowed, ICMP errors where not.
# Usage: mtu_test.py ROUTER
import sys

import cases
import gate
from world import sh

MTU = 1300
BIG4 = ["-s", "1372"]  # 1400 B datagrams
BIG6 = ["-s", "1352"]


def ping_cases(tap):
    before = cases.reassembled("right")
    cases.ping(tap, "a big ping that may be fragmented is answered", "left", gate.RIGHT[4], 63,
               ["-M", "dont", *BIG4])
    tap.check("... and reached the host in fragments", cases.reassembled("right") >= before + 5)
    cases.refused(tap, "a big ping with DF learns the MTU", "left", gate.RIGHT[4],
                  f"Frag needed and DF set (mtu = {MTU})", "-M", "do", *BIG4)
    cases.refused(tap, "a big IPv6 ping learns the MTU", "left", gate.RIGHT[6],
                  f"Packet too big: mtu={MTU}", "-M", "do", *BIG6)
    cases.ping(tap, "... and then its fragments pass", "left", gate.RIGHT[6], 63, BIG6)


def tcp_cases(tap):
    """The right end announces 1500, so only the router's errors can inform the sender."""
    sh("ip", "link", "set", "eth0", "mtu", "1500", namespace="right")
    for v in (4, 6):
        sh("ip", f"-{v}", "route", "flush", "cache", namespace="left")
        cases.tcp(tap, f"TCP finds the path's MTU, IPv{v}", "left", "right", gate.RIGHT[v], cases.BESIDE_OTHERS,
                  50)
        route = sh("ip", f"-{v}", "route", "get", gate.RIGHT[v], namespace="left")
        tap.check(f"... and the sender knows it, IPv{v}", f"mtu {MTU}" in route, route)


def main():
    tap = gate.enter("ping", "iperf3")
    gate.build_kernels()
    sh("ip", "link", "set", "eth0", "mtu", MTU, namespace="right")
    topology = gate.TOPOLOGY.replace("rate: 50 Mbps", f"rate: 50 Mbps\n    mtu: {MTU}")
    router = gate.start_router(tap, sys.argv[1], topology)
    if router:
        ping_cases(tap)
        tcp_cases(tap)
        gate.stop_router(tap, router)
    tap.finish()


if __name__ == "__main__":
    main()
