# SPDX-License-Identifier: BSD-3-Clause
# The cases that run with each driver. A case passes or fails by counts, exit codes and messages; none looks at a rate
# or a duration, since an emulated machine is slow.
import json
import re

import frames
import network as net
from machine import Program
from rebalance import rebalance

ECHO = 8  # B that an ICMP echo header has, in both versions
IP_HEADER = {4: 20, 6: 40}
UNREACHABLE_TOO_BIG = {4: (3, 4), 6: (2, 0)}  # ICMP: fragmentation needed; ICMPv6: packet too big
HUGEPAGES = 400  # as guest_init reserves
MANY = 40  # packets that are sent to a link that is down
WARNS = {"e1000e": "does not spread any packets", "vmxnet3": "does not spread UDP packets between the same two hosts"}
SETS_FLOW_CONTROL = ["e1000e", "igb"]
COUNTS_PAUSE_FRAMES = ["igb"]
NO_QUEUES = r"has 1 queues?, but 2 lcores need one each"


class Case:
    """A router in the guest, and the way to report on it. `lcores` and the MTUs of both links describe the run."""

    def __init__(self, machine, tap, model, lcores, mtu, far_mtu):
        self.machine, self.tap, self.model = machine, tap, model
        self.lcores, self.mtu, self.far_mtu = lcores, mtu, far_mtu
        self.results = {}
        self.router = None

    def check(self, case, what, passed, *details):
        """One line of TAP; `case`: the column of the table that it counts for."""
        self.results[case] = self.results.get(case, True) and bool(passed)
        name = f"{self.model}, {self.lcores} lcore{'s' if self.lcores > 1 else ''}, MTU {self.mtu}: {what}"
        if not passed and self.router is not None:
            details = (*details, "the router says:", self.router.output()[-3000:])
        return self.tap.check(name, passed, *details)

    # The router.

    def launch(self):
        traffic = net.FLOWS.format(size=net.FLOW_BYTES) + net.STREAMS.format(rate=net.RATE_PPS)
        self.machine.write("/run/net.yaml", net.topology(self.machine.addresses(), self.lcores, self.mtu, self.far_mtu,
                                                         duration=2, traffic=traffic))
        self.router = Program(self.machine, "router",
                              "turnpike-router /run/net.yaml --out /run/gate --live off --idle sleep")
        return self.router.says(" forwards ") and self.router.running() and self.links_are(True, True)

    def shown(self, what):
        code, output = self.machine.run(f"turnpike show {what} --json")
        return json.loads(output)[what] if code == 0 else []

    def links_are(self, near, far):
        """Waits until the router sees the links to alice and to bob so."""
        for _ in range(60):
            if [link["up"] for link in self.shown("links")] == [near, far]:
                return True
            self.machine.run("sleep 0.3")
        return False

    def has_flow_control(self, mode):
        """Waits until the far port has it: the link negotiates it first."""
        for _ in range(60):
            if [port["flow_control"] for port in self.shown("ports")][1:] == [mode]:
                return True
            self.machine.run("sleep 0.3")
        return False

    def dropped(self, reason):
        return sum(row["packets"] for row in self.shown("drops") if row["reason"] == reason)

    def cross(self, sender, message, vlan=None):
        """Sends a message from one host and waits for it at the other; returns the packet, or None."""
        there = self.machine.segments[1 - sender]
        there.forget()
        self.machine.segments[sender].send(net.frame(sender, message, vlan))
        return there.wait_for(lambda p: p.ttl == message.ttl - 1 and p.source == message.source and p.icmp != ())

    def pings(self):
        """Whether a ping from alice reaches bob and his reply reaches her, in both versions."""
        for v in (4, 6):
            request, reply = net.echo(net.ALICE, v), net.echo(net.BOB, v, kind="reply")
            if self.cross(net.ALICE, request) is None or self.cross(net.BOB, reply) is None:
                return False
        return True


