// SPDX-License-Identifier: BSD-3-Clause
// The keys of a gateway's peers, in a file of their own, which others than its owner cannot read.
// No message repeats a word of it: a key may stand where a peer's name should.
#include <algorithm>
#include <array>
#include <cstring>  // explicit_bzero(), of glibc
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <sys/stat.h>

#include "common/config/draft.h"
#include "common/config/lines.h"
#include "common/units/input_file.h"

namespace turnpike::config {
namespace {

constexpr size_t kMaxFile = 1 << 20;  // B
constexpr size_t kMaxWrongKeys = 5;   // wrong lines reported; in a file of another format all are
constexpr size_t kAes128 = 32, kAes256 = 64;  // digits

std::optional<uint8_t> hex_digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<uint8_t>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<uint8_t>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<uint8_t>(c - 'A' + 10);
  return {};
}

LineError read_key(std::string_view text, SecretBytes& out) {
  const auto wrong = std::ranges::find_if(text, [](char c) { return !hex_digit(c); });
  if (wrong != text.end())
    return {"a key consists of hexadecimal digits", {std::to_address(wrong), 1}};
  if (text.size() != kAes128 && text.size() != kAes256)
    return {"a key has 64 hexadecimal digits (AES-256) or 32 (AES-128), this one has " +
                std::to_string(text.size()),
            text};
  std::array<uint8_t, SecretBytes::kMaxSize> bytes{};
  for (size_t i = 0; i < text.size(); i += 2)
    bytes[i / 2] = static_cast<uint8_t>(*hex_digit(text[i]) << 4 | *hex_digit(text[i + 1]));
  out = SecretBytes({bytes.data(), text.size() / 2});
  explicit_bzero(bytes.data(), bytes.size());
  return {};
}

class Keys {
 public:
  Keys(const Draft& draft, Gateway& gateway) : d_(draft), g_(gateway) {
    for (const GatewayPeer& p : g_.peers) peers_.emplace_back(p.name);
  }

  LineError place_line(std::string_view line) {
    std::string_view more = line;
    const std::string_view name = take_word(more), key = take_word(more);
    if (key.empty() || !more.empty())
      return {"expected a peer's name and a key", key.empty() ? name : more};
    const auto peer = std::ranges::find(g_.peers, name, &GatewayPeer::name);
    // One file may serve several gateways: the others' keys are read and not kept.
    if (peer == g_.peers.end() && !is_gateway(name))
      return {"there is no peer of this name" + suggestion(name, peers_), name};
    SecretBytes secret;
    if (LineError wrong = read_key(key, secret); !wrong.message.empty()) return wrong;
    if (peer == g_.peers.end()) return {};
    if (std::ranges::find(peer->keys, secret) != peer->keys.end())
      return {"this key is there twice for its peer", key};
    peer->keys.push_back(secret);
    return {};
  }

 private:
  [[nodiscard]] bool is_gateway(std::string_view name) const {
    return std::ranges::any_of(d_.topology.gateways, [&](const Gateway& g) {
      return d_.topology.routers[g.router].name == name;
    });
  }

  const Draft& d_;
  Gateway& g_;
  std::vector<std::string_view> peers_;
};

}  // namespace

void place_keys(Draft& d, Gateway& gateway, const Field<std::string>& key_file) {
  namespace fs = std::filesystem;
  const std::string path =
      "gateways." + d.topology.routers[gateway.router].name + ".security.key_file";
  const fs::path given = fs::path(d.mistakes.file()).parent_path() / key_file.value;
  std::error_code error;
  fs::path whole = fs::absolute(given, error);
  if (error) whole = given;
  const std::string file = whole.lexically_normal().string();
  GatewaySecurity& security = gateway.security.emplace(GatewaySecurity{.key_file = file});
  auto text = read_input_file(file, kMaxFile);
  if (!text) {
    // Another gateway's keys are on another machine: the gateway that needs them says so.
    security.unread = text.error();
    return;
  }
  struct stat info {};
  security.exposed = ::stat(file.c_str(), &info) == 0 && (info.st_mode & (S_IRWXG | S_IRWXO)) != 0;
  const auto add = [&](const Mistake& mistake) { d.mistakes.add(mistake); };
  Keys keys(d, gateway);
  Lines lines(*text);
  size_t wrong = 0;
  while (wrong < kMaxWrongKeys) {
    const auto line = lines.next();
    if (!line) break;
    if (trim(*line).empty() || trim(*line).front() == '#') continue;
    const LineError found = keys.place_line(*line);
    if (found.message.empty()) continue;
    ++wrong;
    add({file, lines.number(), column_of(found.part, *line), path, found.message});
  }
  explicit_bzero(text->data(), text->size());
  for (const GatewayPeer& peer : gateway.peers)
    if (peer.keys.empty() && wrong == 0)
      d.mistakes.add(key_file.at, path, "'" + file + "' has no key of peer '" + peer.name + "'");
}

}  // namespace turnpike::config
