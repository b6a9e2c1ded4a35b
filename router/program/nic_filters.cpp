// SPDX-License-Identifier: BSD-3-Clause
#include "router/program/nic_filters.h"

#include <algorithm>

#include "router/control/martian_sources.h"

namespace turnpike::router {

void NicFilters::install(std::span<const Port> ports, bool linux_control) {
  filters_.resize(ports.size());
  for (size_t l = 0; l < ports.size(); ++l)
    if (ports[l].physical())
      filters_[l].emplace(flow_api_of(ports[l].id()), martian_sources(linux_control));
}

void NicFilters::count(Router& router, std::span<const size_t> links) {
  for (size_t p = 0; p < filters_.size(); ++p)
    if (filters_[p]) router.set_nic_drops(links[p], filters_[p]->dropped());
}

std::vector<std::string> NicFilters::texts(std::span<const Port> ports,
                                           std::span<const std::string> links) const {
  std::vector<std::string> texts;
  if (std::ranges::none_of(filters_, [](const auto& f) { return f.has_value(); }))
    texts.emplace_back("nic_filters: on has no effect: no port of this router is a NIC");
  for (size_t l = 0; l < filters_.size(); ++l) {
    if (!filters_[l]) continue;
    const std::string nic = "link " + links[l] + ": " + ports[l].name();
    if (const std::string& all = filters_[l]->filtered(); !all.empty())
      texts.push_back((nic + " drops and counts packets from ").append(all));
    for (const SourceFilter::Refusal& r : filters_[l]->refused())
      texts.push_back(nic + " takes no rule for packets from " + r.prefixes + " (" + r.reason +
                      "): the router drops them itself");
  }
  return texts;
}

}  // namespace turnpike::router
