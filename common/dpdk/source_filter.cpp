// SPDX-License-Identifier: BSD-3-Clause
#include "common/dpdk/source_filter.h"

#include <algorithm>
#include <cstring>

#include <rte_errno.h>
#include <rte_flow.h>

namespace turnpike {
namespace {

class PortFlowApi final : public FlowApi {
 public:
  explicit PortFlowApi(uint16_t port) : port_(port) {}

  int validate(const rte_flow_attr& attributes, const rte_flow_item* pattern,
               const rte_flow_action* actions, rte_flow_error& error) override {
    return rte_flow_validate(port_, &attributes, pattern, actions, &error);
  }
  rte_flow* create(const rte_flow_attr& attributes, const rte_flow_item* pattern,
                   const rte_flow_action* actions, rte_flow_error& error) override {
    return rte_flow_create(port_, &attributes, pattern, actions, &error);
  }
  int query(rte_flow& rule, const rte_flow_action& count, rte_flow_query_count& result) override {
    rte_flow_error error{};
    return rte_flow_query(port_, &rule, &count, &result, &error);
  }
  void destroy(rte_flow& rule) override {
    rte_flow_error error{};
    rte_flow_destroy(port_, &rule, &error);
  }

 private:
  uint16_t port_;
};

/// A mask of `length` bits over an address.
std::array<uint8_t, 16> mask_of(unsigned length) {
  std::array<uint8_t, 16> mask{};
  for (unsigned bit = 0; bit < length; ++bit)
    mask[bit / 8] = static_cast<uint8_t>(mask[bit / 8] | 0x80U >> bit % 8);
  return mask;
}

/// Pattern and actions of a rule, which point into this object.
struct RuleParts {
  explicit RuleParts(const SourcePrefix& prefix) {
    attributes.ingress = 1;
    const std::array<uint8_t, 16> mask = mask_of(prefix.length);
    if (prefix.ipv6) {
      std::memcpy(&ipv6.hdr.src_addr, prefix.address.data(), sizeof ipv6.hdr.src_addr);
      std::memcpy(&ipv6_mask.hdr.src_addr, mask.data(), sizeof ipv6.hdr.src_addr);
      pattern[1] = {RTE_FLOW_ITEM_TYPE_IPV6, &ipv6, nullptr, &ipv6_mask};
    } else {
      std::memcpy(&ipv4.hdr.src_addr, prefix.address.data(), sizeof ipv4.hdr.src_addr);
      std::memcpy(&ipv4_mask.hdr.src_addr, mask.data(), sizeof ipv4.hdr.src_addr);
      pattern[1] = {RTE_FLOW_ITEM_TYPE_IPV4, &ipv4, nullptr, &ipv4_mask};
    }
  }
  RuleParts(const RuleParts&) = delete;
  RuleParts& operator=(const RuleParts&) = delete;

  rte_flow_attr attributes{};
  rte_flow_item_ipv4 ipv4{}, ipv4_mask{};
  rte_flow_item_ipv6 ipv6{}, ipv6_mask{};
  std::array<rte_flow_item, 3> pattern{{{RTE_FLOW_ITEM_TYPE_ETH, nullptr, nullptr, nullptr},
                                        {},
                                        {RTE_FLOW_ITEM_TYPE_END, nullptr, nullptr, nullptr}}};
  rte_flow_action_count count{};
  std::array<rte_flow_action, 3> actions{{{RTE_FLOW_ACTION_TYPE_COUNT, &count},
                                          {RTE_FLOW_ACTION_TYPE_DROP, nullptr},
                                          {RTE_FLOW_ACTION_TYPE_END, nullptr}}};
};

void append(std::string& list, const char* item) {
  list += (list.empty() ? "" : ", ") + std::string(item);
}

std::string reason_of(const rte_flow_error& error, int code) {
  return error.message != nullptr ? error.message : rte_strerror(code);
}

}  // namespace

std::unique_ptr<FlowApi> flow_api_of(uint16_t port) { return std::make_unique<PortFlowApi>(port); }

SourceFilter::SourceFilter(std::unique_ptr<FlowApi> api, std::span<const SourcePrefix> prefixes)
    : api_(std::move(api)) {
  for (const SourcePrefix& prefix : prefixes) {
    const RuleParts parts(prefix);
    rte_flow_error error{};
    rte_flow* rule = nullptr;
    int code = -api_->validate(parts.attributes, parts.pattern.data(), parts.actions.data(), error);
    if (code == 0) {
      rule = api_->create(parts.attributes, parts.pattern.data(), parts.actions.data(), error);
      code = rte_errno;
    }
    if (rule != nullptr) {
      rules_.push_back({.flow = rule});
      append(filtered_, prefix.text);
      continue;
    }
    const std::string reason = reason_of(error, code);
    auto same = std::ranges::find(refused_, reason, &Refusal::reason);
    if (same == refused_.end()) same = refused_.insert(same, {.reason = reason, .prefixes = ""});
    append(same->prefixes, prefix.text);
  }
}

SourceFilter::~SourceFilter() {
  for (const Rule& rule : rules_) api_->destroy(*rule.flow);
}

uint64_t SourceFilter::dropped() {
  static constexpr rte_flow_action_count kCount{};
  static constexpr rte_flow_action kAction{RTE_FLOW_ACTION_TYPE_COUNT, &kCount};
  uint64_t sum = 0;
  for (Rule& rule : rules_) {
    rte_flow_query_count count{};
    if (api_->query(*rule.flow, kAction, count) == 0 && count.hits_set != 0)
      rule.dropped = std::max(rule.dropped, uint64_t{count.hits});
    sum += rule.dropped;
  }
  return sum;
}

}  // namespace turnpike
