# SPDX-License-Identifier: BSD-3-Clause
# Tables of pages whose rows lead from the papers to places in the tree.
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
EQUATIONS = {  # numbers in each part of docs/equations.md
    "FCP": range(1, 5), "XCP": range(1, 15), "RCP": range(1, 3), "QFCP": range(1, 5), "QCP": range(3, 23),
    "Accumulation-based control": range(1, 29),
}


def parts(page):
    """(heading, rows) of each part; a row is its three cells."""
    for part in re.split(r"^## ", page, flags=re.M)[1:]:
        heading, _, text = part.partition("\n")
        rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in text.splitlines()
                if line.startswith("|")]
        yield heading, [[cell.strip("| ") for cell in row] for row in rows[2:]]


def located(text, symbols):
    """The line, from 1 on, on which the last symbol first stands behind the ones before it; None if one is missing."""
    at = 0
    for symbol in symbols:
        match = re.compile(rf"(?<!\w){re.escape(symbol)}(?!\w)").search(text, at)
        if not match:
            return None
        at = match.end()
    return text.count("\n", 0, at) + 1


def without_comments(text):
    """C++ with its comments blanked, every line in its place."""
    return re.sub(r"//[^\n]*", "", text)


def source(path, files):
    """The file's text without comments, from `files` after the first time; None if there is no such file."""
    if path not in files:
        files[path] = without_comments((ROOT / path).read_text()) if (ROOT / path).is_file() else None
    return files[path]
