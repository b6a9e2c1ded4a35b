# SPDX-License-Identifier: BSD-3-Clause
# The commands that a page shows in its blocks of kind `console`, and a shell on a terminal that runs them as typed.
import os
import pty
import re
import select
import signal
import time

BLOCK = re.compile(r"^```console\n(.*?)^```$(?:\n+```text\n(.*?)^```$)?", re.M | re.S)
HERE = re.compile(r"<<-?\s*['\"]?(\w+)['\"]?")
PROMPT = re.compile(r"<(\d+)> $")


class Command:
    """`prompt`: $ or #; `shown`: lines that the page shows as output of the last command of a block."""

    def __init__(self, prompt, text):
        self.prompt, self.text, self.shown = prompt, text, []


def commands(page):
    """Those of a page: lines behind `$ ` or `# `, with the lines of a here-document or behind a backslash. Such a block
    has no other lines; output may follow it in a block of kind `text`."""
    found = []
    for block, shown in BLOCK.findall(page):
        lines = iter(block.splitlines())
        for line in lines:
            if not re.match(r"[$#] ", line):
                raise ValueError(f"not a command: {line!r}")
            text = line[2:]
            here = HERE.search(text)
            while text.endswith("\\") or (here and text.splitlines()[-1] != here[1]):
                text += "\n" + next(lines)
            found.append(Command(line[0], text))
        found[-1].shown = shown.splitlines()
    return found


def missing(shown, out):
    """Lines of the page that the output has not; figures and the widths of columns may differ."""
    def plain(line):
        return re.sub(r"\d+(\.\d+)?", "N", " ".join(line.split()))

    have = [plain(line) for line in out.splitlines()]
    return [line for line in shown if plain(line) not in have]


class Shell:
    """A shell with a terminal; `start` is the command that starts bash."""

    def __init__(self, *start):
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.environ["TERM"] = "xterm"
            os.execvp(start[0], start)
        os.write(self.terminal, b"stty -echo cols 160 rows 48; PS2=; PS1='<$?> '\n")
        self.read(30)
        self.run("true")  # the echo of the first line has been read by now

    def read(self, seconds, keys=()):
        """Output until the next prompt. `keys`: (text, keys to press when it is shown)."""
        out, end = "", time.monotonic() + seconds
        waiting = list(keys)
        while not PROMPT.search(out) and time.monotonic() < end:
            if select.select([self.terminal], [], [], 0.1)[0]:
                out += os.read(self.terminal, 65536).decode(errors="replace").replace("\r\n", "\n")
            if waiting and waiting[0][0] in out:
                os.write(self.terminal, waiting.pop(0)[1].encode())
        return out

    def run(self, text, seconds=60, keys=()):
        """A command's exit code, None if it has not ended in time, and its output."""
        os.write(self.terminal, text.encode() + b"\n")
        out = self.read(seconds, keys)
        found = PROMPT.search(out)
        return (int(found[1]), out[:found.start()]) if found else (None, out)

    def end(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.terminal)
