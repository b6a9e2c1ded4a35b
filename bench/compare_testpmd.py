#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Forwards the same packets over the same kind of port with dpdk-testpmd and with turnpike-router, and prints the cycles
# per packet of each; likewise for packets that testpmd and turnpike-sender generate. A port is a net_pcap device that
# receives a prepared capture over and over, from memory, and drops all packets sent (DPDK's guide to the Pcap poll mode
# driver, infinite_rx); where packets are generated, an empty one. All run in turns, with one forwarding lcore, bursts
# of 32 and as many buffers. Each ratio is of one round, so that other load on the machine affects both sides of it.
import argparse
import json
import pathlib
import re
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parents[1]
OVERHEAD = 38    # B that a line-rate link counts per packet beside its IP datagram
WINDOW = 0.25    # s between two readings of the counters
WARM_UP = 2      # readings that do not count

SMALLEST_FCP = 84  # B: headers of IPv4, UDP, Turnpike and FCP, no payload
IMIX = [46, 46, 576, 46, 46, 576, 46, 576, 46, 46, 576, 1500]  # 7 : 4 : 1
ROUTES = 1_000_000


SENT = "sent 64"  # the load that testpmd and the sender generate
TXONLY = "testpmd txonly"
SENT_DATAGRAM = 46  # B
SENT_FLOWS = 100
SENT_PPS = 100_000_000  # offered: more than can be sent


class Failed(Exception):
    pass


class Run(NamedTuple):
    """A program that forwards: testpmd in a mode, or the router under a law and with a routing table."""
    traffic: str
    mode: str = ""
    law: str = "none"
    table: str = ""


MAC = "testpmd mac"
RUNS = {
    "testpmd io": Run("plain", mode="io"),
    MAC: Run("plain", mode="mac"),
    "testpmd csum": Run("plain", mode="csum"),
    "router ipv4": Run("plain"),
    "testpmd mac, FCP": Run("fcp", mode="mac"),
    "router unpriced FCP": Run("fcp"),
    "router priced FCP": Run("fcp", law="fcp"),
}
ROUTED_RUNS = {
    MAC: Run("plain", mode="mac"),
    "router ipv4, 2 routes": Run("plain", table="few"),
    f"router ipv4, {ROUTES:,} routes": Run("plain", table="many"),
}


class Load(NamedTuple):
    """IP datagrams in turn, B; an Ethernet frame has 18 B more, its FCS included. The packets of a
    capture are a multiple of 12, so an IMIX is exact. Programs have as many buffers as the router
    takes for its links' `queue`."""
    sizes: list
    runs: dict
    packets: int = 504
    buffers: int = 16383
    queue: str = "4 MB"

    def datagrams(self, traffic):
        return [max(d, SMALLEST_FCP if traffic == "fcp" else 0) for d in self.sizes]


LOADS = {
    "64": Load([46], RUNS),
    "512": Load([494], RUNS),
    "1500": Load([1500], RUNS),
    "imix": Load(IMIX, RUNS),
    # So many destinations that a look-up finds little of the table in the caches.
    "64 scattered": Load([46], ROUTED_RUNS, packets=24_000, buffers=65535, queue="24 MB"),
}


ALL_LOADS = [*LOADS, SENT]


