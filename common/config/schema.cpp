// SPDX-License-Identifier: BSD-3-Clause
// The visitor that writes the schema of all that the reader accepts.
#include "common/config/schema.h"

#include <nlohmann/json.hpp>

#include "common/config/describe.h"
#include "common/config/scalars.h"
#include "common/protocols/registry.h"
#include "common/units/text.h"

namespace turnpike::config {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kNamePattern = "^[A-Za-z0-9_.-]{1,48}$";

Json pattern(std::string_view regex) { return {{"type", "string"}, {"pattern", regex}}; }

// A number and one of `units` ("ns, us, ms"). Escapes letters that are special in a regex.
std::string quantity_pattern(std::string_view units) {
  std::string alternatives;
  for (const char c : units) {
    if (c == ' ') continue;
    if (c == '$' || c == '/') alternatives += '\\';
    alternatives += c == ',' ? '|' : c;
  }
  return "^ *[0-9.]+([eE][-+]?[0-9]+)? *(" + alternatives + ") *$";
}

Json quantity(std::string_view units) { return pattern(quantity_pattern(units)); }

Json number(const char* type, const About& about) {
  Json out{{"type", type}};
  if (!about.min.empty()) out["minimum"] = Json::parse(about.min);
  if (!about.max.empty()) out["maximum"] = Json::parse(about.max);
  return out;
}

Json whole(const About& about) {
  Json out = number("integer", about);
  if (about.min.empty()) out["minimum"] = 0;
  return out;
}

// --- one function per type of value -------------------------------------------------------------

Json schema_of(const Nanos*, const About&) { return quantity(accepted_units<Nanos>()); }
Json schema_of(const Bytes*, const About&) { return quantity(accepted_units<Bytes>()); }
Json schema_of(const BitRate*, const About&) { return quantity(accepted_units<BitRate>()); }
Json schema_of(const Budget*, const About&) { return quantity(accepted_units<Budget>()); }
Json schema_of(const Price*, const About&) { return quantity(accepted_units<Price>()); }
Json schema_of(const Frequency*, const About&) { return quantity("/s, /ms, /us, /min"); }
Json schema_of(const BufferSpec*, const About&) {
  return quantity(std::string(accepted_units<Bytes>()) + ", BDP");
}
Json schema_of(const double*, const About& about) { return number("number", about); }
Json schema_of(const uint64_t*, const About& about) { return whole(about); }
Json schema_of(const uint32_t*, const About& about) { return whole(about); }
Json schema_of(const uint16_t*, const About& about) { return whole(about); }
Json schema_of(const IpVersion*, const About&) { return {{"enum", {4, 6}}}; }
Json schema_of(const bool*, const About&) { return {{"type", "boolean"}}; }
Json schema_of(const std::string*, const About& about) {
  if (about.words.empty()) return {{"type", "string"}, {"minLength", 1}};
  Json out;
  for (const auto word : about.words) out["enum"].push_back(word);
  return out;
}
Json schema_of(const Mac*, const About&) { return pattern("^([0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2}$"); }
Json schema_of(const AddressSpec*, const About&) { return pattern("^[0-9a-fA-F.:]+/[0-9]+$"); }
Json schema_of(const NodeAddress*, const About&) { return pattern("^[0-9a-fA-F.:]+$"); }
Json schema_of(const GroupAddress*, const About&) { return pattern("^[0-9a-fA-F.:]+$"); }
Json schema_of(const PciAddress*, const About&) {
  return pattern("^([0-9a-fA-F]{4}:)?[0-9a-fA-F]{2}:[01][0-9a-fA-F]\\.[0-7]$");
}
Json schema_of(const InterfaceName*, const About&) { return pattern("^[^/:, ]{1,15}$"); }
Json schema_of(const Name*, const About&) { return pattern(kNamePattern); }
Json schema_of(const DeviceArgument*, const About&) { return pattern("^[^, ]{1,107}$"); }
Json schema_of(const VlanRange*, const About&) {
  return {{"oneOf",
           {{{"type", "integer"}, {"minimum", 1}, {"maximum", 4094}},
            pattern("^[0-9]{1,4}(-[0-9]{1,4})?$")}}};
}
Json schema_of(const Nothing*, const About&) { return {{"type", "object"}, {"maxProperties", 0}}; }

Json parameter(const ParamSpec& spec) {
  Json out;
  switch (spec.unit) {
    case ParamUnit::kTime:
      out = quantity(accepted_units<Nanos>());
      break;
    case ParamUnit::kRate:
      out = quantity(accepted_units<BitRate>());
      break;
    case ParamUnit::kBytes:
      out = quantity(accepted_units<Bytes>());
      break;
    case ParamUnit::kPrice:
      out = quantity(accepted_units<Price>());
      break;
    case ParamUnit::kWord:
      for (const auto word : spec.words) out["enum"].push_back(word);
      break;
    case ParamUnit::kNumber:
      out = {{"type", "number"}, {"minimum", spec.min}, {"maximum", spec.max}};
  }
  out["description"] = spec.doc;
  if (spec.unit == ParamUnit::kNumber)
    out["default"] = spec.fallback;
  else
    out["default"] = parameter_text(spec, spec.fallback);
  return out;
}

// A scheme's name, or its name with parameters.
Json scheme(bool link) {
  Json names = Json::array(), with_parameters = Json::object();
  if (link) names.push_back("none");
  for (const Protocol& p : protocols()) {
    names.push_back(p.name);
    Json properties = Json::object();
    for (const ParamSpec& spec : link ? p.link_params : p.flow_params)
      properties[std::string(spec.name)] = parameter(spec);
    with_parameters[std::string(p.name)] = {
        {"type", "object"}, {"properties", properties}, {"additionalProperties", false}};
  }
  return {{"oneOf",
           {{{"enum", names}},
            {{"type", "object"},
             {"properties", with_parameters},
             {"additionalProperties", false},
             {"minProperties", 1},
             {"maxProperties", 1}}}}};
}
Json schema_of(const LinkScheme*, const About&) { return scheme(true); }
Json schema_of(const FlowScheme*, const About&) { return scheme(false); }

// --- maps and lists of values
// ---------------------------------------------------------------------

// Declared together: maps hold lists, and lists hold maps.
template <class T>
Json schema_of(const Field<T>*, const About& about);
template <class T>
Json schema_of(const Table<T>*, const About& about);
template <class T>
Json schema_of(const std::vector<Field<T>>*, const About& about);
template <class T>
Json schema_of(const OneOrMany<T>*, const About& about);
Json schema_of(const PciSpec*, const About& about);
Json schema_of(const AttachBothSpec*, const About& about);

class SchemaVisitor;
template <class T>
concept InSchema = requires(SchemaVisitor& v, T& t) {
  describe(v, t);
};
template <InSchema T>
Json schema_of(const T*, const About& about);

class SchemaVisitor {
 public:
  template <class T>
  void field(std::string_view key, Field<T>&, const About& about) {
    Json property = schema_of(static_cast<const T*>(nullptr), about);
    property["description"] = about.doc;
    if (!about.fallback.empty()) {
      // Numbers and truth values have the same syntax in JSON; all else is text.
      const Json value = Json::parse(about.fallback, nullptr, false);
      property["default"] = value.is_discarded() ? Json(about.fallback) : value;
    }
    properties[std::string(key)] = std::move(property);
    if (about.required) required.push_back(key);
    if (about.bare) bare.push_back(key);
  }

