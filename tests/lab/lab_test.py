#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# `turnpike lab` on the demo: exact shares, and the same bytes every time.
# Usage: lab_test.py TURNPIKE
import fcntl
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from tap import Tap  # noqa: E402



def play(turnpike, folder, *more):
    done = subprocess.run([turnpike, "lab", ROOT / "configs" / "demo.yaml", "--out", folder, "--json",
                           *more], text=True, timeout=600, capture_output=True, check=False)
    return done.returncode, done.stdout, done.stderr


def main():
    turnpike = pathlib.Path(sys.argv[1]).resolve()
    tap = Tap()
    with tempfile.TemporaryDirectory() as name:
        first, second = pathlib.Path(name) / "first", pathlib.Path(name) / "second"
        code, out, err = play(turnpike, first)
        if tap.check("the demo plays in the lab, exit code 0", code == 0, code, out[-2000:], err):
            summary = json.loads(out)
            speed = [summary.pop("wall_s"), summary.pop("packets_per_s")]
            tap.check("it prints how fast it was, and does not file it",
                      min(speed) > 0 and json.loads(
                          (first / "summary.json").read_text())["wall_s"] is None, speed)
            summary["wall_s"] = None
            tap.check("it prints the summary that it leaves behind",
                      summary == json.loads((first / "summary.json").read_text()))
            worst = max((host["error"] for interval in summary["intervals"]
                         for host in interval["hosts"].values()), key=abs)
            tap.check(f"every host within 0.5 % of its share, worst {100 * worst:+.2f} %",
                      abs(worst) <= 0.005, summary["intervals"])
            tap.check("no packet lost", summary["verdict"]["lost_packets"] == 0, summary["verdict"])
        code, out, err = play(turnpike, second)
        tap.check("and again", code == 0, code, out[-2000:], err)
        for file in sorted(p.name for p in first.iterdir()):
            tap.check(f"{file} has the same bytes both times",
                      (first / file).read_bytes() == (second / file).read_bytes())
        code, _, err = play(turnpike, second, "--set", "links.bottleneck.rate=20 Mbps",
                            "--set", "run.tolerence=0.01")
        tap.check("--set is read as strictly as the file", code == 3 and "run.tolerence" in err
                  and "did you mean 'tolerance'" in err, code, err)
        code, out, err = play(turnpike, second, "--set", "links.bottleneck.rate=20 Mbps")
        tap.check("--set overrides the file's value",
                  code == 0 and json.loads(out)["links"]["bottleneck"]["rate_mbps"] == 20, code, err)
        before = (second / "summary.json").read_bytes()
        other = os.open(second, os.O_DIRECTORY)
        fcntl.flock(other, fcntl.LOCK_EX)
        code, _, err = play(turnpike, second)
        tap.check("another run's folder is left alone", code == 4 and "--out" in err and
                  (second / "summary.json").read_bytes() == before, code, err)
        os.close(other)
        tap.check("a file that is not there ends with exit code 3",
                  subprocess.run([turnpike, "lab", "no-such.yaml"], capture_output=True,
                                 check=False).returncode == 3)
    tap.finish()


if __name__ == "__main__":
    main()
