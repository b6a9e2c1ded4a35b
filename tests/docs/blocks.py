#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Writes the blocks of a page that name a file: ```cpp common/protocols/mimd/link.h. A block of kind diff only adds
# lines to a file of the tree; its result is written, the tree's file stays unchanged.
# Usage: blocks.py PAGE FOLDER
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```(\w+) (\S+)\n(.*?)^```$", re.M | re.S)


def blocks(page):
    """(kind, path, text) of each block that names a file."""
    return BLOCK.findall(page)


def patched(text, diff, path):
    """The text with each line "+..." inserted behind the nearest context line " ..." before it."""
    lines, at = text.splitlines(), None
    for line in diff.splitlines():
        mark, rest = line[:1], line[1:]
        if mark == " ":
            if rest not in lines:
                raise ValueError(f"{path} has no line '{rest}', which the page names")
            at = lines.index(rest) + 1
        elif mark == "+" and at is not None:
            lines.insert(at, rest)
            at += 1
        else:
            raise ValueError(f"'{line}' is neither a context line nor an addition behind one")
    return "\n".join(lines) + "\n"


def write(page, folder):
    """Writes every block below the folder; a file with the same contents keeps its time."""
    for kind, path, text in blocks(page):
        if kind == "diff":
            text = patched((ROOT / path).read_text(), text, path)
        to = folder / path
        if not to.exists() or to.read_text() != text:
            to.parent.mkdir(parents=True, exist_ok=True)
            to.write_text(text)


def main():
    try:
        write(pathlib.Path(sys.argv[1]).read_text(), pathlib.Path(sys.argv[2]))
    except ValueError as e:
        sys.exit(f"{sys.argv[1]}: {e}")


if __name__ == "__main__":
    main()
