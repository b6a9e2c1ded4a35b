// SPDX-License-Identifier: BSD-3-Clause
// Converts buffers in BDP to bytes.
#include <algorithm>
#include <cmath>

#include "common/config/draft.h"
#include "common/units/text.h"

namespace turnpike::config {
namespace {

// Bounds of the default buffer, one bandwidth-delay product: a few dozen packets at least, a
// switch's usual buffer at most.
constexpr Bytes kMinDefault{64'000}, kMaxDefault{16'000'000};
constexpr double kMaxBytes = 64e9;

}  // namespace

void place_buffers(Draft& d) {
  for (size_t i = 0; i < d.topology.links.size(); ++i) {
    const LinkSpec& spec = d.link_spec(i);
    Link& link = d.topology.links[i];
    for (size_t e = 0; e < 2; ++e) {
      Direction& out = link.directions[e];
      const DirectionSpec& own = (e == 0 ? spec.forward : spec.reverse).value;
      const bool overridden = own.buffer.given;
      const Field<BufferSpec>& buffer = overridden ? own.buffer : spec.buffer;
      if (buffer.wrong) continue;
      const Nanos flows = d.round_trips[i][e];
      const Nanos round =
          flows.count() > 0 ? flows : link.directions[0].delay + link.directions[1].delay;
      const double bdp = bytes_per_second(out.rate) * to_seconds(round);
      const auto bytes = [&](double times) {
        return Bytes(static_cast<int64_t>(std::min(std::round(bdp * times), kMaxBytes)));
      };
      const Bytes packet = Bytes(link.mtu) + out.overhead;
      if (!buffer.given)
        out.buffer = std::clamp(bytes(1), std::max(kMinDefault, packet), kMaxDefault);
      else
        out.buffer = buffer.value.bdp ? bytes(*buffer.value.bdp) : buffer.value.bytes;
      const auto& rate = own.rate.given ? own.rate : spec.rate;
      const auto& delay = own.delay.given ? own.delay : spec.delay;
      if (!buffer.given || rate.wrong || !rate.given || delay.wrong || out.buffer >= packet)
        continue;
      const std::string path = d.link_path(i) +
                               (!overridden ? ""
                                : e == 0    ? ".forward"
                                            : ".reverse") +
                               ".buffer";
      std::string message = to_text(out.buffer) + " cannot hold one packet of " + to_text(packet);
      if (buffer.value.bdp)
        message = "at a round trip of " + to_text(round) + " this is " + to_text(out.buffer) +
                  ", which cannot hold one packet: write bytes";
      d.mistakes.add(buffer.at, path, message);
    }
  }
}

}  // namespace turnpike::config
