// SPDX-License-Identifier: BSD-3-Clause
// Reads every kind of single value, with the messages for those that are wrong.
#include "common/config/scalars.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

#include "common/config/address.h"
#include "common/units/text.h"

namespace turnpike::config {
namespace {

std::string quoted(const YamlNode& node) { return "'" + node.text.substr(0, 60) + "'"; }

tl::expected<double, std::string> parse_number(std::string_view text) {
  double v = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), v);
  if (error != std::errc{} || end != text.data() + text.size())
    return tl::unexpected("'" + std::string(text.substr(0, 60)) + "' is not a number");
  if (!std::isfinite(v))
    return tl::unexpected("'" + std::string(text) + "' is not a finite number");
  return v;
}

template <class T>
tl::expected<T, std::string> parse_integer(std::string_view text) {
  T v = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), v);
  if (error == std::errc::result_out_of_range)
    return tl::unexpected("'" + std::string(text.substr(0, 60)) + "' is too large");
  if (error != std::errc{} || end != text.data() + text.size())
    return tl::unexpected("'" + std::string(text.substr(0, 60)) +
                          "' is not a whole number of 0 or more");
  return v;
}

// The range is in the file's syntax, so the same parser reads it.
template <class T, class Parse, class Less>
Complaint ranged(const YamlNode& node, const About& about, T& out, Parse parse, Less less) {
  const auto value = parse(node.text);
  if (!value) return value.error();
  const bool low = !about.min.empty() && less(*value, *parse(about.min));
  const bool high = !about.max.empty() && less(*parse(about.max), *value);
  if (low && about.max.empty())
    return quoted(node) + " is too small: " + std::string(about.min) + " at least";
  if (low || high)
    return quoted(node) + " is out of range: " + std::string(about.min) + " to " +
           std::string(about.max);
  out = *value;
  return {};
}

template <class T>
Complaint quantity(const YamlNode& node, const About& about, T& out) {
  auto complaint = ranged(node, about, out, parse_quantity<T>, std::less<>());
  // No quantity is negative; zero is the lower bound where no other is given.
  if (!complaint && out.count() < 0) return quoted(node) + " is negative";
  return complaint;
}

template <class T>
Complaint plain_number(const YamlNode& node, const About& about, T& out,
                       tl::expected<T, std::string> (*parse)(std::string_view)) {
  if (node.quoted) return "a number is written without quotes";
  const bool bounded = !about.min.empty() && !about.max.empty();
  if (const auto value = parse(node.text); !value && bounded)
    return value.error() + ": " + std::string(about.min) + " to " + std::string(about.max);
  return ranged(node, about, out, parse, std::less<>());
}

}  // namespace

Complaint read_scalar(const YamlNode& node, const About& about, Nanos& out) {
  return quantity(node, about, out);
}
Complaint read_scalar(const YamlNode& node, const About& about, Bytes& out) {
  return quantity(node, about, out);
}
Complaint read_scalar(const YamlNode& node, const About& about, BitRate& out) {
  return quantity(node, about, out);
}
Complaint read_scalar(const YamlNode& node, const About& about, Budget& out) {
  return quantity(node, about, out);
}
Complaint read_scalar(const YamlNode& node, const About& about, Price& out) {
  return quantity(node, about, out);
}

Complaint read_scalar(const YamlNode& node, const About& about, Frequency& out) {
  return ranged(node, about, out.per_second, parse_frequency, std::less<>());
}

Complaint read_scalar(const YamlNode& node, const About& about, BufferSpec& out) {
  std::string_view text = node.text;
  if (text.ends_with("BDP")) {
    text.remove_suffix(3);
    while (text.ends_with(' ')) text.remove_suffix(1);
    const auto multiple = parse_number(text);
    if (!multiple) return multiple.error() + " before BDP";
    if (*multiple < 0.001 || *multiple > 1000)
      return quoted(node) + " is out of range: 0.001 BDP to 1000 BDP";
    out.bdp = *multiple;
    return {};
  }
  auto complaint = read_scalar(node, about, out.bytes);
  if (complaint && !parse_quantity<Bytes>(text)) *complaint += ", or '1 BDP'";
  return complaint;
}

Complaint read_scalar(const YamlNode& node, const About& about, double& out) {
  return plain_number<double>(node, about, out, parse_number);
}
Complaint read_scalar(const YamlNode& node, const About& about, uint64_t& out) {
  return plain_number<uint64_t>(node, about, out, parse_integer<uint64_t>);
}
Complaint read_scalar(const YamlNode& node, const About& about, uint32_t& out) {
  return plain_number<uint32_t>(node, about, out, parse_integer<uint32_t>);
}
Complaint read_scalar(const YamlNode& node, const About& about, uint16_t& out) {
  return plain_number<uint16_t>(node, about, out, parse_integer<uint16_t>);
}

