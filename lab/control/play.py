# SPDX-License-Identifier: BSD-3-Clause
# Plays cases under presets with several seeds, so many processes at a time; those that take gigabytes one by one.
import pathlib
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from figures import figures

ROOT = pathlib.Path(__file__).resolve().parents[2]


@dataclass
class Run:
    case: object
    preset: str
    seed: int
    figures: dict = field(default_factory=dict)
    error: str = ""


@dataclass
class Options:
    turnpike: str
    folder: pathlib.Path
    settings: list          # PATH=VALUE for all runs
    quick: bool = False
    jobs: int = 2
    keep: bool = False      # the runs' folders
    timeout: float = 1800   # s a run


def folder_of(run, options):
    return options.folder / run.case.name.replace("/", "-") / f"{run.preset}-{run.seed}"


def command(run, options):
    settings = dict(run.case.settings)
    if options.quick:
        settings |= run.case.shorter
    words = [options.turnpike, "lab", str(ROOT / run.case.file), "--threads", "1", "--seed", str(run.seed),
             "--out", str(folder_of(run, options)), "--set", f"preset={run.preset}"]
    for path, value in settings.items():
        words += ["--set", f"{path}={value}"]
    for setting in options.settings:
        words += ["--set", setting]
    return words


def play(run, options):
    """Fills in the run's figures."""
    folder = folder_of(run, options)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        done = subprocess.run(command(run, options), capture_output=True, text=True, check=False,
                              timeout=options.timeout)
        if done.returncode != 0:
            ended = f"killed by signal {-done.returncode}" if done.returncode < 0 else f"exit code {done.returncode}"
            run.error = (done.stderr.strip().splitlines() or [ended])[-1]
    except subprocess.TimeoutExpired:
        run.error = f"did not end within {options.timeout:g} s"
    try:
        run.figures = figures(run.case, folder)
    except (KeyError, ValueError) as wrong:  # an incomplete file, or a span or link that the topology lacks
        run.error = run.error or f"its files cannot be read: {wrong!r}"
    run.figures["failed"] = 1 if run.error else 0
    if not options.keep:
        shutil.rmtree(folder)
    return run


def play_all(cases, seeds, options, progress):
    """All runs, in the order of cases, presets, seeds; `seeds` says how many each preset has. `progress(run)` is called
    as each ends."""
    runs = [Run(c, preset, s) for c in cases for preset, n in seeds.items() for s in range(1, min(c.seeds or n, n) + 1)]
    for jobs, large in ((options.jobs, False), (1, True)):
        with ThreadPoolExecutor(jobs) as pool:
            for run in pool.map(lambda r: play(r, options), [r for r in runs if r.case.large == large]):
                progress(run)
    for run in runs:  # compares each run with that of preset `paper`
        paper = [r for r in runs if r.case is run.case and r.preset == "paper" and r.seed == run.seed]
        if paper and "loss" in run.figures and "loss" in paper[0].figures:
            run.figures["loss_vs_paper"] = run.figures["loss"] - paper[0].figures["loss"]
    return runs
