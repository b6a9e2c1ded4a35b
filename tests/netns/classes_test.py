#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# A kernel's TCP and paying flows share a link as its classes say: configs/evolution/kernel-tcp.yaml as it is, with
# three routers, one of them on two lcores. Real TCP gets the share that its class is guaranteed and no more, the paying
# flows the rest; alone they get the link. Usage: classes_test.py ROUTER SENDER
import sys
import time

import gate
import world
from shared_test import paid_rates

sys.path[:0] = [str(world.ROOT / "tests")]
from cases import Transfer  # noqa: E402
from undisturbed import undisturbed  # noqa: E402

CONFIG = world.ROOT / "configs" / "evolution" / "kernel-tcp.yaml"
LINK, SHARE = 100, 0.4  # Mbit/s of the link, and the part that the file guarantees to TCP
WITHIN = 0.05           # of either share, beside what the machine did to the run
SECONDS, ALONE_S, SETTLE_S = 12, 4, 1.5
SEGMENT, DATAGRAM = 1448, 1500  # B


def build():
    """left - west - gate = east - right, all of the routers' ends in the namespace `gate`."""
    world.add_namespaces("left", "gate", "right")
    for host, net in (("left", 1), ("right", 2)):
        world.add_veth((host, "eth0"), ("gate", f"tp-{host}"))
        world.give_to_router("gate", f"tp-{host}")
        world.give_to_host(host, "eth0", f"02:00:00:00:0{net}:02", [f"10.10.{net}.2/24"], [f"10.10.{net}.1"])


def play(tap, router_program, sender):
    """(0 if every rate is right, the rates) of one run; rates are of datagrams, Mbit/s."""
    routers = {node: gate.run_router(router_program, CONFIG, node) for node in ("west", "gate", "east")}
    ready = world.until(lambda: world.answers("left", "10.10.2.2"), 20)
    tap.check("three routers forward", ready, *(r.output()[-2000:] for r in routers.values()))
    rates = 0.0, 0.0, 0.0
    if ready:
        paying = world.Program(sender, CONFIG, "--duration", f"{SECONDS}s", "--out", "/run/results", "--live", "off",
                               namespace="gate")
        started = time.monotonic()
        time.sleep(ALONE_S)
        begin = time.monotonic() - started
        seconds = SECONDS - ALONE_S - 2
        transfer = Transfer("left", "right", "10.10.2.2", seconds, streams=4)
        payload, said = transfer.finish()
        code = paying.wait(SECONDS + 30)
        tap.check("the sender ends by itself, exit code 0", code == 0, code, said, paying.output()[-3000:])
        alone, beside = paid_rates("/run/results/rates.csv",
                                   [(SETTLE_S, ALONE_S - 0.5), (begin + SETTLE_S, begin + seconds - 0.5)])
        rates = payload * DATAGRAM / SEGMENT, alone, beside
    for node, router in routers.items():
        gate.stop_router(tap, router, node)
    return 0 if all(right(rates)) else 1, rates


def right(rates):
    tcp, alone, beside = rates
    near = lambda rate, wanted: abs(rate - wanted) <= WITHIN * wanted  # noqa: E731
    return near(tcp, SHARE * LINK), near(alone, LINK), near(beside, (1 - SHARE) * LINK)


def main():
    router_program, sender = sys.argv[1:3]
    tap = gate.enter("ping", "iperf3")
    build()
    (_, rates), machine, disturbed = undisturbed("TCP in its class", lambda: play(tap, router_program, sender))
    said = ("TCP got {:.1f} Mbit/s of its guaranteed " + f"{SHARE * LINK:.0f}", "paying flows got {:.1f} Mbit/s alone",
            "... and {:.1f} Mbit/s beside TCP")
    for text, rate, is_right in zip(said, rates, right(rates)):
        if disturbed and not is_right:
            tap.skip(text.format(rate), machine)
        else:
            tap.check(text.format(rate), is_right, machine)
    tap.finish()


if __name__ == "__main__":
    main()
