#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# The commands of docs/gateway.md on account files; `turnpike accounts` on files that are none.
# Usage: accounts_test.py TURNPIKE
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "docs")]
from console import commands, missing  # noqa: E402
from tap import Tap  # noqa: E402

FOLDER = "/var/lib/turnpike/accounts"  # of the page
DAY_S = 86400


def page_commands(first_word):
    """The page's commands that begin so."""
    return [c for c in commands((ROOT / "docs" / "gateway.md").read_text()) if c.text.startswith(first_word + " ")]


def shell(command, folder):
    """Runs a command of the page with another folder of accounts."""
    return subprocess.run(command.replace(FOLDER, str(folder)), shell=True, cwd=ROOT, capture_output=True, text=True,
                          timeout=60, check=False)


def check_retention(tap, folder):
    ages = {"west-old.csv": 402, "west-kept.csv": 399, "west-today.csv": 0, "other.txt": 500}
    for name, days in ages.items():
        (folder / name).write_text("x\n")
        changed = time.time() - days * DAY_S
        os.utime(folder / name, (changed, changed))
    done = shell(page_commands("find")[0].text, folder)
    left = {path.name for path in folder.iterdir()}
    tap.check("files of 400 days stay, older ones go", done.returncode == 0 and left == ages.keys() - {"west-old.csv"},
              done, left)


def check_page(tap, turnpike, folder):
    """The commands of the page, on accounts that a gateway wrote beside 1 and 16 TCP connections."""
    shutil.copy(ROOT / "tests" / "operator" / "west-2026-11-26.csv", folder)
    page = folder / "page.html"
    for command in page_commands("turnpike accounts"):
        text = command.text.replace("turnpike accounts", f"{turnpike} accounts", 1).replace("page.html", str(page))
        done = shell(text, folder)
        lost = missing(command.shown, done.stdout)
        tap.check(f"{command.text[:40]}...", done.returncode == 0 and not lost, done, lost)
    html = page.read_text() if page.exists() else ""
    tap.check("the page has figures and needs no network", html.count("<svg") == 5 and
              not re.search(r'(src|href)\s*=|@import|url\(', html), html[:500])


def accounts(turnpike, *words):
    return subprocess.run([turnpike, "accounts", *map(str, words)], capture_output=True, text=True, timeout=60, check=False)


def write(path, *rows):
    """An account file. `rows`: (second, customer, offered B, carried B)."""
    heading = (ROOT / "tests" / "operator" / "west-2026-11-26.csv").read_text().splitlines()[0]
    path.write_text(heading + "\n" + "".join(
        f"2026-11-26T10:{s // 60:02}:{s % 60:02}.000Z,1.000000,{customer},{offered},{carried},1,{carried},0.5,1,1,0,0,2.5,0,0,0\n"
        for s, customer, offered, carried in rows))
    return path


def check_model(tap, turnpike, folder):
    """Constant demand of 8 Mbps against 4 and 16 Mbps, a minute long."""
    file = write(folder / "constant.csv", *[(s, name, 1_000_000, 900_000) for s in range(1, 61) for name in ("anna", "bert")])
    done = accounts(turnpike, file, "--shaper", "16Mbps", "--shaper", "anna=4Mbps", "--json")
    found = {c["customer"]: c for c in json.loads(done.stdout or "{}").get("customers", [])}
    slow, fast = (found.get(name, {}).get("shaper", {}) for name in ("anna", "bert"))
    tap.check("below the demand: the rate for a minute and the bucket, and a full queue",
              abs(slow.get("carried_bytes", 0) - 30_015_000) < 1 and abs(slow["wait_p99_ms"] - 100) < 1e-6 and
              abs(slow["share_of_demand"] - 0.50025) < 1e-9, done)
    tap.check("above the demand: all of it, without waits", fast.get("carried_bytes") == 60_000_000 and
              fast["wait_p99_ms"] == 0 and fast["limited_seconds"] == 0, done)
    gateway = found.get("anna", {}).get("gateway", {})
    tap.check("beside what the gateway did", gateway.get("share_of_demand") == 0.9 and gateway["wait_p99_ms"] == 2.5, done)
    text = accounts(turnpike, file, "--shaper", "16Mbps")
    tap.check("the report says what accounts cannot know of TCP", "TCP sends less" in text.stdout, text)


def check_refusals(tap, turnpike, folder):
    good = write(folder / "good.csv", (1, "anna", 1, 1))
    bad = write(folder / "bad.csv", (1, "anna", 1, 1), (2, "anna", "many", 1), (3, "", 1, 1))
    done = accounts(turnpike, good, bad, "--shaper", "1Mbps")
    tap.check("all mistakes at once, with their places, exit code 3", done.returncode == 3 and not done.stdout and
              re.search(r"bad.csv:3:40: 'many' is not offered_bytes", done.stderr) and
              re.search(r"bad.csv:4:35: a customer's name", done.stderr), done)
    pipe = folder / "pipe.csv"
    os.mkfifo(pipe)
    for path, kind in ((pipe, "it is a FIFO"), ("/dev/zero", "it is a device"), (folder, "it is a directory"),
                       (folder / "none.csv", "No such file")):
        done = accounts(turnpike, path, good, "--shaper", "1Mbps")
        tap.check(f"{kind}: exit code 3", done.returncode == 3 and kind in done.stderr, done)
    noise = folder / "noise.csv"
    for seed in range(3):
        noise.write_bytes(good.read_bytes() + random.Random(seed).randbytes(200_000) + b"\n")
        done = accounts(turnpike, noise, "--shaper", "1Mbps")
        tap.check(f"noise {seed}: exit code 3 and printable messages", done.returncode == 3 and
                  re.search(r"noise.csv:3:\d+: ", done.stderr) and
                  all(line.isprintable() and len(line) < 1000 for line in done.stderr.splitlines()), done.stderr[:500])
    for words, said in (((good,), "--shaper RATE"), ((good, good, "--shaper", "1Mbps"), "named twice"),
                        ((good, "--shaper", "ann=1Mbps"), "did you mean 'anna'"), ((good, "--shaper", "0bps"), "above 0"),
                        ((good, "--shaper", "fast"), "--shaper fast"),
                        ((write(folder / "two.csv", (1, "anna", 1, 1), (1, "bert", 1, 1)), "--shaper", "anna=1Mbps"),
                         "no shaper's rate for 1 customers: bert"),
                        ((good, "--topology", ROOT / "configs" / "demo.yaml"), "has no gateway"),
                        ((good, "--topology", ROOT / "configs" / "gateway" / "kernels.yaml"), "--node: west, east")):
        done = accounts(turnpike, *words)
        tap.check(f"{said}: exit code 2", done.returncode == 2 and said in done.stderr, done)


def main():
    tap = Tap()
    turnpike = pathlib.Path(sys.argv[1]).resolve()
    for check in (check_page, check_model, check_refusals):
        with tempfile.TemporaryDirectory() as name:
            check(tap, turnpike, pathlib.Path(name))
    with tempfile.TemporaryDirectory() as name:
        check_retention(tap, pathlib.Path(name))
    tap.finish()


if __name__ == "__main__":
    main()
