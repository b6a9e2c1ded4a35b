#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Linux as the router's control plane: a kernel answers for the router by TAP interfaces, between two other kernels.
# Usage: linux_test.py ROUTER
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

import cases
import gate
import world

# TCP needs more than the rate that the flood shows to be kept, and is not limited.
TOPOLOGY = gate.TOPOLOGY.replace("gate: { lcores: 0 }", "gate: { lcores: 0, control: linux }")
LIMITED = gate.TOPOLOGY.replace(
    "gate: { lcores: 0 }", "gate: { lcores: 0, control: { linux: { punt: { neighbour: 200 /s, local: 1000 /s } } } }")
FLOOD_S = 4
ROUTER_MAC = "02:00:00:00:01:01"
OSPF_HELLO = """
import socket, struct, sys
s = socket.socket(socket.AF_INET, socket.SOCK_RAW, 89)
s.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, 1)
s.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton("10.0.1.2"))
six = socket.socket(socket.AF_INET6, socket.SOCK_RAW, 89)
six.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_IF, socket.if_nametoindex("eth0"))
for _ in range(5):
    s.sendto(bytes(44), ("224.0.0.5", 0))
    six.sendto(bytes(36), ("ff02::5", 0))
"""
# Prints what a raw socket of OSPF's protocol, with the group joined, receives on an interface within three seconds.
OSPF_LISTEN = """
import socket, struct, sys, time
index = socket.if_nametoindex("left-gate")
s = socket.socket(socket.AF_INET, socket.SOCK_RAW, 89)
s.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP,
             struct.pack("4s4si", socket.inet_aton("224.0.0.5"), bytes(4), index))
six = socket.socket(socket.AF_INET6, socket.SOCK_RAW, 89)
six.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_JOIN_GROUP,
               socket.inet_pton(socket.AF_INET6, "ff02::5") + struct.pack("i", index))
print("ready", flush=True)
for x in (s, six):
    x.settimeout(5)
    try:
        data, source = x.recvfrom(2000)
        print(len(data), source[0], flush=True)
    except TimeoutError:
        print("nothing", flush=True)
"""
JOIN = """
import socket, struct, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("239.1.2.3", 5000))
s.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP,
             struct.pack("4s4si", socket.inet_aton("239.1.2.3"), bytes(4), socket.if_nametoindex("left-gate")))
print("ready", flush=True)
s.settimeout(8)
print(s.recvfrom(100)[0].decode(), flush=True)
"""
SEND_GROUP = """
import socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, 1)
s.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton("10.0.1.2"))
for _ in range(30):
    s.sendto(b"hello group", ("239.1.2.3", 5000))
    time.sleep(0.1)
"""
# Sends 20 frames a millisecond, or as many as it can, for some seconds; prints how many.
FLOOD = """
import socket, struct, sys, time
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
s.bind(("eth0", 0))
own = bytes.fromhex("020000000102")
arp = (b"\\xff" * 6 + own + struct.pack("!HHHBBH", 0x0806, 1, 0x0800, 6, 4, 1) + own + socket.inet_aton("10.0.1.2") +
       bytes(6) + socket.inet_aton("10.0.1.1") + bytes(18))
addresses = socket.inet_aton("10.0.1.2") + socket.inet_aton("10.0.1.1")
ip = struct.pack("!BBHHHBBH8s", 0x45, 0, 48, 0, 0, 64, 17, 0, addresses)
total = sum(struct.unpack("!10H", ip))
total = (total & 0xffff) + (total >> 16)
ip = ip[:10] + struct.pack("!H", 0xffff - (total & 0xffff) - (total >> 16)) + ip[12:]
local = bytes.fromhex("020000000101") + own + b"\\x08\\x00" + ip + struct.pack("!HHHH", 1000, 9, 28, 0) + bytes(20)
n, start = 0, time.monotonic()
while (now := time.monotonic()) < start + float(sys.argv[1]):
    for _ in range(20):
        if n >= (now - start) * 20000:
            break
        try:
            s.send(local if n % 2 else arp)
            n += 1
        except OSError:
            pass
    time.sleep(0.0005)
print(n)
"""


