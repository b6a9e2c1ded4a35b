#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Draws docs/architecture.svg and writes the counted part of docs/architecture.md, from the #include lines of the tree
# and from docs/architecture.json, which it renews first: sizes of modules always; with --trace also the functions and
# files of a packet's and of an ACK's path. --trace runs bench-count of --build (default build/) under callgrind;
# a build with line numbers (-g1) attributes each instruction, inlined or not, to its file.
import argparse
import collections
import html
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))
from architecture import layers  # noqa: E402

DATA, PAGE, DRAWING = (ROOT / "docs" / f"architecture.{kind}" for kind in ("json", "md", "svg"))
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)
BLOCK = re.compile(r"(<!-- files: (\w+), made by docs/draw_architecture.py -->\n).*?(<!-- /files -->)", re.S)

# A path's steps in order: title, first function, caption. An instruction counts for the last step whose function has
# been called. A function that the compiler inlines, or that the load does not call, has its file beside it. A group is
# a label above steps: row, first and last step in the row. callgrind counts within `collect`, from the last call of
# `zero` on, the calls below `root`; `each` is called once per packet, where the load does not print their number.
PATHS = {
    "router": {
        "title": "An FCP packet's path through the router", "folder": "router/datapath/", "target": 15,
        "unit": "packet", "load": ["priced", "200"],
        "collect": "turnpike::bench::Forwarding::poll(*", "zero": None, "root": "Worker::poll", "each": None,
        "groups": [(0, 0, 3, "Worker::poll(), worker.cpp: each burst"), (0, 4, 4, "forward(), forward.cpp"),
                   (1, 0, 2, "forward(): each link of the burst"), (1, 3, 4, "LinkQueue::poll() of a shaped link")],
        "steps": [
            ("rx", "rx", "reads a burst from a port", "router/datapath/ingress/rx.h"),
            ("parse", "parse", "checks all headers"),
            ("lookup", "lookup", "next hops; checks TTL, MTU"),
            ("(local_input)", "local_input", "slow path: ARP, ICMP", "router/datapath/local/local_input.cpp"),
            ("police", "police", "link down, buffer share", "router/datapath/link/police.h"),
            ("price", "LinkQueue::price", "admission, AQM, checksums"),
            ("law", "ReserveLink::arrive", "sets and stamps the price"),
            ("enqueue", "LinkQueue::enqueue", "rewrites MACs, TTL; queues"),
            ("shaper", "LinkShaper::poll", "paces a shaped link", "router/datapath/link/link_shaper.cpp"),
            ("tx", "PortTx::send", "passes a batch to a port"),
        ],
    },
    "sender": {
        "title": "An ACK's path through the sender", "folder": "sender/", "target": 12,
        "unit": "ACK", "load": ["sender/flows:100", "100"],
        "collect": "turnpike::sender::Host::receive(*", "zero": "turnpike::bench::Sending::at_their_rates(*",
        "root": "Host::receive", "each": "Source::on_answer",
        "groups": [(0, 0, 2, "Host: each frame"), (0, 3, 4, "Source: each ACK of a flow"),
                   (1, 0, 4, "Source: each ACK that matches a packet")],
        "steps": [
            ("rx", "Host::receive", "reads a burst, prefetches"),
            ("parse", "Host::read", "checks all headers"),
            ("decode", "Host::take_answer", "decodes the ACK's ranges"),
            ("match the flow", "Source::on_answer", "flow table; checks token"),
            ("match the packet", "acknowledge", "record in flight; RTT"),
            ("law", "ReserveFlow::on_ack", "turns price into rate"),
            ("detect losses", "Source::after_answer", "RACK, if out of order"),
            ("set the rate", "Transmission::set_rate", "sets the pacer"),
            ("plan next packet", "Transmission::wake", "time of the next packet"),
            ("arm the timer", "Source::arm", "sets the flow's timer"),
        ],
    },
}


# ---- facts

def module_of(path):
    return max((m for m in layers.MAY_INCLUDE if path.startswith(m + "/")), key=len, default=None)


def read_modules():
    """(module -> modules that its files include, module -> lines); unit tests left out."""
    uses, lines = {m: set() for m in layers.MAY_INCLUDE}, collections.Counter()
    for module in layers.MAY_INCLUDE:
        for path in sorted((ROOT / module).rglob("*")):
            own = module_of(path.relative_to(ROOT).as_posix()) == module  # not of a module within
            if own and path.suffix in (".h", ".cpp") and not path.name.endswith("_test.cpp"):
                text = path.read_text()
                lines[module] += text.count("\n")
                uses[module] |= {module_of(target) for target in INCLUDE.findall(text)} - {module, None}
    return uses, dict(lines)


