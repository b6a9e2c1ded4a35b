// SPDX-License-Identifier: BSD-3-Clause
// Masks what an archive must not tell: addresses, names and secrets.
#pragma once

#include <map>
#include <string>

namespace turnpike::ops {

/// Replaces IPv4, IPv6 and MAC addresses by ipv4-N, ipv6-N and mac-N, the same address by the same
/// word in all texts, and the values of settings that look secret. Keeps loopback and unspecified
/// addresses, and prefix lengths.
class Mask {
 public:
  /// `host`: the machine's name, masked as well; empty: none.
  explicit Mask(std::string host = "") : host_(std::move(host)) {}

  std::string operator()(const std::string& text);

 private:
  std::string word(const char* kind, const std::string& address);
  std::string address(const std::string& run);
  std::string line(const std::string& text);

  std::string host_;
  std::map<std::string, std::string> words_;
  std::map<std::string, unsigned> counts_;
};

}  // namespace turnpike::ops
