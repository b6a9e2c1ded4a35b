#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# The kinds of cheater: each lie alone, then random mixes of lies from one seed. Writes them as data, a name and
# settings of configs/evolution/cheaters/five-hosts.yaml each, for cheaters.py and other programs that run them.
# Usage: kinds.py > configs/evolution/cheaters/kinds.json
import json
import random

SEED, COUNT = 1, 50
START = "2 s"
HONEST = ", ".join(f"honest{i}: {{ from: honest{i}, to: sink, counts: packets }}" for i in range(1, 5))
HOSTS = 16  # of the customer that cheats


def flows(lies, count=1, hosts=1, each=False):
    """Settings of a cheater with these lies in every flow: `count` flows at each of `hosts` hosts. With `each`, every
    flow claims the whole budget of its host."""
    settings = {}
    for i in range(1, hosts + 1):
        flow = {"from": f"cheat{i}", "to": "sink", "start": START, "counts": "packets"}
        if count > 1:
            flow["count"] = count
        if lies:
            flow["protocol"] = f"{{ fcp: {{ {', '.join(f'{k}: {v}' for k, v in lies.items())} }} }}"
        text = ", ".join(f"{k}: {v}" for k, v in flow.items())
        settings["traffic.flows.cheat" + (str(i) if i > 1 else "")] = f"{{ {text} }}"
        if each:
            settings[f"hosts.cheat{i}.strategy"] = "each-flow"
    return settings


def traffic(group, text, **settings):
    """Other traffic of the cheater in place of its flow."""
    cheat = f"{{ from: cheat1, to: sink, start: {START}, {text} }}"
    return {"traffic.flows": f"{{ {HONEST} }}", f"traffic.{group}": f"{{ cheat: {cheat} }}", **settings}


def stream(rate, addresses=1):
    """UDP without prices. Packets take turns among addresses, all but the first of which are spoofed."""
    return traffic("streams", f"rate: {{ l2: {rate} }}, frames: {{ sizes: 1518 B }}, flows: {16384 * addresses}")


def moving(lies, seconds, hosts):
    """Settings of a cheater that sends from one address after another, for so long each."""
    settings = {}
    for i in range(1, hosts + 1):
        begin = 2 + seconds * (i - 1)
        name = "traffic.flows.cheat" + (str(i) if i > 1 else "")
        settings[name] = (f"{{ from: cheat{i}, to: sink, start: {begin:g} s, stop: {begin + seconds:g} s, "
                          f"counts: packets, protocol: {{ fcp: {{ {lies} }} }} }}")
    return settings


