#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# `turnpike bench throughput --lab`: the rate without loss is the computed rate of the narrowest link; trials that the
# generator limits are invalid; mistakes have their exit codes. Over memif, one generator follows another.
# Usage: throughput_test.py TURNPIKE
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from tap import Tap  # noqa: E402

RESOLUTION = 0.005
SECONDS = 0.2  # of each trial
BUFFER = 3000  # B of the narrow link: a trial may exceed the link's rate by as much without loss
PREAMBLE_AND_GAP, HEADER_AND_FCS = 20, 18  # B of every frame on the line; of every frame

TOPOLOGY = """
run: {{ duration: 10 s, output: {folder}{run} }}
hosts: {{ source: {{}}, sink: {{}} }}
routers: {{ gate: {{}} }}
links:
  in: {{ ends: [source, gate], rate: 100 Gbps, drain: line-rate }}
  out: {{ ends: [gate, sink], rate: {mbps} Mbps, buffer: {buffer} B, {link} }}
traffic:
  streams:
    load: {{ from: source, to: {to}, rate: {{ packets: {pps} /s }}, frames: {frames}, flows: 10 }}
"""


class Bench:
    def __init__(self, turnpike, folder):
        self.turnpike, self.folder = turnpike, folder

    def file(self, name, **values):
        path = self.folder / f"{name}.yaml"
        defaults = {"folder": self.folder / name, "run": "", "buffer": BUFFER, "link": "law: fcp",
                    "to": "sink", "frames": "{ sizes: 64 B }"}
        path.write_text(TOPOLOGY.format(**{**defaults, **values}))
        return path

    def run(self, file, *more, trial=f"{SECONDS}s"):
        done = subprocess.run([self.turnpike, "bench", "throughput", file, "--lab", "--trial", trial,
                               "--resolution", str(RESOLUTION), *more],
                              text=True, timeout=200, capture_output=True, check=False)
        return done.returncode, done.stdout, done.stderr


def finds_the_links_rate(tap, bench):
    """Links of several rates and packet overheads, so that a constant result cannot pass."""
    imix = [64] * 7 + [594] * 4 + [1518]
    cases = [  # name, Mbps, frame sizes, B of a frame that the link counts beside it
        ("1 Gbps at line rate, 64 B", 1000, [64], PREAMBLE_AND_GAP, "drain: line-rate, law: fcp"),
        ("137 Mbps shaped, 64 B", 137, [64], -HEADER_AND_FCS, "law: none"),
        ("613 Mbps shaped, 24 B overhead, IMIX", 613, imix, 24 - HEADER_AND_FCS,
         "overhead: 24 B, law: fcp"),
    ]
    for name, mbps, frames, beyond, link in cases:
        sizes = [f + beyond for f in frames]
        packet = sum(sizes) / len(sizes)
        right = mbps * 1e6 / 8 / packet
        spare = (BUFFER + max(sizes)) / packet / SECONDS  # packets/s that the buffer absorbs
        file = bench.file("link", mbps=mbps, pps=round(2.7 * right), link=link,
                          frames="{ imix: {} }" if len(frames) > 1 else "{ sizes: 64 B }")
        code, out, err = bench.run(file, "--loss", "0,0.25")
        if not tap.check(f"{name}: exit code 0", code == 0, code, out[-2000:], err):
            continue
        result = json.loads((bench.folder / "link" / "throughput.json").read_text())
        lossless, quarter = result["throughput"]
        tap.check(f"{name}: {lossless['pps']:.0f} packets/s without loss, and {right:.0f} fit",
                  right * (1 - RESOLUTION) <= lossless["pps"] <= right + spare, lossless, spare)
        l1 = lossless["pps"] * 8e-6 * (sum(frames) / len(frames) + PREAMBLE_AND_GAP)
        tap.check(f"{name}: which is {l1:.1f} Mbps on the line",
                  abs(lossless["l1_mbps"] / l1 - 1) < 1e-3, lossless)
        if len(frames) == 1:  # of several sizes, a full buffer drops the large ones first
            # With a quarter lost, four thirds of the link's rate are offered and the link is full.
            offered = max(t["offered_pps"] for t in result["trials"] if t["loss"] <= 0.25)
            tap.check(f"{name}: a quarter is lost at {offered:.0f} packets/s",
                      4 / 3 * right * (1 - RESOLUTION) <= offered <= 4 / 3 * (right + spare)
                      and abs(quarter["pps"] / right - 1) <= RESOLUTION + spare / right, quarter)
        tap.check(f"{name}: every trial is valid, and the generator limits nothing",
                  not any(t["faults"] for t in result["trials"])
                  and not lossless["limited_by_generator"] and "not valid" not in out, out)


def calls_invalid_what_is(tap, bench):
    """A generator that polls every 5 ms sends a fifth of its packets, though its port has free slots."""
    file = bench.file("late", mbps=10000, pps=10**6, run=", quantum: 5 ms", buffer=10**6)
    code, out, err = bench.run(file, "--loss", "0,0.9", "--attempts", "2")
    if not tap.check("a generator that is late: exit code 0", code == 0, code, out[-2000:], err):
        return
    result = json.loads((bench.folder / "late" / "throughput.json").read_text())
    first = result["trials"][:2]
    tap.check("its trials name the fault, and are tried again",
              [t["share"] for t in first] == [1, 1]
              and all("load: the generator did not send" in f for t in first for f in t["faults"])
              and all(t["faults"] for t in first) and out.count("not valid: load: the generator") > 2,
              first, out)
    lossless, most = result["throughput"]
    tap.check("no rate is claimed that no trial showed",
              lossless["pps"] is None and "no loss: at no rate that was tried" in out, lossless, out)
    tap.check("a trial that passes counts, even if disturbed",
              most["pps"] is not None and abs(most["pps"] / 10**6 - 0.2) < 0.01, most)


