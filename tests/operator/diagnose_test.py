# SPDX-License-Identifier: BSD-3-Clause
# `turnpike trace`, `capture`, `doctor` and `support` at a running router, and clients that misbehave.
# Usage: diagnose_test.py TURNPIKE TURNPIKE-ROUTER TURNPIKE-SENDER
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tarfile
import time

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1] / "dissector")]
import tshark  # noqa: E402
from control_test import PATIENCE_S, Bed, lines  # noqa: E402
from die_with_parent import die_with_parent  # noqa: E402
from tap import Tap  # noqa: E402

FORWARDED = "rx parse lookup police price enqueue tx".split()


def tool(bed, *words, **options):
    return subprocess.run([bed.tool, *map(str, words), "--control", str(bed.control)], capture_output=True, text=True,
                          timeout=3 * PATIENCE_S, check=False, cwd=bed.folder, **options)


def start(bed, *words):
    return subprocess.Popen([bed.tool, *map(str, words), "--control", str(bed.control)], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, cwd=bed.folder, preexec_fn=die_with_parent)


def play(bed, sender):
    """Hosts that send until they are ended."""
    return subprocess.Popen([sender, str(bed.file), "--out", str(bed.folder / "hosts"), "--live", "off", "--duration",
                             "600s"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=bed.folder,
                            preexec_fn=die_with_parent)


def traced(done):
    return [json.loads(line) for line in done.stdout.splitlines()]


def check_trace(bed, tap):
    done = tool(bed, "trace", "-n", 5, "--json", "--filter", "udp src port 49152 or udp dst port 4747", "--link",
                "alice-gate")
    packets = traced(done)
    tap.check("five packets are traced", done.returncode == 0 and len(packets) == 5, done)
    for p in packets[:1]:
        stages = {s["stage"]: s for s in p["stages"]}
        tap.check("a forwarded packet passes each stage", p["verdict"] == "sent" and list(stages) == FORWARDED, p)
        tap.check("and says where it goes", stages["lookup"]["link"] == "bottleneck" and "next_hop" in stages["lookup"],
                  p)
        price = stages["price"]
        tap.check("and which price it was given", price["price_before"] <= price["price_after"] == price["price_after"]
                  and price["price_after"] > 0 and "queue_bytes" in price, p)
    text = tool(bed, "trace", "-n", 1)
    tap.check("for people it is text", text.returncode == 0 and "verdict" in text.stdout, text)
    wrong = tool(bed, "trace", "--filter", "udp and and port 5")
    tap.check("a mistake in a filter: exit 2 and its column", wrong.returncode == 2 and "column 9" in wrong.stderr, wrong)
    link = tool(bed, "trace", "--link", "alice-gat")
    tap.check("a misspelt link: exit 2", link.returncode == 2 and "did you mean 'alice-gate'" in link.stderr, link)


def check_capture(bed, tap):
    file = bed.folder / "a.pcapng"
    done = tool(bed, "capture", "-w", file, "-c", 200)
    tap.check("a capture of 200 packets", done.returncode == 0 and file.exists(), done)
    if not shutil.which("tshark"):
        return tap.skip("the capture in tshark", "there is no tshark")
    fields = ["frame.interface_name", "frame.time_epoch", "turnpike.kind", "frame.interface_description",
              "frame.packet_flags_direction", "frame.cap_len"]
    shown = tshark.run(file, "-T", "fields", *sum((["-e", f] for f in fields), []))
    rows = [line.split("\t") for line in shown.stdout.splitlines()]
    tap.check("tshark reads all of it", shown.returncode == 0 and len(rows) == 200, shown.stderr, len(rows))
    tap.check("with the links' names", {r[0] for r in rows} <= {"alice-gate", "bob-gate", "carol-gate", "bottleneck"}
              and "port net_memif" in rows[0][3], rows[:2])
    tap.check("the dissector knows the packets", all(r[2] for r in rows), rows[:2])
    tap.check("in both directions", {int(r[4], 0) for r in rows} == {1, 2}, {r[4] for r in rows})
    now = time.time()
    tap.check("at the time of day", all(abs(float(r[1]) - now) < 120 for r in rows), rows[0], now)
    tap.check("no more than 128 B of each", all(int(r[5]) <= 128 for r in rows), rows[0])
    return None


def check_interrupted(bed, tap):
    capture = start(bed, "capture", "-w", bed.folder / "d.pcapng", "--drops")
    time.sleep(1)
    capture.send_signal(signal.SIGINT)
    _, error = capture.communicate(timeout=PATIENCE_S)
    tap.check("an interrupted capture of drops writes its file", capture.returncode == 0 and
              (bed.folder / "d.pcapng").exists(), capture.returncode, error)


def check_hostile(bed, tap):
    first = start(bed, "trace", "-n", 1000, "--filter", "tcp port 1")
    time.sleep(0.5)
    second = tool(bed, "trace", "-n", 1)
    tap.check("a second trace at once is refused", second.returncode != 0 and "another trace" in second.stderr, second)
    first.kill()
    first.communicate()
    end, done = time.monotonic() + PATIENCE_S, None
    while time.monotonic() < end:
        done = tool(bed, "trace", "-n", 1)
        if done.returncode == 0:
            break
        time.sleep(0.1)
    tap.check("when its client was killed the next one runs", done.returncode == 0, done)
    capture = start(bed, "capture", "-w", "k.pcapng")
    time.sleep(0.5)
    both = tool(bed, "trace", "-n", 3)
    tap.check("a trace beside a capture", both.returncode == 0, both)
    capture.kill()
    capture.communicate()
    tap.check("a killed capture leaves no file", not (bed.folder / "k.pcapng").exists())
    filters = {
        "an unknown instruction": [[0xffff, 0, 0, 0], [6, 0, 0, 1]], "a jump past the end": [[21, 9, 9, 0], [6, 0, 0, 1]],
        "a jump back": [[5, 0, 0, 0xffffffff], [6, 0, 0, 1]], "no instructions": [[]], "text": "udp",
        "large numbers": [[1 << 20, 0, 0, 0]], "too many": [[6, 0, 0, 1]] * 600,
    }
    for name, program in filters.items():
        client = bed.connect()
        client.sendall(json.dumps({"version": 1, "id": 1, "request": "trace", "filter": program}).encode() + b"\n")
        answer = lines(client, 1)
        client.close()
        tap.check(f"a filter with {name} is refused", answer and "error" in answer[0], answer)
    slow = bed.connect()
    slow.sendall(b'{"version":1,"id":1,"request":"capture","snap":9216}\n')
    time.sleep(2)
    status = pathlib.Path(f"/proc/{bed.routers[-1].pid}/status").read_text()
    memory = int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1])
    done = bed.show("links")
    tap.check("a client that does not read its capture fills no memory", done.returncode == 0 and memory < 1 << 20,
              f"{memory} kB", done)
    slow.close()
    tap.check("the router still runs", bed.routers[-1].poll() is None)