def reduced(uses):
    """The same without every arrow that a longer chain implies."""
    def below(module):
        return {module}.union(*(below(m) for m in uses[module]))
    return {m: sorted(t for t in targets if not any(t in below(other) for other in targets - {t}))
            for m, targets in uses.items()}


# ---- the trace

def readable(function):
    """Function without namespaces and parameters; None if it is not the programs'."""
    name = re.sub(r"\(anonymous namespace\)::", "", function.removeprefix("non-virtual thunk to "))
    match = re.match(r"turnpike::((?:\w+::)*~?\w+)\(", name)
    if not match or name.startswith("turnpike::bench::"):
        return None
    return re.sub(r"^(?:[a-z_0-9]+::)+", "", match[1])


def read_profile(text, top):
    """(self cost by function and file, [(caller, callee, line of the call, times, inclusive cost)], file of each
    function)."""
    own, calls, home = collections.defaultdict(collections.Counter), [], {}
    function = file = callee = times = None
    inside = re.compile(re.escape(str(top)) + "/")

    def path(name):
        return inside.sub("", os.path.normpath(name), count=1)

    for line in text.splitlines():
        if match := re.match(r"(fl|fi|fe|fn|cfn)=(.*)", line):
            kind, value = match.groups()
            if kind == "fn":
                function, home[value] = value, file
            elif kind == "cfn":
                callee = value
            else:
                file = path(value)
        elif line.startswith("calls="):
            times = int(line[6:].split()[0])
        elif match := re.match(r"(\d+) (\d+)$", line):
            if callee:
                calls.append((function, callee, int(match[1]), times, int(match[2])))
                callee = None
            else:
                own[function][file] += int(match[2])
    return own, [call for call in calls if call[4] > 0], home


def run_load(spec, build):
    """(the text that callgrind wrote, packets)."""
    with tempfile.NamedTemporaryFile("r") as out:
        options = ["--compress-pos=no", "--compress-strings=no", "--collect-atstart=no"]
        options += [f"--zero-before={spec['zero']}"] if spec["zero"] else []
        done = subprocess.run(
            ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out.name}", *options,
             f"--toggle-collect={spec['collect']}", build / "bench" / "bench-count", *spec["load"]],
            capture_output=True, text=True, check=False)
        packets = re.search(r"(\d+)\s*$", done.stdout)
        if done.returncode != 0 or not packets:
            sys.exit(f"draw_architecture.py: {spec['load'][0]} could not be traced:\n{done.stderr}")
        return out.read(), int(packets[1])


