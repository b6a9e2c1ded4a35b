# SPDX-License-Identifier: BSD-3-Clause
# The topology of every case: alice - router - bob, over the four NICs, and a station on each wire that speaks as alice
# or as bob when turnpike-sender does not run.
import frames
import machine

ROUTER = {4: ("10.0.1.1", "10.0.2.1"), 6: ("fd00:1::1", "fd00:2::1")}
HOST = {4: ("10.0.1.2", "10.0.2.2"), 6: ("fd00:1::2", "fd00:2::2")}  # alice, bob
HOST_MAC = (machine.MACS[0], machine.MACS[3])
ROUTER_MAC = (machine.MACS[1], machine.MACS[2])
ALICE, BOB = 0, 1
NARROW_MTU = 1280  # of the link to bob, where path MTU discovery is tested
RATE_PPS = 200  # of the open-loop stream

TOPOLOGY = """
run: {{ duration: {duration} s, settle: 0 s, sample: 500 ms }}
hosts:
  alice: {{ budget: 1 $/s, addresses: [10.0.1.2/24, "fd00:1::2/64"], mac: "{alice}" }}
  bob: {{ addresses: [10.0.2.2/24, "fd00:2::2/64"], mac: "{bob}" }}
routers:
  gate: {{ lcores: {lcores}, nic_filters: on }}
links:
  alice-gate:
    ends: [alice, gate]
    rate: 10 Mbps
    mtu: {mtu}
    addresses: {{ gate: [10.0.1.1/24, "fd00:1::1/64"] }}
    macs: {{ gate: "{near}" }}
    attach: {{ alice: {{ pci: {nics[0]} }}, gate: {{ pci: {nics[1]} }} }}
  gate-bob:
    ends: [gate, bob]
    rate: 5 Mbps
    buffer: 64 KB
    mtu: {far_mtu}
    law: fcp
    addresses: {{ gate: [10.0.2.1/24, "fd00:2::1/64"] }}
    macs: {{ gate: "{far}" }}
    attach: {{ gate: {{ pci: {{ address: {nics[2]}{more} }} }}, bob: {{ pci: {nics[3]} }} }}
traffic:
{traffic}
"""
FLOW_BYTES = 100_000
FLOWS = """  flows:
    v4: {{ from: alice, to: bob, start: 0 s, size: {size} B, ip_version: 4 }}
    v6: {{ from: alice, to: bob, start: 0 s, size: {size} B, ip_version: 6 }}
"""
STREAMS = """  streams:
    load: {{ from: alice, to: bob, rate: {{ packets: {rate} /s }}, frames: {{ sizes: [64 B, 512 B] }}, flows: 64 }}
"""


def topology(nics, lcores=1, mtu=1500, far_mtu=None, duration=5, traffic="", flow_control=""):
    """`flow_control`: of the router's far NIC; "": as its driver sets it."""
    return TOPOLOGY.format(nics=nics, lcores=list(range(lcores)), mtu=mtu, far_mtu=far_mtu or mtu, duration=duration,
                           more=flow_control and f", flow_control: {flow_control}",
                           alice=HOST_MAC[ALICE], bob=HOST_MAC[BOB], near=ROUTER_MAC[ALICE], far=ROUTER_MAC[BOB],
                           traffic=traffic or "  {}")


def echo(sender, version, **fields):
    """A ping from one host to the other."""
    return frames.Echo(source=HOST[version][sender], destination=HOST[version][1 - sender], **fields)


def frame(sender, message, vlan=None):
    """The frame with which a host sends it to the router."""
    return message.frame(ROUTER_MAC[sender], HOST_MAC[sender], vlan)
