#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# configs/gateway/kernels.yaml as it is: TCP and ping of three kernels through the tunnels of two gateways. Then the same
# with narrow core links, and with a narrow link behind them: path MTU discovery, fragments, MSS.
# Usage: gateway_test.py [--draw FILE] ROUTER     (--draw: only writes `turnpike top` as SVG, for docs/telemetry.md)
import csv
import json
import pathlib
import re
import signal
import subprocess
import sys
import time

import cases
import gate
import world

sys.path[:0] = [str(world.ROOT / "tests"), str(world.ROOT / "docs")]
from terminal import Terminal  # noqa: E402
from undisturbed import undisturbed  # noqa: E402

CONFIG = world.ROOT / "configs" / "gateway" / "kernels.yaml"
NODES = ("west", "middle", "east")
SERVER = {4: "10.20.9.2", 6: "fd00:20:9::2"}
LINK = 100         # Mbit/s
HEADERS = 84       # B of a tunnel's packet over IPv4: IP 20, UDP 8, Turnpike 24, FCP 32
SEGMENT = 1448     # B of 1500 that iperf3 counts
SECONDS = 6
CONNECTIONS = 16   # of bert; anna has one


def build():
    # A namespace for each router: DPDK may give the packet sockets of two processes the same fanout group.
    world.add_namespaces("anna", "bert", "server", *NODES)
    for host, net, node in (("anna", 1, "west"), ("bert", 2, "west"), ("server", 9, "east")):
        world.add_veth((host, "eth0"), (node, f"tp-{host}"))
        world.give_to_router(node, f"tp-{host}")
        world.give_to_host(host, "eth0", f"02:00:00:00:0{net}:02",
                           [f"10.20.{net}.2/24", f"fd00:20:{net}::2/64"],
                           [f"10.20.{net}.1", f"fd00:20:{net}::1"])


def run(program, node):
    return gate.run_router(program, "/run/kernels.yaml", node, node, "--accounting", f"/run/accounts-{node}")


def start(tap, program, text):
    pathlib.Path("/run/kernels.yaml").write_text(text)
    routers = {node: run(program, node) if node in ("west", "east") else
               gate.run_router(program, "/run/kernels.yaml", node, node) for node in NODES}
    ready = world.until(lambda: all(world.answers(host, SERVER[v]) for host in ("anna", "bert") for v in (4, 6)), 30)
    tap.check("two customers reach the server through the tunnels, IPv4 and IPv6", ready,
              *(r.output()[-2000:] for r in routers.values()))
    return routers


def stop(tap, routers):
    for node, router in routers.items():
        gate.stop_router(tap, router, node)


def ping(host, *options):
    return world.sh("ping", "-n", *options, namespace=host, check=False, timeout=60)


def percentile(said, share):
    """Of the round trips that ping printed, ms."""
    times = sorted(float(t) for t in re.findall(r"time=([\d.]+)", said))
    return times[min(int(share * len(times)), len(times) - 1)] if times else float("inf")


def shares():
    """(0 if shares, sum and latency are as they should be, the figures)."""
    idle = percentile(ping("anna", "-i", "0.02", "-c", "100", SERVER[4]), 0.99)
    one = cases.Transfer("anna", "server", SERVER[4], SECONDS)
    many = cases.Transfer("bert", "server", SERVER[4], SECONDS, CONNECTIONS, port=5301)
    time.sleep(1)
    busy = percentile(ping("anna", "-i", "0.02", "-c", "150", SERVER[4]), 0.99)
    rates = one.finish()[0], many.finish()[0]
    most = LINK * SEGMENT / (1500 + HEADERS)
    right = (sum(rates) >= 0.9 * most, max(rates) <= 1.1 * min(rates), busy <= idle + 5)
    return 0 if all(right) else 1, (rates, most, idle, busy, right)


def wide(tap, program):
    routers = start(tap, program, CONFIG.read_text())
    if any(router.process.poll() is not None for router in routers.values()):
        return stop(tap, routers)
    (_, figures), machine, disturbed = undisturbed("shares of two customers", shares)
    rates, most, idle, busy, right = figures
    said = (f"{sum(rates):.1f} of at most {most:.1f} Mbit/s",
            f"one connection and {CONNECTIONS} get {rates[0]:.1f} and {rates[1]:.1f} Mbit/s",
            f"ping beside them: p99 {busy:.2f} ms, {idle:.2f} ms when idle")
    for text, ok in zip(said, right):
        if disturbed and not ok:
            tap.skip(text, machine)
        else:
            tap.check(text, ok, machine, *([] if ok else states(program)))
    watched(tap, program)
    ecn(tap, program)
    bypass(tap, program)
    restart(tap, program, routers)
    world.until(lambda: False, 2)  # a row has both, the last ping before and its answer
    before, lines = sent("west", "anna"), len(accounts("west"))
    ping("anna", "-i", "0.02", "-c", "20", SERVER[4])
    stop(tap, routers)
    tap.check("the last line comes at an orderly end", sent("west", "anna") >= before + 20, before)
    rows = [row for row in accounts("west")[lines:] if row["customer"] == "anna"]
    offered, carried = (sum(int(row[key]) for row in rows) for key in ("offered_bytes", "carried_bytes"))
    tap.check("all that anna sent was carried", offered == carried >= 20 * 84, rows)