def trace(spec, build):
    """The steps and files of a path as the data file holds them; counts are instructions per packet."""
    text, packets = run_load(spec, build)
    own, calls, home = read_profile(text, build.resolve().parent)
    if spec["each"]:  # the load counts the packets that it sends, not the ACKs
        packets = sum(times for _, callee, _, times, _ in calls if readable(callee) == spec["each"])
    children = collections.defaultdict(list)
    for caller, callee, line, _, cost in calls:
        children[caller].append((line, callee, cost))
    layer_roots = tuple(m + "/" for m in layers.MAY_INCLUDE)
    titles = {function: title for title, function, *_ in spec["steps"]}
    leads = {f: titles[name] for f in own if (name := readable(f)) in titles}
    excluded = {f for f in own if f.startswith("turnpike::bench::")}

    def nested(function):  # cost below it that belongs to other steps or to the bench
        return sum(cost if callee in leads or callee in excluded else nested(callee)
                   for _, callee, cost in children[function])

    def source_of(function, name):  # its first instruction may be an inlined function's
        files = [home[function], *sorted(own[function], key=own[function].get, reverse=True)]
        words = [rf"\b{scope}\b" for scope in name.split("::")[:-1]] + [rf"\b{name.split('::')[-1]}\("]
        return next(f for f in files if f.startswith(layer_roots)
                    and all(re.search(word, (ROOT / f).read_text()) for word in words))

    order, placed_in, walked, inclusive = [], set(), set(), collections.Counter()

    def walk(function, step):  # in order of the calls' lines
        step = leads.get(function, step)
        name = readable(function)
        if (function, step) in walked or function in excluded:
            return
        walked.add((function, step))
        if function not in placed_in and name and step:
            placed_in.add(function)
            order.append((step, name, source_of(function, name)))
        for _, callee, _ in sorted(children[function]):
            walk(callee, step)

    roots = [f for f in own if readable(f) == spec["root"]]
    if len(roots) != 1:
        sys.exit(f"draw_architecture.py: {spec['root']} did not run in {spec['load'][0]}")
    walk(roots[0], None)
    seen = {function for function, _ in walked}
    for function in seen & set(leads):
        own_and_below = sum(own[function].values()) + sum(cost for _, _, cost in children[function])
        inclusive[leads[function]] += own_and_below - nested(function)

    files = collections.Counter()
    for function in seen:
        for file, cost in own[function].items():
            if file.startswith(layer_roots):
                files[file] += cost
    steps = []
    for title, function, _, *declared in spec["steps"]:
        found = [path for step, name, path in order if (step, name) == (title, function)]
        if not found and not declared:
            sys.exit(f"draw_architecture.py: {function} did not run in {spec['load'][0]}")
        below = [{"function": n, "file": p} for s, n, p in order if s == title and n != function]
        cost = inclusive[title] or files[declared[0]]
        steps.append({"step": title, "function": function, "file": (found or declared)[0],
                      "instructions": round(cost / packets, 1), "calls": below})
    return {"load": " ".join(spec["load"]), "packets": packets, "steps": steps,
            "files": {f: round(cost / packets, 2) for f, cost in sorted(files.items(), key=lambda e: (-e[1], e[0]))}}


# ---- the page

def own_files(data, program):
    """Files of the program in its program's folder -> instructions per packet, the most first."""
    folder = PATHS[program]["folder"]
    return {f: n for f, n in data[program]["files"].items() if f.startswith(folder)}


def counted_part(data, program):
    """The text between the page's marks."""
    spec, found = PATHS[program], own_files(data, program)
    often = [f for f, n in found.items() if n >= 1]
    modules = collections.Counter(module_of(f) for f in data[program]["files"] if f not in found)
    others = ", ".join(f"{n} in `{module}/`" for module, n in sorted(modules.items(), key=lambda e: (-e[1], e[0])))
    said = (f"{spec['title']} touches **{len(found)} files in `{spec['folder']}`**; the target is at most "
            f"{spec['target']}. Of these files, {len(often)} execute at least one instruction per {spec['unit']}. It "
            f"also touches {sum(modules.values())} files elsewhere: {others}. Counts are instructions per "
            f"{spec['unit']} of `bench-count {data[program]['load']}`; those of an inlined function count for its own "
            "file.")
    said = re.sub("`[^`]*`", lambda code: code[0].replace(" ", "\0"), said)  # not broken over lines
    said = [line.replace("\0", " ") for line in textwrap.wrap(said, 119, break_on_hyphens=False)]
    rows = [f"| `{f}` | {n:.1f} |" if n >= 0.1 else f"| `{f}` | < 0.1 |" for f, n in found.items()]
    return "\n".join([*said, "", "| file | instructions |", "|---|--:|", *rows, ""])


def write_page(page, data):
    return BLOCK.sub(lambda m: m[1] + counted_part(data, m[2]) + m[3], page)


# ---- the drawing

WIDTH, MARGIN, ROW = 1000, 20, 78
BOX = 36          # height of a module
STEP = 90         # height of a step
COLOURS = {"common": ("#eef4f9", "#0072b2"), "program": ("#fdf2ea", "#d55e00"), "lab": ("#eaf6f2", "#009e73")}
MONO = "'DejaVu Sans Mono', Menlo, Consolas, monospace"


def kind_of(path):
    return "common" if path.startswith("common/") else "program" if path.startswith(("router", "sender")) else "lab"


def text(x, y, content, size=12, anchor="middle", **attributes):
    extra = "".join(f' {k.replace("_", "-")}="{v}"' for k, v in attributes.items())
    return (f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}"{extra}>{html.escape(content)}'
            '</text>')


def rect(x, y, width, height, kind, dashed=False):
    fill, stroke = COLOURS[kind]
    return (f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="4" fill="{fill}" '
            f'stroke="{stroke}"{" stroke-dasharray=" + chr(34) + "5 3" + chr(34) if dashed else ""}/>')


