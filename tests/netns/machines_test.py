#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# `turnpike run` with network namespaces as machines: a sender on each of two, the router on a third, the coordinator
# beside them. sshd runs in each namespace where it is installed and this is root; else a script stands in for ssh.
# Usage: machines_test.py [--whole|--failures] TURNPIKE
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

import gate
import world

sys.path.insert(0, str(world.ROOT / "tests"))
import sshd  # noqa: E402
from die_with_parent import die_with_parent  # noqa: E402
from undisturbed import undisturbed  # noqa: E402

RUN = pathlib.Path("/run")
OVER_S = 2  # from a failure to the end of the run
GONE_S = 10  # until signalled processes are gone, on a slow machine too
CONFIG = world.ROOT / "configs" / "three-machines.yaml"
SECONDS = 5
# A trace, which goes along with the file.
WORKLOAD = "traffic:\n  workloads: { small: { from: alice, to: server, size: { trace: traces/small.csv } } }\n"
PLACES = ("--on", "ssh:left=alice", "--on", "ssh:right=carol,server", "--on", "ssh:middle=gate")
MACHINES = {"left": ["alice"], "right": ["carol", "server"], "middle": []}
STAND_IN = """\
#!/usr/bin/env bash
# Stands in for ssh: HOST is a namespace.
while [ "$1" = -o ]; do shift 2; done
host=$1; shift
exec nsenter --net=/run/netns/$host "$@"
"""
SSH = """\
Host left
  HostName 10.99.1.2
Host right
  HostName 10.99.2.2
Host middle
  HostName 10.99.3.2
Host *
  User root
  IdentityFile {folder}/user
  StrictHostKeyChecking no
  UserKnownHostsFile /dev/null
  LogLevel ERROR
"""


def build():
    """Three machines; each host's link is a veth pair to the router's machine."""
    world.add_namespaces(*MACHINES)
    for machine, hosts in MACHINES.items():
        for host in hosts:
            world.add_veth((machine, host), ("middle", f"tp-{host}"))
            world.give_to_router(machine, host)
            world.give_to_router("middle", f"tp-{host}")
    (RUN / "traces").mkdir()
    (RUN / "traces" / "small.csv").write_text("0.1,3000\n0.2,20000\n")
    text = CONFIG.read_text().replace("duration: 10 s", f"duration: {SECONDS} s").replace("traffic:\n", WORKLOAD)
    (RUN / "three.yaml").write_text(text)


def connect():
    """The command that stands for ssh, and what it is."""
    if not os.access(sshd.PROGRAM, os.X_OK) or pathlib.Path("/proc/self/uid_map").read_text().split()[2] == "1":
        stand_in = RUN / "ssh"
        stand_in.write_text(STAND_IN)
        stand_in.chmod(0o755)
        return str(stand_in), "a script in place of ssh"
    sshd.make_keys(RUN)
    for number, machine in enumerate(MACHINES, 1):
        world.sh("ip", "link", "add", f"to-{machine}", "type", "veth", "peer", "name", "control", "netns", machine)
        world.sh("ip", "address", "add", f"10.99.{number}.1/24", "dev", f"to-{machine}")
        world.sh("ip", "link", "set", f"to-{machine}", "up")
        world.sh("ip", "address", "add", f"10.99.{number}.2/24", "dev", "control", namespace=machine)
        world.sh("ip", "link", "set", "control", "up", namespace=machine)
        world.Program(*sshd.command(RUN, f"sshd-{machine}", f"10.99.{number}.2", 22), namespace=machine)
    (RUN / "ssh-config").write_text(SSH.format(folder=RUN))
    ssh = f"ssh -F {RUN / 'ssh-config'}"
    world.until(lambda: all(subprocess.run([*ssh.split(), machine, "true"], capture_output=True, check=False)
                            .returncode == 0 for machine in MACHINES), 20)
    return ssh, "sshd on each machine"


class Run:
    """A `turnpike run` of the three machines."""

    def __init__(self, turnpike, ssh, *more, file=RUN / "three.yaml", places=PLACES):
        self.folder = RUN / f"out-{time.monotonic_ns()}"
        self.process = subprocess.Popen(
            [turnpike, "run", file, *places, "--ssh", ssh, "--out", self.folder, "--live", "lines", *more],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL, cwd=RUN,
            preexec_fn=die_with_parent)

    def end(self, timeout=60):
        """(exit code, output, errors)."""
        out, err = self.process.communicate(timeout=timeout)
        return self.process.returncode, out, err

    def wait_for_flows(self):
        """Until a live line shows that the run is under way."""
        for line in self.process.stdout:
            if line.startswith("t=1"):
                return

    def summary(self):
        return json.loads((self.folder / "summary.json").read_text())


