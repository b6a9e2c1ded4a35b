# SPDX-License-Identifier: BSD-3-Clause
# Containers without a daemon, a registry or a network of their own: podman and buildah with their own storage, and a
# base image that debootstrap makes.
import atexit
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
KEPT = ROOT / "build" / "packages"  # the base and the images of the last run, so that the next is faster
RELEASES = {"12": "bookworm", "13": "trixie"}
MIRROR = os.environ.get("DEBIAN_MIRROR", "http://deb.debian.org/debian")

CONTAINERS = """[containers]
default_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]
netns = "none"
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
"""
STORAGE = """[storage]
driver = "{driver}"
runroot = "{folder}/run"
graphroot = "{folder}/graph-{driver}"
"""


def run(*command, check=True, timeout=600, **options):
    """A command's output, both streams; exits if it fails and `check` is set."""
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=timeout, check=False, **options)
    if check and done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{done.stdout[-4000:]}")
    return done


class Store:
    """Images and containers of these tests. Containers end with the script."""

    def __init__(self):
        if os.geteuid() != 0:
            sys.exit("needs root: sudo " + " ".join(sys.argv))
        folder = KEPT / "containers"
        folder.mkdir(parents=True, exist_ok=True)
        settings = tempfile.TemporaryDirectory(prefix="turnpike-containers-")
        atexit.register(settings.cleanup)
        (pathlib.Path(settings.name) / "containers.conf").write_text(CONTAINERS)
        storage = pathlib.Path(settings.name) / "storage.conf"
        os.environ["CONTAINERS_CONF"] = f"{settings.name}/containers.conf"
        os.environ["CONTAINERS_STORAGE_CONF"] = str(storage)
        for driver in ("overlay", "vfs"):  # vfs copies whole layers, and works on every file system
            storage.write_text(STORAGE.format(driver=driver, folder=folder))
            if run("podman", "info", check=False).returncode == 0:
                break
        self.containers = []
        atexit.register(self.clean)

    def clean(self):
        for name in self.containers:
            done = run("podman", "rm", "-f", "-t", "0", name, check=False)
            if done.returncode != 0:
                print(f"container {name} is left: {done.stdout}", file=sys.stderr)

    def base(self, release="12"):
        """The image debian:RELEASE-slim, from a root file system of debootstrap's."""
        image = f"localhost/debian:{release}-slim"
        if run("podman", "image", "exists", image, check=False).returncode == 0:
            return image
        with tempfile.TemporaryDirectory(prefix="turnpike-root-", dir="/var/tmp") as root:
            run("debootstrap", "--variant=minbase", "--include=ca-certificates", RELEASES[release], f"{root}/root", MIRROR,
                timeout=1200)
            run("tar", "-C", f"{root}/root", "-cf", f"{root}/root.tar", ".")
            run("podman", "import", f"{root}/root.tar", image, timeout=600)
        return image

    def build(self, image, file, folder, *arguments):
        """Builds an image; its log is build/log/IMAGE-image.log."""
        log = ROOT / "build" / "log" / f"{image}-image.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        done = run("buildah", "bud", "--runtime", "runc", "--ulimit", "nofile=1024:1024", "--network", "host", "--layers",
                   "-t", image, "-f", file, *arguments, folder, check=False, timeout=7200)
        log.write_text(done.stdout)
        if done.returncode != 0:
            sys.exit(f"{done.stdout[-3000:]}\nno image {image}; all of its output: {log}")

    def start(self, name, *arguments):
        run("podman", "rm", "-f", "-t", "0", name, check=False)
        self.containers.append(name)
        return run("podman", "run", "-d", "--name", name, *arguments)

    def inside(self, name, *command, check=False, timeout=600):
        return run("podman", "exec", name, *command, check=check, timeout=timeout)

    def copy(self, file, name, to):
        run("podman", "cp", file, f"{name}:{to}")

    def pid(self, name):
        """The host's number of the container's first process."""
        return int(run("podman", "inspect", "-f", "{{.State.Pid}}", name).stdout)


def descendants(pid):
    """Processes below this one, by the host's numbers."""
    children = pathlib.Path(f"/proc/{pid}/task").glob("*/children")
    below = [int(c) for path in children for c in path.read_text().split()]
    return below + [d for c in below for d in descendants(c)]


def named(pid, name):
    """Processes of this name at or below the process."""
    return [p for p in [pid, *descendants(pid)]
            if pathlib.Path(f"/proc/{p}/comm").read_text().strip() == name[:15]]
