#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Forwards the same packets over the same kind of port with dpdk-testpmd and with turnpike-router, and
# says how many cycles a packet takes each. A port is a net_pcap device that receives a prepared capture
# over and over, from memory, and drops what is sent (DPDK's guide to the Pcap poll mode driver,
# infinite_rx). All run in turns, one forwarding lcore, bursts of 32, as many buffers; each ratio is of
# one round, so that what else the machine does meanwhile concerns both sides of it.
import argparse
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUFFERS = 16383  # what the router takes for two such ports; testpmd gets the same
PACKETS = 504    # in a capture: 12 divides it, so an IMIX is exact
OVERHEAD = 38    # B that a line-rate link counts per packet beside its IP datagram
WINDOW = 0.25    # s between two readings of the counters
WARM_UP = 2      # readings that do not count

# Sizes: name -> IP datagrams in turn, B. An Ethernet frame has 18 B more, its FCS included.
SIZES = {
    "64": [46],
    "512": [494],
    "1500": [1500],
    "imix": [46, 46, 576, 46, 46, 576, 46, 576, 46, 46, 576, 1500],  # 7 : 4 : 1
}
SMALLEST_FCP = 72  # B: headers of IPv4, UDP, Turnpike and FCP, no payload
# Who forwards what: name -> traffic, testpmd's mode or the router's law.
RUNS = {
    "testpmd io": ("plain", "io"),
    "testpmd mac": ("plain", "mac"),
    "testpmd csum": ("plain", "csum"),
    "router ipv4": ("plain", "none"),
    "testpmd mac, FCP": ("fcp", "mac"),
    "router unpriced FCP": ("fcp", "none"),
    "router priced FCP": ("fcp", "fcp"),
}


class Failed(Exception):
    pass


def datagrams(size, traffic):
    least = SMALLEST_FCP if traffic == "fcp" else 0
    return [max(d, least) for d in SIZES[size]]


def topology(folder, law, cpu, captures):
    """Two links at line rate whose ports receive the captures; nothing waits at 1 Tbps."""
    links = "".join(
        f"  {side}: {{ ends: [gate, {side}-host], rate: 1 Tbps, buffer: 16 MB, drain: line-rate,"
        f" law: {law}, attach: {{ gate: {{ pcap: {{ rx: {captures}/{side}.pcap, repeat: true }} }} }} }}\n"
        for side in ("left", "right"))
    file = folder / f"{law}.yaml"
    file.write_text(f"run: {{ duration: 1 h, sample: {WINDOW} s, output: {folder}/out }}\n"
                    "hosts: { left-host: {}, right-host: {} }\n"
                    f"routers: {{ gate: {{ lcores: {cpu} }} }}\nlinks:\n{links}")
    return file


def testpmd(mode, captures, cpu, main_cpu, seconds):
    """Packets per second in each window, from testpmd's own port statistics."""
    devices = [f"--vdev=net_pcap{i},rx_pcap={captures}/{side}.pcap,infinite_rx=1"
               for i, side in enumerate(("left", "right"))]
    command = ["dpdk-testpmd", "--no-huge", "-m", "256", "--no-shconf", "--no-telemetry", "--no-pci",
               "--lcores", f"0@{main_cpu},1@{cpu}", *devices, "--", "-i", f"--forward-mode={mode}",
               "--nb-cores=1", "--burst=32", f"--total-num-mbufs={BUFFERS}", "--mbcache=256",
               "--rxd=1024", "--txd=1024"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True) as process:
        def say(line):
            process.stdin.write(line + "\n")
            process.stdin.flush()
        say("start")
        time.sleep(1)  # its ports start, and what waits there is flushed
        for _ in range(WARM_UP + round(seconds / WINDOW)):
            say("show port stats all")
            time.sleep(WINDOW)
        said = process.communicate("stop\nquit\n", timeout=30)[0]
    rates = [int(n) for n in re.findall(r"Tx-pps: +(\d+)", said)]
    if process.returncode != 0 or len(rates) < 2 * (WARM_UP + 1):
        raise Failed("dpdk-testpmd said:\n" + said)
    windows = [a + b for a, b in zip(rates[::2], rates[1::2])]
    return windows[WARM_UP:]


