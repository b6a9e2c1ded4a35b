// SPDX-License-Identifier: BSD-3-Clause
#include "operator/accounts/read.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <optional>
#include <span>

#include "common/config/lines.h"
#include "common/config/trace.h"
#include "common/units/input_file.h"

namespace turnpike::ops {
namespace {

using config::LineError;

constexpr double kMaxNumber = 1e18;
constexpr size_t kMaxName = 200;  // B

struct NumberColumn {
  std::string_view name;
  double AccountLine::*figure;
  double unit;
};
constexpr std::array<NumberColumn, 8> kNumberColumns{{
    {"seconds", &AccountLine::seconds, 1},
    {"offered_bytes", &AccountLine::offered, 1},
    {"carried_bytes", &AccountLine::carried, 1},
    {"bytes", &AccountLine::bytes, 1},
    {"spend", &AccountLine::spend, 1},
    {"limited_seconds", &AccountLine::limited, 1},
    {"ceiling_seconds", &AccountLine::ceiling, 1},
    {"wait_p99_ms", &AccountLine::wait_p99, 1e-3},
}};

/// Splits a line at its commas; quoted fields keep their quotes (RFC 4180, without line ends in
/// fields).
LineError split(std::string_view line, std::vector<std::string_view>& fields) {
  fields.clear();
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  for (size_t at = 0;; ++at) {
    size_t end = at;
    if (at < line.size() && line[at] == '"') {
      do {
        end = line.find('"', end + 1);
        if (end == line.npos) return {"a quoted field without its end", line.substr(at)};
        ++end;
      } while (end < line.size() && line[end] == '"');
      if (end < line.size() && line[end] != ',')
        return {"text behind a quoted field", line.substr(end)};
    } else {
      end = std::min(line.find(',', at), line.size());
    }
    fields.push_back(line.substr(at, end - at));
    if (end >= line.size()) return {};
    at = end;
  }
}

std::string unquoted(std::string_view field) {
  if (field.empty() || field.front() != '"') return std::string(field);
  field = field.substr(1, field.size() - 2);
  std::string text;
  for (size_t i = 0; i < field.size(); ++i) {
    text += field[i];
    if (field[i] == '"') ++i;
  }
  return text;
}

template <class T>
bool read_number(std::string_view s, T& out) {
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), out);
  return error == std::errc{} && end == s.data() + s.size();
}

/// UNIX time of "2026-11-26T11:10:35.263Z" (RFC 3339), s.
std::optional<double> time_of(std::string_view s) {
  constexpr std::string_view kShape = "0000-00-00T00:00:00";
  if (s.size() <= kShape.size() || s.back() != 'Z') return {};
  std::array<unsigned, 6> part{};
  size_t n = 0;
  for (size_t i = 0; i < kShape.size(); ++i) {
    const bool digit = s[i] >= '0' && s[i] <= '9';
    if (kShape[i] == '0' ? !digit : s[i] != kShape[i]) return {};
    if (digit)
      part[n] = 10 * part[n] + static_cast<unsigned>(s[i] - '0');
    else
      ++n;
  }
  double fraction = 0;
  const std::string_view rest = s.substr(kShape.size(), s.size() - kShape.size() - 1);
  const bool digits = rest.size() >= 2 && rest.front() == '.' &&
                      rest.find_first_not_of("0123456789", 1) == rest.npos;
  if (!rest.empty() && (!digits || !read_number(rest, fraction))) return {};
  using namespace std::chrono;
  const year_month_day day{year(static_cast<int>(part[0])), month(part[1]),
                           std::chrono::day(part[2])};
  if (!day.ok() || part[3] > 23 || part[4] > 59 || part[5] > 60) return {};
  const auto days = sys_days(day).time_since_epoch().count();
  return 86400. * static_cast<double>(days) + 3600. * part[3] + 60. * part[4] + part[5] + fraction;
}

/// Places of the columns that are read, among those of a file.
struct Layout {
  size_t count = 0;
  size_t time = 0, customer = 0;
  std::array<size_t, kNumberColumns.size()> numbers{};
};

