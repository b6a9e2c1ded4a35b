// SPDX-License-Identifier: BSD-3-Clause
// The syntax of a topology file: every key with its member, default, range and meaning.
//
// A visitor has `template <class T> void field(std::string_view key, Field<T>&, const About&)`,
// which is called for every key of a struct in turn. The reader is one visitor, the schema writer
// another.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "common/config/spec.h"
#include "common/protocols/registry.h"

namespace turnpike::config {

struct About {
  std::string_view doc;
  std::string_view fallback = {};       // as a file writes it; empty: none
  std::string_view min = {}, max = {};  // inclusive, as a file writes them; of each item in a list
  size_t count = 0;                     // of a list: the exact number of items
  bool required = false;
  bool bare = false;                             // of a kOneOf: the key is valid without a value
  std::span<const std::string_view> words = {};  // the only valid words
};

inline constexpr std::array<std::string_view, 6> kStrategies{
    "equal-budget", "equal-throughput", "max-throughput", "background", "stability", "each-flow"};
inline constexpr std::array<std::string_view, 2> kCounts{"payload", "packets"};
inline constexpr std::array<std::string_view, 2> kDrains{"shaped", "line-rate"};
/// In the order of SourceCheck.
inline constexpr std::array<std::string_view, 4> kSourceChecks{"off", "loose", "feasible",
                                                               "strict"};
inline constexpr std::array<std::string_view, 2> kLegacyQueues{"droptail", "red"};

template <class V>
void describe(V& v, SpanSpec& s) {
  v.field("from", s.from, {.doc = "beginning", .fallback = "0 s", .min = "0 s"});
  v.field("to", s.to, {.doc = "end; the run's unless given", .min = "1 us"});
}

template <class V>
void describe(V& v, RunSpec& s) {
  v.field("name", s.name, {.doc = "scenario's name; the file's stem unless given"});
  v.field("duration", s.duration,
          {.doc = "how long the run takes", .fallback = "10 s", .min = "1 ms", .max = "1000 h"});
  v.field("seed", s.seed, {.doc = "of everything random", .fallback = "1"});
  v.field("output", s.output, {.doc = "folder for results", .fallback = "out"});
  v.field("sample", s.sample,
          {.doc = "interval of the series", .fallback = "100 ms", .min = "100 us", .max = "1 h"});
  v.field("settle", s.settle,
          {.doc = "time after each change of flows before shares are measured",
           .fallback = "500 ms",
           .min = "0 s",
           .max = "1 h"});
  v.field("tolerance", s.tolerance,
          {.doc = "how far a host's share may lie off its entitlement (0.05: 5 %)",
           .fallback = "0.05",
           .min = "0",
           .max = "1"});
  v.field("udp_port", s.udp_port,
          {.doc = "destination UDP port of Turnpike packets",
           .fallback = "4747",
           .min = "1",
           .max = "65535"});
  v.field("quantum", s.quantum,
          {.doc = "scheduling granularity on a virtual clock: events wait for the next multiple "
                  "and run as a burst; 0 s: exact",
           .fallback = "0 s",
           .min = "0 s",
           .max = "1 s"});
  v.field("measure", s.measure,
          {.doc = "named time spans with figures of their own in the summary"});
}

template <class V>
void describe(V& v, BudgetChangeSpec& s) {
  v.field("at", s.at, {.doc = "in time since the run's start", .min = "0 s", .required = true});
  v.field(
      "budget", s.budget,
      {.doc = "budget from then on", .min = "0 $/s", .max = "1000000000 $/s", .required = true});
}

template <class V>
void describe(V& v, HostSpec& s) {
  v.field("budget", s.budget,
          {.doc = "budget; 0: the host only receives",
           .fallback = "0 $/s",
           .min = "0 $/s",
           .max = "1000000000 $/s"});
  v.field("strategy", s.strategy,
          {.doc = "how the budget is divided among the host's flows; each-flow: every flow has a "
                  "budget of its own",
           .fallback = kStrategies[0],
           .words = kStrategies});
  v.field("changes", s.changes, {.doc = "the budget at later times"});
  v.field("external", s.external,
          {.doc = "a real machine or kernel: the sender does not emulate it", .fallback = "false"});
  v.field("addresses", s.addresses,
          {.doc = "one IPv4 and one IPv6 address with prefix length; assigned unless given"});
  v.field("mac", s.mac, {.doc = "Ethernet address; assigned unless given"});
}

template <class V>
void describe(V& v, RouteSpec& s) {
  v.field("prefix", s.prefix, {.doc = "destinations, such as 10.9.0.0/16", .required = true});
  v.field("via", s.via, {.doc = "a neighbour's address, or a link's name", .required = true});
}

template <class V>
void describe(V& v, EnforcementSpec& s) {
  v.field("links", s.links,
          {.doc = "links whose packets are charged to their customers; those to hosts and the "
                  "customers' own links unless given"});
  v.field("tolerance", s.tolerance,
          {.doc = "spending beyond a customer's budget that is accepted, as a share of it",
           .fallback = "0.005",
           .min = "0",
           .max = "10"});
  v.field("burst", s.burst,
          {.doc = "a customer may spend the budget of this time at once",
           .fallback = "50 ms",
           .min = "1 ms",
           .max = "1 min"});
  v.field("promise_burst", s.promise_burst,
          {.doc = "as `burst`, for what its packets announce; more than its longest round trip",
           .fallback = "250 ms",
           .min = "1 ms",
           .max = "1 min"});
  v.field("charge_unpriced", s.charge_unpriced,
          {.doc = "packets without a congestion header cost their size times the price of the "
                  "next link",
           .fallback = "true"});
  v.field(
      "unpriced_burst", s.unpriced_burst,
      {.doc = "as `burst`, for such packets", .fallback = "20 ms", .min = "0 s", .max = "1 min"});
}

template <class V>
void describe(V& v, RouterSpec& s) {
  v.field("lcores", s.lcores,
          {.doc = "CPUs to run on; one per router in the order of the file unless given",
           .min = "0",
           .max = "1023"});
  v.field("routes", s.routes,
          {.doc = "static routes; they replace computed ones to the prefixes that they cover"});
  v.field("table", s.table,
          {.doc = "file of more such routes, however many, relative to this one: on each line a "
                  "prefix, a blank, and a neighbour's address or a link's name"});
  v.field("enforce", s.enforce,
          {.doc = "an edge of the network, which drops the packets of customers beyond their "
                  "budgets; {}: with default settings"});
}

template <class V>
void describe(V& v, GroupSpec& s) {
  v.field("weight", s.weight,
          {.doc = "share of a link's capacity, relative to other groups that send",
           .fallback = "1",
           .min = "0.000001",
           .max = "1000000"});
}

template <class V>
void describe(V& v, CustomerSpec& s) {
  v.field("prefix", s.prefix, {.doc = "source addresses: one prefix or a list"});
  v.field("link", s.link,
          {.doc = "or the link on which all packets are this customer's; other routers do not know "
                  "its packets"});
  v.field("budget", s.budget,
          {.doc = "budget of all its hosts together",
           .min = "0 $/s",
           .max = "1000000000 $/s",
           .required = true});
  v.field("group", s.group, {.doc = "group that it belongs to"});
}

template <class V>
void describe(V& v, MemifSpec& s) {
  v.field("socket", s.socket,
          {.doc = "path of the socket, or @name in the abstract namespace; by default "
                  "@turnpike/<run>/<link>"});
  v.field("id", s.id, {.doc = "of the interface on that socket", .fallback = "0"});
  v.field("server", s.server,
          {.doc = "whether this end listens; by default the router's, else the first end"});
}

template <class V>
void describe(V& v, PcapSpec& s) {
  v.field("rx", s.rx, {.doc = "capture to receive from", .required = true});
  v.field("tx", s.tx, {.doc = "capture to write to; none: sent packets are discarded"});
  v.field("repeat", s.repeat, {.doc = "start over at the capture's end", .fallback = "false"});
}

template <class V>
void describe(V& v, AttachSpec& s) {
  v.field("pci", s.pci, {.doc = "a NIC by its PCI address, such as 0000:3b:00.0"});
  v.field("memif", s.memif, {.doc = "shared memory between two processes", .bare = true});
  v.field("af_packet", s.af_packet, {.doc = "a kernel interface over an AF_PACKET socket"});
  v.field("af_xdp", s.af_xdp, {.doc = "a kernel interface over an AF_XDP socket"});
  v.field("tap", s.tap, {.doc = "a new kernel interface of this name"});
  v.field("ring", s.ring, {.doc = "both ends in one process", .bare = true});
  v.field("pcap", s.pcap, {.doc = "capture files"});
  v.field("vdev", s.vdev, {.doc = "a DPDK virtual device: its name and arguments"});
}

template <class V>
void describe(V& v, MatchSpec& s) {
  v.field("dscp", s.dscp, {.doc = "DSCP of the IP header", .min = "0", .max = "63"});
  v.field("protocol", s.protocol,
          {.doc = "IP protocol, such as 6 for TCP", .min = "0", .max = "255"});
  v.field("source", s.source, {.doc = "prefix of the source address, such as 10.1.0.0/16"});
  v.field("destination", s.destination, {.doc = "prefix of the destination address"});
  v.field("port", s.port, {.doc = "UDP port, source or destination", .min = "1", .max = "65535"});
  v.field("unpriced", s.unpriced,
          {.doc = "true: packets without a congestion header of the link's law; false: with one"});
}

template <class V>
void describe(V& v, StabilitySpec& s) {
  v.field("factor", s.factor,
          {.doc = "the price changes by at most this factor within two average round trips",
           .fallback = "2",
           .min = "1.01",
           .max = "1000"});
}

template <class V>
void describe(V& v, DeadlineSpec& s) {
  v.field("cap", s.cap,
          {.doc = "rate that the class's flows may be granted together",
           .min = "1 Kbps",
           .max = "10 Tbps",
           .required = true});
  v.field("price", s.price,
          {.doc = "fixed price of granted rates",
           .fallback = "1e-18 $/B",
           .min = "1e-18 $/B",
           .max = "1 $/B"});
}

template <class V>
void describe(V& v, PrioritySpec& s) {
  v.field("factor", s.factor,
          {.doc = "the class's price as a multiple of the link's price",
           .min = "1",
           .max = "1000000",
           .required = true});
}

template <class V>
void describe(V& v, LegacySpec& s) {
  v.field("share", s.share,
          {.doc = "share of the link that the class always gets if it has traffic",
           .min = "0.001",
           .max = "0.95",
           .required = true});
  v.field("discipline", s.discipline,
          {.doc = "how the class's queue is managed",
           .fallback = kLegacyQueues[1],
           .words = kLegacyQueues});
}

template <class V>
void describe(V& v, PolicySpec& s) {
  v.field("standard", s.standard, {.doc = "the link's price", .bare = true});
  v.field("stability", s.stability, {.doc = "a price that changes slowly", .bare = true});
  v.field("deadline", s.deadline, {.doc = "a fixed price while the rates asked for fit"});
  v.field("priority", s.priority, {.doc = "strict priority at a multiple of the link's price"});
  v.field("legacy", s.legacy, {.doc = "no price: a guaranteed share and queue management"});
}

template <class V>
void describe(V& v, ClassQueueSpec& s) {
  v.field("strict", s.strict,
          {.doc = "before all weighted classes; the first one first", .bare = true});
  v.field("weight", s.weight,
          {.doc = "share of the link relative to other weighted classes with packets waiting",
           .min = "0.000001",
           .max = "1000000"});
}

template <class V>
void describe(V& v, LeafClassSpec& s) {
  v.field("match", s.match,
          {.doc = "conditions, of which all must hold; the first class that matches takes the "
                  "packet, and the last class, which has none, all others"});
  v.field("policy", s.policy, {.doc = "how its packets are priced", .fallback = "standard"});
  v.field("queue", s.queue,
          {.doc = "strict for priority and by bandwidth for all others unless given"});
  v.field("buffer", s.buffer,
          {.doc = "limit of the class's queue; the link's buffer unless given", .min = "68 B"});
}

template <class V>
void describe(V& v, ClassSpec& s) {
  describe(v, static_cast<LeafClassSpec&>(s));
  v.field("classes", s.classes,
          {.doc = "classes of which this one consists, with a price of their own; the link's "
                  "capacity is then shared by the `queue` of the outer classes, of equal weight "
                  "unless given"});
}

template <class V>
void describe(V& v, DirectionSpec& s) {
  v.field("rate", s.rate, {.doc = "capacity", .min = "1 Kbps", .max = "10 Tbps"});
  v.field("delay", s.delay,
          {.doc = "propagation one way", .fallback = "0 s", .min = "0 s", .max = "10 min"});
  v.field("buffer", s.buffer,
          {.doc = "buffer size: bytes, or a multiple of rate x the longest round trip of any flow "
                  "over the link (2 x delay without flows); 1 BDP within 64 KB and 16 MB "
                  "unless given",
           .min = "68 B",
           .max = "64 GB"});
  v.field("overhead", s.overhead,
          {.doc = "bytes per packet beyond the IP datagram that count on the link; 0 B for shaped "
                  "and 38 B (Ethernet, FCS, preamble, gap) for line-rate unless given",
           .min = "0 B",
           .max = "1000 B"});
  v.field("loss", s.loss,
          {.doc = "share of packets that the link loses at random, on a virtual clock",
           .fallback = "0",
           .min = "0",
           .max = "1"});
  v.field(
      "reorder", s.reorder,
      {.doc = "share of packets that the link delivers a quarter of `delay` late, out of order; "
              "on a virtual clock",
       .fallback = "0",
       .min = "0",
       .max = "1"});
  v.field("jitter", s.jitter,
          {.doc = "uniform random delay beyond `delay`, order kept; on a virtual clock",
           .fallback = "0 s",
           .min = "0 s",
           .max = "1 min"});
  v.field("drain", s.drain,
          {.doc = "shaped: paced at `rate` from a software queue; line-rate: as fast as the port",
           .fallback = kDrains[0],
           .words = kDrains});
  v.field(
      "law", s.law,
      {.doc =
           "the scheme that routers run at this link, with its parameters; hosts, where forward or "
           "reverse has one",
       .fallback = "none"});
  v.field("source_check", s.source_check,
          {.doc = "whether the router at the receiving end accepts a source address (RFC 3704, RFC "
                  "8704). strict: if its route begins with this link; feasible: if some path to "
                  "it does; loose: if it has a route",
           .fallback = kSourceChecks[0],
           .words = kSourceChecks});
  v.field("classes", s.classes,
          {.doc = "classes of traffic by name, for a shaped link from a router with law fcp"});
}

template <class V>
void describe(V& v, LinkSpec& s) {
  v.field("ends", s.ends,
          {.doc = "the two nodes; forward is from the first", .count = 2, .required = true});
  describe(v, static_cast<DirectionSpec&>(s));
  v.field("forward", s.forward, {.doc = "settings from the first end to the second"});
  v.field("reverse", s.reverse, {.doc = "settings from the second end to the first"});
  v.field("mtu", s.mtu,
          {.doc = "largest IP datagram in bytes; 1280 at least where IPv6 is used",
           .fallback = "1500",
           .min = "68",
           .max = "65535"});
  v.field("emulate_delay", s.emulate_delay,
          {.doc = "emulate `delay` in software; true unless an end is a real device"});
  v.field("attach", s.attach,
          {.doc = "ports of the ends: `memif` or `ring` for both, or a map from end to port"});
  v.field("addresses", s.addresses, {.doc = "addresses by end, as those of a host"});
  v.field("macs", s.macs, {.doc = "Ethernet addresses by end"});
}

template <class V>
void describe(V& v, TreeSpec& s) {
  v.field("group", s.group,
          {.doc = "one IPv4 and one IPv6 multicast address; assigned unless given"});
  v.field("root", s.root, {.doc = "host that sends", .required = true});
  v.field("receivers", s.receivers, {.doc = "hosts that receive", .required = true});
}

template <class V>
void describe(V& v, TransferSpec& s) {
  v.field("protocol", s.protocol,
          {.doc = "scheme that the senders run, with its parameters", .fallback = "fcp"});
  v.field("ip_version", s.ip_version, {.doc = "4 or 6", .fallback = "4"});
  v.field("start", s.start,
          {.doc = "first packet, in time since the run's start", .fallback = "0 s", .min = "0 s"});
  v.field("stop", s.stop, {.doc = "no new data from then on; the run's end unless given"});
  v.field("packet", s.packet,
          {.doc = "IP datagram of a full packet; 1500 B or the path's MTU unless given",
           .min = "256 B",
           .max = "65535 B"});
  v.field("counts", s.counts,
          {.doc = "unit of sizes: payload, or IP datagrams as in simulators",
           .fallback = kCounts[0],
           .words = kCounts});
  v.field("limit", s.limit,
          {.doc = "rate limit of the application, in IP datagrams", .min = "1 Kbps"});
  v.field("dscp", s.dscp, {.doc = "DSCP of its packets", .fallback = "0", .min = "0", .max = "63"});
}

template <class V>
void describe(V& v, FlowSpec& s) {
  v.field("from", s.from, {.doc = "sending host", .required = true});
  v.field("to", s.to, {.doc = "receiving host, or a tree", .required = true});
  describe(v, static_cast<TransferSpec&>(s));
  v.field("size", s.size, {.doc = "payload to deliver; endless unless given", .min = "1 B"});
  v.field("share", s.share,
          {.doc = "weight within the host's budget",
           .fallback = "1",
           .min = "0.000001",
           .max = "1000000"});
  v.field("count", s.count,
          {.doc = "number of such flows", .fallback = "1", .min = "1", .max = "1000000"});
  v.field("background", s.background,
          {.doc = "spends a ten-thousandth of the budget, so it uses only spare capacity",
           .fallback = "false"});
  v.field("hold", s.hold,
          {.doc = "rate that strategy `stability` holds for each such flow", .min = "1 Kbps"});
}

template <class V>
void describe(V& v, ArrivalsSpec& s) {
  v.field(
      "poisson", s.poisson,
      {.doc = "independent arrivals, so many on average", .min = "0.001 /s", .max = "1000 /us"});
  v.field("periodic", s.periodic,
          {.doc = "evenly spaced arrivals", .min = "0.001 /s", .max = "1000 /us"});
}

template <class V>
void describe(V& v, ParetoSpec& s) {
  v.field("mean", s.mean, {.doc = "mean size", .min = "1 B", .required = true});
  v.field("cap", s.cap,
          {.doc = "largest size; larger draws are clipped, and the mean is kept", .min = "1 B"});
  v.field("shape", s.shape,
          {.doc = "above 1, or there is no mean", .fallback = "1.2", .min = "1.01", .max = "100"});
}

template <class V>
void describe(V& v, SizeSpec& s) {
  v.field("fixed", s.fixed, {.doc = "one size for all flows", .min = "1 B"});
  v.field("exponential", s.exponential, {.doc = "mean size", .min = "1 B"});
  v.field("pareto", s.pareto, {.doc = "heavy-tailed"});
  v.field("trace", s.trace,
          {.doc = "CSV file of arrival times in s and sizes in B; path as seen from this file"});
}

template <class V>
void describe(V& v, WorkloadSpec& s) {
  v.field("from", s.from, {.doc = "sending host or hosts, drawn uniformly", .required = true});
  v.field("to", s.to, {.doc = "receiving host or hosts, drawn uniformly", .required = true});
  describe(v, static_cast<TransferSpec&>(s));
  v.field("arrivals", s.arrivals, {.doc = "when flows start; none with a trace"});
  v.field("size", s.size, {.doc = "payload of each flow", .required = true});
  v.field("on", s.on, {.doc = "duration of arrivals", .min = "1 us", .max = "1000 h"});
  v.field("off", s.off, {.doc = "pause between them", .min = "1 us", .max = "1000 h"});
}

template <class V>
void describe(V& v, StreamRateSpec& s) {
  v.field("packets", s.packets, {.doc = "packets a second", .min = "0.001 /s", .max = "1000 /us"});
  v.field("l1", s.l1,
          {.doc = "frames with their preambles and gaps, 20 B each",
           .min = "1 Kbps",
           .max = "10 Tbps"});
  v.field("l2", s.l2, {.doc = "frames, FCS included", .min = "1 Kbps", .max = "10 Tbps"});
  v.field("line", s.line,
          {.doc = "share of the sending host's link (0.5: 50 %), counted as the link counts: IP "
                  "datagrams and its `overhead`",
           .min = "0.000001",
           .max = "10"});
}

template <class V>
void describe(V& v, FramesSpec& s) {
  v.field("sizes", s.sizes,
          {.doc = "Ethernet frames with their FCS, sent in this order over and over",
           .min = "64 B",
           .max = "65535 B"});
  v.field("imix", s.imix, {.doc = "seven of 64 B, four of 594 B, one of 1518 B", .bare = true});
}

template <class V>
void describe(V& v, StreamSpec& s) {
  v.field("from", s.from, {.doc = "sending host", .required = true});
  v.field("to", s.to, {.doc = "receiving host", .required = true});
  v.field("ip_version", s.ip_version, {.doc = "4 or 6", .fallback = "4"});
  v.field("start", s.start,
          {.doc = "first packet, in time since the run's start", .fallback = "0 s", .min = "0 s"});
  v.field("stop", s.stop, {.doc = "no packet is due from then on; the run's end unless given"});
  v.field("rate", s.rate, {.doc = "constant, independent of losses", .required = true});
  v.field("frames", s.frames, {.doc = "their sizes; 64 B (IPv6: 84 B) unless given"});
  v.field("flows", s.flows,
          {.doc = "packets take turns among so many UDP source ports, and addresses beyond 16384",
           .fallback = "1",
           .min = "1",
           .max = "1000000"});
  v.field("slack", s.slack,
          {.doc = "largest delay of a packet, so that packets due within it leave as a burst",
           .fallback = "0 s",
           .min = "0 s",
           .max = "1 ms"});
}

template <class V>
void describe(V& v, TrafficSpec& s) {
  v.field("flows", s.flows, {.doc = "flows by name"});
  v.field("workloads", s.workloads, {.doc = "streams of finite flows by name"});
  v.field("streams", s.streams,
          {.doc = "open loop: packets at a constant rate without congestion control, by name"});
}

template <class V>
void describe(V& v, FileSpec& s) {
  v.field("preset", s.preset,
          {.doc = "named set of parameter overrides, used where the file gives no value",
           .fallback = kDefaultPreset,
           .words = preset_names()});
  v.field("run", s.run, {.doc = "settings of the run"});
  v.field("hosts", s.hosts, {.doc = "sources and sinks by name", .required = true});
  v.field("routers", s.routers, {.doc = "routers by name"});
  v.field("links", s.links, {.doc = "links by name", .required = true});
  v.field("trees", s.trees, {.doc = "multicast distribution trees by name"});
  v.field("groups", s.groups,
          {.doc = "groups of customers by name, which share links of FCP with `groups: link` or "
                  "`domain`; customers without one, and packets of no customer, share a group of "
                  "weight 1"});
  v.field("customers", s.customers,
          {.doc = "customers by name; see routers' `enforce`, and `groups`"});
  v.field("customer_table", s.customer_table,
          {.doc = "file of more customers, however many, relative to this one: on each line a "
                  "prefix, a budget without a blank (2$/s) and, if it has one, its group"});
  v.field("traffic", s.traffic, {.doc = "traffic of the hosts"});
}

}  // namespace turnpike::config