def refusals(case):
    """Starts that fail: exit code 4, and a message with the limit and the way out."""
    machine = case.machine

    def refused(what, message, **settings):
        machine.write("/run/net.yaml", net.topology(machine.addresses(), **settings))
        router = Program(machine, "router", "turnpike-router /run/net.yaml --out /run/gate --live off")
        code = router.wait(60)
        case.check("limits", f"{what}: exit code 4, and the message has the way out",
                   code == 4 and re.search(message, router.output()), code, router.output())
        if code is None:
            router.stop()

    if case.model not in SETS_FLOW_CONTROL:
        case.results["flow control set"] = False
        refused("flow control of a driver without it",
                "its driver net_[a-z0-9_]+ cannot set flow control to on .*: remove flow_control", flow_control="on")
    refused("an MTU beyond the NIC's", "cannot carry datagrams of 20000 B, at most [0-9]+: set a smaller mtu",
            mtu=20000)
    for pages in (0, 20):
        machine.must(f"echo {pages} >/proc/sys/vm/nr_hugepages")
        refused(f"{pages} hugepages", "hugepages.*dpdk-hugepages.py --setup")
    machine.must(f"echo {HUGEPAGES} >/proc/sys/vm/nr_hugepages")
    machine.unbind(2)
    machine.is_unbound(2)
    refused("a NIC without vfio-pci", "found no port at .*; bind it to a driver")
    machine.bind([2])


def flow_control(case):
    """The far NIC has the flow control of the file, the near one that of its driver."""
    machine = case.machine
    case.results["flow control set"] = True
    for mode in ("off", "rx", "on"):
        machine.write("/run/net.yaml", net.topology(machine.addresses(), flow_control=mode))
        case.router = Program(machine, "router",
                              "turnpike-router /run/net.yaml --out /run/gate --live off --idle sleep")
        found = case.router.says(" forwards ") and case.has_flow_control(mode)
        case.check("flow control", f"flow_control: {mode} is in force, and the log says so",
                   found and f"link gate-bob: {machine.addresses()[2]}, " in case.router.output()
                   and re.search("alice-gate: .* flow control: [a-z]+ .as the driver sets it", case.router.output()))
        counted = [port[name] is not None for port in case.shown("ports") for name in ("pause_received", "pause_sent")]
        case.check("flow control", "pause frames are counted where the driver counts them",
                   counted == 4 * [case.model in COUNTS_PAUSE_FRAMES], counted)
        case.router.stop()


def start(case):
    """False: the other cases make no sense."""
    if case.launch():
        case.check("start", "the router starts and its links are up", True)
        return True
    # Fewer queues than lcores is no failure of the router, if it says so.
    output, code = case.router.output(), case.router.wait(10)
    if case.lcores > 1 and re.search(NO_QUEUES, output):
        case.results["queues"] = "refused"
        case.check("start", "too few queues: exit code 4, and the message has the way out",
                   code == 4 and "list fewer lcores" in output, code)
    else:
        case.check("start", "the router starts and its links are up", False, code)
    return False


def ping(case):
    for v in (4, 6):
        request, reply = net.echo(net.ALICE, v), net.echo(net.BOB, v, kind="reply")
        case.check(f"IPv{v}", f"a ping crosses the router, IPv{v}",
                   case.cross(net.ALICE, request) is not None and case.cross(net.BOB, reply) is not None)
        own = request._replace(destination=net.ROUTER[v][0])
        here = case.machine.segments[0]
        here.forget()
        here.send(net.frame(net.ALICE, own))
        answer = here.wait_for(lambda p, v=v: p.source == net.ROUTER[v][0] and p.icmp == (frames.ECHO_REPLY[v], 0))
        case.check(f"IPv{v}", f"the router answers a ping, IPv{v}", answer is not None and answer.data == own.data)


