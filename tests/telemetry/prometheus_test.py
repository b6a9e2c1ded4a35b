#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# A Prometheus scrapes a router that forwards: every target is up, the alerts are healthy and pass their unit tests, and
# every query of the dashboard returns data. Also tests the page of a running router, and clients that misbehave.
# Usage: prometheus_test.py TURNPIKE
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "tests"), str(ROOT / "tests" / "operator"), str(ROOT / "share" / "grafana")]
import make_dashboard  # noqa: E402
from bed import Bed, die_with_parent, with_customers  # noqa: E402
from tap import Tap  # noqa: E402

SHARE = ROOT / "share"
TIMEOUT_S = 60
OPEN = "application/openmetrics-text; version=1.0.0"
# Queries without data in this test: no sender cheats its links here, and the router is no gateway.
NO_DATA = {"turnpike_offender_dropped_packets_total", "turnpike_tunnel_", "turnpike_gateway_", "_pause_frames_total"}
# Those that have data only if Linux is the control plane, which takes privileges.
LINUX = {"turnpike_netlink", "turnpike_routes", "turnpike_neighbour", "turnpike_punt"}
NAMESPACE = f"turnpike-prom-{os.getpid()}"


def make_namespace():
    """Whether there is a network namespace for the router's interfaces in Linux."""
    if os.geteuid() != 0 or not os.path.exists("/dev/net/tun") or not shutil.which("ip"):
        return False
    return subprocess.run(["ip", "netns", "add", NAMESPACE], capture_output=True, check=False).returncode == 0


def with_linux(text):
    """The topology with enforced budgets, and Linux as control plane."""
    text = with_customers(text)
    control = f"control: {{ linux: {{ namespace: {NAMESPACE} }} }}"
    return text.replace("  gate: { enforce: {} }", f"  gate: {{ enforce: {{}}, {control} }}")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def get(url, **headers):
    """(status, content type, text)."""
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=10) as reply:
            return reply.status, reply.headers["Content-Type"], reply.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, "", error.read().decode()


def page_of(bed, **headers):
    return get(f"http://127.0.0.1:{bed.port}/metrics", **headers)


def check_page(bed, tap):
    status, kind, page = page_of(bed)
    tap.check("the page is Prometheus' text", status == 200 and kind.startswith("text/plain; version=0.0.4"), status, kind)
    status, kind, open_page = page_of(bed, Accept=OPEN)
    tap.check("or OpenMetrics, for clients that ask", kind.startswith(OPEN) and open_page.endswith("\n# EOF\n"), status, kind)
    series = {line.rsplit(" ", 1)[0] for line in page.splitlines() if line and line[0] != "#"}
    open_series = {line.rsplit(" ", 1)[0] for line in open_page.splitlines() if line and line[0] != "#"}
    tap.check("with the same series", series == open_series, series ^ open_series)
    found = dict(line.rsplit(" ", 1) for line in page.splitlines() if line and line[0] != "#")
    tap.check("the lcore is busy for some of the time",
              any(float(v) > 0 for k, v in found.items() if k.startswith("turnpike_lcore_busy_seconds_total")), found)
    stages = {re.search('stage="(.*?)"', k)[1]: float(v) for k, v in found.items() if "timed_cycles" in k}
    # A poll in 255 is timed.
    tap.check("cycles of every stage that a packet passes", all(stages[s] > 0 for s in ("rx", "parse", "lookup", "forward", "tx")),
              stages)
    start = found["process_start_time_seconds"]
    time.sleep(2.5)
    later = page_of(bed)[2]
    tap.check("the next page is newer, and the start stays", later != page and f"process_start_time_seconds {start}\n" in later)


def check_promtool(bed, tap):
    done = subprocess.run(["promtool", "check", "metrics"], input=page_of(bed)[2], capture_output=True, text=True, check=False)
    tap.check("promtool check metrics", done.returncode == 0 and not done.stderr.strip(), done.stdout, done.stderr)
    for words in (["check", "rules", "turnpike.rules.yml"], ["test", "rules", "turnpike.rules.test.yml"],
                  ["check", "config", "prometheus.yml"]):
        done = subprocess.run(["promtool", *words], cwd=SHARE / "prometheus", capture_output=True, text=True, check=False)
        tap.check(f"promtool {' '.join(words)}", done.returncode == 0, done.stdout, done.stderr)
    rules = (SHARE / "prometheus" / "turnpike.rules.yml").read_text()
    tests = (SHARE / "prometheus" / "turnpike.rules.test.yml").read_text()
    alerts = re.findall(r"- alert: (\w+)", rules)
    document = (ROOT / "docs" / "telemetry.md").read_text()
    tap.check("each alert has a test that fires and one that does not, and is in docs/telemetry.md",
              all(re.search(rf"alertname: {a}, exp_alerts: \[\]", tests) and f"alertname: {a}\n" in tests and f"`{a}`" in document
                  for a in alerts), [a for a in alerts if f"`{a}`" not in document], alerts)


