# SPDX-License-Identifier: BSD-3-Clause
# Real time on a machine that others use too: what went wrong once more, and was the machine ours?
import concurrent.futures
import os
import time

ATTEMPTS = 3
# From where on shares in real time may be wrong by more than the tests allow: docs/testing.md has figures.
MOST_TAKEN = 0.02
WATCH_S, LEAST_GAP_S = 3, 0.001


def stolen_s():
    """CPU time that a hypervisor has given to other machines."""
    with open("/proc/stat") as file:
        return int(file.readline().split()[8]) / os.sysconf("SC_CLK_TCK")


def missed_s(cpu):
    """Of WATCH_S on this CPU, what a process that does nothing but read the clock does not get."""
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
    """The share of all CPUs' time that others take from processes which none of our code runs in."""
    cpus = sorted(os.sched_getaffinity(0))
    with concurrent.futures.ProcessPoolExecutor(len(cpus)) as pool:
        return sum(pool.map(missed_s, cpus)) / (WATCH_S * len(cpus))


def undisturbed(what, play):
    """(result of play(), what the machine did to it, whether that was too much to judge it). The
    result's first item is 0 where all went well; where it did not it is played once more, at most
    twice. What went wrong every time says nothing if others took the machine's CPUs, by the
    hypervisor's account or from a process that only reads the clock right after."""
    most, machine = 0.0, ""
    for _ in range(ATTEMPTS):
        start, stolen = time.monotonic(), stolen_s()
        result = play()
        if result[0] == 0:
            return result, "", False
        during = (stolen_s() - stolen) / (time.monotonic() - start) / os.cpu_count()
        after = taken_from_idlers()
        said = f"others took {100 * during:.1f} % of the machine, {100 * after:.1f} % right after"
        print(f"# {what}: {said}", flush=True)
        if max(during, after) >= most:
            most, machine = max(during, after), said
    return result, machine, most >= MOST_TAKEN