def vlan(case):
    for v in (4, 6):
        tagged = case.cross(net.ALICE, net.echo(net.ALICE, v), vlan=0x2005)  # priority 1, VLAN 5
        case.check("VLAN", f"a frame with a VLAN tag crosses the router with its tag, IPv{v}",
                   tagged is not None and tagged.vlan == 0x2005, tagged)


def martians(case):
    """Packets from martian sources are dropped and counted; by the router, where the driver takes no rules."""
    before = case.dropped("martian_source")
    for source in ("127.0.0.1", "224.0.0.1", "255.255.255.255", "::1", "ff02::1"):
        message = net.echo(net.ALICE, 6 if ":" in source else 4)._replace(source=source)
        case.machine.segments[0].send(net.frame(net.ALICE, message))
    for _ in range(30):
        if (dropped := case.dropped("martian_source") - before) == 5:
            break
        case.machine.run("sleep 0.3")
    case.check("martians", "packets from martian sources are dropped and counted", dropped == 5, dropped)
    lines = case.router.output().count(" takes no rule for packets from 0.0.0.0/8, 127.0.0.0/8, 224.0.0.0/3")
    case.check("martians", "the log says once for each NIC that the driver takes no rule", lines == 2, lines)


def path_mtu(case):
    """Datagrams of the MTUs of both links: those that fit the second pass whole, the others do not."""
    near, far = case.machine.segments
    for v in (4, 6):
        overhead = IP_HEADER[v] + ECHO
        fits = case.cross(net.ALICE, net.echo(net.ALICE, v, data=bytes(case.far_mtu - overhead)))
        case.check("path MTU", f"a datagram of the far link's MTU, {case.far_mtu} B, crosses whole, IPv{v}",
                   fits is not None and fits.length == case.far_mtu and not fits.fragment, fits and fits.length)
        if case.mtu == case.far_mtu:
            continue
        big = net.echo(net.ALICE, v, data=bytes(case.mtu - overhead))
        near.forget()
        near.send(net.frame(net.ALICE, big))
        error = near.wait_for(lambda p, v=v: p.icmp == UNREACHABLE_TOO_BIG[v])
        case.check("path MTU", f"of the near link's MTU, {case.mtu} B, it comes back as an error with the MTU, IPv{v}",
                   error is not None and error.mtu == case.far_mtu, error)
    if case.mtu == case.far_mtu:
        return
    far.forget()
    near.send(net.frame(net.ALICE, net.echo(net.ALICE, 4, data=bytes(case.mtu - 28), may_fragment=True)))
    pieces = [far.wait_for(lambda p: p.fragment) for _ in range(2)]
    payload = sum(p.length - IP_HEADER[4] for p in pieces if p is not None)
    case.check("path MTU", "a datagram that may be fragmented arrives in two fragments",
               all(pieces) and payload == case.mtu - IP_HEADER[4], pieces)


def traffic(case):
    """FCP flows over IPv4 and IPv6, and an open-loop stream beside them."""
    before = case.shown("links")
    for seconds in (5, 20, 60):  # on a busy host the guest's CPU is slow
        sender = Program(case.machine, "sender", f"turnpike-sender /run/net.yaml --duration {seconds}s"
                         " --out /run/sender --live off --idle sleep --lcores 1")
        code = sender.wait(120 + seconds)
        text = case.machine.run("cat /run/sender/summary.json")[1]
        summary = json.loads(text) if code == 0 else {"flows": {"completed": 0}, "streams": {}}
        if code != 0 or summary["flows"]["completed"] == 2:
            break
    case.check("flows", "flows over IPv4 and IPv6 deliver all data", code == 0 and summary["flows"]["completed"] == 2,
               code, sender.output()[-2000:])
    load = summary["streams"].get("load", {"received_packets": 0, "sent_packets": 0, "lost_packets": 0})
    case.check("stream", "every packet of an open-loop stream arrives or is counted as lost",
               load["received_packets"] > 0
               and load["received_packets"] + load["lost_packets"] == load["sent_packets"], load)
    after = case.shown("links")
    crossed = after[1]["tx_packets"] - before[1]["tx_packets"] if before and after else 0
    of_flows = 2 * net.FLOW_BYTES // case.far_mtu
    case.check("flows", "the router forwarded the packets that bob received",
               crossed >= load["received_packets"] + of_flows, crossed, load)


