# SPDX-License-Identifier: BSD-3-Clause
# A terminal of a given size for full-screen programs: runs one, sends keys, keeps what is on the screen, and draws it
# as SVG. Knows the sequences that `turnpike top` uses (ECMA-48): others are an error, so that none goes unseen.
import fcntl
import html
import os
import pty
import re
import select
import signal
import struct
import termios
import time

SEQUENCE = re.compile(r"\x1b\[([?0-9;]*)([@-~])")
COLORS = {"text": "#d8dee9", "back": "#1d2230", "alarm": "#ff6b6b", "bold": "#ffffff"}
CELL_W, CELL_H, MARGIN = 8.43, 18, 12  # of DejaVu Sans Mono at 14 px


class Cells:
    """The contents of a screen: a character and a style (reverse, bold, red) in each place."""

    def __init__(self, width, height):
        self.resize(width, height)
        self.modes, self.pending = set(), ""

    def resize(self, width, height):
        self.width, self.height = width, height
        self.rows = [[(" ", frozenset())] * width for _ in range(height)]
        self.x = self.y = 0
        self.style = frozenset()

    def write(self, text):
        text = self.pending + text
        self.pending, at = "", 0
        while at < len(text):
            if text[at] == "\x1b":
                found = SEQUENCE.match(text, at)
                if found:
                    self.sequence(*found.groups())
                    at = found.end()
                    continue
                if len(text) - at < 16:
                    self.pending = text[at:]
                    return
                raise ValueError(f"unknown sequence: {text[at:at + 16]!r}")
            self.put(text[at])
            at += 1

    def put(self, c):
        if c == "\r":
            self.x = 0
        elif c == "\n":
            if self.y + 1 == self.height:
                raise ValueError("the screen scrolled")
            self.y += 1
        elif not c.isprintable():
            raise ValueError(f"control character {c!r}")
        elif self.x >= self.width:
            raise ValueError(f"a line is wider than {self.width}: {self.line(self.y)!r}")
        else:
            self.rows[self.y][self.x] = (c, self.style)
            self.x += 1

    def sequence(self, arguments, final):
        if final in "hl" and arguments.startswith("?"):
            (self.modes.add if final == "h" else self.modes.discard)(arguments)
        elif final == "H":
            self.x = self.y = 0
        elif final == "K":
            self.rows[self.y][self.x:] = [(" ", frozenset())] * (self.width - self.x)
        elif final == "J" and arguments == "2":
            self.rows = [[(" ", frozenset())] * self.width for _ in range(self.height)]
        elif final == "J":
            self.sequence("", "K")
            self.rows[self.y + 1:] = [[(" ", frozenset())] * self.width for _ in range(self.height - self.y - 1)]
        elif final == "m":
            self.style = frozenset() if arguments in ("", "0") else self.style | set(arguments.split(";"))
        else:
            raise ValueError(f"unknown sequence: {arguments}{final}")

    def line(self, y):
        return "".join(c for c, _ in self.rows[y]).rstrip()

    def text(self):
        return "\n".join(self.line(y) for y in range(self.height))

    def svg(self, title):
        """The screen as a figure of text."""
        width, height = self.width * CELL_W + 2 * MARGIN, self.height * CELL_H + 2 * MARGIN
        out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
               f'viewBox="0 0 {width:.0f} {height:.0f}" role="img" aria-label="{html.escape(title)}">',
               f'<title>{html.escape(title)}</title>',
               '<style>text { white-space: pre }</style>',
               f'<rect width="100%" height="100%" rx="6" fill="{COLORS["back"]}"/>',
               '<g font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="14">']
        for y, row in enumerate(self.rows):
            start = 0
            while start < self.width:
                style, end = row[start][1], start
                while end < self.width and row[end][1] == style:
                    end += 1
                out += self.run("".join(c for c, _ in row[start:end]), style, start, y)
                start = end
        return "\n".join([*out, "</g>", "</svg>", ""])

    @staticmethod
    def run(text, style, x, y):
        if not text.strip() and "7" not in style:
            return []
        left, top, length = MARGIN + x * CELL_W, MARGIN + y * CELL_H, len(text) * CELL_W
        color = COLORS["alarm" if "31" in style else "bold" if "1" in style else "text"]
        out = []
        if "7" in style:
            out.append(f'<rect x="{left:.1f}" y="{top:.1f}" width="{length:.1f}" height="{CELL_H}" fill="{color}"/>')
            color = COLORS["back"]
        shown = text.rstrip()
        if shown:
            weight = ' font-weight="bold"' if "1" in style else ""
            out.append(f'<text x="{left:.1f}" y="{top + 13:.1f}" textLength="{len(shown) * CELL_W:.1f}" '
                       f'fill="{color}"{weight}>{html.escape(shown)}</text>')
        return out


class Terminal:
    """A program on a pseudo terminal."""

    def __init__(self, command, width, height, **environment):
        self.cells = Cells(width, height)
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ.update({"TERM": "xterm-256color", **environment})
            os.execvp(command[0], [str(word) for word in command])
        self.resize(width, height)

    def resize(self, width, height):
        self.cells.resize(width, height)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))

    def send(self, keys):
        os.write(self.fd, keys.encode())

    def read(self, seconds):
        """Reads for that long; returns whether the program is still there."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if not select.select([self.fd], [], [], left)[0]:
                break
            try:
                data = os.read(self.fd, 65536)
            except OSError:
                return False
            if not data:
                return False
            self.cells.write(data.decode())
        return True

    def wait_for(self, seen, seconds=20):
        """Reads until seen(text on the screen)."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            alive = self.read(0.1)
            if seen(self.cells.text()):
                return True
            if not alive:
                return False
        return False

    def end(self, seconds=5):
        """Exit code of the program, which should have ended; killed and -9 if it has not."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.read(0.05)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                os.close(self.fd)
                return os.waitstatus_to_exitcode(status)
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.fd)
        return -signal.SIGKILL
