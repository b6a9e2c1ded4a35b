# SPDX-License-Identifier: BSD-3-Clause
# An sshd for tests, which lets in the holder of one key.
import pathlib
import subprocess

PROGRAM = "/usr/sbin/sshd"
SETTINGS = """\
ListenAddress {address}
Port {port}
HostKey {folder}/host
AuthorizedKeysFile {folder}/user.pub
PidFile none
StrictModes no
UsePAM no
PermitRootLogin prohibit-password
MaxStartups 100
"""


def make_keys(folder):
    """`host` and `user` in the folder, and the folder in which sshd gives up privileges."""
    for name in ("host", "user"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / name], check=True)
    pathlib.Path("/run/sshd").mkdir(exist_ok=True)


def command(folder, name, address, port):
    """The command that serves this address with the folder's keys; its settings are in a file of that name."""
    settings = folder / name
    settings.write_text(SETTINGS.format(address=address, port=port, folder=folder))
    return [PROGRAM, "-D", "-e", "-f", settings]
