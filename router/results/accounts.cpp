// SPDX-License-Identifier: BSD-3-Clause
#include "router/results/accounts.h"

#include <array>
#include <charconv>
#include <utility>

#include "common/report/csv.h"
#include "common/report/number.h"

namespace turnpike::router {
namespace {

constexpr double kBytesPerMb = 1e6;
constexpr int kSecondDecimals = 6;

/// The shortest text that reads back as the same number.
std::string exact(double v) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), v).ptr;
  return {text.data(), end};
}

bool changed(const Account& before, const Account& now) {
  return before.packets != now.packets || before.spend != now.spend ||
         before.dropped != now.dropped || before.lost != now.lost;
}

}  // namespace

std::optional<std::string> Accounts::write(std::span<const Account> accounts, Nanos now,
                                           int64_t unix_ns) {
  written_.resize(accounts.size(), Written{.figures = {}, .at = last_});
  for (size_t c = 0; c < accounts.size(); ++c) {
    Written& w = written_[c];
    if (accounts[c].limited) w.limited += now - last_;
    // Nothing to write: the next line is of the time from here on.
    if (w.limited == Nanos(0) && !changed(w.figures, accounts[c])) w.at = now;
  }
  last_ = now;
  const std::string text = lines(accounts, now, unix_ns);
  if (text.empty()) return std::nullopt;
  if (const auto done = file_.append(text, unix_ns); !done) {
    ++failures_;
    if (std::exchange(failing_, true)) return std::nullopt;
    return "accounts are not written: " + done.error();
  }
  for (size_t c = 0; c < accounts.size(); ++c)
    if (changed(written_[c].figures, accounts[c]))
      written_[c] = {.figures = accounts[c], .at = now};
  if (std::exchange(failing_, false)) return "accounts are written again; none is missing";
  return std::nullopt;
}

std::string Accounts::lines(std::span<const Account> accounts, Nanos now, int64_t unix_ns) const {
  const std::string time = utc_text(unix_ns);
  std::string text;
  for (size_t c = 0; c < accounts.size(); ++c) {
    const Account &is = accounts[c], &was = written_[c].figures;
    if (!changed(was, is)) continue;
    const uint64_t bytes = is.bytes - was.bytes;
    const double spend = is.spend - was.spend;
    const double price = bytes > 0 ? spend / static_cast<double>(bytes) * kBytesPerMb : 0;
    text += report::csv_line(
        {time, report::fixed(to_seconds(now - written_[c].at), kSecondDecimals),
         std::string(is.customer), std::to_string(is.packets - was.packets), std::to_string(bytes),
         exact(spend), exact(price),
         report::fixed(to_seconds(written_[c].limited), kSecondDecimals),
         std::to_string(is.dropped - was.dropped), std::to_string(is.lost - was.lost)});
  }
  return text;
}

}  // namespace turnpike::router
