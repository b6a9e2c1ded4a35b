# SPDX-License-Identifier: BSD-3-Clause
# Figures of one run, from its files: a dictionary of numbers by name. A figure that the files lack is absent.
#
#   utilisation      of the span; the least of the case's links
#   missing          min(offered, 95 %) - utilisation; offered: load of an ideal link with the same flows in the span
#   loss             share of packets that routers dropped in the whole run; the greatest of the links
#   refused          packets dropped as bad_congestion_header by any router in the whole run
#   queue_ms, queue_max_ms  queueing delay in the span, mean and greatest; the worst link
#   afct_s, p99_s    completion time of the finite flows of the whole run
#   ps_afct_s        the same of processor sharing: two round trips (one for the SYN, one until the last packet's ACK)
#                    and the flow's stay in an egalitarian processor-sharing server of the link's capacity
#   afct_vs_ps       afct_s / (1.3 ps_afct_s + one round trip)
#   unfinished       flows that did not complete; processor sharing counts only their acknowledged bytes
#   drained_s        last completion after that of an ideal link
#   price_climb      median price of the last quarter over that of the second, of the time until the span ends
#   over_clearing    median over the span of price / (budgets of the open flows / capacity); the divisor is the
#                    clearing price where flows take all they can get, and an upper bound of it where they do not
#   spend            greatest over hosts of $ paid / (budget x time with open flows); a flow counts by itself where
#                    flows do not share the budget. Includes the flow's one packet per round trip
#   input_least, input_most  of the load in stretches of 100 ms from 1 s to 3 s, as a share of the capacity
#   share_of_many    goodput of the host `many` over half of all
#   failed           1 where the program failed, such as by its own check of hosts' budgets
import array
import csv
import json
import math
import re
import statistics

from sharing import last_leaves, served, sojourns

# B a packet: IPv4, UDP, Turnpike's header with FCP's fields. flows.csv counts payload; ten bytes more or less move the
# load of processor sharing by 0.7 %.
HEADERS = 84
LEAST_PRICE = 1e-18  # $/B


def table(path):
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def hosts_of(resolved):
    """Name -> (budget in $/s, whether each flow has a budget of its own)."""
    found = re.findall(r"^  ([\w-]+):\n    budget: (\S+) \$/s\n    strategy: (\S+)", resolved, re.M)
    return {name: (float(budget), strategy == "each-flow") for name, budget, strategy in found}


def open_budgets(rates, hosts):
    """t -> host -> $/s that its open flows have at that sample."""
    out = {}
    for row in rates:
        if row["flow"]:
            continue
        budget, each = hosts[row["host"]]
        flows = int(row["flows"])
        out.setdefault(float(row["t"]), {})[row["host"]] = budget * (flows if each else min(flows, 1))
    return out


def of_links(case, span, summary, out):
    links = [span["links"][name] for name in case.links]
    out["utilisation"] = min(link["utilization"] for link in links)
    out["queue_ms"] = max(link["queue_delay_ms"]["mean"] for link in links)
    out["queue_max_ms"] = max(link["queue_delay_ms"]["max"] for link in links)
    out["loss"] = max(summary["links"][name]["loss_rate"] for name in case.links)


def flows_of(path):
    """Arrivals (s, B on the link) and completion times (s, NaN where there is none), of millions of flows perhaps."""
    arrivals, took = [], array.array("d")
    with path.open(newline="") as file:
        lines = csv.reader(file)
        at = {name: i for i, name in enumerate(next(lines))}
        start, size, end, packets = (at[n] for n in ("start_s", "bytes", "completion_s", "packets"))
        for row in lines:
            arrivals.append((float(row[start]), int(row[size]) + HEADERS * int(row[packets])))
            took.append(float(row[end] or "nan"))
    return arrivals, took


