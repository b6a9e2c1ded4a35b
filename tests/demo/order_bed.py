# SPDX-License-Identifier: BSD-3-Clause
# Router and sender of the demo as processes that can be signalled at any moment, and checks of their output.
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from die_with_parent import die_with_parent  # noqa: E402

DEMO = pathlib.Path(__file__).resolve().parents[2] / "configs" / "demo.yaml"
SHARES = {"alice": 25, "bob": 25, "carol": 50}  # Mbit/s
LINKED_S, SHARES_S = 1.0, 2.0
TOLERANCE, WINDOW = 0.15, 3  # of a share's mean over so many samples
SAMPLE_S = 0.1
MOST_TAKEN = 0.2  # of the time; failures are no evidence where the machine took more
PATIENCE_S = 15


class Wrong(Exception):
    """A violation that a sequence found."""


class Disturbed(Exception):
    """The machine took too much of the programs' time for a result."""


def topology():
    """The demo with all flows from the beginning on, for as long as the test likes."""
    text = DEMO.read_text()
    for old, new in {"duration: 15 s": "duration: 300 s", "start: 2 s, stop: 11 s": "start: 0 s",
                     "start: 4 s }": "start: 0 s }"}.items():
        assert old in text, "configs/demo.yaml has changed: mend this test"
        text = text.replace(old, new)
    return text


class Program:
    """A running program of ours; records the time of every line that it writes."""

    def __init__(self, name, command):
        self.name, self.started = name, time.monotonic()
        self.lines, self.samples = [], []  # lines as (when, text), and those that are JSON
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                        stdin=subprocess.DEVNULL, text=True, preexec_fn=die_with_parent)
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            if line.startswith("{"):
                self.samples.append((time.monotonic(), json.loads(line)))
            else:
                self.lines.append((time.monotonic(), line.rstrip("\n")))

    def first(self, text):
        """Time of its first line with this text; None: not yet."""
        return next((t for t, line in list(self.lines) if text in line), None)

    def began(self):
        """Time of its first sample; None: not yet."""
        return self.samples[0][0] if self.samples else None

    def handles(self, number):
        """Whether it catches or ignores a signal by now."""
        with contextlib.suppress(OSError):
            status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
            masks = re.findall(r"^Sig(?:Cgt|Ign):\s*(\w+)", status, re.M)
            return any(int(mask, 16) >> (number - 1) & 1 for mask in masks)
        return False

    def waited_s(self):
        """Seconds that its threads have waited for a CPU: the longest of them."""
        waits = [0.0]
        for task in pathlib.Path(f"/proc/{self.process.pid}/task").glob("*/schedstat"):
            with contextlib.suppress(OSError, IndexError):
                waits.append(int(task.read_text().split()[1]) / 1e9)
        return max(waits)

    def stalled_s(self, since, until):
        """Seconds that its lcore stood still between two times, by its own account."""
        def reading(when):
            return next((s.get("stalled_ms", 0) / 1e3 for t, s in reversed(self.samples) if t <= when), 0.0)
        return reading(until) - reading(since)

    def wait(self):
        try:
            code = self.process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            raise Wrong(f"the {self.name} did not end within {PATIENCE_S} s") from None
        self.reader.join()
        return code

    def text(self):
        return "\n".join(line for _, line in self.lines)


