# SPDX-License-Identifier: BSD-3-Clause
# A case of the study: a topology file, settings, and bounds on figures of its runs.
from dataclasses import dataclass, field


def at_most(high):
    return (float("-inf"), high)


def at_least(low):
    return (low, float("inf"))


def within(low, high):
    return (low, high)


@dataclass
class Case:
    """Played once per preset and seed. Figures named in `bounds` and `shown` are those of figures.py."""
    name: str                     # family/variant; --case matches it
    file: str                     # topology file, from the root of the tree
    about: str = ""
    settings: dict = field(default_factory=dict)   # path in the file -> value
    bounds: dict = field(default_factory=dict)     # figure -> (least, greatest), both allowed
    shown: tuple = ()             # figures that have no bound
    links: tuple = ("bottleneck",)  # figures of several links: the worst of them
    span: str = "steady"          # of run.measure
    load: float = 0               # offered by the workloads; 0: not a load case
    round_trip: float = 0         # s; with it, processor sharing is computed for the flows
    large: bool = False           # a run of gigabytes, played alone
    seeds: int = 0                # 0: as many as are asked for
    level: str = "default"        # quick, default, full: the least choice that plays it
    shorter: dict = field(default_factory=dict)    # settings of a quick run, in place of the others


LEVELS = ("quick", "default", "full")


def chosen(cases, level, patterns):
    """Cases of that level, or of any level where patterns name them."""
    import fnmatch
    most = LEVELS.index(level)
    if patterns:
        return [c for c in cases if any(fnmatch.fnmatch(c.name, p) or fnmatch.fnmatch(c.name, f"*{p}*")
                                        for p in patterns)]
    return [c for c in cases if LEVELS.index(c.level) <= most]