Complaint read_scalar(const YamlNode& node, const About&, bool& out) {
  if (node.quoted || (node.text != "true" && node.text != "false"))
    return quoted(node) + " is neither true nor false";
  out = node.text == "true";
  return {};
}

Complaint read_scalar(const YamlNode& node, const About& about, std::string& out) {
  if (node.text.empty()) return "is empty";
  const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  if (std::any_of(node.text.begin(), node.text.end(), control))
    return "has a line break or another control character in it";
  if (node.text.size() > 512) return "is longer than 512 bytes";
  const auto& words = about.words;
  if (!words.empty() && std::find(words.begin(), words.end(), node.text) == words.end())
    return quoted(node) + " is not known" + suggestion(node.text, words);
  out = node.text;
  return {};
}

Complaint read_scalar(const YamlNode& node, const About&, IpVersion& out) {
  if (node.text != "4" && node.text != "6") return quoted(node) + " is neither 4 nor 6";
  out.number = node.text == "4" ? 4 : 6;
  return {};
}

Complaint read_scalar(const YamlNode& node, const About&, Mac& out) {
  const auto mac = parse_mac(node.text);
  if (!mac) return quoted(node) + " is not a MAC address such as 02:54:50:00:00:01";
  if ((*mac)[0] & 1) return quoted(node) + " is a group address, not one interface's";
  if (*mac == Mac{}) return quoted(node) + " is no interface's address";
  out = *mac;
  return {};
}

Complaint read_scalar(const YamlNode& node, const About&, AddressSpec& out) {
  if (const auto v4 = parse_ipv4_prefix(node.text)) {
    out.prefix = *v4;
  } else if (const auto v6 = parse_ipv6_prefix(node.text)) {
    out.prefix = *v6;
  } else if (parse_ipv4(node.text) || parse_ipv6(node.text)) {
    return quoted(node) + " lacks its prefix length, such as 10.0.0.1/24 or fd00::1/64";
  } else {
    return quoted(node) + " is not an address with prefix length such as 10.0.0.1/24 or fd00::1/64";
  }
  return {};
}

Complaint read_scalar(const YamlNode& node, const About&, NodeAddress& out) {
  if (const auto v4 = parse_ipv4(node.text)) {
    out.address = *v4;
  } else if (const auto v6 = parse_ipv6(node.text)) {
    out.address = *v6;
  } else {
    return quoted(node) + " is not an address such as 10.0.0.1 or fd00::1";
  }
  return {};
}

// RFC 5771 and RFC 4291 2.7: groups of link scope never cross a router.
Complaint read_scalar(const YamlNode& node, const About&, GroupAddress& out) {
  if (const auto v4 = parse_ipv4(node.text)) {
    if (*v4 >> 28 != 0xe) return quoted(node) + " is not a multicast address such as 239.1.0.1";
    if (*v4 >> 8 == 0xe00000) return quoted(node) + " is of link scope: no router forwards it";
    out.address = *v4;
  } else if (const auto v6 = parse_ipv6(node.text)) {
    if ((*v6)[0] != 0xff) return quoted(node) + " is not a multicast address such as ff3e::8000:1";
    if (((*v6)[1] & 0xf) <= 2) return quoted(node) + " is of link scope: no router forwards it";
    out.address = *v6;
  } else {
    return quoted(node) + " is not a multicast address such as 239.1.0.1 or ff3e::8000:1";
  }
  return {};
}

Complaint read_scalar(const YamlNode& node, const About&, PciAddress& out) {
  // [dddd:]bb:dd.f, lower or upper case; with its domain, as in sysfs.
  std::string text = node.text.size() == 7 ? "0000:" + node.text : node.text;
  constexpr std::string_view kShape = "xxxx:xx:xx.x";
  bool fits = text.size() == kShape.size();
  for (size_t i = 0; fits && i < text.size(); ++i) {
    if (kShape[i] == 'x') {
      fits = std::isxdigit(static_cast<unsigned char>(text[i])) != 0;
      text[i] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[i])));
    } else {
      fits = text[i] == kShape[i];
    }
  }
  // A bus has 32 devices, a device has 8 functions.
  if (!fits || text[8] > '1' || text[11] > '7')
    return quoted(node) + " is not a PCI address such as 0000:3b:00.0";
  out.text = text;
  return {};
}

