#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# docs/performance.md has exactly the figures of the results that it names.
import copy
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "tests")]
import render
from tap import Tap


def main():
    tap = Tap()
    page = render.PAGE.read_text()
    source = render.SOURCE.search(page)[1]
    results = json.loads((ROOT / source).read_text())
    tap.check("the page equals the rendered results",
              render.rendered(page, results, source) == page, "render it with: bench/render.py")
    tap.check("every table of the renderer is on the page",
              set(re.findall(r"<!-- figures: (\w+) -->", page)) == set(render.BLOCKS))
    tap.check("every part of the results names a commit",
              set(results["commits"]) == set(results) - {"date", "machine", "commits"} and
              all(re.match(r"[0-9a-f]{40}\b", commit) for commit in results["commits"].values()))

    other = copy.deepcopy(results)
    other["beside"]["64"]["router ipv4"]["cycles"] *= 2
    tap.check("another figure makes another page", render.rendered(page, other, source) != page)
    said = subprocess.run([ROOT / "bench" / "render.py", "--check"], capture_output=True, check=False)
    tap.check("bench/render.py --check agrees", said.returncode == 0, said.stderr.decode())
    tap.finish()


if __name__ == "__main__":
    main()
