// SPDX-License-Identifier: BSD-3-Clause
#include "router/telemetry/metrics.h"

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <utility>
#include <vector>

#include "router/telemetry/families.h"
#include "router/telemetry/largest.h"

namespace turnpike::router {
namespace {

using metrics::PrometheusText;

// s; from a packet at 10 Gbps to a full buffer of a slow link.
constexpr auto kDelays = std::to_array<double>(
    {1e-6, 1e-5, 1e-4, 2.5e-4, 5e-4, 1e-3, 2.5e-3, 5e-3, 1e-2, 2.5e-2, 5e-2, 0.1, 0.25, 1});

constexpr unsigned kFirstOctave = 4;  // of waits for tunnels: 256 us

// s; a change takes microseconds, workers that share a CPU milliseconds to be held.
constexpr auto kPauses =
    std::to_array<double>({5e-6, 1e-5, 2.5e-5, 5e-5, 1e-4, 2.5e-4, 1e-3, 1e-2, 0.1});

double price_of(const LinkSnapshot& link) {
  const auto price = std::ranges::find(link.gauges, "price", &Gauge::name);
  return price == link.gauges.end() ? 0 : price->value;
}

void add_process(PrometheusText& page, const Figures& f) {
  page.family(family("turnpike_build"));
  page.sample({{"version", f.build.version},
               {"commit", f.build.commit},
               {"dpdk", f.build.dpdk},
               {"router", f.node}},
              uint64_t{1});
  page.family(family("process_start_time_seconds"));
  page.sample({}, f.started);
  page.family(family("turnpike_update_timestamp_seconds"));
  page.sample({}, f.updated);
  page.family(family("turnpike_configuration_generation"));
  page.sample({}, f.generation);
  page.family(family("turnpike_configuration_changes"));
  page.sample({{"result", "applied"}}, f.changes.applied);
  page.sample({{"result", "refused"}}, f.changes.refused);
  page.sample({{"result", "reverted"}}, f.changes.reverted);
  page.family(family("turnpike_configuration_pause_seconds"));
  page.observations({}, f.changes.pauses, kPauses, 1e-9);
  page.family(family("turnpike_configuration_change_timestamp_seconds"));
  page.sample({}, f.changes.last);
  page.family(family("turnpike_configuration_unconfirmed"));
  page.sample({}, uint64_t{f.changes.unconfirmed});
  page.family(family("turnpike_configuration_history_entries"));
  page.sample({}, f.changes.kept);
  page.family(family("turnpike_metrics_requests"));
  page.sample({{"result", "served"}}, f.requests.served);
  page.sample({{"result", "refused"}}, f.requests.refused);
  page.sample({{"result", "cut"}}, f.requests.cut);
}

void add_totals(PrometheusText& page, const Snapshot& s) {
  page.family(family("turnpike_received_packets"));
  page.sample({}, s.received);
  page.family(family("turnpike_originated_packets"));
  page.sample({}, s.originated);
  page.family(family("turnpike_forwarded_packets"));
  page.sample({}, s.forwarded);
  page.family(family("turnpike_delivered_packets"));
  page.sample({}, s.delivered);
  page.family(family("turnpike_held_packets"));
  page.sample({}, s.held);
  page.family(family("turnpike_suppressed_icmp_errors"));
  page.sample({}, s.suppressed_errors);
}

void add_links(PrometheusText& page, const Figures& f) {
  const auto each = [&](const metrics::Family& family, const auto& value) {
    page.family(family);
    for (const LinkSnapshot& l : f.counters.links)
      page.sample({{"link", l.name}}, std::invoke(value, l));
  };
  each(family("turnpike_link_price_dollars_per_byte"), price_of);
  each(family("turnpike_link_capacity_bytes_per_second"),
       [](const LinkSnapshot& l) { return l.rate.count() / 8; });
  each(family("turnpike_link_buffer_bytes"),
       [](const LinkSnapshot& l) { return static_cast<double>(l.buffer.count()); });
  each(family("turnpike_link_queue_bytes"), &LinkSnapshot::queued_bytes);
  each(family("turnpike_link_queue_packets"), &LinkSnapshot::held_packets);
  each(family("turnpike_link_received_packets"), &LinkSnapshot::rx_packets);
  each(family("turnpike_link_received_bytes"), &LinkSnapshot::rx_bytes);
  each(family("turnpike_link_transmitted_packets"), &LinkSnapshot::tx_packets);
  each(family("turnpike_link_transmitted_bytes"), &LinkSnapshot::tx_bytes);
  each(family("turnpike_link_offered_bytes"), &LinkSnapshot::offered_bytes);
  each(family("turnpike_link_stamped_packets"), &LinkSnapshot::stamped);
  page.family(family("turnpike_link_queueing_delay_seconds"));
  for (size_t l = 0; l < f.waits.size(); ++l)
    page.observations({{"link", f.counters.links[l].name}}, f.waits[l], kDelays, 1e-9);
  page.family(family("turnpike_link_dropped_packets"));
  for (const LinkSnapshot& l : f.counters.links)
    for (size_t r = 0; r < kDropReasons; ++r)
      page.sample({{"link", l.name}, {"reason", kDropTexts[r].name}}, l.drops[r]);
  page.family(family("turnpike_link_law_value"));
  for (const LinkSnapshot& l : f.counters.links)
    for (const Gauge& g : l.gauges)
      if (g.name != "price") page.sample({{"link", l.name}, {"figure", g.name}}, g.value);
}

void add_lcores(PrometheusText& page, const Figures& f) {
  // Two workers may share a CPU.
  std::vector<std::string> workers, cpus;
  for (size_t w = 0; w < f.lcores.size(); ++w) {
    workers.push_back(std::to_string(w));
    cpus.push_back(std::to_string(f.lcores[w].lcore));
  }
  const auto each = [&](const metrics::Family& family, const auto& value) {
    page.family(family);
    for (size_t w = 0; w < f.lcores.size(); ++w)
      page.sample({{"worker", workers[w]}, {"lcore", cpus[w]}}, std::invoke(value, f.lcores[w]));
  };
  each(family("turnpike_lcore_busy_seconds"),
       [](const LcoreFigures& l) { return to_seconds(l.busy); });
  each(family("turnpike_lcore_idle_seconds"),
       [](const LcoreFigures& l) { return to_seconds(l.idle); });
  each(family("turnpike_lcore_stalled_seconds"),
       [](const LcoreFigures& l) { return to_seconds(l.stalled); });
  each(family("turnpike_lcore_stalls"), &LcoreFigures::stalls);
  page.family(family("turnpike_lcore_polls"));
  for (size_t w = 0; w < f.lcores.size(); ++w) {
    page.sample({{"worker", workers[w]}, {"lcore", cpus[w]}, {"kind", "busy"}},
                f.lcores[w].busy_polls);
    page.sample({{"worker", workers[w]}, {"lcore", cpus[w]}, {"kind", "idle"}},
                f.lcores[w].idle_polls);
  }
  page.family(family("turnpike_lcore_received_packets"));
  for (size_t w = 0; w < std::min(f.lcores.size(), f.counters.received_by.size()); ++w)
    page.sample({{"worker", workers[w]}, {"lcore", cpus[w]}}, f.counters.received_by[w]);
  page.family(family("turnpike_lcore_timed_cycles"));
  for (size_t w = 0; w < f.lcores.size(); ++w)
    for (size_t s = 0; s < kStages; ++s)
      page.sample({{"worker", workers[w]}, {"lcore", cpus[w]}, {"stage", kStageNames[s]}},
                  f.lcores[w].stage_cycles[s]);
  each(family("turnpike_lcore_timed_packets"), &LcoreFigures::timed_packets);
}

void add_ports(PrometheusText& page, const Figures& f) {
  const auto each = [&](const metrics::Family& family, const auto& value) {
    page.family(family);
    for (const PortFigures& p : f.ports)
      page.sample({{"link", p.link}, {"device", p.device}}, uint64_t{value(p)});
  };
  each(family("turnpike_port_up"), [](const PortFigures& p) { return p.up; });
  each(family("turnpike_port_missed_packets"),
       [](const PortFigures& p) { return p.stats.rx_missed; });
  each(family("turnpike_port_unbuffered_packets"),
       [](const PortFigures& p) { return p.stats.rx_no_mbuf; });
  each(family("turnpike_port_receive_errors"),
       [](const PortFigures& p) { return p.stats.rx_errors; });
  each(family("turnpike_port_transmit_errors"),
       [](const PortFigures& p) { return p.stats.tx_errors; });
  const auto pauses = [&](const metrics::Family& family, auto direction) {
    page.family(family);
    for (const PortFigures& p : f.ports)
      if (const auto frames = pause_frames(p.extended).*direction)
        page.sample({{"link", p.link}, {"device", p.device}}, *frames);
  };
  pauses(family("turnpike_port_received_pause_frames"), &PauseFrames::received);
  pauses(family("turnpike_port_transmitted_pause_frames"), &PauseFrames::sent);
  page.family(family("turnpike_port_extended_statistic"));
  for (const PortFigures& p : f.ports)
    for (const ExtendedStat& e : p.extended)
      page.sample({{"link", p.link}, {"device", p.device}, {"name", e.name}}, e.value);
  each(family("turnpike_port_unparked_packets"),
       [](const PortFigures& p) { return p.stats.rx_unparked; });
}

/// Without Linux as control plane, the families have no samples.
void add_linux(PrometheusText& page, const Figures& f) {
  const NetlinkFigures n = f.netlink.value_or(NetlinkFigures());
  const auto sample = [&](metrics::Labels labels, auto value) {
    if (f.netlink) page.sample(labels, value);
  };
  const auto single = [&](const metrics::Family& family, auto value) {
    page.family(family);
    sample({}, value);
  };
  single(family("turnpike_netlink_messages"), n.messages);
  single(family("turnpike_netlink_malformed_messages"), n.malformed);
  single(family("turnpike_netlink_overruns"), n.overruns);
  single(family("turnpike_netlink_lost_messages"), n.lost);
  page.family(family("turnpike_netlink_resynchronisations"));
  for (const auto& [reason, count] : n.resyncs) sample({{"reason", reason}}, count);
  single(family("turnpike_netlink_failed_dumps"), n.failed_dumps);
  single(family("turnpike_netlink_last_resynchronisation_seconds"), to_seconds(n.last_resync));
  single(family("turnpike_netlink_lag_seconds"), to_seconds(n.lag));
  single(family("turnpike_netlink_receive_buffer_bytes"), n.receive_buffer);
  page.family(family("turnpike_routes"));
  sample({{"version", "ipv4"}}, n.ipv4_routes);
  sample({{"version", "ipv6"}}, n.ipv6_routes);
  single(family("turnpike_routes_without_room"), n.no_room);
  page.family(family("turnpike_neighbours"));
  sample({{"state", "resolved"}}, n.neighbours);
  sample({{"state", "unresolved"}}, n.unresolved);
  page.family(family("turnpike_neighbour_requests"));
  sample({{"result", "asked"}}, n.asked);
  sample({{"result", "recent"}}, n.repeated);
  sample({{"result", "too_many"}}, n.too_many);
  sample({{"result", "failed"}}, n.failed);
  const PuntSnapshot punt = f.counters.punt.value_or(PuntSnapshot());
  single(family("turnpike_neighbour_waiting_packets"), punt.waiting);
  page.family(family("turnpike_punt_packets"));
  for (size_t k = 0; k < config::kPuntClasses; ++k) {
    const std::string_view name = config::kPuntClassNames[k];
    sample({{"class", name}, {"result", "punted"}}, punt.punted[k]);
    sample({{"class", name}, {"result", "limited"}}, punt.limited[k]);
    sample({{"class", name}, {"result", "dropped"}}, punt.dropped[k]);
  }
}

void add_customers(PrometheusText& page, const Figures& f) {
  page.family(family("turnpike_customers_dropped_packets"));
  for (size_t r = 0; r < kRefusals; ++r) {
    uint64_t n = 0;
    for (const CustomerSnapshot& c : f.customers) n += c.packets[r];
    page.sample({{"cause", kRefusalNames[r]}}, n);
  }
  page.family(family("turnpike_customers_limited"));
  page.sample({}, uint64_t{f.customers.size()});
  const auto named = largest(f.customers, &CustomerSnapshot::dropped);
  const auto each = [&](const metrics::Family& family, const auto& value) {
    page.family(family);
    for (const CustomerSnapshot* c : named)
      page.sample({{"customer", c->name}}, std::invoke(value, *c));
  };
  each(family("turnpike_customer_dropped_packets"), &CustomerSnapshot::dropped);
  each(family("turnpike_customer_dropped_bytes"), &CustomerSnapshot::bytes);
  each(family("turnpike_customer_budget_dollars_per_second"),
       [](const CustomerSnapshot& c) { return c.budget.count(); });
}

void add_tunnels(PrometheusText& page, const Figures& f) {
  std::vector<Account> active;
  std::ranges::copy_if(f.accounts, std::back_inserter(active), has_sent);
  const auto named = largest(active, &Account::spend);
  const auto each = [&](const metrics::Family& family, const auto& value) {
    page.family(family);
    for (const Account* a : named)
      page.sample({{"customer", std::string(a->customer)}}, std::invoke(value, *a));
  };
  each(family("turnpike_tunnel_offered_bytes"), &Account::offered_bytes);
  each(family("turnpike_tunnel_carried_bytes"), &Account::carried_bytes);
  each(family("turnpike_tunnel_sent_packets"), &Account::packets);
  each(family("turnpike_tunnel_sent_bytes"), &Account::bytes);
  each(family("turnpike_tunnel_spend_dollars"), &Account::spend);
  each(family("turnpike_tunnel_budget_dollars_per_second"), &Account::budget);
  each(family("turnpike_tunnel_price_dollars_per_byte"), &Account::price);
  page.family(family("turnpike_tunnel_queueing_delay_seconds"));
  for (const Account* a : named)
    if (a->waits != nullptr)
      page.octaves({{"customer", std::string(a->customer)}}, a->waits->read(), kFirstOctave, 1e9);
  each(family("turnpike_tunnel_dropped_packets"), &Account::dropped);
  each(family("turnpike_tunnel_marked_packets"), &Account::marked);
  each(family("turnpike_tunnel_lost_packets"), &Account::lost);
  each(family("turnpike_tunnel_limited"), [](const Account& a) { return uint64_t{a.limited}; });
  each(family("turnpike_tunnel_at_ceiling"),
       [](const Account& a) { return uint64_t{a.at_ceiling}; });
  each(family("turnpike_tunnel_bypassed"), [](const Account& a) { return uint64_t{a.bypassed}; });
  page.family(family("turnpike_tunnel_customers"));
  page.sample({}, uint64_t{active.size()});
  page.family(family("turnpike_gateway_peer_silent"));
  for (const PeerFigures& p : f.peers) page.sample({{"peer", p.name}}, uint64_t{p.silent});
  page.family(family("turnpike_gateway_refused_packets"));
  if (f.gateway) {
    const GatewayFigures& g = *f.gateway;
    for (const auto& [reason, packets] :
         std::initializer_list<std::pair<const char*, uint64_t>>{{"bad", g.bad},
                                                                 {"unknown_peer", g.unknown_peers},
                                                                 {"wrong_token", g.wrong_tokens},
                                                                 {"wrong_tag", g.wrong_tags},
                                                                 {"unknown_key", g.unknown_keys},
                                                                 {"unsealed", g.unsealed}})
      page.sample({{"reason", reason}}, packets);
  }
  page.family(family("turnpike_accounting_failures"));
  page.sample({}, f.account_failures);
}

void add_offenders(PrometheusText& page, const Figures& f) {
  const auto named = largest(f.offenders, &OffenderSnapshot::dropped);
  page.family(family("turnpike_offender_dropped_packets"));
  for (const OffenderSnapshot* o : named)
    page.sample({{"link", o->link}, {"source", o->source}}, o->dropped);
  page.family(family("turnpike_offender_owed_ratio"));
  for (const OffenderSnapshot* o : named)
    page.sample({{"link", o->link}, {"source", o->source}}, o->owed);
}

}  // namespace

std::string metrics_page(const Figures& figures, metrics::TextFormat format) {
  PrometheusText page(format);
  add_process(page, figures);
  add_totals(page, figures.counters);
  add_links(page, figures);
  add_lcores(page, figures);
  add_ports(page, figures);
  add_linux(page, figures);
  add_customers(page, figures);
  add_tunnels(page, figures);
  add_offenders(page, figures);
  return page.finish();
}

}  // namespace turnpike::router
