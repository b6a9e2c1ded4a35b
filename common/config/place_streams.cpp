// SPDX-License-Identifier: BSD-3-Clause
// Open-loop streams: hosts, rate, and frame sizes that fit the path.
#include <algorithm>
#include <array>

#include "common/config/describe.h"
#include "common/config/draft.h"
#include "common/config/pairs.h"
#include "common/units/text.h"

namespace turnpike::config {
namespace {

constexpr size_t kMaxSizes = 1024;
constexpr Bytes kMinIpv6Frame{84};  // Ethernet, IPv6, UDP, a probe of 18 B, FCS

// Simple IMIX, 7 : 4 : 1, with no two large frames next to each other.
constexpr std::array kImix{64, 594, 64, 64, 594, 64, 1518, 64, 594, 64, 64, 594};

class Streams {
 public:
  explicit Streams(Draft& draft) : d_(draft), pairs_(draft) {}

  void place(const Named<StreamSpec>& named) {
    const StreamSpec& spec = named.value;
    path_ = "traffic.streams." + named.name;
    Stream out{.name = named.name,
               .ip_version = spec.ip_version.value.number,
               .start = spec.start.value,
               .stop = spec.stop.given ? spec.stop.value : kNever,
               .rate = rate_of(spec.rate.value),
               .dscp = spec.dscp.value,
               .flows = spec.flows.value,
               .slack = spec.slack.value};
    const auto from = pairs_.host(spec.from, join(path_, "from"));
    const auto to = pairs_.host(spec.to, join(path_, "to"));
    if (from) pairs_.check_played(*from, spec.from.at, join(path_, "from"));
    if (to) pairs_.check_played(*to, spec.to.at, join(path_, "to"));
    out.from = from.value_or(0);
    out.to = to.value_or(0);
    uint16_t mtu = UINT16_MAX;
    if (from && to)
      mtu = pairs_.mtu(*from, *to, spec.ip_version, spec.to.at, join(path_, "to"), path_)
                .value_or(mtu);
    place_frames(spec.frames, mtu, out);
    check_times(d_, spec.start, spec.stop, path_);
    d_.topology.streams.push_back(std::move(out));
  }

 private:
  void complain(Position at, const std::string& path, std::string message) {
    d_.mistakes.add(at, path, std::move(message));
  }

  static StreamRate rate_of(const StreamRateSpec& rate) {
    if (rate.l1.given) return L1Rate{rate.l1.value};
    if (rate.l2.given) return L2Rate{rate.l2.value};
    if (rate.line.given) return LineShare{rate.line.value};
    return PacketRate{rate.packets.value.per_second};
  }

  void place_frames(const Field<FramesSpec>& frames, uint16_t mtu, Stream& out) {
    const Bytes least = out.ip_version == 6 ? kMinIpv6Frame : Bytes(64);
    const Bytes most(int64_t{mtu} + kFrameBeyondDatagram);
    if (!frames.given) {
      out.frames = {least};
      return;
    }
    if (frames.value.imix.given) {
      out.frames.reserve(kImix.size());
      for (const int size : kImix) out.frames.push_back(std::max(Bytes(size), least));
      if (out.frames[6] > most)
        complain(frames.at, join(path_, "frames"), "imix has " + too_large(out.frames[6], mtu));
      return;
    }
    const auto& items = frames.value.sizes.value.items;
    const std::string path = join(path_, "frames.sizes");
    if (items.size() > kMaxSizes)
      complain(frames.at, path, "lists more than " + std::to_string(kMaxSizes) + " sizes");
    out.frames.reserve(items.size());
    for (const Field<Bytes>& size : items) {
      if (size.wrong) continue;
      if (size.value < least)
        complain(size.at, path,
                 to_text(size.value) + " is too small: " + to_text(least) +
                     " hold the headers and a probe over IPv6");
      if (size.value > most) complain(size.at, path, too_large(size.value, mtu));
      out.frames.push_back(size.value);
    }
  }

  static std::string too_large(Bytes frame, uint16_t mtu) {
    return "a frame of " + std::to_string(frame.count()) + " B, more than the path's MTU of " +
           std::to_string(mtu) + " B and 18 B of Ethernet";
  }

  Draft& d_;
  Pairs pairs_;
  std::string path_;
};

}  // namespace

void place_streams(Draft& d) {
  Streams streams(d);
  const RunSpec& run = d.file.run.value;
  if (!d.file.traffic.value.streams.value.empty() && run.udp_port.value == kStreamPort)
    d.mistakes.add(run.udp_port.at, "run.udp_port", "port 9 is used by streams: choose another");
  for (const auto& stream : d.file.traffic.value.streams.value) streams.place(stream);
}

}  // namespace turnpike::config
