#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Two gateways whose tunnels are encrypted, and an attacker who reads and writes the core link: nothing is readable,
# replayed or forged; keys rotate under a ping without a loss; with different keys nothing passes.
# Usage: gateway_security_test.py ROUTER
import json
import os
import pathlib
import re
import secrets
import struct
import subprocess
import sys
import time

import cases
import gate
import gateway_attack_test as attack
import world

sys.path[:0] = [str(world.ROOT / "tests")]
from undisturbed import undisturbed  # noqa: E402

FOLDER = pathlib.Path("/run/security")  # the sandbox lets a router read its folder again, but not all of /run
FILE = FOLDER / "file.yaml"
KEYS = {node: FOLDER / f"{node}.keys" for node in ("west", "east")}
PEER = {"west": "east", "east": "west"}
PAYLOAD = attack.TURNPIKE + 24 + 32  # B before a tunnel packet's payload
FRONT = 16                           # B of key id and nonce
INNER = bytes([10, 20, 1, 2, 10, 20, 9, 2])  # source and destination of anna's datagrams
TOOL = None


def topology():
    text = attack.topology(False)
    for node, peer in PEER.items():
        peers = f"peers: {{ {peer}: {{}} }}"
        text = text.replace(peers, f"{peers}, security: {{ key_file: {node}.keys }}")
    return text


def give(node, *keys):
    """The node's key file has these keys of its peer, in this order."""
    new = KEYS[node].with_suffix(".new")
    new.touch(0o600)
    new.write_text(f"# of {node}\n" + "".join(f"{PEER[node]} {key}\n" for key in keys))
    new.replace(KEYS[node])


def ask(*words):
    return subprocess.run([TOOL, *words], capture_output=True, text=True, timeout=30, check=False)


def rotate(node, *keys):
    give(node, *keys)
    return ask("reload", "--router", node)


def tunnels(node):
    return json.loads(ask("show", "tunnels", "--json", "--router", node).stdout)


def refused(tap, program):
    """A key file that others may read, one that is missing, one with mistakes."""
    key = secrets.token_hex(32)
    give("west", key)
    os.chmod(KEYS["west"], 0o640)
    for what, word in (("others may read", f"chmod 600 {KEYS['west']}"), ("is missing", "No such file")):
        if what == "is missing":
            KEYS["west"].unlink()
        router = gate.run_router(program, FILE, "west", "west")
        tap.check(f"no start with a key file that {what}", router.wait(20) == 4 and word in router.output(),
                  router.output())
    give("west", key + "00", f"{key[:20]}xyz")
    router = gate.run_router(program, FILE, "west", "west")
    said = router.output() if router.wait(20) == 3 else "it starts"
    tap.check("mistakes of a key file are reported at once, with their places and without the keys",
              "west.keys:2:6: " in said and "west.keys:3:26: " in said and key[:8] not in said, said)


class Attacker(attack.Attacker):
    def __init__(self):
        super().__init__()
        self.sent = set()

    def send(self, count):
        marks = super().send(count)
        self.sent.update(marks)
        return marks

    def frames(self):
        """All frames on the core since the last call."""
        return attack.drain(self.core)

    def data(self):
        """Tunnel packets with payload from west among them."""
        west = bytes.fromhex(attack.MAC.format(0, 1).replace(":", ""))
        return [f for f in self.frames() if f[6:12] == west and f[12:14] == b"\x08\x00" and f[23] == 17
                and len(f) > PAYLOAD + 2 * FRONT and f[attack.TURNPIKE] & 15 == attack.DATA]


def later(frame, change, ahead=1):
    """The frame with a later sequence number and a change, and with right checksums."""
    f = bytearray(frame)
    at = attack.SEQUENCE
    f[at:at + 4] = struct.pack(">I", struct.unpack_from(">I", f, at)[0] + ahead & 0xffffffff)
    change(f)
    f[16:18], f[38:40] = struct.pack(">H", len(f) - 14), struct.pack(">H", len(f) - 34)
    return attack.summed(bytes(f))


def in_the_clear(mark):
    """Replaces the payload by a datagram from anna to the server."""
    def change(f):
        f[PAYLOAD:] = attack.frame_of("10.20.1.2", attack.SERVER, mark, attack.PORT)[14:]
    return change


def on_the_core(tap, a):
    a.frames()
    marks = a.send(100)
    got = a.arrived()
    frames = a.frames()
    tap.check("anna's datagrams reach the server, once each", sorted(got) == marks, len(got))
    seen = [f for f in frames if b"mark-" in f or INNER in f]
    tap.check(f"none of {len(frames)} frames on the core shows a datagram or its addresses",
              len(frames) >= 100 and not seen, seen[:1])
    a.send(20)
    a.arrived()
    data = a.data()
    for frame in data:
        a.to_east.send(frame)
    tap.check(f"{len(data)} replayed tunnel packets deliver nothing again", len(data) >= 10 and not a.arrived())

    def fresh():
        a.frames()
        a.send(1)
        a.arrived()
        return a.data()[-1]

    before = tunnels("east")
    forgeries = {
        "another sequence number": lambda f: None,
        "another byte of a datagram": attack.xor(PAYLOAD + FRONT + 30, 1),
        "another nonce": attack.xor(PAYLOAD + 10, 1),
        "another key's id": attack.xor(PAYLOAD + 3, 1),
        "a datagram in the clear": in_the_clear(a.mark()),
    }
    for change in forgeries.values():
        a.to_east.send(later(fresh(), change))
    got = a.arrived()
    now = tunnels("east")
    grown = {name: now[name] - before[name] for name in ("forged_packets", "unknown_keys", "unsealed_packets")}
    tap.check("forgeries with a true token deliver nothing and are counted", not [m for m in got if m not in a.sent] and
              grown == {"forged_packets": 4, "unknown_keys": 1, "unsealed_packets": 1}, got, grown)
    mark = a.mark()
    station = bytes.fromhex((attack.MAC.format(0, 2) + attack.MAC.format(0, 1)).replace(":", ""))
    a.to_east.send(station + attack.frame_of("10.20.1.2", attack.SERVER, mark, attack.PORT)[12:])
    tap.check("a packet from anna's address outside of tunnels is refused at the other side", mark not in a.arrived())