def states(program):
    """Figures of the narrow link's law, the lcores and the tunnels, for a failed check."""
    shown = [("middle", "law", "bottleneck"), ("west", "tunnels"), *((node, "lcores") for node in NODES)]
    return [subprocess.run([tool(program), "show", *words, "--router", node], capture_output=True, text=True, timeout=10,
                           check=False).stdout for node, *words in shown]


def tool(program):
    return pathlib.Path(program).resolve().parents[1] / "lab" / "turnpike"


def watched(tap, program):
    """`turnpike top` shows two customers with bulk."""
    loads = [cases.Transfer("anna", "server", SERVER[4], 4), cases.Transfer("bert", "server", SERVER[4], 4, 4, port=5301)]
    time.sleep(2)
    done = subprocess.run([tool(program), "top", "--json", "--interval", "1s", "--router", "west"], capture_output=True,
                          text=True, timeout=30, check=False)
    for load in loads:
        load.finish()
    rows = {row["customer"]: row for row in json.loads(done.stdout or "{}").get("tunnels", [])}
    fine = [row["sent_bps"] > row["offered_bps"] / 2 > 0 and row["price"] > 0 and 0 < row["spend"] < 2 and row["wait_p99_ms"] > 0
            for row in rows.values()]
    tap.check("top has both customers with rates, spending, price and waits", {"anna", "bert"} <= rows.keys() and all(fine),
              done)


def counter(namespace, name):
    """One of the IP counters of a kernel."""
    lines = world.sh("cat", "/proc/net/netstat", namespace=namespace).splitlines()
    names, values = (line.split() for line in lines if line.startswith("IpExt:"))
    return int(values[names.index(name)])


def ecn(tap, program):
    """A connection that knows ECN is marked in its gateway's queue, and loses nothing there."""
    for host in ("anna", "server"):
        world.sh("sh", "-c", "echo 1 >/proc/sys/net/ipv4/tcp_ecn", namespace=host)
    before, tunnels = counter("server", "InCEPkts"), row(program, "anna")
    rate, said = cases.Transfer("anna", "server", SERVER[4], 4).finish()
    marked = counter("server", "InCEPkts") - before
    now = row(program, "anna")
    tap.check(f"a connection that knows ECN gets {marked} marks, and its queue drops no packet",
              0 < marked <= now["marked"] - tunnels["marked"] and now["dropped"] == tunnels["dropped"] and rate > 1,
              said, tunnels, now)
    for host in ("anna", "server"):
        world.sh("sh", "-c", "echo 2 >/proc/sys/net/ipv4/tcp_ecn", namespace=host)


def row(program, customer):
    """A customer's figures at west."""
    done = subprocess.run([tool(program), "show", "tunnels", "--json", "--router", "west"], capture_output=True, text=True,
                          timeout=30, check=False)
    return next(row for row in json.loads(done.stdout)["tunnels"] if row["customer"] == customer)


def bypass(tap, program):
    """anna's packets, but not the answers, outside of tunnels and back."""

    def ask(*words):
        return subprocess.run([tool(program), *words, "--router", "west"], capture_output=True, text=True, timeout=30,
                              check=False)

    def state():
        shown = json.loads(ask("top", "--json", "--interval", "200ms").stdout)["tunnels"]
        return next(row["state"] for row in shown if row["customer"] == "anna")

    def carried():
        return next(row["packets"] for row in json.loads(ask("show", "tunnels", "--json").stdout)["tunnels"]
                    if row["customer"] == "anna")

    known = ask("bypass", "annna")
    tap.check("bypass names the customer that was meant", known.returncode == 2 and "did you mean 'anna'" in known.stderr,
              known)
    for options, passes in (((), False), (("--off",), True)):
        done, before = ask("bypass", "anna", *options), carried()
        said = ping("anna", "-i", "0.02", "-c", "20", SERVER[4])
        now = carried() - before
        tap.check(f"... and top says so: {'' if passes else 'bypassed'}", (state() == "bypassed") != passes, state())
        tap.check(f"anna's pings go {'through' if passes else 'outside of'} her tunnel", done.returncode == 0 and
                  " 0% packet loss" in said and (now >= 20 if passes else now == 0), done, said, now)
    again = ask("bypass", "anna", "--off")
    tap.check("... and the second order says that nothing changes", "as before" in again.stdout, again)


def accounts(node):
    """All lines of a gateway's accounts."""
    files = sorted(pathlib.Path(f"/run/accounts-{node}").glob(f"{node}-*.csv"))
    return [line for file in files for line in csv.DictReader(file.open())]


