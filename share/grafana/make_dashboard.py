#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Writes turnpike.json, a Grafana dashboard (schema 38, Grafana 10 or later) of the metrics in docs/telemetry.md.
# Usage: make_dashboard.py [--check]     (--check: only says whether the file is as it should be)
import json
import pathlib
import sys

FILE = pathlib.Path(__file__).with_name("turnpike.json")
SOURCE = {"type": "prometheus", "uid": "${datasource}"}
WIDTH, HEIGHT = 24, 8  # of the grid; of a panel
ONE = 'job="$job",instance="$instance"'
LINK = ONE + ',link=~"$link"'
RATE = "[$__rate_interval]"

# Row -> panels: (title, unit of Grafana, what it means, [(query, legend)]).
ROWS = {
    "Router": [
        ("Uptime", "s", "Time since the router started.",
         [(f"time() - process_start_time_seconds{{{ONE}}}", "uptime")]),
        ("Age of the figures", "s", "Above 2 s: the control thread is late.",
         [(f"time() - turnpike_update_timestamp_seconds{{{ONE}}}", "age")]),
        ("Configuration", "none", "Number of the configuration in use.",
         [(f"turnpike_configuration_generation{{{ONE}}}", "generation")]),
        ("Changes", "none", "Applied, refused and reverted; and whether one waits for its confirmation.",
         [(f"increase(turnpike_configuration_changes_total{{{ONE}}}{RATE})", "{{result}}"),
          (f"turnpike_configuration_unconfirmed{{{ONE}}}", "unconfirmed")]),
        ("Age of the configuration", "s", "Time since the last change.",
         [(f"time() - (turnpike_configuration_change_timestamp_seconds{{{ONE}}} > 0)", "age")]),
        ("Longest pause", "s", "Upper bound of the times for which changes held the lcores, since the start.",
         [(f"histogram_quantile(1, turnpike_configuration_pause_seconds_bucket{{{ONE}}})", "pause")]),
        ("History", "none", "Configurations that `turnpike rollback` can go back to.",
         [(f"turnpike_configuration_history_entries{{{ONE}}}", "entries")]),
        ("Packets", "pps", "Received and originated packets are forwarded, delivered, dropped or held.",
         [(f"rate(turnpike_{name}_packets_total{{{ONE}}}{RATE})", name)
          for name in ("received", "originated", "forwarded", "delivered")]),
    ],
    "Links": [
        ("Price", "none", "$/MB",
         [(f"1e6 * turnpike_link_price_dollars_per_byte{{{LINK}}}", "{{link}} $/MB")]),
        ("Rate", "bps", "As the capacity counts bytes.",
         [(f"8 * rate(turnpike_link_transmitted_bytes_total{{{LINK}}}{RATE})", "{{link}}")]),
        ("Utilisation", "percentunit", "Rate divided by capacity.",
         [(f"rate(turnpike_link_transmitted_bytes_total{{{LINK}}}{RATE}) / "
           f"turnpike_link_capacity_bytes_per_second{{{LINK}}}", "{{link}}")]),
        ("Offered load", "percentunit", "Bytes for the link, dropped or not, divided by its capacity.",
         [(f"rate(turnpike_link_offered_bytes_total{{{LINK}}}{RATE}) / "
           f"turnpike_link_capacity_bytes_per_second{{{LINK}}}", "{{link}}")]),
        ("Queue", "bytes", "At the time of the scrape; beside the buffer.",
         [(f"turnpike_link_queue_bytes{{{LINK}}}", "{{link}}"),
          (f"turnpike_link_buffer_bytes{{{LINK}}}", "{{link}} buffer")]),
        ("Queueing delay", "s", "Mean and 99th percentile of the packets that left.",
         [(f"rate(turnpike_link_queueing_delay_seconds_sum{{{LINK}}}{RATE}) / "
           f"rate(turnpike_link_queueing_delay_seconds_count{{{LINK}}}{RATE})", "{{link}} mean"),
          (f"histogram_quantile(0.99, sum by (le, link) "
           f"(rate(turnpike_link_queueing_delay_seconds_bucket{{{LINK}}}{RATE})))", "{{link}} p99")]),
        ("Drops by reason", "pps", "The meaning of each reason is in docs/telemetry.md.",
         [(f"sum by (link, reason) (rate(turnpike_link_dropped_packets_total{{{LINK}}}{RATE})) > 0",
           "{{link}} {{reason}}")]),
        ("Figures of the laws", "none", "Besides the price; the unit is in the figure's name.",
         [(f"turnpike_link_law_value{{{LINK}}}", "{{link}} {{figure}}")]),
    ],
    "Lcores": [
        ("Busy", "percentunit", "Share of the time in polls that moved packets.",
         [(f"rate(turnpike_lcore_busy_seconds_total{{{ONE}}}{RATE}) / "
           f"(rate(turnpike_lcore_busy_seconds_total{{{ONE}}}{RATE}) + "
           f"rate(turnpike_lcore_idle_seconds_total{{{ONE}}}{RATE}))", "lcore {{lcore}}")]),
        ("Cycles per packet by stage", "none", "From one poll in 255.",
         [(f"sum by (worker, lcore, stage) (rate(turnpike_lcore_timed_cycles_total{{{ONE}}}{RATE})) / "
           "ignoring(stage) group_left sum by (worker, lcore) "
           f"(rate(turnpike_lcore_timed_packets_total{{{ONE}}}{RATE}))", "lcore {{lcore}} {{stage}}")]),
        ("Packets", "pps", "Received by each lcore.",
         [(f"rate(turnpike_lcore_received_packets_total{{{ONE}}}{RATE})", "lcore {{lcore}}")]),
        ("Stalled", "percentunit", "Share of the time in which the machine did not run the lcore.",
         [(f"rate(turnpike_lcore_stalled_seconds_total{{{ONE}}}{RATE})", "lcore {{lcore}}")]),
    ],
    "Ports": [
        ("Link up", "bool", "State of each port's link.", [(f"turnpike_port_up{{{LINK}}}", "{{link}}")]),
        ("Losses and errors", "pps", "Packets that no drop reason counts, because no lcore has seen them.",
         [(f"rate(turnpike_port_{name}_total{{{LINK}}}{RATE})", "{{link}} " + name.replace("_", " "))
          for name in ("missed_packets", "unbuffered_packets", "receive_errors", "transmit_errors")]),
        ("Pause frames", "none", "Per second, of NICs whose drivers count them.",
         [(f"rate(turnpike_port_{name}_pause_frames_total{{{LINK}}}{RATE})", "{{link}} " + name)
          for name in ("received", "transmitted")]),
        ("Extended statistics", "none", "Per second, of the drivers' own counters by kind, those that grow.",
         [(f"rate(turnpike_port_extended_statistic{{{LINK}}}{RATE}) > 0", "{{link}} {{name}}")]),
    ],
    "Linux": [
        ("Lag", "s", "Time for which messages of the kernel, or a resynchronisation, have waited.",
         [(f"turnpike_netlink_lag_seconds{{{ONE}}}", "lag"),
          (f"turnpike_netlink_last_resynchronisation_seconds{{{ONE}}}", "last resynchronisation")]),
        ("Messages", "none", "Of the kernel, per second: read, and lost by overruns.",
         [(f"rate(turnpike_netlink_messages_total{{{ONE}}}{RATE})", "read"),
          (f"rate(turnpike_netlink_lost_messages_total{{{ONE}}}{RATE})", "lost")]),
        ("Resynchronisations", "none", "By reason.",
         [(f"increase(turnpike_netlink_resynchronisations_total{{{ONE}}}{RATE})", "{{reason}}")]),
        ("Routes and neighbours", "none", "In the router's tables, and those that found no room.",
         [(f"turnpike_routes{{{ONE}}}", "routes {{version}}"),
          (f"turnpike_routes_without_room{{{ONE}}}", "without room"),
          (f"turnpike_neighbours{{{ONE}}}", "neighbours {{state}}")]),
        ("Packets for Linux", "pps", "By class.",
         [(f'rate(turnpike_punt_packets_total{{{ONE},result="punted"}}{RATE})', "{{class}}")]),
        ("Packets refused to Linux", "pps", "Beyond the rate of their class, or for a full queue.",
         [(f'rate(turnpike_punt_packets_total{{{ONE},result!="punted"}}{RATE})', "{{class}} {{result}}")]),
        ("Requests for neighbours", "none", "Per second.",
         [(f"rate(turnpike_neighbour_requests_total{{{ONE}}}{RATE})", "{{result}}")]),
        ("Packets that wait for neighbours", "none", "One second at most.",
         [(f"turnpike_neighbour_waiting_packets{{{ONE}}}", "packets")]),
    ],
    "Tunnels": [
        ("Rate by customer", "bps", "The 20 customers of a gateway that spent most; with the headers of tunnels.",
         [(f"8 * rate(turnpike_tunnel_sent_bytes_total{{{ONE}}}{RATE})", "{{customer}}")]),
        ("Offered by customer", "bps", "Packets that came for tunnels; beside what the queues let through.",
         [(f"8 * rate(turnpike_tunnel_{name}_bytes_total{{{ONE}}}{RATE})", "{{customer}} " + name)
          for name in ("offered", "carried")]),
        ("Budget used", "percentunit", "Spending divided by the budget.",
         [(f"rate(turnpike_tunnel_spend_dollars_total{{{ONE}}}{RATE}) / "
           f"turnpike_tunnel_budget_dollars_per_second{{{ONE}}}", "{{customer}}")]),
        ("Price paid", "none", "$/MB, the mean; and what the core asked last.",
         [(f"1e6 * rate(turnpike_tunnel_spend_dollars_total{{{ONE}}}{RATE}) / "
           f"rate(turnpike_tunnel_sent_bytes_total{{{ONE}}}{RATE})", "{{customer}} $/MB"),
          (f"1e6 * turnpike_tunnel_price_dollars_per_byte{{{ONE}}}", "{{customer}} asked")]),
        ("99th percentile of waits", "s", "Of packets in the customers' queues.",
         [(f"histogram_quantile(0.99, sum by (le, customer) "
           f"(rate(turnpike_tunnel_queueing_delay_seconds_bucket{{{ONE}}}{RATE})))", "{{customer}}")]),
        ("Drops and marks", "pps", "In the customers' queues, and packets of tunnels that the core lost.",
         [(f"rate(turnpike_tunnel_{name}_packets_total{{{ONE}}}{RATE})", "{{customer}} " + name)
          for name in ("dropped", "marked", "lost")]),
        ("Held back", "percentunit", "Share of the time in which packets waited for the budget or the ceiling.",
         [(f"avg_over_time(turnpike_tunnel_limited{{{ONE}}}{RATE})", "{{customer}} budget"),
          (f"avg_over_time(turnpike_tunnel_at_ceiling{{{ONE}}}{RATE})", "{{customer}} ceiling"),
          (f"turnpike_tunnel_bypassed{{{ONE}}} > 0", "{{customer}} bypassed")]),
        ("Peers and accounts", "none", "Peers that do not answer, customers that have sent packets, and accounts that "
         "could not be written.",
         [(f"turnpike_gateway_peer_silent{{{ONE}}}", "{{peer}} silent"),
          (f"turnpike_tunnel_customers{{{ONE}}}", "customers"),
          (f"increase(turnpike_accounting_failures_total{{{ONE}}}{RATE})", "failures")]),
    ],
    "Customers": [
        ("Drops by customer", "pps", "The 20 customers with the most drops over budget.",
         [(f"rate(turnpike_customer_dropped_packets_total{{{ONE}}}{RATE})", "{{customer}}")]),
        ("Drops by cause", "pps", "Of all customers.",
         [(f"rate(turnpike_customers_dropped_packets_total{{{ONE}}}{RATE})", "{{cause}}")]),
        ("Customers with drops", "none", "Since the router started.",
         [(f"turnpike_customers_limited{{{ONE}}}", "customers")]),
        ("Senders that do not pay", "pps", "Packets that audits dropped: of all senders, and of the 20 with the most.",
         [(f'sum(rate(turnpike_link_dropped_packets_total{{{ONE},reason="unpaid"}}{RATE}))', "all"),
          (f"rate(turnpike_offender_dropped_packets_total{{{ONE}}}{RATE})", "{{source}} at {{link}}")]),
    ],
}


