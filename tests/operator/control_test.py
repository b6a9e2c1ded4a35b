# SPDX-License-Identifier: BSD-3-Clause
# The control socket of a running router: `turnpike show`, and clients that misbehave.
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from die_with_parent import die_with_parent  # noqa: E402
from tap import Tap  # noqa: E402

DEMO = pathlib.Path(__file__).resolve().parents[2] / "configs" / "demo.yaml"
PATIENCE_S = 20


class Bed:
    """A router that waits for its hosts, and the tool beside it."""

    def __init__(self, tool, router):
        self.tool, self.program = tool, router
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="turnpike-control-"))
        # The links' sockets have the file's name: another test may play the demo at the same time.
        self.file, self.other = self.folder / f"control-{os.getpid()}.yaml", self.folder / f"other-{os.getpid()}.yaml"
        for file in self.file, self.other:
            file.write_text(DEMO.read_text())
        self.control = self.folder / "control"
        self.socket = self.control / "gate.sock"
        self.routers = []

    def start(self, wait=True, file=None, options=(), out="out"):
        process = subprocess.Popen(
            [self.program, str(file or self.file), "--out", str(self.folder / out), "--control", str(self.control),
             "--live", "off", *options], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=self.folder, preexec_fn=die_with_parent)
        self.routers.append(process)
        end = time.monotonic() + PATIENCE_S
        while wait and time.monotonic() < end and process.poll() is None:
            if self.show("version").returncode == 0:
                break
            time.sleep(0.05)
        return process

    def show(self, *words):
        return subprocess.run([self.tool, "show", *words, "--control", str(self.control)], capture_output=True, text=True,
                              timeout=PATIENCE_S, check=False)

    def connect(self):
        client = socket.socket(socket.AF_UNIX)
        client.settimeout(PATIENCE_S)
        client.connect(str(self.socket))
        return client

    def end(self):
        for process in self.routers:
            if process.poll() is None:
                process.kill()
            process.communicate()
        shutil.rmtree(self.folder)


def lines(client, count):
    data = b""
    while data.count(b"\n") < count:
        more = client.recv(65536)
        if not more:
            break
        data += more
    return [json.loads(line) for line in data.decode().splitlines()]


def check_answers(bed, tap):
    for what, expected in {"links": "bottleneck", "ports": "MISSED", "lcores": "LCORE", "drops": "", "customers": "nothing",
                           "version": "router: gate", "neighbours": "10.0.0.1"}.items():
        done = bed.show(what)
        tap.check(f"show {what}", done.returncode == 0 and expected in done.stdout, done.stdout, done.stderr)
    ports = json.loads(bed.show("ports", "--json").stdout or "{}")
    tap.check("show ports --json has all extended statistics, and null where a driver has no flow control",
              any(row["statistic"] == "rx_q0_errors" and row["value"] == 0 for row in ports.get("extended_statistics", []))
              and all(row["flow_control"] is None and row["pause_received"] is None for row in ports["ports"]), ports)
    tap.check("show ports leaves out those that are zero", "rx_q0_errors" not in bed.show("ports").stdout)
    law = bed.show("law", "bottleneck", "--json")
    tap.check("show law --json has the law's figures", "price" in json.loads(law.stdout or "{}").get("gauges", {}), law.stdout)
    ports = json.loads(bed.show("ports", "--json").stdout or "{}").get("ports", [])
    tap.check("show ports --json has driver, queues, descriptors and offloads of each port",
              ports and all(p["driver"].startswith("net_") and p["queues"] == 1 and p["rx_descriptors"] > 0
                            and "rx: " in p["offloads"] and "pci" not in p and "warnings" not in p for p in ports), ports)
    typo = bed.show("law", "bottelneck")
    tap.check("a misspelt link is refused, with the link that was meant",
              typo.returncode == 2 and "did you mean 'bottleneck'" in typo.stderr, typo)
    other = bed.show("links", "--router", "other")
    tap.check("a router that does not run: exit 4, and the name of one that does",
              other.returncode == 4 and "gate" in other.stderr, other)
    modes = [oct(p.stat().st_mode & 0o777) for p in (bed.control, bed.socket)]
    tap.check("the folder is 0750, the socket 0660", modes == ["0o750", "0o660"], modes)