def measures_series(tap, bench):
    """Each size of frames with each number of lcores, at a link whose rate in packets/s depends on the size."""
    mbps, sizes = 100, [64, 512]
    file = bench.file("series", mbps=mbps, pps=10**6, link="drain: line-rate, law: fcp")
    code, out, err = bench.run(file, "--loss", "0", "--frames", "64,512,imix", "--lcores", "1,2",
                               "--set", "routers.gate.lcores=[3, 1, 2]", "--confirm", "500ms")
    if not tap.check("a series: exit code 0", code == 0, code, out[-2000:], err):
        return
    result = json.loads((bench.folder / "series" / "series.json").read_text())
    series = result["throughput"]["series"]
    tap.check("it has each size of frames with each number of lcores",
              [(len(e["frames"]), e["frames"][0], e["lcores"]["gate"]) for e in series]
              == [(n, size, lcores) for lcores in ([3], [3, 1]) for n, size in ((1, 64), (1, 512), (12, 64))], series)
    tap.check("its rates are the link's for each size",
              all(abs(e["throughput"][0]["pps"] / (mbps * 1e6 / 8 / (size + PREAMBLE_AND_GAP)) - 1) < 2 * RESOLUTION
                  for e, size in zip(series, [*sizes, 0, *sizes, 0]) if size), series)
    confirmed = [e["throughput"][0]["confirmed"] for e in series]
    tap.check("which longer trials confirm, of at most the rates found",
              all(c and c["loss"] == 0 and c["share"] <= e["throughput"][0]["best"]["share"]
                  for c, e in zip(confirmed, series)), confirmed)
    tap.check("and says of what machine, file and commit they are",
              result["machine"]["kernel"] and result["commits"]["throughput"] and result["throughput"]["virtual_clock"]
              and "gate" in result["throughput"]["topology"] and re.fullmatch(r"\d{4}-\d\d-\d\d", result["date"]),
              {**result, "throughput": None})
    rows = out.rpartition("cycles/packet")[2].splitlines()
    tap.check("one table has them all", sum(line.lstrip().startswith("imix") for line in rows) == 2, out[-2000:])
    for what, code_wanted, text, more in [
            ("more lcores than the file lists", 3, "gate has 3 lcores", ["--lcores", "1,4"]),
            ("frames beyond the MTU", 3, "more than the path's MTU", ["--frames", "64,9000"]),
            ("frames of no size", 2, "neither a size in B nor imix", ["--frames", "jumbo"])]:
        code, out, err = bench.run(file, "--set", "routers.gate.lcores=[3, 1, 2]", *more)
        tap.check(f"{what}: exit code {code_wanted}, and why", code == code_wanted and text in err, code, out[-500:],
                  err)


def has_exit_codes(tap, bench):
    good = bench.file("good", mbps=100, pps=1000)
    unknown = bench.file("unknown", mbps=100, pps=1000, to="sinc")
    broken = bench.folder / "broken.yaml"
    broken.write_text("run: [1,\n")
    for what, code, parts, file, more in [
            ("a file that is not there", 3, ["none.yaml: cannot be read"], bench.folder / "none.yaml", {}),
            ("a file that is no YAML", 3, ["broken.yaml:2:"], broken, {}),
            ("a stream to a host that is not there", 3,
             ["unknown.yaml:10:31: traffic.streams.load.to", "did you mean 'sink'?"], unknown, {}),
            ("a file without streams", 3, ["demo.yaml: traffic.streams", "configs/throughput.yaml"],
             ROOT / "configs" / "demo.yaml", {}),
            ("a loss of more than all", 2, ["--loss"], good, {"more": ["--loss", "2"]}),
            ("a time without unit", 2, ["--trial", "'5' has no unit"], good, {"trial": "5"}),
            ("results that cannot be written", 4, ["/proc/none"], good,
             {"more": ["--out", "/proc/none"]})]:
        got, out, err = bench.run(file, *more.pop("more", []), **more)
        tap.check(f"{what}: exit code {code}, and why", got == code and all(p in err for p in parts),
                  got, out[-500:], err)
    code, out, err = bench.run(good)
    tap.check("and without a mistake 0", code == 0, code, out[-500:], err)


def repeats_loopback(tap, bench):
    """Programs over memif, one generator after the other at the same socket; on a busy machine at any rate."""
    file = bench.file("memif", mbps=1000, pps=2000, link="law: fcp, attach: memif")
    file.write_text(file.read_text().replace("drain: line-rate }", "drain: line-rate, attach: memif }"))
    done = subprocess.run([bench.turnpike, "bench", "throughput", file, "--frames", "64,128", "--trial", "200ms",
                           "--resolution", "0.5", "--attempts", "1"],
                          text=True, timeout=200, capture_output=True, check=False)
    tap.check("over memif: a second loopback begins where the first has ended",
              done.stdout.count("loopback") >= 2 and "failed with exit code" not in done.stderr,
              done.returncode, done.stdout[-2000:], done.stderr)


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as name:
        bench = Bench(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(name))
        finds_the_links_rate(tap, bench)
        calls_invalid_what_is(tap, bench)
        measures_series(tap, bench)
        has_exit_codes(tap, bench)
        repeats_loopback(tap, bench)
    tap.finish()


if __name__ == "__main__":
    main()
