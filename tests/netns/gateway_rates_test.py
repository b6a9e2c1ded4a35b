#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Rates of kernels through two gateways (configs/gateway/kernels.yaml), IPv4 and IPv6: use of the bottleneck,
# shares of customers by budget whatever their numbers of connections, order within a flow, a changed budget.
# Usage: gateway_rates_test.py [--mbps N]... ROUTER    (100; 1000 takes more than two CPUs, which the kernels use as well)
import argparse
import json
import pathlib
import subprocess
import sys
import time

import cases
import gate
import gateway_test
import world
from gateway_test import CONFIG, HEADERS, NODES, SERVER, tool

sys.path.insert(0, str(world.ROOT / "tests"))
from undisturbed import undisturbed  # noqa: E402

MTU, ETHERNET = 1500, 14
TCP_HEADERS = {4: 20 + 32, 6: 40 + 32}  # with time stamps
SECONDS = 6
CONNECTIONS = 64   # of bert; anna has one
PORT = 5301        # bert's
USED = 0.97        # of what the headers leave, in the time that no router is descheduled ...
STALLED = 0.05     # ... which is all but this share of the time, at most
SHARES = 0.05      # off by at most
FIGURES = f"goodput, of the most, the share of one connection beside {CONNECTIONS}, stalls"
FOLLOWS = 1        # s after a changed budget; tests/lab/gateway_test.py has the bound of ten round trips


def topology(mbps):
    text = CONFIG.read_text()
    if mbps == 100:
        return text
    text = text.replace("rate: 1 Gbps", "rate: 10 Gbps").replace("rate: 100 Mbps", f"rate: {mbps} Mbps")
    return text.replace("buffer: 1 MB", "buffer: 10 MB").replace("buffer: 2 MB", "buffer: 20 MB")


def most(mbps, version):
    """Mbit/s of TCP's payload, where each full segment costs the link the tunnel's headers and the acknowledgement of
    half a packet of the other direction, which carries TCP's own acknowledgement of two segments."""
    return mbps * (MTU - TCP_HEADERS[version]) / (MTU + HEADERS + HEADERS / 2)


def received():
    """Bytes of frames that the server's kernel has received."""
    said = world.sh("ip", "-s", "-j", "link", "show", "eth0", namespace="server")
    return json.loads(said)[0]["stats64"]["rx"]["bytes"]


def stalled(program):
    """Seconds so far in which a router was descheduled: it sends nothing then. tests/lab/gateway_test.py has the bound of
    the same link's use when nothing stalls."""
    shown = (subprocess.run([tool(program), "show", "lcores", "--json", "--router", node], capture_output=True, text=True,
                            timeout=10, check=False).stdout for node in NODES)
    return 1e-3 * sum(lcore["stalled_ms"] for said in shown for lcore in json.loads(said)["lcores"])


def rates_now(program, interval_ms):
    """customer -> bit/s sent into its tunnel, in the next so many ms."""
    done = subprocess.run([tool(program), "top", "--json", "--interval", f"{interval_ms}ms", "--router", "west"],
                          capture_output=True, text=True, timeout=30, check=False)
    return {row["customer"]: row["sent_bps"] for row in json.loads(done.stdout)["tunnels"]}


def bulk(program, mbps, version, options=()):
    """(0 if use and shares are right, (the use of the most, anna's share, the share of time that routers stalled)), while
    both customers send."""
    loads = [cases.Transfer("anna", "server", SERVER[version], SECONDS, options=options),
             cases.Transfer("bert", "server", SERVER[version], SECONDS, CONNECTIONS, PORT, options)]
    time.sleep(1.5)
    stalls, began, before = stalled(program), time.monotonic(), received()
    rates = rates_now(program, 2000)
    took = time.monotonic() - began
    frames, lost = (received() - before) / took, (stalled(program) - stalls) / took
    for load in loads:
        load.finish()
    goodput = frames * 8e-6 * (MTU - TCP_HEADERS[version]) / (MTU + ETHERNET)
    used, share = goodput / most(mbps, version), rates["anna"] / (rates["anna"] + rates["bert"])
    right = USED - min(lost, STALLED) <= used <= 1.01 and abs(share / 0.5 - 1) <= SHARES
    return 0 if right else 1, (f"{goodput:.1f} Mbit/s", f"{100 * used:.1f} %", f"{100 * share:.1f} %", f"{100 * lost:.1f} %")