Complaint read_scalar(const YamlNode& node, const About&, InterfaceName& out) {
  // IFNAMSIZ is 16 with the NUL. A comma would end the argument in DPDK's lists.
  const bool bad =
      node.text.empty() || node.text.size() > 15 || node.text == "." || node.text == ".." ||
      node.text.find_first_of(std::string_view("/:, \t\n\r\0", 8)) != std::string::npos;
  if (bad) return quoted(node) + " cannot be a network interface's name";
  out.text = node.text;
  return {};
}

bool is_name(std::string_view text) {
  const auto allowed = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.';
  };
  return !text.empty() && text.size() <= kMaxNameLength && text != "." && text != ".." &&
         std::all_of(text.begin(), text.end(), allowed);
}

Complaint read_scalar(const YamlNode& node, const About&, Name& out) {
  if (!is_name(node.text)) return quoted(node) + " is no name: " + std::string(kNameRule);
  out.text = node.text;
  return {};
}

Complaint read_scalar(const YamlNode& node, const About& about, DeviceArgument& out) {
  constexpr size_t kMaxSocketPath = 107;  // B without the NUL: sun_path has 108
  if (auto complaint = read_scalar(node, about, out.text)) return complaint;
  if (node.text.find_first_of(", ") != std::string::npos)
    return quoted(node) + " may hold no comma and no blank";
  if (node.text.size() > kMaxSocketPath)
    return "is longer than " + std::to_string(kMaxSocketPath) + " bytes";
  return {};
}

Complaint read_scalar(const YamlNode& node, const About&, VlanRange& out) {
  constexpr unsigned kMaxVid = 4094;
  const std::string_view text = node.text;
  const size_t dash = text.find('-');
  const auto vid = [](std::string_view digits) -> unsigned {
    unsigned value = 0;
    const char* const end = digits.data() + digits.size();
    const auto [rest, error] = std::from_chars(digits.data(), end, value);
    return error == std::errc() && rest == end && value <= kMaxVid ? value : 0;
  };
  const unsigned first = vid(text.substr(0, dash));
  const unsigned last = dash == std::string_view::npos ? first : vid(text.substr(dash + 1));
  if (first == 0 || last == 0)
    return quoted(node) + " is neither a VID from 1 to 4094 nor a range of them such as 20-29";
  if (last < first) return quoted(node) + " is a range that ends before it begins";
  out = {static_cast<uint16_t>(first), static_cast<uint16_t>(last)};
  return {};
}

Complaint read_parameter(const YamlNode& node, const ParamSpec& spec, double& out) {
  const auto take = [&](const auto& parsed, auto in_base_units) -> Complaint {
    if (!parsed) return parsed.error();
    const double value = in_base_units(*parsed);
    if (value < spec.min || value > spec.max)
      return quoted(node) + " is out of range: " + parameter_text(spec, spec.min) + " to " +
             parameter_text(spec, spec.max);
    out = value;
    return {};
  };
  const auto count = [](auto q) { return static_cast<double>(q.count()); };
  switch (spec.unit) {
    case ParamUnit::kTime:
      // Divides instead of multiplying by 1e-9: then 0.3 s equals the double of a fallback of 0.3.
      return take(parse_quantity<Nanos>(node.text),
                  [](Nanos t) { return static_cast<double>(t.count()) / 1e9; });
    case ParamUnit::kRate:
      return take(parse_quantity<BitRate>(node.text), count);
    case ParamUnit::kBytes:
      return take(parse_quantity<Bytes>(node.text), count);
    case ParamUnit::kPrice:
      return take(parse_quantity<Price>(node.text), count);
    case ParamUnit::kWord: {
      const auto word = std::ranges::find(spec.words, node.text);
      if (word == spec.words.end())
        return quoted(node) + " is not known" + suggestion(node.text, spec.words);
      out = static_cast<double>(word - spec.words.begin());
      return {};
    }
    case ParamUnit::kNumber:
      break;
  }
  if (node.quoted) return "a number is written without quotes";
  return take(parse_number(node.text), [](double v) { return v; });
}

std::string parameter_text(const ParamSpec& spec, double value) {
  switch (spec.unit) {
    case ParamUnit::kTime:
      return to_text(from_seconds(value));
    case ParamUnit::kRate:
      return to_text(BitRate(value));
    case ParamUnit::kBytes:
      return to_text(Bytes(static_cast<int64_t>(value)));
    case ParamUnit::kPrice:
      return to_text(Price(value));
    case ParamUnit::kWord:
      return std::string(spec.words[static_cast<size_t>(value)]);
    case ParamUnit::kNumber:
      break;
  }
  std::array<char, 32> out;
  return {out.data(), std::to_chars(out.data(), out.data() + out.size(), value).ptr};
}

}  // namespace turnpike::config