def arrow(points):
    """A line from the first to the last point that leaves and enters each vertically."""
    (x, y), *rest = points
    d = f"M{x:.1f} {y:.1f}"
    for nx, ny in rest:
        middle = (y + ny) / 2
        d += f" C{x:.1f} {middle:.1f} {nx:.1f} {middle:.1f} {nx:.1f} {ny:.1f}"
        x, y = nx, ny
    return f'<path d="{d}" class="arrow" marker-end="url(#head)"/>'


def placed(arrows):
    """(rows of nodes from the top, chains): each module just below the lowest of those that use it, arrows over
    several rows through places of their own, and rows ordered so that few arrows cross."""
    users = {m: [u for u in arrows if m in arrows[u]] for m in arrows}

    def depth(module):
        return max((depth(u) + 1 for u in users[module]), default=0)
    rows = [[] for _ in range(1 + max(map(depth, arrows)))]
    for module in arrows:
        rows[depth(module)].append(module)
    chains = []
    for module, targets in arrows.items():
        for target in targets:
            dummies = [(module, target, r) for r in range(depth(module) + 1, depth(target))]
            for r, dummy in enumerate(dummies, depth(module) + 1):
                rows[r].append(dummy)
            chains.append([module, *dummies, target])
    near = collections.defaultdict(dict)  # ordered, unlike sets: sums of floats depend on it
    for chain in chains:
        for a, b in zip(chain, chain[1:]):
            near[a][b] = near[b][a] = True
    for sweep in range(8):
        order = range(1, len(rows)) if sweep % 2 == 0 else range(len(rows) - 2, -1, -1)
        for r in order:
            other = rows[r - 1 if sweep % 2 == 0 else r + 1]
            at = {node: (i + 0.5) / len(other) for i, node in enumerate(other)}
            key = {}
            for i, node in enumerate(rows[r]):
                seen = [at[n] for n in near[node] if n in at] or [(i + 0.5) / len(rows[r])]
                key[node] = sum(seen) / len(seen)
            rows[r].sort(key=key.get)
    return rows, chains


def draw_modules(out, top, uses, lines):
    """Draws the modules and returns the y below them."""
    rows, chains = placed(reduced(uses))
    where = {}
    for r, row in enumerate(rows):
        widths = [26 if isinstance(node, tuple) else 196 for node in row]
        gap = (WIDTH - 2 * MARGIN - sum(widths)) / (len(row) + 1)
        x = MARGIN + gap
        for node, width in zip(row, widths):
            where[node] = (x + width / 2, top + r * ROW, width)
            x += width + gap

    def lane(nodes):  # x of an arrow on its way past other rows: the outermost of its places
        every = [where[node][0] for node in nodes]
        return min(every) if sum(every) / len(every) < WIDTH / 2 else max(every)
    for a, *middle, b in chains:
        (ax, ay, aw), (bx, by, bw) = where[a], where[b]
        first, last = (lane(middle), lane(middle)) if middle else (bx, ax)
        points = [(ax + max(-aw / 3, min(aw / 3, (first - ax) / 4)), ay + BOX)]
        if middle:  # around the rows between, in a straight line
            points += [(lane(middle), where[middle[0]][1]), (lane(middle), where[middle[-1]][1] + BOX)]
        out.append(arrow([*points, (bx + max(-bw / 3, min(bw / 3, (last - bx) / 4)), by - 1)]))
    for node, (x, y, width) in where.items():
        if not isinstance(node, tuple):
            out += [rect(x - width / 2, y, width, BOX, kind_of(node + "/")),
                    text(x, y + 15, node + "/", font_weight="600"), text(x, y + 29, f"{lines[node]:,} lines", 10.5)]
    return top + len(rows) * ROW - ROW + BOX


