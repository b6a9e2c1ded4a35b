# SPDX-License-Identifier: BSD-3-Clause
# Runs tshark with the project's dissector over a capture, as any user.
import os
import pathlib
import shutil
import subprocess
import tempfile

DISSECTOR = pathlib.Path(__file__).resolve().parents[2] / "docs" / "turnpike.lua"
NOBODY = 65534


def run(capture, *options):
    """tshark's subprocess.CompletedProcess. Wireshark 4.4 and later run no Lua for root: the account of least rights
    runs it then, with a copy of the dissector, and the capture as standard input."""
    root = os.geteuid() == 0
    who = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if root else {}
    with tempfile.TemporaryDirectory() as folder, open(capture, "rb") as packets:
        os.chmod(folder, 0o755)
        copy = shutil.copy(DISSECTOR, folder)
        os.chmod(copy, 0o644)
        done = subprocess.run(["tshark", "-X", f"lua_script:{copy}", "-r", "-", *options], stdin=packets,
                              capture_output=True, timeout=600, check=False,
                              env={**os.environ, "HOME": folder} if root else None, **who)
    # Not text=True, which would take \x1e in fields for an end of a line.
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())
