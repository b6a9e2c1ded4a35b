// SPDX-License-Identifier: BSD-3-Clause
// Every metric family of the router, once: the page, its test and docs/telemetry.md follow this
// list.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "common/metrics/prometheus.h"

namespace turnpike::router {

/// Names end in their units (Prometheus' conventions, OpenMetrics 1.0). Labels are in metrics.cpp.
inline constexpr auto kFamilies = [] {
  using metrics::Family;
  constexpr auto kCounter = metrics::MetricType::kCounter;
  constexpr auto kGauge = metrics::MetricType::kGauge;
  return std::to_array<Family>({
      {"turnpike_build", metrics::MetricType::kInfo, "",
       "Version, commit and DPDK of the program, and the router's name in its topology."},
      {"process_start_time_seconds", kGauge, "seconds", "UNIX time at which the router started."},
      {"turnpike_update_timestamp_seconds", kGauge, "seconds",
       "UNIX time at which the control thread read these figures."},
      {"turnpike_configuration_generation", kGauge, "",
       "Number of the configuration in use: 1 at the start, one more for each applied change."},
      {"turnpike_configuration_changes", kCounter, "changes",
       "Configurations that were applied; refused, because they are wrong or cannot be applied "
       "live; or reverted, for want of a confirmation."},
      {"turnpike_configuration_pause_seconds", metrics::MetricType::kHistogram, "seconds",
       "Time for which a change held the lcores: no packet was forwarded meanwhile."},
      {"turnpike_configuration_change_timestamp_seconds", kGauge, "seconds",
       "UNIX time of the last change that was applied or reverted; 0: none since the start."},
      {"turnpike_configuration_unconfirmed", kGauge, "",
       "Whether a change waits for its confirmation."},
      {"turnpike_configuration_history_entries", kGauge, "entries",
       "Configurations in the history, the one in use included; 0: the router keeps none."},
      {"turnpike_metrics_requests", kCounter, "requests",
       "Requests for pages: served, refused (a wrong path or method), and cut: ended without a "
       "response, because they took longer than 5 s or made room for newer ones."},

      {"turnpike_received_packets", kCounter, "packets", "Frames received from all ports."},
      {"turnpike_originated_packets", kCounter, "packets",
       "Packets built by the router: replies, ICMP errors, fragments, copies for trees."},
      {"turnpike_forwarded_packets", kCounter, "packets", "Packets that ports took."},
      {"turnpike_delivered_packets", kCounter, "packets", "Packets to the router itself."},
      {"turnpike_held_packets", kGauge, "packets", "Packets that wait in the router."},
      {"turnpike_suppressed_icmp_errors", kCounter, "errors",
       "ICMP errors that were not sent because of their rate limit."},

      {"turnpike_link_price_dollars_per_byte", kGauge, "dollars_per_byte",
       "Price of the link at present; 0 if its law has none."},
      {"turnpike_link_capacity_bytes_per_second", kGauge, "bytes_per_second",
       "Configured rate of the link."},
      {"turnpike_link_buffer_bytes", kGauge, "bytes", "Buffer of the link's queue."},
      {"turnpike_link_queue_bytes", kGauge, "bytes", "Bytes admitted and not yet sent."},
      {"turnpike_link_queue_packets", kGauge, "packets", "Packets admitted and not yet sent."},
      {"turnpike_link_received_packets", kCounter, "packets", "Frames received from the link."},
      {"turnpike_link_received_bytes", kCounter, "bytes",
       "Bytes of their datagrams with the link's overhead for each, as the capacity counts them."},
      {"turnpike_link_transmitted_packets", kCounter, "packets", "Packets sent on the link."},
      {"turnpike_link_transmitted_bytes", kCounter, "bytes",
       "Bytes of these packets as the capacity counts them: their rate divided by it is the "
       "utilisation."},
      {"turnpike_link_offered_bytes", kCounter, "bytes",
       "Bytes of packets for the link, dropped or not."},
      {"turnpike_link_stamped_packets", kCounter, "packets",
       "Packets whose congestion headers the law has written."},
      {"turnpike_link_queueing_delay_seconds", metrics::MetricType::kHistogram, "seconds",
       "Waiting time of packets in the link's queue."},
      {"turnpike_link_dropped_packets", kCounter, "packets",
       "Packets dropped, by reason; docs/telemetry.md says which link a reason counts at."},
      {"turnpike_link_law_value", kGauge, "",
       "A figure of the link's law besides the price, in the unit that the figure's name has."},

      {"turnpike_lcore_busy_seconds", kCounter, "seconds",
       "Time in polls that moved at least one packet."},
      {"turnpike_lcore_idle_seconds", kCounter, "seconds",
       "Time in polls that moved none, and in the sleeps after them."},
      {"turnpike_lcore_stalled_seconds", kCounter, "seconds",
       "Time in which the machine did not run the lcore, for 1 ms or longer at a time."},
      {"turnpike_lcore_stalls", kCounter, "stalls", "Number of these times."},
      {"turnpike_lcore_polls", kCounter, "polls",
       "Polls; a number that stands still is a stuck lcore."},
      {"turnpike_lcore_received_packets", kCounter, "packets", "Frames received by the lcore."},
      {"turnpike_lcore_timed_cycles", kCounter, "cycles",
       "TSC cycles by stage in timed polls, one poll in 255."},
      {"turnpike_lcore_timed_packets", kCounter, "packets", "Packets received in timed polls."},

      {"turnpike_port_up", kGauge, "", "Whether the link of the port is up."},
      {"turnpike_port_missed_packets", kCounter, "packets",
       "Packets for which the port had no free descriptor: the lcore was too slow."},
      {"turnpike_port_unbuffered_packets", kCounter, "packets",
       "Packets for which the packet pool had no buffer."},
      {"turnpike_port_receive_errors", kCounter, "errors", "Frames that the port found invalid."},
      {"turnpike_port_transmit_errors", kCounter, "errors",
       "Packets that the port failed to send."},
      {"turnpike_port_received_pause_frames", kCounter, "frames",
       "Pause frames (IEEE 802.3x) received; no sample if the driver does not count them."},
      {"turnpike_port_transmitted_pause_frames", kCounter, "frames",
       "Pause frames sent; no sample if the driver does not count them."},
      {"turnpike_port_extended_statistic", kGauge, "",
       "An extended statistic of the port's driver, by its name there; most of them are counters. "
       "512 of a port at most."},
      {"turnpike_port_unparked_packets", kCounter, "packets",
       "Packets of flows that moved to another lcore, while no more could be parked."},

      {"turnpike_netlink_messages", kCounter, "messages",
       "Notifications of the kernel about links, addresses, neighbours and routes that were read."},
      {"turnpike_netlink_malformed_messages", kCounter, "messages", "Those that were too short."},
      {"turnpike_netlink_overruns", kCounter, "overruns",
       "Times that the socket's buffer was full (ENOBUFS)."},
      {"turnpike_netlink_lost_messages", kCounter, "messages",
       "Notifications that the kernel dropped then."},
      {"turnpike_netlink_resynchronisations", kCounter, "resynchronisations",
       "Times that the whole state was read again, by reason."},
      {"turnpike_netlink_failed_dumps", kCounter, "dumps",
       "Dumps that the kernel refused or that stopped."},
      {"turnpike_netlink_last_resynchronisation_seconds", kGauge, "seconds",
       "Duration of the last resynchronisation."},
      {"turnpike_netlink_lag_seconds", kGauge, "seconds",
       "Time for which notifications or a resynchronisation have waited; 0: none does."},
      {"turnpike_netlink_receive_buffer_bytes", kGauge, "bytes",
       "The kernel's limit for waiting notifications."},
      {"turnpike_routes", kGauge, "", "Prefixes with a route, by IP version."},
      {"turnpike_routes_without_room", kGauge, "",
       "Prefixes that lookups do not find, because the tables are full."},
      {"turnpike_neighbours", kGauge, "",
       "Neighbours on the links that Linux knows, resolved or not."},
      {"turnpike_neighbour_requests", kCounter, "requests",
       "Neighbours that packets waited for: asked of the kernel, asked lately (recent), not asked "
       "because too many were (too_many) or the kernel refused (failed)."},
      {"turnpike_neighbour_waiting_packets", kGauge, "packets",
       "Packets that wait for a neighbour's MAC address."},
      {"turnpike_punt_packets", kCounter, "packets",
       "Packets for Linux, by class and result: punted to it, limited by the rate of the class, or "
       "dropped because the queue was full."},

      {"turnpike_customers_dropped_packets", kCounter, "packets",
       "Packets dropped over customers' budgets, of all customers, by cause."},
      {"turnpike_customers_limited", kGauge, "", "Customers with such drops since the start."},
      {"turnpike_customer_dropped_packets", kCounter, "packets",
       "Packets dropped over a customer's budget: the 20 customers with the most."},
      {"turnpike_customer_dropped_bytes", kCounter, "bytes", "Bytes of these packets."},
      {"turnpike_customer_budget_dollars_per_second", kGauge, "dollars_per_second",
       "Budget of the same customers."},
      {"turnpike_tunnel_offered_bytes", kCounter, "bytes",
       "Bytes that came for a customer's tunnels, without Ethernet headers: the 20 customers that "
       "spent most."},
      {"turnpike_tunnel_carried_bytes", kCounter, "bytes",
       "Bytes of these that left the queues for the core."},
      {"turnpike_tunnel_sent_packets", kCounter, "packets",
       "Packets that the gateway sent for the same customers."},
      {"turnpike_tunnel_sent_bytes", kCounter, "bytes",
       "Bytes of these packets, with the headers of tunnels."},
      {"turnpike_tunnel_spend_dollars", kCounter, "dollars",
       "Money that the same customers spent."},
      {"turnpike_tunnel_budget_dollars_per_second", kGauge, "dollars_per_second",
       "Budget of the same customers."},
      {"turnpike_tunnel_price_dollars_per_byte", kGauge, "dollars_per_byte",
       "Price that the core asked of such a customer last."},
      {"turnpike_tunnel_queueing_delay_seconds", metrics::MetricType::kHistogram, "seconds",
       "Waiting time of such a customer's packets in its queues."},
      {"turnpike_tunnel_dropped_packets", kCounter, "packets",
       "Packets dropped in the queues of the same customers."},
      {"turnpike_tunnel_marked_packets", kCounter, "packets",
       "Packets that these queues marked (ECN)."},
      {"turnpike_tunnel_lost_packets", kCounter, "packets",
       "Packets of the same customers' tunnels that the core lost."},
      {"turnpike_tunnel_limited", kGauge, "",
       "1 while packets of such a customer wait and its budget is spent."},
      {"turnpike_tunnel_at_ceiling", kGauge, "",
       "1 while packets of such a customer wait that only its ceiling holds back."},
      {"turnpike_tunnel_bypassed", kGauge, "",
       "1 while such a customer's packets are forwarded outside of tunnels."},
      {"turnpike_tunnel_customers", kGauge, "",
       "Customers for which the gateway has sent packets."},
      {"turnpike_gateway_peer_silent", kGauge, "",
       "1 while a peer of the gateway does not answer."},
      {"turnpike_gateway_refused_packets", kCounter, "packets",
       "Packets of tunnels that a gateway refused, by reason: bad, unknown_peer, wrong_token, and "
       "of sealed tunnels wrong_tag, unknown_key and unsealed."},
      {"turnpike_accounting_failures", kCounter, "failures",
       "Times that accounts were due and could not be written."},
      {"turnpike_offender_dropped_packets", kCounter, "packets",
       "Packets dropped of a sender that an audit has blocked: the 20 senders with the most. Their "
       "sum is the drop reason unpaid."},
      {"turnpike_offender_owed_ratio", kGauge, "ratio",
       "Share of its charges that such a sender did not pay."},
  });
}();

/// The entry of this name; a name that is not in the list does not compile.
consteval const metrics::Family& family(std::string_view name) {
  return *std::ranges::find(kFamilies, name, &metrics::Family::name);
}

}  // namespace turnpike::router
