#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Attacks on the running programs, each beside honest flows that carry as much during it as right before and after it:
# small packets to a slow link, to exhaust the router's packet buffers, and floods of forged SYN, DATA, FIN, ACK and
# RESET packets. Usage: attack_test.py ROUTER SENDER [PACKETS, of all floods together; 100,000]
import csv
import json
import pathlib
import random
import socket
import struct
import sys
import time

import gate
import world

sys.path[:0] = [str(world.ROOT / "tests")]
from undisturbed import ATTEMPTS  # noqa: E402

LEAST = 0.95                       # of the honest flows' rate right before and after
LINK, UNDISTURBED = 250, 0.75      # Mbit/s that all cross; the least part of it for a valid run
RATE, PACKETS = 10_000, 100_000    # forged packets, each second and in all
SLOW_RATE, SLOW_S = 30_000, 4.0    # small packets each second to the slow link, and for how long
BEFORE, QUIET = 1.0, 1.5           # s until bulk flows have their rate; before and after each attack
SETTLE = 0.4                       # s after an attack begins or ends that count for neither
ROUND_TRIP = 0.020                 # s, of the flows that open during floods
# Bounds of the growth after the floods, kB: two pages of a heap in large pages (common/program/large_heap.h), each of
# which a first touch may map, and the sender's records of new flows.
MOST_GROWN_KB, KB_PER_FLOW = 2 * 2048, 0.25

HEAD = """
run: { duration: 300 s, sample: 100 ms, output: /run/attack }
routers: { gate: { lcores: 0 } }
hosts:
  alice: { budget: 1 $/s, addresses: [10.7.1.2/24, "fd00:7:1::2/64"] }
  server: { addresses: [10.7.3.2/24, "fd00:7:3::2/64"] }
  mallory: { external: true, addresses: [10.7.9.2/24, "fd00:7:9::2/64"], mac: "02:00:00:00:09:02" }
"""
LINKS = """
links:
  alice-gate: { ends: [alice, gate], rate: 1 Gbps, delay: 4 ms, attach: memif }
  wide: { ends: [gate, server], rate: LINK Mbps, delay: 6 ms, buffer: 1 BDP, law: fcp, attach: memif }
  mallory-gate:
    ends: [mallory, gate]
    rate: 1 Gbps
    addresses: { gate: [10.7.9.1/24, "fd00:7:9::1/64"] }
    macs: { gate: "02:00:00:00:09:01" }
    attach: { gate: { af_packet: tp-mallory } }
""".replace("LINK", str(LINK))
# A buffer that admits more small packets than the router has packet buffers.
SLOW = HEAD + "  victim: { addresses: [10.7.4.2/24] }\n" + LINKS + """
  slow: { ends: [gate, victim], rate: 1 Mbps, buffer: 10 MB, attach: memif }
traffic:
  flows:
    bulk: { from: alice, to: server }
"""
FLOODED = HEAD + "  bob: { budget: 1 $/s, addresses: [10.7.2.2/24] }\n" + LINKS + """
  bob-gate: { ends: [bob, gate], rate: 1 Gbps, delay: 4 ms, attach: memif }
traffic:
  flows:
    bulk: { from: alice, to: server, count: 2 }
  workloads:
    new: { from: bob, to: server, arrivals: { periodic: 100 /s }, size: { fixed: 1000 B } }
"""

PORT, FIRST_PORT, PORTS = 4747, 49152, 16
SYN, DATA, ACK, FIN, RESET = 1, 3, 4, 5, 7
ALICE, SERVER = "10.7.1.2", "10.7.3.2"


def forged(kind, count, seed):
    """Forged packets of an attacker without access to other packets: addresses, ports, protocol and FCP's header are
    right; flow, sequence, acknowledgement, timestamp and token are guessed. vandal_test.py has floods of promises to
    FCP."""
    request = kind in (SYN, DATA, FIN)
    source, destination = (ALICE, SERVER) if request else (SERVER, ALICE)
    rtt = 0 if kind == SYN else 20_000_000
    congestion = struct.pack(">IffIffff", rtt, 0.0, 0.0, 0, 0.0 if kind == SYN else -1.0, 0.0, 1.0, 1.0)
    start = struct.pack(">BBBB", 1 << 4 | kind, 1, 0, 14)
    end = congestion + bytes(4 if kind == DATA else 0)
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 0, 0, 0, 64, socket.IPPROTO_UDP, 0, socket.inet_aton(source),
                     socket.inet_aton(destination))
    size = 8 + 24 + len(end)
    heads = []
    for port in range(FIRST_PORT, FIRST_PORT + PORTS):
        ports = (port, PORT) if request else (PORT, port)
        heads.append(ip + struct.pack(">HHHH", *ports, size, 0) + start)
    numbers = random.Random(seed)
    guesses = numbers.randbytes(16 * count)
    # A naive sender would number its flows from 0: small numbers are likely.
    flows = [struct.pack(">I", i % 512 if i % 2 else numbers.getrandbits(32)) for i in range(count)]
    return [heads[numbers.randrange(PORTS)] + flows[i] + guesses[16 * i:16 * i + 16] + end
            for i in range(count)], destination