def draw_path(out, top, program, data):
    """Draws a path's steps, five in a row, and returns the y below them."""
    spec, gap, a_row = PATHS[program], 20, 5
    width = (WIDTH - 2 * MARGIN - (a_row - 1) * gap) / a_row
    most = max(s["instructions"] for s in data[program]["steps"])
    for i, (step, (_, _, caption, *_)) in enumerate(zip(data[program]["steps"], spec["steps"])):
        x, y = MARGIN + i % a_row * (width + gap), top + 22 + i // a_row * (STEP + 58)
        kind = kind_of(step["file"])
        skipped = step["instructions"] == 0
        file = step["file"].removeprefix(spec["folder"]).removeprefix("common/protocols/")
        count = "not in this load" if skipped else f"{step['instructions']:.{int(step['instructions'] < 10)}f}"
        bar = (width - 60) * step["instructions"] / most
        out += [rect(x, y, width, STEP, kind, skipped),
                text(x + 10, y + 18, step["step"], 13, "start", font_weight="600"),
                text(x + width - 10, y + STEP - 8, count, 10, "end", fill="#555"),
                text(x + 10, y + 37, step["function"] + "()", 10.5, "start", font_family=MONO),
                text(x + 10, y + 52, file, 10 if len(file) < 27 else 9, "start", font_family=MONO, fill="#555"),
                text(x + 10, y + 69, caption, 10.5, "start"),
                f'<rect x="{x + 10:.1f}" y="{y + STEP - 14:.1f}" width="{bar:.1f}" height="5" '
                f'fill="{COLOURS[kind][1]}"/>']
        if i + 1 == len(spec["steps"]):
            break
        if (i + 1) % a_row:
            out.append(f'<path d="M{x + width:.1f} {y + STEP / 2:.1f} h{gap - 2}" class="arrow" '
                       'marker-end="url(#head)"/>')
        else:
            turn, left = y + STEP + 17, MARGIN + width / 2
            out.append(f'<path d="M{x + width / 2:.1f} {y + STEP} V{turn} H{left:.1f} V{y + STEP + 57}" class="arrow" '
                       'marker-end="url(#head)"/>')
    for row, first, last, label in spec["groups"]:
        x, right = MARGIN + first * (width + gap), MARGIN + last * (width + gap) + width
        y = top + 14 + row * (STEP + 58)
        begin = x + width / 2 + 8 if row and not first else x  # beside the arrow from the row above
        out += [f'<path d="M{x:.1f} {y + 4} H{right:.1f}" stroke="#999"/>',
                text(begin, y - 1, label, 10.5, "start", fill="#555")]
    return top + 22 + (len(spec["steps"]) - 1) // a_row * (STEP + 58) + STEP


def draw(uses, data):
    """The drawing as text; uses: module -> modules that it includes."""
    out = []
    heading = {"font_weight": "600"}
    out.append(text(MARGIN, 30, "Modules", 16, "start", **heading))
    out.append(text(MARGIN, 48, "An arrow leads from a module to one whose headers it includes. Arrows that a longer "
                    "chain implies are left out. Lines exclude unit tests.", 11, "start", fill="#555"))
    y = draw_modules(out, 66, uses, data["lines"])
    for program, spec in PATHS.items():
        found = own_files(data, program)
        y += 48
        out.append(text(MARGIN, y, spec["title"], 16, "start", **heading))
        out.append(text(MARGIN, y + 18, f"It touches {len(found)} files in {spec['folder']}. "
                        f"Bars: instructions per {spec['unit']} (bench-count {data[program]['load']}, "
                        "callgrind). Blue: FCP's law in common/protocols/.", 11, "start", fill="#555"))
        y = draw_path(out, y + 36, program, data)
    height = y + MARGIN
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" width="{WIDTH}" '
        f'height="{height:.0f}" role="img" font-family="Helvetica, Arial, \'DejaVu Sans\', sans-serif" fill="#222">',
        "<title>Turnpike: modules, a packet's path through the router, an ACK's path through the sender</title>",
        "<style>.arrow{fill:none;stroke:#666;stroke-width:1.2}</style>",
        '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
        'orient="auto"><path d="M0 0.5 L8 4 L0 7.5 z" fill="#666"/></marker></defs>',
        f'<rect width="{WIDTH}" height="{height:.0f}" fill="#fff"/>', *out, "</svg>", ""])


def main():
    parser = argparse.ArgumentParser(description="Draws docs/architecture.svg.")
    parser.add_argument("--trace", action="store_true", help="count the files of both paths under callgrind first")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", help="build folder for --trace")
    chosen = parser.parse_args()
    data = json.loads(DATA.read_text()) if DATA.exists() else {}
    uses, data["lines"] = read_modules()
    if chosen.trace:
        data.update({program: trace(spec, chosen.build.absolute()) for program, spec in PATHS.items()})
    DATA.write_text(json.dumps(data, indent=1) + "\n")
    PAGE.write_text(write_page(PAGE.read_text(), data))
    DRAWING.write_text(draw(uses, data))


if __name__ == "__main__":
    main()
