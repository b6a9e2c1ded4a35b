// SPDX-License-Identifier: BSD-3-Clause
// Each branch stamps its own price, TTL, MACs and checksums, so each copy has headers of its own.
#include "router/datapath/multicast/replicate.h"

#include <cstring>

namespace turnpike::router {

rte_mbuf* copy_front(rte_mbuf& m, uint16_t front, rte_mempool* pool) {
  rte_mbuf* head = rte_pktmbuf_alloc(pool);
  if (head == nullptr) return nullptr;
  char* bytes = rte_pktmbuf_append(head, front);
  if (bytes == nullptr) {
    rte_pktmbuf_free(head);
    return nullptr;
  }
  std::memcpy(bytes, rte_pktmbuf_mtod(&m, const char*), front);
  head->ol_flags = m.ol_flags & ~(RTE_MBUF_F_INDIRECT | RTE_MBUF_F_EXTERNAL);

  uint16_t skip = front;
  rte_mbuf* last = head;
  for (rte_mbuf* s = &m; s != nullptr; s = s->next) {
    if (s->data_len <= skip) {
      skip = static_cast<uint16_t>(skip - s->data_len);
      continue;
    }
    rte_mbuf* rest = rte_pktmbuf_alloc(pool);
    if (rest == nullptr) {
      rte_pktmbuf_free(head);
      return nullptr;
    }
    rte_pktmbuf_attach(rest, s);
    rest->data_off = static_cast<uint16_t>(rest->data_off + skip);
    rest->data_len = static_cast<uint16_t>(rest->data_len - skip);
    rest->pkt_len = rest->data_len;
    skip = 0;
    last->next = rest;
    last = rest;
    head->nb_segs++;
    head->pkt_len += rest->data_len;
  }
  return head;
}

}  // namespace turnpike::router
