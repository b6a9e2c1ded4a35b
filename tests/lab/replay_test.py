#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# A run's folder is enough to repeat the run: resolved.yaml gives every file the same bytes again.
# Usage: replay_test.py TURNPIKE
import filecmp
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from tap import Tap  # noqa: E402

SETTINGS = ["--set", "links.bottleneck.rate=20 Mbps", "--set", "links.bottleneck.loss=0.001"]
RUNS = {
    "the demo": ("demo.yaml", []),
    "the demo, cut, changed and with another seed": ("demo.yaml", ["--duration", "3s", "--seed", "7", *SETTINGS]),
    "a trace": ("paper/fcp-fig5-6-trace.yaml", ["--duration", "2s"]),
    "two routers": ("netns.yaml", ["--duration", "5s"]),
}


def play(turnpike, file, folder, *more):
    done = subprocess.run([turnpike, "lab", file, "--out", folder, *more],
                          text=True, timeout=600, capture_output=True, check=False)
    return done.returncode == 0, done.stdout[-2000:], done.stderr


def files(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def different(one, other):
    """Files that differ between the folders."""
    names = set(files(one)) | set(files(other))
    return sorted(name for name in names if not (one / name).is_file() or not (other / name).is_file()
                  or not filecmp.cmp(one / name, other / name, shallow=False))


def replay(tap, turnpike, what, file, more, folder):
    first, second = folder / "first", folder / "second"
    played, *said = play(turnpike, ROOT / "configs" / file, first, *more)
    if not tap.check(f"{what}: plays", played, *said):
        return
    tap.check(f"{what}: resolved.yaml is among the results", "resolved.yaml" in files(first), files(first))
    before = {name: (first / name).read_bytes() for name in files(first)}
    played, *said = play(turnpike, first / "resolved.yaml", second)
    tap.check(f"{what}: plays from resolved.yaml", played, *said)
    tap.check(f"{what}: every file has the same bytes again", not different(first, second),
              different(first, second))
    played, *said = play(turnpike, first / "resolved.yaml", first)
    tap.check(f"{what}: plays into its own folder, which stays as it was",
              played and before == {name: (first / name).read_bytes() for name in files(first)}, *said)


def main():
    turnpike = pathlib.Path(sys.argv[1]).resolve()
    tap = Tap()
    for what, (file, more) in RUNS.items():
        with tempfile.TemporaryDirectory() as name:
            replay(tap, turnpike, what, file, more, pathlib.Path(name))
    tap.finish()


if __name__ == "__main__":
    main()
