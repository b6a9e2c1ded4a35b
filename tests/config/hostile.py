# SPDX-License-Identifier: BSD-3-Clause
# Hostile input files, the same ones each time: for topologies, and for the traces and routing tables that they name.
import itertools
import os
import random
import socket

TOPOLOGY = b"""run: { duration: 20 ms, sample: 5 ms, seed: 7, output: out }
hosts:
  alice: { budget: 1 $/s, addresses: [10.1.0.2/24, "fd00:1::2/64"] }
  bob: { budget: 2 $/s, strategy: stability }
  carol: {}
routers:
  gate:
    lcores: 0
    routes:
      - { prefix: 172.16.0.0/12, via: far }
    table: TABLE
links:
  left: { ends: [alice, gate], rate: 1 Gbps, delay: 100 us, attach: memif }
  right: { ends: [bob, gate], rate: 1 Gbps, delay: 100 us, attach: memif }
  far: { ends: [gate, carol], rate: 10 Mbps, delay: 1 ms, buffer: 1 BDP, law: fcp, attach: memif }
traffic:
  flows:
    one: { from: alice, to: carol, start: 0 s, size: 20 KB }
  workloads:
    replay: { from: bob, to: carol, size: { trace: TRACE } }
"""
TRACE = b"time_s,bytes\n0,1000\n0.001,20000\n0.002,5\n"
TABLE = b"# routes\n192.0.2.0/24 far\n2001:db8::/32 left\n"

VALUES = [
    b"-1", b"0", b"-0.0", b"1e309", b"-1e309", b"nan", b".nan", b".inf", b"99999999999999999999999999", b"0x7fffffff",
    b"-5 Mbps", b"0 bps", b"1e30 Gbps", b"0.0000001 ns", b"1e300 h", b"1 furlong", b"\"1 Gbps\"", b"~", b"[]", b"{}",
    b"[[[[[[[]]]]]]]", b"{a: {b: {c: d}}}", b"\"\\x1b[2J\\x07\"", b"\"\\0\"", b"\"\\u202e\\u0085\"", b"'" + b"q" * 5000 + b"'",
    b"../../../../etc/passwd", b"/dev/zero", b"%s%n%x", b"*missing", b"&x &y 1", b"!!binary AAAA", b"!<tag:evil> 1",
    b"|\n  text\n", b"- - - -", b"? ? ?", b"true", b"18446744073709551616", b"4294967296", b"65536", b"-2147483649",
    b"1 Gbps 1 Gbps", b"\xff\xfe", b"caf\xc3\xa9", b"\xed\xa0\x80", b"1_000", b"1,5 s", b"\t", b"#", b"alice, alice",
]


