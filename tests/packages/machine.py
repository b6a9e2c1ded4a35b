# SPDX-License-Identifier: BSD-3-Clause
# A machine of its own: a container where systemd is the first process, and apt installs packages without a network.
import pathlib
import re
import shutil
import time

from containers import named

# The packages to be installed later lie in apt's cache: there is no network then.
IMAGE = """FROM debian:12-slim
RUN apt-get update && apt-get install -y --no-install-recommends systemd systemd-sysv dbus {present}
COPY *.deb /root/
RUN apt-get install -y --no-install-recommends --download-only /root/turnpike_*.deb {later}
RUN rm /root/*.deb && echo 'APT::Install-Recommends "false";' >/etc/apt/apt.conf.d/turnpike-test
RUN systemctl mask systemd-firstboot systemd-resolved systemd-networkd systemd-logind getty.target
CMD ["/lib/systemd/systemd"]
"""


def build_image(store, image, deb, folder, present="", later=""):
    """An image of Debian with systemd and the packages `present`; those of turnpike's package and of `later` can be
    installed in it."""
    context = folder / image
    context.mkdir()
    shutil.copy(deb, context)
    (folder / "Containerfile").write_text(IMAGE.format(present=present, later=later))
    store.base()
    store.build(image, folder / "Containerfile", context)


def wait_for(condition, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.2)
    return False


class Machine:
    """Starts one from an image; it ends with the store."""

    def __init__(self, store, image, *options):
        self.store, self.name = store, image
        store.start(self.name, "--systemd=always", "--privileged", "--network=none", *options, image)

    def runs(self):
        return wait_for(lambda: self.sh("systemctl is-system-running").stdout.strip() in ("running", "degraded"), 60)

    def sh(self, text, timeout=180):
        return self.store.inside(self.name, "sh", "-c", text, timeout=timeout)

    def copy(self, file, to):
        self.store.copy(file, self.name, to)

    def apt(self, words, timeout=600):
        return self.sh(f"DEBIAN_FRONTEND=noninteractive apt-get -y {words} 2>&1", timeout)

    def pid(self):
        return self.store.pid(self.name)

    def main_pid(self, unit):
        """The main process of a service, by the container's numbers; 0: none."""
        return int(self.sh(f"systemctl show -p MainPID --value {unit}").stdout.strip() or 0)

    def active(self, unit):
        return self.sh(f"systemctl is-active {unit}").stdout.strip() == "active"

    def journal(self, unit):
        return self.sh(f"journalctl -u {unit} --no-pager -n 30").stdout

    def router(self, file):
        """The process of the router of that file, by the host's number."""
        return next(p for p in named(self.pid(), "turnpike-router")
                    if file in pathlib.Path(f"/proc/{p}/cmdline").read_text().split("\0"))

    def interfaces(self):
        """Indices of Linux's interfaces, by their names."""
        shown = self.sh("grep . /sys/class/net/*/ifindex").stdout
        return dict(re.findall(r"/sys/class/net/(\S+)/ifindex:(\d+)", shown))