def panel(number, title, unit, meaning, queries, x, y, width):
    return {"id": number, "type": "timeseries", "title": title, "description": meaning, "datasource": SOURCE,
            "gridPos": {"x": x, "y": y, "w": width, "h": HEIGHT},
            "fieldConfig": {"defaults": {"unit": unit, "min": 0, "custom": {"fillOpacity": 8, "showPoints": "never"}},
                            "overrides": []},
            "options": {"legend": {"displayMode": "list", "placement": "bottom"}, "tooltip": {"mode": "multi"}},
            "targets": [{"refId": chr(ord("A") + i), "datasource": SOURCE, "expr": query, "legendFormat": legend}
                        for i, (query, legend) in enumerate(queries)]}


def panels():
    number, y = 0, 0
    for title, row in ROWS.items():
        number += 1
        yield {"id": number, "type": "row", "title": title, "collapsed": False, "panels": [],
               "gridPos": {"x": 0, "y": y, "w": WIDTH, "h": 1}}
        y += 1
        across = 4 if len(row) % 4 == 0 else 2
        width = WIDTH // across
        for i, (name, unit, meaning, queries) in enumerate(row):
            number += 1
            yield panel(number, name, unit, meaning, queries, i % across * width, y + i // across * HEIGHT, width)
        y += -(-len(row) // across) * HEIGHT


def variable(name, label, query, several=False):
    return {"name": name, "label": label, "type": "query", "datasource": SOURCE, "query": {"query": query, "refId": name},
            "definition": query, "refresh": 2, "sort": 1, "multi": several, "includeAll": several,
            "current": {"text": "All", "value": "$__all"} if several else {}}


def dashboard():
    return {"title": "Turnpike", "uid": "turnpike", "tags": ["turnpike"], "schemaVersion": 38, "version": 1,
            "editable": True, "refresh": "15s", "time": {"from": "now-1h", "to": "now"}, "timezone": "browser",
            "templating": {"list": [
                {"name": "datasource", "label": "Prometheus", "type": "datasource", "query": "prometheus", "current": {}},
                variable("job", "Job", "label_values(turnpike_build_info, job)"),
                variable("instance", "Router", 'label_values(turnpike_build_info{job="$job"}, instance)'),
                variable("link", "Link", f"label_values(turnpike_link_capacity_bytes_per_second{{{ONE}}}, link)", True)]},
            "annotations": {"list": []}, "panels": list(panels())}


def main():
    text = json.dumps(dashboard(), indent=1) + "\n"
    if sys.argv[1:] != ["--check"]:
        FILE.write_text(text)
    elif not FILE.exists() or FILE.read_text() != text:
        sys.exit(f"{FILE} is stale: run share/grafana/make_dashboard.py")


if __name__ == "__main__":
    main()
