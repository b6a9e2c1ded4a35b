# SPDX-License-Identifier: BSD-3-Clause
# Real time on a machine that others use too: who was in the way, and once more where somebody was.
import os
import re
import time


class Bystanders:
    """How much of the machine's CPUs others use from now on."""

    def __init__(self):
        self.start = self._now()

    def _now(self):
        own = os.times()
        with open("/proc/stat") as file:
            ticks = [int(value) for value in file.readline().split()[1:9]]
        busy = (sum(ticks) - ticks[3] - ticks[4]) / os.sysconf("SC_CLK_TCK")
        return time.monotonic(), busy, own.user + own.system + own.children_user + own.children_system

    def share(self):
        wall, busy, own = (now - then for now, then in zip(self._now(), self.start))
        return max(0.0, (busy - own) / wall / os.cpu_count())


def stalled_ms(folder):
    """How long the machine kept the programs from running, as they say themselves."""
    logs = "".join(log.read_text(errors="replace") for log in folder.glob("*.log"))
    return sum(int(ms) for ms in re.findall(r"kept it waiting \d+ times, (\d+) ms", logs))


def undisturbed(what, folder, play):
    """The result of play(), whose first item is its exit code; again, at most twice, when it went
    wrong on a machine that was busy or stalled. `folder`: where the programs leave their logs."""
    for attempt in range(3):
        bystanders = Bystanders()
        result = play()
        share, stalled = bystanders.share(), stalled_ms(folder)
        if result[0] == 0 or attempt == 2 or (share < 0.1 and stalled < 50):
            return result
        print(f"# {what}: others used {100 * share:.0f} % of the machine, which stalled for "
              f"{stalled} ms: once more", flush=True)
