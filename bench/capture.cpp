// SPDX-License-Identifier: BSD-3-Clause
// Writes captures for the ports of a topology's first router, one file per link: packets that the
// node at the link's far end would send through the router. bench/compare_testpmd.py feeds them to
// the router and to testpmd.
#include "common/wire/capture.h"

#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "common/config/load.h"
#include "common/protocols/fcp/header.h"
#include "common/wire/frame_builder.h"
#include "common/wire/turnpike_header.h"

namespace turnpike::bench {
namespace {

struct Options {
  std::string topology, folder;
  std::vector<uint16_t> datagrams;  // B of IP datagrams, in turn
  unsigned packets = 512;           // a file; a multiple of the sizes keeps their shares exact
  bool fcp = false;                 // FCP data packets; otherwise UDP to a host behind the router
};

/// Addresses that the router sends out of `link`: hosts of random routes, or the neighbour.
class Destinations {
 public:
  Destinations(const config::Topology& t, const config::Router& router, size_t link)
      : neighbour_(t.links[link].ends[1 - t.links[link].end_at(router.name)].ipv4.address) {
    for (size_t i = 0; i < router.ipv4_by_hand + router.ipv4_in_table; ++i)
      if (router.ipv4_routes[i].link == link) prefixes_.push_back(router.ipv4_routes[i].prefix);
  }
  config::Ipv4 draw(std::mt19937_64& random) const {
    if (prefixes_.empty()) return neighbour_;
    const config::Ipv4Prefix& p = prefixes_[random() % prefixes_.size()];
    // Neither the network's address nor its broadcast address, where a prefix has room for others.
    const auto hosts = (uint64_t{1} << (32 - p.length)) - 1;
    return p.address + static_cast<config::Ipv4>(hosts > 1 ? 1 + random() % (hosts - 1) : 0);
  }

 private:
  config::Ipv4 neighbour_;
  std::vector<config::Ipv4Prefix> prefixes_;
};

std::vector<uint8_t> payload_of(bool fcp, uint32_t flow) {
  if (!fcp) return {};
  std::vector<uint8_t> payload(wire::header_length(fcp::kHeaderSize, 0));
  wire::encode({.protocol = fcp::kProtocolId,
                .length = static_cast<uint16_t>(payload.size()),
                .flow = flow,
                .sequence = 1},
               payload.data());
  fcp::store({.rtt_ns = 20'000'000, .balance = 1e-9F}, payload.data() + wire::kHeaderSize);
  return payload;
}

/// Packets that arrive on links[at] of the router and leave by the next link.
bool write(const config::Topology& t, const config::Router& router, size_t at, const Options& o) {
  const config::Link& in = t.links[router.links[at]];
  const size_t end = in.end_at(router.name);
  const Destinations to(t, router, router.links[(at + 1) % router.links.size()]);
  wire::Capture capture(o.folder + "/" + in.name + ".pcap");
  std::mt19937_64 random(at);
  for (unsigned i = 0; i < o.packets; ++i) {
    const wire::FrameSpec spec{
        .source_mac = in.ends[1 - end].mac,
        .destination_mac = in.ends[end].mac,
        .vlan = {},
        .addresses = wire::Ipv4Pair{in.ends[1 - end].ipv4.address, to.draw(random)},
        .source_port = static_cast<uint16_t>(49152 + random() % 16384),
        .destination_port = o.fcp ? t.run.udp_port : uint16_t{9}};
    capture.add(wire::build_frame(spec, payload_of(o.fcp, i), o.datagrams[i % o.datagrams.size()]));
  }
  return capture.good();
}

int run(int argc, char** argv) {
  Options o;
  CLI::App app("Writes FOLDER/LINK.pcap for every link of the topology's first router.");
  app.add_option("topology", o.topology, "the topology file")->required();
  app.add_option("folder", o.folder, "where to write")->required();
  app.add_option("--datagrams", o.datagrams, "bytes of IP datagrams, one after the other")
      ->required()
      ->delimiter(',');
  app.add_option("--packets", o.packets, "packets per file");
  app.add_flag("--fcp", o.fcp, "FCP data packets; without it plain UDP");
  CLI11_PARSE(app, argc, argv);
  const auto t = config::load_file(o.topology);
  if (!t) {
    for (const config::Mistake& m : t.error()) std::fprintf(stderr, "%s\n", m.text().c_str());
    return 1;
  }
  for (size_t at = 0; at < t->routers.front().links.size(); ++at) {
    if (!write(*t, t->routers.front(), at, o)) {
      std::fprintf(stderr, "cannot write captures to %s\n", o.folder.c_str());
      return 1;
    }
  }
  return 0;
}

}  // namespace
}  // namespace turnpike::bench

int main(int argc, char** argv) { return turnpike::bench::run(argc, argv); }
