#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# `turnpike sweep` under its engines: here, killed and continued; as a job array of Slurm's with one controller and two
# node daemons, one of which is killed; and by GNU parallel over ssh. All leave the same tables and the same page.
# As root. Usage: engines_test.py [--runs N] TURNPIKE
import argparse
import contextlib
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
import sshd  # noqa: E402
from die_with_parent import die_with_parent  # noqa: E402
from tap import Tap  # noqa: E402

PATIENCE_S = 240
RATES = "10 Mbps,20 Mbps,50 Mbps,100 Mbps"
NODES = ("one", "two")

SLURM = """\
ClusterName=turnpike
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.sock
SlurmctldPort={ports[0]}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
ReturnToService=2
SlurmdTimeout=10
InactiveLimit=0
SchedulerParameters=sched_interval=1,batch_sched_delay=0
NodeName=one NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs=2
NodeName=two NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]} CPUs=2
PartitionName=all Nodes=one,two Default=YES MaxTime=INFINITE State=UP
"""


def free_ports(count):
    with contextlib.ExitStack() as all_open:
        sockets = [all_open.enter_context(socket.socket()) for _ in range(count)]
        for s in sockets:
            s.bind(("127.0.0.1", 0))
        return [s.getsockname()[1] for s in sockets]


def until(condition, seconds):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


class Services:
    """Daemons of the test, which end with it."""

    def __init__(self, folder):
        self.folder, self.running = folder, {}

    def start(self, name, *command, **environment):
        log = open(self.folder / f"{name}.log", "w")
        self.running[name] = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL,
                                              env={**os.environ, **environment}, preexec_fn=die_with_parent)

    def kill(self, name):
        self.running[name].kill()
        self.running[name].wait()

    def end(self):
        for process in reversed(self.running.values()):
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(5)
            process.kill()

    def logs(self):
        return "\n".join(f"{path.name}: {path.read_text(errors='replace')[-500:]}"
                         for path in self.folder.glob("*.log"))


