# SPDX-License-Identifier: BSD-3-Clause
# The routes of the kernel that the forwarding tables should hold, by iproute2's account of them, and the program that
# mirrors them by netlink.
import collections
import ipaddress
import json
import pathlib
import subprocess
import threading
import time

import world

UNICAST, LOCAL, BROADCAST, ANYCAST, BLACKHOLE, UNREACHABLE, PROHIBIT = 1, 2, 3, 4, 6, 7, 8
ACTIONS = {LOCAL: "local", ANYCAST: "local", BROADCAST: "broadcast", BLACKHOLE: "blackhole",
           UNREACHABLE: "unreachable", PROHIBIT: "prohibit"}
DISTANCES = {2: 0, 3: 1, 4: 1, 196: 1, 191: 10, 186: 20, 192: 90, 42: 100, 188: 110, 187: 115, 189: 120, 190: 120}
LINK_LOCAL = ipaddress.ip_network("fe80::/10")
LOOPBACK = (ipaddress.ip_network("127.0.0.0/8"), ipaddress.ip_network("::1/128"))


def ip_json(*arguments):
    out = world.sh("ip", "-N", "-j", "-d", *arguments, timeout=600)
    return json.loads(out or "[]")


def interfaces():
    """Names of interfaces over which packets can leave."""
    return {i["ifname"] for i in ip_json("link") if "UP" in i["flags"] and "LOWER_UP" in i["flags"]}


def prefix_of(route, version):
    text = route["dst"] if route["dst"] != "default" else ("0.0.0.0/0" if version == 4 else "::/0")
    return ipaddress.ip_network(text)


def within(prefix, networks):
    return any(prefix.version == n.version and prefix.subnet_of(n) for n in networks)


def action_of(route, nexthops):
    kind = int(route["type"])
    object_ = nexthops.get(route.get("nhid"), {})
    members = [nexthops.get(m["id"], {}) for m in object_.get("group", [])]
    if kind == UNICAST and any("blackhole" in n for n in [object_, *members]):
        kind = BLACKHOLE
    return ACTIONS.get(kind, "forward")


def hops_of(route, nexthops):
    """Next hops of a route; of its nexthop object where the kernel does not list them (nexthop_compat_mode 0)."""
    if "nexthops" in route or "dev" in route or "nhid" not in route:
        return route.get("nexthops") or [route]
    object_ = nexthops.get(route["nhid"], {})
    if "group" not in object_:
        return [object_]
    return [{**nexthops.get(m["id"], {}), "weight": m.get("weight", 1)} for m in object_["group"]]


def paths_of(route, links, usable, nexthops):
    """Paths over links of the router that are up, of those that the kernel does not call dead."""
    hops = hops_of(route, nexthops)
    paths = []
    for hop in hops:
        dev = hop.get("dev")
        dead = "dead" in hop.get("flags", []) or "linkdown" in hop.get("flags", [])
        if dev not in links or dev not in usable or dead or "encap" in hop:
            continue
        gateway = hop.get("gateway") or hop.get("via", {}).get("host")
        paths.append({"link": links[dev], "gateway": gateway, "weight": hop.get("weight", 1)})
    return [{**paths[0], "weight": 1}] if len(paths) == 1 else paths


def expected(links):
    """Prefix -> the route that should be held."""
    usable, nexthops = interfaces(), {n["id"]: n for n in ip_json("nexthop")}
    best = {}
    for version, table in ((4, 255), (4, 254), (6, 255), (6, 254)):
        candidates = collections.defaultdict(list)
        for route in ip_json(f"-{version}", "route", "show", "table", table):
            candidates[prefix_of(route, version)].append(route)
        for prefix, routes in candidates.items():
            # iproute2 lists routes of one metric in the kernel's order.
            for route in sorted(routes, key=lambda r: r.get("metric", 0)):
                held = held_route(prefix, route, table, links, usable, nexthops)
                if held and str(prefix) not in best:
                    best[str(prefix)] = held
    return best


def held_route(prefix, route, table, links, usable, nexthops):
    action = action_of(route, nexthops)
    if prefix.is_multicast or int(route["type"]) not in (UNICAST, *ACTIONS) or route.get("tos", "0x00") != "0x00":
        return None
    if within(prefix, LOOPBACK) or (within(prefix, [LINK_LOCAL]) and action != "local"):
        return None
    if action == "broadcast" or within(prefix, [LINK_LOCAL]):
        if route.get("dev") not in links:
            return None
    paths = paths_of(route, links, usable, nexthops) if action == "forward" else []
    if action == "forward" and not paths:
        return None
    local = table == 255
    return {"prefix": str(prefix), "action": action, "paths": paths,
            "distance": 0 if local else DISTANCES.get(int(route["protocol"]), 150),
            "metric": 0 if local else route.get("metric", 0)}


def normal(routes):
    """Prefix -> route, with the paths in an order of their own: that of the kernel has no meaning."""
    return {r["prefix"]: {**r, "paths": sorted(map(path_key, r["paths"]))} for r in routes}


def path_key(path):
    return path["link"], path["gateway"] or "", path["weight"]


def differences(mirrored, links):
    """Lines that say where a mirror's routes are not the kernel's."""
    held = normal(mirrored["routes"])
    lines = [f"{r['prefix']} held twice" for r in mirrored["routes"]
             if len(held) != len(mirrored["routes"])][:1]
    wanted = normal(expected(links).values())
    for prefix in sorted(held.keys() | wanted.keys()):
        if held.get(prefix) != wanted.get(prefix):
            lines.append(f"{prefix}: held {held.get(prefix)}, kernel {wanted.get(prefix)}")
    return lines


class Mirror:
    """The mirroring program, with commands by its standard input."""

    def __init__(self, program, links, *options):
        self.links = links
        self.log = pathlib.Path(f"/run/mirror-{id(self)}.log")
        names = [f"{name}={link}" for name, link in links.items()]
        with open(self.log, "w") as out:
            self.process = subprocess.Popen([program, *map(str, options), *names], stdin=subprocess.PIPE,
                                            stdout=subprocess.PIPE, stderr=out, text=True)

    def ask(self, command, timeout=60):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        timer = threading.Timer(timeout, self.process.kill)
        timer.start()
        try:
            return json.loads(self.process.stdout.readline())
        finally:
            timer.cancel()

    def differences(self, command="dump"):
        return differences(self.ask(command), self.links)

    def steady_differences(self, command, pause=0.3):
        """The kernel adds IPv6 routes of a link that came up by a work queue: looks again, `pause` s later, where they
        differ."""
        for _ in range(3):
            lines = self.differences(command)
            if not lines:
                return []
            time.sleep(pause)
        return lines

    def counters(self):
        return self.ask("settle")["counters"]

    def output(self):
        return self.log.read_text()

    def end(self):
        self.process.stdin.close()
        return self.process.wait(10)


def batch(lines, force=False):
    """Runs many commands of ip(8) at once."""
    path = pathlib.Path("/run/batch")
    path.write_text("\n".join(lines) + "\n")
    return world.sh("ip", *(["-force"] if force else []), "-batch", path, timeout=600, check=not force)