  Json properties = Json::object(), required = Json::array(), bare = Json::array();
};

template <class T>
Json schema_of(const Field<T>*, const About& about) {
  return schema_of(static_cast<const T*>(nullptr), about);
}

template <class T>
Json schema_of(const Table<T>*, const About& about) {
  return {{"type", {"object", "null"}},
          {"propertyNames", {{"pattern", kNamePattern}}},
          {"additionalProperties", schema_of(static_cast<const T*>(nullptr), about)}};
}

template <class T>
Json schema_of(const std::vector<Field<T>>*, const About& about) {
  Json out{{"type", "array"}, {"items", schema_of(static_cast<const T*>(nullptr), about)}};
  out["minItems"] = about.count == 0 ? 1 : about.count;
  if (about.count != 0) out["maxItems"] = about.count;
  return out;
}

template <class T>
Json schema_of(const OneOrMany<T>*, const About& about) {
  return {{"anyOf",
           {schema_of(static_cast<const T*>(nullptr), about),
            schema_of(static_cast<const std::vector<Field<T>>*>(nullptr), about)}}};
}

template <InSchema T>
Json schema_of(const T*, const About&) {
  T value;
  SchemaVisitor v;
  describe(v, value);
  Json map{
      {"type", {"object", "null"}}, {"properties", v.properties}, {"additionalProperties", false}};
  if constexpr (requires { T::kOneOf; }) {
    map["type"] = "object";
    map["minProperties"] = map["maxProperties"] = 1;
    if (v.bare.empty()) return map;
    return {{"oneOf", {{{"enum", v.bare}}, map}}};
  } else {
    if (v.required.empty()) return map;
    map["type"] = "object";
    map["required"] = v.required;
    return map;
  }
}

Json schema_of(const PciSpec*, const About& about) {
  return {{"oneOf",
           {schema_of(static_cast<const PciAddress*>(nullptr), about),
            schema_of<PciSpec>(static_cast<const PciSpec*>(nullptr), about)}}};
}

Json schema_of(const AttachBothSpec*, const About& about) {
  // The first of a choice's two forms is the bare word, which applies to both ends.
  const Json end = schema_of(static_cast<const AttachSpec*>(nullptr), about);
  return {{"oneOf",
           {end["oneOf"][0], schema_of(static_cast<const Table<AttachSpec>*>(nullptr), about)}}};
}

}  // namespace

std::string schema_text() {
  Json out{{"$schema", "http://json-schema.org/draft-07/schema#"},
           {"title", "Turnpike topology"},
           {"description", "Made by `turnpike schema`; do not edit."}};
  out.update(schema_of(static_cast<const FileSpec*>(nullptr), {}));
  return out.dump(2) + "\n";
}

}  // namespace turnpike::config
