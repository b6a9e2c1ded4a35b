# SPDX-License-Identifier: BSD-3-Clause
# Linux network namespaces around a router, all of which end with the test.
#
# The script runs itself again in mount, network and process namespaces of its own. Names therefore need not be unique,
# the machine's namespaces stay unchanged, and the kernel removes all when it ends.
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOPOLOGIES = ROOT / "tests" / "netns"
OFFLOADS = ["rx", "off", "tx", "off", "gso", "off", "gro", "off"]


def isolate():
    """Moves into namespaces of its own; returns why that is impossible, or None."""
    if "TURNPIKE_ISOLATED" in os.environ:
        sh("mount", "-t", "tmpfs", "tmpfs", "/run")
        sh("ip", "link", "set", "lo", "up")
        return None
    unshare = ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]
    if os.geteuid() != 0:
        unshare += ["--user", "--map-root-user"]
    probe = subprocess.run([*unshare, "true"], capture_output=True, text=True, check=False)
    if probe.returncode != 0:
        return f"no network namespaces here: {probe.stderr.strip()}"
    os.environ["TURNPIKE_ISOLATED"] = "1"
    sys.stdout.flush()
    os.execvp(unshare[0], [*unshare, sys.executable, *sys.argv])


def sh(*command, namespace=None, timeout=30, check=True):
    """Runs a command, in a namespace if one is named, and returns its whole output."""
    done = subprocess.run(inside(namespace, command), stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=timeout, check=False)
    if check and done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: {done.stdout}")
    return done.stdout


def inside(namespace, command):
    prefix = ["nsenter", f"--net=/run/netns/{namespace}"] if namespace else []
    return [*prefix, *map(str, command)]


def add_namespaces(*names):
    for name in names:
        sh("ip", "netns", "add", name)
        sh("ip", "link", "set", "lo", "up", namespace=name)
        # Addresses are usable at once.
        set_ipv6(name, "all", "accept_dad", 0)
        set_ipv6(name, "default", "accept_dad", 0)


def set_ipv6(namespace, interface, key, value):
    """Sets one of the kernel's IPv6 parameters in that namespace."""
    sh("sh", "-c", f"echo {value} >/proc/sys/net/ipv6/conf/{interface}/{key}", namespace=namespace)


def add_veth(a, b):
    """A veth pair between (namespace, interface) pairs, without offloads, since the other side is no kernel."""
    (namespace_a, name_a), (namespace_b, name_b) = a, b
    sh("ip", "link", "add", name_a, "netns", namespace_a, "type", "veth",
       "peer", "name", name_b, "netns", namespace_b)
    for namespace, name in (a, b):
        sh("ethtool", "-K", name, *OFFLOADS, namespace=namespace)


def give_to_router(namespace, interface):
    """An interface whose packets DPDK handles: the kernel must not answer on it."""
    set_ipv6(namespace, interface, "disable_ipv6", 1)
    sh("ip", "link", "set", interface, "arp", "off", "up", namespace=namespace)


def give_to_host(namespace, interface, mac, addresses, gateways, mtu=1500):
    """An interface of a kernel host, with a default route for each gateway."""
    sh("ip", "link", "set", interface, "address", mac, "mtu", mtu, "up", namespace=namespace)
    for address in addresses:
        nodad = ["nodad"] if ":" in address else []
        sh("ip", "address", "add", address, "dev", interface, *nodad, namespace=namespace)
    for gateway in gateways:
        family = "-6" if ":" in gateway else "-4"
        sh("ip", family, "route", "add", "default", "via", gateway, namespace=namespace)


class Program:
    """A running program of ours; its output goes to a file."""

    def __init__(self, path, *arguments, namespace=None):
        self.log = pathlib.Path("/run") / f"{pathlib.Path(path).name}-{time.monotonic_ns()}.log"
        with open(self.log, "w") as out:
            self.process = subprocess.Popen(inside(namespace, [path, *arguments]), stdout=out,
                                            stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)

    def output(self):
        return self.log.read_text()

    def stop(self, timeout=15):
        """Sends INT, as a user would; returns the exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        return self.wait(timeout)

    def wait(self, timeout):
        try:
            return self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return "killed: it did not end by itself"


def until(condition, seconds=15):
    """Polls for a condition; returns whether it became true in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.1)
    return False


def have(*programs):
    return [program for program in programs if not shutil.which(program)]


def answers(namespace, address):
    """Whether a ping is answered."""
    family = "-6" if ":" in address else "-4"
    out = sh("ping", family, "-n", "-c", "1", "-W", "1", address, namespace=namespace, check=False)
    return re.search(r" 1 received", out) is not None
