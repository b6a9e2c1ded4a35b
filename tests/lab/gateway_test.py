#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Gateways in the lab: configs/gateway/two-sites.yaml as it is, over IPv6, encrypted, without tunnels, and under attack.
# --attacks plays further attacks instead: 10,000 connections, and floods from spoofed addresses.
# Usage: gateway_test.py [--attacks] TURNPIKE
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests")]
from tap import Tap  # noqa: E402

FILE = ROOT / "configs" / "gateway" / "two-sites.yaml"
PATH_MS = 9.4    # propagation from a customer to the server
LATENCY_MS = 5   # beyond the idle path's
CEILING = 10     # Mbps
SHARE = 0.05     # how far a share may lie off
USED = 0.99      # of the bottleneck, at least
KEY = "0123456789abcdef" * 4
FLOOD = ("    flood: { from: bert, to: server, rate: { l2: 990 Mbps }, frames: { sizes: 1400 B }, flows: 16, "
         "start: 1 s }\n")
BULK = "    bert: { from: bert, to: server, protocol: tcp, count: 64, start: 1 s }\n"
# Beyond 16384 flows a stream's addresses are no customer's: about one packet in sixty is from bert's own.
SPOOFED = FLOOD.replace("flows: 16,", "flows: 1000000,")


def play(turnpike, folder, text):
    file = pathlib.Path(folder) / "file.yaml"
    file.write_text(text)
    (file.parent / "keys").write_text("".join(f"{peer} {KEY}\n" for peer in ("west", "east")))
    done = subprocess.run([turnpike, "lab", file, "--out", pathlib.Path(folder) / "out", "--json"],
                          capture_output=True, text=True, timeout=300, check=False)
    return (json.loads(done.stdout) if done.returncode == 0 else None), done.stderr


def rates(found, span):
    """Mbit/s of each host."""
    return {name: host["goodput_mbps"] for name, host in found["measure"][span]["hosts"].items()}


def used(found, span):
    return found["measure"][span]["links"]["bottleneck"]["utilization"]


def p99(found, stream):
    return found["streams"][stream]["latency_us"]["p99"] * 1e-3


def near(value, wanted):
    return wanted > 0 and abs(value - wanted) <= SHARE * wanted


def shares(tap, what, found):
    got = rates(found, "all")
    whole = got["anna"] + got["bert"] + got["carla"]
    text = ", ".join(f"{name} {got[name]:.1f}" for name in ("anna", "bert", "carla"))
    tap.check(f"{what}: shares by budget whatever the number of connections: {text} Mbit/s",
              near(got["anna"], whole / 4) and near(got["bert"], whole / 4) and near(got["carla"], whole / 2), got)
    tap.check(f"{what}: the bottleneck is used {used(found, 'all'):.1%}", used(found, "all") >= USED)
    for name in ("ping-anna", "ping-bert"):
        late = p99(found, name) - PATH_MS
        tap.check(f"{what}: p99 of {name} beside bulk is {late:.2f} ms above the path's", late <= LATENCY_MS)
    lost = sum(s["lost_packets"] for s in found["streams"].values())
    strange = sum(s["reordered_packets"] + s["duplicate_packets"] for s in found["streams"].values())
    tap.check(f"{what}: none of the pings is lost, reordered or doubled", lost == 0 and strange == 0, lost, strange)


def attack(tap, before, found, what="a flood of UDP"):
    """bert attacks instead: by default he sends UDP at ten times the link's rate."""
    was, got = rates(before, "all"), rates(found, "all")
    for name in ("anna", "carla"):
        tap.check(f"beside {what} {name} keeps {got[name] / was[name]:.1%} of its share",
                  got[name] >= 0.99 * was[name], was, got)
    late = p99(found, "ping-anna") - p99(before, "ping-anna")
    tap.check(f"... and p99 of anna's ping changes by {late:.2f} ms", late <= 1)


def attacks(tap, turnpike, text):
    """Attacks that take longer, or need a customer who is known by address."""
    by_address = (text.replace("bert: { budget: 1 $/s }", "bert: { budget: 1 $/s, addresses: [10.9.2.2/24] }", 1)
                  .replace("bert: { link: bert-west,", "bert: { prefix: 10.9.2.0/24,"))
    variants = {"10,000 connections": text.replace("count: 64", "count: 10000"),
                "spoofed addresses": by_address.replace(BULK, "") + SPOOFED}
    with tempfile.TemporaryDirectory() as folder:
        before, said = play(turnpike, folder, text)
        if not tap.check("without an attack: plays", before is not None, said):
            return
        for what, variant in variants.items():
            found, said = play(turnpike, folder, variant)
            if tap.check(f"{what}: plays", found is not None, said):
                attack(tap, before, found, what)


def ceiling(tap, found):
    """anna may have CEILING with headers; the others share the rest by budget."""
    got, payload = rates(found, "all"), 1400 / 1600  # at least, of a tunnel's full packet
    tap.check(f"anna's ceiling of {CEILING} Mbps: {got['anna']:.1f} Mbit/s", 0.9 * payload * CEILING <= got["anna"] <= CEILING)
    tap.check(f"... the bottleneck is used {used(found, 'all'):.1%}", used(found, "all") >= USED)
    tap.check(f"... bert and carla share the rest: {got['bert']:.1f}, {got['carla']:.1f} Mbit/s",
              near(got["bert"], got["carla"] / 2) and got["bert"] + got["carla"] >= 0.97 * payload * (100 - CEILING), got)


def main():
    turnpike = sys.argv[-1]
    tap = Tap()
    text = FILE.read_text()
    if "--attacks" in sys.argv:
        attacks(tap, turnpike, text)
        tap.finish()
    variants = {
        "tunnels": text,
        "over IPv6": text.replace("peers: { east: {} }", "peers: { east: { ip_version: 6 } }")
                         .replace("peers: { west: {} }", "peers: { west: { ip_version: 6 } }"),
        "encrypted": text.replace("peers: { east: {} }", "peers: { east: {} }, security: { key_file: keys }")
                         .replace("peers: { west: {} }", "peers: { west: {} }, security: { key_file: keys }"),
        "flood": text.replace(BULK, "") + FLOOD,
        "ceiling": text.replace("anna-west, budget: 1 $/s }", f"anna-west, budget: 1 $/s, ceiling: {CEILING} Mbps }}"),
        "without": text[:text.index("gateways:")] + text[text.index("traffic:"):],
    }
    played = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, variant in variants.items():
            found, said = play(turnpike, folder, variant)
            if tap.check(f"{name}: plays", found is not None, said):
                played[name] = found
    for name in ("tunnels", "over IPv6", "encrypted"):
        if name in played:
            shares(tap, name, played[name])
    if {"tunnels", "flood"} <= played.keys():
        attack(tap, played["tunnels"], played["flood"])
    if "ceiling" in played:
        ceiling(tap, played["ceiling"])
    if {"tunnels", "without"} <= played.keys():
        late = p99(played["without"], "ping-anna") - PATH_MS
        tap.check(f"without gateways p99 of ping-anna is {late:.1f} ms above the path's: the tunnels' doing", late > 20)
    tap.finish()


if __name__ == "__main__":
    main()