class Prometheus:
    def __init__(self, bed):
        self.url = f"http://127.0.0.1:{free_port()}"
        folder = bed.folder / "prometheus"
        folder.mkdir()
        shutil.copy(SHARE / "prometheus" / "turnpike.rules.yml", folder)
        config = (SHARE / "prometheus" / "prometheus.yml").read_text()
        config = config.replace("15s", "1s").replace("127.0.0.1:9478", f"127.0.0.1:{bed.port}")
        (folder / "prometheus.yml").write_text(config)
        log = open(folder / "log", "wb")
        bed.processes.append(subprocess.Popen(
            ["prometheus", f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data",
             f"--web.listen-address={self.url.removeprefix('http://')}"], stdout=log, stderr=log, cwd=folder,
            preexec_fn=die_with_parent))
        log.close()

    def ask(self, path, **arguments):
        try:
            _, _, text = get(f"{self.url}/api/v1/{path}?{urllib.parse.urlencode(arguments)}")
            return json.loads(text)
        except (OSError, json.JSONDecodeError):
            return {}

    def samples(self, query):
        """How many; None and the reason if the query is wrong."""
        answer = self.ask("query", query=query)
        return (len(answer["data"]["result"]), "") if answer.get("status") == "success" else (None, answer)

    def wait_for(self, query):
        end = time.monotonic() + TIMEOUT_S
        while time.monotonic() < end:
            if self.samples(query)[0]:
                return True
            time.sleep(0.25)
        return False


def check_dashboard(bed, prometheus, tap):
    text = (SHARE / "grafana" / "turnpike.json").read_text()
    dashboard = json.loads(text)
    tap.check("the dashboard is as make_dashboard.py writes it", dashboard == make_dashboard.dashboard(),
              "run share/grafana/make_dashboard.py")
    panels = dashboard["panels"]
    ids = [p["id"] for p in panels]
    places = [(p["gridPos"]["x"] + i, p["gridPos"]["y"] + j) for p in panels
              for i in range(p["gridPos"]["w"]) for j in range(p["gridPos"]["h"])]
    variables = {v["name"] for v in dashboard["templating"]["list"]} | {"__rate_interval"}
    used = set(re.findall(r"\$\{?(\w+)\}?", text)) - {"__all"}
    tap.check("its model is well formed: panels have numbers of their own, do not overlap, fit the grid, and have queries",
              len(set(ids)) == len(ids) and len(set(places)) == len(places) and max(x for x, _ in places) < 24 and
              all(p["type"] == "row" or p["targets"] for p in panels))
    tap.check("its queries use variables that it defines", used <= variables, used - variables)
    values = {"job": "turnpike", "instance": f"127.0.0.1:{bed.port}", "link": ".*", "__rate_interval": "15s"}
    missing = []
    queries = [t["expr"] for p in panels for t in p.get("targets", [])]
    for query in queries:
        filled = re.sub(r"\$(\w+)", lambda m: values[m[1]], query)
        count, reason = prometheus.samples(filled)
        if count is None or count == 0 and not any(name in query for name in bed.no_data):
            missing.append((query, reason))
    tap.check(f"each of its {len(queries)} queries returns data", not missing, *missing)
    for variable in dashboard["templating"]["list"][1:]:
        found = re.fullmatch(r"label_values\((.*), (\w+)\)", variable["definition"])
        query = re.sub(r"\$(\w+)", lambda m: values[m[1]], found[1])
        tap.check(f"variable {variable['name']} has values", prometheus.samples(f"count by ({found[2]}) ({query})")[0])
    names = {re.match(r"\w+", line.split()[2])[0] for line in page_of(bed)[2].splitlines() if line.startswith("# TYPE")}
    asked = set(re.findall(r"\b(?:turnpike|process)_\w+", " ".join(queries) + (SHARE / "prometheus" / "turnpike.rules.yml").read_text()))
    asked = {re.sub(r"_(bucket|sum|count)$", "", name) for name in asked}
    tap.check("dashboard and alerts ask for families that exist", asked <= names, asked - names)


