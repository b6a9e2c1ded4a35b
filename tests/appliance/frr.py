# SPDX-License-Identifier: BSD-3-Clause
# FRR's daemons in network namespaces: each namespace has its own set, told apart by FRR's path space.
import json
import os
import pathlib
import shutil
import signal
import subprocess

import world

DAEMONS = pathlib.Path("/usr/lib/frr")


def missing():
    """The reason why FRR cannot run here; None: it can."""
    absent = [name for name in ("zebra", "bgpd", "ospfd", "ospf6d") if not (DAEMONS / name).exists()]
    if absent:
        return f"FRR is not installed ({', '.join(absent)}): apt install frr"
    return None


class Frr:
    """zebra and routing daemons in one namespace; `config` has the text of each, by the daemon's name."""

    def __init__(self, namespace, config):
        self.namespace, self.config = namespace, {"zebra": "", **config}
        self.folder = pathlib.Path("/run/frr") / namespace
        self.processes = {}
        self.start()

    def start(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        for folder in (self.folder.parent, self.folder):
            shutil.chown(folder, "frr", "frr")
        for daemon, text in self.config.items():
            self.start_one(daemon, text)

    def start_one(self, daemon, text):
        file = self.folder / f"{daemon}.conf"
        file.write_text(f"hostname {self.namespace}\n{text}")
        more = ["-s", "90000000"] if daemon == "zebra" else []  # zebra's netlink buffer
        if daemon == "bgpd":
            more = ["-S", "-p", "179"]
        log = open(self.folder / f"{daemon}.log", "w")
        self.processes[daemon] = subprocess.Popen(
            world.inside(self.namespace, [DAEMONS / daemon, "-N", self.namespace, "-f", file, "--log", "stdout", *more]),
            stdout=log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        log.close()
        socket = self.folder / "zserv.api"
        if daemon == "zebra":
            world.until(socket.exists)
            # zebra first sweeps its former routes. A bgpd of FRR 8.4 that is started meanwhile had no IPv6 routes of
            # sessions that were up: it takes link-local next hops only by interfaces that it knows.
            world.until(lambda: " up " in self.vtysh("show interface brief"), 60)

    def vtysh(self, command, timeout=60):
        """Output of a command of `vtysh`."""
        return world.sh("vtysh", "-N", self.namespace, "-c", command, namespace=self.namespace, timeout=timeout, check=False)

    def json(self, command, timeout=60):
        """The same of a command that has `json`; {} while the daemon does not answer."""
        try:
            out = self.vtysh(f"{command} json", timeout)
            return json.loads(out[out.index("{"):])  # a warning about a missing vtysh.conf comes first
        except ValueError:
            return {}

    def established(self):
        """Number of BGP neighbours, of both families, that are up."""
        up = 0
        for family in self.json("show bgp summary").values():
            peers = family.get("peers", {}) if isinstance(family, dict) else {}
            up += sum(peer.get("state") == "Established" for peer in peers.values())
        return up

    def kill(self):
        """kill -9 of all daemons, as the kernel would for want of memory."""
        for process in self.processes.values():
            if process.poll() is None:
                os.kill(process.pid, signal.SIGKILL)
            process.wait()
        self.processes = {}

    def logs(self):
        return "\n".join(f"--- {f.name}\n{f.read_text()[-1500:]}" for f in sorted(self.folder.glob("*.log")))