def of_flows(case, path, capacity, window, out):
    """Completion times beside processor sharing's, of the same flows."""
    arrivals, took = flows_of(path)
    done = [i for i, t in enumerate(took) if not math.isnan(t)]
    out["unfinished"] = len(took) - len(done)
    if not done:
        return
    fixed = 2 * case.round_trip
    stays = sojourns(arrivals, capacity)
    out["ps_afct_s"] = fixed + statistics.fmean(stays[i] for i in done)
    out["afct_vs_ps"] = statistics.fmean(took[i] for i in done) / (1.3 * out["ps_afct_s"] + case.round_trip)
    last = max(arrivals[i][0] + took[i] for i in done)
    out["drained_s"] = last - (last_leaves(arrivals, capacity) + fixed)
    # The first packet reaches the link one round trip after its flow has started, at the earliest.
    offered = served(arrivals, capacity, window[0] - case.round_trip, window[1] - case.round_trip)
    out["missing"] = min(offered, 0.95) - out["utilisation"]


def of_prices(links, window, out):
    """`links`: rows of links.csv of one link."""
    prices = [(float(r["t"]), max(float(r["price"]), LEAST_PRICE)) for r in links if float(r["t"]) <= window[1]]
    if len(prices) < 8:
        return
    end = prices[-1][0]
    second = [p for t, p in prices if 0.25 * end < t <= 0.5 * end]
    last = [p for t, p in prices if 0.75 * end < t]
    out["price_climb"] = statistics.median(last) / statistics.median(second)


def of_budgets(case, links, rates, hosts, summary, capacity, window, out):
    budgets = open_budgets(rates, hosts)
    if not budgets:
        return
    ratios = []
    for row in links:
        t = float(row["t"])
        total = sum(budgets.get(t, {}).values())
        if window[0] < t <= window[1] and total > 0:
            ratios.append(float(row["price"]) * capacity / total)
    if ratios:
        out["over_clearing"] = statistics.median(ratios)
    times = sorted(budgets)
    allowed, before = {}, 0.0
    for t in times:
        for host, budget in budgets[t].items():
            allowed[host] = allowed.get(host, 0.0) + budget * (t - before)
        before = t
    spent = [summary["hosts"][h]["spend"] / a for h, a in allowed.items() if a > 0]
    if spent:
        out["spend"] = max(spent)


def of_input(links, out):
    steps = {}
    for row in links:
        step = round((float(row["t"]) - 1) * 10 + 0.4999)  # (1, 1.1] is the first
        if 1 <= step <= 20:
            steps.setdefault(step, []).append(float(row["input"]))
    means = [statistics.fmean(v) for v in steps.values()]
    if means:
        out["input_least"], out["input_most"] = min(means), max(means)


def figures(case, folder):
    """Figures of the run in `folder`. Where a run failed, its links.csv still gives the price."""
    out = {}
    links = [r for r in table(folder / "links.csv") if r["link"] == case.links[0]]
    of_prices(links, (0, float("inf")), out)
    if not (folder / "summary.json").exists():
        return out
    summary = json.loads((folder / "summary.json").read_text())
    span = summary["measure"][case.span] if case.span else summary
    window = (span.get("from", 0.0), span.get("to", summary["duration_s"]))
    capacity = summary["links"][case.links[0]]["rate_mbps"] * 1e6 / 8
    of_links(case, span, summary, out)
    of_prices(links, window, out)
    out["refused"] = sum(json.loads(p.read_text())["drops"]["bad_congestion_header"]
                         for p in folder.glob("router-*.json"))
    if "afct_s" in summary["flows"]:
        out["afct_s"], out["p99_s"] = summary["flows"]["afct_s"], summary["flows"]["fct_s"]["p99"]
    if case.round_trip:
        of_flows(case, folder / "flows.csv", capacity, window, out)
    elif case.load:
        out["missing"] = min(case.load, 0.95) - out["utilisation"]
    rates = table(folder / "rates.csv")
    of_budgets(case, links, rates, hosts_of((folder / "resolved.yaml").read_text()), summary, capacity, window, out)
    if "input_least" in case.bounds:
        of_input(links, out)
    hosts = span["hosts"]
    if "many" in hosts:
        out["share_of_many"] = hosts["many"]["goodput_mbps"] * 2 / sum(h["goodput_mbps"] for h in hosts.values())
    return out
