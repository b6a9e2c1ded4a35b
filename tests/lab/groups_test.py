#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Tenants that share a link in the lab, domains with currencies of their own, and tenants that attack them.
# Usage: groups_test.py TURNPIKE
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "lab" / "evolution")]
import tenants  # noqa: E402
from tap import Tap  # noqa: E402

SLOW = ROOT / "configs/evolution/slow-flows.yaml"

# Two honest tenants with weight 1 and the attacker's with weight 1 share 90 Mbps, round trip 20 ms.
BASE = """\
run: {{ duration: 4 s, sample: 50 ms, measure: {{ shared: {{ from: 2 s }} }} }}
groups: {{ one: {{}}, two: {{}}, other: {{}} }}
customers:
  one: {{ prefix: 10.1.0.0/16, budget: 1 $/s, group: one }}
  two: {{ prefix: 10.2.0.0/16, budget: 1 $/s, group: two }}
  other: {{ prefix: 10.3.0.0/16, budget: 1 $/s, group: other }}
hosts:
  one: {{ budget: 1 $/s, addresses: 10.1.0.1/24 }}
  two: {{ budget: 1 $/s, addresses: 10.2.0.1/24 }}
{hosts}
  sink: {{}}
routers: {{ gate: {{ {gate} }} }}
links:
  one: {{ ends: [one, gate], rate: 1 Gbps, delay: 2 ms }}
  two: {{ ends: [two, gate], rate: 1 Gbps, delay: 2 ms }}
  other: {{ ends: [other, gate], rate: 1 Gbps, delay: 2 ms {checked} }}
  shared: {{ ends: [gate, sink], rate: 90 Mbps, delay: 8 ms, buffer: 2 BDP, forward: {{ law: {{ fcp: {{ groups: link }} }} }} }}
traffic:
  flows:
    one: {{ from: one, to: sink, count: 2 }}
    two: {{ from: two, to: sink }}
{flows}
"""
FLOW = "    attack: {{ from: other, to: sink, {} }}"


def base(flows="", host="budget: 1 $/s, addresses: 10.3.0.1/24", gate="", checked="", more=""):
    return BASE.format(hosts=f"  other: {{ {host} }}", flows=FLOW.format(flows) + more if flows else more, gate=gate,
                       checked=checked)


def cheat(lies, text=""):
    return f"protocol: {{ fcp: {{ {lies} }} }}{text}"


UDP = "  streams:\n    udp: { from: other, to: sink, start: 1 s, rate: { l2: 80 Mbps }, frames: { sizes: 1518 B } }\n"
# One flow of one round trip after another, with and without a larger claim.
FLAPS = "\n".join(f"    flap{i}: {{ from: other, to: sink, start: {2000 + 40 * i} ms, stop: {2020 + 40 * i} ms }}"
                  for i in range(49))
SHORT = ("  workloads:\n    short: { from: other, to: sink, start: 1 s, arrivals: { poisson: 400 /s }, "
         "size: { fixed: 30 KB } }\n")
EACH = "budget: 1 $/s, addresses: 10.3.0.1/24, strategy: each-flow"
ENFORCE = "enforce: {}"

# By name: the topology, and the honest tenants' least share of their 30 Mbps. The lab checks the budgets of senders
# without a lie only: hundreds of flows that send a packet in several round trips differ from theirs by more.
ATTACKS = {
    "2,000 flows": (base("count: 2000, " + cheat("age_lie: 1.001")), 0.99),
    "budgets that grow a hundredfold each half second": (base("", EACH, more="\n".join(
        FLOW.format(f"start: {start} s, stop: {start + 0.5} s, " + cheat(f"budget_lie: {10 ** (2 * i)}")).replace(
            "attack", f"attack{i}") for i, start in enumerate((2, 2.5, 3, 3.5)))), 0.97),
    "a tiny budget": (base("count: 1", "budget: 0.000000001 $/s, addresses: 10.3.0.1/24"), 0.98),
    "a huge budget": (base("count: 1", "budget: 1000000000 $/s, addresses: 10.3.0.1/24"), 0.98),
    "a budget of 1e15 $/s": (base(cheat("budget_lie: 1000000"), "budget: 1000000000 $/s, "
                                  "addresses: 10.3.0.1/24"), 0.98),
    "a claimed value of money": (base(cheat("exchange_lie: 1000000")), 0.98),
    "a claimed slot": (base("count: 4, " + cheat("slot_lie: 0.001")), 0.98),
    "over-preloading": (base(cheat("preload_lie: 8")), 0.98),
    "flows of one round trip": (base("", EACH, more=FLAPS), 0.98),
    "flows of one round trip with a hundredfold claim": (base("", EACH, more=FLAPS.replace(
        " stop:", " protocol: { fcp: { budget_lie: 100 } }, stop:")), 0.98),
    "short flows": (base("").replace("  flows:\n", SHORT + "  flows:\n"), 0.98),
    "ignored prices at an enforcing edge": (base(cheat("ignore_price: 80 Mbps"), gate=ENFORCE), 0.99),
    "UDP at an enforcing edge": (base("", gate=ENFORCE).replace("  flows:\n", UDP + "  flows:\n"), 0.99),
    "audits of honest senders": (base("count: 3", gate=ENFORCE).replace("groups: link", "groups: link, audit: on"), 0.99),
    "forged prices at audited links": (base(cheat("balance_lie: 0.01"), gate=ENFORCE).replace(
        "groups: link", "groups: link, audit: on"), 0.95),
    "two lcores": (base("count: 7", gate="lcores: [0, 1]"), 0.98),
}


