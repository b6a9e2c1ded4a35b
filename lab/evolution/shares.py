# SPDX-License-Identifier: BSD-3-Clause
# Shares of one run, from its files: of the cheater and of each honest host, over the entitled share, in windows.
#
# An honest host's share is its acknowledged bytes. The cheater's are all other bytes that the last link carried,
# whether its receiver took them or not: they are lost to the others. A window is 20 round trips; windows follow each
# other from the cheater's start to the end of the run.
import csv
import json
import statistics
from dataclasses import dataclass

WINDOW = 0.4          # s, 20 round trips of 20 ms
START = 2.0           # s, the cheater's
CAPACITY = 100.0      # Mbps
ENTITLED = 20.0       # Mbps, of each of five customers
LAST = ("last", 200)  # the link to the sink, Mbps
CHEATER = "mallory"   # the customer that cheats
SPAN = "cheated"      # of run.measure: from the start to the end


@dataclass
class Shares:
    """Ratios to the entitled share."""
    cheater: float         # mean over the windows
    cheater_window: float  # largest window
    honest: float          # honest host with the least mean
    honest_window: float   # least window of any honest host
    loss: float            # share of the bottleneck's packets that it dropped in the whole run
    queue_ms: float        # mean queueing delay at the bottleneck after the start
    cheater_drops: int     # packets of customers that an edge router dropped, or an audit: the cheater's
    honest_drops: int      # and the others'
    windows: list          # per window: end (s), cheater, honest hosts' least


def table(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def rates_of(folder):
    """t -> customer -> Mbps."""
    name, capacity = LAST
    out = {float(r["t"]): {"cheat": float(r["utilization"]) * capacity}
           for r in table(folder / "links.csv") if r["link"] == name}
    for row in table(folder / "rates.csv"):
        if row["flow"] == "" and row["host"].startswith("honest"):
            rates = out[float(row["t"])]
            rates[row["host"]] = float(row["rate_mbps"])
            rates["cheat"] = max(rates["cheat"] - float(row["rate_mbps"]), 0.0)
    return out


def windows_of(rates):
    """Means over consecutive windows: [(end, customer -> ratio)]. Samples are equally long."""
    groups = {}
    for t, row in sorted(rates.items()):
        number = int((t - START) / WINDOW - 1e-6)  # a sample's time is its end
        if t > START + 1e-6:
            groups.setdefault(number, []).append(row)
    full = max((len(rows) for rows in groups.values()), default=0)
    customers = {c for rows in groups.values() for row in rows for c in row}
    return [(START + (n + 1) * WINDOW,
             {c: statistics.fmean(row.get(c, 0.0) for row in rows) / ENTITLED for c in customers})
            for n, rows in sorted(groups.items()) if len(rows) == full]


def shares(folder):
    windows = windows_of(rates_of(folder))
    honest = [c for c in windows[0][1] if c != "cheat"]
    cheater = [row["cheat"] for _, row in windows]
    means = {c: statistics.fmean(row[c] for _, row in windows) for c in honest}
    summary = json.loads((folder / "summary.json").read_text())
    drops = {name: c["dropped"] for router in summary.get("customers", {}).values() for name, c in router.items()}
    return Shares(cheater=statistics.fmean(cheater), cheater_window=max(cheater),
                  honest=min(means.values()), honest_window=min(row[c] for _, row in windows for c in honest),
                  loss=summary["links"]["bottleneck"]["loss_rate"],
                  queue_ms=summary["measure"][SPAN]["links"]["bottleneck"]["queue_delay_ms"]["mean"],
                  cheater_drops=drops.pop(CHEATER, 0), honest_drops=sum(drops.values()),
                  windows=[(end, row["cheat"], min(row[c] for c in honest)) for end, row in windows])
