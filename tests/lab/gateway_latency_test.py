#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Latency and page loads of customers behind gateways, beside bulk of the same and of other customers, compared with
# drop-tail. lab/evolution/latency.py plays it.
# Usage: gateway_latency_test.py TURNPIKE
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "lab" / "evolution")]
import latency  # noqa: E402
from tap import Tap  # noqa: E402

SECONDS = 12            # as the page's table
ABOVE_IDLE_MS = 5      # of the 99th percentile of a ping and of a request
OF_DROP_TAIL = 0.5     # of the time of a page load


def check_figures(tap):
    tap.check("percentiles are of the values themselves", latency.percentile([3, 1, 2, 4], 0.5) == 2 and
              latency.percentile([3, 1, 2, 4], 0.99) == 4 and latency.percentile([1], 0.5) == 1)
    rows = [{"flow": "pages-anna", "start_s": s, "completion_s": c}
            for s, c in (("2.000000", "0.3"), ("2.020000", "0.5"), ("3.000000", "0.1"), ("3.020000", ""))]
    found = latency.loads(rows, "anna", 6)
    tap.check("a page ends with its last object, one without an end with the run",
              len(found) == 2 and abs(found[0] - 0.52) < 1e-6 and abs(found[1] - 3) < 1e-6, found)
    every = latency.pages("carla", 12)
    tap.check("pages have their objects, and sizes within the bounds", all(
        len(page) == latency.OBJECTS and all(latency.SMALLEST <= size <= latency.LARGEST for _, size in page)
        for page in every) and every == latency.pages("carla", 12), every[:1])


def main():
    tap = Tap()
    check_figures(tap)
    with tempfile.TemporaryDirectory() as folder:
        try:
            found = latency.all_variants(sys.argv[1], pathlib.Path(folder), SECONDS)
        except RuntimeError as e:
            found = None
            tap.check("all variants play", False, e)
    for customer in latency.BROWSERS if found else ():
        for run, beside in (("without pages", "bulk"), ("gateways", "bulk and pages")):
            idle, busy = (found[r][f"ping-{customer}"] for r in ("idle", run))
            late = busy["p99"] - idle["p99"]
            tap.check(f"p99 of {customer}'s ping beside {beside} is {late:.2f} ms above idle, none is lost",
                      late <= ABOVE_IDLE_MS and busy["lost"] == 0)
            late = found[run][f"request-{customer}"]["p99"] - found["idle"][f"request-{customer}"]["p99"]
            tap.check(f"p99 of {customer}'s requests beside {beside} is {late:.2f} ms above idle", late <= ABOVE_IDLE_MS)
        before, page = (found[run][f"page-{customer}"] for run in ("drop-tail", "gateways"))
        for share in ("p50", "p99"):
            tap.check(f"{share} of {customer}'s page loads: {page[share]:.2f} s, {before[share]:.2f} s behind drop-tail",
                      page[share] <= OF_DROP_TAIL * before[share])
    if found:
        tap.check("no object of a page and no request is missing behind gateways", found["gateways"]["unfinished"] == 0, found)
    tap.finish()


if __name__ == "__main__":
    main()
