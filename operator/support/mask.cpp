// SPDX-License-Identifier: BSD-3-Clause
#include "operator/support/mask.h"

#include <array>
#include <cctype>
#include <sstream>

#include "common/config/address.h"

namespace turnpike::ops {
namespace {

bool of_address(char c) {
  return std::isxdigit(static_cast<unsigned char>(c)) != 0 || c == ':' || c == '.';
}
bool of_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Where the value of a setting begins whose name looks secret; npos: it does not.
size_t secret_in(const std::string& text) {
  constexpr std::array<std::string_view, 7> kSecret{"password",  "passwd",  "secret",     "token",
                                                    "community", "api_key", "private_key"};
  const size_t colon = text.find_first_of(":=");
  if (colon == std::string::npos) return std::string::npos;
  std::string name = text.substr(0, colon);
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const std::string_view s : kSecret)
    if (name.find(s) != std::string::npos) return colon + 1;
  return std::string::npos;
}

}  // namespace

std::string Mask::word(const char* kind, const std::string& address) {
  std::string& word = words_[address];
  if (word.empty()) word = std::string(kind) + "-" + std::to_string(++counts_[kind]);
  return word;
}

/// The text of a run of an address's characters, masked if it is one. A run may have punctuation at
/// its end, and a port after an IPv4 address.
std::string Mask::address(const std::string& run) {
  for (size_t n = run.size(); n > 0; n = run.find_last_of(":.", n - 1)) {
    if (n == std::string::npos) break;
    const std::string text = run.substr(0, n), rest = run.substr(n);
    if (const auto mac = config::parse_mac(text)) return word("mac", config::mac_text(*mac)) + rest;
    if (const auto v4 = config::parse_ipv4(text)) {
      if (*v4 == 0 || *v4 >> 24 == 127) return run;
      return word("ipv4", text) + rest;
    }
    if (const auto v6 = config::parse_ipv6(text)) {
      const std::string canonical = config::ipv6_text(*v6);
      if (canonical == "::" || canonical == "::1") return run;
      return word("ipv6", canonical) + rest;
    }
  }
  return run;
}

std::string Mask::line(const std::string& text) {
  if (const size_t at = secret_in(text); at != std::string::npos)
    return text.substr(0, at) + " masked";
  std::string out;
  for (size_t i = 0; i < text.size();) {
    if (!of_address(text[i]) || (i > 0 && of_word(text[i - 1]))) {
      out += text[i++];
      continue;
    }
    size_t end = i;
    while (end < text.size() && of_address(text[end])) ++end;
    const std::string run = text.substr(i, end - i);
    out += end < text.size() && of_word(text[end]) ? run : address(run);
    i = end;
  }
  if (host_.empty()) return out;
  for (size_t at = out.find(host_); at != std::string::npos; at = out.find(host_, at + 6))
    out.replace(at, host_.size(), "host-1");
  return out;
}

std::string Mask::operator()(const std::string& text) {
  std::istringstream in(text);
  std::string out;
  for (std::string l; std::getline(in, l);) out += line(l) + "\n";
  return out;
}

}  // namespace turnpike::ops
