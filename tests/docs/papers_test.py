#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# docs/papers.md has a row for every section, figure, table and algorithm of the papers, and for every experiment, and
# each row leads to a place that exists or says why there is none.
import re
import sys

from places import EQUATIONS, ROOT, located, parts, source

sys.path.insert(0, str(ROOT / "tests"))
from tap import Tap  # noqa: E402

PAGE = ROOT / "docs" / "papers.md"
EXPERIMENTS = ROOT / "lab" / "paper" / "experiments"
# Of each paper, in its order.
NUMBERS = {
    "FCP": {
        "section": "1 2 3 3.1 3.2 4 4.1 4.2 4.3 5 6 6.1 6.1.1 6.1.2 6.1.3 6.2 6.3 7",
        "figure": range(1, 25),
        "equation": EQUATIONS["FCP"],
    },
    "XCP": {
        "section": "1 2 3 3.1 3.2 3.3 3.4 3.5 3.5.1 3.5.2 3.5.3 4 5 5.1 5.2 5.3 6 7 8 8.1 8.2 9 10",
        "appendix": "A B C",
        "figure": range(1, 17),
        "theorem": "1",
        "equation": EQUATIONS["XCP"],
    },
    "QFCP": {
        "section": "I II II-A II-B II-C III III-A III-B III-C III-D IV",
        "figure": range(1, 6),
        "equation": EQUATIONS["QFCP"],
    },
    "QCP": {
        "section": "1 2 2.1 2.2 2.2.1 2.2.2 3 4 5 6 6.1 6.2 6.3 7 8 9 9.1 10 10.1 10.2 10.3 10.4 11 12 13",
        "figure": range(1, 13),
        "table": range(1, 5),
        "definition": "1",
        "equation": [*EQUATIONS["RCP"], *EQUATIONS["QCP"]],
    },
    "Accumulation-based control": {
        "section": "I II III III-A III-A.1 III-A.2 III-A.3 III-B III-B.1 III-B.2 IV IV-A IV-B IV-C V V-A V-B V-C VI "
                   "VI-A VI-A.1 VI-A.2 VI-A.3 VI-A.4 VI-A.5 VI-A.6 VI-B VII VIII IX",
        "figure": range(1, 8),
        "table": "I",
        "algorithm": "1",
        "equation": EQUATIONS["Accumulation-based control"],
    },
}
NAME = re.compile(r"(abstract|(?:section|appendix|figure|table|theorem|definition|algorithm) ([\w.-]+))(, \S.+)?"
                  r"|equation \((\d+)\)|equations \((\d+)\) to \((\d+)\)")
REFERENCE = re.compile(r"((?:`[^`]+` )+)\[([^\]]+)\]\(\.\./([^)]+)\)")
LINK = re.compile(r"\[[^\]]*\]\(([^)]+)\)")
PROSE = {".md", ".bib"}  # files that a row may name without a symbol


def numbers(rows):
    """Kind -> the numbers that rows have, in their order; and the mistakes in the first cells."""
    found, wrong = {}, []
    for row in rows:
        match = NAME.fullmatch(row[0])
        if not match:
            wrong.append(f"not a name of the paper: {row[0]}")
        elif match[4] or match[5]:
            first, last = match[4] or match[5], match[4] or match[6]
            found.setdefault("equation", []).extend(map(str, range(int(first), int(last) + 1)))
        elif match[2] and not match[3]:
            found.setdefault(row[0].split()[0], []).append(match[2])
    names = [row[0] for row in rows]
    wrong += [f"{name}: twice" for name in sorted({name for name in names if names.count(name) > 1})]
    # A detail stands behind its section, and "rows below" before rows of its own.
    for before, row, after in zip([[""], *rows], rows, [*rows[1:], ["section"]]):
        match = NAME.fullmatch(row[0])
        if match and match[3] and match[1] not in names[:names.index(row[0])]:
            wrong.append(f"{row[0]}: no row {match[1]} before it")
        if row[-1] == "rows below" and after[0].startswith("section") and not after[0].startswith(row[0]):
            wrong.append(f"{row[0]}: no rows below")
    return found, wrong


def missing_numbers(heading, found):
    wanted = {kind: n.split() if isinstance(n, str) else [str(i) for i in n] for kind, n in NUMBERS[heading].items()}
    return [f"{kind}: {found.get(kind, [])} instead of {wanted.get(kind, [])}" for kind in sorted({*wanted, *found})
            if found.get(kind, []) != wanted.get(kind, [])]


def experiments():
    return {name for path in sorted(EXPERIMENTS.glob("*.yaml"))
            for name in re.findall(r"^  - id: (\S+)$", path.read_text(), re.M)}