def play(turnpike, folder, text, *options):
    file = pathlib.Path(folder) / "topology.yaml"
    file.write_text(text)
    done = subprocess.run([turnpike, "lab", file, "--out", folder, *options], text=True, timeout=600,
                          capture_output=True, check=False)
    summary = pathlib.Path(folder) / "summary.json"
    found = json.loads(summary.read_text()) if done.returncode == 0 else None
    return found, done.stdout[-500:] + done.stderr[-500:]


def rates(summary, span):
    return {name: group["goodput_mbps"] or 0 for name, group in summary["measure"][span]["groups"].items()}


def near(found, expected, within):
    return all(abs(found[name] / value - 1) <= within for name, value in expected.items())


def main():
    turnpike = sys.argv[1]
    tap = Tap()
    file = ROOT / "configs/evolution/tenants.yaml"
    tap.check("the file of tenants is that of the program", file.read_text() == tenants.topology(
        tenants.TENANTS, tenants.RATE), "renew it with: lab/evolution/tenants.py > configs/evolution/tenants.yaml")
    with tempfile.TemporaryDirectory() as folder:
        found, text = play(turnpike, folder, tenants.topology(100, 500))
        shares = tenants.shares(found) if found else {}
        tap.check("tenants share a link by their weights, whatever their flows and budgets",
                  found and all(abs(share - 1) <= 0.02 for share in shares.values()), text, shares)
    with tempfile.TemporaryDirectory() as folder:
        found, text = play(turnpike, folder, (ROOT / "configs/evolution/domains.yaml").read_text())
        if tap.check("domains meet", found, text):
            entitled = {"alice": 6.25, "anna": 12.5, "mallory": 6.25, "bob": 12.5, "ben": 37.5, "carol": 25}
            for span in ("before", "after"):
                tap.check(f"each domain's money is worth its weight, {span}", near(rates(found, span), entitled, 0.02),
                          rates(found, span))
            # Of what the link carried: it leaves a part free until prices have followed.
            change = rates(found, "change")
            part = (change["bob"] + change["ben"]) / sum(change.values())
            tap.check("who prints money gains nothing meanwhile", part < 0.52, change)
    # The packets of 10,000 independent flows need more than the buffer of one BDP.
    for count, utilization, loss in ((300, 0.97, 0.01), (3000, 0.97, 0.01), (10000, 0.95, 0.05)):
        with tempfile.TemporaryDirectory() as folder:
            found, text = play(turnpike, folder, SLOW.read_text(), "--set", f"traffic.flows.two.count={count}")
            if tap.check(f"a group of {count} slow flows plays", found, text):
                got, link = rates(found, "shared"), found["measure"]["shared"]["links"]["shared"]
                tap.check(f"a group of {count} slow flows has what its weight buys",
                          abs(got["two"] / got["one"] / 2 - 1) <= 0.02, got)
                tap.check(f"{count} slow flows fill the link and lose few packets",
                          link["utilization"] >= utilization and link["loss_rate"] < loss, link)
    for name, (topology, least) in ATTACKS.items():
        with tempfile.TemporaryDirectory() as folder:
            found, text = play(turnpike, folder, topology)
            got = rates(found, "shared") if found else {"one": 0, "two": 0}
            tap.check(f"by {name} a tenant takes nothing from others", min(got["one"], got["two"]) >= least * 30, got,
                      text)
    tap.finish()


if __name__ == "__main__":
    main()
