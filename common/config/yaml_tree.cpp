// SPDX-License-Identifier: BSD-3-Clause
// Builds the tree from yaml-cpp's events. Unlike yaml-cpp's own tree, events show duplicate keys
// and the positions of keys, and parsing can stop before a hostile document has grown.
#include "common/config/yaml_tree.h"

#include <map>
#include <sstream>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include "common/units/printable.h"

namespace turnpike::config {
namespace {

Position position(const YAML::Mark& mark) { return {mark.line + 1, mark.column + 1}; }

// Thrown through yaml-cpp, which offers no other way to stop, and caught by parse_yaml().
struct Refused {
  Position at;
  std::string message;
};

// Cost of a scalar, in nodes.
size_t weight_of(size_t bytes) { return 1 + bytes / 64; }

size_t weight_of(const YamlNode& node) {
  size_t n = weight_of(node.text.size());
  for (const YamlNode& item : node.items) n += weight_of(item);
  for (const Entry& entry : node.entries) n += weight_of(entry.value) + weight_of(entry.key.size());
  return n;
}

class Builder final : public YAML::EventHandler {
 public:
  explicit Builder(Mistakes& mistakes) : mistakes_(mistakes) {}

  YamlNode take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override { root_.at = position(mark); }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    YamlNode node;
    node.at = position(mark);
    finish(std::move(node), anchor);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    YamlNode node;
    node.at = position(mark);
    node.text = value;
    node.quoted = tag == "!";  // yaml-cpp's tag of quoted scalars
    const bool empty = !node.quoted && (value.empty() || value == "~" || value == "null");
    node.kind = empty ? YamlNode::Kind::kNull : YamlNode::Kind::kScalar;
    finish(std::move(node), anchor);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto known = anchored_.find(anchor);
    if (known == anchored_.end()) throw Refused{position(mark), "an alias may not contain itself"};
    // Counts before copying: bounds the memory of nested aliases.
    count(known->second.size, position(mark));
    YamlNode copy = known->second.node;
    add(std::move(copy));
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(YamlNode::Kind::kSequence, mark, anchor);
  }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(YamlNode::Kind::kMap, mark, anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapEnd() override { close(); }

 private:
  struct Frame {
    YamlNode node;
    YAML::anchor_t anchor = 0;
    std::optional<YamlNode> key;      // of a map, waiting for its value
    std::map<std::string, int> seen;  // keys so far and their lines
  };
  struct Anchored {
    YamlNode node;
    size_t size;
  };

  void count(size_t more, Position at) {
    if ((nodes_ += more) > kMaxNodes)
      throw Refused{at, "more than " + std::to_string(kMaxNodes) + " values: too large a file"};
  }

  void open(YamlNode::Kind kind, const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (stack_.size() >= kMaxDepth)
      throw Refused{position(mark), "nested deeper than " + std::to_string(kMaxDepth) + " levels"};
    Frame frame;
    frame.node.kind = kind;
    frame.node.at = position(mark);
    frame.anchor = anchor;
    stack_.push_back(std::move(frame));
  }

  void close() {
    Frame frame = std::move(stack_.back());
    stack_.pop_back();
    finish(std::move(frame.node), frame.anchor);
  }

  void finish(YamlNode node, YAML::anchor_t anchor) {
    count(weight_of(node.text.size()), node.at);
    if (anchor != 0) anchored_[anchor] = {node, weight_of(node)};
    add(std::move(node));
  }

  void add(YamlNode node) {
    if (stack_.empty()) {
      root_ = std::move(node);
      return;
    }
    Frame& parent = stack_.back();
    if (parent.node.is_sequence()) {
      parent.node.items.push_back(std::move(node));
    } else if (!parent.key) {
      parent.key = std::move(node);
    } else {
      add_entry(parent, std::move(node));
    }
  }

  void add_entry(Frame& parent, YamlNode value) {
    const YamlNode key = *std::exchange(parent.key, std::nullopt);
    if (key.is_scalar() && key.text.size() > kMaxKeyBytes)
      throw Refused{key.at, "a key of more than " + std::to_string(kMaxKeyBytes) + " bytes"};
    if (!key.is_scalar()) {
      mistakes_.add(key.at, path(), "a key must be a plain word");
    } else if (const auto [first, fresh] = parent.seen.emplace(key.text, key.at.line); !fresh) {
      mistakes_.add(key.at, join(path(), key.text),
                    "duplicate key; the first is in line " + std::to_string(first->second));
    } else {
      parent.node.entries.push_back({key.text, key.at, std::move(value)});
    }
  }

  // Path of the innermost open map.
  [[nodiscard]] std::string path() const {
    std::string out;
    for (size_t i = 0; i + 1 < stack_.size(); ++i) {
      const Frame& frame = stack_[i];
      if (frame.node.is_sequence())
        out += "[" + std::to_string(frame.node.items.size()) + "]";
      else if (frame.key)
        out = join(out, frame.key->text);
    }
    return out;
  }

  Mistakes& mistakes_;
  YamlNode root_;
  std::vector<Frame> stack_;
  std::map<YAML::anchor_t, Anchored> anchored_;
  size_t nodes_ = 0;
};

// The first byte that no text has, if any. yaml-cpp takes 0x04 for the end of the file.
std::optional<Refused> wrong_byte(std::string_view text) {
  Position at{1, 1};
  for (size_t i = 0; i < text.size();) {
    const std::string_view left = text.substr(i);
    const size_t length = utf8_length(left);
    const bool blank = text[i] == '\t' || text[i] == '\n' || text[i] == '\r';
    if (length == 0)
      return Refused{at, "a byte that is not UTF-8: " + printable(left.substr(0, 1), 1)};
    if (!blank && is_control(left))
      return Refused{at, "a control character: " + printable(left.substr(0, length), length)};
    at = text[i] == '\n' ? Position{at.line + 1, 1}
                         : Position{at.line, at.column + static_cast<int>(length)};
    i += length;
  }
  return {};
}

}  // namespace

const Entry* YamlNode::find(std::string_view key) const {
  for (const Entry& entry : entries)
    if (entry.key == key) return &entry;
  return nullptr;
}

std::optional<YamlNode> parse_yaml(const std::string& text, Mistakes& mistakes) {
  if (text.size() > kMaxFileBytes) {
    mistakes.add({1, 1}, "", "the file is larger than " + std::to_string(kMaxFileBytes) + " bytes");
    return {};
  }
  if (const auto refused = wrong_byte(text)) {
    mistakes.add(refused->at, "", refused->message);
    return {};
  }
  try {
    std::istringstream in(text);
    YAML::Parser parser(in);
    Builder builder(mistakes);
    if (!parser.HandleNextDocument(builder)) {
      mistakes.add({1, 1}, "", "the file is empty");
      return {};
    }
    Builder second(mistakes);
    if (parser.HandleNextDocument(second)) {
      mistakes.add(second.take().at, "", "a second document: a topology file has one");
      return {};
    }
    return builder.take();
  } catch (const YAML::Exception& e) {
    mistakes.add(position(e.mark), "", "not YAML: " + e.msg);
  } catch (const Refused& e) {
    mistakes.add(e.at, "", e.message);
  }
  return {};
}

}  // namespace turnpike::config
