# SPDX-License-Identifier: BSD-3-Clause
# Real time on a machine that others use too: who was in the way, and once more where somebody was.
import json
import os
import time

ATTEMPTS = 3
MOST_SHARE, MOST_STALLED_MS = 0.1, 50


class Bystanders:
    """Who else uses the machine's CPUs from now on, other machines on the same CPUs among them."""

    def __init__(self):
        self.start = self._now()

    def _now(self):
        own = os.times()
        with open("/proc/stat") as file:
            ticks = [int(value) for value in file.readline().split()[1:9]]
        busy = (sum(ticks) - ticks[3] - ticks[4]) / os.sysconf("SC_CLK_TCK")
        return time.monotonic(), busy, own.user + own.system + own.children_user + own.children_system

    def met(self, stalled):
        """What to say of them, where a run that went wrong says nothing because of them. Programs that
        say they stalled are believed where the kernel gave at least half of that time to others."""
        wall, busy, own = (now - then for now, then in zip(self._now(), self.start))
        others = max(0.0, busy - own)
        share = others / wall / os.cpu_count()
        if share < MOST_SHARE and (stalled < MOST_STALLED_MS or 1000 * others < stalled / 2):
            return ""
        return f"others used {100 * share:.1f} % of the machine, programs stalled for {stalled:.0f} ms"


def stalled_ms(folder):
    """How long the machine kept the programs from running, as summary.json says."""
    path = folder / "summary.json"
    summary = json.loads(path.read_text()) if path.exists() else {}
    return (sum(lcore["stalled_ms"] for lcore in summary.get("lcores", [])) +
            sum(summary.get("stalled_ms", {}).values()))


def undisturbed(what, folder, play):
    """(result of play(), who was in the way). The result's first item is 0 where all went well; where
    it did not on a machine that was busy or stalled, once more, at most twice. The second is empty
    unless even the last went wrong on such a machine: then it says so, and the run cannot be judged.
    `folder`: where `turnpike demo` leaves its results."""
    for attempt in range(ATTEMPTS):
        bystanders = Bystanders()
        result = play()
        disturbed = bystanders.met(stalled_ms(folder)) if result[0] != 0 else ""
        if not disturbed:
            return result, ""
        print(f"# {what}: {disturbed}{': once more' if attempt + 1 < ATTEMPTS else ''}", flush=True)
    return result, disturbed