def check_hostile(bed, tap):
    hostile = {
        "not JSON": b"show links\n",
        "an array": b"[1,2]\n",
        "no version": b'{"id":1,"request":"show","what":"links"}\n',
        "another version": b'{"version":2,"id":1,"request":"show"}\n',
        "no request": b'{"version":1,"id":1}\n',
        "a request of another type": b'{"version":1,"id":1,"request":{"a":[]}}\n',
        "an unknown request": b'{"version":1,"id":1,"request":"shpw"}\n',
        "a field of another type": b'{"version":1,"id":1,"request":"show","what":7}\n',
        "deep nesting": b"[" * 100_000 + b"\n",
        "an id that nests": b'{"version":1,"id":' + b"[" * 400_000 + b"]" * 400_000 + b',"request":"show"}\n',
        "bytes that are not text": bytes(range(128, 256)) + b"\n",
        "two megabytes without an end": b"x" * (2 << 20),
    }
    for name, data in hostile.items():
        client = bed.connect()
        try:
            client.sendall(data)
            answers = lines(client, 1)
        except (BrokenPipeError, ConnectionResetError):
            answers = [{"error": {"code": "closed"}}]  # while it still sent
        client.close()
        tap.check(f"{name}: refused", len(answers) == 1 and "error" in answers[0], answers)

    crowd = []
    for _ in range(200):
        client = bed.connect()
        crowd.append(client)
    crowded = bed.show("links")
    tap.check("a client beyond the limit learns why it is refused",
              crowded.returncode != 0 and "clients already" in crowded.stderr, crowded)
    for client in crowd:
        client.close()
    tap.check("200 clients that say nothing come and go", bed.show("links").returncode == 0)

    slow = bed.connect()
    request = b'{"version":1,"id":1,"request":"show","what":"links"}\n'
    slow.settimeout(1)
    try:
        for _ in range(20_000):
            slow.sendall(request)
    except (TimeoutError, socket.timeout, BrokenPipeError, ConnectionResetError):
        pass
    status = pathlib.Path(f"/proc/{bed.routers[-1].pid}/status").read_text()
    memory = int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1])
    done = bed.show("version")
    tap.check("a client that asks and never reads does not stop others", done.returncode == 0, done)
    tap.check("nor fill the memory", memory < 1 << 20, f"{memory} kB")
    slow.close()


def check_socket_folder(bed, tap):
    shared = bed.folder / "shared" / "turnpike"
    shared.mkdir(parents=True)
    shared.chmod(0o777)
    done = subprocess.run([bed.program, str(bed.file), "--out", str(bed.folder / "out2"), "--live", "off", "--duration", "1s"],
                          env={**os.environ, "XDG_RUNTIME_DIR": str(shared.parent)}, capture_output=True, text=True,
                          timeout=60, check=False, cwd=bed.folder)
    tap.check("a folder for sockets that others may write to: exit 4, with the command that mends it",
              done.returncode == 4 and f"chmod go-w {shared}" in done.stderr, done)


def check_lives(bed, tap):
    for name, out, why in (("control", "other", "another router"), ("output", "out", "another process writes it")):
        second = bed.start(False, bed.other, out=out)
        _, error = second.communicate(timeout=60)
        tap.check(f"a second router of the name with the same {name} folder: exit 4",
                  second.returncode == 4 and why in error, second.returncode, error)
    tap.check("the first one's series is not removed", (bed.folder / "out" / "links.csv.part").exists())
    first = bed.routers[0]
    first.send_signal(signal.SIGKILL)
    first.wait()
    done = bed.show("links")
    tap.check("of a killed router `show` says that it does not run", done.returncode == 4 and "does not run any more" in done.stderr,
              done)
    bed.start()
    done = bed.show("links")
    tap.check("the next one takes its socket over", done.returncode == 0, done)
    bed.routers[-1].send_signal(signal.SIGTERM)
    bed.routers[-1].wait(timeout=PATIENCE_S)
    tap.check("and removes it at its end", not bed.socket.exists())


def main():
    tool, router = (os.path.abspath(p) for p in sys.argv[1:])
    tap = Tap()
    bed = Bed(tool, router)
    try:
        bed.start()
        check_answers(bed, tap)
        check_hostile(bed, tap)
        check_socket_folder(bed, tap)
        check_lives(bed, tap)
    finally:
        bed.end()
    tap.finish()


if __name__ == "__main__":
    main()
