#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# The left kernel reaches the router through a tap interface that DPDK makes (net_tap).
# Usage: tap_test.py ROUTER
import pathlib
import sys

import cases
import gate
import world

TAP = "tp-left"


def main():
    tap = gate.enter("ping", "iperf3")
    if not pathlib.Path("/dev/net/tun").exists():
        tap.skip("tap", "no /dev/net/tun")
        tap.finish()
    world.add_namespaces("left", "gate", "right")
    gate.build_kernel("right")
    topology = gate.TOPOLOGY.replace("af_packet: left", f"tap: {TAP}")
    router = gate.start_router(tap, sys.argv[1], topology, adopt_tap)
    if router:
        for v in (4, 6):
            cases.ping(tap, f"ping the router through a tap, IPv{v}", "left", gate.NEAR[v])
            cases.ping(tap, f"ping through the router, IPv{v}", "left", gate.RIGHT[v], 63)
        cases.tcp(tap, "TCP through a tap", "left", "right", gate.RIGHT[4], 25, 50)
        gate.stop_router(tap, router)
    tap.finish()


def adopt_tap():
    """The new interface becomes the left kernel's, as a virtual machine's would."""
    world.sh("ip", "link", "set", TAP, "netns", "left", namespace="gate")
    world.give_to_host("left", TAP, gate.LEFT_MAC, gate.prefixed(gate.LEFT), gate.NEAR.values())


if __name__ == "__main__":
    main()
