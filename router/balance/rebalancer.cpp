// SPDX-License-Identifier: BSD-3-Clause
#include "router/balance/rebalancer.h"

#include <algorithm>

namespace turnpike::router {
namespace {

/// Longest time for which a move's packets are parked, beside that of the transmit rings: the
/// table's delay, a full receive ring, and the polls in between.
constexpr Nanos kParked = RssSteering::kTableDelay + 4_ms;

/// Packets of a sample that leave half of the parking slots free.
uint64_t packets_to_park(Nanos tx_time, Nanos sampled) {
  const double parked = to_seconds(kParked + tx_time);
  return static_cast<uint64_t>(0.5 * RssSteering::kSlots * to_seconds(sampled) / parked);
}

std::string buckets_text(uint64_t n) {
  return std::to_string(n) + (n == 1 ? " bucket" : " buckets");
}

}  // namespace

Rebalancer::Rebalancer(RssSteering& steering, std::vector<BalancedPort> ports, uint16_t lcores)
    : steering_(steering), ports_(std::move(ports)), samples_(ports_.size()), lcores_(lcores) {
  for (size_t p = 0; p < ports_.size(); ++p) {
    const size_t buckets = ports_[p].table.size();
    steering_.add_port(static_cast<uint16_t>(buckets), lcores);
    Sample& s = samples_[p];
    s.rests_until.resize(buckets);
    s.counted.resize(buckets * lcores);
    s.packets.resize(buckets);
    s.stays.resize(buckets);
    // Drivers differ in whether packets without a hash go to queue 0 or where bucket 0 does.
    s.rests_until[0] = kNever;
  }
}

Nanos Rebalancer::poll(Nanos now, std::span<const Times> times, const Departure& departure) {
  if (times_.empty()) watch_from(now, times);
  switch (state_) {
    case State::kWatch:
      if (now < next_) break;
      if (departure.may_begin && std::ranges::any_of(samples_, &Sample::trusted) &&
          unequal(busy_since(times), {})) {
        start_counting(now, times);
      } else {
        watch_from(now, times);
      }
      break;
    case State::kCount:
      if (now >= next_) decide(now, times, departure);
      break;
    case State::kPark:
      if (steering_.parks()) write_table();
      next_ = now + kPoll;
      break;
    case State::kMove:
      next_ = now + kPoll;
      if (!steering_.busy()) watch_from(now, times);
      break;
  }
  return next_;
}

void Rebalancer::watch_from(Nanos now, std::span<const Times> times) {
  state_ = State::kWatch;
  times_.assign(times.begin(), times.end());
  begin_ = now;
  next_ = now + kPeriod;
}

std::vector<double> Rebalancer::busy_since(std::span<const Times> times) const {
  std::vector<double> busy;
  for (size_t w = 0; w < times.size(); ++w) {
    const Nanos spent = times[w].busy - times_[w].busy;
    const Nanos all = spent + times[w].idle - times_[w].idle;
    busy.push_back(all > Nanos(0) ? to_seconds(spent) / to_seconds(all) : 0);
  }
  return busy;
}

void Rebalancer::start_counting(Nanos now, std::span<const Times> times) {
  for (size_t p = 0; p < ports_.size(); ++p) {
    const size_t buckets = ports_[p].table.size();
    for (size_t i = 0; i < samples_[p].counted.size(); ++i)
      samples_[p].counted[i] =
          steering_.counted(static_cast<unsigned>(p), static_cast<uint16_t>(i / buckets),
                            static_cast<uint16_t>(i % buckets));
  }
  watch_from(now, times);
  state_ = State::kCount;
  next_ = now + kSample;
  steering_.start_counting();
}

// A driver whose buckets are not the last bits of the hash, or whose table is not the one that it
// shows, must not be given moves: the target would park the wrong packets.
void Rebalancer::read_counts(size_t port, Nanos now) {
  Sample& s = samples_[port];
  const std::vector<uint16_t>& table = ports_[port].table;
  for (size_t b = 0; b < table.size(); ++b) {
    s.packets[b] = 0;
    s.stays[b] = now < s.rests_until[b] ? 1 : 0;
    for (uint16_t q = 0; q < lcores_; ++q) {
      const uint64_t n =
          steering_.counted(static_cast<unsigned>(port), q, static_cast<uint16_t>(b)) -
          s.counted[q * table.size() + b];
      if (q == table[b]) s.packets[b] = n;
      if (q == table[b] || n == 0 || !s.trusted) continue;
      s.trusted = false;
      lines_.push_back("link " + ports_[port].link + ": packets of bucket " + std::to_string(b) +
                       " came to queue " + std::to_string(q) + " instead of " +
                       std::to_string(table[b]) + ": its buckets stay where they are");
    }
  }
  if (!s.trusted) std::ranges::fill(s.stays, uint8_t{1});
}

void Rebalancer::decide(Nanos now, std::span<const Times> times, const Departure& departure) {
  steering_.stop_counting();
  std::vector<BucketSample> samples;
  for (size_t p = 0; p < ports_.size(); ++p) {
    read_counts(p, now);
    samples.push_back({ports_[p].table, samples_[p].packets, samples_[p].stays});
  }
  const BalanceLimits limits{.max_packets = packets_to_park(departure.tx_time, now - begin_)};
  const std::vector<double> busy = busy_since(times);
  const auto move = departure.may_begin ? plan_move(busy, samples, limits) : std::nullopt;
  watch_from(now, times);
  if (!move) return;
  move_ = *move;
  state_ = State::kPark;
  next_ = now + kPoll;
  steering_.begin({.port = static_cast<unsigned>(move_.port),
                   .from = move_.from,
                   .to = move_.to,
                   .buckets = move_.buckets,
                   .rx_descriptors = ports_[move_.port].rx_descriptors,
                   .tx_descriptors = departure.tx_descriptors,
                   .tx_time = departure.tx_time});
}

// If the driver refuses, the table may have changed in part. The move goes on in any case, since it
// is right for packets that still come to the source as well; the port's buckets stay from then on.
void Rebalancer::write_table() {
  BalancedPort& port = ports_[move_.port];
  Sample& sample = samples_[move_.port];
  const BalancedPort::Written written = port.write(move_.buckets, move_.to);
  steering_.table_written(written.at);
  state_ = State::kMove;
  const std::string what = "link " + port.link + ": " + buckets_text(move_.buckets.size()) +
                           " of RSS from lcore " + std::to_string(move_.from) + " to " +
                           std::to_string(move_.to);
  if (!written.done) {
    sample.trusted = false;
    lines_.push_back(what + ": the driver refuses; its buckets stay where they are");
    return;
  }
  for (const uint16_t b : move_.buckets) {
    port.table[b] = move_.to;
    sample.rests_until[b] = written.at + kRest;
  }
  ++figures_.moves;
  figures_.buckets += move_.buckets.size();
  lines_.push_back(what);
}

}  // namespace turnpike::router
