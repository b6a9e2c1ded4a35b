#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# configs/netns.yaml as it is: a real host's TCP and paying flows cross two routers and share the priced link between
# them, here a veth, so that it can be captured.
# Usage: shared_test.py ROUTER SENDER
import csv
import pathlib
import sys

import cases
import gate
import world

sys.path[:0] = [str(world.ROOT / "tests" / "dissector"), str(world.ROOT / "tests")]
import capture  # noqa: E402
from undisturbed import undisturbed  # noqa: E402

CONFIG = world.ROOT / "configs" / "netns.yaml"
ON_VETH = "emulate_delay: true\n    attach: { west: { af_packet: tp-west }, east: { af_packet: tp-east } }"
LINK = 100     # Mbit/s
SECONDS = 10   # of paying flows; TCP runs within them
TCP_SECONDS = 5


def build():
    """left - west = east - right, all of the routers' ends in the namespace `gate`."""
    world.add_namespaces("left", "gate", "right")
    for host, net in (("left", 1), ("right", 2)):
        world.add_veth((host, "eth0"), ("gate", f"tp-{host}"))
        world.give_to_router("gate", f"tp-{host}")
        world.give_to_host(host, "eth0", f"02:00:00:00:0{net}:02",
                           [f"10.10.{net}.2/24", f"fd00:10:{net}::2/64"],
                           [f"10.10.{net}.1", f"fd00:10:{net}::1"])
    world.add_veth(("gate", "tp-west"), ("gate", "tp-east"))
    for end in ("tp-west", "tp-east"):
        world.give_to_router("gate", end)
    shared = CONFIG.read_text().rpartition("attach: memif")
    topology = pathlib.Path("/run/netns.yaml")
    topology.write_text(shared[0] + ON_VETH + shared[2])
    return topology


def share(tap, topology, sender, captured):
    """Runs the paying flows and TCP beside them: Mbit/s of TCP, and of the flows beside it and after it."""
    # A packet socket's own packets bypass captures, so each end captures the other end's packets.
    wire = world.Program("dumpcap", "-q", "-f", "udp port 4747", "-i", "tp-west", "-i", "tp-east",
                         "-c", "10000", "-w", captured, namespace="gate")
    paying = world.Program(sender, topology, "--duration", f"{SECONDS}s", "--out", "/run/results",
                           "--live", "off", namespace="gate")
    world.until(lambda: False, 2)
    rate, said = cases.Transfer("left", "right", "10.10.2.2", TCP_SECONDS).finish()
    code = paying.wait(SECONDS + 30)
    wire.stop()
    tap.check("the sender ends by itself, exit code 0", code == 0, code, said, paying.output()[-3000:])
    return rate, *paid_rates("/run/results/rates.csv", [(4, 6), (SECONDS - 1.5, SECONDS)])


def play(tap, router_program, topology, sender):
    """(0 if TCP and the flows had their shares of the link, the rates of share()) of one run."""
    routers = {node: gate.run_router(router_program, topology, node) for node in ("west", "east")}
    ready = world.until(lambda: all(world.answers("left", a) for a in ("10.10.2.2", "fd00:10:2::2")), 20)
    tap.check("two routers forward", ready, *(r.output()[-2000:] for r in routers.values()))
    rates = 0, 0, 0
    if ready:
        captured = pathlib.Path("/run/shared.pcapng")
        rates = share(tap, topology, sender, captured)
        capture.check(tap, capture.read(captured))
    for node, router in routers.items():
        gate.stop_router(tap, router, node)
    return 0 if all(right(rates)) else 1, rates


def right(rates):
    tcp, beside, after = rates
    # FCP yields: TCP pays no price and never stops increasing.
    return 0.2 * LINK <= tcp <= LINK, beside > 0.1, 0.8 * LINK <= after <= LINK


def paid_rates(path, intervals):
    """Mean Mbit/s of all paying flows together in each interval."""
    with open(path) as file:
        rows = [row for row in csv.DictReader(file) if row["flow"]]
    for start, end in intervals:
        inside = [row for row in rows if start <= float(row["t"]) < end]
        samples = len({row["t"] for row in inside})
        yield sum(float(row["rate_mbps"]) for row in inside) / max(samples, 1)


def main():
    router_program, sender = sys.argv[1:3]
    tap = gate.enter("ping", "traceroute", "iperf3", "dumpcap")
    topology = build()
    (_, rates), machine, disturbed = undisturbed(
        "TCP and paying flows", lambda: play(tap, router_program, topology, sender))
    if disturbed:
        tap.skip("rates of TCP and paying flows", machine)
    else:
        said = ("TCP got {:.1f} Mbit/s beside paying flows", "paying flows got {:.2f} Mbit/s beside TCP",
                "... and {:.1f} Mbit/s when it was gone")
        for text, rate, is_right in zip(said, rates, right(rates)):
            tap.check(text.format(rate), is_right, machine)
    tap.finish()


if __name__ == "__main__":
    main()