def ordered(mbps):
    """(0 if no datagram of a flow came out of order beside bulk, what iperf3 counted)."""
    load = cases.Transfer("bert", "server", SERVER[4], SECONDS, CONNECTIONS, PORT)
    flow = cases.Transfer("anna", "server", SERVER[4], SECONDS - 2, options=("-u", "-b", f"{mbps // 10}M"))
    out = flow.client.communicate(timeout=SECONDS + 20)[0]
    flow.server.kill()
    load.finish()
    try:
        counts = [stream["udp"]["out_of_order"] for stream in json.loads(out)["end"]["streams"]]
    except (ValueError, KeyError):
        return 1, out
    return sum(counts), counts


def ratio(program, mbps):
    """Of the customers' rates; 0 while they do not use the link, as before iperf3 has all of its connections."""
    rates = rates_now(program, 200)
    anna, bert = (rates.get(customer, 0) for customer in ("anna", "bert"))
    return anna / bert if anna + bert > 0.8e6 * mbps else 0


def changed(program, mbps, text):
    """(0 if the rates follow a budget of three times as much, (ratios before and after, s until then))."""
    path = pathlib.Path("/run/kernels.yaml")
    loads = [cases.Transfer("anna", "server", SERVER[4], 3 * SECONDS, CONNECTIONS),
             cases.Transfer("bert", "server", SERVER[4], 3 * SECONDS, CONNECTIONS, PORT)]
    even = world.until(lambda: abs(ratio(program, mbps) - 1) <= 2 * SHARES, SECONDS)
    path.write_text(text.replace("anna-west, budget: 1 $/s", "anna-west, budget: 3 $/s"))
    reloaded = subprocess.run([tool(program), "reload", "--router", "west"], capture_output=True, text=True, timeout=30,
                              check=False)
    began, seen = time.monotonic(), []
    followed = world.until(lambda: seen.append(ratio(program, mbps)) or abs(seen[-1] / 3 - 1) <= 2 * SHARES, FOLLOWS)
    took = time.monotonic() - began
    for load in loads:
        load.finish()
    path.write_text(text)
    subprocess.run([tool(program), "reload", "--router", "west"], capture_output=True, timeout=30, check=False)
    right = even and reloaded.returncode == 0 and followed
    return 0 if right else 1, ([round(r, 2) for r in seen], f"{took:.1f} s", reloaded.stderr)


def judged(tap, name, play):
    (_, figures), machine, disturbed = undisturbed(name, play)
    passed = not machine
    if disturbed:
        tap.skip(f"{name}: {figures}", machine)
    else:
        tap.check(f"{name}: {figures}", passed, machine)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("program")
    options.add_argument("--mbps", type=int, action="append", help="of the bottleneck (100)")
    chosen, _ = options.parse_known_args()  # meson gives the sender as well
    program = chosen.program
    tap = gate.enter("ping", "iperf3")
    gateway_test.build()
    bbr = "bbr" in pathlib.Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text().split()
    for mbps in chosen.mbps or (100,):
        text = topology(mbps)
        routers = gateway_test.start(tap, program, text)
        for version in (4, 6):
            judged(tap, f"{mbps} Mbps, IPv{version}: {FIGURES}",
                   lambda: bulk(program, mbps, version))
        if bbr:
            judged(tap, f"{mbps} Mbps, BBR: {FIGURES}",
                   lambda: bulk(program, mbps, 4, ("-C", "bbr")))
        judged(tap, f"{mbps} Mbps: datagrams of a flow out of order", lambda: ordered(mbps))
        judged(tap, f"{mbps} Mbps: ratios of rates after anna's budget is tripled",
               lambda: changed(program, mbps, text))
        gateway_test.stop(tap, routers)
    tap.finish()


if __name__ == "__main__":
    main()