def rotate_under_ping(old, new):
    """(0 if no ping was lost, what ping said, the answers to the reloads)"""
    ping = subprocess.Popen(world.inside("anna", ["ping", "-n", "-i", "0.01", "-c", "500", attack.SERVER]),
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    time.sleep(0.5)
    said = []
    for keys, order in (((old, new), ("west", "east")), ((new, old), ("east", "west")), ((new,), ("west", "east"))):
        for node in order:
            said.append(rotate(node, *keys))
            time.sleep(0.3)
    out = ping.communicate(timeout=60)[0]
    return 0 if " 0% packet loss" in out else 1, out, said


def rotation(tap, old):
    """Keys are exchanged under a ping. Returns all keys, the present one last."""
    keys, before = [old], tunnels("east")["forged_packets"]

    def play():
        keys.append(secrets.token_hex(32))
        return rotate_under_ping(*keys[-2:])

    (lost, out, said), machine, disturbed = undisturbed("exchange of keys", play)
    what = "keys are exchanged without a lost packet"
    if lost and disturbed:
        tap.skip(what, machine)
    else:
        tap.check(what, lost == 0, out[-300:], machine)
    new, plan = keys[-1], [s.stdout for s in said]
    tap.check("... and none that the other side could not open", all(s.returncode == 0 for s in said) and
              tunnels("east")["forged_packets"] == before, *said)
    tap.check("a reload names the changed keys and does not show them",
              "gateways.west.security: keys of east: 1 key -> 2 keys\n    applied live" in plan[0] and
              "2 keys -> 2 keys in another order" in plan[2] and
              not any(key[:8] in p for p in plan for key in keys), *plan)
    ask("reload", "--router", "west")  # it reads the other's file as well, which has changed since
    again = ask("reload", "--router", "west")
    tap.check("... and nothing changes without one", "nothing changes" in again.stdout, again)
    give("west", old)
    os.chmod(KEYS["west"], 0o644)
    bad = ask("reload", "--router", "west")
    tap.check("a reload refuses a key file that others may read", bad.returncode != 0 and
              "chmod 600" in bad.stdout + bad.stderr and world.answers("anna", attack.SERVER), bad)
    give("west", new)
    return keys


def different(tap, key):
    """East has another key than west, and then the same again."""
    before = tunnels("east")["forged_packets"]
    rotate("east", secrets.token_hex(32))
    time.sleep(0.2)
    lost = world.sh("ping", "-n", "-i", "0.1", "-c", "20", "-W", "1", attack.SERVER, namespace="anna", check=False,
                    timeout=60)
    now = tunnels("east")
    tap.check("with different keys nothing passes, and the packets count as forged, their keys as unknown",
              " 100% packet loss" in lost and now["forged_packets"] > before and now["unknown_keys"] > 0, lost, now)
    rotate("east", key)
    tap.check("with the same key again packets pass", world.until(lambda: world.answers("anna", attack.SERVER), 20))


def secrets_stay(tap, routers, keys):
    said = ask("bypass", "anna", "--router", "west")
    tap.check("no bypass in the clear", said.returncode != 0 and "encrypted" in said.stderr, said)
    shown = "".join(ask("show", what, "--json", "--router", node).stdout
                    for node in KEYS for what in ("config", "tunnels"))
    shown += "".join(router.output() for router in routers.values())
    for folder in ("/run/west", "/run/east"):  # results
        shown += "".join(p.read_text(errors="replace") for p in pathlib.Path(folder).rglob("*") if p.is_file())
    tap.check("no answer, log or file of the routers has a key",
              "key_file" in shown and not re.search("|".join(keys), shown))


def main():
    global TOOL
    program = pathlib.Path(sys.argv[1]).resolve()
    TOOL = program.parents[1] / "lab" / "turnpike"
    tap = gate.enter("ping", "iperf3")
    attack.build()
    FOLDER.mkdir()
    FILE.write_text(topology())
    refused(tap, str(program))
    key = secrets.token_hex(32)
    for node in KEYS:
        give(node, key)
    routers = {node: gate.run_router(str(program), FILE, node, node) for node in attack.CORE}
    ready = world.until(lambda: all(world.answers(host, attack.SERVER) for host in ("anna", "mallory")), 60)
    if tap.check("two customers reach the server", ready, *(r.output()[-2000:] for r in routers.values())):
        rate, said = cases.Transfer("anna", "server", attack.SERVER, 2).finish()
        tap.check(f"TCP passes: {rate:.0f} Mbit/s", rate > 1, said)
        on_the_core(tap, Attacker())
        keys = rotation(tap, key)
        different(tap, keys[-1])
        secrets_stay(tap, routers, keys)
    for node, router in routers.items():
        gate.stop_router(tap, router, node)
    tap.finish()


if __name__ == "__main__":
    main()
