# SPDX-License-Identifier: BSD-3-Clause
# Two kernels, left and right, and a Turnpike router between them as gate.yaml says.
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import world  # noqa: E402
from tap import Tap  # noqa: E402

TOPOLOGY = (world.TOPOLOGIES / "gate.yaml").read_text()
LEFT = {4: "10.0.1.2", 6: "fd00:1::2"}
RIGHT = {4: "10.0.2.2", 6: "fd00:2::2"}
NEAR = {4: "10.0.1.1", 6: "fd00:1::1"}  # the router, on the left
FAR = {4: "10.0.2.1", 6: "fd00:2::1"}   # ... and on the right
LEFT_MAC, RIGHT_MAC = "02:00:00:00:01:02", "02:00:00:00:02:02"


def enter(*programs):
    """Moves into network namespaces of its own; skips the test where that is impossible."""
    missing = world.have("ip", "nsenter", "unshare", "ethtool", *programs)
    why = f"not installed: {', '.join(missing)}" if missing else world.isolate()
    tap = Tap()
    if why:
        tap.skip(pathlib.Path(sys.argv[0]).stem, why)
        tap.finish()
    return tap


def prefixed(addresses, lengths=(24, 64)):
    return [f"{addresses[4]}/{lengths[0]}", f"{addresses[6]}/{lengths[1]}"]


def build_kernels():
    """The three namespaces, joined by veth; the gate's ends belong to the router."""
    world.add_namespaces("left", "gate", "right")
    build_kernel("left")
    build_kernel("right")


def build_kernel(host):
    mac, addresses, router = {"left": (LEFT_MAC, LEFT, NEAR), "right": (RIGHT_MAC, RIGHT, FAR)}[host]
    world.add_veth((host, "eth0"), ("gate", host))
    world.give_to_router("gate", host)
    world.give_to_host(host, "eth0", mac, prefixed(addresses), router.values())


def run_router(program, topology, node="gate", namespace="gate", *options):
    return world.Program(program, topology, "--node", node, "--out", f"/run/{node}", "--live", "off", *options,
                         namespace=namespace)


def start_router(tap, program, topology, once_started=lambda: None):
    """Starts it on this topology's text and waits until it forwards both ways."""
    path = pathlib.Path("/run/gate.yaml")
    path.write_text(topology)
    router = run_router(program, path)
    world.until(lambda: " forwards " in router.output() or router.process.poll() is not None)
    once_started()
    ready = world.until(lambda: router.process.poll() is not None or
                        all(world.answers("left", RIGHT[v]) for v in (4, 6)), 20)
    alive = ready and router.process.poll() is None
    tap.check("the router starts and forwards", alive, router.output()[-4000:])
    return router if alive else None


def stop_router(tap, router, node="gate"):
    """INT ends it cleanly, and every packet that it received is accounted for."""
    code = router.stop()
    tap.check(f"{node} stops with exit code 0 and every buffer back", code == 0, code,
              router.output()[-4000:])
    path = pathlib.Path(f"/run/{node}/router-{node}.json")
    if not tap.check(f"{node} leaves its counters", path.exists(), router.output()[-4000:]):
        return
    counters = json.loads(path.read_text())
    came = counters["received"] + counters["originated"]
    went = (counters["forwarded"] + counters["delivered"] + sum(counters["drops"].values()) +
            counters["held"])
    tap.check(f"{node}: {came} packets in = forwarded + delivered + dropped + held",
              came == went and counters["received"] > 0, counters)
