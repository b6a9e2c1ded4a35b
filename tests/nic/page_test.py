#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Runs the commands of docs/benchmarking-100g.md, from the page's text, in a virtual machine with emulated NICs, and
# checks the form of the result and that all packets are accounted for. No rate is checked: an emulated machine is slow.
# Usage: page_test.py ROUTER SENDER TURNPIKE [--verbose]
import json
import pathlib
import re
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / "docs")]
import guest_image  # noqa: E402
import machine  # noqa: E402
from console import commands  # noqa: E402
from tap import Tap  # noqa: E402

PAGE = (HERE.parents[1] / "docs" / "benchmarking-100g.md").read_text()
DRIVER = "e1000e"
SECONDS = 1200  # for the longest command, the series of trials
DOCTOR = (0, 4)  # exit codes: it may find something
LOSS = "0.9"  # so that few trials fail, however slow the machine is
# The emulated machine's values for the variables that the page has its reader set.
VALUES = {"SOURCE": machine.ADDRESSES[0], "IN": machine.ADDRESSES[1], "OUT": machine.ADDRESSES[2],
          "SINK": machine.ADDRESSES[3], "ROUTER_LCORES": "0", "SENDER_LCORES": "1", "RATE": "500 Kbps",
          "FRAMES": "64,imix", "LCORES": "1", "LOSS": LOSS, "TRIAL": "2s", "CONFIRM": "3s", "RESOLUTION": "0.5"}
ASSIGNMENT = re.compile(r"(\w+)=('[^']*'|\S+)")
SETTINGS = re.compile(rf"({ASSIGNMENT.pattern} ?)+")
PREAMBLE_AND_GAP = 20  # B
IMIX = [64] * 7 + [594] * 4 + [1518]


def settings(command):
    """The page's variables that a command sets; empty: it sets none of them."""
    names = {name for name, _ in ASSIGNMENT.findall(command.text)} if SETTINGS.fullmatch(command.text) else set()
    return names & set(VALUES)


def run_page(tap, guest, verbose):
    """Each command of the page; returns their outputs by their texts."""
    outputs = {}
    variables = "".join(f"{name}='{value}'\n" for name, value in VALUES.items())
    for command in commands(PAGE):
        if settings(command):
            continue
        # Variables that other commands set are kept in a file; each command has a shell of its own.
        guest.write("/run/command", f". /run/variables; cd /run\n{command.text}\nresult=$?\n"
                                    "echo \"NICS='$NICS'\" >>/run/variables\nexit $result\n")
        if not outputs:
            guest.write("/run/variables", variables)
        code, out = guest.run("sh /run/command", SECONDS)
        allowed = DOCTOR if command.text.startswith("turnpike doctor") else (0,)
        tap.check(command.text.splitlines()[0].rstrip("\\ ")[:90], code in allowed, code, out[-3000:])
        outputs[command.text] = out
        if verbose:
            print(f"# {command.text}\n{out}", file=sys.stderr, flush=True)
    return outputs


def output(outputs, begin):
    return next(out for text, out in outputs.items() if text.startswith(begin))


def check_steps(tap, outputs):
    drivers = output(outputs, "for nic in $NICS; do readlink").split()
    tap.check("all four NICs have vfio-pci",
              len(drivers) == 4 and all(d.endswith("/vfio-pci") for d in drivers), drivers)
    found = output(outputs, "turnpike doctor")
    tap.check("the doctor finds nothing that stops the router", "stops" not in found, found)
    ports = json.loads(output(outputs, "turnpike show ports"))["ports"]
    tap.check("show ports has NIC, driver, slot, queues and descriptors of each port",
              [p["pci"]["address"] for p in ports] == [VALUES["IN"], VALUES["OUT"]]
              and all(re.fullmatch("8086:[0-9a-f]{4}", p["pci"]["id"]) and p["pci"]["kernel_driver"] == "vfio-pci"
                      and {"link", "max_link", "numa_node"} <= set(p["pci"]) and p["driver"] == "net_e1000_em"
                      and p["queues"] == 1 and p["rx_descriptors"] > 0 and p["link_mbps"] in (0, 1000) for p in ports),
              ports)


