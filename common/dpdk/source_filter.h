// SPDX-License-Identifier: BSD-3-Clause
// Lets a NIC drop packets by their source address, and count them (rte_flow).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

struct rte_flow;
struct rte_flow_action;
struct rte_flow_attr;
struct rte_flow_error;
struct rte_flow_item;
struct rte_flow_query_count;

namespace turnpike {

/// The addresses of a prefix; IPv4's are in the first four bytes.
struct SourcePrefix {
  bool ipv6 = false;
  std::array<uint8_t, 16> address{};
  unsigned length = 0;
  const char* text = "";  // "127.0.0.0/8"
};

/// The functions of rte_flow that a filter calls, for one port. A test has its own NIC behind them.
class FlowApi {
 public:
  virtual ~FlowApi() = default;
  /// Returns 0, or a negative errno value.
  virtual int validate(const rte_flow_attr& attributes, const rte_flow_item* pattern,
                       const rte_flow_action* actions, rte_flow_error& error) = 0;
  /// Returns null after an error.
  virtual rte_flow* create(const rte_flow_attr& attributes, const rte_flow_item* pattern,
                           const rte_flow_action* actions, rte_flow_error& error) = 0;
  /// `count`: the rule's action. Returns 0, or a negative errno value.
  virtual int query(rte_flow& rule, const rte_flow_action& count, rte_flow_query_count& result) = 0;
  virtual void destroy(rte_flow& rule) = 0;
};

/// The rte_flow of a started port.
std::unique_ptr<FlowApi> flow_api_of(uint16_t port);

/// Rules of one port. Control thread.
class SourceFilter {
 public:
  /// Makes a rule for each prefix that the driver takes: packets from there are dropped and
  /// counted. A driver that does not count gets no rule, so that nothing is dropped without a
  /// count. The port must be started, and stay so until the destructor.
  SourceFilter(std::unique_ptr<FlowApi> api, std::span<const SourcePrefix> prefixes);
  SourceFilter(SourceFilter&&) noexcept = default;
  SourceFilter& operator=(SourceFilter&&) = delete;
  /// Removes the rules.
  ~SourceFilter();

  /// Packets that the NIC has dropped since the constructor. Of a rule whose count the driver does
  /// not give this time, it has the last one.
  uint64_t dropped();

  /// The prefixes with a rule, such as "127.0.0.0/8, ::1/128"; empty: none has.
  [[nodiscard]] const std::string& filtered() const { return filtered_; }
  /// Prefixes without a rule, by the driver's reason.
  struct Refusal {
    std::string reason, prefixes;
  };
  [[nodiscard]] const std::vector<Refusal>& refused() const { return refused_; }

 private:
  struct Rule {
    rte_flow* flow = nullptr;
    uint64_t dropped = 0;  // at the last query
  };
  std::unique_ptr<FlowApi> api_;
  std::vector<Rule> rules_;
  std::string filtered_;
  std::vector<Refusal> refused_;
};

}  // namespace turnpike
