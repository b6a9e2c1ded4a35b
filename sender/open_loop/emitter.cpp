// SPDX-License-Identifier: BSD-3-Clause
#include "sender/open_loop/emitter.h"

#include <algorithm>
#include <cstring>

#include <rte_mbuf.h>

#include "common/dpdk/buffer.h"
#include "sender/host/tx_buffer.h"

namespace turnpike::sender {
namespace {

const config::Direction& line_of(const config::Topology& t, const config::Stream& s) {
  const config::Host& from = t.hosts[s.from];
  return t.links[from.link].directions[from.end];
}

}  // namespace

Emitter::Emitter(const config::Topology& t, uint16_t index, rte_mempool* pool, bool zeroed)
    : rate_(t.streams[index], line_of(t, t.streams[index])),
      frames_(t, t.streams[index]),
      pool_(pool),
      start_(t.streams[index].start),
      stop_(std::min(t.streams[index].stop, t.run.duration)),
      slack_(t.streams[index].slack),
      index_(index),
      zeroed_(zeroed) {}

unsigned Emitter::emit(TxBuffer& tx, Nanos now) {
  if (now < next_deadline()) return 0;
  const Nanos earliest = now - slack_ - kMaxLag;
  if (rate_.due() < earliest) departures_.skipped.add(rate_.skip_to(std::min(earliest, stop_)));
  const Nanos due = rate_.due();
  unsigned n = 0;
  while (n < kBurst && rate_.due() <= now && rate_.due() < stop_) {
    if (!send(tx, now)) {
      retry_ = now + kRetry;
      break;
    }
    rate_.advance();
    ++n;
  }
  if (n > 0) departures_.lag.record(static_cast<uint64_t>((now - due).count()));
  return n;
}

bool Emitter::send(TxBuffer& tx, Nanos now) {
  if (tx.full()) {
    departures_.no_room.add();
    return false;
  }
  rte_mbuf* m = take_buffer(pool_);
  if (m == nullptr) {
    departures_.no_buffer.add();
    return false;
  }
  const uint32_t datagram = rate_.datagram();
  const size_t last_frame = m->data_len, written = frames_.headers_size() + Probe::kSize;
  m->data_len = static_cast<uint16_t>(frames_.frame_size(datagram));
  m->pkt_len = m->data_len;
  auto* frame = rte_pktmbuf_mtod(m, uint8_t*);
  if (const size_t end = dirty(last_frame, m->data_len); end > written)
    std::memset(frame + written, 0, end - written);
  frames_.write(frame, datagram, {.stream = index_, .sequence = sequence_++, .sent = now});
  tx.put(m);
  departures_.packets.add();
  departures_.bytes.add(datagram + config::kFrameBeyondDatagram);
  return true;
}

void Emitter::stop(Nanos now) { stop_ = std::min(stop_, now); }

}  // namespace turnpike::sender