def sent(node, customer):
    return sum(int(line["packets"]) for line in accounts(node) if line["customer"] == customer)


def killed(tap, west):
    """A kill of west: its accounts have all that anna sent more than a second before."""
    world.until(lambda: False, 2)  # all that anna sent before is written
    before, pings = sent("west", "anna"), 50
    ping("anna", "-i", "0.02", "-c", str(pings), SERVER[4])
    written = world.until(lambda: sent("west", "anna") >= before + pings, 5)
    west.process.send_signal(signal.SIGKILL)
    west.wait(5)
    rows = accounts("west")
    tap.check("accounts have each ping within a second, and outlive a kill",
              written and sent("west", "anna") == before + pings, before, sent("west", "anna"), rows[-3:])
    bad = [row for row in rows if None in row.values() or not 0 <= float(row["seconds"]) < 60 or float(row["spend"]) < 0]
    tap.check("... and every line is whole", rows and not bad, bad[:3])


def restart(tap, program, routers):
    """Either gateway is killed and started again."""
    killed(tap, routers["west"])
    for node in ("west", "east"):
        routers[node].process.send_signal(signal.SIGKILL)
        routers[node].wait(5)
        routers[node] = run(program, node)
        world.until(lambda: " forwards " in routers[node].output(), 15)
        began = time.monotonic()
        ready = world.until(lambda: world.answers("anna", SERVER[4]), 15)
        took = time.monotonic() - began
        tap.check(f"after a kill of {node} and its start packets pass again", ready, f"{took:.1f} s",
                  routers[node].output()[-2000:])


def narrow(tap, program):
    """Core links of 1500 B: a tunnel carries less than that."""
    text = CONFIG.read_text().replace(", mtu: 1640", "").replace("    mtu: 1640\n", "")
    routers = start(tap, program, text)
    inner = 1500 - HEADERS
    said = ping("anna", "-c", "2", "-M", "do", "-s", "1472", SERVER[4])
    tap.check(f"too large a packet is answered with the tunnel's MTU of {inner} B",
              f"mtu = {inner}" in said or f"mtu={inner}" in said, said)
    said = ping("anna", "-c", "1", "-W", "3", "-M", "do", "-s", str(inner - 28), SERVER[4])
    tap.check("... one of that size passes", " 1 received" in said, said)
    world.sh("ip", "route", "flush", "cache", namespace="bert")
    said = ping("bert", "-c", "1", "-W", "3", "-M", "dont", "-s", "1472", SERVER[4])
    tap.check("... and one that may be fragmented", " 1 received" in said, said)
    said = ping("bert", "-c", "2", "-M", "do", "-s", "1452", SERVER[6])
    tap.check("IPv6: packet too big, with the MTU", f"mtu = {inner}" in said or f"mtu={inner}" in said, said)
    rate, said = cases.Transfer("anna", "server", SERVER[4], 2).finish()
    tap.check("TCP's segments fit without discovery", rate > 1, said)
    stop(tap, routers)


def narrow_behind(tap, program):
    """The bottleneck takes 1400 B, which west learns from middle's ICMP errors."""
    text = CONFIG.read_text().replace("    mtu: 1640\n", "    mtu: 1400\n")
    routers = start(tap, program, text)
    for host in ("anna", "bert", "server"):
        world.sh("ip", "route", "flush", "cache", namespace=host)
    inner = 1400 - HEADERS
    said = ping("anna", "-c", "4", "-W", "1", "-M", "do", "-s", "1472", SERVER[4])
    tap.check(f"a smaller MTU behind the core link comes to the host as {inner} B",
              f"mtu = {inner}" in said or f"mtu={inner}" in said, said)
    rate, said = cases.Transfer("bert", "server", SERVER[4], 3).finish()
    tap.check("... and TCP that began with larger segments goes on", rate > 1, said)
    stop(tap, routers)


def draw(tap, program, path):
    """`turnpike top` beside one connection of anna's and 16 of bert's."""
    routers = start(tap, program, CONFIG.read_text())
    loads = [cases.Transfer("anna", "server", SERVER[4], 8),
             cases.Transfer("bert", "server", SERVER[4], 8, CONNECTIONS, port=5301)]
    terminal = Terminal([tool(program), "top", "--router", "west"], 110, 20)
    terminal.read(6)
    pathlib.Path(path).write_text(terminal.cells.svg("turnpike top of a gateway"))
    terminal.send("q")
    terminal.end()
    for load in loads:
        load.finish()
    stop(tap, routers)


def main():
    tap = gate.enter("ping", "iperf3")
    build()
    if sys.argv[1] == "--draw":
        draw(tap, sys.argv[3], sys.argv[2])
        return
    wide(tap, sys.argv[1])
    narrow(tap, sys.argv[1])
    narrow_behind(tap, sys.argv[1])
    tap.finish()


if __name__ == "__main__":
    main()
