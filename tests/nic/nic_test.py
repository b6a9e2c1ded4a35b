#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Real drivers of NICs, in a virtual machine: router and sender over emulated NICs that are bound to vfio-pci.
# Usage: nic_test.py ROUTER SENDER TURNPIKE [--short] [--drivers NAME,...] [--write]
# Needs the packages of stage `emulation`, neither KVM nor root. docs/nics.md describes it.
import argparse
import pathlib
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / "netns")]
import cases  # noqa: E402
import guest_image  # noqa: E402
import machine  # noqa: E402
import table  # noqa: E402
import world  # noqa: E402
from tap import Tap  # noqa: E402
from tap_pairs import TapPairs  # noqa: E402

MULTI_QUEUE = "virtio-mq"  # virtio over tap interfaces with two queues
DRIVERS = ["e1000e", "igb", "vmxnet3", "virtio", MULTI_QUEUE]
LARGE = 9000
# (lcores, MTU, MTU of the far link, whether to end the router violently as well). Where both MTUs are the same, the
# router sends single segments only, and switches other offloads on.
CONFIGURATIONS = [(1, 1500, 1300, True), (2, 1500, 1300, True), (1, LARGE, LARGE, False), (2, LARGE, 8800, False)]
SHORT_DRIVER, SHORT = "e1000e", [(1, 1500, 1300, True)]


def obstacle(driver):
    """Why this machine cannot emulate the NIC; None: it can."""
    if driver == MULTI_QUEUE:
        return world.isolate() or (None if pathlib.Path("/dev/net/tun").exists() else "no /dev/net/tun here")
    return None if machine.emulates(driver) else "this QEMU does not emulate it (QEMU 8 or newer does)"


def run_driver(driver, image, configurations, tap):
    """Results by (lcores, MTU)."""
    results = {}
    pairs = TapPairs() if driver == MULTI_QUEUE else None
    with tempfile.TemporaryDirectory(prefix="nic") as folder:  # its name is short: Unix sockets are in it
        guest = None
        try:
            guest = machine.Machine("virtio" if pairs else driver, *image, folder, pairs)
            guest.bind()
            for lcores, mtu, far_mtu, robust in configurations:
                begin = time.monotonic()
                case = cases.Case(guest, tap, driver, lcores, mtu, far_mtu)
                results[lcores, mtu] = case.results
                cases.run(case, robust)
                print(f"# {driver}, lcores {lcores}, MTU {mtu}: took {time.monotonic() - begin:.0f} s", flush=True)
        except (machine.Died, OSError) as e:
            console = guest.console.read_text(errors="replace")[-2000:] if guest else ""
            tap.check(f"{driver}: the guest runs", False, e, console)
        finally:
            if guest:
                guest.stop()
    return results


def main():
    options = argparse.ArgumentParser(description="Router and sender over emulated NICs.")
    options.add_argument("programs", nargs=3, metavar="ROUTER SENDER TURNPIKE")
    options.add_argument("--short", action="store_true", help=f"only {SHORT_DRIVER}, with one lcore")
    options.add_argument("--drivers", type=lambda names: names.split(","), default=DRIVERS, metavar="NAME,...")
    options.add_argument("--write", action="store_true", help="write the table into docs/nics.md")
    chosen = options.parse_args()
    tap = Tap()
    try:
        if missing := guest_image.missing_programs():
            raise guest_image.Missing(f"not installed: {', '.join(missing)}; docker/install-packages emulation")
        image = guest_image.Image(guest_image.ROOT / "build" / "nic", chosen.programs).build()
    except guest_image.Missing as e:
        tap.skip("NICs in emulation", e)
        tap.finish()
    # The network namespace first, since the script begins again in it.
    blocked = {d: obstacle(d) for d in sorted([SHORT_DRIVER] if chosen.short else chosen.drivers,
                                             key=lambda d: d != MULTI_QUEUE)}
    rows = {}
    for driver in [d for d in DRIVERS if d in blocked]:
        if blocked[driver]:
            tap.skip(driver, blocked[driver])
            rows[driver] = blocked[driver]
        else:
            rows[driver] = run_driver(driver, image, SHORT if chosen.short else CONFIGURATIONS, tap)
    text = table.markdown(rows)
    print("".join(f"# {line}\n" for line in text.splitlines()), end="")
    if chosen.write:
        table.write(text)
    tap.finish()


if __name__ == "__main__":
    main()
