#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Writes the code that texts show, so that exactly that code is compiled.
#
# Of a page: the blocks that name a file: ```cpp common/protocols/mimd/link.h. A block of kind diff only adds lines to a
# file of the tree; its result is written, the tree's file stays unchanged.
# Of a header: the example of its first comment, the indented lines behind "// Example:", as a test case that includes
# that header first. #include lines of the example come before the case; where the example returns, the case fails.
# Usage: blocks.py PAGE FOLDER
#        blocks.py HEADER FILE.cpp
#        blocks.py --headers             (prints the headers that have an example)
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from architecture import layers  # noqa: E402

BLOCK = re.compile(r"^```(\w+) (\S+)\n(.*?)^```$", re.M | re.S)
EXAMPLE = re.compile(r"\A(?://.*\n)*?// Example:\n//\n((?://(?:     ?.*)?\n)+)")


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


def example(header):
    """The lines of the example in a header's first comment; none where it has no example."""
    match = EXAMPLE.match(header)
    return [line.removeprefix("//").removeprefix("     ") for line in match[1].splitlines()] if match else []


def headers():
    """Paths, from the root, of all headers with an example."""
    paths = (path for folder in layers.PRODUCT for path in sorted((ROOT / folder).rglob("*.h")))
    return [str(path.relative_to(ROOT)) for path in paths if example(path.read_text())]


def test_case(path, header):
    """A source file whose one test case is the example, in the header's namespace."""
    lines = example(header)
    if not lines:
        raise ValueError(f"there is no example in {path}")
    space = re.search(r"^namespace (turnpike\S*) {$", header, re.M)[1]
    own = [line for line in lines if line.startswith("#include")]
    body = "\n".join("  " + line for line in lines if line and line not in own).replace("return;", "FAIL();")
    return "\n".join([f'#include "{path}"', "", *own, "#include <gtest/gtest.h>", "", f"namespace {space} {{",
                      f"TEST(Example, {re.sub(r'[^a-z0-9]', '_', path)}) {{", body, "}", f"}}  // namespace {space}",
                      ""])


def write_file(path, text):
    """A file that would not change keeps its time."""
    if not path.exists() or path.read_text() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def write_page(page, folder):
    """Writes every block below the folder."""
    for kind, path, text in blocks(page):
        if kind == "diff":
            text = patched((ROOT / path).read_text(), text, path)
        write_file(folder / path, text)


def main():
    if sys.argv[1:] == ["--headers"]:
        print("\n".join(headers()))
        return
    source, to = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    try:
        if source.suffix == ".h":
            to.write_text(test_case(str(source.relative_to(ROOT)), source.read_text()))
        else:
            write_page(source.read_text(), to)
    except ValueError as e:
        sys.exit(f"{sys.argv[1]}: {e}")


if __name__ == "__main__":
    main()