def check_series(tap, guest):
    result = json.loads(guest.must("cat /run/results/series.json"))
    tap.check("the result has the form of bench/results",
              re.fullmatch(r"\d{4}-\d\d-\d\d", result["date"]) and result["commits"]["throughput"]
              and {"cpu", "kernel", "command_line", "hugepages"} <= set(result["machine"]), result)
    series = result["throughput"]["series"]
    tap.check("it has an entry for each size of frames", [sorted(e["frames"]) for e in series] == [[64], IMIX],
              [e["frames"] for e in series])
    for entry in series:
        name, goal, trials = f"{len(entry['frames'])} sizes of frames", entry["throughput"][0], entry["trials"]
        tap.check(f"{name}: trials begin at the line's rate",
                  trials[0]["share"] == 1 and abs(trials[0]["offered_pps"] / line_rate(entry["frames"]) - 1) < 0.02,
                  trials[0])
        tap.check(f"{name}: what was carried and what was lost are what was due",
                  all(0 <= t["loss"] <= 1 and t["carried_pps"] <= t["offered_pps"] * 1.000001 for t in trials), trials)
        tap.check(f"{name}: a rate is claimed only if a trial shows it",
                  goal["best"] is None or (goal["best"]["loss"] <= float(LOSS) and goal["best"] in trials), goal)
        tap.check(f"{name}: a rate is confirmed, or said not to be",
                  goal["best"] is None or goal["confirmed"] or goal.get("unconfirmed"), goal)
        check_platforms(tap, name, entry["platforms"])


def check_platforms(tap, name, platforms):
    router, sender = platforms["router gate"], platforms["sender"]
    tap.check(f"{name}: router and sender say what they ran on",
              router["dpdk"].startswith("DPDK") and router["tsc_hz"] > 0 and router["machine"]["kernel"]
              and set(router["ports"]) == {"in", "out"} and set(sender["ports"]) == {"source", "sink"}
              and all(p["pci"]["id"] for p in [*router["ports"].values(), *sender["ports"].values()]), platforms)
    lcore = router["lcores"][0]
    tap.check(f"{name}: and what the router's lcore did",
              lcore["lcore"] == 0 and lcore["rx_packets"] > 0 and 0 < lcore["busy"] <= 1
              and (lcore["cycles_per_packet"] is None or lcore["cycles_per_packet"] > 0), lcore)


def line_rate(frames):
    """Packets/s of the emulated link's rate."""
    kbps = float(VALUES["RATE"].split()[0])
    return kbps * 1e3 / 8 / (sum(frames) / len(frames) + PREAMBLE_AND_GAP)


def check_conservation(tap, guest):
    counters = json.loads(guest.must("cat /run/results/router-gate.json"))
    went = sum(counters[k] for k in ("forwarded", "delivered", "held")) + sum(counters["drops"].values())
    came = counters["received"] + counters["originated"]
    tap.check("the last trial's packets are accounted for",
              counters["conserved"] and counters["received"] > 0 and came == went, counters)


def check_text(tap):
    """Checks the page's own statements, which need no machine."""
    named = {name for command in commands(PAGE) for name in settings(command)}
    tap.check("the page sets each variable that has a value here", named == set(VALUES), named ^ set(VALUES))
    rows = re.search(r"<!-- line rates -->\n(.*?)<!-- /line rates -->", PAGE, re.S)[1].splitlines()[2:]
    wrong = []
    for row in rows:
        size, mpps, cycles = (cell.strip() for cell in row.strip("|").split("|"))
        frame = sum(IMIX) / len(IMIX) if size == "imix" else int(size)
        rate = 100e9 / 8 / (frame + PREAMBLE_AND_GAP)
        if mpps != f"{rate / 1e6:.2f}" or cycles != f"{2.6e9 / rate:.1f}":
            wrong.append(row)
    tap.check("the table of line rates is right", len(rows) == 8 and not wrong, *wrong)
    before = [PAGE[:m.start()].split("\n\n")[-2] for m in re.finditer(r"^```sh$", PAGE, re.M)]
    section = [PAGE[:m.start()].rsplit("\n## ", 1)[-1] for m in re.finditer(r"^```sh$", PAGE, re.M)]
    tap.check("commands that are not run here are said to need hardware",
              before and all("On hardware" in text for text in section), *before)


def main():
    programs, verbose = [a for a in sys.argv[1:] if a != "--verbose"], "--verbose" in sys.argv
    tap = Tap()
    check_text(tap)
    try:
        if missing := guest_image.missing_programs():
            raise guest_image.Missing(f"not installed: {', '.join(missing)}; docker/install-packages emulation")
        image = guest_image.Image(guest_image.ROOT / "build" / "nic", programs).build()
    except guest_image.Missing as e:
        tap.skip("the page's commands in emulation", e)
        tap.finish()
    with tempfile.TemporaryDirectory(prefix="nic") as folder:
        guest = None
        try:
            guest = machine.Machine(DRIVER, *image, folder)
            outputs = run_page(tap, guest, verbose)
            check_steps(tap, outputs)
            check_series(tap, guest)
            check_conservation(tap, guest)
        except (machine.Died, OSError, StopIteration, ValueError, KeyError) as e:
            console = guest.console.read_text(errors="replace")[-2000:] if guest else ""
            tap.check("the guest runs the page", False, repr(e), console)
        finally:
            if guest:
                guest.stop()
    tap.finish()


if __name__ == "__main__":
    main()
