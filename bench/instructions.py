#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Counts the instructions to forward a packet, to send or tunnel it and process its ACK, or to simulate it in the lab.
# Other load on the machine does not change them. Compares them with bench/instructions.json: more than 5 % above fails.
# --update writes the new counts. The counts include the bench's ports. valgrind's CPU has no AVX-512, so they are of the
# code for such CPUs.
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
COMMITTED = ROOT / "bench" / "instructions.json"
SPEED = ROOT / "configs" / "speed.yaml"
LOADS = {"ipv4": 2000, "ipv4/burst:8": 4000, "ipv6": 2000, "fcp": 2000,  # polls; of the lab, ms
         "priced": 2000, "priced/burst:8": 4000, "priced/burst:1": 8000,
         "sender/flows:100": 1000, "sender/flows:10000": 1000,
         "tunnels/customers:1000": 500, "lab": 2000}
# The functions whose instructions count: the polls of a load, all of a world's time.
COUNTED = {"sender": "turnpike::bench::Sending::poll(*", "tunnels": "turnpike::bench::Tunnelling::poll(*",
           "lab": "turnpike::lab::World::run_until(*"}
FORWARDING_POLL = "turnpike::bench::Forwarding::poll(*"
TOLERANCE = 0.05


def run(load, amount, build, counts):
    """(instructions in the counted functions of a load, its packets); callgrind's file is `counts`."""
    kind = load.split("/")[0]
    with tempfile.TemporaryDirectory() as out:
        program = ([build / "lab" / "turnpike", "lab", SPEED, "--threads", "1", "--duration", f"{amount} ms",
                    "--out", out]
                   if kind == "lab" else [build / "bench" / "bench-count", load, str(amount)])
        done = subprocess.run(
            ["valgrind", "--tool=callgrind", f"--callgrind-out-file={counts}", "--collect-atstart=no",
             f"--toggle-collect={COUNTED.get(kind, FORWARDING_POLL)}", *program],
            capture_output=True, text=True, check=False)
    total = re.search(r"Collected : (\d+)", done.stderr)
    packets = re.search(r"(\d+) data packets in" if kind == "lab" else r"(\d+)\s*$", done.stdout)
    if done.returncode != 0 or not total or not packets:
        sys.exit(f"bench-check: {load} could not be counted:\n{done.stderr}")
    return int(total[1]), int(packets[1])


def count(load, amount):
    """Instructions per packet of a load."""
    with tempfile.NamedTemporaryFile() as counts:
        total, packets = run(load, amount, ROOT / "build", counts.name)
    return total / packets


def compile_programs():
    """Compiles the programs that are counted; the plain build leaves benchmarks out."""
    done = subprocess.run(["ninja", "-C", ROOT / "build", "bench/bench-count", "lab/turnpike"], capture_output=True,
                          text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"bench-check: nothing to count:\n{done.stdout}")


def main():
    options = argparse.ArgumentParser(description="Counts instructions per packet.")
    options.add_argument("--update", action="store_true", help="write the new counts")
    chosen = options.parse_args()
    compile_programs()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        counts = pool.map(count, LOADS.keys(), LOADS.values())
        counted = {load: round(found, 1) for load, found in zip(LOADS, counts)}
    if chosen.update:
        COMMITTED.write_text(json.dumps(counted, indent=2) + "\n")
    committed = json.loads(COMMITTED.read_text())
    worse = 0
    for load, now in counted.items():
        before = committed.get(load)
        bad = before is None or now > before * (1 + TOLERANCE)
        worse += bad
        print(f"bench-check: {load:22} {now:7.1f} instructions a packet, committed {before}"
              f"{', which is too many more' if bad else ''}")
    if worse:
        print("bench-check failed; where it is meant: bench/instructions.py --update")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
