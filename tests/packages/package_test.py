#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# The packages of build/packages/ in the life of a machine: lint, install by apt in a clean root where systemd is PID 1,
# start, watchdog, interfaces of a second router, upgrade, remove, purge. Needs root.
import pathlib
import re
import shutil
import sys
import tempfile

from containers import KEPT, ROOT, Store, run
from machine import Machine, build_image, wait_for

sys.path.insert(0, str(ROOT / "tests"))
from sandbox.inject import Thread  # noqa: E402
from tap import Tap  # noqa: E402

DEMO = "/etc/turnpike/demo.yaml"
UNIT, TAPS_UNIT = "turnpike-router@demo", "turnpike-router@taps"
WORST_SCORE = 3.0  # of systemd-analyze security, chosen before the first measurement; systemd calls 3.9 "OK"

# A router whose interfaces in Linux outlive it. The kernel has no partners for its ports, so that they are down.
TAPS = """
hosts:
  inside: { external: true, addresses: [192.0.2.2/24] }
  provider: { external: true, addresses: [198.51.100.1/24] }
routers:
  box: { lcores: 0, control: linux }
links:
  lan: { ends: [inside, box], rate: 1 Gbps, addresses: { box: [192.0.2.1/24] }, attach: { box: { af_packet: port0 } } }
  up: { ends: [box, provider], rate: 1 Gbps, addresses: { box: [198.51.100.2/24] }, attach: { box: { af_packet: port1 } } }
"""


def lint(tap, packages):
    changes = next(packages.glob("*.changes"))
    done = run("lintian", "--allow-root", "--fail-on", "error", changes, check=False, timeout=600)
    tap.check("lintian finds no error", done.returncode == 0, done.stdout)
    print("\n".join(f"# {line}" for line in done.stdout.splitlines()))


def score(tap, deb, folder):
    run("dpkg-deb", "-x", deb, folder / "unpacked")
    unit = next((folder / "unpacked").rglob("turnpike-router@.service"))
    named_unit = folder / "turnpike-router@demo.service"
    shutil.copy(unit, named_unit)
    shown = run("systemd-analyze", "security", "--offline=true", "--no-pager", named_unit, check=False).stdout
    found = re.search(r"Overall exposure level for \S+: ([\d.]+)", shown)
    tap.check(f"exposure by systemd-analyze security: {found and found[1]} of 10, at most {WORST_SCORE}",
              found and float(found[1]) <= WORST_SCORE, shown)
    stated = re.search(r"exposure level of \*\*([\d.]+)\*\*", (ROOT / "docs" / "packages.md").read_text())
    tap.check("docs/packages.md states it", found and stated and found[1] == stated[1], stated and stated[1])


def next_version(deb, folder):
    """The package as a later version."""
    tree = folder / "next"
    run("dpkg-deb", "-R", deb, tree)
    control = tree / "DEBIAN" / "control"
    control.write_text(re.sub(r"^Version: (.*)$", r"Version: \1+next", control.read_text(), flags=re.M))
    out = folder / deb.name.replace("_amd64", "+next_amd64")
    run("dpkg-deb", "--root-owner-group", "-b", tree, out)
    return out


def status(pid):
    return dict(re.findall(r"^(\w+):\s*(.*)", pathlib.Path(f"/proc/{pid}/status").read_text(), re.M))


def check_service(tap, machine):
    done = machine.sh(f"systemctl start {UNIT}")
    journal = machine.journal(UNIT)
    if not tap.check("systemd starts the router of /etc/turnpike/demo.yaml, which says that it is ready",
                     done.returncode == 0 and machine.active(UNIT), done.stdout, journal):
        tap.finish()
    text = machine.sh(f"systemctl show -p StatusText --value {UNIT}").stdout
    tap.check("its status", "gate forwards" in text, text)
    facts = status(machine.router(DEMO))
    tap.check("as its own user, without a capability and with a filter",
              facts["Uid"].split()[0] != "0" and int(facts["CapEff"], 16) == 0 and facts["Seccomp"] == "2", facts)
    tap.check("the sandbox is complete", "capabilities none, system calls filtered" in journal, journal)
    shown = machine.sh("ls -lA /run/turnpike /run/turnpike/memif").stdout
    tap.check("sockets for the service alone", shown.count("srw------- 1 turnpike turnpike") == 4, shown)
    done = machine.sh("runuser -u turnpike -- env RUNTIME_DIRECTORY=/run/turnpike turnpike-sender "
                      "/etc/turnpike/demo.yaml --out /tmp/hosts --live off --duration 3s 2>&1")
    sent = re.search(r"alice: sent (\d+)", done.stdout)
    tap.check("packets pass", done.returncode == 0 and sent and int(sent[1]) > 1000, done.stdout)


