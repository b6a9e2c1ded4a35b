# SPDX-License-Identifier: BSD-3-Clause
# Results over seeds: mean and worst values, broken bounds, as text, JSON and CSV.
import csv
import json
import math
import statistics

RISES = {"utilisation", "input_least"}  # figures whose least value is the worst, where no bound says so


def rows_of(runs):
    """A row per case, figure and preset: mean and worst over the seeds, and whether a bound is broken."""
    rows = []
    for case in dict.fromkeys(r.case.name for r in runs):
        mine = [r for r in runs if r.case.name == case]
        bounds = {"failed": (-math.inf, 0)} | mine[0].case.bounds
        for figure in [*bounds, *(f for f in mine[0].case.shown if f not in bounds)]:
            low, high = bounds.get(figure, (-math.inf, math.inf))
            for preset in dict.fromkeys(r.preset for r in mine):
                values = [r.figures[figure] for r in mine if r.preset == preset and figure in r.figures]
                row = {"case": case, "figure": figure, "preset": preset, "least": low, "most": high,
                       "seeds": len(values)}
                if values:
                    falls = high == math.inf and (low > -math.inf or figure in RISES)
                    row |= {"mean": statistics.fmean(values), "worst": (min if falls else max)(values),
                            "broken": any(not _keeps(v, low, high) for v in values)}
                rows.append(row)
    return rows


def _keeps(value, low, high):
    """Within half of the last digit that a table shows: 1 is not broken by 0.9996."""
    return low - 5e-4 * abs(low) <= value <= high + 5e-4 * abs(high)


def number(value):
    if value is None:
        return "-"
    if value == 0 or 1e-3 <= abs(value) < 1e5:
        return f"{value:.4g}"
    return f"{value:.1e}"


def bound_text(row):
    if row["least"] == -math.inf:
        return "" if row["most"] == math.inf else f"<= {row['most']:g}"
    return f">= {row['least']:g}" if row["most"] == math.inf else f"{row['least']:g}..{row['most']:g}"


def text(rows):
    """A line per case and figure, presets beside each other; `!` where a bound is broken. `failed` appears only where
    a run did."""
    presets = list(dict.fromkeys(r["preset"] for r in rows))
    lines = [f"{'case':<34} {'figure':<14} {'bound':<11}" +
             "".join(f"{p + ' mean':>18} {'worst':>9}  " for p in presets)]
    grouped = {}
    for row in rows:
        grouped.setdefault((row["case"], row["figure"]), {})[row["preset"]] = row
    for (case, figure), by_preset in grouped.items():
        if figure == "failed" and not any(r.get("broken") for r in by_preset.values()):
            continue
        line = f"{case:<34} {figure:<14} {bound_text(next(iter(by_preset.values()))):<11}"
        for preset in presets:
            row = by_preset.get(preset, {})
            line += f"{number(row.get('mean')):>18} {number(row.get('worst')):>9}{' !' if row.get('broken') else '  '}"
        lines.append(line.rstrip())
    return "\n".join(lines)


def broken(rows, preset):
    return [f"{r['case']}: {r['figure']} {number(r['worst'])}, bound {bound_text(r)}"
            for r in rows if r["preset"] == preset and r.get("broken")]


def failures(runs):
    """The reasons of failed runs, once per case and preset."""
    first = {}
    for r in runs:
        if r.error:
            first.setdefault((r.case.name, r.preset), f"{r.case.name}, {r.preset}, seed {r.seed}: {r.error}")
    return list(first.values())


def write(folder, rows, runs):
    """study.json: every run's figures and the rows; study.csv: the rows."""
    finite = [{k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in r.items()} for r in rows]
    data = {"rows": finite, "runs": [{"case": r.case.name, "preset": r.preset, "seed": r.seed, "error": r.error,
                                      "figures": r.figures} for r in runs]}
    (folder / "study.json").write_text(json.dumps(data, indent=1) + "\n")
    with (folder / "study.csv").open("w", newline="") as file:
        out = csv.DictWriter(file, ["case", "figure", "preset", "least", "most", "seeds", "mean", "worst", "broken"])
        out.writeheader()
        out.writerows(finite)
