// SPDX-License-Identifier: BSD-3-Clause
// `turnpike capture`: packets of a running router in a pcapng file.
#include <array>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <unistd.h>

#include "common/program/version.h"
#include "common/report/whole_file.h"
#include "operator/client.h"
#include "operator/filter.h"
#include "operator/pcapng.h"
#include "operator/verbs.h"

namespace turnpike::ops {
namespace {

struct CaptureOptions {
  Where where;
  std::string file = "-", filter, link, direction = "both", sample = "1";
  bool drops = false;
  uint32_t snap = 128;
  uint64_t packets = 0;
  double share = 5;  // %
};

std::vector<uint8_t> bytes_of(const std::string& hex) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : (c | 32) - 'a' + 10; };
  std::vector<uint8_t> bytes(hex.size() / 2);
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<uint8_t>(digit(hex[2 * i]) << 4 | digit(hex[2 * i + 1]));
  return bytes;
}

/// "1/N" or "N": one of N packets; 0: neither.
uint32_t sample_of(const std::string& text) {
  const std::string n = text.starts_with("1/") ? text.substr(2) : text;
  uint64_t value = 0;
  for (const char c : n) {
    if (c < '0' || c > '9' || value > 100'000'000) return 0;
    value = value * 10 + static_cast<uint64_t>(c - '0');
  }
  return n.empty() ? 0 : static_cast<uint32_t>(value);
}

/// Makes the file of what the router sends.
class Writer {
 public:
  explicit Writer(Pcapng::Out out) : file_(std::move(out), version_line("turnpike")) {}

  /// A part of the answer, or its end.
  void take(const Json& part) {
    for (const Json& link : part.value("links", Json::array())) {
      names_.push_back(link.value("link", ""));
      file_.add_interface(names_.back(), link.value("description", ""),
                          link.value("rate_bps", uint64_t{0}), part.value("snap", 0U));
    }
    if (const auto counts = part.find("counts"); counts != part.end()) counts_ = *counts;
    if (const auto packets = part.find("packets"); packets != part.end() && packets->is_array())
      for (const Json& p : *packets) add(p);
  }

  /// Writes the statistics; returns a line about what is missing, "" if nothing is.
  std::string finish() {
    uint64_t full = 0, spent = 0;
    for (uint32_t l = 0; l < names_.size() && l < counts_.size(); ++l) {
      const uint64_t f = counts_[l].value("ring_full", uint64_t{0});
      const uint64_t s = counts_[l].value("over_share", uint64_t{0});
      file_.add_statistics(l, last_, counts_[l].value("copied", uint64_t{0}), f + s,
                           f + s == 0 ? ""
                                      : "missing: " + std::to_string(f) + " for a full ring, " +
                                            std::to_string(s) + " for a spent share of time");
      full += f;
      spent += s;
    }
    if (full + spent == 0) return "";
    return std::to_string(full + spent) + " packets are missing: " + std::to_string(full) +
           " found the ring full, " + std::to_string(spent) +
           " came when the share of the lcore's time was spent (try --sample, --filter, --share)";
  }
  [[nodiscard]] uint64_t packets() const { return packets_; }

 private:
  void add(const Json& p) {
    constexpr std::array kDirections{Pcapng::Direction::kReceived, Pcapng::Direction::kSent,
                                     Pcapng::Direction::kUnknown};
    const std::vector<uint8_t> bytes = bytes_of(p[5].get<std::string>());
    const std::string comment =
        p[4].is_string() ? "dropped: " + p[4].get<std::string>() : std::string();
    last_ = p[0].get<uint64_t>();
    file_.add({.interface = p[1].get<uint32_t>(),
               .time_ns = last_,
               .length = p[3].get<uint32_t>(),
               .bytes = bytes,
               .direction = kDirections[std::min<size_t>(p[2].get<size_t>(), 2)],
               .comment = comment});
    ++packets_;
  }

