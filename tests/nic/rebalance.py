# SPDX-License-Identifier: BSD-3-Clause
# Flows that a NIC hashes to one queue become shared by both lcores, and no packet is lost on the way. Their order is
# tested in router/balance/order_test.cpp: the wires between QEMU's NICs reorder packets by themselves.
import ipaddress
import struct

import network as net

MOVES = {"igb"}  # models whose NIC spreads packets, and whose driver changes the table and reports packets' hashes
NO_TABLE = {"e1000e", "virtio", "virtio-mq"}  # vmxnet3 has a table, which QEMU ignores
BUCKETS = 128
SYMMETRIC_KEY = bytes([0x6D, 0x5A] * 20)  # as common/dpdk/rss_key.h
AT_ONCE = 128  # packets under way: they fit the receive ring and the far link's buffer
ROUNDS, ROUNDS_AFTER = 1500, 5


def toeplitz(data, key=SYMMETRIC_KEY):
    """The hash of RSS, by its definition: for each bit of the input that is set, 32 bits of the key from there."""
    bits = int.from_bytes(key, "big")
    result = 0
    for at in range(8 * len(data)):
        if data[at // 8] >> (7 - at % 8) & 1:
            result ^= bits >> (8 * len(key) - 32 - at) & 0xFFFFFFFF
    return result


def sources_of_queue(queue, queues, wanted):
    """Addresses of alice's subnet whose packets to bob's come to a queue, by the table that drivers begin with."""
    to = ipaddress.ip_address(net.HOST[4][net.BOB]).packed
    found = []
    for n in range(10, 250):
        address = ipaddress.ip_address(f"10.0.1.{n}")
        bucket = toeplitz(address.packed + to) % BUCKETS
        if bucket != 0 and bucket % queues == queue:
            found.append(str(address))
    return found[:wanted]


class Load:
    """Packets of several flows from alice's side to bob's, counted and checked at the far end."""

    def __init__(self, case, sources):
        self.near, self.far = case.machine.segments
        self.sources = sources
        self.sent = self.arrived = 0
        self.numbers = set()

    def round(self):
        """Sends AT_ONCE packets and waits for all of them. Returns whether they have arrived."""
        self.far.forget()
        for _ in range(AT_ONCE):
            echo = net.echo(net.ALICE, 4, data=struct.pack("!I", self.sent))
            self.near.send(net.frame(net.ALICE, echo._replace(source=self.sources[self.sent % len(self.sources)])))
            self.sent += 1
        while self.arrived < self.sent:
            packet = self.far.wait_for(lambda p: p.source in self.sources and p.ttl == 63)
            if packet is None:
                return False
            self.numbers.add(struct.unpack("!I", packet.data[-4:])[0])
            self.arrived += 1
        return True


def received(case):
    return [row["rx_packets"] for row in case.shown("lcores")]


def near_port(case):
    return case.shown("ports")[0]


def rebalance(case):
    if case.lcores < 2 or case.model in NO_TABLE:
        case.check("rebalance", "show ports has no buckets of RSS",
                   all(port["rss_buckets"] is None for port in case.shown("ports")))
    if case.lcores < 2 or case.model not in MOVES:
        return
    case.check("rebalance", "each queue has half of the buckets",
               near_port(case)["rss_buckets"] == [BUCKETS // 2, BUCKETS // 2], near_port(case))
    load = Load(case, sources_of_queue(0, 2, 24))
    before = received(case)
    arrived = load.round()
    after = received(case)
    case.check("rebalance", "flows that hash to queue 0 come to lcore 0 alone",
               arrived and after[0] - before[0] >= AT_ONCE and after[1] == before[1], before, after)
    for n in range(ROUNDS):
        arrived = arrived and load.round()
        if not arrived or (n % 20 == 19 and near_port(case)["rss_buckets"][1] > BUCKETS // 2):
            break
    buckets = near_port(case)["rss_buckets"]
    case.check("rebalance", "under load buckets move to lcore 1", sum(buckets) == BUCKETS and buckets[1] > BUCKETS // 2,
               buckets, received(case))
    before = received(case)
    for _ in range(ROUNDS_AFTER):
        arrived = arrived and load.round()
    after = received(case)
    case.check("rebalance", "both lcores receive packets of these flows then",
               all(after[w] - before[w] >= ROUNDS_AFTER * AT_ONCE // 24 for w in range(2)), before, after)
    case.check("rebalance", "every packet arrives, once",
               arrived and load.arrived == load.sent == len(load.numbers) and near_port(case)["rx_unparked"] == 0,
               load.sent, load.arrived, len(load.numbers), near_port(case))
