// SPDX-License-Identifier: BSD-3-Clause
// A topology file as written: nodes by name, omitted values still missing, positions known.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/config/mistakes.h"
#include "common/config/topology.h"

namespace turnpike::config {

/// A value and its position. `value` holds the default if the file gives none.
template <class T>
struct Field {
  T value{};
  Position at;         // of the value; of the enclosing key if there is none
  bool given = false;  // the file gives the value
  bool wrong = false;  // it was given but is a mistake, which has been reported
};

template <class T>
struct Named {
  std::string name;
  Position at;  // of the name
  T value;
};
/// A map whose keys are names that the user chose.
template <class T>
using Table = std::vector<Named<T>>;

/// A value or a list of values in the file.
template <class T>
struct OneOrMany {
  std::vector<Field<T>> items;
};

struct Frequency {
  double per_second = 0;
};
struct AddressSpec {
  std::variant<Ipv4Prefix, Ipv6Prefix> prefix;
};
struct NodeAddress {
  std::variant<Ipv4, Ipv6> address;
};
struct GroupAddress {
  std::variant<Ipv4, Ipv6> address;
};
struct PciAddress {
  std::string text;  // with its domain: 0000:3b:00.0
};
struct InterfaceName {
  std::string text;
};
struct Name {
  std::string text;
};
/// VIDs of 802.1Q: one, or all of a range.
struct VlanRange {
  uint16_t first = 0, last = 0;
};
/// An argument in a DPDK device's argument list: no comma, no blank.
struct DeviceArgument {
  std::string text;
};
struct IpVersion {
  unsigned number = 4;
};
struct BufferSpec {
  Bytes bytes{0};
  std::optional<double> bdp;  // "1 BDP": a multiple of rate x round trip
};
// `law: fcp`, `law: {fcp: {alpha: 2}}`: names and parameters are those of the registry.
struct LinkScheme : LawChoice {};
struct FlowScheme : LawChoice {};

struct SpanSpec {
  Field<Nanos> from, to;
};

struct RunSpec {
  Field<Name> name;
  Field<std::string> output;
  Field<Nanos> duration, sample, settle;
  Field<uint64_t> seed;
  Field<double> tolerance;
  Field<uint16_t> udp_port;
  Field<Nanos> quantum;
  Field<Table<SpanSpec>> measure;
};

struct BudgetChangeSpec {
  Field<Nanos> at;
  Field<Budget> budget;
};

struct HostSpec {
  Field<Budget> budget;
  Field<OneOrMany<BudgetChangeSpec>> changes;
  Field<std::string> strategy;
  Field<bool> external;
  Field<OneOrMany<AddressSpec>> addresses;
  Field<Mac> mac;
};

struct RouteSpec {
  Field<AddressSpec> prefix;
  Field<std::string> via;
  Field<unsigned> distance;
};

struct FibSpec {
  Field<unsigned> ipv4, ipv6;
};

struct EnforcementSpec {
  Field<OneOrMany<std::string>> links;
  Field<double> tolerance;
  Field<Nanos> burst, promise_burst;
  Field<bool> charge_unpriced;
  Field<Nanos> unpriced_burst;
};

struct PuntSpec {
  Field<Frequency> neighbour, routing, local, ttl, other;
};
struct LinuxControlSpec {
  Field<Table<Field<InterfaceName>>> interfaces;
  Field<PuntSpec> punt;
  Field<std::string> ttl_expired, addresses;
  Field<Name> network_namespace;
};
struct ControlSpec {
  static constexpr bool kOneOf = true;
  Field<LinuxControlSpec> linux_control;
};

struct RssSpec {
  Field<std::string> rebalance;
};

struct RouterSpec {
  Field<OneOrMany<unsigned>> lcores;
  Field<OneOrMany<RouteSpec>> routes;
  Field<std::string> table;
  Field<EnforcementSpec> enforce;
  Field<FibSpec> fib;
  Field<ControlSpec> control;
  Field<RssSpec> rss;
  Field<OneOrMany<AddressSpec>> prefix;
  Field<std::string> nic_filters;
};

struct GroupSpec {
  Field<double> weight;
};

struct CustomerSpec {
  Field<OneOrMany<AddressSpec>> prefix;
  Field<OneOrMany<std::string>> link;
  Field<OneOrMany<VlanRange>> vlan;
  Field<Budget> budget;
  Field<BitRate> ceiling;
  Field<std::string> group;
};

struct GatewayPeerSpec {
  Field<NodeAddress> address;
  Field<OneOrMany<AddressSpec>> prefix;
  Field<IpVersion> ip_version;
};

struct GatewayClassSpec {
  Field<OneOrMany<unsigned>> dscp;
  Field<unsigned> core_dscp;
  Field<double> share;
  Field<bool> background;
};

struct GatewaySecuritySpec {
  Field<std::string> key_file;
};

struct GatewaySpec {
  Field<OneOrMany<std::string>> core;
  Field<Table<GatewayPeerSpec>> peers;
  Field<Table<GatewayClassSpec>> classes;
  Field<std::string> strategy;
  Field<GatewaySecuritySpec> security;
  Field<FlowScheme> protocol;
  Field<Bytes> mtu, limit;
  Field<Nanos> target, interval, idle;
  Field<std::string> silent_peer, outside;
};

// A struct with kOneOf holds exactly one of its fields.
struct Nothing {};
struct MemifSpec {
  Field<DeviceArgument> socket;
  Field<uint32_t> id;
  Field<bool> server;
};
struct PcapSpec {
  Field<DeviceArgument> rx, tx;
  Field<bool> repeat;
};
struct PciSpec {  // as a single value: only the address
  Field<PciAddress> address;
  Field<std::string> flow_control;
};
struct AttachSpec {
  static constexpr bool kOneOf = true;
  Field<PciSpec> pci;
  Field<MemifSpec> memif;
  Field<InterfaceName> af_packet, af_xdp, tap;
  Field<Nothing> ring;
  Field<PcapSpec> pcap;
  Field<std::string> vdev;
};
/// One word for both ends, or an attachment for each end by its node's name.
struct AttachBothSpec {
  std::optional<AttachSpec> both;
  Table<AttachSpec> ends;
};

/// Conditions on a packet. All that are given must hold; of a list, one item.
struct MatchSpec {
  Field<OneOrMany<unsigned>> dscp, protocol, port;
  Field<OneOrMany<AddressSpec>> source, destination;
  Field<bool> unpriced;
};
struct StabilitySpec {
  Field<double> factor;
};
struct DeadlineSpec {
  Field<BitRate> cap;
  Field<Price> price;
};
struct PrioritySpec {
  Field<double> factor;
};
struct LegacySpec {
  Field<double> share;
  Field<std::string> discipline;
};
struct PolicySpec {
  static constexpr bool kOneOf = true;
  Field<Nothing> standard;
  Field<StabilitySpec> stability;
  Field<DeadlineSpec> deadline;
  Field<PrioritySpec> priority;
  Field<LegacySpec> legacy;
};
struct ClassQueueSpec {
  static constexpr bool kOneOf = true;
  Field<Nothing> strict;
  Field<double> weight;
};
struct LeafClassSpec {
  Field<MatchSpec> match;
  Field<PolicySpec> policy;
  Field<ClassQueueSpec> queue;
  Field<Bytes> buffer;
};
struct ClassSpec : LeafClassSpec {
  Field<Table<LeafClassSpec>> classes;
};

struct DirectionSpec {
  Field<BitRate> rate;
  Field<Nanos> delay;
  Field<BufferSpec> buffer;
  Field<Bytes> overhead;
  Field<double> loss, reorder;
  Field<Nanos> jitter;
  Field<std::string> drain;
  Field<LinkScheme> law;
  Field<std::string> source_check;
  Field<Table<ClassSpec>> classes;
};

struct LinkSpec : DirectionSpec {  // settings of both directions
  Field<std::vector<Field<std::string>>> ends;
  Field<DirectionSpec> forward, reverse;  // settings of one direction
  Field<uint16_t> mtu, vlan;
  Field<bool> emulate_delay;
  Field<AttachBothSpec> attach;
  Field<Table<OneOrMany<AddressSpec>>> addresses;
  Field<Table<Field<Mac>>> macs;
};

/// Settings of the links of a generated network, in both directions.
struct GeneratedLinkSpec {
  Field<BitRate> rate;
  Field<Nanos> delay;
  Field<BufferSpec> buffer;
  Field<std::string> drain;
  Field<LinkScheme> law;
  Field<uint16_t> mtu;
};
struct AsLikeSpec {
  Field<std::string> file;
  Field<unsigned> hosts;
};
/// Its shape, and its size.
struct ShapeSpec {
  static constexpr bool kOneOf = true;
  Field<unsigned> dumbbell, parking_lot, fat_tree;
  Field<AsLikeSpec> as_like;
};
struct GenerateSpec {
  Field<ShapeSpec> shape;
  Field<HostSpec> hosts;
  Field<GeneratedLinkSpec> links, access;
};

struct TreeSpec {
  Field<OneOrMany<GroupAddress>> group;
  Field<std::string> root;
  Field<OneOrMany<std::string>> receivers;
};

/// Settings that flows and workloads share.
struct TransferSpec {
  Field<FlowScheme> protocol;
  Field<IpVersion> ip_version;
  Field<Nanos> start, stop;
  Field<Bytes> packet;
  Field<std::string> counts;
  Field<BitRate> limit;
  Field<unsigned> dscp;
};

struct FlowSpec : TransferSpec {
  Field<std::string> from, to;
  Field<Bytes> size;
  Field<double> share;
  Field<unsigned> count;
  Field<bool> background;
  Field<BitRate> hold;
};

struct GapsSpec {
  Field<Nanos> from, to;
};
struct ArrivalsSpec {
  static constexpr bool kOneOf = true;
  Field<Frequency> poisson, periodic;
  Field<GapsSpec> uniform;
};
struct ParetoSpec {
  Field<Bytes> mean, cap;
  Field<double> shape;
};
struct SizeSpec {
  static constexpr bool kOneOf = true;
  Field<Bytes> fixed, exponential;
  Field<ParetoSpec> pareto;
  Field<std::string> trace;
};
struct WorkloadSpec : TransferSpec {
  Field<OneOrMany<std::string>> from, to;
  Field<ArrivalsSpec> arrivals;
  Field<SizeSpec> size;
  Field<Nanos> on, off;
};

struct StreamRateSpec {
  static constexpr bool kOneOf = true;
  Field<Frequency> packets;
  Field<BitRate> l1, l2;
  Field<double> line;
};
struct FramesSpec {
  static constexpr bool kOneOf = true;
  Field<OneOrMany<Bytes>> sizes;
  Field<Nothing> imix;
};
struct StreamSpec {
  Field<std::string> from, to;
  Field<IpVersion> ip_version;
  Field<Nanos> start, stop;
  Field<StreamRateSpec> rate;
  Field<FramesSpec> frames;
  Field<unsigned> dscp, flows;
  Field<Nanos> slack;
};

struct TrafficSpec {
  Field<Table<FlowSpec>> flows;
  Field<Table<WorkloadSpec>> workloads;
  Field<Table<StreamSpec>> streams;
};

struct FileSpec {
  Field<std::string> preset;
  Field<RunSpec> run;
  Field<Table<HostSpec>> hosts;
  Field<Table<RouterSpec>> routers;
  Field<Table<LinkSpec>> links;
  Field<Table<GenerateSpec>> generate;
  std::vector<std::string> edge_lists;  // files that `generate` has read
  Field<Table<TreeSpec>> trees;
  Field<Table<GroupSpec>> groups;
  Field<Table<CustomerSpec>> customers;
  Field<std::string> customer_table;
  Field<Table<GatewaySpec>> gateways;
  Field<TrafficSpec> traffic;
};

}  // namespace turnpike::config