std::optional<Layout> read_header(std::span<const std::string_view> fields, std::string& missing) {
  Layout columns{.count = fields.size()};
  const auto find = [&](std::string_view name, size_t& place) {
    const auto at = std::ranges::find(fields, name);
    place = static_cast<size_t>(at - fields.begin());
    if (at == fields.end()) missing += (missing.empty() ? "" : ", ") + std::string(name);
  };
  find("time", columns.time);
  find("customer", columns.customer);
  for (size_t i = 0; i < kNumberColumns.size(); ++i)
    find(kNumberColumns[i].name, columns.numbers[i]);
  if (!missing.empty()) return {};
  return columns;
}

LineError read_line(std::string_view whole, std::span<const std::string_view> fields,
                    const Layout& columns, std::string& customer, AccountLine& line) {
  if (fields.size() != columns.count)
    return {
        std::to_string(fields.size()) + " fields, the heading has " + std::to_string(columns.count),
        whole};
  const auto time = time_of(fields[columns.time]);
  if (!time)
    return {config::excerpt(fields[columns.time]) + " is not a time such as 2026-11-26T11:10:35Z",
            fields[columns.time]};
  line.time = *time;
  customer = unquoted(fields[columns.customer]);
  if (customer.empty() || customer.size() > kMaxName)
    return {"a customer's name has 1 to " + std::to_string(kMaxName) + " bytes",
            fields[columns.customer]};
  for (size_t i = 0; i < kNumberColumns.size(); ++i) {
    const std::string_view field = fields[columns.numbers[i]];
    double value = 0;
    if (!read_number(field, value) || !(value >= 0 && value <= kMaxNumber))
      return {config::excerpt(field) + " is not " + std::string(kNumberColumns[i].name) +
                  ", a number of 0 to 1e18",
              field};
    line.*kNumberColumns[i].figure = value * kNumberColumns[i].unit;
  }
  return {};
}

}  // namespace

void AccountReader::parse(std::string_view text, const std::string& name,
                          config::Mistakes& mistakes) {
  text = text.substr(0, text.rfind('\n') + 1);
  config::Lines lines(text);
  std::vector<std::string_view> fields;
  std::optional<Layout> columns;
  std::string customer;
  const auto complain = [&](const LineError& wrong, std::string_view whole) {
    mistakes.add({name, lines.number(), config::column_of(wrong.part, whole), "", wrong.message});
  };
  while (const auto whole = lines.next()) {
    if (mistakes.full()) return;
    LineError wrong = split(*whole, fields);
    if (!columns) {
      std::string missing;
      if (wrong.message.empty()) columns = read_header(fields, missing);
      if (!columns) {
        if (wrong.message.empty()) wrong = {"these are no accounts: no column " + missing, *whole};
        return complain(wrong, *whole);
      }
      continue;
    }
    AccountLine line;
    if (wrong.message.empty()) wrong = read_line(*whole, fields, *columns, customer, line);
    if (wrong.message.empty())
      lines_[customer].push_back(line);
    else
      complain(wrong, *whole);
  }
  if (!columns) mistakes.add({name, 1, 1, "", "the file has no heading"});
}

void AccountReader::read(const std::string& path, config::Mistakes& mistakes) {
  const auto text = read_input_file(path, config::kMaxListBytes);
  if (!text)
    mistakes.add({path, 0, 0, "", "cannot be read: " + text.error()});
  else
    parse(*text, path, mistakes);
}

std::vector<CustomerLines> AccountReader::take() {
  std::vector<CustomerLines> all;
  all.reserve(lines_.size());
  for (auto& [name, lines] : lines_) {
    std::ranges::stable_sort(lines, {}, &AccountLine::time);
    all.push_back({name, std::move(lines)});
  }
  lines_.clear();
  std::ranges::sort(all, {}, &CustomerLines::name);
  return all;
}

}  // namespace turnpike::ops
