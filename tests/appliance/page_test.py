#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Runs every command of docs/appliance.md, from the page's text, as an operator would: from a bare machine (a container
# where systemd is PID 1, with two ports) to an edge router with FRR, between a host inside and a provider with BGP.
# Needs root.
# Usage: page_test.py [--build FOLDER] [--verbose]     (--build: packages its programs instead of compiling them again)
#
#     inside --- eth1 [machine] eth2 --- provider (FRR)
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / folder) for folder in ("", "netns", "docs", "packages")]
import frr  # noqa: E402
import world  # noqa: E402
from console import Shell, commands, missing  # noqa: E402
from containers import KEPT, Store  # noqa: E402
from machine import Machine, build_image  # noqa: E402
from tap import Tap  # noqa: E402

PAGE = (ROOT / "docs" / "appliance.md").read_text()
IMAGE = "turnpike-bare"
BARE = "iproute2 procps"                   # of each Debian, and not of debootstrap's smallest
LATER = "frr ethtool"                      # what the page installs
TEN_MINUTES = 600
DOCTOR = (0, 4)                            # exit codes: it may find something
BGP = """router bgp 64501
 bgp router-id 198.51.100.1
 no bgp ebgp-requires-policy
 no bgp network import-check
 neighbor 198.51.100.2 remote-as 64500
 neighbor 198.51.100.2 timers connect 1
 address-family ipv4 unicast
  network 203.0.113.0/24
 exit-address-family
"""


def prepare(build):
    """Runs the page's commands of the machine where packages are built, and makes the image of the bare machine."""
    environment = {**os.environ, **({"FROM": build} if build else {})}
    for command in commands(PAGE):
        if command.prompt == "$":
            begin = time.monotonic()
            subprocess.run(["bash", "-ec", command.text], cwd=ROOT, env=environment, check=True)
            print(f"# $ {command.text} took {time.monotonic() - begin:.0f} s", flush=True)
    with tempfile.TemporaryDirectory(prefix="turnpike-page-", dir="/var/tmp") as folder:
        build_image(Store(), IMAGE, next(KEPT.glob("turnpike_*.deb")), pathlib.Path(folder), BARE, LATER)


def connect(machine):
    """The host inside and the provider, each on a port of the machine."""
    world.add_namespaces("inside", "provider")
    for name, port, addresses, gateway in (("inside", "eth1", ["192.0.2.2/24", "2001:db8:1::2/64"], ["192.0.2.1"]),
                                           ("provider", "eth2", ["198.51.100.1/30", "2001:db8:2::1/64"], [])):
        world.sh("ip", "link", "add", port, "netns", machine.pid(), "type", "veth", "peer", "name", "eth0", "netns", name)
        world.sh("ethtool", "-K", "eth0", *world.OFFLOADS, namespace=name)
        world.sh("nsenter", f"--net=/proc/{machine.pid()}/ns/net", "ethtool", "-K", port, "tx", "off")
        world.give_to_host(name, "eth0", f"02:00:00:00:0{port[-1]}:02", addresses, gateway)
    world.sh("ip", "address", "add", "203.0.113.1/32", "dev", "lo", namespace="provider")


def run_page(tap, shell, verbose):
    """Each command of the page on the machine; returns their outputs by their texts."""
    outputs = {}
    for command in commands(PAGE):
        text = command.text
        if command.prompt == "$":
            continue
        begin = time.monotonic()
        code, out = shell.run(text, 120, [("q quit", "q")] if text.startswith("turnpike top") else ())
        took = time.monotonic() - begin
        allowed = DOCTOR if text.startswith("turnpike doctor") else (0,)
        absent = missing(command.shown, out)
        title = text.splitlines()[0].rstrip("\\ ")
        tap.check(f"{title} ({took:.1f} s)", code in allowed and not absent, f"exit code {code}", text, out,
                  *(f"not in the output: {line}" for line in absent))
        outputs[text] = out
        if verbose:
            print(f"# {text}\n{out}", file=sys.stderr, flush=True)
        if text.startswith("vtysh") and "write memory" in text:  # the session comes up within seconds, says the page
            world.until(lambda: "203.0.113.0/24" in shell.run("turnpike show routes")[1], 60)
    return outputs


