#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Whether a change makes anything faster, on a machine that is not quiet: builds of bench-count take
# turns of a fraction of a second, all warmed up, and each turn is held against the first one's.
#
#   cp build/bench/bench-count /tmp/before       # then change something and build
#   bench/turns.py sender/flows:10000 /tmp/before build/bench/bench-count
import argparse
import statistics
import subprocess
import sys


class Build:
    """A bench-count that waits for its turn."""

    def __init__(self, program, load):
        self.program = program
        self.cycles = []
        self._process = subprocess.Popen([program, load], text=True, stdin=subprocess.PIPE,
                                         stdout=subprocess.PIPE)

    def wait_until_warm(self):
        if self._process.stdout.readline().strip() != "ready":
            sys.exit(f"{self.program} is no bench-count, or does not know that load")

    def turn(self, seconds):
        print(seconds, file=self._process.stdin, flush=True)
        self.cycles.append(float(self._process.stdout.readline()))

    def end(self):
        self._process.stdin.close()
        self._process.wait()


def main():
    options = argparse.ArgumentParser(description="Holds builds of bench-count against each other.")
    options.add_argument("load", help="one of bench/loads.h, or sender/flows:NUMBER")
    options.add_argument("programs", nargs="+", help="what they are held against first")
    options.add_argument("--rounds", type=int, default=15)
    options.add_argument("--seconds", type=float, default=0.2, help="of a turn")
    chosen = options.parse_args()

    builds = [Build(program, chosen.load) for program in chosen.programs]
    for build in builds:
        build.wait_until_warm()
    for i in range(chosen.rounds):
        # Now one begins, now another, in case a turn leaves something to the next.
        for build in builds if i % 2 == 0 else reversed(builds):
            build.turn(chosen.seconds)
    print(f"{chosen.load}, cycles per packet, {chosen.rounds} turns each")
    print(f"  {'':40}{'least':>8}{'median':>8}{'most':>8}   to the first: median (middle half)")
    for build in builds:
        build.end()
        ratios = [mine / first for mine, first in zip(build.cycles, builds[0].cycles)]
        low, middle, high = statistics.quantiles(ratios, n=4)
        print(f"  {build.program[-40:]:40}{min(build.cycles):8.1f}{statistics.median(build.cycles):8.1f}"
              f"{max(build.cycles):8.1f}   {middle:.3f} ({low:.3f} to {high:.3f})")


if __name__ == "__main__":
    main()
