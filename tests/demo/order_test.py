#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Starts router and sender in any order, signals, stops and kills either at any moment, and checks that links come up
# again, that flows get their shares again, and that exit codes are as documented.
# Usage: order_test.py ROUTER SENDER                          a short list of sequences
#        order_test.py ROUTER SENDER --sequences 100 --seed 1   random ones, as a table
import argparse
import pathlib
import random
import signal
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "demo")]
from order_bed import Bed, Disturbed, Wrong  # noqa: E402
from tap import Tap  # noqa: E402

FIXED = {
    "the sender first; the router killed; the sender killed":
        "start sender, wait 0.5, start router, shares, signal router KILL, wait 0.3, start router, shares, "
        "signal sender KILL, start sender, shares, end sender TERM, end router TERM",
    "the router first; stopped and continued; ended and started again; PIPE, USR1, USR2":
        "start router, wait 0.2, start sender, linked, signal router STOP, wait 1.2, signal router CONT, shares, "
        "signal router PIPE, signal sender PIPE, signal router USR1, signal sender USR2, signal router TERM, "
        "start router, shares, end sender INT, end router HUP",
    "both ended while they start":
        "start router, wait 0.15, signal router TERM, start sender, wait 0.15, signal sender HUP, "
        "start sender, start router, shares, end router INT, wait 0.3, end sender TERM",
}
ENDS = ["TERM", "INT", "HUP"]
ATTEMPTS = 3


def draw(chance):
    """A random sequence: either program first, two or three signals at any moment, and a check of links and shares at
    the end."""
    order = chance.sample(["router", "sender"], 2)
    words = [f"start {order[0]}", f"wait {chance.uniform(0, 0.8):.2f}", f"start {order[1]}"]
    for _ in range(chance.randint(2, 3)):
        words.append(chance.choice(["shares", f"wait {chance.uniform(0, 1.2):.2f}"]))
        who = chance.choice(["router", "sender"])
        blow = chance.choice(["KILL", "KILL", *ENDS, "PIPE", "STOP"])
        words.append(f"signal {who} {blow}")
        if blow == "STOP":
            words += [f"wait {chance.uniform(0.05, 1.5):.2f}", f"signal {who} CONT"]
        elif blow != "PIPE":
            words += [f"wait {chance.choice([0, chance.uniform(0, 0.8)]):.2f}", f"start {who}"]
    words.append("shares")
    first, second = chance.sample(["router", "sender"], 2)
    words += [f"end {first} {chance.choice(ENDS)}", f"wait {chance.choice([0, 0.3])}",
              f"end {second} {chance.choice(ENDS)}"]
    return ", ".join(words)


def play_once(options, sequence, number):
    """(violation or ""; disturbance or ""; the bed with its figures)."""
    with Bed(options.router, options.sender, number) as bed:
        for step in sequence.split(", "):
            word, *arguments = step.split()
            try:
                getattr(bed, word)(*arguments)
            except Wrong as wrong:
                return f"{step}: {wrong}", "", bed
            except Disturbed as disturbed:
                return "", f"{step}: {disturbed}", bed
        return "", "", bed


def play(options, sequence, number):
    """The same; repeated where the machine took too much of the time for a result."""
    for _ in range(ATTEMPTS):
        result = play_once(options, sequence, number)
        if not result[1]:
            break
        print(f"# {number}: {result[1]}", flush=True)
    return result


def fixed(options):
    tap = Tap()
    for number, (name, sequence) in enumerate(FIXED.items()):
        wrong, disturbed, bed = play(options, sequence, number)
        if disturbed:
            tap.skip(name, disturbed)
        else:
            tap.check(f"{name}: linked after {bed.slowest_link:.2f} s, shares after {bed.slowest_shares:.2f} s at most",
                      not wrong, wrong, bed.story())
    tap.finish()


def table(options):
    chance = random.Random(options.seed)
    failed = untold = 0
    print("| sequence | steps | linked after, s | shares after, s | exit codes | wrong |\n|---|---|---|---|---|---|")
    worst_link = worst_shares = 0.0
    for number in range(options.sequences):
        sequence = draw(chance)
        wrong, disturbed, bed = play(options, sequence, number)
        failed, untold = failed + bool(wrong), untold + bool(disturbed)
        if not disturbed:
            worst_link, worst_shares = max(worst_link, bed.slowest_link), max(worst_shares, bed.slowest_shares)
        print(f"| {number} | {sequence} | {bed.slowest_link:.2f} | {bed.slowest_shares:.2f} | {' '.join(bed.codes)} | "
              f"{wrong or disturbed or 'no'} |", flush=True)
        if wrong:
            print(bed.story(), file=sys.stderr, flush=True)
    print(f"\n{failed} of {options.sequences} sequences went wrong, {untold} could not be checked {ATTEMPTS} times; "
          f"of the others linked after {worst_link:.2f} s, shares after {worst_shares:.2f} s at most")
    sys.exit(1 if failed else 0)


def main():
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # the programs would inherit nohup's setting and ignore it
    options = argparse.ArgumentParser(description="Router and sender in any order, killed at any moment.")
    options.add_argument("router", type=pathlib.Path)
    options.add_argument("sender", type=pathlib.Path)
    options.add_argument("--sequences", type=int, default=0, help="random ones instead of the short list")
    options.add_argument("--seed", type=int, default=1)
    chosen = options.parse_args()
    table(chosen) if chosen.sequences else fixed(chosen)


if __name__ == "__main__":
    main()
