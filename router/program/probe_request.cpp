// SPDX-License-Identifier: BSD-3-Clause
#include "router/program/probe_request.h"

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/config/mistakes.h"
#include "common/units/printable.h"

namespace turnpike::router {

tl::expected<double, Failure> number_of(const Json& request, const char* key, double fallback,
                                        double least, double most) {
  const auto at = request.find(key);
  if (at == request.end()) return fallback;
  const double v = at->is_number() ? at->get<double>() : least - 1;
  if (v >= least && v <= most) return v;
  return tl::unexpected(Failure{"bad_value", std::string(key) + " must be between " +
                                                 Json(least).dump() + " and " + Json(most).dump()});
}

bool flag_of(const Json& request, const char* key, bool fallback) {
  const auto at = request.find(key);
  return at != request.end() && at->is_boolean() ? at->get<bool>() : fallback;
}

tl::expected<PacketFilter, Failure> filter_of(const Json& request) {
  const Failure bad{"bad_filter",
                    "\"filter\" must be a list of BPF instructions [code, jt, jf, k]"};
  const auto at = request.find("filter");
  if (at == request.end()) return PacketFilter();
  if (!at->is_array() || at->size() > PacketFilter::kMaxSize) return tl::unexpected(bad);
  std::vector<bpf_insn> program;
  for (const Json& step : *at) {
    if (!step.is_array() || step.size() != 4) return tl::unexpected(bad);
    constexpr std::array<uint64_t, 4> kMax{UINT16_MAX, UINT8_MAX, UINT8_MAX, UINT32_MAX};
    std::array<uint64_t, 4> v{};
    for (size_t i = 0; i < 4; ++i) {
      if (!step[i].is_number_unsigned() || step[i].get<uint64_t>() > kMax[i])
        return tl::unexpected(bad);
      v[i] = step[i].get<uint64_t>();
    }
    program.push_back({static_cast<u_short>(v[0]), static_cast<u_char>(v[1]),
                       static_cast<u_char>(v[2]), static_cast<bpf_u_int32>(v[3])});
  }
  auto made = PacketFilter::make(std::move(program));
  if (!made) return tl::unexpected(Failure{"bad_filter", made.error()});
  return std::move(*made);
}

tl::expected<std::optional<unsigned>, Failure> link_of(const Json& request,
                                                       const ProbedRouter& on) {
  const auto at = request.find("link");
  if (at == request.end()) return std::optional<unsigned>();
  const std::string name = at->is_string() ? at->get<std::string>() : "";
  const auto& self = on.self();
  std::vector<std::string_view> known;
  for (unsigned l = 0; l < self.links.size(); ++l) {
    known.emplace_back(on.link(l).name);
    if (known.back() == name) return std::optional<unsigned>(l);
  }
  return tl::unexpected(Failure{"unknown_link", "the router has no link '" + printable(name, 60) +
                                                    "'" + config::suggestion(name, known)});
}

}  // namespace turnpike::router
