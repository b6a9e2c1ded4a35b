#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Plays three customers on a link of 100 Mbps in the lab and prints a Markdown table of latencies, page loads and
# goodput: behind one drop-tail queue, behind shapers of fixed rates with drop-tail queues, and behind gateways. Every
# variant has the same topology and traffic; of two further runs with gateways, "idle" has only pings and requests, and
# "without pages" has no pages. Writes latency.json. Exit code 1 if a run fails.
#
#   anna --- anna-home --+
#   bert --- bert-home --+-- west ==== middle ==100 Mbps== east --- server
#   carla -- carla-home -+
#
# anna has one bulk TCP connection, pings, requests and pages; bert has 64 bulk connections; carla has pings, requests
# and pages only. A page is 30 objects of 10 to 100 KB, a TCP connection for each, of which six start every round trip.
# A request is a TCP connection that carries one packet.
# Usage: latency.py [--seconds S] [--out FOLDER]     (--help has the rest)
import argparse
import csv
import json
import math
import pathlib
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parents[2]
CUSTOMERS = ("anna", "bert", "carla")
BROWSERS = {"anna": 0.0, "carla": 0.5}  # customers who load pages, and when in each second
LINK = 100                              # Mbps
QUEUE_MS = 80                           # of a full drop-tail queue, at the link and in the shapers alike
OBJECTS, AT_ONCE, ROUND_TRIP = 30, 6, 0.02
SMALLEST, LARGEST = 10e3, 100e3         # B of an object; sizes are log-uniform
REQUEST, EVERY = 1000, 0.05             # B, s
START = 2.0                             # s: the first page; pings are measured from then on
LAST = 2.0                              # s before the end: the last page
VARIANTS = ("drop-tail", "fixed-rate", "gateways")


def pages(customer, seconds):
    """[[(time in s, B) of each object] of each page], the same in every variant."""
    draw = random.Random(f"{customer} 1")
    found, start = [], START + BROWSERS[customer]
    while start <= seconds - LAST:
        found.append([(start + i // AT_ONCE * ROUND_TRIP,
                       int(math.exp(draw.uniform(math.log(SMALLEST), math.log(LARGEST))))) for i in range(OBJECTS)])
        start += 1
    return found


def topology(variant, seconds, bulk=True, web=True):
    """Text of the file; its traces are NAME.csv beside it."""
    share = LINK / len(CUSTOMERS)
    law = ", law: fcp" if variant == "gateways" else ""
    shaped = f", forward: {{ rate: {share:.3f} Mbps, buffer: {int(share * QUEUE_MS / 8)} KB }}"
    shaped = shaped if variant == "fixed-rate" else ""
    lines = [f"run: {{ duration: {seconds} s, seed: 1, sample: 100 ms, measure: {{ all: {{ from: {START} s }} }} }}",
             "hosts:", *(f"  {c}: {{ budget: 1 $/s }}" for c in CUSTOMERS), "  server: {}",
             "routers:", *(f"  {r}: {{}}" for r in (*(f"{c}-home" for c in CUSTOMERS), "west", "middle", "east")),
             "links:"]
    for c in CUSTOMERS:
        lines += [f"  {c}-line: {{ ends: [{c}, {c}-home], rate: 1 Gbps, delay: 100 us, buffer: 1 MB }}",
                  f"  {c}-west: {{ ends: [{c}-home, west], rate: 1 Gbps, delay: 100 us, buffer: 1 MB{shaped} }}"]
    lines += [f"  west-middle: {{ ends: [west, middle], rate: 1 Gbps, delay: 1 ms, buffer: 1 MB, mtu: 1640{law} }}",
              f"  bottleneck: {{ ends: [middle, east], rate: {LINK} Mbps, delay: 8 ms, "
              f"buffer: {LINK * QUEUE_MS // 8} KB, mtu: 1640{law} }}",
              "  east-server: { ends: [east, server], rate: 1 Gbps, delay: 200 us, buffer: 1 MB }"]
    if variant == "gateways":
        lines += ["customers:", *(f"  {c}: {{ link: {c}-west, budget: 1 $/s }}" for c in CUSTOMERS),
                  "  server: { link: east-server, budget: 4 $/s }",
                  "gateways:", "  west: { core: west-middle, peers: { east: {} } }",
                  "  east: { core: bottleneck, peers: { west: {} } }"]
    lines.append("traffic:")
    if bulk:
        lines += ["  flows:", "    bulk-anna: { from: anna, to: server, protocol: tcp }",
                  "    bulk-bert: { from: bert, to: server, protocol: tcp, count: 64 }"]
    traces = [("requests", "requests"), *([("pages", None)] if web else [])]
    lines += ["  workloads:", *(f"    {kind}-{c}: {{ from: {c}, to: server, protocol: tcp, "
                                f"size: {{ trace: {name or c}.csv }} }}" for c in BROWSERS for kind, name in traces)]
    lines += ["  streams:", *(f"    ping-{c}: {{ from: {c}, to: server, rate: {{ packets: 100 /s }}, "
                              f"frames: {{ sizes: 128 B }}, start: {START} s }}" for c in BROWSERS)]
    return "\n".join(lines) + "\n"