class Bed:
    def __init__(self, router, sender, number):
        self.programs = {"router": router.resolve(), "sender": sender.resolve()}
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="turnpike-order-"))
        # The file's name is in the names of memif's sockets, which the whole machine shares.
        self.file = self.folder / f"order-{os.getpid()}-{number}.yaml"
        self.file.write_text(topology())
        self.running, self.ended, self.codes, self.left = {}, [], [], {}
        self.slowest_link = self.slowest_shares = 0.0
        self.disturb(0.0)

    def disturb(self, held=0.0):
        """Marks a disturbance: links and shares may change from now on. A program was held for `held` s before."""
        self.disturbed, self.held = time.monotonic(), held
        self.waited_before = {who: p.waited_s() for who, p in self.running.items()}

    def taken_s(self):
        """Seconds that the machine took from the programs since the disturbance: waiting for a CPU, or standing
        still."""
        now = time.monotonic()
        waited = sum(p.waited_s() - self.waited_before.get(who, 0) for who, p in self.running.items())
        stalled = sum(p.stalled_s(self.disturbed, now) for p in self.running.values())
        return max(waited, stalled - self.held)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for program in self.running.values():
            program.process.kill()
            program.process.wait()
            program.reader.join()
        shutil.rmtree(self.folder)

    def story(self):
        """The last lines of every program's output."""
        said = [f"--- {p.name}, exit code {p.process.poll()}:\n" +
                "\n".join(p.text().splitlines()[-25:])
                for p in [*self.ended, *self.running.values()]]
        return "\n".join(said)

    # The steps of sequences.

    def start(self, who):
        if who in self.running:
            return
        self.disturb()
        self.running[who] = Program(who, [self.programs[who], self.file, "--live", "json",
                                          "--out", self.folder / who])

    def wait(self, seconds):
        time.sleep(float(seconds))

    def signal(self, who, name):
        if who not in self.running:
            return
        program, number = self.running[who], getattr(signal, f"SIG{name}")
        expected = self.expected(program, number)
        program.process.send_signal(number)
        if name not in ("PIPE", "USR1", "USR2"):
            self.disturb(time.monotonic() - self.disturbed if name == "CONT" else 0.0)
        if expected is None:
            return
        del self.running[who]
        self.ended.append(program)
        code = program.wait()
        self.codes.append(f"{who}:{name}:{code}")
        if code not in expected:
            raise Wrong(f"exit code {code} of the {who}, not {' or '.join(map(str, expected))}")
        self.check_words(program, code)
        self.check_files(program, code)

    end = signal

    def linked(self):
        """Waits until all links are up; measures the time since both programs were able to bring them up."""
        router, sender = self.both()
        begin = time.monotonic()
        while (since := self.links_up(router, sender)) is None:
            self.alive()
            if time.monotonic() > begin + PATIENCE_S:
                self.late("no link", PATIENCE_S)
            time.sleep(0.01)
        # Where the sender started last, the time includes its own start: half a second on a quiet machine.
        took = max(0.0, since - max(router.first(" forwards "), sender.started, self.disturbed))
        self.slowest_link = max(self.slowest_link, took)
        if took > LINKED_S:
            self.late("linked", took, LINKED_S)
        return since

    def shares(self):
        """Waits until flows have their shares; measures the time since all links were up."""
        since = max(self.linked(), self.disturbed)
        router, sender = self.both()
        while (found := self.shares_right(router, sender, since)) is None:
            self.alive()
            if time.monotonic() > since + PATIENCE_S:
                self.late("no shares", PATIENCE_S)
            time.sleep(0.05)
        took = found - since
        self.slowest_shares = max(self.slowest_shares, took)
        if took > SHARES_S:
            self.late("shares", took, SHARES_S)

    # Checks.

    def late(self, what, took, bound=0.0):
        """Raises Disturbed if the machine took a large share of the time, Wrong if it took less than the excess over
        the bound."""
        taken = self.taken_s()
        text = f"{what} after {took:.2f} s; the machine took {taken:.2f} s"
        if taken >= MOST_TAKEN * took:
            raise Disturbed(text)
        if took > bound + taken:
            raise Wrong(text)

    def both(self):
        router, sender = self.running.get("router"), self.running.get("sender")
        if not router or not sender:
            raise Wrong("mend the sequence: both must run here")
        return router, sender

    def alive(self):
        for who, program in self.running.items():
            if program.process.poll() is not None:
                raise Wrong(f"the {who} ended by itself, exit code {program.process.poll()}")

    @staticmethod
    def links_up(router, sender):
        """Time since which all links are up, by the sender's account; None: they are not."""
        began = sender.began()
        if router.first(" forwards ") is None or began is None:
            return None
        down = {}
        for t, line in list(sender.lines):
            if match := re.search(r"link (\S+) is (down|up)", line):
                down[match[1]] = (match[2] == "down", t)
        if any(is_down for is_down, _ in down.values()):
            return None
        since = max([began, *(t for _, t in down.values())])
        # Where the router has just started, the sender may not have noticed the end of the last one.
        return since if since >= router.started or began >= router.started else None

    @staticmethod
    def shares_right(router, sender, since):
        """End of the first WINDOW consecutive samples after `since` whose means are the shares, within the tolerance
        and the time that the machine took."""
        rates = [(t, {h: s.get("hosts", {}).get(h, {}).get("rate_mbps", 0) for h in SHARES})
                 for t, s in list(sender.samples) if t >= since]
        for window in (rates[i - WINDOW:i] for i in range(WINDOW, len(rates) + 1)):
            begin, end = window[0][0] - SAMPLE_S, window[-1][0]
            taken = sum(p.stalled_s(begin, end) for p in (router, sender)) / (end - begin)
            means = {h: sum(rate[h] for _, rate in window) / WINDOW for h in SHARES}
            if taken < MOST_TAKEN and all(abs(means[h] / SHARES[h] - 1) <= TOLERANCE + taken for h in SHARES):
                return end
        return None

    def expected(self, program, number):
        """Exit codes that this signal may lead to now; None: it does not end the program."""
        if number in (signal.SIGSTOP, signal.SIGCONT):
            return None
        if number == signal.SIGKILL:
            return [-number]
        handled = program.handles(number)  # before main() it has the system's default
        early = [] if handled else [-number]
        if number in (signal.SIGPIPE, signal.SIGUSR1, signal.SIGUSR2):
            return None if handled else early
        if program.name == "router":
            return [0, *early]
        began, router = program.began(), self.running.get("router")
        if began is None:
            return [0, 1, *early]  # it may begin just now
        settled = router is not None and self.links_up(router, program) is not None
        # Shortly after a start or a signal links and flows may be changing.
        return [0] if settled and time.monotonic() > self.disturbed + SHARES_S else [0, 1]

    @staticmethod
    def check_words(program, code):
        """A sender prints a reason exactly where its exit code is 1."""
        said = re.search(r"turnpike-sender: (not delivered|ended by SIG)", program.text())
        if program.name == "sender" and code in (0, 1) and (code == 1) != (said is not None):
            raise Wrong(f"exit code {code} of the sender, and it says: {said and said[0]}")

    def check_files(self, program, code):
        """Files of results are complete or absent; a program that ended by itself has written them."""
        folder = self.folder / program.name
        name = {"router": "router-gate.json", "sender": "summary.json"}[program.name]
        if (folder / name).exists():
            json.loads((folder / name).read_text())
        if code < 0 or not program.began():
            return
        if not (folder / name).exists():
            raise Wrong(f"the {program.name} ended by itself and left no {name}")
        if parts := [p.name for p in folder.glob("*.part")]:
            raise Wrong(f"the {program.name} left {parts}")
