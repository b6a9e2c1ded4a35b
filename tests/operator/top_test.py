#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# `turnpike top` on terminals of several sizes, beside a router that forwards the demo's flows. With --draw FILE it
# writes the screen as SVG, for docs/telemetry.md.
# Usage: top_test.py [--draw FILE] TURNPIKE
import argparse
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "tests"), str(ROOT / "docs")]
from bed import TIMEOUT_S, Bed, with_customers  # noqa: E402
from tap import Tap  # noqa: E402
from terminal import Terminal  # noqa: E402

UP, DOWN, ESCAPE = "\x1b[A", "\x1b[B", "\x1b"


def forwards(text):
    """Whether the screen shows a busy bottleneck."""
    return any(line.startswith("bottleneck") and "Mbps" in line for line in text.splitlines())


def check_size(bed, tap, width, height):
    size = f"{width}x{height}"
    terminal = Terminal(bed.command("top", "--interval", "200ms"), width, height)
    shown = terminal.wait_for(forwards)
    text = terminal.cells.text()
    tap.check(f"{size}: links with price, rate and queue", shown and "PRICE $/MB" in text and "QUEUE" in text, text)
    tap.check(f"{size}: lcores with cycles by stage",
              terminal.wait_for(lambda t: "LCORE" in t and all(s in t for s in ("rx", "parse", "lookup", "forward", "tx"))),
              terminal.cells.text())
    tap.check(f"{size}: keys on the last line", "q quit" in terminal.cells.line(height - 1), terminal.cells.text())
    terminal.send(DOWN + "\r")
    tap.check(f"{size}: enter shows a link alone", terminal.wait_for(lambda t: "LAW" in t or "\nLINK " in t and "offered" in t),
              terminal.cells.text())
    terminal.send(ESCAPE)
    tap.check(f"{size}: escape goes back", terminal.wait_for(lambda t: "LCORE" in t), terminal.cells.text())
    terminal.send("s")
    tap.check(f"{size}: s sorts by price", terminal.wait_for(lambda t: "(by price)" in t) and
              terminal.cells.line(2).startswith("bottleneck"), terminal.cells.text())
    terminal.send(" ")
    tap.check(f"{size}: space pauses", terminal.wait_for(lambda t: "PAUSED" in t), terminal.cells.text())
    terminal.send(" ")
    terminal.resize(width + 17, height + 5)
    tap.check(f"{size}: follows a change of size", terminal.wait_for(lambda t: "q quit" in terminal.cells.line(height + 4)),
              terminal.cells.text())
    terminal.send("q")
    code = terminal.end()
    tap.check(f"{size}: q ends it with exit code 0, and restores the terminal", code == 0 and
              "?1049" not in terminal.cells.modes and "?25" in terminal.cells.modes, code, terminal.cells.modes)


def check_flows(bed, tap):
    end, rows = time.monotonic() + TIMEOUT_S, []
    while time.monotonic() < end and {r["customer"] for r in rows if r["spend"] > 0} != {"alice", "bob", "carol"}:
        done = bed.tool("show", "flows", "--json", "--link", "bottleneck")
        rows = json.loads(done.stdout or "{}").get("flows") or []
    tap.check("show flows names the customers' flows, with their spending",
              {r["customer"] for r in rows if r["spend"] > 0} == {"alice", "bob", "carol"}, done)
    tap.check("spending is rate by price, and the largest comes first",
              all(abs(r["spend"] - r["price"] * r["rate_bps"] / 8) <= 1e-6 * r["spend"] for r in rows) and
              [r["spend"] for r in rows] == sorted((r["spend"] for r in rows), reverse=True), rows)
    tap.check("as addresses and ports", all(r["destination"].endswith(":4747") for r in rows if r["spend"] > 0), rows)
    # Both are of a second, but not of the same one: on a busy machine the flows may stand still in one of them.
    end, close = time.monotonic() + TIMEOUT_S, False
    while not close and time.monotonic() < end:
        links = {link["link"]: link
                 for link in json.loads(bed.tool("top", "--json", "--interval", "1s").stdout)["links"]}
        done = bed.tool("show", "flows", "--json", "--link", "bottleneck")
        total = sum(r["rate_bps"] for r in json.loads(done.stdout or "{}").get("flows") or [])
        sent = links["bottleneck"]["tx_bps"]
        close = 0.7 * sent < total < 1.3 * sent
    tap.check("the sample gives the link's rate within 30 %", close, total, sent)
    text = bed.tool("show", "flows", "--limit", "2")
    tap.check("for people it is a table", text.returncode == 0 and "SPEND $/s" in text.stdout and "2 of" in text.stdout, text)
    wrong = bed.tool("show", "flows", "--link", "bottlenek")
    tap.check("a misspelt link: exit 2", wrong.returncode == 2 and "did you mean" in wrong.stderr, wrong)
    terminal = Terminal(bed.command("top", "--interval", "300ms"), 110, 40)
    terminal.wait_for(forwards)
    terminal.send("s\r")  # by price: the bottleneck is first
    tap.check("the page of a link has its flows", terminal.wait_for(lambda t: "SPEND $/s" in t and ":4747" in t and "alice" in t),
              terminal.cells.text())
    terminal.send("q")
    terminal.end()