FLOODS = {"forged SYNs": SYN, "forged DATA": DATA, "forged FINs": FIN, "forged ACKs": ACK, "forged RESETs": RESET}


def paced(rate, seconds, send):
    """Calls `send` every few ms with the numbers of packets sent and due; returns its start, its duration, and the
    number of packets sent."""
    began, count, clock = time.time(), 0, time.monotonic()
    while (now := time.monotonic()) < clock + seconds:
        due = int((now - clock) * rate) - count
        if due > 0:
            send(count, due)
            count += due
        time.sleep(0.002)
    return [began, time.monotonic() - clock, count]


def attack_slow_link():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
        out.connect(("10.7.4.2", 9))
        small = bytes(18)  # 64 B with Ethernet's header and check sequence

        def send(_, due):
            for _ in range(due):
                out.send(small)
        return [[*paced(SLOW_RATE, SLOW_S, send), "small packets to a slow link"]]


def flood(packets):
    sent = []
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW) as out:
        all_forged = {name: forged(kind, packets // len(FLOODS), kind) for name, kind in FLOODS.items()}
        for name, (frames, destination) in all_forged.items():
            to = (destination, 0)

            def send(at, due):
                for i in range(at, at + due):
                    out.sendto(frames[i % len(frames)], to)
            sent.append([*paced(RATE, packets / len(FLOODS) / RATE, send), name])
            time.sleep(QUIET)
    return sent


def attack(what, report, packets):
    sent = attack_slow_link() if what == "slow" else flood(packets)
    report.write_text(json.dumps(sent))


def build():
    world.add_namespaces("gate", "mallory")
    world.add_veth(("mallory", "eth0"), ("gate", "tp-mallory"))
    world.give_to_router("gate", "tp-mallory")
    world.give_to_host("mallory", "eth0", "02:00:00:00:09:02", ["10.7.9.2/24", "fd00:7:9::2/64"], ["10.7.9.1"])


def resident_kb(process):
    """Private resident memory, kB, of a running program (nsenter executes it, so its process id is the program's).

    Links' rings are shared memory of fixed size, which is touched slot by slot.
    """
    status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    return int((status.partition("RssAnon:")[2].split() or ["0"])[0])


class Play:
    """One run of router, sender and attacker, and its results."""

    def __init__(self, tap, programs, topology, what, packets):
        self.what, self.attacks, self.spans, self.flows = what, [], [], []
        self.grown_kb = [0, 0]
        path = pathlib.Path(f"/run/{what}.yaml")
        path.write_text(topology)
        seconds = BEFORE + QUIET + 1 + (SLOW_S + QUIET if what == "slow" else
                                        packets / RATE + len(FLOODS) * (QUIET + 0.2))
        router = gate.run_router(programs[0], path)
        ready = world.until(lambda: world.answers("mallory", "10.7.9.1"), 20)
        tap.check(f"{what}: the router forwards", ready, router.output()[-2000:])
        sender = world.Program(programs[1], path, "--duration", f"{seconds}s", "--out", f"/run/{what}",
                               "--live", "off", namespace="gate")
        world.until(lambda: False, BEFORE + QUIET)
        report = pathlib.Path(f"/run/{what}-sent.json")
        mallory = world.Program(sys.executable, __file__, "--attack", what, report, packets, namespace="mallory")
        memory = []
        while mallory.process.poll() is None and sender.process.poll() is None:
            memory.append([resident_kb(program.process) for program in (router, sender)])
            time.sleep(QUIET / 4)
        attacked = mallory.wait(30)
        code = sender.wait(seconds + 30)
        gate.stop_router(tap, router)
        print(*(f"# {line}" for line in sender.output().splitlines() if " sent " in line), sep="\n", flush=True)
        tap.check(f"{what}: the sender ends by itself, exit code 0", code == 0, code, sender.output()[-3000:])
        if not tap.check(f"{what}: the attacker could send", attacked == 0, attacked, mallory.output()):
            return
        # The records of new flows are touched in the first quarter.
        early = memory[len(memory) // 4]
        self.grown_kb = [late - e for late, e in zip(memory[-1], early)]
        self.attacks = json.loads(report.read_text())
        self.read()

    def read(self):
        folder = pathlib.Path(f"/run/{self.what}")
        began = json.loads((folder / "summary.json").read_text())["unix_s"]
        self.drops = json.loads(pathlib.Path("/run/gate/router-gate.json").read_text())["drops"]
        with open(folder / "rates.csv") as file:
            self.rates = [(float(r["t"]), float(r["rate_mbps"])) for r in csv.DictReader(file) if r["flow"] == "bulk"]
        with open(folder / "flows.csv") as file:
            self.flows = list(csv.DictReader(file))
        self.spans = [(at - began, at - began + seconds) for at, seconds, _, _ in self.attacks]

    def carried(self, start, end):
        """Mean Mbit/s of the bulk flows in that interval of the run."""
        return mean(rate for at, rate in self.rates if start < at <= end)

    def shares(self):
        """Share by attack: the bulk flows' rate during it relative to that right before and after it. Leaves out
        attacks where the machine did not let them fill the link at those times."""
        found = {}
        for (begin, end), (_, _, count, name) in zip(self.spans, self.attacks):
            alone = self.carried(begin + SETTLE - QUIET, begin), self.carried(end + SETTLE, end + QUIET)
            share = self.carried(begin + SETTLE, end) / max(mean(alone), 1e-9)
            print(f"# {name}: {count} packets in {end - begin:.1f} s; bulk flows carry {alone[0]:.1f} Mbit/s before, "
                  f"{alone[1]:.1f} after, {share:.3f} of it beside", flush=True)
            if min(alone) >= UNDISTURBED * LINK:
                found[name] = share
        return found

    def opened(self, start, end):
        """Sorted completion times of the flows that began in that interval; infinite where a flow did not complete."""
        return sorted(float(f["completion_s"] or "inf") for f in self.flows
                      if f["flow"] == "new" and start <= float(f["start_s"]) < end)

    def delays(self):
        """Delay by attack, s: median completion time of a new flow during it, less that right before and after it."""
        found = {}
        if self.what != "flood":
            return found
        for (begin, end), (_, _, _, name) in zip(self.spans, self.attacks):
            alone = middle(self.opened(begin + SETTLE - QUIET, begin)), middle(self.opened(end + SETTLE, end + QUIET))
            beside = self.opened(begin, end)
            found[name] = middle(beside) - mean(alone) if middle(beside) < float("inf") else middle(beside)
            print(f"# {name}: {len(beside)} flows began beside it, the middle one took {1e3 * middle(beside):.1f} ms, "
                  f"the slowest {1e3 * max(beside, default=0):.1f} ms; {1e3 * mean(alone):.1f} ms alone", flush=True)
        return found

    def forgotten(self):
        """Flows that did not end by themselves or with the run."""
        return [f for f in self.flows if f["ended"] not in ("closed", "open")]


def mean(values):
    values = list(values)
    return sum(values) / max(len(values), 1)


def middle(values):
    return values[len(values) // 2] if values else float("inf")


def judge(tap, play):
    """Repeats until the bulk flows keep their share beside each attack and new ones open in time: the machine disturbs
    different attacks in different runs. Returns all runs."""
    played, shares, delays = [], {}, {}
    for _ in range(ATTEMPTS):
        one = play()
        played.append(one)
        names = [name for *_, name in one.attacks] or ["any attack"]
        for name, share in one.shares().items():
            shares[name] = max(shares.get(name, 0), share)
        for name, delay in one.delays().items():
            delays[name] = min(delays.get(name, delay), delay)
        if all(shares.get(name, 0) >= LEAST for name in names) and max(delays.values(), default=0) < ROUND_TRIP:
            break
    for name in names:
        if name in shares:
            tap.check(f"bulk flows beside {name}: {shares[name]:.3f} of their rate alone", shares[name] >= LEAST)
        else:
            tap.skip(f"bulk flows beside {name}", "the machine did not let them fill the link")
    for name, delay in delays.items():
        tap.check(f"new flows beside {name} open within a round trip: {1e3 * delay:+.1f} ms", delay < ROUND_TRIP)
    return played


def slow_link(tap, programs):
    played = judge(tap, lambda: Play(tap, programs, SLOW, "slow", 0))
    shared = [p.drops["buffer_share"] for p in played if p.attacks]
    tap.check(f"the slow link wanted more packet buffers than there are: {shared}", min(shared, default=0) > 10_000)


def floods(tap, programs, packets):
    played = judge(tap, lambda: Play(tap, programs, FLOODED, "flood", packets))
    for play in played:
        tap.check("no flow ended early", not play.forgotten(), play.forgotten())
        sent = sum(count for _, _, count, _ in play.attacks)
        most = MOST_GROWN_KB + KB_PER_FLOW * len(play.flows)
        tap.check(f"after {sent} forged packets router and sender have {play.grown_kb} KB more memory, of {most:.0f}",
                  sent > 0.8 * packets and max(play.grown_kb) <= most)


def main():
    if sys.argv[1] == "--attack":
        attack(sys.argv[2], pathlib.Path(sys.argv[3]), int(sys.argv[4]))
        return
    programs = sys.argv[1:3]
    packets = int(sys.argv[3]) if len(sys.argv) > 3 else PACKETS
    tap = gate.enter("ping")
    build()
    slow_link(tap, programs)
    floods(tap, programs, packets)
    tap.finish()


if __name__ == "__main__":
    main()
