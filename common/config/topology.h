// SPDX-License-Identifier: BSD-3-Clause
// A topology file, typed. load() fills in omitted values, so that every consumer sees a complete
// network.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/protocols/link_class.h"
#include "common/protocols/param.h"
#include "common/units/secret_bytes.h"
#include "common/units/units.h"

namespace turnpike::config {

using Ipv4 = uint32_t;                 // host byte order
using Ipv6 = std::array<uint8_t, 16>;  // network order
using Mac = std::array<uint8_t, 6>;

struct Ipv4Prefix {
  Ipv4 address = 0;
  uint8_t length = 32;
};
struct Ipv6Prefix {
  Ipv6 address{};
  uint8_t length = 128;
};

// --- attachments of link ends to ports
// ------------------------------------------------------------

/// Pause frames of IEEE 802.3x that a NIC obeys (rx), sends (tx), or both (on).
enum class FlowControl : uint8_t { kOff, kRx, kTx, kOn };
struct AttachPci {
  std::string address;
  std::optional<FlowControl> flow_control = {};  // none: as the NIC's driver sets it
};
struct AttachMemif {
  std::string socket;
  uint32_t id = 0;
  bool server = false;
};
struct AttachAfPacket {
  std::string interface;
};
struct AttachAfXdp {
  std::string interface;
};
struct AttachTap {
  std::string interface;
};
struct AttachRing {};  // both ends in one process (the lab)
struct AttachPcap {
  std::string rx_file, tx_file;
  bool repeat = false;
};
/// A DPDK virtual device by its own name and arguments, for devices without a type here.
struct AttachVdev {
  std::string arguments;
};

/// Ports that DPDK opens in one process (RTE_MAX_ETHPORTS, as Debian builds it).
inline constexpr size_t kMaxPorts = 32;

using Attachment = std::variant<std::monostate, AttachPci, AttachMemif, AttachAfPacket, AttachAfXdp,
                                AttachTap, AttachRing, AttachPcap, AttachVdev>;

// --- nodes --------------------------------------------------------------------------------------

/// One end of a link: a node's interface.
struct Interface {
  std::string node;
  Ipv4Prefix ipv4;  // address and prefix length of the subnet
  Ipv6Prefix ipv6;
  Mac mac{};
  Attachment attachment;
};

struct BudgetChange {
  Nanos at{0};
  Budget budget{0};
};

struct Host {
  std::string name;
  Budget budget{0};                        // $/s at the start; 0: a pure receiver
  std::vector<BudgetChange> changes = {};  // in order of time
  std::string strategy = "equal-budget";
  bool external = false;  // a real machine or kernel, which the sender does not emulate
  size_t link = 0;        // its only link, index into Topology::links
  size_t end = 0;         // its end of that link
};

/// Packets to `prefix` leave by `link`, to the interface at its other end.
template <class Prefix>
struct Route {
  Prefix prefix;
  size_t link = 0;
  uint8_t distance = 1;  // administrative: of several routes to a prefix the smallest serves
};

/// Room in a router's forwarding tables that a control plane changes.
struct FibSize {
  uint32_t ipv4 = 200'000, ipv6 = 50'000;  // prefixes
};

/// A router's enforcement of its customers' budgets.
struct Enforcement {
  std::vector<size_t> links;    // links whose packets are charged
  double tolerance = 0.005;     // spending beyond the budget that is accepted, as a share of it
  Nanos burst{0};               // of spending: budget of this time may be spent at once
  Nanos promise_burst{0};       // the same for promises of flows, and for their SYNs
  bool charge_unpriced = true;  // packets without a congestion header cost size x price
  Nanos unpriced_burst{0};      // the same as `burst`, for such packets
};

/// Classes of packets that go to Linux, each with a rate limit.
enum class PuntClass : uint8_t {
  kNeighbour,  // ARP and neighbour discovery
  kRouting,    // link-scope multicast of routing protocols, IS-IS
  kLocal,      // to the router's own addresses
  kTtl,        // with an expired TTL
  kOther,      // LLDP, groups that Linux has joined, limited broadcasts
};
inline constexpr size_t kPuntClasses = 5;
/// Names in files and reports, in the order of PuntClass.
inline constexpr std::array<std::string_view, kPuntClasses> kPuntClassNames{
    "neighbour", "routing", "local", "ttl", "other"};

/// Linux as a router's control plane: a TAP interface for each link.
struct LinuxControl {
  std::vector<std::string> interfaces;       // by link of the router
  std::array<double, kPuntClasses> rates{};  // packets/s of each class, per link and lcore
  bool punt_ttl = false;                     // Linux answers packets with an expired TTL
  bool file_addresses = true;                // the interfaces start with the file's addresses
  std::string network_namespace = {};        // of the interfaces; empty: the router's
};

struct Router {
  std::string name;
  std::vector<unsigned> lcores;                // CPUs; shaped links belong to the first by default
  std::vector<Route<Ipv4Prefix>> ipv4_routes;  // given and computed, longest match wins
  std::vector<Route<Ipv6Prefix>> ipv6_routes;
  std::vector<size_t> links;                    // links that end here
  size_t ipv4_by_hand = 0, ipv6_by_hand = 0;    // number of routes from the file, which come first
  std::string table = {};                       // file of more routes, empty: none
  size_t ipv4_in_table = 0, ipv6_in_table = 0;  // number of routes from it, which come next
  std::optional<Enforcement> enforcement = {};
  std::optional<FibSize> fib = {};                 // none: the routes of the file, for good
  std::optional<LinuxControl> linux_control = {};  // none: the router answers for itself
  bool rebalance = true;                           // moves flows from busy lcores to others
  // Of subnets of its links: other routers have a route to each of these instead of to the subnets.
  std::optional<Ipv4Prefix> ipv4_prefix = {};
  std::optional<Ipv6Prefix> ipv6_prefix = {};
  bool nic_filters = false;  // NICs drop packets with martian sources
};

// --- customers ----------------------------------------------------------------------------------

/// A group of customers with a common share of each link.
struct Group {
  std::string name;
  double weight = 1;
};

inline constexpr size_t kNoIndex = SIZE_MAX;  // no such index

/// A customer of the network, known by its prefixes or by the link on which it sends.
struct Customer {
  std::string name;
  Budget budget{0};
  BitRate ceiling{0};       // of what a gateway sends for it; 0: none
  size_t group = kNoIndex;  // index into Topology::groups
  size_t link = kNoIndex;   // index into Topology::links
};

template <class Prefix>
struct CustomerPrefix {
  Prefix prefix;
  uint32_t customer = 0;  // index into Topology::customers
};

/// A protocol's law with its parameters, or none: FIFO.
struct LawChoice {
  std::string protocol = "none";
  ParamValues params;
};

// --- gateways -----------------------------------------------------------------------------------

/// The other end of a gateway's tunnels.
struct GatewayPeer {
  std::string name;
  std::variant<Ipv4, Ipv6> address;   // to which the tunnels' packets go
  std::vector<Ipv4Prefix> ipv4 = {};  // destinations behind it
  std::vector<Ipv6Prefix> ipv6 = {};
  std::vector<SecretBytes> keys = {};  // of its tunnels: the first seals, all open
};

/// Encryption of a gateway's tunnels, with the keys of its peers.
struct GatewaySecurity {
  std::string key_file;     // absolute
  std::string unread = {};  // reason why it could not be read: the keys are not known
  bool exposed = false;     // others than its owner may read it
};

/// Treatment of packets for a peer that does not answer.
enum class SilentPeer : uint8_t {
  kForward,  // forwards them as any router does
  kDrop,
};

/// A class of customers' packets, which have tunnels of their own.
struct GatewayClass {
  std::string name;
  std::vector<unsigned> dscp = {};  // of its packets; empty: those of no other class
  unsigned core_dscp = 0;           // of its tunnels' packets
  double share = 1;                 // within a customer's budget and ceiling
  bool background = false;          // spends a ten-thousandth of the budget
};

/// A router that carries its customers' packets to peers in tunnels: priced flows, one for each
/// customer, class and peer.
struct Gateway {
  size_t router = 0;         // index into Topology::routers
  std::vector<size_t> core;  // links towards the peers; the router's others face customers
  std::vector<GatewayPeer> peers = {};
  std::vector<GatewayClass> classes = {};        // one at least; of these one is without `dscp`
  std::array<uint8_t, 64> class_of = {};         // by DSCP: index into `classes`
  std::string strategy = "max-min";              // divides a customer's budget among its tunnels
  std::optional<GatewaySecurity> security = {};  // none: packets in the clear
  LawChoice law;                                 // of the tunnels' flows
  Bytes mtu{0};                                  // of the tunnels' packets, headers included
  Bytes limit{0};                                // of a tunnel's queue
  Nanos target{0}, interval{0};                  // of CoDel in it
  Nanos idle{0};                                 // a tunnel without packets for so long closes
  SilentPeer silent_peer = SilentPeer::kForward;
  bool outside = false;  // customers' packets also go to the core outside of tunnels, unpriced
};

// --- links --------------------------------------------------------------------------------------

/// Validation of source addresses at a link's receiving end, a router (RFC 3704, RFC 8704).
enum class SourceCheck : uint8_t {
  kOff,
  kLoose,     // the source has a route
  kFeasible,  // some path to the source begins with this link, or a route in the file names it
  kStrict,    // the route to the source begins with this link
};

enum class Drain : uint8_t {
  kShaped,    // the router paces a software queue at `rate`
  kLineRate,  // the port is as fast as the link: every lcore sends straight to it
};

/// Conditions on a packet: all that are given must hold, and one item of each list.
struct ClassMatch {
  std::vector<unsigned> dscp = {}, protocol = {}, port = {};
  std::vector<std::variant<Ipv4Prefix, Ipv6Prefix>> source = {}, destination = {};
  std::optional<bool> unpriced = {};
};

/// A class of traffic on a link. Without conditions it matches every packet.
struct LinkClass {
  ClassMatch match = {};
  ClassMatch parent_match = {};  // of its outer class: must hold too
  std::string parent = {};       // name of its outer class; empty: none
  ClassRule rule = {};
  Bytes buffer{0};  // limit of its queue; 0: the link's buffer
};

/// One direction of a link, as its sending end treats it.
struct Direction {
  BitRate rate{0};
  Nanos delay{0};                // propagation, one way
  Bytes buffer{0};               // resolved: "1 BDP" has become bytes
  Bytes overhead{0};             // B per packet that the link carries beyond the IP datagram
  double loss = 0, reorder = 0;  // share of packets, by the link; on a virtual clock only
  Nanos jitter{0};               // of the link, beyond `delay`; on a virtual clock only
  Drain drain = Drain::kShaped;
  LawChoice law;
  SourceCheck source_check = SourceCheck::kOff;
  std::vector<LinkClass> classes;  // empty: all traffic is alike
};

inline constexpr uint16_t kMinIpv6Mtu = 1280;  // RFC 8200, section 5

struct Link {
  std::string name;
  std::array<Interface, 2> ends;
  std::array<Direction, 2> directions;  // [0]: ends[0] to ends[1]
  bool emulate_delay = true;            // false: the cable itself has `delay`
  uint16_t mtu = 1500;                  // largest IP datagram

