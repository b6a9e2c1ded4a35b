// SPDX-License-Identifier: BSD-3-Clause
// Arrivals follow a clock that stops during the "off" parts of a cycle.
#include "sender/workload/stream.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace turnpike::sender {
namespace {

// Upper bound of arrival times, and of the sum of pauses before one.
constexpr Nanos kLatest = kNever / 4;
constexpr double kMaxTail = 1e15;  // B; a Pareto distribution has no upper bound

uint64_t whole_bytes(double bytes) {
  return static_cast<uint64_t>(std::clamp(bytes + 0.5, 1.0, kMaxTail));
}

/// The smallest size L of a Pareto distribution with shape a and that mean. Without a cap the mean
/// is a L / (a - 1). With a cap, larger sizes are cut to it, and the mean is
/// L (a - (L / cap)^(a - 1)) / (a - 1), which grows with L from 0 to the cap: solve by bisection.
double least_of(const config::ParetoSize& s) {
  const auto mean = static_cast<double>(s.mean.count());
  if (s.cap.count() <= 0) return mean * (s.shape - 1) / s.shape;
  const auto cap = static_cast<double>(s.cap.count());
  double low = 0, high = cap;
  for (int i = 0; i < 64; ++i) {
    const double least = (low + high) / 2;
    const double got = least * (s.shape - std::pow(least / cap, s.shape - 1)) / (s.shape - 1);
    (got < mean ? low : high) = least;
  }
  return high;
}

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

}  // namespace

Stream::Stream(config::Workload workload, uint64_t seed, uint32_t index)
    : workload_(std::move(workload)),
      times_(seed, index * 3),
      sizes_(seed, index * 3 + 1),
      pairs_(seed, index * 3 + 2) {
  if (const auto* pareto = std::get_if<config::ParetoSize>(&workload_.size))
    least_ = least_of(*pareto);
}

tl::expected<Stream, std::string> Stream::make(const config::Workload& workload, uint64_t seed,
                                               uint32_t index, Traces::Shared trace) {
  Stream stream(workload, seed, index);
  if (const auto* named = std::get_if<config::TraceSize>(&workload.size)) {
    stream.trace_ = std::move(trace);
    if (stream.trace_ == nullptr) {
      auto entries = config::load_trace(named->file);
      if (!entries) return tl::unexpected(entries.error().text());
      stream.trace_ = std::make_shared<const std::vector<TraceEntry>>(std::move(*entries));
    }
  } else if (std::holds_alternative<config::TraceArrivals>(workload.arrivals)) {
    return tl::unexpected("workload " + workload.name + ": arrivals from a trace need its sizes");
  }
  return stream;
}

std::optional<Arrival> Stream::next() {
  const auto at = next_time();
  if (!at || *at >= workload_.stop) return std::nullopt;
  Arrival a{.at = *at, .bytes = next_size()};
  a.from = static_cast<uint32_t>(workload_.from[pairs_.below(workload_.from.size())]);
  do {  // there is another one: the file was checked
    a.to = static_cast<uint32_t>(workload_.to[pairs_.below(workload_.to.size())]);
  } while (a.to == a.from);
  ++count_;
  return a;
}

std::optional<Nanos> Stream::next_time() {
  if (std::holds_alternative<config::TraceArrivals>(workload_.arrivals)) {
    if (count_ >= trace_->size()) return std::nullopt;
    return after_pauses((*trace_)[count_].at);
  }
  if (const auto* poisson = std::get_if<config::PoissonArrivals>(&workload_.arrivals)) {
    elapsed_ += times_.exponential(1 / poisson->per_second);
  } else if (const auto* gaps = std::get_if<config::UniformArrivals>(&workload_.arrivals)) {
    elapsed_ += to_seconds(gaps->least) + times_.uniform() * to_seconds(gaps->most - gaps->least);
  } else {
    // A product instead of a sum, so that rounding errors do not accumulate.
    const auto& periodic = std::get<config::PeriodicArrivals>(workload_.arrivals);
    elapsed_ = static_cast<double>(count_) / periodic.per_second;
  }
  return after_pauses(from_seconds(elapsed_));
}

std::optional<Nanos> Stream::after_pauses(Nanos running) const {
  if (running >= kLatest) return std::nullopt;
  Nanos paused{0};
  if (workload_.on.count() > 0 && workload_.off.count() > 0) {
    const int64_t pauses = running.count() / workload_.on.count();
    if (pauses > kLatest.count() / workload_.off.count()) return std::nullopt;
    paused = workload_.off * pauses;
  }
  return workload_.start + running + paused;
}

uint64_t Stream::next_size() {
  return std::visit(
      Overloaded{
          [](const config::FixedSize& s) { return static_cast<uint64_t>(s.size.count()); },
          [this](const config::ParetoSize& s) {
            const double drawn = sizes_.pareto(least_, s.shape);
            const auto cap = static_cast<double>(s.cap.count());
            return whole_bytes(cap > 0 ? std::min(drawn, cap) : drawn);
          },
          [this](const config::ExponentialSize& s) {
            return whole_bytes(sizes_.exponential(static_cast<double>(s.mean.count())));
          },
          // With arrivals of another kind, sizes repeat after the trace's end.
          [this](const config::TraceSize&) { return (*trace_)[count_ % trace_->size()].bytes; },
      },
      workload_.size);
}

}  // namespace turnpike::sender
