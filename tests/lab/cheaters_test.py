#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# The kinds of cheater, the shares computed from a run's files, and the program that runs the kinds.
# Usage: cheaters_test.py TURNPIKE
import json
import math
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "lab" / "evolution")]
import chart  # noqa: E402
import cheaters  # noqa: E402
import kinds  # noqa: E402
from shares import Shares, shares  # noqa: E402
from tap import Tap  # noqa: E402

FILE = ROOT / "configs/evolution/cheaters/kinds.json"


def check_kinds(tap):
    listed = json.loads(FILE.read_text())
    names = [k["name"] for k in listed]
    tap.check("there are 50 kinds with names of their own", len(set(names)) == len(names) == 50, *names)
    tap.check("the file is the one that kinds.py writes", listed == kinds.kinds(),
              "renew it with: lab/evolution/kinds.py > configs/evolution/cheaters/kinds.json")
    settings = [json.dumps(k["settings"], sort_keys=True) for k in listed]
    tap.check("no two kinds are the same", len(set(settings)) == len(settings))
    tap.check("mixes differ with the seed", kinds.draw_lies(kinds.random.Random(1)) !=
              kinds.draw_lies(kinds.random.Random(2)))


def write_run(folder, samples):
    """A run's files: `samples` are (t, {host: Mbps}, load of the last link in Mbps)."""
    rates, links = ["t,host,flow,rate_mbps"], ["t,link,utilization"]
    for t, hosts, load in samples:
        rates += [f"{t},{host},{flow},{rate}" for host, rate in hosts.items() for flow in ("", "flow")]
        links += [f"{t},last,{load / 200}", f"{t},bottleneck,1"]
    (folder / "rates.csv").write_text("\n".join(rates) + "\n")
    (folder / "links.csv").write_text("\n".join(links) + "\n")
    span = {"links": {"bottleneck": {"queue_delay_ms": {"mean": 3}}}}
    (folder / "summary.json").write_text(json.dumps({"links": {"bottleneck": {"loss_rate": 0.25}},
                                                     "measure": {"cheated": span},
                                                     "customers": {"gate": {"mallory": {"dropped": 7},
                                                                            "honest1": {"dropped": 2}}}}))


def near(found, **expected):
    return all(math.isclose(getattr(found, name), value, abs_tol=1e-9) for name, value in expected.items())


def check_shares(tap):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        # Before 2 s the cheater does not send. Then come eight whole windows of four samples each, and a part of one.
        samples = [(i / 10, {"honest1": 50, "honest2": 50}, 100) for i in range(1, 21)]
        samples += [(i / 10, {"cheat1": 30, "honest1": 20, "honest2": 40}, 100) for i in range(21, 41)]
        samples += [(i / 10, {"cheat1": 1, "honest1": 10, "honest2": 50}, 90) for i in range(41, 55)]
        write_run(folder, samples)
        found = shares(folder)
        tap.check("windows are of the time after the start", len(found.windows) == 8 and
                  math.isclose(found.windows[0][0], 2.4) and math.isclose(found.windows[-1][0], 5.2), found.windows)
        tap.check("the cheater has the load that the honest hosts do not explain",
                  near(found, cheater=(5 * 2 + 3 * 1.5) / 8, cheater_window=2), found)
        tap.check("the honest host with the least, on average and in a window",
                  near(found, honest=(5 * 1 + 3 * 0.5) / 8, honest_window=0.5, loss=0.25, queue_ms=3), found)
        tap.check("packets that the edge dropped", found.cheater_drops == 7 and found.honest_drops == 2, found)


def check_bounds(tap):
    def row(name, **changes):
        fields = {"cheater": 1, "cheater_window": 1, "honest": 1, "honest_window": 0.9, "loss": 0, "queue_ms": 0,
                  "cheater_drops": 5, "honest_drops": 0, "windows": []}
        return {"name": name, "about": "", "settings": {}}, Shares(**fields | changes), ""

    rows = [row("good"), row("gains", cheater_window=1.02), row("harms", honest=0.98),
            row("punished", honest_drops=1)]
    tap.check("each bound that is broken is named", [line.split(":")[0] for line in cheaters.broken(rows)] ==
              ["gains", "harms", "punished"], *cheaters.broken(rows))
    table = cheaters.markdown(rows + [({"name": "failed", "about": ""}, None, "why")], cheaters.COLUMNS).splitlines()
    tap.check("the table has a row per kind, all of one width",
              len(table) == 7 and len({line.count("|") for line in table}) == 1 and "why" in table[-1], *table)
    figure = chart.draw([("a", 100, 0)], "some")
    tap.check("points beyond the axis are at its ends", f'cx="{chart.LEFT + chart.WIDTH}.0"' in figure and
              f'cx="{chart.LEFT}.0"' in figure, figure)


def run(turnpike, folder, *options):
    done = subprocess.run([sys.executable, ROOT / "lab/evolution/cheaters.py", "--turnpike", turnpike, "--out", folder,
                           "--set", "run.duration=4 s", *options], text=True, timeout=600, capture_output=True,
                          check=False)
    return done.returncode, done.stdout, done.stderr


def check_tool(tap, turnpike):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        code, out, err = run(turnpike, folder, "--kind", "honest", "--kind", "budget", "--kind", "udp")
        found = {k["name"]: k for k in json.loads((folder / "cheaters.json").read_text())} if code == 0 else {}
        tap.check("runs succeed although a cheater exceeds its budget", code == 0, code, out, err)
        if code != 0:
            return
        tap.check("five honest hosts have their shares", found["honest"]["honest"] > 0.97 and
                  0.95 < found["honest"]["cheater"] < 1.02, found["honest"])
        tap.check("without enforcement, a claimed budget gains", found["budget"]["cheater"] > 2, found["budget"])
        tap.check("and so does UDP, whose rate is that of its stream", 4.2 < found["udp"]["cheater"] < 4.6,
                  found["udp"])
        tap.check("it draws them", (folder / "cheaters.svg").read_text().count("<circle") == 6)
        code, out, err = run(turnpike, folder, "--kind", "udp", "--check")
        tap.check("--check fails then", code == 1 and "udp: the cheater has" in err, code, out, err)
        code, out, err = run(turnpike, folder, "--kind", "budget", "--set", "links.bottleneck.law=no-such")
        tap.check("a run that fails is named", code == 1 and "no-such" in out, code, out, err)


def main():
    turnpike = pathlib.Path(sys.argv[1]).resolve()
    tap = Tap()
    check_kinds(tap)
    check_shares(tap)
    check_bounds(tap)
    check_tool(tap, turnpike)
    tap.finish()


if __name__ == "__main__":
    main()
