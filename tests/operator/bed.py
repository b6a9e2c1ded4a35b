# SPDX-License-Identifier: BSD-3-Clause
# The demo's router with its hosts on memif, for tests of tools that watch it.
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from die_with_parent import die_with_parent  # noqa: E402

TIMEOUT_S = 30
CUSTOMERS = """
customers:
  alice: { budget: 1 $/s, link: alice-gate }
  bob: { budget: 0.1 $/s, link: bob-gate }
  carol: { budget: 2 $/s, link: carol-gate }
"""


def with_customers(text):
    """The topology with enforced budgets; bob has a tenth of what he spends, so that packets are dropped."""
    assert "  gate: {}" in text, "configs/demo.yaml has changed: mend this test"
    return text.replace("  gate: {}", "  gate: { enforce: {} }") + CUSTOMERS


class Bed:
    """A folder, a router, and a sender whose flows last until the end."""

    def __init__(self, turnpike, name, edit=lambda text: text):
        self.turnpike = pathlib.Path(turnpike).resolve()
        self.programs = self.turnpike.parents[1]
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix=f"turnpike-{name}-"))
        # Memif's sockets have the file's name.
        self.file = self.folder / f"{name}-{os.getpid()}.yaml"
        text = (ROOT / "configs" / "demo.yaml").read_text().replace("duration: 15 s", "duration: 600 s")
        text = text.replace("start: 2 s, stop: 11 s", "start: 0 s").replace("start: 4 s", "start: 0 s")
        self.file.write_text(edit(text))
        self.control = self.folder / "control"
        self.processes = []
        self.router = None

    def start(self, program, *options):
        log = open(self.folder / f"{program}.log", "ab")  # closed with the process
        process = subprocess.Popen(
            [self.programs / program / f"turnpike-{program}", self.file, "--live", "off", "--out", self.folder / "out",
             *options], stdout=log, stderr=log, cwd=self.folder, preexec_fn=die_with_parent)
        log.close()
        self.processes.append(process)
        return process

    def start_router(self, *options):
        """Whether it answers on its control socket."""
        self.router = self.start("router", "--control", self.control, *options)
        end = time.monotonic() + TIMEOUT_S
        while time.monotonic() < end and self.router.poll() is None:
            if self.tool("show", "version").returncode == 0:
                return True
            time.sleep(0.05)
        return False

    def start_sender(self):
        return self.start("sender")

    def command(self, *words):
        return [self.turnpike, *words, "--control", self.control]

    def tool(self, *words):
        return subprocess.run(self.command(*words), capture_output=True, text=True, timeout=TIMEOUT_S, check=False)

    def log(self, program="router"):
        return (self.folder / f"{program}.log").read_text(errors="replace")

    def end(self):
        for process in self.processes:
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
            process.wait()
        shutil.rmtree(self.folder)