def alone():
    """Each lie alone: (name, about, settings)."""
    def lie(name, about, **lies):
        return name, about, flows(lies)

    return [
        lie("budget", "claims ten times its budget", budget_lie=10),
        lie("price", "pays and declares a tenth of the price", price_lie=0.1),
        lie("forged-price", "pays a tenth of the price and declares the whole", price_lie=0.1, balance_lie=10),
        lie("low-balance", "declares a tenth of the price that it pays", balance_lie=0.1),
        lie("high-balance", "declares ten times the price that it pays", balance_lie=10),
        lie("high-reserve", "ten times the reserve price", reserve_lie=10),
        lie("low-reserve", "a tenth of the reserve price", reserve_lie=0.1),
        lie("long-rtt", "ten times the round trip", rtt_lie=10),
        lie("short-rtt", "a tenth of the round trip", rtt_lie=0.1),
        lie("old-price", "ten times the age of its price", age_lie=10),
        lie("new-price", "a tenth of the age of its price", age_lie=0.1),
        lie("over-preload", "announces eight times its rate more and does not send it", preload_lie=8),
        lie("false-cancel", "announces that it stops and does not", preload_lie=-1),
        lie("long-slot", "ten times the slot", slot_lie=10),
        lie("short-slot", "a tenth of the slot", slot_lie=0.1),
        lie("high-exchange", "ten times the exchange rate", exchange_lie=10),
        lie("low-exchange", "a tenth of the exchange rate", exchange_lie=0.1),
        lie("ignore-price", "sends 100 Mbps, declares the rate that its budget buys", ignore_price="100 Mbps"),
        lie("ignore-openly", "sends and declares 100 Mbps", ignore_price="100 Mbps", declare="on"),
        lie("replay", "pays the lowest price of the last 5 s", replay="5 s"),
        lie("forged-minimum", "pays the price of an idle link", forge="1e-18 $/B"),
        ("split-flows", "16 flows, each of which claims the whole budget", flows({}, count=16, each=True)),
        ("split-addresses", "16 addresses, each of which claims the whole budget", flows({}, hosts=16)),
        ("moving", "claims ten times its budget, from a new address every second",
         moving("budget_lie: 10", 1, 8)),
        ("short-flows", "400 flows of 30 KB a second, each of which claims the whole budget",
         traffic("workloads", "arrivals: { poisson: 400 /s }, size: { fixed: 30 KB }, counts: packets",
                 **{"hosts.cheat1.strategy": "each-flow"})),
        ("tcp", "16 connections of TCP, without prices",
         {"traffic.flows.cheat": f"{{ from: cheat1, to: sink, start: {START}, counts: packets, protocol: tcp, "
                                 "count: 16 }"}),
        ("udp", "90 Mbps of plain UDP", stream("90 Mbps")),
        ("udp-spoofed", "90 Mbps of plain UDP from ten addresses, nine of them spoofed",
         stream("90 Mbps", addresses=10)),
        lie("probing", "sends 100 Mbps for 0.4 s of every 1.2 s", ignore_price="100 Mbps", cheat_for="400 ms",
            rest_for="800 ms"),
        lie("adaptive", "ignores prices, forges or claims a budget, whichever of them works", budget_lie=10,
            ignore_price="100 Mbps", forge="1e-18 $/B", adapt="400 ms"),
    ]


def draw_lies(chance):
    """Two to four lies of random size, and perhaps a schedule."""
    def factor(low, high):
        return float(f"{low * (high / low) ** chance.random():.3g}")

    either = (lambda: factor(0.01, 0.5)), (lambda: factor(2, 100))
    kinds = {
        "budget_lie": lambda: factor(1.5, 50),
        "price_lie": lambda: factor(0.01, 0.7),
        "balance_lie": lambda: chance.choice(either)(),
        "reserve_lie": lambda: chance.choice(either)(),
        "rtt_lie": lambda: chance.choice(either)(),
        "age_lie": lambda: chance.choice(either)(),
        "preload_lie": lambda: chance.choice([-1, -0.5, factor(1, 50)]),
        "slot_lie": lambda: chance.choice(either)(),
        "exchange_lie": lambda: chance.choice(either)(),
        "ignore_price": lambda: f"{factor(30, 200):g} Mbps",
        "replay": lambda: f"{factor(0.5, 8):g} s",
        "forge": lambda: f"{factor(1e-12, 2e-8):g} $/B",
    }
    lies = {name: kinds[name]() for name in chance.sample(sorted(kinds), chance.randint(2, 4))}
    if "ignore_price" in lies and chance.random() < 0.5:
        lies["declare"] = "on"
    schedule = chance.random()
    if schedule < 0.2:
        lies["cheat_for"], lies["rest_for"] = "400 ms", f"{factor(0.2, 2):g} s"
    elif schedule < 0.4:
        lies["adapt"] = "400 ms"
    return lies


def mixes(count):
    chance = random.Random(SEED)
    out = []
    for n in range(1, count + 1):
        lies = draw_lies(chance)
        split = chance.random()
        how = {"count": chance.choice([4, 16]), "each": True} if split < 0.15 else \
            {"hosts": chance.choice([4, 16])} if split < 0.3 else {}
        about = ", ".join(f"{k} {v}" for k, v in lies.items())
        if how:
            about += f"; {how['count']} flows" if "count" in how else f"; {how['hosts']} addresses"
        out.append((f"mix-{n:02}", about, flows(lies, **how)))
    return out


def kinds():
    single = alone()
    return [{"name": n, "about": a, "settings": s} for n, a, s in single + mixes(COUNT - len(single))]


def main():
    print("[\n" + ",\n".join(json.dumps(k) for k in kinds()) + "\n]")


if __name__ == "__main__":
    main()
