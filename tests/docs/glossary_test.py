#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# docs/glossary.md is in order, each term has one sentence, and each name of the code exists.
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from architecture import layers  # noqa: E402
from tap import Tap  # noqa: E402

PAGE = ROOT / "docs" / "glossary.md"
NAME = re.compile(r"[A-Za-z_]\w*")


def rows(page):
    """(term, sentence, symbol, code) of each row."""
    table = [line for line in page.splitlines() if line.startswith("|")][2:]
    return [tuple(cell.strip() for cell in line[1:-1].split("|")) for line in table]


def names():
    """Every word of the C++ sources that is no part of a comment."""
    found = set()
    for folder in layers.PRODUCT:
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in (".h", ".cpp"):
                found.update(NAME.findall(re.sub(r"//[^\n]*", "", path.read_text())))
    return found


def main():
    tap = Tap()
    terms = rows(PAGE.read_text())
    tap.check("every row has four cells", all(len(row) == 4 for row in terms), *(r for r in terms if len(r) != 4))
    keys = [row[0].strip("*").lower() for row in terms]
    after = [b for a, b in zip(keys, keys[1:]) if a >= b]
    tap.check(f"{len(keys)} terms, in order and each once", len(keys) > 50 and not after, *after)
    long = [row[0] for row in terms if not row[1].endswith(".") or re.search(r"[.?!] [A-Z]", row[1])]
    tap.check("each has one sentence", not long, *long)
    known = names()
    unnamed = [row[0] for row in terms if not re.fullmatch(r"`[^`]+`(, `[^`]+`)*", row[3])]
    tap.check("each has a name in the code", not unnamed, *unnamed)
    missing = [f"{row[0]}: {name}" for row in terms for name in re.findall(r"`([^`]+)`", row[3]) if name not in known]
    tap.check("every name exists", not missing, *missing)
    tap.finish()


if __name__ == "__main__":
    main()
