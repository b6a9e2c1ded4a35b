// SPDX-License-Identifier: BSD-3-Clause
#include "router/program/flow_session.h"

#include <algorithm>
#include <string>
#include <utility>

#include "common/config/address.h"
#include "router/linux/route_value.h"
#include "router/program/probe_request.h"

namespace turnpike::router {
namespace {

constexpr uint16_t kSnap = 128;   // B: a frame's headers
constexpr double kMaxLease = 60;  // s

std::string protocol_name(uint8_t number) {
  if (number == 6) return "tcp";
  if (number == 17) return "udp";
  return std::to_string(number);
}

std::string with_port(const Address& address, uint16_t port) {
  std::string text = to_text(address);
  if (port == 0) return text;
  return std::holds_alternative<config::Ipv4>(address) ? text + ":" + std::to_string(port)
                                                       : "[" + text + "]:" + std::to_string(port);
}

}  // namespace

FlowSession::FlowSession(const ProbedRouter& on)
    : on_(on), links_(on.self().links.size()), now_(on.clock.now()), begin_(now_) {
  Mirror::Options options{.received = false,
                          .sent = true,
                          .sample = kSample,
                          .snap = kSnap,
                          .share = kShare,
                          .links = links_.size()};
  for (unsigned w = 0; w < on.engine.router().workers(); ++w) {
    options.seed = static_cast<uint64_t>(now_.count()) + w;
    mirrors_.push_back(std::make_unique<Mirror>(options));
  }
}

void FlowSession::drain(Nanos now) {
  now_ = now;
  read_prices();
  for (const auto& mirror : mirrors_)
    for (const MirrorRecord* r = mirror->front(); r != nullptr; r = mirror->front()) {
      count(*r);
      mirror->pop();
    }
  if (now - begin_ >= kWindow) turn(now);
}

void FlowSession::read_prices() {
  const Snapshot snapshot = on_.engine.router().snapshot();
  for (size_t l = 0; l < links_.size(); ++l) {
    const auto& gauges = snapshot.links[l].gauges;
    const auto price = std::ranges::find(gauges, "price", &Gauge::name);
    links_[l].price = price == gauges.end() ? 0 : price->value;
  }
}

void FlowSession::count(const MirrorRecord& r) {
  const auto* frame = reinterpret_cast<const uint8_t*>(&r + 1);
  const auto flow = flow_of({frame, r.present}, on_.topology.run.udp_port);
  if (!flow) return;
  LinkFlows& link = links_[r.link];
  const double bytes = kSample * static_cast<double>(r.length);
  link.now.add(flow->key, {.packets = kSample,
                           .bytes = bytes,
                           .spend = flow->pays ? bytes * link.price : 0,
                           .port = r.port});
}

// Packets that the sample chose and no mirror copied are assumed to be as the others of their link.
void FlowSession::turn(Nanos now) {
  for (size_t l = 0; l < links_.size(); ++l) {
    LinkFlows& link = links_[l];
    uint64_t copied = 0, missing = 0;
    for (const auto& mirror : mirrors_) {
      const Mirror::Counts& c = mirror->counts()[l];
      copied += c.copied.read();
      missing += c.full.read() + c.spent.read();
    }
    const auto seen = static_cast<double>(copied - link.copied);
    const auto lost = static_cast<double>(missing - link.missing);
    link.scale = seen > 0 ? (seen + lost) / seen : 1;
    link.copied = copied;
    link.missing = missing;
    std::swap(link.now, link.last);
    link.now.clear();
  }
  length_ = now - begin_;
  begin_ = now;
}

Json FlowSession::row(size_t l, const FlowCount& f) const {
  const LinkFlows& link = links_[l];
  const double per_s = link.scale / to_seconds(length_);
  const std::string customer =
      on_.engine.router().customer_of(f.key.source, on_.engine.link_of_port(f.port));
  Json row{{"link", on_.link(l).name},
           {"customer", customer.empty() ? Json(nullptr) : Json(customer)},
           {"source", with_port(f.key.source, f.key.source_port)},
           {"destination", with_port(f.key.destination, f.key.destination_port)},
           {"protocol", protocol_name(f.key.protocol)},
           {"rate_bps", 8 * f.bytes * per_s},
           {"pps", f.packets * per_s},
           {"price", f.bytes > 0 ? f.spend / f.bytes : 0},
           {"spend", f.spend * per_s},
           {"uncounted_bps", 8 * f.before * per_s}};
  return row;
}

tl::expected<Json, Failure> FlowSession::answer(const Json& request, Nanos now) {
  const auto only = link_of(request, on_);
  const auto limit = number_of(request, "limit", 20, 1, kFlows);
  const auto lease = number_of(request, "for_s", 5, 1, kMaxLease);
  if (!only) return tl::unexpected(only.error());
  if (!limit) return tl::unexpected(limit.error());
  if (!lease) return tl::unexpected(lease.error());
  now_ = now;
  due_ = std::max(due_, now + from_seconds(*lease));
  Json out{{"window_s", to_seconds(length_)}, {"sample", kSample}, {"flows", nullptr}};
  if (length_ == Nanos(0)) return out;
  std::vector<std::pair<size_t, const FlowCount*>> order;
  for (size_t l = 0; l < links_.size(); ++l) {
    if (*only && **only != l) continue;
    for (const FlowCount& f : links_[l].last.flows()) order.emplace_back(l, &f);
  }
  const auto figure = [this](const auto& at) {
    const auto& [l, flow] = at;
    return std::pair(flow->spend * links_[l].scale, flow->bytes * links_[l].scale);
  };
  const size_t n = std::min(order.size(), static_cast<size_t>(*limit));
  std::ranges::partial_sort(order, order.begin() + static_cast<std::ptrdiff_t>(n),
                            std::ranges::greater{}, figure);
  Json rows = Json::array();
  for (size_t i = 0; i < n; ++i) rows.push_back(row(order[i].first, *order[i].second));
  out["flows"] = std::move(rows);
  out["all"] = order.size();
  return out;
}

}  // namespace turnpike::router
