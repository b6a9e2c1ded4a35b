// SPDX-License-Identifier: BSD-3-Clause
// Flows and workloads: hosts, sizes and packets, and that each pair has a path whose MTU fits.
#include <algorithm>
#include <filesystem>
#include <set>

#include "common/config/describe.h"
#include "common/config/draft.h"
#include "common/config/pairs.h"
#include "common/config/trace.h"
#include "common/protocols/packet_headers.h"
#include "common/units/text.h"

namespace turnpike::config {
namespace {

class Traffic {
 public:
  explicit Traffic(Draft& draft) : d_(draft), pairs_(draft) {}

  // Reads all traces, each once.
  void read_traces(const std::vector<Named<WorkloadSpec>>& workloads) {
    std::set<std::string> named;
    for (const auto& w : workloads)
      if (const auto& trace = w.value.size.value.trace; trace.given && !trace.wrong)
        named.insert(trace_file(trace.value));
    const std::vector<std::string> files(named.begin(), named.end());
    std::vector<std::optional<Mistake>> wrong(files.size());
    d_.threads.for_each(files.size(), [&](size_t i) {
      if (auto entries = load_trace(files[i]); !entries) wrong[i] = std::move(entries.error());
    });
    for (size_t i = 0; i < files.size(); ++i)
      if (wrong[i]) wrong_traces_.emplace(files[i], std::move(*wrong[i]));
  }

  void place_flow(const Named<FlowSpec>& named) {
    const auto& [name, at, spec] = named;
    path_ = "traffic.flows." + name;
    Flow flow;
    flow.name = name;
    const auto from = pairs_.host(spec.from, join(path_, "from"));
    flow.from = from.value_or(0);
    flow.size = spec.size.given ? static_cast<uint64_t>(spec.size.value.count()) : kEndless;
    flow.share = spec.share.value;
    flow.count = spec.count.value;
    flow.background = spec.background.value;
    flow.hold = spec.hold.value;
    if (from) check_source(*from, spec.from.at, join(path_, "from"));
    if (from) check_hold(*from, spec);
    if (const auto tree = d_.trees.find(spec.to.value); !spec.to.wrong && tree != d_.trees.end()) {
      flow.tree = tree->second;
      if (from) place_to_tree(*from, spec, flow);
    } else if (const auto to = pairs_.host(spec.to, join(path_, "to"))) {
      flow.to = *to;
      check_sink(*to, spec.to.at, join(path_, "to"));
      if (from) check_pair(*from, *to, spec, spec.to.at, join(path_, "to"));
    }
    place_transfer(spec, flow);
    check_room(spec, flow);
    d_.topology.flows.push_back(std::move(flow));
  }

  void place_workload(const Named<WorkloadSpec>& named) {
    const auto& [name, at, spec] = named;
    path_ = "traffic.workloads." + name;
    Workload out;
    out.name = name;
    const auto from = hosts(spec.from, join(path_, "from"), &Traffic::check_source);
    const auto to = hosts(spec.to, join(path_, "to"), &Traffic::check_sink);
    for (const Place& f : from) out.from.push_back(f.host);
    for (const Place& t : to) out.to.push_back(t.host);
    if (from.size() * to.size() >= AllPairs::kMinPairs) {
      check_all(out, spec);
    } else {
      for (const Place& t : to)
        for (const Place& f : from)  // a host that is in both lists sends to the others
          if (f.host != t.host || to.size() == 1)
            check_pair(f.host, t.host, spec, t.at, join(path_, "to"));
    }
    out.on = spec.on.value;
    out.off = spec.off.value;
    if (spec.on.given != spec.off.given)
      complain(spec.on.given ? spec.on.at : spec.off.at, join(path_, spec.on.given ? "on" : "off"),
               "set both 'on' and 'off'");
    place_size(spec, out, at);
    place_transfer(spec, out);
    check_room(spec, out);
    d_.topology.workloads.push_back(std::move(out));
  }

 private:
  struct Place {
    size_t host;
    Position at;
  };

  void complain(Position at, std::string path, std::string message) {
    d_.mistakes.add(at, std::move(path), std::move(message));
  }

  std::vector<Place> hosts(const Field<OneOrMany<std::string>>& field, const std::string& path,
                           void (Traffic::*check)(size_t, Position, const std::string&)) {
    std::vector<Place> out;
    std::set<size_t> seen;
    const auto& items = field.value.items;
    for (size_t i = 0; i < items.size(); ++i) {
      const std::string where = items.size() > 1 ? path + "[" + std::to_string(i) + "]" : path;
      const auto h = pairs_.host(items[i], where);
      if (!h) continue;
      if (!seen.insert(*h).second) {
        complain(items[i].at, where, "'" + items[i].value + "' is listed twice");
        continue;
      }
      (this->*check)(*h, items[i].at, where);
      out.push_back({*h, items[i].at});
    }
    return out;
  }

