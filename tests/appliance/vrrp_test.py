#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Two routers on one segment, with VRRP by keepalived over their TAP interfaces; one of them is killed.
# Usage: vrrp_test.py ROUTER
#
#     client --- bridge "lan" --- box a, box b --- bridge "core" --- server
import pathlib
import re
import subprocess
import sys
import time

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / folder) for folder in ("", "netns")]
import world  # noqa: E402
from tap import Tap  # noqa: E402

BOXES = {"a": 1, "b": 2}
SIDES = {"lan": 1, "core": 2}  # third octet of the segment's network
PER_SECOND = 100
# Three advertisements of 1 s that do not come, plus the skew of priority 100 (RFC 5798, 6.1): 3.6 s.
TAKEOVER_S = 4.5


def topology(box):
    n = BOXES[box]
    links = "".join(f"""
  {side}:
    ends: [{side}-hosts, {box}]
    rate: 1 Gbps
    addresses: {{ {box}: [10.0.{net}.{n + 1}/24] }}
    macs: {{ {box}: "02:00:00:00:0{net}:0{n}" }}
    attach: {{ {box}: {{ af_packet: p-{side} }} }}
""" for side, net in SIDES.items())
    hosts = "".join(f"  {side}-hosts: {{ external: true, addresses: [10.0.{net}.100/24] }}\n" for side, net in SIDES.items())
    return f"hosts:\n{hosts}routers:\n  {box}: {{ lcores: 0, control: linux }}\nlinks:\n{links}"


def keepalived(box):
    instances = "".join(f"""
vrrp_instance {side} {{
  state BACKUP
  interface {side}
  virtual_router_id {net}
  priority {110 if box == "a" else 100}
  advert_int 1
  virtual_ipaddress {{ 10.0.{net}.1/24 dev {side} }}
}}
""" for side, net in SIDES.items())
    return f"global_defs {{ vrrp_garp_master_refresh 5 }}\nvrrp_sync_group both {{ group {{ lan core }} }}\n{instances}"


class Box:
    def __init__(self, name, program):
        self.name = name
        file = pathlib.Path(f"/run/{name}.yaml")
        file.write_text(topology(name))
        self.router = world.Program(program, file, "--out", f"/run/out-{name}", "--live", "off", "--control", f"/run/c-{name}",
                                    namespace=name)
        world.until(lambda: " forwards " in self.router.output() or self.router.process.poll() is not None)
        conf = pathlib.Path(f"/run/keepalived-{name}.conf")
        conf.write_text(keepalived(name))
        self.keepalived = world.Program("keepalived", "--dont-fork", "--log-console", "-f", conf, "-p", f"/run/k-{name}.pid",
                                        "-r", f"/run/v-{name}.pid", namespace=name)

    def masters(self):
        """Number of virtual addresses that it holds."""
        out = world.sh("ip", "-4", "address", namespace=self.name)
        return sum(f" 10.0.{net}.1/24" in out for net in SIDES.values())

    def kill(self):
        """As a power cut would: router and keepalived at once."""
        world.sh("pkill", "-9", "-F", f"/run/k-{self.name}.pid", check=False)
        world.sh("pkill", "-9", "-F", f"/run/v-{self.name}.pid", check=False)
        for file in ("k", "v"):  # its children stay as zombies, since no init process waits for them here
            pathlib.Path(f"/run/{file}-{self.name}.pid").unlink(missing_ok=True)
        for program in (self.keepalived, self.router):
            program.process.kill()
            program.process.wait()


def build():
    world.add_namespaces("client", "server", "a", "b", "switch")
    for side, net in SIDES.items():
        world.sh("ip", "link", "add", f"br-{side}", "type", "bridge", namespace="switch")
        world.sh("ip", "link", "set", f"br-{side}", "up", namespace="switch")
        host = "client" if side == "lan" else "server"
        ports = {host: "eth0", **{box: f"p-{side}" for box in BOXES}}
        for namespace, interface in ports.items():
            end = f"{side}-{namespace}"
            world.add_veth((namespace, interface), ("switch", end))
            world.sh("ip", "link", "set", end, "master", f"br-{side}", "up", namespace="switch")
            if namespace in BOXES:
                world.give_to_router(namespace, interface)
        world.give_to_host(host, "eth0", f"02:00:00:00:0{net}:64", [f"10.0.{net}.100/24"], [f"10.0.{net}.1"])


def losses_while(action):
    """Pings at a steady rate for 12 s, with `action` after 2 s; returns packets sent and lost."""
    ping = subprocess.Popen(world.inside("client", ["ping", "-n", "-i", 1 / PER_SECOND, "-w", "12", "10.0.2.100"]),
                            stdout=subprocess.PIPE, text=True)
    time.sleep(2)
    action()
    out = ping.communicate(timeout=30)[0]
    found = re.search(r"(\d+) packets transmitted, (\d+) received", out)
    sent, got = (int(x) for x in found.groups()) if found else (0, 0)
    return sent, sent - got


def main():
    why = f"not installed: {world.have('keepalived', 'ping')}" if world.have("keepalived", "ping") else world.isolate()
    tap = Tap()
    if why:
        tap.skip("vrrp", why)
        tap.finish()
    build()
    boxes = {name: Box(name, sys.argv[1]) for name in BOXES}
    a, b = boxes["a"], boxes["b"]

    def says():
        return [text[-2500:] for box in boxes.values() for text in (box.router.output(), box.keepalived.output())]

    tap.check("the router of higher priority is master of both sides",
              world.until(lambda: a.masters() == 2 and b.masters() == 0, 20), *says())
    tap.check("the client reaches the server by the virtual address", world.until(lambda: world.answers("client", "10.0.2.100"), 20),
              *says())
    sent, lost = losses_while(a.kill)
    tap.check(f"the master is killed: {lost} of {sent} pings are lost",
              sent > 5 * PER_SECOND and 0 < lost <= TAKEOVER_S * PER_SECOND, sent, lost, *says())
    tap.check("the other one is master of both sides", b.masters() == 2, *says())
    boxes["a"] = Box("a", sys.argv[1])
    tap.check("the killed one starts again and takes over",
              world.until(lambda: boxes["a"].masters() == 2 and b.masters() == 0, 20), *says())
    tap.check("and forwards", world.until(lambda: world.answers("client", "10.0.2.100"), 20), *says())
    for box in boxes.values():
        box.keepalived.stop()
        code = box.router.stop()
        tap.check(f"router {box.name} stops with exit code 0", code == 0, box.router.output()[-2000:])
    tap.finish()


if __name__ == "__main__":
    main()
