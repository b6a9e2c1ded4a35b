#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Counts of lab/paper/operations.py from a callgrind file and from machine code, both written by hand.
# Usage: operations_test.py
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "lab" / "paper")]
import operations  # noqa: E402
from tap import Tap  # noqa: E402

# A callgrind file: two functions of the program, the first calls the other and allocates memory.
COUNTS = """
positions: instr line
events: Ir

ob=/bin/program
fl=link.cpp
fn=arrive
0x100 10 7
0x104 11 7
fi=sums.h
0x108 5 14
fe=link.cpp
cob=/lib/libc.so.6
cfn=malloc
calls=3 0x5000 0
0x10c 12 999
cfn=feedback
calls=7 0x200 0
0x110 12 35

fn=feedback
0x200 20 7
0x100 20 1
"""

CODE = [
    ("mulsd", "%xmm0,%xmm1", [("multiplications", 1)]),
    ("mulpd", "%xmm0,%xmm1", [("multiplications", 2)]),
    ("vmulps", "%ymm0,%ymm1,%ymm2", [("multiplications", 8)]),
    ("addss", "(%rax),%xmm1", [("additions", 1)]),
    ("subpd", "%xmm0,%xmm1", [("additions", 2)]),
    ("divsd", "%xmm0,%xmm1", [("divisions", 1)]),
    ("sqrtsd", "%xmm0,%xmm1", [("divisions", 1)]),
    ("idivq", "0x8(%rsp)", [("divisions", 1)]),
    ("vfmadd213sd", "%xmm0,%xmm1,%xmm2", [("multiplications", 1), ("additions", 1)]),
    ("comisd", "%xmm0,%xmm1", [("comparisons", 1)]),
    ("cmpltpd", "%xmm0,%xmm1", [("comparisons", 2)]),
    ("minsd", "%xmm0,%xmm1", [("comparisons", 1)]),
    ("cvtsi2sd", "%rax,%xmm0", [("conversions", 1)]),
    ("add", "$0x8,%rsp", []),
    ("imul", "%rax,%rbx", []),
    ("movsd", "%xmm0,(%rax)", []),
    ("cmpl", "$0x0,(%rax)", []),
]


def main():
    tap = Tap()
    by_object, memory = operations.executions(COUNTS)
    tap.check("instructions are counted where they stand, calls' own lines are not",
              by_object["/bin/program"] == {0x100: 8, 0x104: 7, 0x108: 14, 0x200: 7}, by_object)
    tap.check("calls for memory are counted", memory == 3, memory)
    for name, operands, kinds in CODE:
        found = operations.classify(name, operands)
        tap.check(f"{name} {operands}", found == kinds, found)
    tap.finish()


if __name__ == "__main__":
    main()
