#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# The dissector decodes every frame of make_capture to the fields written into it, and reports each broken one with the
# right reason.
#
#   tests/dissector/dissector_test.py MAKE_CAPTURE
import json
import math
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import capture  # noqa: E402
from tap import Tap  # noqa: E402

MESSAGES = {
    "truncated": "The packet ends before its header",
    "version": "Unknown version",
    "kind": "Unknown kind",
    "length": "Length and ranges contradict each other",
    "protocol": "Unknown protocol",
    "congestion": "Not as long as the protocol's congestion header",
    "figure": "A figure that no honest sender or link writes",
    "range": "An empty or reversed range",
    "request": "A request carries no ranges",
}


def equal(found, wanted):
    if isinstance(wanted, list):
        return isinstance(found, list) and all(map(equal, found, wanted)) and len(found) == len(wanted)
    if isinstance(found, list):
        return False
    return math.isclose(found, wanted, rel_tol=1e-5)  # floats are shown with six digits


def differences(frame, wanted):
    """Differences of a frame from its expected fields, as lines of text."""
    wrong = [f"{name}: {frame[name]}, not {value}" for name, value in wanted["fields"].items()
             if not equal(frame[name], value)]
    message = MESSAGES[wanted["expert"]] if wanted["expert"] else ""
    if message not in frame["_ws.expert.message"] or (frame["_ws.expert.message"] and not message):
        wrong.append(f"objection: {frame['_ws.expert.message']!r}, not {message!r}")
    if "Lua" in frame["_ws.expert.message"] or frame["_ws.col.Protocol"] != "Turnpike":
        wrong.append(f"the dissector failed: {frame['_ws.col.Protocol']}")
    if frame["ip.checksum.status"] == "0" or frame["udp.checksum.status"] not in ("1", "3"):
        wrong.append("a checksum is wrong")
    return wrong


def main():
    tap = Tap()
    if not shutil.which("tshark"):
        tap.skip("the dissector", "no tshark here")
        tap.finish()
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "all.pcap"
        made = subprocess.run([sys.argv[1], str(path)], capture_output=True, text=True, check=True)
        expected = [json.loads(line) for line in made.stdout.splitlines()]
        frames = capture.read(path)
    tap.check(f"{len(expected)} frames come back", len(frames) == len(expected), f"{len(frames)} did")
    for frame, wanted in zip(frames, expected):
        wrong = differences(frame, wanted)
        tap.check(wanted["name"], not wrong, *wrong)

    sound = [f for f, w in zip(frames, expected) if not w["expert"]]
    capture.check(tap, sound)
    tap.finish()


if __name__ == "__main__":
    main()