def check_watchdog(tap, machine):
    """Stops one lcore's thread, as a fault in a driver would, and nothing else of the process."""
    before, pid = machine.main_pid(UNIT), machine.router(DEMO)
    worker = next(int(t.name) for t in pathlib.Path(f"/proc/{pid}/task").iterdir()
                  if (t / "comm").read_text().startswith(("rte-worker", "lcore-worker")))
    try:
        with Thread(pid, worker):
            replaced = wait_for(lambda: machine.main_pid(UNIT) not in (0, before), 60)
    except OSError:  # the thread has ended meanwhile
        pass
    journal = machine.journal(UNIT)
    tap.check("a stuck lcore: the watchdog restarts the router", replaced and "Watchdog timeout" in journal, journal)
    tap.check("which forwards again", wait_for(lambda: machine.active(UNIT), 30), journal)


def check_interfaces(tap, machine):
    """A second router, with TAP interfaces in Linux; returns their indices."""
    for port in ("port0", "port1"):
        run("ip", "link", "add", port, "netns", machine.pid(), "type", "veth", "peer", "name", f"{port}-peer",
            "netns", machine.pid())
    machine.sh(f"cat >/etc/turnpike/taps.yaml <<'EOF'\n{TAPS}\nEOF")
    done = machine.sh(f"systemctl enable --now {TAPS_UNIT} 2>&1")
    machine.sh(f"systemctl kill --signal=KILL {TAPS_UNIT}")
    back = wait_for(lambda: machine.active(TAPS_UNIT), 30)
    ours = {name: index for name, index in machine.interfaces().items() if name in ("lan", "up")}
    tap.check("a router with Linux as control plane runs, again after kill -9, with its interfaces",
              done.returncode == 0 and back and len(ours) == 2, done.stdout, ours, machine.journal(TAPS_UNIT))
    return ours


def check_upgrade(tap, machine, later, ours):
    machine.sh("echo '# mine' >>/etc/turnpike/demo.yaml; cp /etc/turnpike/demo.yaml /etc/turnpike/own.yaml")
    before = machine.main_pid(UNIT)
    done = machine.apt(f"install /root/{later}")
    tap.check("an upgrade succeeds", done.returncode == 0, done.stdout)
    tap.check("and restarts the router that runs",
              wait_for(lambda: machine.active(UNIT) and machine.main_pid(UNIT) not in (0, before), 30))
    tap.check("and the interfaces in Linux are the same",
              machine.active(TAPS_UNIT) and ours.items() <= machine.interfaces().items(), ours, machine.interfaces())
    kept = machine.sh("tail -n 1 /etc/turnpike/demo.yaml /etc/turnpike/own.yaml").stdout
    tap.check("and keeps the configuration", kept.count("# mine") == 2, kept)
    version = machine.sh("dpkg-query -W turnpike").stdout
    tap.check("and is the later version", "+next" in version, version)


def check_removal(tap, machine, ours):
    machine.sh("rm /etc/turnpike/taps.yaml")  # the interfaces of a router without a file go as well
    done = machine.apt("remove turnpike")
    tap.check("remove: the routers have ended and the programs are gone",
              done.returncode == 0 and not machine.active(UNIT) and not machine.active(TAPS_UNIT)
              and machine.sh("ls /usr/bin/turnpike*").returncode != 0, done.stdout)
    left = ours.keys() & machine.interfaces().keys()
    tap.check("with their interfaces in Linux", not left, left, done.stdout)
    tap.check("the configuration remains", machine.sh(f"cat {DEMO}").stdout.endswith("# mine\n"))
    done = machine.apt("purge turnpike")
    left = machine.sh("find / -xdev -iname '*turnpike*' -not -path '/root/*' -not -path '/proc/*' -not -path '/tmp/*' "
                      "-not -path '/var/cache/apt/*' -not -path '/etc/apt/*' -not -path '/sys/*'").stdout
    tap.check("purge leaves nothing", done.returncode == 0 and not left.strip(), done.stdout, left)


def main():
    tap = Tap()
    deb = next(KEPT.glob("turnpike_*.deb"), None)
    if deb is None:
        sys.exit("there is no package: make package")
    lint(tap, KEPT)
    store = Store()
    with tempfile.TemporaryDirectory(prefix="turnpike-package-", dir="/var/tmp") as name:
        folder = pathlib.Path(name)
        score(tap, deb, folder)
        later = next_version(deb, folder)
        build_image(store, "turnpike-machine", deb, folder)
        machine = Machine(store, "turnpike-machine")
        tap.check("systemd is PID 1", machine.runs())
        for file in (deb, later):
            machine.copy(file, "/root/")
        done = machine.apt(f"install /root/{deb.name}")
        tap.check("apt installs it in a clean root", done.returncode == 0, done.stdout)
        check_service(tap, machine)
        check_watchdog(tap, machine)
        ours = check_interfaces(tap, machine)
        check_upgrade(tap, machine, later.name, ours)
        check_removal(tap, machine, ours)
    tap.finish()


if __name__ == "__main__":
    main()
