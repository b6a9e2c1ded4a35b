# SPDX-License-Identifier: BSD-3-Clause
# Checks of a router between two real hosts: ping, traceroute, TCP.
import json
import re
import subprocess

from world import inside, sh


BESIDE_OTHERS = 1  # Mbit/s that TCP reaches at least in a test that has the CPUs together with other tests


def family_of(address):
    return "-6" if ":" in address else "-4"


def ping(tap, name, namespace, address, ttl=None, options=()):
    """Five pings at once, all answered; with `ttl`, by an answer that has so many hops left."""
    # After the first answer ping waits for late ones as long as its interval.
    out = sh("ping", family_of(address), "-n", "-c", "5", "-l", "5", "-i", "10", "-W", "10", *options, address,
             namespace=namespace, check=False)
    hops = set(re.findall(r"ttl=(\d+)", out))
    passed = " 5 received" in out and (ttl is None or hops == {str(ttl)})
    tap.check(name, passed, out)


def traceroute(tap, name, namespace, address, hops, *method):
    """The path is exactly `hops`."""
    out = sh("traceroute", family_of(address), "-n", "-q", "2", "-w", "2", "-m", "6", *method,
             address, namespace=namespace, check=False)
    seen = [re.findall(r"([0-9a-f]+[.:][0-9a-f.:]+)  ", line) for line in out.splitlines()[1:]]
    tap.check(name, [set(hop) for hop in seen] == [{hop} for hop in hops], out)


def refused(tap, name, namespace, address, answer, *options):
    """A ping that the router answers with an ICMP error of this text."""
    out = sh("ping", family_of(address), "-n", "-c", "2", "-i", "0.3", "-W", "5", *options, address,
             namespace=namespace, check=False)
    tap.check(name, answer in out, out)


def reassembled(namespace):
    """How many IPv4 datagrams its kernel has put together from fragments."""
    keys, values = re.findall(r"^Ip: (.*)$", sh("cat", "/proc/net/snmp", namespace=namespace), re.M)
    return int(dict(zip(keys.split(), values.split()))["ReasmOKs"])


class Transfer:
    """A transfer of iperf3's from one namespace to another, running: of TCP, unless the client's options say otherwise."""

    def __init__(self, client, server, address, seconds, streams=1, port=5201, options=()):
        self.seconds = seconds
        self.server = subprocess.Popen(inside(server, ["iperf3", "-s", "-1", "-p", port, "-B", address]),
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        listening = f"ss -Hltn 'sport = :{port}' | grep -q {port}"
        sh("sh", "-c", f"for i in $(seq 50); do {listening} && exit; sleep 0.1; done",
           namespace=server, check=False)
        self.client = subprocess.Popen(
            inside(client, ["iperf3", "-c", address, "-p", port, "-t", seconds, "-P", streams, "-J", *options]),
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def finish(self):
        """(Mbit/s received, output of iperf3)"""
        try:
            out, _ = self.client.communicate(timeout=self.seconds + 20)
        except subprocess.TimeoutExpired:
            self.client.kill()
            out, _ = self.client.communicate()
        self.server.kill()
        self.server.wait()
        try:
            end = json.loads(out)["end"]
            return end["sum_received"]["bits_per_second"] / 1e6, str(end["sum_sent"])
        except (ValueError, KeyError):
            return 0.0, out


def tcp(tap, name, client, server, address, at_least, at_most, seconds=3, attempts=3):
    """A transfer whose rate is within bounds, Mbit/s. A rate that is too low may be the machine's doing; one sufficient
    transfer proves the router's rate."""
    for _ in range(attempts):
        rate, out = Transfer(client, server, address, seconds).finish()
        if rate >= at_least:
            break
        print(f"# {name}: {rate:.1f} Mbit/s", flush=True)
    tap.check(f"{name}: {rate:.1f} Mbit/s within {at_least} to {at_most}", at_least <= rate <= at_most, out)