def check_support(bed, tap):
    doctor = tool(bed, "doctor", bed.file, "--json")
    answer = json.loads(doctor.stdout or "{}")
    tap.check("doctor knows the running router", answer.get("router", {}).get("router") == "gate", doctor)
    tap.check("its exit code says whether there is something to mend", doctor.returncode in (0, 4) and
              (doctor.returncode == 4) == any(f["severity"] != "note" for f in answer["findings"]), doctor)
    victim = bed.folder / "victim"
    victim.write_text("precious")
    archive = bed.folder / "s.tar.gz"
    archive.symlink_to(victim)
    done = tool(bed, "support", bed.file, "-o", archive, "--mask")
    tap.check("support writes an archive", done.returncode == 0 and tarfile.is_tarfile(archive), done)
    tap.check("never through a link", victim.read_text() == "precious" and not archive.is_symlink())
    tap.check("for its owner alone", archive.stat().st_mode & 0o077 == 0, oct(archive.stat().st_mode))
    with tarfile.open(archive) as tar:
        texts = {pathlib.Path(m.name).name: tar.extractfile(m).read().decode(errors="replace") for m in tar if m.isfile()}
    wanted = {"show-links.json", "show-tunnels.json", "show-ports.json", "show-law-0.json", "doctor.json", "topology.yaml", "version.txt", "log.txt"}
    tap.check("with the router's answers and the machine's", wanted <= set(texts), sorted(texts))
    own = socket.gethostname()
    tap.check("masked: neither addresses nor the machine's name", "10.0.0.1" not in "".join(texts.values()) and
              not any(own in t for t in texts.values()), own)
    unknown = tool(bed, "support", "-o", archive, "--router", "nope")
    tap.check("of a router that is not there: exit 4", unknown.returncode == 4 and "nope" in unknown.stderr, unknown)
    full = tool(bed, "support", "-o", "/dev/full")
    tap.check("on a full disk: exit 1", full.returncode == 1 and "cannot write" in full.stderr, full)


def main():
    program, router, sender = (os.path.abspath(p) for p in sys.argv[1:])
    tap = Tap()
    bed = Bed(program, router)
    hosts = None
    try:
        bed.start(False)
        hosts = play(bed, sender)
        end = time.monotonic() + 2 * PATIENCE_S
        while time.monotonic() < end and tool(bed, "show", "version").returncode != 0:
            time.sleep(0.1)
        check_trace(bed, tap)
        check_capture(bed, tap)
        check_interrupted(bed, tap)
        check_hostile(bed, tap)
        check_support(bed, tap)
        bed.routers[-1].send_signal(signal.SIGTERM)
        _, error = bed.routers[-1].communicate(timeout=PATIENCE_S)
        tap.check("the router ends with every packet accounted for", bed.routers[-1].returncode == 0, error)
    finally:
        if hosts:
            hosts.kill()
            hosts.wait()
        bed.end()
    tap.finish()


if __name__ == "__main__":
    main()
