#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# The hooks that `make hooks` turns on: subjects of commits, and the layout of staged C++, in a repository of its own.
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))
from tap import Tap  # noqa: E402

GOOD = [
    "fcp: clip promises beyond the bound",
    "router, sender: process ACKs in bursts",
    "common/protocols: need no seed",
    "docs: " + "x" * 66,
    "fcp: add a bound\n\nBecause prices climb.\n",
    "Merge branch 'other'",
    "fixup! fcp: clip promises",
    "# a comment of git's\nlab: sort cases by name",
]
BAD = [
    "clip promises beyond the bound",
    "Fcp: clip promises",
    "fcp: Clip promises",
    "fcp: clips promises",
    "fcp: clipped promises",
    "fcp: clipping promises",
    "fcp: the promises are clipped",
    "fcp: clip promises.",
    "docs: " + "x" * 67,
    "fcp:clip promises",
    "fcp: clip promises\nthat are too large",
    "",
]
LAID_OUT = "int add(int a, int b) { return a + b; }\n"
NOT_LAID_OUT = "int  add(int a,int b) {return a+b;}\n"


def run(folder, *command, text=None):
    """Runs without the user's git configuration, and independently of a repository whose hook runs this test."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "MAKE"))}
    environment |= {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null", "HOME": str(folder)}
    return subprocess.run(command, cwd=folder, input=text, capture_output=True, text=True, timeout=30, check=False,
                          env=environment)


def git(folder, *arguments, text=None):
    return run(folder, "git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments, text=text)


def main():
    tap = Tap()
    if not shutil.which("git"):
        tap.skip("hooks", "there is no git")
        tap.finish()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        git(folder, "init", "-q")
        shutil.copytree(ROOT / "hooks", folder / "hooks")
        for file in (".clang-format", "Makefile"):
            shutil.copy(ROOT / file, folder)
        made = run(folder, "make", "hooks")
        path = git(folder, "config", "core.hooksPath").stdout.strip()
        tap.check("make hooks makes git call the tree's hooks", made.returncode == 0 and path == "hooks",
                  made.stdout, made.stderr)

        for message in GOOD:
            done = git(folder, "commit", "--allow-empty", "--cleanup=strip", "-F", "-", text=message)
            tap.check(f"taken: {message.splitlines()[0]}", done.returncode == 0, done.stderr)
        for message in BAD:
            done = git(folder, "commit", "--allow-empty", "--allow-empty-message", "--cleanup=strip", "-F", "-",
                       text=message)
            tap.check(f"refused: {message.splitlines()[0] if message else 'no subject'}",
                      done.returncode == 1 and "commit-msg: " in done.stderr, done.stdout, done.stderr)

        if shutil.which("clang-format"):
            (folder / "add.cpp").write_text(NOT_LAID_OUT)
            git(folder, "add", "add.cpp")
            done = git(folder, "commit", "-m", "lab: add")
            tap.check("C++ that is not laid out is refused",
                      done.returncode == 1 and "add.cpp is not laid out" in done.stderr, done.stderr)
            (folder / "add.cpp").write_text(LAID_OUT)
            done = git(folder, "commit", "-m", "lab: add")
            tap.check("the staged content counts, not the file", done.returncode == 1, done.stderr)
            git(folder, "add", "add.cpp")
            done = git(folder, "commit", "-m", "lab: add")
            tap.check("C++ that is laid out is taken", done.returncode == 0, done.stderr)
            git(folder, "rm", "-q", "add.cpp")
            done = git(folder, "commit", "-m", "lab: remove")
            tap.check("so is a file that goes", done.returncode == 0, done.stderr)
        else:
            tap.skip("layout of staged C++", "there is no clang-format")
    tap.finish()


if __name__ == "__main__":
    main()