def anchors(path, files):
    """The anchors that GitHub gives to a page's headings."""
    text = source(path, files) or ""
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
            for heading in re.findall(r"^#+ (.+)$", text, re.M)}


def wrong_symbols(text, files):
    """Mistakes of references to symbols in files."""
    for match in REFERENCE.finditer(text):
        content = source(match[3], files)
        if content is None:
            yield f"{match[3]}: no such file"
        elif located(content, re.findall(r"`([^`]+)`", match[1])) is None:
            yield f"{match[1]}: not in {match[3]}"
        if not match[3].endswith(match[2]):
            yield f"{match[3]}: the text says {match[2]}"


def wrong_links(text, files):
    """Mistakes of links from docs/ that REFERENCE does not cover."""
    for target in LINK.findall(REFERENCE.sub("", text)):
        path, _, anchor = target.partition("#")
        file = (PAGE.parent / path).resolve()
        if not file.is_file():
            yield f"{target}: no such file"
        elif file.suffix not in PROSE:
            yield f"{target}: no symbol before it"
        elif anchor and anchor not in anchors(file.relative_to(ROOT), files):
            yield f"{target}: no such heading"


def wrong_places(rows, known, files):
    """Mistakes of the last cells."""
    for row in rows:
        if len(row) != 3 or not all(row):
            yield f"{row[0]}: {len(row)} cells instead of three, or an empty one"
            continue
        cell = row[2]
        plain = REFERENCE.sub("", cell)
        named = re.findall(r"`([^`]+)`", plain)
        yield from (f"{row[0]}: no experiment {name}" for name in named if name not in known)
        yield from (f"{row[0]}: {mistake}" for mistake in [*wrong_symbols(cell, files), *wrong_links(cell, files)])
        place = named or REFERENCE.search(cell) or LINK.search(cell) or cell == "rows below"
        if cell.startswith("not built"):
            if not re.match(r"not built, because .{20}", cell):
                yield f"{row[0]}: without a reason"
        elif not place and not re.fullmatch(r"background(: .+)?", cell):
            yield f"{row[0]}: neither a place nor a reason"


def main():
    tap = Tap()
    page, files, known = PAGE.read_text(), {}, experiments()
    found = dict(parts(page))
    tap.check("the page has a part for every paper", list(found) == list(NUMBERS), *found)
    for heading, rows in found.items():
        had, wrong = numbers(rows)
        wrong += missing_numbers(heading, had) if heading in NUMBERS else []
        tap.check(f"{heading}: each section, figure, table and equation has one row, in the paper's order", not wrong,
                  *wrong)
        wrong = list(wrong_places(rows, known, files))
        tap.check(f"{heading}: each of {len(rows)} rows has a place that exists, or a reason", not wrong, *wrong)
    head = page.partition("\n## ")[0]
    wrong = list(wrong_links(head, files))
    tap.check("the links of its introduction exist", not wrong, *wrong)
    unnamed = sorted(known - {name for rows in found.values() for row in rows
                              for name in re.findall(r"`([^`]+)`", row[-1])})
    tap.check(f"each of {len(known)} experiments is in a row", len(known) > 50 and not unnamed, *unnamed)

    good = ["section 1", "words", "`located` [docs/places.py](../tests/docs/places.py)"]
    tap.check("a right row has no mistake", not list(wrong_places([good], known, files)))
    for what, cell in {
        "a path": good[2].replace("places", "place"), "a symbol": good[2].replace("located", "locate"),
        "a shown path": good[2].replace("[docs", "[doc"), "an experiment": "`fcp-fig99`",
        "an anchor": "[equations](equations.md#fpc)", "a page": "[equations](equation.md#fcp)",
        "a link without a symbol": "[x](../lab/run.cpp)", "no place": "somewhere", "no reason": "not built",
    }.items():
        tap.check(f"a wrong row is noticed: {what}", list(wrong_places([[*good[:2], cell]], known, files)))
    rows = found["QFCP"]
    for what, changed in {
        "a row less": rows[1:], "a row twice": [*rows, rows[0]], "two rows swapped": [rows[1], rows[0], *rows[2:]],
        "a number that the paper lacks": [*rows, ["figure 6", "words", "background"]],
        "a detail of no section": [["section I, detail", "words", "background"], *rows],
        "no rows below": [*rows, ["section V", "words", "rows below"]],
    }.items():
        had, wrong = numbers(changed)
        tap.check(f"a wrong table is noticed: {what}", wrong + missing_numbers("QFCP", had))
    tap.finish()


if __name__ == "__main__":
    main()
