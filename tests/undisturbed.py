# SPDX-License-Identifier: BSD-3-Clause
# Repeats real-time tests that fail on a machine that runs other programs, and measures those programs' share.
import concurrent.futures
import os
import time

ATTEMPTS = 3
# Above this share of the machine, real-time shares may exceed the tests' bounds: docs/testing.md has figures.
MOST_TAKEN = 0.02
WATCH_S, LEAST_GAP_S = 3, 0.001


def stolen_s():
    """CPU time that the hypervisor has given to other machines."""
    with open("/proc/stat") as file:
        return int(file.readline().split()[8]) / os.sysconf("SC_CLK_TCK")


def missed_s(cpu):
    """Share of WATCH_S on this CPU that a process which only reads the clock does not get."""
    os.sched_setaffinity(0, {cpu})
    last = start = time.monotonic()
    missed = 0.0
    while last - start < WATCH_S:
        now = time.monotonic()
        if now - last >= LEAST_GAP_S:
            missed += now - last
        last = now
    return missed


def taken_from_idlers():
    """The share of all CPUs' time that other programs take from processes that run none of our code."""
    cpus = sorted(os.sched_getaffinity(0))
    with concurrent.futures.ProcessPoolExecutor(len(cpus)) as pool:
        return sum(pool.map(missed_s, cpus)) / (WATCH_S * len(cpus))


def undisturbed(what, play):
    """(result of play(), text about the machine, whether the machine was too busy for a result). The result's first
    item is 0 if the run passed; otherwise it is repeated, at most twice. If every run failed, the failure is no
    evidence where other programs took the machine's CPUs, by the hypervisor's account or by a process that only reads
    the clock right after."""
    most, machine = 0.0, ""
    for _ in range(ATTEMPTS):
        start, stolen = time.monotonic(), stolen_s()
        result = play()
        if result[0] == 0:
            return result, "", False
        during = (stolen_s() - stolen) / (time.monotonic() - start) / os.cpu_count()
        after = taken_from_idlers()
        said = f"others took {100 * during:.1f} % of the machine, {100 * after:.1f} % right after"
        print(f"# {what}: {said}; {result[1:]}", flush=True)
        if max(during, after) >= most:
            most, machine = max(during, after), said
    return result, machine, most >= MOST_TAKEN