class Sweep:
    """The same sweep in a folder of its own."""

    def __init__(self, turnpike, folder, runs):
        self.folder = folder
        seeds = max(1, runs // (RATES.count(",") + 1))
        self.runs = seeds * (RATES.count(",") + 1)
        self.command = [turnpike, "sweep", ROOT / "configs" / "demo.yaml",
                        "--set", f"links.bottleneck.rate={RATES}",
                        "--set", "run.duration=12 s", "--seeds", f"1..{seeds}", "--out", folder]

    def start(self, *more, **environment):
        return subprocess.Popen([*self.command, *more], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                cwd=ROOT, env={**os.environ, **environment}, preexec_fn=die_with_parent)

    def run(self, *more, **environment):
        process = self.start(*more, **environment)
        return process.communicate(timeout=PATIENCE_S)[0], process.returncode

    def results(self):
        return sum(1 for _ in self.folder.glob("results/*/summary.json"))

    def pages(self):
        return {name: (self.folder / name).read_bytes() if (self.folder / name).exists() else None
                for name in ("sweep.csv", "sweep.json", "sweep.html")}


def killed(tap, sweep, expected):
    """SIGKILL at three random moments; each time the sweep continues."""
    chance, left = random.Random(7), []
    for _ in range(3):
        process = sweep.start()
        wanted = sweep.results() + chance.randint(1, max(1, sweep.runs // 5))
        until(lambda: sweep.results() >= wanted or process.poll() is not None, PATIENCE_S)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        left.append(sweep.runs - sweep.results())
    before = {path: path.stat().st_mtime_ns for path in sweep.folder.glob("results/*/summary.json")}
    said, code = sweep.run()
    again = [path for path, at in before.items() if path.stat().st_mtime_ns != at]
    tap.check(f"killed with {left} of {sweep.runs} runs left: continued, the same pages", code == 0 and
              sweep.pages() == expected and left[-1] > 0, code, said)
    tap.check("... and no run that had ended is run again", before and not again, again)
    left = list((sweep.folder / "running").iterdir())
    tap.check("... and nothing is left of killed runs", not left, left)


def slurm(tap, services, sweep, expected):
    folder = services.folder
    conf = folder / "slurm.conf"
    conf.write_text(SLURM.format(host=socket.gethostname(), folder=folder, ports=free_ports(3)))
    (folder / "state").mkdir()
    (folder / "munge.key").write_bytes(os.urandom(1024))
    (folder / "munge.key").chmod(0o400)
    # Its folder is another user's for munged: the temporary folder's parent is everyone's.
    services.start("munged", "munged", "--foreground", "--force", f"--key-file={folder}/munge.key",
                   f"--socket={folder}/munge.sock", f"--pid-file={folder}/munged.pid", f"--log-file={folder}/munge.log",
                   f"--seed-file={folder}/munge.seed")
    until((folder / "munge.sock").exists, 10)
    services.start("slurmctld", "slurmctld", "-D", "-f", conf)
    for node in NODES:
        services.start(f"slurmd-{node}", "slurmd", "-D", "-N", node, "-f", conf)

    def idle():
        done = subprocess.run(["sinfo", "-h", "-o", "%T %D"], env={**os.environ, "SLURM_CONF": str(conf)},
                              capture_output=True, text=True, check=False)
        return done.stdout.split() == ["idle", "2"]

    if not tap.check("Slurm has two nodes", until(idle, 30), services.logs()):
        return
    process = sweep.start("--on", "slurm", SLURM_CONF=str(conf))
    reached = until(lambda: sweep.results() >= sweep.runs // 4 or process.poll() is not None, PATIENCE_S)
    services.kill("slurmd-two")
    then = sweep.results()
    said = process.communicate(timeout=PATIENCE_S)[0]
    tap.check(f"Slurm: a node daemon is killed after {then} of {sweep.runs} runs: all end, the same pages", reached and
              process.returncode == 0 and then < sweep.runs and sweep.pages() == expected, process.returncode, said,
              services.logs())


def ssh(tap, services, sweep, expected):
    folder = services.folder
    sshd.make_keys(folder)
    port = free_ports(1)[0]
    services.start("sshd", *sshd.command(folder, "sshd_config", "127.0.0.1", port))
    login = (f"ssh -p {port} -i {folder}/user -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null "
             "-o LogLevel=ERROR root@127.0.0.1")
    said, code = sweep.run("--jobs", "2", "--on", f"ssh:{login}")
    tap.check(f"GNU parallel over ssh: {sweep.runs} runs, the same pages", code == 0 and sweep.pages() == expected,
              code, said, services.logs())


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--runs", type=int, default=40)
    options.add_argument("turnpike", type=pathlib.Path)
    chosen = options.parse_args()
    turnpike = chosen.turnpike.resolve()
    tap = Tap()
    with tempfile.TemporaryDirectory(prefix="turnpike-engines-") as name:
        folder = pathlib.Path(name)
        reference = Sweep(turnpike, folder / "reference", chosen.runs)
        began = time.monotonic()
        said, code = reference.run()
        took = time.monotonic() - began
        expected = reference.pages()
        if not tap.check(f"{reference.runs} runs on this machine, {1000 * took / reference.runs:.0f} ms each",
                         code == 0 and None not in expected.values(), code, said):
            tap.finish()
        killed(tap, Sweep(turnpike, folder / "killed", chosen.runs), expected)
        services = Services(folder)
        try:
            if os.geteuid() == 0 and all(map(shutil.which, ("slurmctld", "slurmd", "munged"))):
                slurm(tap, services, Sweep(turnpike, folder / "slurm", chosen.runs), expected)
            else:
                tap.skip("Slurm", "not root, or slurm-wlm and munge are missing")
            if os.geteuid() == 0 and shutil.which("parallel") and pathlib.Path("/usr/sbin/sshd").exists():
                ssh(tap, services, Sweep(turnpike, folder / "ssh", chosen.runs), expected)
            else:
                tap.skip("ssh", "not root, or parallel and openssh-server are missing")
        finally:
            services.end()
    tap.finish()


if __name__ == "__main__":
    main()
