#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Runs all benchmarks and writes every figure, with the machine and the commit that its part is of, to
# bench/results/HOST-DATE.json. --parts runs some of them; with --into they join those of an earlier
# run. docs/performance.md is rendered from such a file: bench/render.py FILE.
import argparse
import datetime
import json
import pathlib
import platform
import re
import statistics
import subprocess
import sys
import tempfile

import ab
import compare_testpmd
import lab

ROOT = pathlib.Path(__file__).resolve().parents[1]
GOOGLE = {"micro": "bench-micro", "datapath": "bench-datapath", "sender": "bench-sender"}
REPETITIONS = 5
# s, each of them. A million flows take a quarter of a second for a turn of all.
LEAST_TIME, SENDER_TIME = 0.05, 0.4
# Pairs of loads that take turns, to measure the extra cost of the second one: FCP, flows, links.
TURNS = (("fcp", "priced"), ("priced/prepared:100000", "priced/flows:100000"),
         ("priced/prepared:8192", "priced/links:256"), ("ipv4/prepared:100000", "ipv4/flows:100000"),
         ("ipv4", "ipv4/links:256"))
TURN_ROUNDS, TURN_TIME = 31, 0.05
VECTORS = ("sse4_2", "avx", "avx2", "avx512f", "avx512bw", "avx512vl")
# Fields of Google Benchmark beside the benchmark's own counters.
NOT_COUNTERS = {"family_index", "per_family_instance_index", "repetitions", "repetition_index",
                "threads", "iterations", "cpu_time", "real_time"}


def output(*command):
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def machine(build):
    """Facts that the figures depend on."""
    flags = re.search(r"^flags\s*: (.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.M)[1].split()
    commands = json.loads((build / "compile_commands.json").read_text())
    worker = next(c["command"] for c in commands if "router/librouter.a" in c.get("output", ""))
    return {"vectors": [f for f in VECTORS if f in flags],
            **json.loads(output(build / "bench" / "bench-machine")),
            "target": re.findall(r"-m\S+", worker),
            "optimization": re.findall(r"-O\S", worker)[-1]}


def commit():
    """The commit that was measured; changes of results and of their page do not count."""
    changed = output("git", "status", "--porcelain", "--untracked-files=no", "--", ".",
                     ":!bench/results", ":!docs/performance.md")
    return output("git", "rev-parse", "HEAD") + (" with changes" if changed else "")


def google(program, filters, least_time):
    """Medians over repetitions: benchmark -> {time in ns, each counter, least and most cycles}. Repetitions of all
    benchmarks alternate, so that a slow phase of the machine affects all of them."""
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        subprocess.run([program, f"--benchmark_repetitions={REPETITIONS}",
                        f"--benchmark_min_time={least_time}", f"--benchmark_filter={filters}",
                        "--benchmark_enable_random_interleaving=true",
                        "--benchmark_report_aggregates_only=false",
                        "--benchmark_display_aggregates_only=true",
                        f"--benchmark_out={out.name}", "--benchmark_out_format=json"], check=True)
        runs = json.load(out)["benchmarks"]
    by_name = {}
    for run in runs:
        if run["run_type"] == "iteration":
            by_name.setdefault(run["run_name"], []).append(run)
    return {name: figures(of) for name, of in by_name.items()}


def figures(runs):
    if any(run.get("error_occurred") for run in runs):
        return {"error": runs[0].get("error_message", "it failed")}
    median = {"ns": statistics.median(run["real_time"] for run in runs)}
    for key, value in runs[0].items():
        if isinstance(value, (int, float)) and key not in NOT_COUNTERS:
            median[key] = statistics.median(run[key] for run in runs)
    if "cycles" in runs[0]:
        median["least"] = min(run["cycles"] for run in runs)
        median["most"] = max(run["cycles"] for run in runs)
    return rounded(median)


def rounded(values):
    return {key: float(f"{value:.4g}") for key, value in values.items()}


def main():
    options = argparse.ArgumentParser(description="Runs the benchmarks.")
    options.add_argument("--parts", default="micro,datapath,turns,sender,beside,lab",
                         help="some of these")
    options.add_argument("--filter", default=".", help="which of micro, datapath and sender, as a regex")
    options.add_argument("--into", type=pathlib.Path, help="the file to write, or to add to")
    options.add_argument("--host", default=platform.node(), help="the machine's name in results")
    compare_testpmd.add_options(options)
    chosen = options.parse_args()

    today = datetime.date.today().isoformat()
    into = chosen.into or ROOT / "bench" / "results" / f"{chosen.host}-{today}.json"
    all_figures = json.loads(into.read_text()) if chosen.into and into.exists() else {}
    all_figures.update({"date": today, "machine": machine(chosen.build)})
    for part in chosen.parts.split(","):
        all_figures.setdefault("commits", {})[part] = commit()
        results = all_figures.setdefault(part, {})
        if part == "beside":
            for load in chosen.loads.split(","):
                results[load] = compare_testpmd.measure(chosen.build, load, chosen)
        elif part == "turns":
            for first, second in TURNS:
                (_, of_first), (_, of_second) = ab.take_turns(
                    (first, second), [chosen.build / "bench" / "bench-count"], TURN_ROUNDS, TURN_TIME)
                results[second] = {"beside": first, "first": rounded(of_first), **rounded(of_second)}
        elif part == "lab":
            results.update(lab.measure(chosen.build))
        else:
            results.update(google(chosen.build / "bench" / GOOGLE[part], chosen.filter,
                                  SENDER_TIME if part == "sender" else LEAST_TIME))
    into.parent.mkdir(parents=True, exist_ok=True)
    into.write_text(json.dumps(all_figures, indent=1) + "\n")
    print(f"bench: {into}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
