// SPDX-License-Identifier: BSD-3-Clause
// The visitor that fills structs from maps: strict, and continues after every mistake.
#include "common/config/reader.h"

#include <algorithm>
#include <map>
#include <type_traits>

#include "common/config/describe.h"
#include "common/config/scalars.h"
#include "common/protocols/registry.h"

namespace turnpike::config {
namespace {

struct KeyList {
  std::vector<std::string_view> keys;
  template <class T>
  void field(std::string_view key, Field<T>&, const About&) {
    keys.push_back(key);
  }
};

template <class T>
concept Described = requires(KeyList& v, T& t) {
  describe(v, t);
};
template <class T>
concept Choice = Described<T> && T::kOneOf;

/// A value's place: path for messages, `key`: position of its key.
struct At {
  std::string path;
  Position key;
};

/// read() returns whether the value itself is correct. Mistakes inside a map or a list are marked
/// there.
class Reader {
 public:
  Reader(Mistakes& mistakes, std::string_view preset) : mistakes_(mistakes), preset_(preset) {}

  template <Scalar T>
  bool read(const YamlNode& node, const At& at, const About& about, T& out) {
    if (!expect_scalar(node, at)) return false;
    if (const Complaint complaint = read_scalar(node, about, out))
      return fail(node.at, at.path, *complaint);
    return true;
  }

  template <Described T>
  bool read(const YamlNode& node, const At& at, const About&, T& out);

  template <Choice T>
  bool read(const YamlNode& node, const At& at, const About&, T& out);

  template <class T>
  bool read(const YamlNode& node, const At& at, const About& about, Field<T>& out) {
    out.at = node.at;
    out.given = true;
    out.wrong = !read(node, at, about, out.value);
    return !out.wrong;
  }

  template <class T>
  bool read(const YamlNode& node, const At& at, const About& about, Table<T>& out);

  template <class T>
  bool read(const YamlNode& node, const At& at, const About& about, std::vector<Field<T>>& out) {
    if (!node.is_sequence()) return fail(node.at, at.path, "must be a list: [..., ...]");
    if (about.count != 0 && node.items.size() != about.count)
      return fail(node.at, at.path,
                  "must list " + std::to_string(about.count) + ", not " +
                      std::to_string(node.items.size()));
    return read_items(node, at, about, out);
  }

  template <class T>
  bool read(const YamlNode& node, const At& at, const About& about, OneOrMany<T>& out) {
    if (node.is_sequence()) return read_items(node, at, about, out.items);
    return read(node, at, about, out.items.emplace_back());
  }

  bool read(const YamlNode& node, const At& at, const About&, Nothing&) {
    if (node.kind == YamlNode::Kind::kNull || (node.is_map() && node.entries.empty())) return true;
    return fail(node.at, at.path, "takes no value");
  }

  bool read(const YamlNode& node, const At& at, const About& about, PciSpec& out) {
    if (!node.is_scalar()) return read<PciSpec>(node, at, about, out);
    return read(node, at, about, out.address);
  }

  bool read(const YamlNode& node, const At& at, const About& about, AttachBothSpec& out) {
    if (node.is_map()) return read(node, at, about, out.ends);
    return read(node, at, about, out.both.emplace());
  }

  bool read(const YamlNode& node, const At& at, const About&, LinkScheme& out) {
    return read_scheme(node, at, true, out);
  }
  bool read(const YamlNode& node, const At& at, const About&, FlowScheme& out) {
    return read_scheme(node, at, false, out);
  }

  /// Reads the default `text`.
  template <class T>
  void fall_back(std::string_view text, T& out) {
    YamlNode node;
    node.kind = YamlNode::Kind::kScalar;
    node.text = text;
    read(node, {}, {}, out);
  }

  /// Further mistakes are not kept.
  [[nodiscard]] bool full() const { return mistakes_.full(); }

  bool fail(Position where, const std::string& path, std::string message) {
    mistakes_.add(where, path, std::move(message));
    return false;
  }

 private:
  bool expect_scalar(const YamlNode& node, const At& at) {
    if (node.is_scalar()) return true;
    if (node.kind == YamlNode::Kind::kNull) return fail(node.at, at.path, "has no value");
    return fail(
        node.at, at.path,
        node.is_map() ? "must be a single value, not a map" : "must be a single value, not a list");
  }