def spreads(case):
    """Notes whether both lcores have received packets; a NIC that cannot spread is no failure if the router says so."""
    if case.lcores > 1:
        warning = WARNS.get(case.model)
        case.check("start", "a warning for each NIC that does not spread all packets, and for no other",
                   case.router.output().count("does not spread") == (2 if warning else 0)
                   and (not warning or warning in case.router.output()))
        received = [row["rx_packets"] for row in case.shown("lcores")]
        case.results["RSS"] = all(received)
        case.results["received by lcore"] = received


def link_down_and_up(case):
    case.machine.set_link(2, False)
    case.check("link down", "the router sees that the far link is down", case.links_are(True, False))
    before, forwarded = case.dropped("link_down"), case.shown("links")[1]["tx_packets"]
    near = case.machine.segments[0]
    for n in range(MANY):
        near.send(net.frame(net.ALICE, net.echo(net.ALICE, 4 if n % 2 else 6, sequence=n)))
    for _ in range(30):
        if (lost := case.dropped("link_down") - before) == MANY:
            break
        case.machine.run("sleep 0.3")
    passed = case.shown("links")[1]["tx_packets"] - forwarded
    case.check("link down", f"{MANY} packets for it are counted as link_down, none as forwarded",
               lost == MANY and passed == 0, lost, passed)
    case.check("link down", "the log says so", case.router.says("link gate-bob is down: no carrier on "))
    case.machine.set_link(2, True)
    case.check("link down", "the link comes up again and carries packets", case.links_are(True, True) and case.pings())


def kill_and_restart(case):
    case.router.signal("KILL")
    code = case.router.wait(30)
    case.check("restart", "kill -9, then the router starts again over the same NICs and forwards",
               code == 137 and case.launch() and case.pings(), code)


def stop(case):
    """Ends the router: every packet is accounted for, and every buffer is back."""
    code = case.router.stop()
    counters = json.loads(case.machine.run("cat /run/gate/router-gate.json")[1] or "{}") if code == 0 else {}
    went = sum(counters.get(k, 0) for k in ("forwarded", "delivered", "held")) + sum(counters.get("drops", {}).values())
    case.check("stop", "it ends with exit code 0, all packets accounted for and all buffers back",
               code == 0 and counters["received"] > 0 and counters["received"] + counters["originated"] == went, code)


def unbind(case):
    """The kernel takes a NIC from the router."""
    case.machine.unbind(2)
    code = case.router.wait(60)
    case.check("unbind", "a NIC unbound under the router: exit code 1, and the message names it",
               code == 1 and f"link gate-bob: device {case.machine.addresses()[2]} was removed" in case.router.output(),
               code)
    free = case.machine.is_unbound(2)
    if free:
        case.machine.bind([2])
    case.check("unbind", "... bound again, the router starts and forwards", free and case.launch() and case.pings())


ALL = [ping, rebalance, vlan, martians, path_mtu, traffic, spreads, link_down_and_up, stop]
ROBUST = [kill_and_restart, unbind]


def run(case, robust):
    """All cases of one configuration. `robust`: also starts that fail, and the router's violent ends."""
    if robust and case.lcores == 1:
        refusals(case)
        if case.model in SETS_FLOW_CONTROL:
            flow_control(case)
    if not start(case):
        return
    for each in ALL[:-1] + (ROBUST if robust else []) + ALL[-1:]:
        if case.router.running():
            each(case)
    if case.router.running():
        case.router.stop()
