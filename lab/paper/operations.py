#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Plays a run of the lab under callgrind and counts the operations that the law of its links executes for each packet
# that it stamps: additions, multiplications, divisions, comparisons and conversions of floating point, integer
# divisions, all instructions, and memory allocations. It counts the program's machine code; an operation on a vector of
# n numbers counts as n. The control interval's work (update) is not attributed to packets. Writes the counts into
# summary.json of the run's folder, as "law"; arithmetic is the sum of the first three kinds. LAW may end with +made:
# the making of the law counts as well, which calls for memory.
# Usage: operations.py LAW FOLDER COMMAND..., such as: operations.py xcp out build/lab/turnpike lab FILE --out out
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter

# Mnemonics of x86-64 without AVX's v; of scalars (ss, sd) or vectors (ps, pd) of floating point.
KINDS = {
    "additions": r"(add|sub|addsub|hadd|hsub)",
    "multiplications": r"mul",
    "divisions": r"(div|sqrt|rcp|rsqrt)",
    "comparisons": r"(min|max|u?comi|cmp\w*?)",
    "conversions": r"cvtt?\w*?2?",
}
NUMBERS = {"ss": 1, "sd": 1, "ps": 4, "pd": 2}
FUSED = re.compile(r"vf(n?m(?:add|sub))\d*(ss|sd|ps|pd)$")
CALL_FOR_MEMORY = re.compile(r"^cfn=(malloc|calloc|realloc|operator new|posix_memalign|aligned_alloc|rte_\w*alloc)")


def count(command, law, out):
    """Runs the command under callgrind, which counts within the law's handling of packets alone."""
    law, made = law.removesuffix("+made"), law.endswith("+made")
    functions = [f"turnpike::{law}::Link::{f}(*" for f in ["arrive", "depart"] + ["Link"] * made]
    return subprocess.run(
        ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", "--dump-instr=yes", "--compress-pos=no",
         "--compress-strings=no", "--collect-atstart=no", *(f"--toggle-collect={f}" for f in functions), *command],
        check=False).returncode


def executions(text):
    """How often each instruction was executed, by object file and address; and calls for memory."""
    by_object, memory = {}, 0
    here, calls, asks = None, False, False
    for line in text.splitlines():
        if line.startswith("ob="):
            here = by_object.setdefault(line[3:], Counter())
        elif line.startswith("cfn="):
            asks = bool(CALL_FOR_MEMORY.match(line))
        elif line.startswith("calls="):
            calls = True
            memory += int(line[6:].split()[0]) if asks else 0
            asks = False
        elif line.startswith("0x"):
            if not calls:  # the line after calls= has the callee's costs
                address, _, times = line.split()
                here[int(address, 16)] += int(times)
            calls = False
    return by_object, memory


def mnemonics(path, addresses):
    """Disassembles an object file: the instruction at each of those addresses."""
    text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", f"--start-address={min(addresses)}",
                           f"--stop-address={max(addresses) + 16}", path],
                          capture_output=True, text=True, check=True).stdout
    found = re.findall(r"^\s*([0-9a-f]+):\s+(?:(?:lock|rep\w*|bnd|data16|cs|notrack) )*(\S+)(.*)", text, re.M)
    return {int(at, 16): (name, operands) for at, name, operands in found}


def classify(name, operands):
    """Pairs (kind, count) of the operations of an instruction; empty for an instruction of no kind."""
    wide = 2 if "%ymm" in operands else 4 if "%zmm" in operands else 1
    if fused := FUSED.match(name):
        n = NUMBERS[fused[2]] * (wide if fused[2][0] == "p" else 1)
        return [("multiplications", n), ("additions", n)]
    if re.fullmatch(r"i?div[bwlq]?", name):
        return [("divisions", 1)]
    plain = re.sub(r"^v", "", name)
    if plain.startswith("cvt"):
        return [("conversions", 1)]
    for kind, pattern in KINDS.items():
        if found := re.fullmatch(pattern + r"(ss|sd|ps|pd)", plain):
            vector = found.groups()[-1]
            return [(kind, NUMBERS[vector] * (wide if vector[0] == "p" else 1))]
    return []


def tally(by_object):
    sums = Counter({kind: 0 for kind in KINDS})
    for path, times in by_object.items():
        if not times:
            continue
        code = mnemonics(path, times)
        for address, n in times.items():
            sums["instructions"] += n
            for kind, each in classify(*code[address]):
                sums[kind] += each * n
    return sums


def main():
    law, folder, command = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3:]
    if lost := [tool for tool in ("valgrind", "objdump") if shutil.which(tool) is None]:
        sys.exit(f"operations.py: there is no {lost[0]} here")
    with tempfile.NamedTemporaryFile("r") as out:
        if code := count(command, law, out.name):
            return code
        by_object, memory = executions(out.read())
    packets = sum(link["stamped"] for file in folder.glob("router-*.json")
                  for link in json.loads(file.read_text())["links"].values())
    if packets == 0:
        sys.exit(f"operations.py: {law} stamped no packet")
    figures = {kind: n / packets for kind, n in tally(by_object).items()}
    figures["arithmetic"] = sum(figures[kind] for kind in ("additions", "multiplications", "divisions"))
    summary = folder / "summary.json"
    result = json.loads(summary.read_text())
    result["law"] = {"packets": packets, "calls_for_memory": memory, **figures}
    summary.write_text(json.dumps(result, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