  void check_source(size_t h, Position at, const std::string& path) {
    const Host& host = d_.topology.hosts[h];
    const auto& budget = d_.file.hosts.value[h].value.budget;
    if (host.external)
      complain(at, path, "'" + host.name + "' is external: the sender does not emulate it");
    else if (!budget.wrong && host.budget.count() <= 0)
      complain(at, path,
               "'" + host.name + "' has no budget to send with: set hosts." + host.name +
                   ".budget, such as '1 $/s'");
  }

  void check_hold(size_t h, const FlowSpec& spec) {
    if (!spec.hold.given || spec.hold.wrong) return;
    const Host& host = d_.topology.hosts[h];
    if (spec.background.value)
      complain(spec.hold.at, join(path_, "hold"), "a background flow cannot hold a rate");
    else if (!d_.file.hosts.value[h].value.strategy.wrong && host.strategy != "stability")
      complain(spec.hold.at, join(path_, "hold"),
               "'" + host.name + "' has strategy '" + host.strategy + "': set hosts." + host.name +
                   ".strategy to 'stability'");
  }

  // Routers on a tree join answers of FCP alone.
  void place_to_tree(size_t from, const FlowSpec& spec, Flow& flow) {
    const Tree& tree = d_.topology.trees[flow.tree];
    const auto& tree_spec = d_.file.trees.value[flow.tree].value;
    if (!tree_spec.root.wrong && tree.root != from)
      complain(spec.from.at, join(path_, "from"),
               "'" + d_.topology.hosts[from].name + "' is not the root of '" + tree.name + "', '" +
                   tree_spec.root.value + "'");
    if (spec.protocol.given && !spec.protocol.wrong && spec.protocol.value.protocol != "fcp")
      complain(spec.protocol.at, join(path_, "protocol"),
               "a tree carries fcp, not " + spec.protocol.value.protocol);
    if (!tree.receivers.empty()) flow.to = tree.receivers.front();
    for (const size_t to : tree.receivers)
      if (to != from) check_pair(from, to, spec, spec.to.at, join(path_, "to"));
  }

  void check_sink(size_t h, Position at, const std::string& path) {
    pairs_.check_played(h, at, path);
  }

  void check_pair(size_t from, size_t to, const TransferSpec& spec, Position at,
                  const std::string& path) {
    const auto mtu = pairs_.mtu(from, to, spec.ip_version, at, path, path_);
    if (mtu) take_mtu(*mtu, spec);
  }

  void take_mtu(uint16_t mtu, const TransferSpec& spec) {
    least_mtu_ = std::min(least_mtu_, mtu);
    if (spec.packet.given && !spec.packet.wrong && spec.packet.value.count() > mtu)
      complain(spec.packet.at, join(path_, "packet"),
               to_text(spec.packet.value) + " is more than the MTU of the path, " +
                   std::to_string(mtu) + " B");
  }

  // A packet that the file gives has room for headers: it has at least 256 B.
  template <class Spec, class Out>
  void check_room(const Spec& spec, const Out& out) {
    const Protocol* protocol = find_protocol(out.protocol);
    if (protocol == nullptr || spec.packet.given) return;
    const uint32_t headers = packet_headers(*protocol, out.ip_version);
    if (out.packet.count() <= int64_t{headers})
      complain(spec.to.at, join(path_, "to"),
               "the MTU of the path, " + std::to_string(out.packet.count()) +
                   " B, leaves no room for data behind " + std::to_string(headers) +
                   " B of headers");
  }

  // As check_pair() of each host in `from` with each other one in `to`.
  void check_all(const Workload& w, const WorkloadSpec& spec) {
    const auto found = pairs_.all(w.from, w.to, spec.ip_version, spec.to.at, path_);
    if (found) take_mtu(*found, spec);
  }

  template <class Out>
  void place_transfer(const TransferSpec& spec, Out& out) {
    out.protocol = spec.protocol.value.protocol;
    // The run's preset applies to the default protocol, too.
    const Protocol* protocol = spec.protocol.given ? nullptr : find_protocol(out.protocol);
    out.params = protocol != nullptr ? preset_values(*protocol, false, d_.topology.run.preset)
                                     : spec.protocol.value.params;
    out.ip_version = spec.ip_version.value.number;
    out.start = spec.start.value;
    out.stop = spec.stop.given ? spec.stop.value : kNever;
    out.count_packets = spec.counts.value == kCounts[1];
    out.limit = spec.limit.value;
    out.dscp = spec.dscp.value;
    const Bytes fitting(std::min<int64_t>(1500, std::exchange(least_mtu_, UINT16_MAX)));
    out.packet = spec.packet.given ? spec.packet.value : fitting;
    check_times(d_, spec.start, spec.stop, path_);
  }

