// SPDX-License-Identifier: BSD-3-Clause
// A fixed-rate shaper as a fluid: a token bucket that drains a FIFO queue with tail drop.
#pragma once

namespace turnpike::ops {

struct ShaperSpec {
  double rate = 0;    // B/s, positive
  double buffer = 0;  // B that may wait
  double burst = 0;   // B, depth of the token bucket
};

/// The fate of the bytes of a span.
struct Shaped {
  double carried = 0, dropped = 0;  // B
  double limited = 0;               // s in which bytes waited
  double wait_p99 = 0;              // s: 99 % of the bytes that were let in waited at most so long
};

/// Exact for bytes that arrive evenly within each span. Bytes that came are carried, dropped, or
/// wait.
class Shaper {
 public:
  explicit Shaper(const ShaperSpec& spec) : spec_(spec), level_(-spec.burst) {}

  /// `offered` B arrive within the next `seconds`.
  Shaped pass(double offered, double seconds);

  /// B that wait.
  [[nodiscard]] double waiting() const { return level_ > 0 ? level_ : 0; }

 private:
  [[nodiscard]] double delay(double level) const { return level > 0 ? level / spec_.rate : 0; }

  ShaperSpec spec_;
  // B that wait, or below 0 the tokens in the bucket: tokens are there only while nothing waits.
  double level_;
};

}  // namespace turnpike::ops
