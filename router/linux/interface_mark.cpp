// SPDX-License-Identifier: BSD-3-Clause
#include "router/linux/interface_mark.h"

#include "common/config/address.h"
#include "router/linux/route_value.h"

namespace turnpike::router {

namespace {

constexpr std::string_view kProgram = "turnpike",
                           kRouter = "router=", kLink = "link=", kAddresses = "addresses=";

/// Takes the text up to `end`, or all of it, out of `text`.
std::string_view take(std::string_view& text, char end) {
  const size_t length = std::min(text.find(end), text.size());
  const std::string_view word = text.substr(0, length);
  text.remove_prefix(std::min(length + 1, text.size()));
  return word;
}

bool parse_addresses(std::string_view text, std::vector<Prefix>& out) {
  while (!text.empty()) {
    const std::string_view word = take(text, ',');
    if (const auto ipv4 = config::parse_ipv4_prefix(word))
      out.emplace_back(*ipv4);
    else if (const auto ipv6 = config::parse_ipv6_prefix(word))
      out.emplace_back(*ipv6);
    else
      return false;
  }
  return true;
}

}  // namespace

std::string to_text(const InterfaceMark& mark) {
  std::string text = std::string(kProgram) + " " + std::string(kRouter) + mark.router + " " +
                     std::string(kLink) + mark.link;
  for (size_t i = 0; i < mark.addresses.size(); ++i)
    text += (i == 0 ? " " + std::string(kAddresses) : ",") + to_text(mark.addresses[i]);
  return text;
}

std::optional<InterfaceMark> parse_mark(std::string_view text) {
  if (take(text, ' ') != kProgram) return {};
  InterfaceMark mark;
  while (!text.empty()) {
    const std::string_view word = take(text, ' ');
    if (word.starts_with(kRouter))
      mark.router = word.substr(kRouter.size());
    else if (word.starts_with(kLink))
      mark.link = word.substr(kLink.size());
    else if (!word.starts_with(kAddresses) ||
             !parse_addresses(word.substr(kAddresses.size()), mark.addresses))
      return {};
  }
  if (mark.router.empty()) return {};
  return mark;
}

}  // namespace turnpike::router
