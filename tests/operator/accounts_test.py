#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# The commands of docs/gateway.md, Accounts, on account files.
# Usage: accounts_test.py TURNPIKE
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "docs")]
from console import commands  # noqa: E402
from tap import Tap  # noqa: E402

FOLDER = "/var/lib/turnpike/accounts"  # of the page
DAY_S = 86400


def page_command(first_word):
    """The page's only command that begins so."""
    found = [c.text for c in commands((ROOT / "docs" / "gateway.md").read_text()) if c.text.startswith(first_word + " ")]
    assert len(found) == 1, found
    return found[0]


def check_retention(tap, folder):
    ages = {"west-old.csv": 402, "west-kept.csv": 399, "west-today.csv": 0, "other.txt": 500}
    for name, days in ages.items():
        (folder / name).write_text("x\n")
        changed = time.time() - days * DAY_S
        os.utime(folder / name, (changed, changed))
    done = subprocess.run(page_command("find").replace(FOLDER, str(folder)), shell=True, capture_output=True, text=True,
                          check=False)
    left = {path.name for path in folder.iterdir()}
    tap.check("files of 400 days stay, older ones go", done.returncode == 0 and left == ages.keys() - {"west-old.csv"},
              done, left)


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as name:
        check_retention(tap, pathlib.Path(name))
    tap.finish()


if __name__ == "__main__":
    main()