  bool expect_map(const YamlNode& node, const At& at) {
    if (node.is_map() || node.kind == YamlNode::Kind::kNull) return true;
    return fail(node.at, at.path, "must be a map: {key: value, ...}");
  }

  template <class T>
  bool read_items(const YamlNode& node, const At& at, const About& about,
                  std::vector<Field<T>>& out) {
    if (node.items.empty()) return fail(node.at, at.path, "the list is empty");
    for (size_t i = 0; i < node.items.size(); ++i) {
      const At item{at.path + "[" + std::to_string(i) + "]", node.items[i].at};
      read(node.items[i], item, about, out.emplace_back());
    }
    return true;
  }

  bool read_scheme(const YamlNode& node, const At& at, bool link, LawChoice& out);

  Mistakes& mistakes_;
  std::string_view preset_;
};

// Passes each key of a struct its entry in the map, if there is one.
class MapVisitor {
 public:
  MapVisitor(Reader& reader, const YamlNode& map, const At& at,
             std::span<const std::string_view> keys, bool silent)
      : reader_(reader), at_(at), silent_(silent) {
    for (const Entry& entry : map.entries)
      if (std::find(keys.begin(), keys.end(), entry.key) != keys.end())
        entries_.emplace(entry.key, &entry);
    // Reports a misspelt key once, and reads its value as that of the key probably meant.
    for (const Entry& entry : map.entries) {
      if (std::find(keys.begin(), keys.end(), entry.key) != keys.end()) continue;
      if (reader.full()) break;
      reader.fail(entry.at, join(at.path, entry.key), "unknown key" + suggestion(entry.key, keys));
      if (const auto meant = nearest(entry.key, keys); !meant.empty())
        entries_.emplace(meant, &entry);
    }
  }

  template <class T>
  void field(std::string_view key, Field<T>& f, const About& about) {
    f.at = at_.key;
    f.wrong = silent_;
    const auto found = entries_.find(key);
    if (found != entries_.end()) {
      const Entry& entry = *found->second;
      reader_.read(entry.value, {join(at_.path, key), entry.at}, about, f);
      // Later steps continue with the default.
      if (f.wrong && !about.fallback.empty()) reader_.fall_back(about.fallback, f.value);
    } else if (about.required) {
      f.wrong = true;
      if (!silent_) reader_.fail(at_.key, at_.path, "missing key '" + std::string(key) + "'");
    } else if constexpr (Described<T> && !Choice<T>) {
      // A struct that is left out has its own defaults.
      reader_.read(YamlNode{}, {join(at_.path, key), at_.key}, {}, f.value);
    } else if (!about.fallback.empty()) {
      reader_.fall_back(about.fallback, f.value);
    }
  }

 private:
  Reader& reader_;
  const At& at_;
  bool silent_;  // not a map, which has been reported
  std::map<std::string_view, const Entry*> entries_;
};

// Reads the one alternative that the file names.
struct ChoiceVisitor {
  Reader& reader;
  std::string_view key;
  const YamlNode* value;  // null: the bare word
  const At& at;
  Position word;
  bool fine = false;

