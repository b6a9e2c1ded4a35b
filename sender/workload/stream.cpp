// SPDX-License-Identifier: BSD-3-Clause
// Arrivals run on a clock that stands still in the "off" parts of a cycle.
#include "sender/workload/stream.h"

#include <algorithm>
#include <utility>

namespace turnpike::sender {
namespace {

constexpr double kLongestTail = 1e15;  // B; a Pareto tail has no end of its own

uint64_t whole_bytes(double bytes) {
  return static_cast<uint64_t>(std::clamp(bytes + 0.5, 1.0, kLongestTail));
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
      pairs_(seed, index * 3 + 2) {}

tl::expected<Stream, std::string> Stream::make(const config::Workload& workload, uint64_t seed,
                                               uint32_t index) {
  Stream stream(workload, seed, index);
  if (const auto* trace = std::get_if<config::TraceSize>(&workload.size)) {
    auto entries = load_trace(trace->file);
    if (!entries) return tl::unexpected(entries.error());
    stream.trace_ = std::move(*entries);
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
  a.to = static_cast<uint32_t>(workload_.to[pairs_.below(workload_.to.size())]);
  ++count_;
  return a;
}

std::optional<Nanos> Stream::next_time() {
  if (std::holds_alternative<config::TraceArrivals>(workload_.arrivals)) {
    if (count_ >= trace_.size()) return std::nullopt;
    return workload_.start + skip_pauses(trace_[count_].at);
  }
  if (const auto* poisson = std::get_if<config::PoissonArrivals>(&workload_.arrivals)) {
    elapsed_ += times_.exponential(1 / poisson->per_second);
  } else {
    // Multiplied, not added up, so that the millionth period starts when it should.
    const auto& periodic = std::get<config::PeriodicArrivals>(workload_.arrivals);
    elapsed_ = static_cast<double>(count_) / periodic.per_second;
  }
  const Nanos running = from_seconds(elapsed_);
  if (running >= kNever / 4) return std::nullopt;
  return workload_.start + skip_pauses(running);
}

Nanos Stream::skip_pauses(Nanos running) const {
  if (workload_.on.count() <= 0 || workload_.off.count() <= 0) return running;
  return running + workload_.off * (running.count() / workload_.on.count());
}

uint64_t Stream::next_size() {
  return std::visit(
      Overloaded{
          [](const config::FixedSize& s) { return static_cast<uint64_t>(s.size.count()); },
          [this](const config::ParetoSize& s) {
            const double least = static_cast<double>(s.mean.count()) * (s.shape - 1) / s.shape;
            return whole_bytes(sizes_.pareto(least, s.shape));
          },
          [this](const config::ExponentialSize& s) {
            return whole_bytes(sizes_.exponential(static_cast<double>(s.mean.count())));
          },
          // With arrivals of another kind the trace's sizes come round again.
          [this](const config::TraceSize&) { return trace_[count_ % trace_.size()].bytes; },
      },
      workload_.size);
}

}  // namespace turnpike::sender
