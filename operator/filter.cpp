// SPDX-License-Identifier: BSD-3-Clause
#include "operator/filter.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <vector>

#include <pcap/pcap.h>

#include "common/units/printable.h"

namespace turnpike::ops {
namespace {

constexpr size_t kMaxExpression = 4096;  // B

/// A compiler of Ethernet filters, without a device.
class Compiler {
 public:
  Compiler() : pcap_(pcap_open_dead(DLT_EN10MB, 65535)) {}
  ~Compiler() { pcap_close(pcap_); }
  Compiler(const Compiler&) = delete;
  Compiler& operator=(const Compiler&) = delete;

  bool compile(const std::string& expression, nlohmann::ordered_json& program) {
    bpf_program made{};
    if (pcap_compile(pcap_, &made, expression.c_str(), 1, PCAP_NETMASK_UNKNOWN) != 0) return false;
    program = nlohmann::ordered_json::array();
    for (unsigned i = 0; i < made.bf_len; ++i) {
      const bpf_insn& step = made.bf_insns[i];
      program.push_back({step.code, step.jt, step.jf, step.k});
    }
    pcap_freecode(&made);
    return true;
  }
  [[nodiscard]] std::string error() const { return pcap_geterr(pcap_); }

 private:
  pcap_t* pcap_;
};

/// Whether something can follow `begin` that makes it an expression. libpcap does not say where an
/// error is: this tries what may come after each kind of word.
bool can_go_on(Compiler& compiler, const std::string& begin) {
  const auto open = std::ranges::count(begin, '(') - std::ranges::count(begin, ')');
  const std::string close(static_cast<size_t>(std::max<long>(open, 0)), ')');
  nlohmann::ordered_json unused;
  for (const char* rest : {"", " tcp", " 1", " port 1", " host 1.2.3.4", " 1.2.3.4", " = 1",
                           "] = 1", " 2:0:0:0:0:1", " proto 1", " src port 1", " ::1"})
    if (compiler.compile(begin + rest + close, unused)) return true;
  return false;
}

/// Offset of the first word with which the expression is wrong; its end: something is missing.
size_t place_of_mistake(Compiler& compiler, const std::string& expression) {
  for (size_t at = 0; at < expression.size();) {
    const size_t begin = std::min(expression.find_first_not_of(' ', at), expression.size());
    const size_t end = std::min(expression.find(' ', begin), expression.size());
    if (begin < end && !can_go_on(compiler, expression.substr(0, end))) return begin;
    at = end;
  }
  return expression.size();
}

}  // namespace

tl::expected<nlohmann::ordered_json, std::string> compile_filter(const std::string& expression) {
  if (expression.size() > kMaxExpression)
    return tl::unexpected("the filter is longer than " + std::to_string(kMaxExpression) + " B");
  Compiler compiler;
  nlohmann::ordered_json program;
  if (compiler.compile(expression, program)) return program;
  const std::string why = compiler.error();
  const size_t at = place_of_mistake(compiler, expression);
  return tl::unexpected("filter, column " + std::to_string(at + 1) + ": " + printable(why, 200) +
                        "\n  " + printable(expression, kMaxExpression) + "\n  " +
                        std::string(at, ' ') + "^");
}

std::string choose_packets(nlohmann::ordered_json& request, const std::string& filter,
                           const std::string& link) {
  if (!link.empty()) request["link"] = link;
  if (filter.empty()) return "";
  auto program = compile_filter(filter);
  if (!program) return program.error();
  request["filter"] = std::move(*program);
  return "";
}

}  // namespace turnpike::ops
