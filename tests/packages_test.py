#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Checks that README's table and the runtime image agree with packages.txt, the only list. With --write renders the
# table into README.md, between the markers, instead.
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
BEGIN, END = "<!-- packages: made from packages.txt -->", "<!-- /packages -->"
STAGES = ["build", "run", "test", "telemetry", "package", "appliance", "engines", "emulation", "nic"]


def packages():
    """Rows of the list: name, stage, why."""
    lines = (ROOT / "packages.txt").read_text().splitlines()
    return [tuple(f.strip() for f in line.split("|", 2)) for line in lines
            if line and not line.startswith("#")]


def table(rows):
    out = ["| package | stage | why |", "|---|---|---|"]
    out += [f"| `{name}` | {stage} | {why} |" for name, stage, why in rows]
    return "\n".join(out)


def readme_table():
    readme = ROOT / "README.md"
    text = readme.read_text() if readme.exists() else ""
    match = re.search(f"{re.escape(BEGIN)}\n(.*?)\n{re.escape(END)}", text, re.S)
    return match and match.group(1)


def build_depends():
    """Build-Depends of debian/control, without debhelper."""
    text = (ROOT / "debian" / "control").read_text()
    field = re.search(r"^Build-Depends:\n((?: .*\n)+)", text, re.M)[1]
    return {name.strip() for name in field.split(",") if name.strip()} - {"debhelper-compat (= 13)"}


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def dependencies():
    """Of each installed package, the names that it depends on."""
    depends = {}
    query = output("dpkg-query", "-W", "-f", "${Package}|${db:Status-Status}|${Pre-Depends}, ${Depends}\n")
    for line in query.splitlines():
        name, status, rest = line.split("|", 2)
        if status == "installed":
            depends[name] = re.findall(r"([a-z0-9][a-z0-9+.-]+)(?=[ :,|(]|$)", re.sub(r"\([^)]*\)", "", rest))
    return depends


def named(name, packages_):
    """The packages that match a name of the list: * in it is a version, to which Debian 13 adds t64 for some."""
    pattern = re.compile(re.escape(name).replace(r"\*", "[0-9.]+(t64)?"))
    return [package for package in packages_ if pattern.fullmatch(package)]


def missing_at_run_time(programs, wanted, depends):
    """Shared libraries of the programs that the packages `wanted` would not install."""
    libraries = set()
    for program in programs:
        libraries.update(re.findall(r"=> (/\S+)", output("ldd", program)))
    reached = set()
    todo = [*wanted, "libc6"]
    while todo:
        name = todo.pop()
        if name not in reached:
            reached.add(name)
            todo += depends.get(name, [])
    owners = {}
    for library in sorted(libraries):
        names = {library, str(pathlib.Path(library).resolve())}
        names |= {name.removeprefix("/usr") for name in names}
        found = output("dpkg-query", "-S", *names)
        owners[library] = {line.split(":")[0] for line in found.splitlines()}
    return [f"{library}: {', '.join(owner) or 'no package'}" for library, owner in owners.items()
            if not owner & reached]


def main():
    rows = packages()
    if sys.argv[1:] == ["--write"]:
        readme = ROOT / "README.md"
        new = f"{BEGIN}\n{table(rows)}\n{END}"
        readme.write_text(re.sub(f"{re.escape(BEGIN)}.*?{re.escape(END)}", lambda _: new,
                                 readme.read_text(), flags=re.S))
        return

    sys.path.insert(0, str(ROOT / "tests"))
    from tap import Tap
    tap = Tap()
    names = [name for name, _, _ in rows]
    tap.check("every row has a name, a known stage and a reason",
              all(len(row) == 3 and row[1] in STAGES and row[2] for row in rows))
    tap.check("no package is listed twice", len(names) == len(set(names)))
    tap.check("README's table is the list", readme_table() == table(rows),
              "render it with: tests/packages_test.py --write")
    # A C++ compiler is part of build-essential.
    built = {name for name, stage, _ in rows if stage == "build"} - {"g++"}
    tap.check("Build-Depends of debian/control are the packages of stage build", build_depends() == built,
              *(build_depends() ^ built))
    # libdpdk-dev brings the drivers, and each -dev package its library, so a machine that built the programs has all.
    depends = dependencies()
    wanted = {name: named(name, depends) for name, stage, _ in rows if stage == "run"}
    tap.check("every runtime package of the list exists in this release", all(wanted.values()),
              *(name for name, found in wanted.items() if not found))
    absent = missing_at_run_time(sys.argv[1:], sum(wanted.values(), []), depends)
    tap.check("the runtime packages carry every library that the programs load", not absent, *absent)
    tap.finish()


if __name__ == "__main__":
    main()