def routes(table, folder):
    """The YAML of a table: the lower half of the addresses to the left, the upper to the right, by two
    routes or by a million /24 at even distances, without 10/8, where the links are, and 127/8."""
    if table == "few":
        return ", routes: [{ prefix: 0.0.0.0/1, via: left }, { prefix: 128.0.0.0/1, via: right }]"
    if table != "many":
        return ""
    file = folder / "routes.txt"
    with file.open("w") as out:
        for via, first, blocks in (("left", 11 << 16, 116 << 16), ("right", 128 << 16, 95 << 16)):
            for i in range(ROUTES // 2):
                net = first + i * blocks // (ROUTES // 2)
                out.write(f"{net >> 16}.{net >> 8 & 255}.{net & 255}.0/24 {via}\n")
    return f", table: {file}"


def topology(folder, name, load, run, cpu):
    """Two links at line rate whose ports receive the folder's captures; nothing waits at 1 Tbps."""
    links = "".join(
        f"  {side}: {{ ends: [gate, {side}-host], rate: 1 Tbps, buffer: {load.queue}, drain: line-rate,"
        f" law: {run.law}, attach: {{ gate: {{ pcap: {{ rx: {folder}/{side}.pcap, repeat: true }} }} }} }}\n"
        for side in ("left", "right"))
    file = folder / f"{name}.yaml"
    file.write_text(f"run: {{ duration: 1 h, sample: {WINDOW} s, output: {folder}/out }}\n"
                    "hosts: { left-host: {}, right-host: {} }\n"
                    f"routers: {{ gate: {{ lcores: {cpu}{routes(run.table, folder)} }} }}\n"
                    f"links:\n{links}")
    return file


def testpmd(mode, buffers, ports, chosen, more=()):
    """Packets per second in each window, from testpmd's own port statistics; `ports` are arguments of
    net_pcap devices. Its buffers lie as close together as the router's: without hugepages it would
    give each a page of 4 KB, and packets of a burst would drive each other out of the first cache."""
    devices = [f"--vdev=net_pcap{i},{port}" for i, port in enumerate(ports)]
    command = ["dpdk-testpmd", "--no-huge", "-m", "640", "--no-shconf", "--no-telemetry", "--no-pci",
               "--lcores", f"0@{chosen.main_cpu},1@{chosen.cpu}", *devices, "--", "-i",
               f"--forward-mode={mode}", "--nb-cores=1", "--burst=32", f"--total-num-mbufs={buffers}",
               "--mbcache=256", "--mp-alloc=anon", "--no-iova-contig", "--rxd=1024", "--txd=1024",
               *more]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True) as process:
        def say(line):
            process.stdin.write(line + "\n")
            process.stdin.flush()
        say("start")
        time.sleep(1)  # its ports start, and it discards packets that wait there
        for _ in range(WARM_UP + round(chosen.seconds / WINDOW)):
            say("show port stats all")
            time.sleep(WINDOW)
        said = process.communicate("stop\nquit\n", timeout=30)[0]
    rates = [int(n) for n in re.findall(r"Tx-pps: +(\d+)", said)]
    n = len(devices)
    if process.returncode != 0 or len(rates) < n * (WARM_UP + 1):
        raise Failed("dpdk-testpmd said:\n" + said)
    return [sum(rates[i:i + n]) for i in range(0, len(rates), n)][WARM_UP:]


def router(build, file, sizes, law, seconds):
    """The same from the router's live samples, which count bytes per link. Every packet must have left, and must have
    been stamped where the links have a law."""
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