  Pcapng file_;
  std::vector<std::string> names_;
  Json counts_ = Json::array();
  uint64_t last_ = 0, packets_ = 0;
};

ExitCode run(const CaptureOptions& options) {
  const uint32_t sample = sample_of(options.sample);
  if (sample == 0) return fail(kExitUsage, "--sample takes 1/N: " + options.sample);
  const bool pipe = options.file == "-";
  if (pipe && isatty(STDOUT_FILENO) == 1)
    return fail(kExitUsage, "a capture is no text: write it with -w FILE, or pipe it to a program");
  Json request{{"request", "capture"},
               {"rx", !options.drops && options.direction != "tx"},
               {"tx", !options.drops && options.direction != "rx"},
               {"drops", options.drops},
               {"sample", sample},
               {"snap", options.snap},
               {"share", options.share / 100},
               {"packets", options.packets}};
  if (const auto why = choose_packets(request, options.filter, options.link); !why.empty())
    return fail(kExitUsage, why);
  auto client = Client::reach(options.where);
  if (!client) return client.error();
  std::optional<report::WholeFile> file;
  if (!pipe) {
    auto opened = report::WholeFile::open(options.file);
    if (!opened) return fail(kExitRuntime, opened.error());
    file.emplace(std::move(*opened));
  }
  bool broken = false;  // the pipe's reader has gone
  Writer writer([&](std::string_view bytes) {
    if (file) return file->write(bytes);
    broken = broken || std::fwrite(bytes.data(), 1, bytes.size(), stdout) != bytes.size();
  });
  const auto answer = client->follow(std::move(request), [&](const Json& part) {
    writer.take(part);
    if (pipe) broken = broken || std::fflush(stdout) != 0;
    return !broken;
  });
  if (!answer && writer.packets() == 0 && answer.error().code != "ended")
    return fail(answer.error());
  if (answer && !answer->is_null()) {
    Json end = *answer;
    end.erase("packets");
    writer.take(end);
  }
  const std::string missing = writer.finish();
  if (pipe) std::fflush(stdout);
  if (file)
    if (const auto finished = file->finish(); !finished)
      return fail(kExitRuntime, finished.error());
  std::fprintf(stderr, "%llu packets\n", static_cast<unsigned long long>(writer.packets()));
  if (!missing.empty()) std::fprintf(stderr, "%s\n", missing.c_str());
  return answer ? kExitOk : fail(answer.error());
}

}  // namespace

void add_capture(CLI::App& app, ExitCode& code) {
  CLI::App* verb = app.add_subcommand(
      "capture", "write packets of a running router to a pcapng file, until interrupted");
  const auto o = std::make_shared<CaptureOptions>();
  verb->add_option("-w,--write", o->file, "file to write; - is standard output (default)")
      ->type_name("FILE");
  verb->add_option("--filter", o->filter, "packets to capture, as in tcpdump (pcap-filter(7))")
      ->type_name("BPF");
  verb->add_option("--link", o->link, "only packets at this link")->type_name("LINK");
  verb->add_option("--direction", o->direction, "only packets received, or only those sent")
      ->check(CLI::IsMember({"rx", "tx", "both"}));
  verb->add_flag("--drops", o->drops, "only dropped packets, with their reasons as comments");
  verb->add_option("--snaplen", o->snap, "B of each packet to keep (default: 128)")
      ->check(CLI::Range(14, 9216));
  verb->add_option("--sample", o->sample, "one of N packets, at random")->type_name("1/N");
  verb->add_option("-c,--packets", o->packets, "end after as many packets")
      ->type_name("COUNT")
      ->check(CLI::PositiveNumber);
  verb->add_option("--share", o->share, "most of each lcore's time to spend, % (default: 5)")
      ->check([](const std::string& text) { return number_within(text, 0.01, 50); });
  add_where(*verb, o->where);
  verb->callback([o, &code] { code = run(*o); });
}

}  // namespace turnpike::ops
