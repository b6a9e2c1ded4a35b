#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Counts the instructions that a packet takes to be forwarded, or to be sent and acknowledged, which no
# other load on the machine changes, and holds them against bench/instructions.json: more than 5 % above
# fails. --update writes what is counted. What the ports of the bench take is in the counts.
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
COMMITTED = ROOT / "bench" / "instructions.json"
LOADS = {"ipv4": 2000, "ipv4/burst:8": 4000, "ipv6": 2000, "fcp": 2000,
         "priced": 2000, "priced/burst:8": 4000, "priced/burst:1": 8000,
         "sender/flows:100": 1000, "sender/flows:10000": 1000}
POLL = {"sender": "turnpike::bench::Sending::poll(*"}
FORWARDING_POLL = "turnpike::bench::Forwarding::poll(*"
TOLERANCE = 0.05


def count(load, polls):
    """Instructions per packet inside the polls of a load."""
    poll = POLL.get(load.split("/")[0], FORWARDING_POLL)
    with tempfile.NamedTemporaryFile() as out:
        done = subprocess.run(
            ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out.name}",
             "--collect-atstart=no", f"--toggle-collect={poll}",
             ROOT / "build" / "bench" / "bench-count", load, str(polls)],
            capture_output=True, text=True, check=False)
    total = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or not total:
        sys.exit(f"bench-check: {load} could not be counted:\n{done.stderr}")
    return int(total[1]) / int(done.stdout.split()[-1])


def main():
    options = argparse.ArgumentParser(description="Counts instructions per packet.")
    options.add_argument("--update", action="store_true", help="write what is counted")
    chosen = options.parse_args()
    counted = {load: round(count(load, polls), 1) for load, polls in LOADS.items()}
    if chosen.update:
        COMMITTED.write_text(json.dumps(counted, indent=2) + "\n")
    committed = json.loads(COMMITTED.read_text())
    worse = 0
    for load, now in counted.items():
        before = committed.get(load)
        bad = before is None or now > before * (1 + TOLERANCE)
        worse += bad
        print(f"bench-check: {load:19} {now:7.1f} instructions a packet, committed {before}"
              f"{', which is too many more' if bad else ''}")
    if worse:
        print("bench-check failed; where it is meant: bench/instructions.py --update")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
