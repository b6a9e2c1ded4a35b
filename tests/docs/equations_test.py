#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# docs/equations.md names every equation of the papers, and each symbol is on the line that the page gives. With --write
# updates the line numbers instead.
import re
import sys

from places import EQUATIONS, ROOT, located, parts, source

sys.path.insert(0, str(ROOT / "tests"))
from tap import Tap  # noqa: E402

PAGE = ROOT / "docs" / "equations.md"
NEAR = 10  # lines that a symbol may have moved before its number must be renewed
STEPS = {"Accumulation-based control": range(1, 8)}  # of its algorithm
REFERENCE = re.compile(r"((?:`[^`]+` )+)\[([^\]:]+):(\d+)\]\(\.\./([^)#]+)#L(\d+)\)")


def references(page, files):
    """(match, line where its symbol is or None) of every reference of the page."""
    for match in REFERENCE.finditer(page):
        text = source(match[4], files)
        symbols = re.findall(r"`([^`]+)`", match[1])
        yield match, text and located(text, symbols)


def renewed(page):
    lines = {match.start(): line for match, line in references(page, {}) if line}

    def renew(match):
        line = lines.get(match.start(), match[3])
        return f"{match[1]}[{match[2]}:{line}](../{match[4]}#L{line})"
    return REFERENCE.sub(renew, page)


def main():
    page = PAGE.read_text()
    if sys.argv[1:] == ["--write"]:
        PAGE.write_text(renewed(page))
        page = PAGE.read_text()

    tap = Tap()
    found = dict(parts(page))
    tap.check("the page has a part for every paper", set(found) == set(EQUATIONS), *found)
    for heading, rows in found.items():
        named = [int(n) for row in rows for n in re.findall(r"^\((\d+)\)|(?<=, )\((\d+)\)", row[0]) for n in n if n]
        missing = [n for n in EQUATIONS[heading] if n not in named]
        tap.check(f"{heading}: every equation has a row", not missing, *missing)
        tap.check(f"{heading}: no equation has two", len(named) == len(set(named)), named)
        steps = [int(n) for row in rows if row[0].startswith("algorithm") for n in
                 re.findall(r"\d+", row[0].partition(",")[2])]
        tap.check(f"{heading}: every step of its algorithm has a row",
                  sorted(steps) == list(STEPS.get(heading, [])), steps)
        silent = [row[0] for row in rows if not REFERENCE.search(row[-1])
                  and not re.match(r"theory|not implemented: .{10}", row[-1])]
        tap.check(f"{heading}: every row has its place in the code, or says why not", not silent, *silent)

    count, wrong = 0, []
    for match, line in references(page, {}):
        count += 1
        shown = f"{match[1]}{match[4]}:{match[5]}"
        if line is None:
            wrong.append(f"{shown}: not in that file")
        elif abs(line - int(match[5])) > NEAR:
            wrong.append(f"{shown}: at line {line}")
        if match[3] != match[5] or not match[4].endswith(match[2]):
            wrong.append(f"{shown}: the text says {match[2]}:{match[3]}")
    tap.check(f"{count} symbols stand where the page says", count > 50 and not wrong, *wrong,
              "renew lines with: tests/docs/equations_test.py --write")
    links = page.count("](../") - page.count("](../SECURITY.md")
    tap.check("every link into the code names a symbol and a line", links == count, links, count)
    tap.check("a symbol that is not there is noticed", located("int a;\n", ["a", "b"]) is None)
    tap.check("and one that has moved", located("\n\nint a() { b; }\n", ["a", "b"]) == 3)
    tap.finish()


if __name__ == "__main__":
    main()
