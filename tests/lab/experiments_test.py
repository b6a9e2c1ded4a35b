#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Every experiment of the papers is in lab/paper/experiments, is part of another one there, or is listed as missing.
# Usage: experiments_test.py
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from tap import Tap  # noqa: E402

# Figures, tables, theorems and passages of the five papers that state results.
WANTED = """
fcp-fig4 fcp-fig5-6 fcp-fig7 fcp-fig8 fcp-fig9 fcp-fig10-11 fcp-fig12ab fcp-fig12cd fcp-fig13a fcp-fig13b
fcp-text-negative-preload fcp-text-1001x fcp-fig15 fcp-fig16 fcp-fig17 fcp-fig18 fcp-fig19 fcp-fig20 fcp-fig21
fcp-fig22 fcp-fig23 fcp-text-cost
xcp-fig4 xcp-fig5 xcp-fig6 xcp-fig7 xcp-fig8 xcp-fig9 xcp-fig10 xcp-fig11 xcp-fig12 xcp-fig13 xcp-fig16 xcp-thm1
xcp-text-misbehaviour xcp-text-cost
qfcp-fig1 qfcp-fig2 qfcp-fig3 qfcp-fig4-5
acc-fig4-droptail acc-fig4-avd acc-fig4-rio acc-fig5 acc-fig6 acc-fig7 acc-text-overhead
qcp-fig3 qcp-fig4 qcp-fig5 qcp-tab3-fig6-7 qcp-tab4 qcp-fig8 qcp-fig9 qcp-fig11 qcp-fig12 qcp-abstract
qcp-text-rcp-misestimate qcp-text-xcp-example qcp-text-es qcp-text-policing
""".split()

# Part of another experiment, whose text has the word.
WITHIN = {"fcp-fig18": ("fcp-fig17", "figure 18")}

# With no experiment yet.
MISSING = {}


def main():
    tap = Tap()
    text = "\n".join(p.read_text() for p in sorted((ROOT / "lab" / "paper" / "experiments").glob("*.yaml")))
    parts = re.split(r"^  - id: (\S+)$", text, flags=re.M)
    here = dict(zip(parts[1::2], parts[2::2]))
    tap.check("the index has experiments", len(here) >= 50, sorted(here))
    lost = [i for i in WANTED if i not in here and i not in WITHIN and i not in MISSING]
    tap.check("every one of the papers is here, or known to be missing", not lost, *lost)
    found = [i for i in MISSING if i in here]
    tap.check("experiments known as missing are missing", not found, *found)
    wrong = [f"{i} in {e}" for i, (e, word) in WITHIN.items() if i in here or word not in here.get(e, "")]
    tap.check("a part of another experiment is named there", not wrong, *wrong)
    unknown = [i for i in (*WITHIN, *MISSING) if i not in WANTED]
    tap.check("nothing else is excused", not unknown, *unknown)

    played = set(re.findall(r"configs/paper/[\w-]+\.yaml", text))
    there = {str(p.relative_to(ROOT)) for p in (ROOT / "configs" / "paper").glob("*.yaml")}
    tap.check("every file of configs/paper is played", there <= played, *sorted(there - played))
    tap.check("and every file that is played is there", played <= there, *sorted(played - there))
    tap.finish()


if __name__ == "__main__":
    main()