def processes(*names):
    """Process ids of programs in these namespaces."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and pathlib.Path(os.readlink(entry / "exe")).name in names:
                found.append(int(entry.name))
        except OSError:
            pass
    return found


def with_node(program, node):
    """The process of a program that runs this node."""
    for pid in processes(program):
        words = pathlib.Path(f"/proc/{pid}/cmdline").read_text().split("\0")
        if node in words[words.index("--node") + 1].split(","):
            return pid
    return None


def none_left():
    return world.until(lambda: not processes("turnpike-router", "turnpike-sender"), GONE_S)


def folders():
    return set(pathlib.Path("/tmp").glob("turnpike-agent-*"))


def whole(tap, turnpike, ssh, what):
    before = folders()

    def play():
        run = Run(turnpike, ssh)
        code, out, err = run.end()
        good = code == 0 and run.summary()["verdict"]["shares_ok"] and run.summary()["verdict"]["utilization_ok"]
        return 0 if good else 1, run, code, out, err

    (_, run, code, out, err), machine, disturbed = undisturbed("three machines", play)
    if not tap.check(f"a run on three machines, by {what}, exit code 0", code == 0 and not err, code, out[-3000:], err):
        return
    summary = run.summary()
    if disturbed:
        tap.skip("shares on three machines", machine)
    else:
        tap.check(f"shares as entitled, greatest error {100 * summary['verdict']['worst_error']:.2f} %, lowest "
                  f"utilisation {100 * summary['verdict']['lowest_utilization']:.2f} %",
                  summary["verdict"]["shares_ok"] and summary["verdict"]["utilization_ok"], summary["intervals"])
    tap.check("one summary has the hosts of both senders",
              all(summary["hosts"][host]["goodput_mbps"] > 0 for host in ("alice", "carol"))
              and summary["hosts"]["server"]["received_mbps"] > 0 and len(summary["lcores"]) == 2, summary["hosts"])
    tap.check("the file's trace went along with it", summary["flows"]["completed"] == 2, summary["flows"])
    tap.check("and the router's figures", summary["links"]["server-gate"]["utilization"] > 0.5, summary["links"])
    facts = summary["facts"]
    tap.check(f"it states the clocks: {facts.get('clock of left')}",
              all(" ms: " in facts.get(f"clock of {m}", "") for m in MACHINES), facts)
    tap.check("and who ran what", facts.get("machine right") == "carol, server", facts)
    page = (run.folder / "report.html").read_text()
    tap.check("one report", all(name in page for name in ("alice", "carol", "server-gate", "clock of left")))
    logs = {m: (run.folder / "machines" / m) for m in MACHINES}
    tap.check("logs of all machines", (logs["left"] / "sender.log").exists() and (logs["middle"] / "gate.log").exists(),
              *(list(folder.iterdir()) for folder in logs.values()))
    tap.check("agents leave nothing behind", folders() == before and none_left(), folders() - before)


def failing(tap, turnpike, ssh, what, kill, code_wanted, *texts):
    """Something ends in the middle of the run."""

    def play():
        run = Run(turnpike, ssh)
        run.wait_for_flows()
        begin = time.monotonic()
        kill(run)
        code, _, err = run.end()
        took = time.monotonic() - begin
        return 0 if took <= OVER_S else 1, took, code, err, run

    (late, took, code, err, run), machine, disturbed = undisturbed(what, play)
    if late and disturbed:
        tap.skip(f"{what}: the run ends within {OVER_S} s", f"{took:.2f} s; {machine}")
    else:
        tap.check(f"{what}: the run ends within {OVER_S} s ({took:.2f} s)", not late, took, err)
    tap.check(f"... with exit code {code_wanted}", code == code_wanted, code, err)
    if texts:
        tap.check("... and says what failed: " + " / ".join(texts), all(text in err for text in texts), err)
    tap.check("... and no process is left", none_left())
    return run


def failures(tap, turnpike, ssh):
    run = failing(tap, turnpike, ssh, "a killed sender",
                  lambda _: os.kill(with_node("turnpike-sender", "carol"), signal.SIGKILL), 1,
                  "turnpike-sender (carol, server) on right was ended by signal 9")
    summary = run.summary()
    tap.check("... and the other sender's results are reported, with the failure",
              summary["hosts"]["alice"]["goodput_mbps"] > 0 and "on right" in summary["facts"]["failure"], summary)
    failing(tap, turnpike, ssh, "a killed router",
            lambda _: os.kill(with_node("turnpike-router", "gate"), signal.SIGKILL), 1,
            "turnpike-router (gate) on middle was ended by signal 9")
    failing(tap, turnpike, ssh, "a machine that is lost",
            lambda _: os.kill(agent_of("alice"), signal.SIGKILL), 1, "the connection to left ended")


def agent_of(node):
    sender = with_node("turnpike-sender", node)
    return int(pathlib.Path(f"/proc/{sender}/stat").read_text().rpartition(")")[2].split()[1])


def interrupts(tap, turnpike, ssh):
    run = Run(turnpike, ssh)
    run.wait_for_flows()
    run.process.send_signal(signal.SIGINT)
    code, out, err = run.end()
    tap.check("an interrupt ends the run early, with its report, exit code 0",
              code == 0 and 0.9 < run.summary()["duration_s"] < 4 and "report.html" in out, code, out[-1000:], err)
    run = Run(turnpike, ssh)
    run.wait_for_flows()
    run.process.kill()
    run.end()
    tap.check("a coordinator that is killed takes all processes with it", none_left())


STREAM = "traffic:\n  streams: { load: { from: carol, to: server, rate: { packets: 500 /s }, flows: 100 } }\n"


def throughput(tap, turnpike, ssh):
    """`turnpike bench throughput` with the router on another machine. No rate is checked."""
    text = CONFIG.read_text().partition("traffic:\n")[0].replace("  alice: { budget: 1 $/s }\n", "")
    text = re.sub(r"  alice-gate:.*?(?=  carol-gate:)", "", text, flags=re.S)
    (RUN / "bench.yaml").write_text(text + STREAM)
    folder = RUN / "bench"
    done = subprocess.run([turnpike, "bench", "throughput", RUN / "bench.yaml", "--on", "ssh:right=carol,server",
                           "--on", "ssh:middle=gate", "--ssh", ssh, "--frames", "128", "--trial", "1s", "--resolution",
                           "0.5", "--loss", "0.9", "--attempts", "1", "--out", folder],
                          capture_output=True, text=True, check=False, timeout=180, cwd=RUN)
    if not tap.check("trials with the router on another machine, exit code 0", done.returncode == 0 and not done.stderr,
                     done.returncode, done.stdout[-2000:], done.stderr):
        return
    entry = json.loads((folder / "series.json").read_text())["throughput"]["series"][0]
    platforms = entry["platforms"]
    tap.check("the result has the platforms of both",
              set(platforms) == {"router gate", "sender on right"}
              and set(platforms["router gate"]["ports"]) == {"carol-gate", "server-gate"}
              and all(p["driver"] == "net_af_packet" for p in platforms["router gate"]["ports"].values())
              and set(platforms["sender on right"]["ports"]) == {"carol", "server"}, platforms)
    tap.check("and packets crossed the router", any(t["carried_pps"] > 0 for t in entry["trials"])
              and platforms["router gate"]["lcores"][0]["rx_packets"] > 0, entry["trials"])
    tap.check("nothing is left of these", none_left())


def mistakes(tap, turnpike, ssh):
    code, _, err = Run(turnpike, ssh, places=("--on", "ssh:left=alice,dave", "--on", "ssh:right=alice,carol")).end()
    tap.check("nodes that are unknown or placed twice are named, all at once, exit code 2",
              code == 2 and "'dave'" in err and "'alice' is placed twice" in err, code, err)
    code, _, err = Run(turnpike, ssh, places=("--on", "ssh:-oProxyCommand=alice")).end()
    tap.check("a host that ssh would take for an option is refused", code == 2 and "no host" in err, code, err)
    code, _, err = Run(turnpike, ssh, file=world.ROOT / "configs" / "demo.yaml",
                       places=("--on", "ssh:left=alice")).end()
    tap.check("links that cannot reach another machine are named", code == 2 and "link alice-gate" in err
              and "memif" in err, code, err)
    begin = time.monotonic()
    code, _, err = Run(turnpike, ssh, places=(*PLACES[:4], "--on", "ssh:nowhere=gate")).end()
    tap.check("a machine that cannot be reached ends the run, with the reason", code == 4 and "nowhere" in err
              and time.monotonic() - begin < 25, code, err)
    code, _, err = Run(turnpike, ssh, "--program", "/usr/bin/false").end()
    tap.check("so does one without this program", code == 4 and "the connection to" in err, code, err)
    code, _, err = Run(turnpike, ssh, "--sender-option=--no-such-option").end()
    tap.check("an option that the sender does not know is its error, exit code 2",
              code == 2 and "no-such-option" in err and "turnpike-sender" in err, code, err)
    tap.check("nothing is left of these", none_left())


def main():
    turnpike, parts = pathlib.Path(sys.argv[-1]).resolve(), sys.argv[1:-1]
    tap = gate.enter()
    build()
    ssh, what = connect()
    if "--failures" not in parts:
        whole(tap, turnpike, ssh, what)
    if "--whole" not in parts:
        failures(tap, turnpike, ssh)
        throughput(tap, turnpike, ssh)
        interrupts(tap, turnpike, ssh)
        mistakes(tap, turnpike, ssh)
    tap.finish()


if __name__ == "__main__":
    main()
