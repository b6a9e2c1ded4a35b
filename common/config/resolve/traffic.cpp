// SPDX-License-Identifier: BSD-3-Clause
// Traffic: flows, workloads and streams; the trees that they go to.
#include <string>
#include <variant>
#include <vector>

#include "common/config/address.h"
#include "common/config/describe.h"
#include "common/config/resolve/parts.h"
#include "common/config/scalars.h"
#include "common/units/text.h"

namespace turnpike::config {
namespace {

constexpr Bytes kMinPacket{256};  // least that a file may give, see describe.h

std::string names(const Topology& t, const std::vector<size_t>& hosts) {
  std::vector<std::string> out;
  out.reserve(hosts.size());
  for (const size_t h : hosts) out.push_back(plain(t.hosts[h].name));
  return listed(out);
}

void write_tree(YamlWriter& out, const Topology& t, const Tree& tree) {
  out.map(plain(tree.name), [&] {
    const std::vector<std::string> group{in_quotes(ipv4_text(tree.ipv4)),
                                         in_quotes(ipv6_text(tree.ipv6))};
    out.put("group", listed(group));
    out.put("root", plain(t.hosts[tree.root].name));
    out.put("receivers", names(t, tree.receivers));
  });
}

template <class Transfer>
void write_transfer(YamlWriter& out, const Transfer& x) {
  out.put("protocol", scheme_text(x.protocol, x.params, false));
  out.put("ip_version", std::to_string(x.ip_version));
  out.put("start", to_text(x.start));
  if (x.stop != kNever) out.put("stop", to_text(x.stop));
  // A smaller packet is the MTU of a path, not a value from a file.
  if (x.packet >= kMinPacket) out.put("packet", to_text(x.packet));
  out.put("counts", kCounts[x.count_packets ? 1 : 0]);
  if (x.limit.count() > 0) out.put("limit", to_text(x.limit));
  out.put("dscp", std::to_string(x.dscp));
}

void write_flow(YamlWriter& out, const Topology& t, const Flow& flow) {
  out.map(plain(flow.name), [&] {
    out.put("from", plain(t.hosts[flow.from].name));
    out.put("to", plain(t.destination_name(t.destination_of(flow))));
    write_transfer(out, flow);
    if (flow.size != kEndless) out.put("size", to_text(Bytes(static_cast<int64_t>(flow.size))));
    out.put("share", number(flow.share));
    out.put("count", std::to_string(flow.count));
    out.put("background", truth(flow.background));
    if (flow.hold.count() > 0) out.put("hold", to_text(flow.hold));
  });
}

struct ArrivalsText {
  std::string operator()(const PoissonArrivals& a) const {
    return mapped({{"poisson", number(a.per_second) + " /s"}});
  }
  std::string operator()(const PeriodicArrivals& a) const {
    return mapped({{"periodic", number(a.per_second) + " /s"}});
  }
  std::string operator()(const UniformArrivals& a) const {
    return mapped({{"uniform", mapped({{"from", to_text(a.least)}, {"to", to_text(a.most)}})}});
  }
  std::string operator()(TraceArrivals) const { return {}; }  // the trace has the times
};

struct SizeText {
  std::string operator()(const FixedSize& s) const { return mapped({{"fixed", to_text(s.size)}}); }
  std::string operator()(const ParetoSize& s) const {
    std::vector<YamlPair> keys{{"mean", to_text(s.mean)}, {"shape", number(s.shape)}};
    if (s.cap.count() > 0) keys.push_back({"cap", to_text(s.cap)});
    return mapped({{"pareto", mapped(keys)}});
  }
  std::string operator()(const ExponentialSize& s) const {
    return mapped({{"exponential", to_text(s.mean)}});
  }
  std::string operator()(const TraceSize& s) const {
    return mapped({{"trace", in_quotes(s.file)}});
  }
};

void write_workload(YamlWriter& out, const Topology& t, const Workload& w) {
  out.map(plain(w.name), [&] {
    out.put("from", names(t, w.from));
    out.put("to", names(t, w.to));
    write_transfer(out, w);
    const std::string arrivals = std::visit(ArrivalsText{}, w.arrivals);
    if (!arrivals.empty()) out.put("arrivals", arrivals);
    out.put("size", std::visit(SizeText{}, w.size));
    if (w.on.count() == 0) return;
    out.put("on", to_text(w.on));
    out.put("off", to_text(w.off));
  });
}

struct StreamRateText {
  std::string operator()(const PacketRate& r) const {
    return mapped({{"packets", number(r.per_second) + " /s"}});
  }
  std::string operator()(const L1Rate& r) const { return mapped({{"l1", to_text(r.rate)}}); }
  std::string operator()(const L2Rate& r) const { return mapped({{"l2", to_text(r.rate)}}); }
  std::string operator()(const LineShare& r) const { return mapped({{"line", number(r.share)}}); }
};

void write_stream(YamlWriter& out, const Topology& t, const Stream& s) {
  out.map(plain(s.name), [&] {
    out.put("from", plain(t.hosts[s.from].name));
    out.put("to", plain(t.hosts[s.to].name));
    out.put("ip_version", std::to_string(s.ip_version));
    out.put("start", to_text(s.start));
    if (s.stop != kNever) out.put("stop", to_text(s.stop));
    out.put("rate", std::visit(StreamRateText{}, s.rate));
    std::vector<std::string> sizes;
    sizes.reserve(s.frames.size());
    for (const Bytes size : s.frames) sizes.push_back(to_text(size));
    out.put("frames", mapped({{"sizes", listed(sizes)}}));
    out.put("dscp", std::to_string(s.dscp));
    out.put("flows", std::to_string(s.flows));
    out.put("slack", to_text(s.slack));
  });
}

}  // namespace

void write_trees(YamlWriter& out, const Topology& t) {
  if (t.trees.empty()) return;
  out.map("trees", [&] {
    for (const Tree& tree : t.trees) write_tree(out, t, tree);
  });
}

void write_traffic(YamlWriter& out, const Topology& t) {
  out.map("traffic", [&] {
    out.map("flows", [&] {
      for (const Flow& f : t.flows) write_flow(out, t, f);
    });
    out.map("workloads", [&] {
      for (const Workload& w : t.workloads) write_workload(out, t, w);
    });
    out.map("streams", [&] {
      for (const Stream& s : t.streams) write_stream(out, t, s);
    });
  });
}

}  // namespace turnpike::config
