// SPDX-License-Identifier: BSD-3-Clause
// Single values of a topology file: text to type, range checked.
#pragma once

#include <optional>
#include <string>

#include "common/config/describe.h"
#include "common/config/spec.h"
#include "common/config/yaml_tree.h"

namespace turnpike::config {

/// The mistake in a value; std::nullopt: none.
using Complaint = std::optional<std::string>;

// Each reads a scalar node; `about` has the range and the allowed words.
Complaint read_scalar(const YamlNode& node, const About& about, Nanos& out);
Complaint read_scalar(const YamlNode& node, const About& about, Bytes& out);
Complaint read_scalar(const YamlNode& node, const About& about, BitRate& out);
Complaint read_scalar(const YamlNode& node, const About& about, Budget& out);
Complaint read_scalar(const YamlNode& node, const About& about, Price& out);
Complaint read_scalar(const YamlNode& node, const About& about, Frequency& out);
Complaint read_scalar(const YamlNode& node, const About& about, BufferSpec& out);
Complaint read_scalar(const YamlNode& node, const About& about, double& out);
Complaint read_scalar(const YamlNode& node, const About& about, uint64_t& out);
Complaint read_scalar(const YamlNode& node, const About& about, uint32_t& out);
Complaint read_scalar(const YamlNode& node, const About& about, uint16_t& out);
Complaint read_scalar(const YamlNode& node, const About& about, bool& out);
Complaint read_scalar(const YamlNode& node, const About& about, std::string& out);
Complaint read_scalar(const YamlNode& node, const About& about, IpVersion& out);
Complaint read_scalar(const YamlNode& node, const About& about, Mac& out);
Complaint read_scalar(const YamlNode& node, const About& about, AddressSpec& out);
Complaint read_scalar(const YamlNode& node, const About& about, NodeAddress& out);
Complaint read_scalar(const YamlNode& node, const About& about, GroupAddress& out);
Complaint read_scalar(const YamlNode& node, const About& about, PciAddress& out);
Complaint read_scalar(const YamlNode& node, const About& about, InterfaceName& out);
Complaint read_scalar(const YamlNode& node, const About& about, Name& out);
Complaint read_scalar(const YamlNode& node, const About& about, DeviceArgument& out);
Complaint read_scalar(const YamlNode& node, const About& about, VlanRange& out);

/// Whether `text` is a valid name of a host, link, flow or run: names go into paths and file names.
bool is_name(std::string_view text);
inline constexpr size_t kMaxNameLength = 48;
inline constexpr std::string_view kNameRule = "a name is 1 to 48 letters, digits, '-', '_' or '.'";

/// A protocol's parameter, in the base unit of its kind.
Complaint read_parameter(const YamlNode& node, const ParamSpec& spec, double& out);

/// A parameter's value in the file's syntax: "100 ms".
std::string parameter_text(const ParamSpec& spec, double value);

template <class T>
concept Scalar = requires(const YamlNode& n, const About& a, T& out) {
  read_scalar(n, a, out);
};

}  // namespace turnpike::config
