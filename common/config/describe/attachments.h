// SPDX-License-Identifier: BSD-3-Clause
// Keys of a topology file: ports of links.
#pragma once

#include <array>
#include <string_view>

#include "common/config/describe/about.h"

namespace turnpike::config {

/// In the order of FlowControl.
inline constexpr std::array<std::string_view, 4> kFlowControls{"off", "rx", "tx", "on"};

template <class V>
void describe(V& v, PciSpec& s) {
  v.field("address", s.address, {.doc = "PCI address, such as 0000:3b:00.0", .required = true});
  v.field("flow_control", s.flow_control,
          {.doc = "pause frames of IEEE 802.3x. rx: the NIC obeys its neighbour's; tx: it sends "
                  "them when its buffer fills; on: both; as its driver sets it unless given",
           .words = kFlowControls});
}

template <class V>
void describe(V& v, MemifSpec& s) {
  v.field(
      "socket", s.socket,
      {.doc = "path of the socket, %t/name in the folder of the service's own sockets, or @name "
              "in the abstract namespace; by default %t/memif/<run>+<link>"});
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
  v.field("pci", s.pci,
          {.doc = "a NIC by its PCI address, such as 0000:3b:00.0, or a map with the address"});
  v.field("memif", s.memif, {.doc = "shared memory between two processes", .bare = true});
  v.field("af_packet", s.af_packet, {.doc = "a kernel interface over an AF_PACKET socket"});
  v.field("af_xdp", s.af_xdp, {.doc = "a kernel interface over an AF_XDP socket"});
  v.field("tap", s.tap, {.doc = "a new kernel interface of this name"});
  v.field("ring", s.ring, {.doc = "both ends in one process", .bare = true});
  v.field("pcap", s.pcap, {.doc = "capture files"});
  v.field("vdev", s.vdev, {.doc = "a DPDK virtual device: its name and arguments"});
}

}  // namespace turnpike::config
