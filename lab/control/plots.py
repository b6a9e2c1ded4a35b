# SPDX-License-Identifier: BSD-3-Clause
# Draws presets beside each other over time: rate, price and queue of a case's link, as SVG files. The lab's own
# comparison plays and draws them; here its figures are taken out of the page.
import pathlib
import re
import subprocess
import tempfile

from play import ROOT

POINTS = 500  # samples of a line
SVG = re.compile(r"<svg.*?</svg>", re.S)
TITLE = re.compile(r"<title>(.*?)</title>")

# Case -> duration in s.
DRAWN = {
    "runaway": 7.5,  # preset paper breaks its hosts' budgets later on, which ends the run
    "incast/100x300k/100M": 5,
    "mixed-rtt": 10,
    "figure4/ascending": 20,
    "figure4/descending": 20,
}
CHARTS = {"utilisation (%)": "rate", "price ($/MB)": "price", "queueing delay (ms)": "queue"}


def figures_of(page):
    """Title -> SVG element."""
    return {TITLE.search(svg).group(1): svg for svg in SVG.findall(page)}


def compare(case, presets, duration, options, folder):
    """Plays the case under the presets; they leave a folder each and one page."""
    words = [options.turnpike, "lab", str(ROOT / case.file), "--seed", "1", "--out", str(folder), "--compare",
             ",".join(f"fcp+{p}" for p in presets)]
    settings = case.settings | {"run.duration": f"{duration * 1e3:g} ms",
                                "run.sample": f"{duration * 1e3 / POINTS:g} ms"}
    for path, value in settings.items():
        words += ["--set", f"{path}={value}"]
    for setting in options.settings:
        words += ["--set", setting]
    subprocess.run(words, check=False, stdout=subprocess.DEVNULL)


def save(svg, path):
    path.write_text(svg + "\n")
    print(f"{path}  {len(svg) / 1e3:.0f} KB")


def draw(cases, presets, options, out):
    """Writes CASE-rate.svg, CASE-price.svg and CASE-queue.svg; of figure 4 also the hosts' rates, a file per preset."""
    out.mkdir(parents=True, exist_ok=True)
    for case in cases:
        if case.name not in DRAWN:
            continue
        name = case.name.replace("/", "-")
        duration = DRAWN[case.name]
        with tempfile.TemporaryDirectory() as temporary:
            folder = pathlib.Path(temporary)
            compare(case, presets, duration, options, folder)
            drawn = figures_of((folder / "compare.html").read_text())
            for chart, file in CHARTS.items():
                for link in case.links:
                    if svg := drawn.get(f"{link}: {chart}"):
                        save(svg, out / f"{name}-{file}.svg")
            if case.name.startswith("figure4"):
                for preset in presets:
                    page = (folder / f"fcp+{preset}" / "report.html").read_text()
                    save(figures_of(page)["Rate per host"], out / f"{name}-hosts-{preset}.svg")
