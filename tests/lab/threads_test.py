#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# `turnpike lab --threads`: the same bytes for any number of threads, of topologies with each kind of link and traffic.
# `turnpike check --threads`: the same description, and the same mistakes in the same order. `turnpike report --threads`.
# Usage: threads_test.py TURNPIKE
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from tap import Tap  # noqa: E402

# File below configs/, simulated time, settings. Between them: shaped links and those at line rate, lcores, quantum, TCP,
# streams, workloads, loss, jitter and reordering, several laws, classes, trees, gateways, enforcement.
RUNS = [
    ("demo.yaml", "2 s", []),
    ("speed.yaml", "100 ms", []),
    ("tcp.yaml", "2 s", []),
    ("throughput.yaml", "100 ms", []),
    ("control/parking-lot.yaml", "2 s", []),
    ("control/random-loss.yaml", "2 s", ["links.bottleneck.jitter=100 us", "links.bottleneck.reorder=0.01"]),
    ("control/short-flows.yaml", "1 s", []),
    ("paper/xcp-fig9.yaml", "500 ms", []),
    ("paper/qcp-tab4.yaml", "500 ms", []),
    ("evolution/policies.yaml", "1 s", ["routers.gate.lcores=[0, 1]"]),
    ("evolution/tree.yaml", "2 s", []),
    ("evolution/cheaters/five-hosts.yaml", "3 s", []),
    ("gateway/two-sites.yaml", "3 s", []),
    ("scale/fat-tree.yaml", "3 ms", []),
    ("scale/as-like.yaml", "20 ms", ["generate.net.shape.as_like.hosts=1"]),
]
THREADS = (2, 3, 8)


def play(turnpike, run, threads, folder):
    file, duration, settings = run
    done = subprocess.run([turnpike, "lab", ROOT / "configs" / file, "--duration", duration, "--out", folder, "--threads",
                           str(threads), "--explain", *(w for s in settings for w in ("--set", s))],
                          text=True, timeout=300, capture_output=True, check=False)
    return done


def files(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def check(turnpike, file, threads):
    done = subprocess.run([turnpike, "check", file, "--threads", str(threads)], text=True, timeout=300,
                          capture_output=True, check=False)
    return done.returncode, done.stdout, done.stderr


def check_files(turnpike, folder, tap):
    """Compares descriptions and mistakes; `folder` is for a file with mistakes."""
    wrong = folder / "wrong.yaml"
    text = (ROOT / "configs/scale/fat-tree.yaml").read_text()
    wrong.write_text(text + "".join(
        f"    w{n}: {{ from: dc, to: dc, size: {{ trace: t{n % 3}.csv }} }}\n" for n in range(9)))
    for n in range(2):
        (folder / f"t{n}.csv").write_text("0,1\nx,1\n")
    for file, code in ((ROOT / "configs/scale/fat-tree.yaml", 0), (ROOT / "configs/scale/as-like.yaml", 0), (wrong, 3)):
        alone = check(turnpike, file, 1)
        tap.check(f"{file.name} is checked on one thread", alone[0] == code, alone[0], alone[2])
        for threads in THREADS:
            tap.check(f"... with the same result on {threads}", check(turnpike, file, threads) == alone)


def main():
    turnpike = pathlib.Path(sys.argv[1]).resolve()
    tap = Tap()
    cut, parallel = set(), 0
    with tempfile.TemporaryDirectory() as name:
        for run in RUNS:
            folder = pathlib.Path(name) / run[0].replace("/", "-")
            alone = play(turnpike, run, 1, folder / "1")
            if not tap.check(f"{run[0]} plays on one thread", alone.returncode == 0, alone.stdout, alone.stderr):
                continue
            expected = files(folder / "1")
            for threads in THREADS:
                done = play(turnpike, run, threads, folder / str(threads))
                found = files(folder / str(threads))
                differ = [file for file in expected.keys() | found.keys() if expected.get(file) != found.get(file)]
                tap.check(f"... the same bytes on {threads}", done.returncode == 0 and not differ, differ, done.stdout,
                          done.stderr)
                again = subprocess.run([turnpike, "report", folder / "1", "--threads", str(threads)],
                                       capture_output=True, check=False)
                tap.check(f"... and the same report, rendered by {threads}",
                          again.returncode == 0 and files(folder / "1") == expected, again)
                parts = re.search(r"^(\d+) parts", done.stdout, re.M)
                if parts:
                    cut.add(run[0])
                    parallel += int(re.search(r"windows, (\d+) of them on several", done.stdout)[1])
        check_files(turnpike, pathlib.Path(name), tap)
        tap.check("most of these topologies are cut", len(cut) > len(RUNS) / 2, cut)
        tap.check("several threads play at once", parallel > 0)
        wrong = subprocess.run([turnpike, "lab", ROOT / "configs" / "demo.yaml", "--threads", "0"], text=True,
                               capture_output=True, check=False)
        tap.check("no thread at all is a wrong usage", wrong.returncode == 2 and "--threads" in wrong.stderr, wrong)
    tap.finish()


main()
