#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# ping, traceroute and TCP between two kernels across the router, over af_packet on veth.
# Usage: forward_test.py ROUTER
import sys

import cases
import gate


def forwarding(tap):
    for v in (4, 6):
        near, far, right = gate.NEAR[v], gate.FAR[v], gate.RIGHT[v]
        cases.ping(tap, f"ping the router, IPv{v}", "left", near)
        cases.ping(tap, f"ping the router's far side, IPv{v}", "left", far)
        cases.ping(tap, f"ping through the router, one hop less, IPv{v}", "left", right, 63)
        cases.ping(tap, f"... in fragments, IPv{v}", "left", right, 63, ["-s", "4000"])
        cases.traceroute(tap, f"traceroute by UDP, IPv{v}", "left", right, [near, right], "-U")
        cases.traceroute(tap, f"traceroute by ICMP, IPv{v}", "left", right, [near, right], "-I")
        cases.traceroute(tap, f"traceroute back, IPv{v}", "right", gate.LEFT[v], [far, gate.LEFT[v]])
    cases.refused(tap, "time exceeded, IPv4", "left", gate.RIGHT[4], "Time to live exceeded", "-t", "1")
    cases.refused(tap, "time exceeded, IPv6", "left", gate.RIGHT[6], "Hop limit", "-t", "1")
    cases.refused(tap, "no route, IPv4", "left", "10.9.9.9", "Destination Net Unreachable")
    cases.refused(tap, "no route, IPv6", "left", "fd99::9", "No route")
    # 50 Mbit/s of IP datagrams carry at most 48.3 of TCP's payload; a starved machine carries less.
    cases.tcp(tap, "TCP over the shaped link, IPv4", "left", "right", gate.RIGHT[4], 25, 50)
    cases.tcp(tap, "TCP over the shaped link, IPv6", "left", "right", gate.RIGHT[6], 25, 50)
    cases.tcp(tap, "TCP over the fast link, IPv4", "right", "left", gate.LEFT[4], 40, 1000)


def main():
    tap = gate.enter("ping", "traceroute", "iperf3")
    gate.build_kernels()
    router = gate.start_router(tap, sys.argv[1], gate.TOPOLOGY)
    if router:
        forwarding(tap)
        gate.stop_router(tap, router)
    tap.finish()


if __name__ == "__main__":
    main()