def repeated():
    """Long runs of tokens that a parser may push on a stack, rescan or copy."""
    long = 1 << 19
    eight = 8 << 20  # B, the limit of a topology
    for name, text in {
            "brackets": b"[" * 50_000, "braces": b"{" * 50_000, "closing": b"]" * 50_000, "commas": b"[" + b"," * long,
            "dashes": b"- " * 50_000, "questions": b"? " * 50_000, "colons": b": " * (long // 2), "colons-tight": b":" * long,
            "maps": b"a: " * 50_000, "quotes": b'"' * long, "quote-open": b'"' + b"x" * (long - 1), "apostrophes": b"'" * long,
            "hashes": b"#" * long, "anchors": b"&a " * 50_000, "stars": b"*" * long, "bangs": b"!" * long,
            "percents": b"%" * long, "pipes": b"|\n" * 50_000, "newlines": b"\n" * long, "blanks": b" " * long,
            "tabs": b"\t" * long, "x": b"x" * long, "scalar": b"a: " + b"x" * (long - 3), "key": b"k" * (long - 3) + b": 1",
            "keys": b"".join(b"k%d: 1\n" % i for i in range(50_000)), "items": b"a:\n" + b"- 1\n" * 50_000,
            "hosts": b"hosts:\n" + b"".join(b"  h%d: {}\n" % i for i in range(30_000)),
            "near-keys": b"".join(b"traffi%d: 1\n" % i for i in range(30_000)),
            "documents": b"---\n" * 50_000, "directives": b"%YAML 1.2\n" * 50_000, "tags": b"%TAG !a! b\n" * 30_000,
            "escapes": b'a: "' + b"\\x1b" * (long // 5) + b'"', "carriage-returns": b"\r" * long,
            "eight-megabytes": b"{" + b"," * (eight - 1), "hundred-megabytes": b"x: y\n" * (20 << 20), "deep-block": b"".join(b" " * i + b"a:\n" for i in range(2000)),
            "long-lines": (b"a" * 4000 + b"\n") * 2000, "nul": bytes(long), "one-line-flow": b"{" + b"a: 1, " * 200_000,
    }.items():
        yield f"repeated-{name}", text


def bombs():
    lines = [b"a0: &a0 [x, x, x, x, x, x, x, x]"]
    lines += [b"a%d: &a%d [%s]" % (i, i, b", ".join([b"*a%d" % (i - 1)] * 8)) for i in range(1, 30)]
    yield "bomb-lists", b"\n".join(lines)
    lines = [b"a0: &a0 {k: x, l: y}"]
    lines += [b"a%d: &a%d {k: *a%d, l: *a%d}" % (i, i, i - 1, i - 1) for i in range(1, 60)]
    yield "bomb-maps", b"\n".join(lines)
    yield "bomb-scalar", b"a: &a " + b"x" * (1 << 20) + b"\nb:\n" + b"- *a\n" * 100_000
    yield "bomb-keys", b"? &a " + b"x" * 200 + b"\n: 1\nb:\n" + b"- {*a : *a}\n" * 30_000
    yield "self-list", b"a: &a [*a]\n"
    yield "self-map", b"&r\nrun: *r\nhosts: *r\n"
    yield "merge", b"a: &a {x: 1}\nrun:\n  <<: *a\n"


def of_bytes():
    """Valid files as changed by editors, other systems and broken disks."""
    yield "empty", b""
    yield "blank", b" \n\n"
    yield "comment", b"# nothing\n"
    yield "bom", b"\xef\xbb\xbf" + TOPOLOGY
    yield "bom-only", b"\xef\xbb\xbf"
    yield "crlf", TOPOLOGY.replace(b"\n", b"\r\n")
    yield "cr", TOPOLOGY.replace(b"\n", b"\r")
    yield "utf16", b"\xff\xfe" + TOPOLOGY.decode().encode("utf-16-le")
    yield "utf16-no-bom", TOPOLOGY.decode().encode("utf-16-be")
    yield "utf32", TOPOLOGY.decode().encode("utf-32")
    yield "latin1", TOPOLOGY.replace(b"alice", b"ali\xe7e")
    yield "tabs", TOPOLOGY.replace(b"  ", b"\t")
    yield "twice", TOPOLOGY + TOPOLOGY
    yield "two-documents", TOPOLOGY + b"---\n" + TOPOLOGY
    yield "end-mark", TOPOLOGY + b"...\ngarbage: [\n"
    yield "elf", b"\x7fELF" + bytes(range(256)) * 8
    yield "json", b'{"run": {"duration": "20 ms"}, "hosts": {"a": {}, "a": {}}}'
    yield "scalar", b"just text"
    yield "list", b"- run\n- hosts\n"
    for byte in (0, 4, 7, 8, 0x1b, 0x7f, 0x80, 0xc0, 0xff):
        yield f"byte-{byte:02x}", TOPOLOGY.replace(b"seed: 7", b"seed: 7" + bytes([byte]))
        yield f"byte-{byte:02x}-comment", TOPOLOGY + b"# " + bytes([byte]) + b"\n"
    yield "escape-in-name", TOPOLOGY.replace(b"alice", b'"al\\x1b[31mice"')
    yield "name-self-link", TOPOLOGY.replace(b"[alice, gate]", b"[gate, gate]")
    yield "name-twice", TOPOLOGY.replace(b"[bob, gate]", b"[alice, gate]")
    yield "host-is-router", TOPOLOGY.replace(b"  carol: {}", b"  gate: {}")
    yield "duplicate-key", TOPOLOGY.replace(b"seed: 7", b"seed: 7, seed: 8")
    yield "many-ports", many_links(1000)
    yield "too-many-links", many_links(2000)


def many_links(n):
    """A router with `n` links, all of them with ports."""
    hosts = b"".join(b"  h%d: { budget: 1 $/s }\n" % i for i in range(n))
    links = b"".join(b"  l%d: { ends: [h%d, gate], rate: 1 Gbps, attach: memif }\n" % (i, i) for i in range(n))
    return b"run: { duration: 20 ms, sample: 5 ms, output: out }\nhosts:\n" + hosts + b"routers:\n  gate: {}\nlinks:\n" + links


def mutations(count):
    """A valid file with one to three random changes."""
    chance = random.Random(20240229)
    for number in range(count):
        text = TOPOLOGY
        for _ in range(chance.choice([1, 1, 2, 3])):
            text = chance.choice([cut, change_value, change_value, change_value, drop_line, double_line, indent, flip,
                                  splice, change_key])(text, chance)
        yield f"mutation-{number:03}", text


def cut(text, chance):
    return text[:chance.randrange(1, len(text))]


def places(text, marks):
    return [i for i in range(len(text) - 1) if text[i:i + 2] in marks]


def change_value(text, chance):
    at = chance.choice(places(text, (b": ",)) or [0]) + 2
    ends = [e for e in (text.find(mark, at) for mark in (b",", b" }", b"\n", b"]")) if e >= 0]
    return text[:at] + chance.choice(VALUES) + text[min(ends, default=len(text)):]


def change_key(text, chance):
    at = chance.choice(places(text, (b": ", b":\n")) or [0])
    return text[:max(0, at - chance.randrange(1, 4))] + chance.choice(VALUES)[:40] + text[at:]


def lines_of(text):
    return text.split(b"\n")


def drop_line(text, chance):
    lines = lines_of(text)
    del lines[chance.randrange(len(lines))]
    return b"\n".join(lines)


def double_line(text, chance):
    lines = lines_of(text)
    lines.insert(chance.randrange(len(lines)), chance.choice(lines))
    return b"\n".join(lines)


def indent(text, chance):
    lines = lines_of(text)
    i = chance.randrange(len(lines))
    lines[i] = b" " * chance.randrange(9) + lines[i].lstrip()
    return b"\n".join(lines)


def flip(text, chance):
    at = chance.randrange(len(text) + 1)
    return text[:at] + bytes([chance.randrange(256)]) + text[at + 1:]


def splice(text, chance):
    a, b = sorted(chance.randrange(len(text) + 1) for _ in range(2))
    at = chance.randrange(len(text) + 1)
    return text[:at] + text[a:b] + text[at:]


def lists():
    """(name, trace): and the same as a routing table."""
    long = b"0," + b"9" * 1_000_000
    for name, text in {
            "empty": b"", "heading": b"time_s,bytes\n", "garbage": bytes(range(256)) * 40, "nul": bytes(4096),
            "negative-size": b"0,1000\n0.001,-5\n", "negative-time": b"-1,1000\n", "nan": b"nan,nan\n", "inf": b"inf,1\n",
            "huge-size": b"0,99999999999999999999\n", "huge-time": b"1e308,1\n", "back": b"1,1\n0,1\n", "one-column": b"1\n",
            "three-columns": b"0,1,2\n", "semicolons": b"0;1\n", "words": b"zero,one\n", "escape": b"\x1b[2J\x1b[31m,\x07\n",
            "long-line": long, "crlf": b"0,1000\r\n1,x\r\n", "utf16": "0,1000\n".encode("utf-16"), "hex": b"0x1,0x2\n",
            "fraction": b"0,1.5\n", "hundred-megabytes": b"x" * (100 << 20), "million-blank": b"\n" * (8 << 20),
            "prefix": b"10.0.0.0/33 far\n", "host-bits": b"10.0.0.1/8 far\n", "no-link": b"10.0.0.0/8 nowhere\n",
            "twice": b"10.0.0.0/8 far\n10.0.0.0/8 left\n", "zero": b"0.0.0.0/0 far\n::/0 far\n10.0.0.0/-1 far\n",
    }.items():
        yield name, text


def special(folder):
    """(name, path) of paths that are no regular file, or must not be read."""
    yield "none", folder / "no-such-file"
    yield "directory", folder
    fifo = folder / "fifo"
    os.mkfifo(fifo)
    yield "fifo", fifo
    for device in ("zero", "null", "full", "random", "tty"):
        yield device, f"/dev/{device}"
    loop = folder / "loop"
    loop.symlink_to(loop)
    yield "loop", loop
    dangling = folder / "dangling"
    dangling.symlink_to(folder / "nowhere")
    yield "dangling", dangling
    to_device = folder / "to-device"
    to_device.symlink_to("/dev/zero")
    yield "link-to-device", to_device
    door = socket.socket(socket.AF_UNIX)
    door.bind(str(folder / "socket"))
    door.close()
    yield "socket", folder / "socket"
    if os.geteuid() != 0:
        locked = folder / "locked"
        locked.write_bytes(TOPOLOGY)
        locked.chmod(0)
        yield "unreadable", locked
    yield "memory", "/proc/self/mem"
    yield "below-a-file", "/etc/passwd/x"
    yield "long-name", folder / ("n" * 300)
    yield "huge", sparse(folder / "huge", 1 << 40)


def sparse(path, size):
    with open(path, "wb") as file:
        file.truncate(size)
    return path


def cases(folder, with_large):
    """(name, path of the topology file) of all cases; `with_large`: also those of a megabyte and more."""
    right_trace, right_table = folder / "right.csv", folder / "right.txt"
    right_trace.write_bytes(TRACE)
    right_table.write_bytes(TABLE)

    def topology(name, text, trace=right_trace, table=right_table):
        path = folder / f"{name}.yaml"
        path.write_bytes(text.replace(b"TRACE", str(trace).encode()).replace(b"TABLE", str(table).encode()))
        return name, path

    yield topology("right", TOPOLOGY)
    for name, text in itertools.chain(repeated() if with_large else [], bombs(), of_bytes(), mutations(40)):
        yield topology(name, text)
    for name, text in lists():
        if len(text) > 1 << 20 and not with_large:
            continue
        path = folder / f"list-{name}"
        path.write_bytes(text)
        yield topology(f"trace-{name}", TOPOLOGY, trace=path)
        yield topology(f"table-{name}", TOPOLOGY, table=path)
    for name, path in special(folder):
        yield f"file-{name}", path
        yield topology(f"trace-file-{name}", TOPOLOGY, trace=path)
        yield topology(f"table-file-{name}", TOPOLOGY, table=path)
    odd = folder / "red\x1b[31m\n.yaml"
    odd.write_bytes(b"run: 5\n")
    yield "name-with-escapes", odd