  /// The end, 0 or 1, at this node.
  [[nodiscard]] size_t end_at(const std::string& node) const {
    return ends[0].node == node ? 0 : 1;
  }
};

// --- trees --------------------------------------------------------------------------------------

/// One router's part of a tree, as links of the topology.
struct Branch {
  size_t router = 0;
  size_t upstream = 0;           // the root's packets arrive by it, answers leave by it
  std::vector<size_t> children;  // the root's packets leave by them, answers arrive by them
};

/// A multicast distribution tree: paths from the root to the receivers, each link once.
struct Tree {
  std::string name;
  Ipv4 ipv4 = 0;  // group addresses
  Ipv6 ipv6{};
  size_t root = 0;                // host that sends
  std::vector<size_t> receivers;  // hosts
  std::vector<Branch> branches;   // routers, those nearer to the root first
};

// --- traffic ------------------------------------------------------------------------------------

inline constexpr uint64_t kEndless = UINT64_MAX;
inline constexpr size_t kNoTree = SIZE_MAX;

struct Flow {
  std::string name;
  size_t from = 0, to = 0;  // hosts; of a flow to a tree, `to` is its first receiver
  std::string protocol = "fcp";
  ParamValues params;
  unsigned ip_version = 4;
  Nanos start{0};
  Nanos stop = kNever;
  uint64_t size = kEndless;    // payload bytes to deliver
  double share = 1;            // weight within its host's budget
  Bytes packet{1500};          // IP datagram of a full packet
  bool count_packets = false;  // `size` counts IP datagrams, not their payload
  BitRate limit{0};            // rate limit of the application; 0: none
  unsigned count = 1;          // number of such flows
  bool background = false;
  unsigned dscp = 0;
  BitRate hold{0};        // strategy `stability`: rate to hold; 0: none
  size_t tree = kNoTree;  // index into Topology::trees if it sends to all receivers of a tree
};

struct FixedSize {
  Bytes size;
};
struct ParetoSize {
  Bytes mean;  // of drawn sizes, after clipping to the cap
  double shape = 1.2;
  Bytes cap{0};  // upper bound of drawn sizes; 0: none
};
struct ExponentialSize {
  Bytes mean;
};
/// Times in s and sizes in B from a CSV file, for arrivals and sizes.
struct TraceSize {
  std::string file;
};
using SizeDistribution = std::variant<FixedSize, ParetoSize, ExponentialSize, TraceSize>;

struct PoissonArrivals {
  double per_second = 0;
};
struct PeriodicArrivals {
  double per_second = 0;
};
/// Independent times between arrivals, each as likely as any other between `least` and `most`.
struct UniformArrivals {
  Nanos least{0}, most{0};
};
struct TraceArrivals {};
using Arrivals = std::variant<PoissonArrivals, PeriodicArrivals, UniformArrivals, TraceArrivals>;

/// A stream of finite flows.
struct Workload {
  std::string name;
  std::vector<size_t> from, to;  // each arrival draws one of each, uniformly
  std::string protocol = "fcp";
  ParamValues params;
  unsigned ip_version = 4;
  Nanos start{0};
  Nanos stop = kNever;
  Arrivals arrivals;
  SizeDistribution size;
  Nanos on{0}, off{0};  // arrivals only in the on part of an on/off cycle; 0: always on
  Bytes packet{1500};
  bool count_packets = false;
  BitRate limit{0};
  unsigned dscp = 0;
};

struct PacketRate {
  double per_second = 0;
};
struct L1Rate {  // bit/s of frames with preamble and gap
  BitRate rate;
};
struct L2Rate {  // bit/s of frames with FCS
  BitRate rate;
};
/// Share of the sending host's link, whose rate counts IP datagrams and its overhead.
struct LineShare {
  double share = 0;
};
using StreamRate = std::variant<PacketRate, L1Rate, L2Rate, LineShare>;

inline constexpr uint16_t kStreamPort = 9;            // UDP: discard (RFC 863)
inline constexpr uint32_t kFrameBeyondDatagram = 18;  // B: Ethernet header and FCS
inline constexpr uint32_t kFrameOnLine = 20;          // B: preamble and gap

/// Packets at a constant rate without congestion control, counted where they arrive.
struct Stream {
  std::string name;
  size_t from = 0, to = 0;  // hosts
  unsigned ip_version = 4;
  Nanos start{0};
  Nanos stop = kNever;
  StreamRate rate;
  std::vector<Bytes> frames = {};  // sizes with FCS, sent in this order, repeated
  unsigned dscp = 0;
  unsigned flows = 1;
  Nanos slack{0};  // largest delay of a packet by the sender
};

// --- the run ------------------------------------------------------------------------------------

/// A span of time with figures of its own in the summary.
struct Span {
  std::string name;
  Nanos from{0}, to{0};
};

struct Run {
  std::string name;  // scenario; the file's stem by default
  Nanos duration = from_seconds(10);
  uint64_t seed = 1;
  std::string output = "out";        // folder
  Nanos sample = from_seconds(0.1);  // interval of the series
  Nanos settle = from_seconds(0.5);  // after each change of flows, before shares are measured
  double tolerance = 0.05;           // on each host's share
  uint16_t udp_port = 4747;
  Nanos quantum{0};  // of a virtual clock; 0: exact
  std::vector<Span> measure = {};
  std::string preset = {};
};

/// A complete network and its traffic. Indices refer to these vectors.
struct Topology {
  Run run;
  std::vector<Host> hosts;
  std::vector<Router> routers;
  std::vector<Link> links;
  std::vector<Tree> trees;
  std::vector<Flow> flows;
  std::vector<Workload> workloads;
  std::vector<Stream> streams;
  std::vector<Group> groups = {};
  std::vector<Customer> customers = {};  // those of `customer_table` last, named by their prefixes
  std::vector<CustomerPrefix<Ipv4Prefix>> ipv4_customers = {};
  std::vector<CustomerPrefix<Ipv6Prefix>> ipv6_customers = {};
  std::vector<Gateway> gateways = {};
  std::string customer_table = {};  // file of customers, empty: none
  size_t customers_in_table = 0;
  std::vector<std::string> edge_lists = {};  // files of generated networks

  [[nodiscard]] const Interface& interface_of(const Host& h) const {
    return links[h.link].ends[h.end];
  }

  /// Number of a flow's destination: of a host its index, of a tree its index behind all hosts.
  [[nodiscard]] size_t destination_of(const Flow& f) const {
    return f.tree == kNoTree ? f.to : hosts.size() + f.tree;
  }
  [[nodiscard]] const std::string& destination_name(size_t destination) const {
    return destination < hosts.size() ? hosts[destination].name
                                      : trees[destination - hosts.size()].name;
  }
};

}  // namespace turnpike::config