  template <class T>
  void field(std::string_view name, Field<T>& f, const About& about) {
    if (name != key) return;
    if (value) {
      fine = reader.read(*value, at, about, f);
    } else if (about.bare) {
      f.at = word;
      f.given = true;
      fine = reader.read(YamlNode{}, at, about, f.value);
    } else {
      fine = reader.fail(
          word, at.path,
          "'" + std::string(name) + "' needs its value: {" + std::string(name) + ": ...}");
    }
  }
};

template <Described T>
bool Reader::read(const YamlNode& node, const At& at, const About&, T& out) {
  const bool right = expect_map(node, at);
  KeyList known;
  describe(known, out);
  MapVisitor visitor(*this, node, at, known.keys, !right);
  describe(visitor, out);
  return right;
}

template <Choice T>
bool Reader::read(const YamlNode& node, const At& at, const About&, T& out) {
  KeyList known;
  describe(known, out);
  std::string any;
  for (const auto key : known.keys) any += (any.empty() ? "" : ", ") + std::string(key);
  if (node.kind == YamlNode::Kind::kNull || node.is_sequence() ||
      (node.is_map() && node.entries.size() != 1))
    return fail(node.at, at.path, "must be one of " + any);
  const Entry* entry = node.is_map() ? &node.entries[0] : nullptr;
  const std::string& word = entry ? entry->key : node.text;
  const Position where = entry ? entry->at : node.at;
  if (std::find(known.keys.begin(), known.keys.end(), word) == known.keys.end())
    return fail(where, at.path,
                "'" + word.substr(0, 60) + "' is not one of " + any +
                    (nearest(word, known.keys).empty() ? "" : suggestion(word, known.keys)));
  const At below = entry ? At{join(at.path, word), entry->at} : at;
  ChoiceVisitor visitor{*this, word, entry ? &entry->value : nullptr, below, where};
  describe(visitor, out);
  return visitor.fine;
}

template <class T>
bool Reader::read(const YamlNode& node, const At& at, const About& about, Table<T>& out) {
  if (!expect_map(node, at)) return false;
  for (const Entry& entry : node.entries) {
    const At below{join(at.path, entry.key), entry.at};
    if (!is_name(entry.key)) fail(entry.at, below.path, std::string(kNameRule));
    Named<T>& named = out.emplace_back();
    named.name = entry.key;
    named.at = entry.at;
    read(entry.value, below, about, named.value);
  }
  return true;
}

bool Reader::read_scheme(const YamlNode& node, const At& at, bool link, LawChoice& out) {
  const bool with_parameters = node.is_map() && node.entries.size() == 1;
  if (!node.is_scalar() && !with_parameters)
    return fail(node.at, at.path, "must be a scheme's name, or {name: {parameter: value, ...}}");
  const std::string& name = with_parameters ? node.entries[0].key : node.text;
  const Position where = with_parameters ? node.entries[0].at : node.at;
  if (link && name == "none" && !with_parameters) {
    out = {};
    return true;
  }
  const Protocol* protocol = find_protocol(name);
  if (!protocol) {
    std::vector<std::string_view> names;
    for (const Protocol& p : protocols()) names.push_back(p.name);
    if (link) names.emplace_back("none");
    return fail(where, at.path,
                "there is no scheme '" + name.substr(0, 60) + "'" + suggestion(name, names));
  }
  const auto specs = link ? protocol->link_params : protocol->flow_params;
  out.protocol = name;
  out.params = preset_values(*protocol, link, preset_);
  if (!with_parameters) return true;
  const YamlNode& parameters = node.entries[0].value;
  const At below{join(at.path, name), where};
  if (!expect_map(parameters, below)) return false;
  bool fine = true;
  for (const Entry& entry : parameters.entries) {
    const At place{join(below.path, entry.key), entry.at};
    const auto spec = std::find_if(specs.begin(), specs.end(),
                                   [&](const ParamSpec& s) { return s.name == entry.key; });
    if (spec == specs.end()) {
      std::vector<std::string_view> names;
      for (const ParamSpec& s : specs) names.push_back(s.name);
      fine = fail(entry.at, place.path, "unknown parameter" + suggestion(entry.key, names));
    } else if (!expect_scalar(entry.value, place)) {
      fine = false;
    } else if (const Complaint complaint = read_parameter(
                   entry.value, *spec, out.params[static_cast<size_t>(spec - specs.begin())])) {
      fine = fail(entry.value.at, place.path, *complaint);
    }
  }
  return fine;
}

// Parameters need the preset before its own key is read, which reports a preset that is no word.
std::string_view preset_of(const YamlNode& root) {
  const auto entry = std::ranges::find(root.entries, "preset", &Entry::key);
  if (entry == root.entries.end() || !entry->value.is_scalar()) return kDefaultPreset;
  return entry->value.text;
}

template <class T>
T defaults() {
  T spec;
  Mistakes missing("");
  Reader(missing, kDefaultPreset).read(YamlNode{}, {}, {}, spec);
  return spec;
}

}  // namespace

RouterSpec default_router() { return defaults<RouterSpec>(); }
LinkSpec default_link() { return defaults<LinkSpec>(); }

FileSpec read_file_spec(const YamlNode& root, Mistakes& mistakes) {
  FileSpec spec;
  Reader(mistakes, preset_of(root)).read(root, {"", {1, 1}}, {}, spec);
  return spec;
}

}  // namespace turnpike::config
