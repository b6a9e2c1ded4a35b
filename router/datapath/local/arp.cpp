// SPDX-License-Identifier: BSD-3-Clause
#include "router/datapath/local/arp.h"

#include <rte_arp.h>

#include "common/wire/bytes.h"
#include "router/datapath/local/reply.h"

namespace turnpike::router {

namespace {
constexpr uint32_t kEthernetIpv4 = 0x00010800;  // hardware type 1, protocol type 0x0800
constexpr uint16_t kSizes = 0x0604;             // a MAC and an IPv4 address
// Offsets in the ARP packet (RFC 826).
constexpr size_t kSizesAt = 4, kOpcodeAt = 6, kSenderMacAt = 8, kSenderAt = 14, kTargetMacAt = 18,
                 kTargetAt = 24, kSize = 28;
static_assert(kSize == sizeof(rte_arp_hdr));
}  // namespace

DropReason answer_arp(rte_mbuf& m, const PacketInfo& p, WorkerContext& context, LocalTx& out) {
  if (m.data_len < p.l3 + kSize) return DropReason::kBadArp;
  uint8_t* arp = frame_of(&m) + p.l3;
  if (wire::load_be32(arp) != kEthernetIpv4 || wire::load_be16(arp + kSizesAt) != kSizes)
    return DropReason::kBadArp;
  const Station& self = context.tables->stations()[p.input];
  const uint32_t target = wire::load_be32(arp + kTargetAt);
  if (wire::load_be16(arp + kOpcodeAt) != RTE_ARP_OP_REQUEST || self.ipv4.address == 0 ||
      target != self.ipv4.address) {
    return DropReason::kForeignArp;
  }
  wire::store_be16(arp + kOpcodeAt, RTE_ARP_OP_REPLY);
  std::memmove(arp + kTargetMacAt, arp + kSenderMacAt, 10);  // MAC and address
  std::memcpy(arp + kSenderMacAt, self.mac.data(), self.mac.size());
  wire::store_be32(arp + kSenderAt, target);
  return send_back(m, p, static_cast<uint16_t>(kSize), context, out);
}

}  // namespace turnpike::router