def check_alerts(bed, prometheus, tap):
    groups = prometheus.ask("rules").get("data", {}).get("groups", [])
    rules = [rule for group in groups for rule in group["rules"]]
    tap.check("every alert is evaluated without an error", rules and all(r["health"] == "ok" for r in rules),
              [(r["name"], r.get("lastError")) for r in rules])
    firing = {r["name"] for r in rules if r["state"] == "firing"}
    tap.check("none about stuck threads, ports or reloads fires beside a healthy router",
              not firing & {"TurnpikeDown", "TurnpikeControlThreadStuck", "TurnpikeLcoreStuck", "TurnpikePortDown",
                            "TurnpikePriceAtCeiling", "TurnpikeReloadFailed"}, firing)
    os.kill(bed.router.pid, signal.SIGSTOP)  # neither lcores nor the control thread run
    seen = prometheus.wait_for('ALERTS{alertname="TurnpikeDown"}')
    os.kill(bed.router.pid, signal.SIGCONT)
    tap.check("a router that does not answer: TurnpikeDown is pending", seen, prometheus.ask("alerts"))


def forwarded(bed):
    return float(re.search(r"^turnpike_forwarded_packets_total (.*)$", page_of(bed)[2], re.M)[1])


def check_hostile(bed, tap):
    crowd = []
    for i in range(1000):
        client = socket.create_connection(("127.0.0.1", bed.port), timeout=5)
        client.sendall((b"GET /metrics HTTP/1.1\r\n", b"POST /metrics HTTP/1.1\r\nContent-Length: 9999999\r\n\r\nx",
                        b"\x00" * 100, b"GET /" + b"a" * 60_000)[i % 4])
        crowd.append(client)
    begin = time.monotonic()
    status, _, _ = page_of(bed)
    took = time.monotonic() - begin
    tap.check("1,000 connections with half of a request: the page comes within 5 s", status == 200 and took < 5, status, took)
    before = forwarded(bed)
    time.sleep(2.5)
    tap.check("the control thread and the lcores go on", forwarded(bed) > before)
    threads = os.listdir(f"/proc/{bed.router.pid}/task")
    files = os.listdir(f"/proc/{bed.router.pid}/fd")
    tap.check("bounded threads and files", len(threads) < 12 and len(files) < 300, len(threads), len(files))
    for client in crowd:
        client.close()
    time.sleep(2)  # until the next page
    cut = float(re.search(r'requests_total\{result="cut"\} (.*)', page_of(bed)[2])[1])
    tap.check("connections that were ended are counted", cut > 0, cut)


def main():
    tap = Tap()
    if not shutil.which("promtool") or not shutil.which("prometheus"):
        tap.skip("metrics, alerts and the dashboard with a Prometheus", "not installed: docker/install-packages telemetry")
        tap.finish()
    linux = make_namespace()
    bed = Bed(sys.argv[1], "prometheus", with_linux if linux else with_customers)
    bed.no_data = NO_DATA if linux else NO_DATA | LINUX
    if not linux:
        tap.skip("queries about Linux as control plane", "no privileges, no /dev/net/tun or no ip")
    bed.port = free_port()
    try:
        if not tap.check("the router starts with --metrics", bed.start_router("--metrics", str(bed.port)), bed.log()):
            tap.finish()
        bed.start_sender()
        bed.file.write_text(bed.file.read_text().replace("rate: 100 Mbps, delay: 8 ms", "rate: 90 Mbps, delay: 8 ms"))
        done = bed.tool("reload")
        tap.check("a reload, for the figures of changes", done.returncode == 0 and "paused for" in done.stdout, done)
        prometheus = Prometheus(bed)
        ready = prometheus.wait_for("rate(turnpike_lcore_timed_packets_total[15s]) > 0")
        ready = ready and prometheus.wait_for("rate(turnpike_customer_dropped_packets_total[15s]) > 0")
        tap.check("Prometheus scrapes it, with packets forwarded and dropped", ready, bed.log(),
                  prometheus.ask("targets"))
        check_page(bed, tap)
        check_promtool(bed, tap)
        check_dashboard(bed, prometheus, tap)
        check_alerts(bed, prometheus, tap)
        check_hostile(bed, tap)
    finally:
        bed.end()
        if linux:
            subprocess.run(["ip", "netns", "del", NAMESPACE], check=False)
    tap.finish()


if __name__ == "__main__":
    main()