  void place_size(const WorkloadSpec& spec, Workload& out, Position at) {
    const SizeSpec& size = spec.size.value;
    const ArrivalsSpec& arrivals = spec.arrivals.value;
    if (arrivals.poisson.given) out.arrivals = PoissonArrivals{arrivals.poisson.value.per_second};
    if (arrivals.periodic.given)
      out.arrivals = PeriodicArrivals{arrivals.periodic.value.per_second};
    if (arrivals.uniform.given) place_gaps(arrivals.uniform, out);
    if (size.fixed.given) out.size = FixedSize{size.fixed.value};
    if (size.exponential.given) out.size = ExponentialSize{size.exponential.value};
    if (size.pareto.given) place_pareto(size.pareto.value, out);
    if (size.trace.given && !size.trace.wrong) {
      place_trace(size.trace, out);
      if (spec.arrivals.given)
        complain(spec.arrivals.at, join(path_, "arrivals"),
                 "a trace sets the arrival times: remove 'arrivals'");
    } else if (!spec.arrivals.given && !spec.size.wrong) {
      complain(at, path_, "missing key 'arrivals'");
    }
  }

  void place_gaps(const Field<GapsSpec>& uniform, Workload& out) {
    const auto& [from, to] = uniform.value;
    out.arrivals = UniformArrivals{from.value, to.value};
    if (!from.wrong && !to.wrong && to.value < from.value)
      complain(to.at, join(path_, "arrivals.uniform.to"),
               to_text(to.value) + " is below `from`, " + to_text(from.value));
  }

  void place_pareto(const ParetoSpec& pareto, Workload& out) {
    out.size = ParetoSize{pareto.mean.value, pareto.shape.value, pareto.cap.value};
    if (pareto.cap.given && !pareto.cap.wrong && !pareto.mean.wrong &&
        pareto.cap.value <= pareto.mean.value)
      complain(pareto.cap.at, join(path_, "size.pareto.cap"),
               to_text(pareto.cap.value) + " is not above the mean, " + to_text(pareto.mean.value));
  }

  [[nodiscard]] std::string trace_file(const std::string& name) const {
    return (std::filesystem::path(d_.mistakes.file()).parent_path() / name).string();
  }

  void place_trace(const Field<std::string>& trace, Workload& out) {
    const std::string file = trace_file(trace.value);
    check_trace(trace.at, file);
    out.size = TraceSize{file};
    out.arrivals = TraceArrivals{};
  }

  // A trace that several workloads share is reported once.
  void check_trace(Position at, const std::string& file) {
    const auto wrong = wrong_traces_.extract(file);
    if (wrong.empty()) return;
    Mistake m = wrong.mapped();
    m.path = join(path_, "size.trace");
    if (m.line > 0)
      d_.mistakes.add(std::move(m));
    else
      complain(at, m.path, "'" + file + "' " + m.message);
  }

  Draft& d_;
  Pairs pairs_;
  std::map<std::string, Mistake> wrong_traces_;  // by file, not reported yet
  std::string path_;
  uint16_t least_mtu_ = UINT16_MAX;  // over the pairs of the current flow or workload, B
};

}  // namespace

void check_times(Draft& d, const Field<Nanos>& start, const Field<Nanos>& stop,
                 const std::string& path) {
  if (start.wrong) return;
  const Nanos duration = d.topology.run.duration;
  if (stop.given && !stop.wrong && stop.value <= start.value)
    d.mistakes.add(stop.at, join(path, "stop"),
                   to_text(stop.value) + " is not after the start, " + to_text(start.value));
  if (!d.file.run.value.duration.wrong && start.value >= duration)
    d.mistakes.add(
        start.at, join(path, "start"),
        to_text(start.value) + " is not before the end of the run, " + to_text(duration));
}

void place_traffic(Draft& d) {
  Traffic traffic(d);
  const TrafficSpec& spec = d.file.traffic.value;
  traffic.read_traces(spec.workloads.value);
  for (const auto& flow : spec.flows.value) traffic.place_flow(flow);
  for (const auto& workload : spec.workloads.value) traffic.place_workload(workload);
}

}  // namespace turnpike::config
