// SPDX-License-Identifier: BSD-3-Clause
// Drives the sender's law packet by packet, for its tests.
#pragma once

#include <array>
#include <initializer_list>
#include <utility>

#include <gtest/gtest.h>

#include "common/protocols/fcp/flow.h"
#include "tests/support/flow_under_test.h"

namespace turnpike::fcp::testing {

using Bytes20 = std::array<uint8_t, kHeaderSize>;
inline constexpr uint32_t kPacket = 1000, kSyn = 40;

inline Bytes20 echo_of_price(double price) {
  Bytes20 h;
  store({.rtt_ns = 20'000'000, .price = static_cast<float>(price)}, h.data());
  return h;
}

inline ParamValues with(std::initializer_list<std::pair<FlowParam, double>> changes) {
  ParamValues values(kFlowParams);
  for (const auto& [param, value] : changes) values[param] = value;
  return values;
}

/// A flow with a round trip of 20 ms and a budget of 1 $/s.
struct Sender {
  FlowUnderTest<Flow> law{ParamValues(kFlowParams)};
  FlowState state{.rtt = 20_ms, .smoothed_rtt = 20_ms, .packet_size = kPacket, .headroom = 1};

  void open(double price) {
    Bytes20 header;
    PacketNote note;
    law.write_syn(state, kSyn, header.data(), note);
    ASSERT_TRUE(law.on_syn_ack(state, note, echo_of_price(price).data()));
  }
  PacketNote send() {
    Bytes20 header;
    PacketNote note;
    law.write_data(state, kPacket, header.data(), note);
    last = load(header.data());
    return note;
  }
  Header last = {};
};

}  // namespace turnpike::fcp::testing
