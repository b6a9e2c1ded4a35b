#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# docs/architecture.svg is drawn from the present includes and from docs/architecture.json; every file, function, link
# and name in that data and in docs/architecture.md exists.
import copy
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "docs"), str(ROOT / "tests")]
import draw_architecture as drawing  # noqa: E402
from architecture import layers  # noqa: E402
from tap import Tap  # noqa: E402

NEAR = 0.1     # by which a module's lines may differ from the drawn ones
CAPTION = 26   # characters that fit into a step's box
REDRAW = "redraw with: docs/draw_architecture.py"
TRACE = "after a build of bench/bench-count: docs/draw_architecture.py --trace"


def code_of(path):
    """A source file's text without comments; empty if there is no such file."""
    file = ROOT / path
    return re.sub(r"//[^\n]*", "", file.read_text()) if file.is_file() else ""


def missing_functions(data):
    """Entries of the data whose function their file does not name."""
    missing = []
    for program in drawing.PATHS:
        for step in data[program]["steps"]:
            for entry in [step, *step["calls"]]:
                code, (*scope, name) = code_of(entry["file"]), entry["function"].split("::")
                if not re.search(rf"(?<!\w){name}\(", code) or not all(re.search(rf"\b{s}\b", code) for s in scope):
                    missing.append(f"{entry['function']} in {entry['file']}")
    return missing


def missing_files(data):
    return [f for program in drawing.PATHS for f in data[program]["files"] if not (ROOT / f).is_file()]


def missing_paths(page):
    """Targets of relative links, and paths in backquotes, that do not exist."""
    links = [target.split("#")[0] for target in re.findall(r"\]\(([^)\s]+)\)", page) if "://" not in target]
    missing = [target for target in links if target and not (ROOT / "docs" / target).exists()]
    named = re.findall(r"`([\w.-]+(?:/[\w.-]+)*/?)`", page)
    return missing + [name for name in named if "/" in name and not name.startswith("build/")
                      and not (ROOT / name).exists()]


def missing_names(page):
    """C++ names in backquotes, such as `Worker::poll` and `LinkQueue`, that are no words of the sources."""
    words = set()
    for folder in layers.FOLDERS:
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in (".h", ".cpp"):
                words.update(re.findall(r"[A-Za-z_]\w*", re.sub(r"//[^\n]*", "", path.read_text())))
    named = re.findall(r"`((?:\w+::)+\w+|[A-Z]\w*[a-z]\w*|k[A-Z]\w+|\w+_\w+)`", page)
    return [name for name in named if not set(name.split("::")) <= words]


def main():
    tap = Tap()
    page, data = drawing.PAGE.read_text(), json.loads(drawing.DATA.read_text())
    uses, lines = drawing.read_modules()

    tap.check("docs/architecture.svg is drawn from the includes and the data",
              drawing.draw(uses, data) == drawing.DRAWING.read_text(), REDRAW)
    tap.check("docs/architecture.md holds the counts of the data", drawing.write_page(page, data) == page, REDRAW)
    tap.check("the page has the counts of both paths",
              re.findall(r"<!-- files: (\w+), made", page) == list(drawing.PATHS))
    off = [f"{m}: {data['lines'].get(m)} drawn, {n} present" for m, n in lines.items()
           if abs(data["lines"].get(m, 0) - n) > NEAR * n]
    tap.check(f"every module's lines are within {NEAR:.0%} of the drawn ones", not off, *off, REDRAW)
    tap.check("the data has the script's steps",
              all([(s["step"], s["function"]) for s in data[program]["steps"]] ==
                  [step[:2] for step in spec["steps"]] for program, spec in drawing.PATHS.items()), TRACE)
    long = [step[2] for spec in drawing.PATHS.values() for step in spec["steps"] if len(step[2]) > CAPTION]
    tap.check("captions fit into their boxes", not long, *long)
    for name, missing in [("every function of the data is in its file", missing_functions(data)),
                          ("every file of the data exists", missing_files(data))]:
        tap.check(name, not missing, *missing, TRACE)
    labels = " ".join(group[-1] for spec in drawing.PATHS.values() for group in spec["groups"])
    labelled = "".join(f"`{name}`" for name in re.findall(r"((?:\w+::)*\w+)\(\)", labels))
    for name, missing in [("every function above the steps exists", missing_names(labelled)),
                          ("every link and path of the page exists", missing_paths(page)),
                          ("every C++ name of the page exists", missing_names(page))]:
        tap.check(name, not missing, *missing)
    wide = [f"line {i}: {len(line)}" for i, line in enumerate(page.splitlines(), 1) if len(line) > 120]
    tap.check("no line of the page is longer than 120 columns", not wide, *wide)

    other = copy.deepcopy(data)
    other["router"]["steps"][1]["function"] = "Worker::gone"
    other["sender"]["files"]["sender/gone.h"] = 1
    tap.check("a function or a file that is gone is noticed",
              set(missing_functions(other)) - set(missing_functions(data))
              and "sender/gone.h" in missing_files(other))
    tap.check("other includes make another drawing",
              drawing.draw({**uses, "bench": set()}, data) != drawing.draw(uses, data))
    tap.check("a path, a link and a name that are gone are noticed",
              missing_paths("`common/gone.h` [gone](gone.md)") == ["gone.md", "common/gone.h"]
              and missing_names("`Gone::now`, `Worker::poll`") == ["Gone::now"])
    tap.finish()


if __name__ == "__main__":
    main()
