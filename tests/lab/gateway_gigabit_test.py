#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Two gateways in the lab with a bottleneck of 1 Gbps, tunnels over IPv4 and over IPv6: goodput, shares of customers by
# budget whatever their numbers of connections, latency beside bulk. On two CPUs three kernels and three routers cannot
# carry so much (docs/gateway.md).
# Usage: gateway_gigabit_test.py TURNPIKE
import re
import sys
import tempfile

import gateway_test as sites
from tap import Tap

RATE = 1000         # Mbps
GOODPUT = 0.97      # of the most that headers leave
SEGMENT, DATAGRAM = 1444, 1500  # B of payload in a full datagram of the lab's TCP (docs/wire-format.md)
HEADERS = {4: 84, 6: 104}       # B of a tunnel's packet


def topology(version):
    text = sites.FILE.read_text()
    for before, after in (("rate: 1 Gbps", "rate: 10 Gbps"), ("rate: 100 Mbps", f"rate: {RATE} Mbps"),
                          ("buffer: 1 MB", "buffer: 10 MB"), ("duration: 12 s", "duration: 5 s"),
                          ("alone: { from: 2 s, to: 4 s }, all: { from: 7 s }", "all: { from: 3 s }"),
                          ("start: 4 s", "start: 1 s"), ("start: 5 s", "start: 2 s")):
        text = text.replace(before, after)
    return re.sub(r"(peers: \{ \w+: \{)\}", rf"\1 ip_version: {version} }}", text)


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        for version in (4, 6):
            found, said = sites.play(sys.argv[1], folder, topology(version))
            what = f"1 Gbps over IPv{version}"
            if not tap.check(f"{what}: plays", found is not None, said):
                continue
            sites.shares(tap, what, found)
            most = RATE * SEGMENT / (DATAGRAM + HEADERS[version])
            got = sum(sites.rates(found, "all")[name] for name in ("anna", "bert", "carla"))
            tap.check(f"{what}: goodput {got:.0f} Mbit/s, {got / most:.1%} of the most",
                      GOODPUT <= got / most <= 1, got, most)
    tap.finish()


if __name__ == "__main__":
    main()