def router(build, file, sizes, law, seconds):
    """The same from the router's live samples, which count bytes per link; every packet must have
    left, and been stamped where the links have a law."""
    done = subprocess.run(
        [build / "router" / "turnpike-router", file, "--idle", "poll", "--live", "json",
         "--duration", f"{seconds + (WARM_UP + 1) * WINDOW:g} s"],
        capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Failed("turnpike-router said:\n" + done.stderr)
    end = json.loads((file.parent / "out" / "router-gate.json").read_text())
    stamped = sum(link["stamped"] for link in end["links"].values())
    if end["dropped"] or stamped != (end["forwarded"] if law == "fcp" else 0):
        raise Failed(f"the router did not forward and price everything:\n{done.stderr}")
    size = statistics.mean(sizes) + OVERHEAD
    windows = [sum(link["tx_mbps"] for link in json.loads(line)["links"].values()) * 1e6 / 8 / size
               for line in done.stdout.splitlines() if line.startswith("{")]
    return windows[WARM_UP:]


def prepare(build, folder, size, cpu):
    """Captures of a size, of each traffic; returns their folders."""
    captures = {}
    for traffic in ("plain", "fcp"):
        captures[traffic] = folder / f"{size}-{traffic}"
        captures[traffic].mkdir()
        sizes = ",".join(map(str, datagrams(size, traffic)))
        subprocess.run([build / "bench" / "bench-capture",
                        topology(captures[traffic], "none", cpu, captures[traffic]),
                        captures[traffic], "--datagrams", sizes, "--packets", str(PACKETS),
                        *(["--fcp"] if traffic == "fcp" else [])], check=True)
    return captures


def measure(build, size, chosen):
    """A size's figures: what summary() makes of the cycles per packet in every round."""
    with tempfile.TemporaryDirectory(prefix="turnpike-beside-") as folder:
        return summary(size, rounds(build, size, chosen, pathlib.Path(folder)))


def rounds(build, size, chosen, folder):
    """Cycles per packet of every run in every round: name -> list."""
    hz = json.loads(subprocess.run([build / "bench" / "bench-machine"], capture_output=True,
                                   check=True).stdout)["tsc_hz"]
    captures = prepare(build, folder, size, chosen.cpu)
    cycles = {name: [] for name in RUNS}
    for _ in range(chosen.rounds):
        for name, (traffic, how) in RUNS.items():
            at = captures[traffic]
            if name.startswith("testpmd"):
                rates = testpmd(how, at, chosen.cpu, chosen.main_cpu, chosen.seconds)
            else:
                file = topology(at, how, chosen.cpu, at)
                rates = router(build, file, datagrams(size, traffic), how, chosen.seconds)
            cycles[name].append(hz / statistics.median(rates))
    return cycles


def summary(size, cycles):
    """name -> median, range, the median ratio to testpmd's mac mode on the same packets, and B that
    a packet takes on an Ethernet on average, with FCS, preamble and gap."""
    out = {}
    for name, (traffic, _) in RUNS.items():
        base = cycles["testpmd mac" if traffic == "plain" else "testpmd mac, FCP"]
        wire = statistics.mean(datagrams(size, traffic)) + OVERHEAD
        out[name] = {"wire": round(wire, 2), "cycles": round(statistics.median(cycles[name]), 1),
                     "least": round(min(cycles[name]), 1), "most": round(max(cycles[name]), 1),
                     "ratio": round(statistics.median(c / b for c, b in zip(cycles[name], base)), 2)}
    return out


def add_options(options):
    options.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    options.add_argument("--sizes", default=",".join(SIZES), help="of: " + ", ".join(SIZES))
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--seconds", type=float, default=1.5, help="each run is measured")
    options.add_argument("--cpu", type=int, default=1, help="that forwards")
    options.add_argument("--main-cpu", type=int, default=0, help="of testpmd's other thread")


def main():
    options = argparse.ArgumentParser(description="Cycles per packet beside dpdk-testpmd.")
    add_options(options)
    chosen = options.parse_args()
    for size in chosen.sizes.split(","):
        try:
            figures = measure(chosen.build, size, chosen)
        except Failed as why:
            print(f"beside: {why}", file=sys.stderr)
            return 1
        print(f"{size:22} cycles/packet   least    most  to testpmd mac")
        for name, f in figures.items():
            print(f"  {name:20} {f['cycles']:13.1f} {f['least']:7.1f} {f['most']:7.1f} {f['ratio']:10.2f}",
                  flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
