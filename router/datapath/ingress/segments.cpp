// SPDX-License-Identifier: BSD-3-Clause
#include "router/datapath/ingress/segments.h"

#include <algorithm>
#include <cstring>

namespace turnpike::router {

bool join_front(rte_mbuf* m, uint32_t want) {
  want = std::min(want, m->pkt_len);
  if (m->data_len >= want) return true;
  if (!RTE_MBUF_DIRECT(m) || rte_mbuf_refcnt_read(m) != 1 ||
      rte_pktmbuf_tailroom(m) < want - m->data_len) {
    return false;
  }
  uint32_t missing = want - m->data_len;
  while (missing > 0 && m->next != nullptr) {
    rte_mbuf* next = m->next;
    const auto n = static_cast<uint16_t>(std::min<uint32_t>(missing, next->data_len));
    std::memcpy(rte_pktmbuf_mtod_offset(m, uint8_t*, m->data_len), rte_pktmbuf_mtod(next, uint8_t*),
                n);
    m->data_len = static_cast<uint16_t>(m->data_len + n);
    next->data_off = static_cast<uint16_t>(next->data_off + n);
    next->data_len = static_cast<uint16_t>(next->data_len - n);
    missing -= n;
    if (next->data_len == 0) {
      m->next = next->next;
      m->nb_segs--;
      rte_pktmbuf_free_seg(next);
    }
  }
  return true;
}

void cut_to(rte_mbuf* m, uint32_t length) {
  m->pkt_len = length;
  rte_mbuf* segment = m;
  uint16_t segments = 1;
  while (length > segment->data_len && segment->next != nullptr) {
    length -= segment->data_len;
    segment = segment->next;
    ++segments;
  }
  segment->data_len = static_cast<uint16_t>(length);
  rte_mbuf* rest = segment->next;
  segment->next = nullptr;
  m->nb_segs = segments;
  while (rest != nullptr) {
    rte_mbuf* next = rest->next;
    rte_pktmbuf_free_seg(rest);
    rest = next;
  }
}

}  // namespace turnpike::router
