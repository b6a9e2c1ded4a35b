#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# --version, the manual pages and the completions of bash and zsh, which the programs make of their own options.
# Usage: pages_test.py TURNPIKE TURNPIKE-ROUTER TURNPIKE-SENDER
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from tap import Tap  # noqa: E402

VERSION = (r"(\d+\.\d+\.\d+) \(commit ([0-9a-f]{7,40}(-dirty)?|unknown), "
           r"DPDK \d\d\.\d\d\.\S+(, compiled against \S+)?\)\n")

# Loads the completion as a shell does, then prints the completions of the last word given.
ASK_BASH = """
source "$1"; shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
eval "$(complete -p "$1" | sed 's/.*-F \\([^ ]*\\) .*/\\1/')"
printf '%s\\n' "${COMPREPLY[@]}"
"""

# Runs zsh in a pseudo-terminal, with the folder $1 in $fpath, completes the line $2, and prints the display.
ASK_ZSH = r"""
zmodload zsh/zpty
zpty shell zsh -f -i
shown() { local all= part; while zpty -r -t shell part; do all+=$part; done; print -r -- $all }
await() {
  local all= i
  for i in {1..100}; do all+=$(shown); [[ $all == *$1* ]] && break; sleep 0.05; done
  print -r -- $all
}
zpty -w shell "fpath=($1 \$fpath); autoload -Uz compinit; compinit -D -u; LISTMAX=0; PS1=; print rea''dy"
await ready >/dev/null
zpty -w -n shell "$2"$'\t\t'
await "$3"
"""


def run(*command, **options):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=30, check=False,
                          **options)


def option_names(text):
    """Long options of a text."""
    return set(re.findall(r"(?<![\w-])--[a-z][\w-]*", text))


def declared(program, *verb):
    """Options that --help lists, one a line."""
    text = run(program, *verb, "--help").stdout
    return {name for line in text.splitlines() if re.match(r"  -", line) for name in option_names(line[:34])}


def verbs(program):
    """Subcommands that --help lists."""
    text = run(program, "--help").stdout.partition("Subcommands:")[2]
    return re.findall(r"^  (\w[\w-]*) ", text, re.M)


def check_version(tap, program):
    done = run(program, "--version")
    match = re.fullmatch(rf"{program.name} {VERSION}", done.stdout)
    tap.check(f"{program.name} --version names versions and commit", match and done.returncode == 0, done.stdout)
    project = re.search(r"version: '([\d.]+)'", (ROOT / "meson.build").read_text())[1]
    tap.check(f"{program.name} --version is meson.build's", match and match[1] == project, done.stdout)
    latest = re.search(r"^## (\d+\.\d+\.\d+)", (ROOT / "CHANGELOG.md").read_text(), re.M)[1]
    tap.check(f"{program.name} --version is the latest of CHANGELOG.md", match and match[1] == latest, latest)


def check_man(tap, program, folder):
    done = run(program, "--generate", "man")
    page = folder / f"{program.name}.1"
    page.write_text(done.stdout)
    unescaped = re.sub(r"\\f[BIR]", "", done.stdout).replace("\\-", "-")
    wanted = declared(program).union(*(declared(program, verb) for verb in verbs(program)))
    missing = wanted - option_names(unescaped)
    tap.check(f"{program.name}(1) has every option", done.returncode == 0 and len(wanted) > 5 and not missing, *missing)
    tap.check(f"{program.name}(1) does not show --generate", "--generate" not in unescaped.partition(".SH")[2])
    if shutil.which("groff"):
        done = run("groff", "-man", "-ww", "-Tutf8", "-z", page)
        tap.check(f"{program.name}(1) has no mistake in its roff", done.returncode == 0 and not done.stderr,
                  done.stderr)
    else:
        tap.skip(f"{program.name}(1) has no mistake in its roff", "there is no groff")


def check_bash(tap, program, folder, lines):
    script = folder / f"{program.name}.bash"
    script.write_text(run(program, "--generate", "bash").stdout)
    for words, expected in lines:
        done = run("bash", "-c", ASK_BASH, "bash", script, program.name, *words, cwd=folder)
        answer = set(done.stdout.split())
        tap.check(f"bash: {program.name} {' '.join(words)}<TAB>",
                  done.returncode == 0 and not done.stderr and answer == expected, answer, done.stderr)


def check_zsh(tap, program, folder, lines):
    functions = folder / "functions"
    functions.mkdir(exist_ok=True)
    (functions / f"_{program.name}").write_text(run(program, "--generate", "zsh").stdout)
    if not shutil.which("zsh"):
        tap.skip(f"zsh: {program.name}", "there is no zsh")
        return
    done = run("zsh", "-n", functions / f"_{program.name}")
    tap.check(f"zsh: the completion of {program.name} has no mistake", done.returncode == 0, done.stderr)
    for words, expected in lines:
        done = run("zsh", "-f", "-c", ASK_ZSH, "zsh", functions, f"{program.name} {' '.join(words)}", expected,
                   cwd=folder)
        tap.check(f"zsh: {program.name} {' '.join(words)}<TAB> shows {expected}", expected in done.stdout,
                  repr(done.stdout), done.stderr)


def main():
    turnpike, router, sender = (pathlib.Path(name).resolve() for name in sys.argv[1:4])
    tap = Tap()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "some.yaml").touch()
        (folder / "somewhere").mkdir()
        for program in (turnpike, router, sender):
            check_version(tap, program)
            check_man(tap, program, folder)
        check_bash(tap, turnpike, folder, [
            ([""], set(verbs(turnpike))),
            (["sw"], {"sweep"}),
            (["bench", ""], {"throughput"}),
            (["bench", "throughput", "--l"], {"--loss", "--latency", "--lab", "--lcores"}),
            (["demo", "--live", ""], {"auto", "table", "lines", "off"}),
            (["lab", "--out", "some"], {"somewhere"}),
            (["lab", "some.y"], {"some.yaml"}),
            (["lab", "some.yaml", "--seed", ""], set()),
            (["sweep", "--"], declared(turnpike, "sweep")),
            (["--v"], {"--version"}),
        ])
        for program in (router, sender):
            check_bash(tap, program, folder, [
                (["--"], declared(program)),
                (["--idle", "p"], {"poll"}),
                (["some."], {"some.yaml"}),
                (["some.yaml", "--", "-"], set()),
            ])
        check_zsh(tap, turnpike, folder, [(["sw"], "sweep"), (["demo", "--live", ""], "table"),
                                          (["bench", "throughput", "--lat"], "latency")])
        check_zsh(tap, router, folder, [(["--idle", ""], "sleep")])
        check_zsh(tap, sender, folder, [(["--se"], "seed")])
    tap.finish()


if __name__ == "__main__":
    main()