def check_small(bed, tap):
    terminal = Terminal(bed.command("top"), 20, 3)
    tap.check("20x3: says that the screen is too small", terminal.wait_for(lambda t: "screen too small" in t),
              terminal.cells.text())
    os.kill(terminal.pid, signal.SIGTERM)
    tap.check("SIGTERM ends it and restores the terminal", terminal.end() == 0 and "?1049" not in terminal.cells.modes)
    terminal = Terminal(bed.command("top"), 80, 24)
    terminal.wait_for(forwards)
    os.write(terminal.fd, bytes(range(0x20, 0x60)) + b"\x1b[999;999R\x1b]0;x\x07" + bytes(range(0x80, 0x100)))
    tap.check("keys that mean nothing change nothing", terminal.wait_for(forwards) and terminal.read(0.5))
    os.close(terminal.fd)  # the terminal's window is closed
    end = time.monotonic() + 5
    gone = 0
    while not gone and time.monotonic() < end:
        gone, _ = os.waitpid(terminal.pid, os.WNOHANG)
        time.sleep(0.05)
    if not gone:
        os.kill(terminal.pid, signal.SIGKILL)
        os.waitpid(terminal.pid, 0)
    tap.check("it ends with its terminal", gone)


def check_without_terminal(bed, tap):
    once = bed.tool("top", "--once", "--interval", "500ms")
    tap.check("--once prints a table", once.returncode == 0 and "bottleneck" in once.stdout and "\x1b" not in once.stdout, once)
    # On a busy machine the flows may stand still for seconds, and no timed poll may fall into an interval.
    end = time.monotonic() + TIMEOUT_S
    while time.monotonic() < end:
        done = bed.tool("top", "--json", "--interval", "500ms")
        found = json.loads(done.stdout or "{}")
        links = {link["link"]: link for link in found.get("links", [])}
        lcore = (found.get("lcores") or [{}])[0]
        if links.get("bottleneck", {}).get("tx_bps", 0) > 0 and lcore.get("cycles_per_packet", 0) > 0:
            break
    tap.check("--json has rates", links.get("bottleneck", {}).get("tx_bps", 0) > 0 and links["bottleneck"]["price"] > 0, done)
    tap.check("and the lcore's busy share and cycles by stage", 0 < lcore.get("busy", 0) <= 1 and
              lcore["cycles_per_packet"] > 0 and abs(sum(lcore["stages"].values()) - lcore["cycles_per_packet"]) < 1, lcore)
    none = subprocess.run(bed.command("top"), capture_output=True, text=True, timeout=TIMEOUT_S, stdin=subprocess.DEVNULL,
                          check=False)
    tap.check("without a terminal: exit 2, and the options that need none",
              none.returncode == 2 and "--once" in none.stderr, none)


def check_restart(bed, tap):
    terminal = Terminal(bed.command("top", "--interval", "200ms"), 80, 24)
    terminal.wait_for(forwards)
    bed.router.kill()
    bed.router.wait()
    tap.check("it says that the router is gone", terminal.wait_for(lambda t: "q quit" not in t), terminal.cells.text())
    again = bed.start_router()
    tap.check("and shows the next one", again and terminal.wait_for(lambda t: "q quit" in t), terminal.cells.text())
    terminal.send("\x03")
    tap.check("^C ends it", terminal.end() == 0)


def main():
    options = argparse.ArgumentParser(description="Tests `turnpike top`.")
    options.add_argument("--draw", metavar="FILE", help="write the screen as SVG instead")
    options.add_argument("turnpike")
    chosen = options.parse_args()
    tap = Tap()
    bed = Bed(chosen.turnpike, "top", with_customers)
    try:
        if not tap.check("the router starts", bed.start_router(), bed.log()):
            tap.finish()
        bed.start_sender()
        if chosen.draw:
            terminal = Terminal(bed.command("top"), 110, 24)
            terminal.wait_for(forwards)
            terminal.read(5)
            pathlib.Path(chosen.draw).write_text(terminal.cells.svg("turnpike top beside the demo"))
            terminal.send("q")
            terminal.end()
            return
        check_size(bed, tap, 80, 24)
        check_size(bed, tap, 200, 50)
        check_flows(bed, tap)
        check_small(bed, tap)
        check_without_terminal(bed, tap)
        check_restart(bed, tap)
    finally:
        bed.end()
    tap.finish()


if __name__ == "__main__":
    main()