def output(outputs, begin):
    return "\n".join(out for text, out in outputs.items() if text.startswith(begin))


def rate(machine):
    """The uplink's, bit/s."""
    links = json.loads(machine.sh("turnpike show links --json").stdout or "{}").get("links", [])
    return next((link["rate_bps"] for link in links if link["link"] == "uplink"), None)


def check_machine(tap, machine, outputs):
    """The promises of the page, beyond the exit codes of its commands."""
    findings = machine.sh("turnpike doctor /etc/turnpike/edge.yaml")
    tap.check("the doctor names nothing of the ports or of Linux in the end",
              not any(f in findings.stdout for f in ("stops", "gro:", "port-", "interface-", "mtu:", "ip-forward")),
              findings.stdout)
    tap.check("show links has both links, up", all(name in output(outputs, "turnpike show links") for name in ("lan", "uplink")),
              output(outputs, "turnpike show links"))
    tap.check("the provider's route is there, by BGP", "203.0.113.0/24" in output(outputs, "turnpike show routes"),
              output(outputs, "turnpike show routes"))
    tap.check("the provider has the route back", world.until(
        lambda: "198.51.100.2" in world.sh("ip", "route", "show", "192.0.2.0/24", namespace="provider"), 20))
    tap.check("the host inside reaches the provider's network", world.until(lambda: world.answers("inside", "203.0.113.1"), 10))
    tap.check("trace shows the stages of a packet", "verdict      sent" in output(outputs, "turnpike trace"),
              output(outputs, "turnpike trace"))
    tap.check("the plan names the changed rate", "80 Mbps" in output(outputs, "turnpike reload --dry-run"),
              output(outputs, "turnpike reload --dry-run"))
    tap.check("after the rollback the rate is the former one", rate(machine) == 100e6, rate(machine))
    tap.check("top has its screen, and q ended it", "LCORE" in output(outputs, "turnpike top"), output(outputs, "turnpike top"))
    machine.sh("systemctl restart turnpike-router@edge")
    back = world.until(lambda: world.answers("inside", "203.0.113.1"), 30)
    tap.check("after a restart of the router alone packets pass again, at that rate", back and rate(machine) == 100e6,
              machine.sh("turnpike show links; vtysh -c 'show bgp summary'").stdout)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", help="folder of compiled programs")
    parser.add_argument("--verbose", action="store_true", help="print what the commands print, to standard error")
    parser.add_argument("--prepare", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.prepare:
        prepare(options.build)
        return
    why = frr.missing() or (f"not installed: {world.have('podman', 'ethtool')}" if world.have("podman", "ethtool") else None)
    if not why and "TURNPIKE_ISOLATED" not in os.environ:
        subprocess.run([sys.executable, *sys.argv, "--prepare"], check=True)  # with the machine's network
        why = world.isolate()
    tap = Tap()
    if why:
        tap.skip("appliance page", why)
        tap.finish()
    world.isolate()
    machine = Machine(Store(), IMAGE)
    tap.check("systemd is PID 1", machine.runs())
    connect(machine)
    provider = frr.Frr("provider", {"bgpd": BGP})
    traffic = world.Program("ping", "-n", "-i", "0.2", "203.0.113.1", namespace="inside")
    machine.copy(next(KEPT.glob("turnpike_*.deb")), "/root/")
    shell = Shell("podman", "exec", "-it", "-w", "/root", "-e", "DEBIAN_FRONTEND=noninteractive", IMAGE,
                  "bash", "--noediting", "--norc", "-i")
    begin = time.monotonic()
    outputs = run_page(tap, shell, options.verbose)
    took = time.monotonic() - begin
    print(f"# the page's commands took {took:.0f} s", flush=True)
    tap.check("ten minutes are enough", took < TEN_MINUTES, took)
    check_machine(tap, machine, outputs)
    if tap.failed:
        print(machine.journal("turnpike-router@edge"), machine.journal("frr"), provider.logs(), traffic.output()[-500:],
              file=sys.stderr)
    shell.end()
    provider.kill()
    tap.finish()


if __name__ == "__main__":
    main()