def python(namespace, script, *arguments):
    return subprocess.Popen(world.inside(namespace, [sys.executable, "-c", script, *arguments]),
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def flags(interface):
    return world.sh("ip", "-o", "link", "show", interface, namespace="gate", check=False)


def cpu_s(process):
    """{thread's name: CPU time that it has used}"""
    used = {}
    for task in pathlib.Path(f"/proc/{process.pid}/task").iterdir():
        name, _, rest = (task / "stat").read_text().partition("(")[2].rpartition(")")
        fields = rest.split()
        used[name] = used.get(name, 0) + (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return used


def interfaces(tap):
    """The interfaces are those of the links, and Linux has the file's addresses."""
    left = flags("left-gate")
    tap.check("the interface has the link's name, the port's MAC and the link's MTU",
              ROUTER_MAC in left and "mtu 1500" in left, left)
    addresses = world.sh("ip", "-o", "address", "show", "dev", "left-gate", namespace="gate")
    tap.check("Linux has the file's addresses", "10.0.1.1/24" in addresses and "fd00:1::1/64" in addresses, addresses)
    settled = world.until(lambda: "tentative" not in world.sh("ip", "-6", "address", namespace="gate"), 10)
    tap.check("no IPv6 address is tentative any more", settled)


def local(tap):
    for v in (4, 6):
        # 64 hops: Linux answers, and the router does not count itself.
        cases.ping(tap, f"Linux answers a ping to the router, IPv{v}", "left", gate.NEAR[v], 64)
        cases.ping(tap, f"Linux answers at the far side's address, IPv{v}", "left", gate.FAR[v], 64)
        cases.ping(tap, f"the router's Linux pings its neighbour, IPv{v}", "gate", gate.LEFT[v], 64)
        cases.ping(tap, f"forwarding is the router's, IPv{v}", "left", gate.RIGHT[v], 63)
    link_local = "fe80::ff:fe00:101%eth0"
    cases.ping(tap, "Linux answers at the link-local address", "left", link_local, 64)
    for v, address in gate.LEFT.items():
        out = world.sh("ip", "neigh", "show", address, "dev", "left-gate", namespace="gate")
        tap.check(f"Linux has learnt the neighbour, IPv{v}", gate.LEFT_MAC in out, out)
    for interval in (0.005, 0.2):  # the punt thread is awake, or sleeps for longer
        median, out = min(median_ping(interval) for _ in range(3))
        tap.check(f"a ping to the router every {interval} s takes below 2 ms: {median:.2f} ms", median < 2, out[-300:])


def median_ping(interval):
    """(ms, output) of pings to the router. A starved machine delays them: one sufficient median proves the router's."""
    count = min(100, int(2 / interval))
    out = world.sh("ping", "-n", "-c", count, "-i", interval, gate.NEAR[4], namespace="left", check=False)
    times = sorted(float(t) for t in re.findall(r"time=([\d.]+)", out))
    return (times[len(times) // 2] if len(times) == count else 1000), out


def unresolved(tap):
    """Packets to a silent address of a subnet wait for a second, then their sender receives an ICMP error."""
    for v, address in ((4, "10.0.2.9"), (6, "fd00:2::9")):
        text = {4: "Destination Host Unreachable", 6: "Address unreachable"}[v]
        cases.refused(tap, f"a neighbour that does not exist, IPv{v}", "left", address, text, "-W", "4")


def tcp(tap):
    """A TCP session to the router itself, as BGP's."""
    for v in (4, 6):
        cases.tcp(tap, f"TCP to a listener on the router, IPv{v}", "left", "gate", gate.NEAR[v], cases.BESIDE_OTHERS,
                  1000)


def routing_protocols(tap):
    listener = python("gate", OSPF_LISTEN)
    listener.stdout.readline()
    python("left", OSPF_HELLO).wait(10)
    out, _ = listener.communicate(timeout=15)
    tap.check("packets to 224.0.0.5 and ff02::5 reach a daemon on the interface",
              "10.0.1.2" in out and "fe80::" in out and "nothing" not in out, out)
    member = python("gate", JOIN)
    member.stdout.readline()
    sender = python("left", SEND_GROUP)
    out, _ = member.communicate(timeout=15)
    sender.wait(10)
    tap.check("packets to a group that Linux has joined reach it", "hello group" in out, out)


def limited(tap, router):
    """A flood of ARP requests and packets to the router takes nothing from forwarding."""
    before = cpu_s(router.process)
    time.sleep(2)
    idle = {k: (v - before.get(k, 0)) / 2 for k, v in cpu_s(router.process).items()}
    tap.check(f"the punt thread uses below 5 % of a CPU when idle: {100 * idle.get('punt', 9):.1f} %",
              idle.get("punt", 9) < 0.05, idle)
    total = 0
    for _ in range(3):  # frames also overflow the interface's ring while other programs keep the router from a CPU
        flood = python("left", FLOOD, str(FLOOD_S))
        time.sleep(0.5)
        out = world.sh("ping", "-n", "-c", "100", "-i", "0.02", "-W", "2", gate.RIGHT[4], namespace="left", check=False)
        received = int(re.search(r"(\d+) received", out)[1])
        sent = int(flood.communicate(timeout=20)[0])
        total += sent
        if received >= 98:
            break
    tap.check(f"of 100 pings through the router during a flood of {sent} frames, {received} are answered",
              received >= 98, out[-400:])
    return total


def carrier(tap):
    world.sh("ip", "link", "set", "right", "down", namespace="gate")
    lost = world.until(lambda: "NO-CARRIER" in flags("gate-right"), 5)
    tap.check("without the port's carrier the interface has none", lost and "NO-CARRIER" not in flags("left-gate"),
              flags("gate-right"))
    world.sh("ip", "link", "set", "right", "up", namespace="gate")
    tap.check("it comes back with it", world.until(lambda: "NO-CARRIER" not in flags("gate-right"), 5),
              flags("gate-right"))


def counters():
    """The counters in the file that the router leaves."""
    return json.loads(pathlib.Path("/run/gate/router-gate.json").read_text())


def flooded(tap, program):
    """Rates hold in a flood, and forwarding goes on; every frame is counted."""
    router = gate.start_router(tap, program, LIMITED)
    if not router:
        return
    begin = time.monotonic()
    sent = limited(tap, router)
    gate.stop_router(tap, router)
    seconds = time.monotonic() - begin
    all_of = counters()
    punt, drops = all_of["punt"], all_of["drops"]
    for of, rate in (("neighbour", 200), ("local", 1000)):
        # Of two links, each with a burst of a tenth of a second, or 32.
        most = 2 * (rate * seconds + max(rate / 10, 32))
        tap.check(f"{of}: {punt['punted'][of]} of some {sent // 2} reach Linux, at most {most:.0f}",
                  0 < punt["punted"][of] <= most, punt)
    tap.check("the others are counted", drops["punt_rate"] == sum(punt["limited"].values()) > 0, punt, drops)


def killed(tap, program):
    """kill -9 leaves the interfaces without carrier; the next start takes them over, unless they are not its own."""
    router = gate.start_router(tap, program, TOPOLOGY)
    if not router:
        return
    os.kill(router.process.pid, signal.SIGKILL)
    router.process.wait()
    tap.check("after kill -9 the interfaces are left without carrier", world.until(lambda: "NO-CARRIER" in flags("left-gate"), 5),
              flags("left-gate"))
    index = flags("left-gate").split(":")[0]
    router = gate.start_router(tap, program, TOPOLOGY)
    if router:
        tap.check("the next router takes them over", flags("left-gate").split(":")[0] == index, flags("left-gate"))
        taken = gate.run_router(program, "/run/gate.yaml")
        code = taken.wait(20)
        tap.check("a second router reports that another process has the interface, with exit code 4",
                  code == 4 and "is this router running already?" in taken.output(), code, taken.output())
        world.sh("ip", "link", "del", "gate-right", namespace="gate")
        told = world.until(lambda: "interface 'gate-right' was deleted" in router.output(), 5)
        tap.check("a deleted interface is reported; the router and its other interface go on",
                  told and world.answers("left", gate.NEAR[4]), router.output()[-2000:])
        gate.stop_router(tap, router)
        world.sh(program, "/run/gate.yaml", "--node", "gate", "--remove-interfaces", namespace="gate")
        world.sh("ip", "tuntap", "add", "left-gate", "mode", "tap", namespace="gate")
        foreign = gate.run_router(program, "/run/gate.yaml")
        code = foreign.wait(20)
        tap.check("an interface of another program is not taken, with exit code 4",
                  code == 4 and "another interface has this name" in foreign.output(), code, foreign.output())
        world.sh("ip", "link", "del", "left-gate", namespace="gate")


def unprivileged(tap, program):
    """Without the privilege the router does not start, and says which it is."""
    done = subprocess.run(
        world.inside("gate", ["setpriv", "--bounding-set", "-net_admin", "--inh-caps=-all", program, "/run/gate.yaml",
                              "--node", "gate", "--out", "/run/none", "--live", "off"]),
        capture_output=True, text=True, timeout=30, check=False)
    tap.check("without CAP_NET_ADMIN the router ends with exit code 4 and names it",
              done.returncode == 4 and "CAP_NET_ADMIN" in done.stderr, done)


def other_namespace(tap, program):
    """The interfaces in a namespace of their own, with the names of the ports."""
    world.add_namespaces("cp")
    topology = gate.TOPOLOGY.replace(
        "gate: { lcores: 0 }", "gate: { lcores: 0, control: { linux: { namespace: cp, interfaces: { left-gate: left }, "
                               "addresses: kernel, ttl_expired: punt } } }")

    def add_addresses():
        for interface, addresses in (("left", gate.NEAR), ("gate-right", gate.FAR)):
            for address in gate.prefixed(addresses):
                nodad = ["nodad"] if ":" in address else []
                world.sh("ip", "address", "add", address, "dev", interface, *nodad, namespace="cp")

    router = gate.start_router(tap, program, topology, add_addresses)
    if not router:
        return
    cases.ping(tap, "Linux answers from another namespace", "left", gate.NEAR[4], 64)
    world.sh("sh", "-c", "echo 1 >/proc/sys/net/ipv4/ip_forward", namespace="cp")
    cases.refused(tap, "Linux reports an expired TTL if asked to", "left", gate.RIGHT[4], "Time to live exceeded",
                  "-t", "1")
    same_routes_there(tap, pathlib.Path(program).resolve().parents[1] / "lab" / "turnpike")
    gate.stop_router(tap, router)


def same_routes_there(tap, tool):
    """The router compares its routes with those of the other namespace's kernel, one added by hand among them."""
    world.sh("ip", "route", "add", "50.0.0.0/24", "via", gate.RIGHT[4], namespace="cp")

    def compared():
        return world.sh(tool, "show", "routes", "--diff", "kernel", check=False)

    tap.check("its routes are the other namespace's kernel's", world.until(
        lambda: re.search(r"^[1-9]\d* routes compared with the kernel's [1-9]\d*: 0 differ", compared()), 10), compared())
    shown = world.sh(tool, "show", "routes", "50.0.0.0/24", check=False)
    tap.check("with the one added there", gate.RIGHT[4] in shown, shown)
    shown = world.sh(tool, "show", "routes", "50.0.0.7", check=False)
    tap.check("and the route of an address", "50.0.0.0/24" in shown, shown)


def main():
    tap = gate.enter("ping", "iperf3", "setpriv")
    if not pathlib.Path("/dev/net/tun").exists():
        tap.skip("linux", "no /dev/net/tun")
        tap.finish()
    gate.build_kernels()
    router = gate.start_router(tap, sys.argv[1], TOPOLOGY)
    if router:
        interfaces(tap)
        local(tap)
        unresolved(tap)
        tcp(tap)
        routing_protocols(tap)
        carrier(tap)
        gate.stop_router(tap, router)
        punt = counters()["punt"]
        tap.check(f"each class was punted: {punt['punted']}",
                  all(punt["punted"][k] > 0 for k in ("neighbour", "routing", "local", "other")), punt)
    flooded(tap, sys.argv[1])
    killed(tap, sys.argv[1])
    unprivileged(tap, sys.argv[1])
    other_namespace(tap, sys.argv[1])
    tap.finish()


if __name__ == "__main__":
    main()
