#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Measures whether a change makes a load faster, or how much dearer one load is than another, on a machine that runs
# other programs: warmed-up programs take turns of a fraction of a second, and each turn is compared with the first
# program's turn of the same round.
#
#   cp build/bench/bench-count /tmp/before       # then change something and build
#   bench/ab.py sender/flows:10000 /tmp/before build/bench/bench-count
#   bench/ab.py priced,priced/links:256
import argparse
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]


class Contender:
    """A bench-count with a load that waits for its turn."""

    def __init__(self, load, program):
        self.name = f"{load}  {program}"
        self.cycles = []
        self._process = subprocess.Popen([program, load], text=True, stdin=subprocess.PIPE,
                                         stdout=subprocess.PIPE)

    def wait_until_warm(self):
        if self._process.stdout.readline().strip() != "ready":
            sys.exit(f"{self.name}: no bench-count, or it does not know that load")

    def turn(self, seconds):
        print(seconds, file=self._process.stdin, flush=True)
        self.cycles.append(float(self._process.stdout.readline()))

    def end(self):
        self._process.stdin.close()
        self._process.wait()


def take_turns(loads, programs, rounds=15, seconds=0.2):
    """[(name, figures)] of every program under every load: cycles per packet in its turns, and their ratios to the
    first program's in the same round."""
    contenders = [Contender(load, program) for load in loads for program in programs]
    for contender in contenders:
        contender.wait_until_warm()
    for i in range(rounds):
        # The order alternates, in case a turn affects the next one.
        for contender in contenders if i % 2 == 0 else reversed(contenders):
            contender.turn(seconds)
    for contender in contenders:
        contender.end()
    return [(c.name, figures(c.cycles, contenders[0].cycles)) for c in contenders]


def figures(cycles, first):
    ratios = [mine / of_first for mine, of_first in zip(cycles, first)]
    low, ratio, high = statistics.quantiles(ratios, n=4)
    return {"least": min(cycles), "cycles": statistics.median(cycles), "most": max(cycles),
            "difference": statistics.median(mine - of_first for mine, of_first in zip(cycles, first)),
            "ratio": ratio, "ratio_low": low, "ratio_high": high}


def main():
    options = argparse.ArgumentParser(description="Holds loads or builds of bench-count against each other.")
    options.add_argument("loads", help="of bench/loads.h, sender/flows:NUMBER or tunnels/KIND:NUMBER with "
                         "customers, sealed, own or handed, with commas between")
    options.add_argument("programs", nargs="*", default=[ROOT / "build" / "bench" / "bench-count"],
                         help="the first one is the reference")
    options.add_argument("--rounds", type=int, default=15)
    options.add_argument("--seconds", type=float, default=0.2, help="of a turn")
    chosen = options.parse_args()

    print(f"cycles per packet in {chosen.rounds} turns each")
    print(f"  {'':56}{'least':>7}{'median':>7}{'most':>7}   to the first: median (middle half)")
    for name, f in take_turns(chosen.loads.split(","), chosen.programs, chosen.rounds, chosen.seconds):
        print(f"  {name[-56:]:56}{f['least']:7.1f}{f['cycles']:7.1f}{f['most']:7.1f}"
              f"   {f['ratio']:.3f} ({f['ratio_low']:.3f} to {f['ratio_high']:.3f})")


if __name__ == "__main__":
    main()
