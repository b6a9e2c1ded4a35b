// SPDX-License-Identifier: BSD-3-Clause
#include "router/results/accounts.h"

#include <array>
#include <charconv>
#include <utility>

#include "common/report/csv.h"
#include "common/report/number.h"

namespace turnpike::router {
namespace {

constexpr double kBytesPerMb = 1e6, kNanosPerMs = 1e6;
constexpr int kSecondDecimals = 6;

/// The shortest text that reads back as the same number.
std::string exact(double v) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), v).ptr;
  return {text.data(), end};
}

bool changed(const Account& before, const Account& now) {
  return before.offered_bytes != now.offered_bytes || before.carried_bytes != now.carried_bytes ||
         before.packets != now.packets || before.spend != now.spend ||
         before.dropped != now.dropped || before.marked != now.marked || before.lost != now.lost;
}

metrics::LogHistogram::Values read(const metrics::LogHistogram* histogram) {
  return histogram == nullptr ? metrics::LogHistogram::Values() : histogram->read();
}

}  // namespace

std::string_view state_of(const Account& a) {
  if (a.bypassed) return "bypassed";
  if (a.peer_silent) return "silent";
  if (a.limited) return "limited";
  return a.at_ceiling ? "ceiling" : "";
}

std::optional<std::string> Accounts::write(std::span<const Account> accounts, Nanos now,
                                           int64_t unix_ns) {
  while (written_.size() < accounts.size()) written_.emplace_back().at = last_;
  for (size_t c = 0; c < accounts.size(); ++c) {
    Written& w = written_[c];
    if (accounts[c].limited) w.limited += now - last_;
    if (accounts[c].at_ceiling) w.at_ceiling += now - last_;
    // Nothing to write: the next line is of the time from here on.
    if (w.limited + w.at_ceiling == Nanos(0) && !changed(w.figures, accounts[c])) w.at = now;
  }
  last_ = now;
  std::vector<Entry> entries;
  const std::string added = text(accounts, now, unix_ns, entries);
  if (added.empty()) return std::nullopt;
  if (const auto done = file_.append(added, unix_ns); !done) {
    ++failures_;
    if (std::exchange(failing_, true)) return std::nullopt;
    return "accounts are not written: " + done.error();
  }
  for (Entry& entry : entries) {
    Written& w = written_[entry.customer];
    w.figures = accounts[entry.customer];
    w.histograms = std::move(entry.histograms);
    w.at = now;
    w.limited = w.at_ceiling = Nanos(0);
  }
  if (std::exchange(failing_, false)) return "accounts are written again; none is missing";
  if (const unsigned n = file_.replaced(); n != std::exchange(replaced_, n))
    return "the file of accounts was moved or removed: " + file_.path() + " is a new one";
  return std::nullopt;
}

std::string Accounts::text(std::span<const Account> accounts, Nanos now, int64_t unix_ns,
                           std::vector<Entry>& entries) const {
  const Histograms none;
  const std::string time = utc_text(unix_ns);
  std::string text;
  for (size_t c = 0; c < accounts.size(); ++c) {
    const Written& w = written_[c];
    const Account &is = accounts[c], &was = w.figures;
    if (!changed(was, is)) continue;
    auto histograms = std::make_unique<Histograms>(Histograms{read(is.prices), read(is.waits)});
    const Histograms& before = w.histograms ? *w.histograms : none;
    const uint64_t bytes = is.bytes - was.bytes;
    const double spend = is.spend - was.spend;
    const double price = bytes > 0 ? spend / static_cast<double>(bytes) * kBytesPerMb : 0;
    text += report::csv_line(
        {time, report::fixed(to_seconds(now - w.at), kSecondDecimals), std::string(is.customer),
         std::to_string(is.offered_bytes - was.offered_bytes),
         std::to_string(is.carried_bytes - was.carried_bytes),
         std::to_string(is.packets - was.packets), std::to_string(bytes), exact(spend),
         exact(price),
         report::significant(histograms->prices.since(before.prices).quantile(0.95) * kBytesPerMb),
         report::fixed(to_seconds(w.limited), kSecondDecimals),
         report::fixed(to_seconds(w.at_ceiling), kSecondDecimals),
         report::fixed(histograms->waits.since(before.waits).quantile(0.99) / kNanosPerMs, 3),
         std::to_string(is.dropped - was.dropped), std::to_string(is.marked - was.marked),
         std::to_string(is.lost - was.lost)});
    entries.push_back({.customer = c, .histograms = std::move(histograms)});
  }
  return text;
}

}  // namespace turnpike::router
