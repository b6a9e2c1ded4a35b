// SPDX-License-Identifier: BSD-3-Clause
#include "router/datapath/enforcement/balance_audit.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace turnpike::router {
namespace {

std::array<uint64_t, 2> halves_of(const BalanceAudit::Address& a) {
  return std::bit_cast<std::array<uint64_t, 2>>(a);
}

size_t hash_of(const BalanceAudit::Address& a) {
  const auto [high, low] = halves_of(a);
  return static_cast<size_t>((high ^ std::rotl(low, 29)) * 0x9e3779b97f4a7c15 >> 32);
}

}  // namespace

// Fades in steps of a sixteenth of the memory: the averages serve ratios alone.
void BalanceAudit::Average::age(int64_t now, int64_t memory_ns) {
  if (now - aged < memory_ns / 16) return;
  const double kept = std::exp(-static_cast<double>(now - aged) / static_cast<double>(memory_ns));
  charged *= kept;
  owed *= kept;
  aged = now;
}

bool BalanceAudit::account(const ChargeBatch& packets, Nanos now) {
  // Of all traffic the link keeps bytes, because senders may have currencies of their own.
  link_.age(now.count(), memory_.count());
  link_.charged += double{packets.charged_bytes};
  link_.owed += double{packets.owed_bytes};
  // Watches senders for a while, so that it sees more of them than their worst moments.
  if (link_.owed > kSuspicious * link_.charged) watch_until_ = now + memory_ * kWatch;
  return now < watch_until_;
}

void BalanceAudit::account(const Address& source, double paid, double charged, Nanos now) {
  const double missing = std::max(1 - paid / charged, -kMaxCredit);
  Sender* s = missing > 0 ? watch(source, now.count()) : find(source);
  if (s == nullptr) return;
  if (now.count() >= s->window_end && s->packets >= kEvidence) end_window(*s, now.count());
  s->charged += charged;
  s->owed += charged * missing;
  ++s->packets;
}

void BalanceAudit::begin_window(Sender& s, int64_t now) const {
  s.charged = s.owed = 0;
  s.packets = 0;
  s.window_end = now + memory_.count() / kWindows;
}

void BalanceAudit::end_window(Sender& s, int64_t now) {
  s.guilty = s.share() > kGuilty ? static_cast<uint16_t>(s.guilty + 1) : 0;
  if (s.guilty == kWindows) block(s, now);
  begin_window(s, std::max(now, s.blocked_until));
}

BalanceAudit::Sender* BalanceAudit::find(const Address& source) {
  const size_t first = hash_of(source) % (kSenders / kWays) * kWays;
  for (size_t i = first; i < first + kWays; ++i)
    if (senders_[i].window_end != 0 && senders_[i].source == source) return &senders_[i];
  return nullptr;
}

// The sender's place: its own, or that of the one that owes least of those that are not blocked.
BalanceAudit::Sender* BalanceAudit::watch(const Address& source, int64_t now) {
  if (Sender* own = find(source)) return own;
  const size_t first = hash_of(source) % (kSenders / kWays) * kWays;
  Sender* place = nullptr;
  for (size_t i = first; i < first + kWays; ++i) {
    Sender& s = senders_[i];
    if (s.blocked_until > now) continue;
    if (place == nullptr || s.guilty < place->guilty ||
        (s.guilty == place->guilty && s.owed < place->owed))
      place = &s;
  }
  if (place != nullptr) {
    *place = {};
    place->source = source;
    begin_window(*place, now);
  }
  return place;
}

void BalanceAudit::block(Sender& s, int64_t now) {
  if (now >= s.pardon) s.offences = 0;
  const int64_t once = 2 * memory_.count();
  const int64_t time = std::min(once << std::min<unsigned>(s.offences, 10), kMaxBlock);
  ++s.offences;
  s.blocked_until = now + time;
  s.pardon = s.blocked_until + 4 * time;
  s.guilty = 0;
  blocks_until_ = std::max(blocks_until_, Nanos(s.blocked_until));
  Published& v = place_for(s.source);
  v.owed.store(s.share(), kRelaxed);
  v.offences.store(v.offences.load(kRelaxed) + 1, kRelaxed);
  offences_.store(offences_.load(kRelaxed) + 1, kRelaxed);
}

bool BalanceAudit::blocked(const Address& source, Nanos now) {
  const Sender* s = find(source);
  if (s == nullptr || now.count() >= s->blocked_until) return false;
  Published& v = place_for(source);
  v.dropped.store(v.dropped.load(kRelaxed) + 1, kRelaxed);
  return true;
}

// The entry of this sender, or a new one in the place of the least important.
BalanceAudit::Published& BalanceAudit::place_for(const Address& source) {
  const auto halves = halves_of(source);
  Published* least = &published_[0];
  for (Published& v : published_) {
    if (v.source[0].load(kRelaxed) == halves[0] && v.source[1].load(kRelaxed) == halves[1] &&
        v.offences.load(kRelaxed) > 0)
      return v;
    if (v.dropped.load(kRelaxed) + v.offences.load(kRelaxed) <
        least->dropped.load(kRelaxed) + least->offences.load(kRelaxed))
      least = &v;
  }
  least->source[0].store(halves[0], kRelaxed);
  least->source[1].store(halves[1], kRelaxed);
  least->offences.store(0, kRelaxed);
  least->dropped.store(0, kRelaxed);
  return *least;
}

size_t BalanceAudit::offenders(std::span<Offender> out) const {
  size_t n = 0;
  for (const Published& v : published_) {
    if (n == out.size()) break;
    if (v.offences.load(kRelaxed) == 0) continue;
    out[n++] = {.source = std::bit_cast<Address>(
                    std::array{v.source[0].load(kRelaxed), v.source[1].load(kRelaxed)}),
                .owed = v.owed.load(kRelaxed),
                .offences = v.offences.load(kRelaxed),
                .dropped = v.dropped.load(kRelaxed)};
  }
  return n;
}

}  // namespace turnpike::router
