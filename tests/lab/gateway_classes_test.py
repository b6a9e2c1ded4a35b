#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Classes of a gateway's customers in the lab: configs/gateway/classes.yaml with its classes and without, and with a core
# that treats their DSCPs differently. Usage: gateway_classes_test.py TURNPIKE
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests")]
from tap import Tap  # noqa: E402

FILE = ROOT / "configs" / "gateway" / "classes.yaml"
PATH_MS = 8.4     # propagation from a customer to the server
LATENCY_MS = 5    # beyond the path's
VIDEO = 10        # Mbps
SHARE = 0.05      # how far a share may lie off
RESERVED = 1.25   # of what a class sends
LEAST = 0.05 / 3  # of the budget, for the calls
# Packets of this DSCP pay four times the price (docs/classes.md).
PRIORITY = "classes: { dear: { match: { dscp: 34 }, policy: { priority: { factor: 4 } } }, rest: }"


def play(turnpike, text):
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "file.yaml"
        file.write_text(text)
        done = subprocess.run([turnpike, "lab", file, "--out", pathlib.Path(folder) / "out", "--json"],
                              capture_output=True, text=True, timeout=300, check=False)
    return (json.loads(done.stdout) if done.returncode == 0 else None), done.stderr


def groups(found, span):
    """Mbit/s of each entry of the traffic."""
    return {name: group["goodput_mbps"] for name, group in found["measure"][span]["groups"].items()}


def lost(found, stream):
    """Share of a stream's packets."""
    s = found["streams"][stream]
    return s["lost_packets"] / s["sent_packets"]


def main():
    turnpike = sys.argv[1]
    tap = Tap()
    text = FILE.read_text()
    variants = {
        "classes": text,
        "one class": re.sub(r"    classes:\n(      .*\n)+", "", text),
        "core": text[:text.index("  streams:")].replace("law: fcp, mtu: 1640", f"law: fcp, mtu: 1640, {PRIORITY}")
                .replace("count: 64, stop: 8 s", "count: 64, dscp: 34, stop: 8 s"),
    }
    played = {}
    for name, variant in variants.items():
        found, said = play(turnpike, variant)
        if tap.check(f"{name}: plays", found is not None, said):
            played[name] = found
    if len(played) < len(variants):
        tap.finish()
    found = played["classes"]
    for stream in ("calls", "video"):
        late = found["streams"][stream]["latency_us"]["p99"] * 1e-3 - PATH_MS
        tap.check(f"{stream} beside 64 connections: {lost(found, stream):.2%} lost, p99 {late:.2f} ms above the path's",
                  lost(found, stream) == 0 and late <= LATENCY_MS)
    tap.check(f"in one class with them the video loses {lost(played['one class'], 'video'):.0%}",
              lost(played["one class"], "video") > 0.2)
    got, later = groups(found, "all"), groups(found, "later")
    # Her classes hold what they need, 1.25 times what they send, and a twentieth of a third of her budget.
    left = got["bert"] * (1 - LEAST) - RESERVED * VIDEO
    tap.check(f"anna's connections have what that leaves of a share like bert's: {got['anna']:.1f}, {left:.1f} Mbit/s",
              abs(got["anna"] - left) <= SHARE * got["bert"], got)
    tap.check(f"her backup takes {got['backup']:.2f} Mbit/s of that", got["backup"] <= 0.02 * got["bert"])
    tap.check(f"... and {later['backup']:.1f} Mbit/s once no other flow pays for it", later["backup"] >= 70, later)
    got = groups(played["core"], "all")
    tap.check(f"in a core where DSCP 34 costs four times as much anna has {got['anna']:.1f}, bert {got['bert']:.1f} Mbit/s",
              abs(got["anna"] - got["bert"] / 4) <= 0.1 * got["anna"], got)
    tap.finish()


if __name__ == "__main__":
    main()
