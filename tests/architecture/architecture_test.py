#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Reads every source file and checks the architecture's rules: includes, file headers, sizes, clocks.
import os
import pathlib
import re
import statistics
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "docs")]
import blocks  # noqa: E402
from architecture import layers, standard_headers  # noqa: E402
from tap import Tap  # noqa: E402

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)
LIBRARY_INCLUDE = re.compile(r"^\s*#\s*include\s+<([^>]+)>", re.M)
SYSTEM_INCLUDE = re.compile(r"^\s*#\s*include\s+<(rte_[^>]+)>", re.M)
STANDARD = {re.compile(rf"\bstd::(?:{names})\b"): headers for names, headers in standard_headers.NAMES.items()} | {
    re.compile(r"\btl::"): ["tl/expected.hpp"], re.compile(r"\b(?:uint|int)(?:8|16|32|64)_t\b"): ["cstdint"]}
CLOCK_OR_CHANCE = re.compile(
    r"\b((clock_gettime|gettimeofday|nanosleep|(steady|system|high_resolution)_clock|random_device"
    r"|sleep_(for|until)|rte_rand\w*|rte_delay\w+|__?rdtscp?|rte_rdtsc\w*"
    r"|rte_get_(tsc|timer|hpet)_cycles)\b|s?rand\s*\(|u?sleep\s*\(|time\s*\(\s*(NULL|nullptr|0|&))")
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)


def sources():
    """Path from the root -> text, of every C++ file that is ours."""
    found = {}
    for module in layers.MAY_INCLUDE:
        for path in sorted((ROOT / module).rglob("*")):
            if path.suffix in (".h", ".cpp"):
                found[str(path.relative_to(ROOT))] = path.read_text()
    return found


def module_of(path):
    """The module with the longest name that contains the path."""
    modules = [m for m in layers.MAY_INCLUDE if path.startswith(m + "/")]
    return max(modules, key=len, default=None)


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def arrow_errors(files):
    """Includes that violate the table, or whose path from the root does not exist."""
    errors = []
    for path, text in files.items():
        module = module_of(path)
        for match in INCLUDE.finditer(text):
            target = match.group(1)
            where = f"{path}:{line_of(text, match.start(1))}: includes {target}"
            other = module_of(target)
            if target not in files:
                errors.append(f"{where}, which is no file from the root")
            elif path.endswith("_test.cpp") and target.startswith(layers.TEST_SUPPORT + "/"):
                continue
            elif other != module and other not in layers.MAY_INCLUDE[module]:
                errors.append(f"{where}, but {module} may not use {other}")
    return errors


def cycle(files):
    """One cycle of includes as a list of files, or an empty list."""
    graph = {p: [t for t in INCLUDE.findall(text) if t in files] for p, text in files.items()}
    done, stack = set(), []

    def visit(node):
        if node in stack:
            return stack[stack.index(node):] + [node]
        if node in done:
            return []
        stack.append(node)
        for target in graph[node]:
            if found := visit(target):
                return found
        stack.pop()
        done.add(node)
        return []

    for node in graph:
        if found := visit(node):
            return found
    return []


def dpdk_errors(files):
    return [f"{path}:{line_of(text, m.start(1))}: {m.group(1)}"
            for path, text in files.items() if module_of(path) in layers.WITHOUT_DPDK
            for m in SYSTEM_INCLUDE.finditer(text)]


def included(path, files, known):
    """Headers of libraries that a file includes, directly or through files of ours."""
    if path not in known:
        text = files.get(path, "")
        known[path] = set(LIBRARY_INCLUDE.findall(text))
        known[path] |= {header for ours in INCLUDE.findall(text) for header in included(ours, files, known)}
    return known[path]


def standard_errors(files):
    """Headers that take a name of the C++ library from the files that include them: tests/parse, which precompiles
    headers of libraries, cannot notice."""
    errors, known = [], {}
    for path, text in files.items():
        code = COMMENT.sub("", text) if path.endswith(".h") else ""
        errors += [f"{path}: uses {match.group()} without <{headers[0]}>" for names, headers in STANDARD.items()
                   if (match := names.search(code)) and included(path, files, known).isdisjoint(headers)]
    return errors


