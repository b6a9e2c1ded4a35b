// SPDX-License-Identifier: BSD-3-Clause
// A sender needs a place for the outcomes of flows; many tests check other results.
#pragma once

#include "sender/observed.h"

namespace turnpike::testing {

class IgnoredOutcomes final : public sender::OutcomeSink {
  void flow_ended(const sender::FlowOutcome& /*outcome*/) override {}
};

}  // namespace turnpike::testing