def play(turnpike, folder, variant, seconds, bulk=True, web=True):
    """A run's figures, as of(); raises RuntimeError if it fails."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "file.yaml"
    file.write_text(topology(variant, seconds, bulk, web))
    for customer in BROWSERS:
        rows = sorted(o for page in pages(customer, seconds) for o in page)
        (folder / f"{customer}.csv").write_text("time_s,bytes\n" + "".join(f"{t:.6f},{size}\n" for t, size in rows))
    times = [START + EVERY * i for i in range(int((seconds - LAST - START) / EVERY))]
    (folder / "requests.csv").write_text("time_s,bytes\n" + "".join(f"{t:.6f},{REQUEST}\n" for t in times))
    done = subprocess.run([turnpike, "lab", file, "--out", folder / "out"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{variant}: {done.stderr.strip()}")
    return of(folder / "out", seconds)


def percentile(values, share):
    """The smallest value that so large a share of them does not exceed."""
    return sorted(values)[max(math.ceil(share * len(values)) - 1, 0)]


def loads(rows, customer, seconds):
    """s from each page's start until its last object is there; a page without its end has taken until the run's."""
    ends = {}
    for row in rows:
        if row["flow"] == f"pages-{customer}":
            took = float(row["completion_s"]) if row["completion_s"] else seconds - float(row["start_s"])
            ends.setdefault(int(float(row["start_s"]) - BROWSERS[customer] + 1e-6), []).append(
                float(row["start_s"]) + took)
    return [max(end) - page - BROWSERS[customer] for page, end in sorted(ends.items())]


def of(folder, seconds):
    """Figures of a run's folder: pings (one way) and requests in ms, page loads in s, goodput in Mbps."""
    summary = json.loads((folder / "summary.json").read_text())
    with open(folder / "flows.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    short = [r for r in rows if r["flow"].startswith(("pages-", "requests-"))]
    found = {"unfinished": sum(1 for r in short if not r["completion_s"])}
    for c in BROWSERS:
        stream = summary["streams"][f"ping-{c}"]
        found[f"ping-{c}"] = {p: stream["latency_us"][p] * 1e-3 for p in ("p50", "p99")} | {
            "lost": stream["lost_packets"]}
        took = [1e3 * float(r["completion_s"]) if r["completion_s"] else math.inf
                for r in short if r["flow"] == f"requests-{c}"]
        found[f"request-{c}"] = {"p50": percentile(took, 0.5), "p99": percentile(took, 0.99), "count": len(took)}
        if times := loads(rows, c, seconds):
            found[f"page-{c}"] = {"p50": percentile(times, 0.5), "p99": percentile(times, 0.99), "count": len(times)}
    found["bulk"] = {c: sum(int(r["bytes"]) for r in rows if r["flow"] == f"bulk-{c}") * 8e-6 / seconds
                     for c in ("anna", "bert")}
    found["used"] = summary["measure"]["all"]["links"]["bottleneck"]["utilization"]
    return found


def all_variants(turnpike, out, seconds, jobs=2):
    """Run -> figures. "idle" and "without pages" are runs with gateways."""
    runs = [("idle", "gateways", False, False), *((v, v, True, True) for v in VARIANTS),
            ("without pages", "gateways", True, False)]
    with ThreadPoolExecutor(jobs) as pool:
        found = list(pool.map(lambda r: play(turnpike, out / r[0].replace(" ", "-"), r[1], seconds, *r[2:]), runs))
    return {name: figures for (name, *_), figures in zip(runs, found)}


def table(found):
    lines = ["| | ping of anna (ms) | lost | ping of carla (ms) | lost | request of anna (ms) | request of carla (ms) "
             "| page of anna (s) | page of carla (s) | bulk of anna, bert (Mbps) | link used |", "|---|" + 10 * "--:|"]
    for name, run in found.items():
        pings = [cell for c in BROWSERS for cell in (f"{run[f'ping-{c}']['p50']:.1f} / {run[f'ping-{c}']['p99']:.1f}",
                                                     str(run[f"ping-{c}"]["lost"]))]
        asked = [f"{run[f'request-{c}']['p50']:.1f} / {run[f'request-{c}']['p99']:.1f}" for c in BROWSERS]
        times = [f"{run[f'page-{c}']['p50']:.2f} / {run[f'page-{c}']['p99']:.2f}" if f"page-{c}" in run else ""
                 for c in BROWSERS]
        bulk = "" if name == "idle" else f"{run['bulk']['anna']:.1f}, {run['bulk']['bert']:.1f}"
        lines.append("| " + " | ".join([name, *pings, *asked, *times, bulk, f"{run['used']:.1%}"]) + " |")
    return "\n".join(lines)


def main():
    p = argparse.ArgumentParser(description="Latencies and page loads behind drop-tail, fixed rates and gateways.")
    p.add_argument("--seconds", type=int, default=12, help="of each run (%(default)s)")
    p.add_argument("--turnpike", default=str(ROOT / "build/lab/turnpike"), metavar="PATH", help="(%(default)s)")
    p.add_argument("--out", default="out/evolution/latency", type=pathlib.Path, help="(%(default)s)")
    p.add_argument("--jobs", type=int, default=2, help="processes at a time (%(default)s)")
    options = p.parse_args()
    try:
        found = all_variants(options.turnpike, options.out, options.seconds, options.jobs)
    except RuntimeError as e:
        print(f"latency: {e}", file=sys.stderr)
        return 1
    (options.out / "latency.json").write_text(json.dumps(found, indent=1) + "\n")
    print(table(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