def header_errors(files):
    """Every file starts with its licence and its purpose; x.cpp and x_test.cpp leave that to x.h."""
    errors = []
    for path, text in files.items():
        lines = text.splitlines() + ["", ""]
        if lines[0] != "// SPDX-License-Identifier: BSD-3-Clause":
            errors.append(f"{path}:1: no SPDX line")
        has_header = path.endswith(".cpp") and path[:-4].removesuffix("_test") + ".h" in files
        if not has_header and not re.match(r"// \S.{15,}", lines[1]):
            errors.append(f"{path}:2: no comment that says the file's purpose")
        if path.endswith(".h") and "#pragma once" not in lines:
            errors.append(f"{path}: no #pragma once")
    return errors


def example_errors(files):
    return [f"{path}: no example in its first comment" for path in layers.MAIN_HEADERS
            if not blocks.example(files.get(path, ""))]


def clock_errors(files):
    errors = []
    for path, text in files.items():
        code = COMMENT.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)
        if (path in layers.MAY_READ_CLOCK or layers.MAINS in path
                or re.search(r"^int main\(", code, re.M)):
            continue
        errors += [f"{path}:{line_of(code, m.start())}: {m.group()}"
                   for m in CLOCK_OR_CHANCE.finditer(code)]
    return errors


def unnoticed():
    """Names of the checks that do not report every violation of a tree made of violations."""
    wrong = {
        "common/units/a.h": '#include "router/b.h"\n#include <rte_mbuf.h>\nint x = rand();\n',
        "router/b.h": '#include "sender/c.h"\n#include "common/units/a.h"\n',
        "sender/c.h": '// SPDX-License-Identifier: BSD-3-Clause\n// Says what it is for.\n#pragma once\n'
                      "void take(std::span<int>);\n",
    }
    expected = [(arrow_errors, 2), (cycle, 3), (dpdk_errors, 1), (header_errors, 6), (clock_errors, 1),
                (standard_errors, 1), (example_errors, len(layers.MAIN_HEADERS))]
    return [f"{check.__name__}: {check(wrong)}" for check, n in expected if len(check(wrong)) != n]


def main():
    tap = Tap()
    tap.check("each check notices its violation", not unnoticed(), *unnoticed())
    files = sources()
    tap.check("there are sources to check", len(files) > 20, f"only {len(files)} files found")
    for name, errors in [
        ("includes go down the table of modules", arrow_errors(files)),
        ("no file includes itself through others", cycle(files)),
        ("modules without DPDK include none of it", dpdk_errors(files)),
        ("headers include what they use of the C++ library", standard_errors(files)),
        ("every file starts with its licence and its purpose", header_errors(files)),
        ("every module's main header has an example", example_errors(files)),
        ("no clock and no global random source below a main", clock_errors(files)),
    ]:
        tap.check(name, not errors, *errors)

    programs = re.findall(r"^\t@?(?:.*&& )?((?:tests|bench|docker)/\S+)", (ROOT / "Makefile").read_text(), re.M)
    closed = [program for program in programs if not os.access(ROOT / program, os.X_OK)]
    tap.check(f"{len(programs)} programs that the Makefile calls can be executed",
              len(programs) > 5 and not closed, *closed)

    lines = {path: text.count("\n") for path, text in files.items()}
    median = statistics.median(lines.values())
    tap.check(f"median source file: {median:g} lines, at most {layers.MEDIAN_LINES}",
              median <= layers.MEDIAN_LINES)
    long_files = {p: n for p, n in lines.items() if n > layers.LONG_FILE}
    tap.check(f"{len(long_files)} of {len(lines)} files above {layers.LONG_FILE} lines",
              len(long_files) <= layers.FEW * len(lines), *long_files.items())
    for path, n in sorted(long_files.items()):
        print(f"# {n} lines: {path}")
    tap.finish()


if __name__ == "__main__":
    main()
