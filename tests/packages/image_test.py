#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Builds docker/Dockerfile without a daemon and runs the services of docker/compose.yaml as that file says. Needs root.
# Usage: image_test.py [12|13]     (the release of Debian)
# With FROM=BUILD in the environment the image gets the programs of that build folder, compiled on the same release.
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

import yaml
from containers import ROOT, Store, named, run

sys.path.insert(0, str(ROOT / "tests"))
from tap import Tap  # noqa: E402

IGNORED = {"build", "depends_on"}


def arguments(service, results):
    """Options of `podman run` for a service of the compose file; fails for a key that it does not know."""
    out = []
    for key, value in service.items():
        if key == "cap_drop":
            out += [f"--cap-drop={name}" for name in value]
        elif key == "security_opt":
            out += [f"--security-opt={option.replace(':true', '')}" for option in value]
        elif key == "network_mode":
            out.append(f"--network={value}")
        elif key == "read_only" and value:
            out += ["--read-only", "--read-only-tmpfs=false"]
        elif key == "init" and value:
            out += ["--init", "--init-path=/usr/bin/catatonit"]
        elif key == "tmpfs":
            out += [f"--tmpfs={path}" for path in value]
        elif key == "volumes":
            for volume in value:
                source, target = volume.split(":")
                out.append(f"--volume={results if source.startswith('.') else 'turnpike-' + source}:{target}")
        elif key not in IGNORED | {"image", "command"}:
            sys.exit(f"image_test.py does not know the key {key} of docker/compose.yaml")
    return [*out, service["image"], *service["command"]]


def copy_programs(build, context):
    """Puts compiled programs into the context, and takes the stage that compiles them out of the Dockerfile."""
    file = context / "docker" / "Dockerfile"
    text, stages = re.subn(r"^FROM \S+ AS build\n.*?(?=^FROM )", "", file.read_text(), flags=re.M | re.S)
    names = re.findall(r"/turnpike/build/(\S+)", re.search(r"^COPY --from=build (?:.*\\\n)*.*$", text, re.M)[0])
    if stages != 1 or not names:
        sys.exit("docker/Dockerfile has changed: mend image_test.py")
    file.write_text(text.replace("--from=build ", "").replace("/turnpike/build/", "programs/"))
    for name in names:
        (context / "programs" / name).parent.mkdir(parents=True, exist_ok=True)
        run("strip", "-o", context / "programs" / name, pathlib.Path(build) / name)


def status(pid):
    return dict(re.findall(r"^(\w+):\s*(.*)", pathlib.Path(f"/proc/{pid}/status").read_text(), re.M))


def check_router(tap, store, name):
    """The router's container while it runs."""
    end = time.monotonic() + 30
    log = ""
    while "forwards on" not in log and time.monotonic() < end:
        time.sleep(0.1)
        log = run("podman", "logs", name).stdout
    tap.check("the router forwards, with all of the sandbox",
              "forwards on" in log and "capabilities none, system calls filtered" in log, log)
    routers = named(store.pid(name), "turnpike-router")
    facts = status(routers[0]) if routers else {}
    tap.check("no capability, not even to regain", facts.get("CapEff", "1").strip("0") == ""
              and facts.get("CapBnd", "1").strip("0") == "" and facts.get("NoNewPrivs") == "1", facts)
    tap.check("and no root user", facts.get("Uid", "0").split()[0] == "1000", facts)
    tap.check("the root file system cannot be written to", store.inside(name, "touch", "/usr/x").returncode != 0)
    shown = store.inside(name, "ls", "-ln", "/run/turnpike/memif").stdout
    tap.check("memif's sockets are the user's alone", shown.count("srw------- 1 1000") == 4, shown)


def main():
    release = sys.argv[1] if len(sys.argv) > 1 else "12"
    tap = Tap()
    store = Store()
    store.base(release)
    with tempfile.TemporaryDirectory(prefix="turnpike-image-", dir="/var/tmp") as folder:
        context = pathlib.Path(folder) / "context"
        context.mkdir()
        subprocess.run(f"git ls-files -z | tar -c --null -T - | tar -x -C {context}", shell=True, cwd=ROOT, check=True)
        if build := os.environ.get("FROM"):
            copy_programs(ROOT / build, context)
        store.build("turnpike", context / "docker" / "Dockerfile", context, "--build-arg", f"DEBIAN={release}")
        tap.check(f"docker/Dockerfile builds on Debian {release}", True)
        results = pathlib.Path(folder) / "results"
        results.mkdir()
        shutil.chown(results, 1000, 1000)
        services = yaml.safe_load((ROOT / "docker" / "compose.yaml").read_text())["services"]
        run("podman", "volume", "rm", "-f", "turnpike-sockets", check=False)
        store.start("turnpike-router", *arguments(services["router"], results))
        check_router(tap, store, "turnpike-router")
        store.start("turnpike-sender", *arguments(services["sender"], results))
        code = run("podman", "wait", "turnpike-sender", timeout=180).stdout.strip()
        log = run("podman", "logs", "turnpike-sender").stdout
        tap.check("the sender runs the demo", code == "0" and "Results in /results" in log, code, log)
        summary = results / "summary.json"
        tap.check("and leaves its results outside",
                  summary.exists() and json.loads(summary.read_text())["flows"]["started"] == 3, log)
        run("podman", "stop", "-t", "10", "turnpike-router")
        code = run("podman", "inspect", "-f", "{{.State.ExitCode}}", "turnpike-router").stdout.strip()
        log = run("podman", "logs", "turnpike-router").stdout
        received = re.search(r"received (\d+) .* forwarded (\d+)", log)
        tap.check("the router ends in order, with its packets forwarded",
                  code == "0" and received and int(received[2]) > 10000, code, log)
    run("podman", "rm", "-f", "turnpike-router", "turnpike-sender", check=False)
    run("podman", "volume", "rm", "-f", "turnpike-sockets", check=False)
    tap.finish()


if __name__ == "__main__":
    main()