def sender(build, folder, chosen):
    """Packets per second over a whole run of an open-loop stream that offers more than can be sent."""
    port = f"pcap: {{ rx: {folder}/empty.pcap }}"
    file = folder / "stream.yaml"
    file.write_text(f"run: {{ duration: {chosen.seconds} s, output: {folder}/out }}\n"
                    "hosts: { source: {}, sink: {} }\n"
                    "links: { line: { ends: [source, sink], rate: 1 Tbps, drain: line-rate, attach: "
                    f"{{ source: {{ {port} }}, sink: {{ {port} }} }} }} }}\n"
                    "traffic: { streams: { load: { from: source, to: sink,"
                    f" frames: {{ sizes: {SENT_DATAGRAM + 18} B }},"
                    f" rate: {{ packets: {SENT_PPS} /s }}, flows: {SENT_FLOWS} }} }} }}\n")
    done = subprocess.run([build / "sender" / "turnpike-sender", file, "--node", "source", "--lcores",
                           str(chosen.cpu), "--idle", "poll", "--live", "off"],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Failed("turnpike-sender said:\n" + done.stderr)
    stream = json.loads((folder / "out" / "summary.json").read_text())["streams"]["load"]
    if stream["kept_up"] or not stream["sent_packets"]:
        raise Failed(f"the sender was not driven to its limit:\n{done.stderr}")
    return [stream["achieved_pps"]]


def sending_rounds(build, folder, chosen):
    """Cycles per packet of both in every round."""
    # A capture without packets: its header alone, as pcap-savefile(5) has it.
    (folder / "empty.pcap").write_bytes(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
    hz = hertz(build)
    cycles = {TXONLY: [], "sender, a stream": []}
    for _ in range(chosen.rounds):
        for name, of in cycles.items():
            rates = (testpmd("txonly", 16383, [f"rx_pcap={folder}/empty.pcap"], chosen,
                             [f"--txpkts={SENT_DATAGRAM + 14}", "--txonly-multi-flow"])
                     if name == TXONLY else sender(build, folder, chosen))
            of.append(hz / statistics.median(rates))
    return cycles


def prepare(build, load, folder, cpu):
    """Captures and topology files of a load: the folder of each traffic, the file of each run."""
    captures, files = {}, {}
    for name, run in load.runs.items():
        captures[run.traffic] = folder / run.traffic
        captures[run.traffic].mkdir(exist_ok=True)
        files[name] = topology(captures[run.traffic], f"{len(files)}", load, run, cpu)
    for traffic, at in captures.items():
        # The last one has the largest table.
        file = [files[name] for name, run in load.runs.items() if run.traffic == traffic][-1]
        sizes = ",".join(map(str, load.datagrams(traffic)))
        subprocess.run([build / "bench" / "bench-capture", file, at, "--datagrams", sizes, "--packets",
                        str(load.packets), *(["--fcp"] if traffic == "fcp" else [])], check=True)
    return captures, files


def hertz(build):
    """Of the time stamp counter."""
    return json.loads(subprocess.run([build / "bench" / "bench-machine"], capture_output=True,
                                     check=True).stdout)["tsc_hz"]


def rounds(build, load, chosen, folder):
    """Cycles per packet of every run in every round: name -> list."""
    hz = hertz(build)
    captures, files = prepare(build, load, folder, chosen.cpu)
    cycles = {name: [] for name in load.runs}
    for _ in range(chosen.rounds):
        for name, run in load.runs.items():
            if run.mode:
                ports = [f"rx_pcap={captures[run.traffic]}/{side}.pcap,infinite_rx=1"
                         for side in ("left", "right")]
                rates = testpmd(run.mode, load.buffers, ports, chosen)
            else:
                rates = router(build, files[name], load.datagrams(run.traffic), run.law, chosen.seconds)
            cycles[name].append(hz / statistics.median(rates))
    return cycles


def measure(build, load, chosen):
    """Figures of a load's runs: name -> median, range, the median ratio to testpmd's mac mode on the same packets (to
    its txonly mode where packets are generated), and the mean size of a packet on an Ethernet in B, with FCS, preamble
    and gap."""
    with tempfile.TemporaryDirectory(prefix="turnpike-beside-") as name:
        folder = pathlib.Path(name)
        if load == SENT:
            cycles = sending_rounds(build, folder, chosen)
            return {name: summary(of, cycles[TXONLY], [SENT_DATAGRAM]) for name, of in cycles.items()}
        cycles = rounds(build, LOADS[load], chosen, folder)
    return {name: summary(cycles[name], cycles["testpmd mac, FCP" if run.traffic == "fcp" else MAC],
                          LOADS[load].datagrams(run.traffic))
            for name, run in LOADS[load].runs.items()}


def summary(cycles, base, datagrams):
    return {"wire": round(statistics.mean(datagrams) + OVERHEAD, 2),
            "cycles": round(statistics.median(cycles), 1),
            "least": round(min(cycles), 1), "most": round(max(cycles), 1),
            "ratio": round(statistics.median(c / b for c, b in zip(cycles, base)), 2)}


def add_options(options):
    options.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    options.add_argument("--loads", default=",".join(ALL_LOADS),
                         help="some of: " + ",".join(ALL_LOADS))
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--seconds", type=float, default=1.5, help="each run is measured")
    options.add_argument("--cpu", type=int, default=1, help="that forwards")
    options.add_argument("--main-cpu", type=int, default=0, help="of testpmd's other thread")


def main():
    options = argparse.ArgumentParser(description="Cycles per packet beside dpdk-testpmd.")
    add_options(options)
    chosen = options.parse_args()
    for load in chosen.loads.split(","):
        try:
            figures = measure(chosen.build, load, chosen)
        except Failed as why:
            print(f"beside: {why}", file=sys.stderr)
            return 1
        print(f"{load:32} cycles/packet   least    most  to testpmd")
        for name, f in figures.items():
            print(f"  {name:30} {f['cycles']:13.1f} {f['least']:7.1f} {f['most']:7.1f} {f['ratio']:10.2f}",
                  flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
