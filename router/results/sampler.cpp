// SPDX-License-Identifier: BSD-3-Clause
#include "router/results/sampler.h"

#include <nlohmann/json.hpp>

namespace turnpike::router {

Sample Sampler::take(const Snapshot& now, Nanos at) {
  const double span = to_seconds(at - last_);
  sent_.resize(now.links.size());
  offered_.resize(now.links.size());
  Sample s{.t = to_seconds(at), .unix_s = unix_s_ + to_seconds(at), .links = {}};
  for (size_t l = 0; l < now.links.size(); ++l) {
    const LinkSnapshot& link = now.links[l];
    const double bits = 8 * static_cast<double>(link.tx_bytes - sent_[l]);
    const double rate = span > 0 ? bits / span : 0;
    LinkSample& out = s.links.emplace_back();
    out.name = link.name;
    out.queue_bytes = link.queued_bytes;
    out.queue_delay_ms = 8e3 * static_cast<double>(link.queued_bytes) / link.rate.count();
    out.utilization = rate / link.rate.count();
    out.tx_mbps = rate * 1e-6;
    out.drops = link.egress_drops();
    for (const Gauge& g : link.gauges) {
      if (g.name == "price") {
        out.price = g.value;
      } else {
        out.gauges.push_back(g);
      }
    }
    const double offered = 8 * static_cast<double>(link.offered_bytes - offered_[l]);
    out.input = span > 0 ? offered / span / link.rate.count() : 0;
    sent_[l] = link.tx_bytes;
    offered_[l] = link.offered_bytes;
  }
  last_ = at;
  return s;
}

std::string json_text(const Sample& sample, const std::string& node) {
  nlohmann::ordered_json links = nlohmann::ordered_json::object();
  for (const LinkSample& l : sample.links) {
    nlohmann::ordered_json& j = links[l.name];
    j = {{"price", l.price},
         {"queue_bytes", l.queue_bytes},
         {"queue_delay_ms", l.queue_delay_ms},
         {"utilization", l.utilization},
         {"tx_mbps", l.tx_mbps},
         {"drops", l.drops}};
    for (const Gauge& g : l.gauges) j[std::string(g.name)] = g.value;
  }
  const nlohmann::ordered_json line{{"t", sample.t},
                                    {"node", node},
                                    {"stalled_ms", sample.stalled_ms},
                                    {"links", std::move(links)}};
  return line.dump();
}

report::LiveView view_of(const Sample& sample, const std::string& node) {
  report::LiveView view{.t = sample.t, .node = node, .hosts = {}, .links = {}};
  for (const LinkSample& l : sample.links)
    view.links.push_back({.name = l.name,
                          .price = l.price,
                          .queue_bytes = static_cast<double>(l.queue_bytes),
                          .queue_delay_ms = l.queue_delay_ms,
                          .utilization = l.utilization,
                          .tx_mbps = l.tx_mbps,
                          .drops = l.drops});
  return view;
}

}  // namespace turnpike::router
