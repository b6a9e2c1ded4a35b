// SPDX-License-Identifier: BSD-3-Clause
#include "router/program/capture_session.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "router/program/probe_request.h"

namespace turnpike::router {
namespace {

constexpr size_t kBatch = 256;                  // packets in one part
constexpr size_t kRingBytes = size_t{8} << 20;  // per worker

std::string hex(const uint8_t* bytes, size_t n) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out(2 * n, '0');
  for (size_t i = 0; i < n; ++i) {
    out[2 * i] = kDigits[bytes[i] >> 4];
    out[2 * i + 1] = kDigits[bytes[i] & 15U];
  }
  return out;
}

}  // namespace

tl::expected<std::unique_ptr<ProbeSession>, Failure> CaptureSession::make(
    const std::shared_ptr<Call>& call, const ProbedRouter& on) {
  const Json& request = call->request();
  const auto link = link_of(request, on);
  const auto snap = number_of(request, "snap", 128, 14, Mirror::kMaxSnap);
  const auto sample = number_of(request, "sample", 1, 1, 1e9);
  const auto share = number_of(request, "share", 0.05, 0.0001, 0.5);
  const auto count = number_of(request, "packets", 0, 0, 1e15);
  for (const auto* value : {&snap, &sample, &share, &count})
    if (!*value) return tl::unexpected(value->error());
  auto filter = filter_of(request);
  if (!link) return tl::unexpected(link.error());
  if (!filter) return tl::unexpected(filter.error());
  std::unique_ptr<CaptureSession> s(new CaptureSession(call, on));
  s->filter_ = std::move(*filter);
  s->wanted_ = static_cast<uint64_t>(*count);
  Mirror::Options options{.received = flag_of(request, "rx", true),
                          .sent = flag_of(request, "tx", true),
                          .dropped = flag_of(request, "drops", false),
                          .link = *link,
                          .filter = s->filter_.size() > 0 ? &s->filter_ : nullptr,
                          .sample = static_cast<uint32_t>(*sample),
                          .snap = static_cast<uint16_t>(*snap),
                          .share = *share,
                          .links = on.self().links.size()};
  options.slots = static_cast<uint32_t>(kRingBytes / (sizeof(MirrorRecord) + options.snap));
  for (unsigned w = 0; w < on.engine.router().workers(); ++w) {
    options.seed = static_cast<uint64_t>(on.clock.now().count()) + w;
    s->mirrors_.push_back(std::make_unique<Mirror>(options));
  }
  call->part({{"links", s->links()}, {"snap", options.snap}});
  return s;
}

Json CaptureSession::links() const {
  const config::Router& self = on_.self();
  Json rows = Json::array();
  for (size_t l = 0; l < self.links.size(); ++l) {
    const config::Link& link = on_.link(l);
    rows.push_back({{"link", link.name},
                    {"description", link.ends[0].node + " - " + link.ends[1].node + ", port " +
                                        on_.engine.port_name(l)},
                    {"rate_bps", link.directions[link.end_at(self.name)].rate.count()}});
  }
  return rows;
}

Json CaptureSession::counts() const {
  Json rows = Json::array();
  const size_t n = on_.self().links.size();
  for (size_t l = 0; l < n; ++l) {
    uint64_t copied = 0, full = 0, spent = 0;
    for (const auto& mirror : mirrors_) {
      copied += mirror->counts()[l].copied.read();
      full += mirror->counts()[l].full.read();
      spent += mirror->counts()[l].spent.read();
    }
    rows.push_back({{"copied", copied}, {"ring_full", full}, {"over_share", spent}});
  }
  return rows;
}

void CaptureSession::drain(Nanos now) {
  while (call->open() && call->backlog() <= kMaxUnread) {
    std::vector<std::pair<int64_t, Json>> batch;
    for (const auto& mirror : mirrors_) {
      size_t n = 0;
      for (const MirrorRecord* r = mirror->front(); r != nullptr && n < kBatch;
           r = mirror->front(), ++n) {
        Json packet = Json::array(
            {r->time.count() + on_.unix_offset, r->link, static_cast<int>(r->where), r->length,
             r->reason == DropReason::kNone ? Json(nullptr) : Json(name_of(r->reason)),
             hex(reinterpret_cast<const uint8_t*>(r + 1), r->present)});
        batch.emplace_back(r->time.count(), std::move(packet));
        mirror->pop();
      }
    }
    if (batch.empty() && now - said < kHeartbeat) return;
    std::ranges::stable_sort(batch, {}, &std::pair<int64_t, Json>::first);
    Json packets = Json::array();
    for (auto& [time, packet] : batch)
      if (wanted_ == 0 || sent_ < wanted_) {
        packets.push_back(std::move(packet));
        ++sent_;
      }
    call->part({{"packets", std::move(packets)}, {"counts", counts()}});
    said = now;
    if (wanted_ != 0 && sent_ == wanted_)
      return call->result({{"packets", sent_}, {"counts", counts()}});
    if (batch.empty()) return;
  }
}

}  // namespace turnpike::router
