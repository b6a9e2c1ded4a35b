// SPDX-License-Identifier: BSD-3-Clause
// Writes every key with the value that load() gave it. Omits values without a text ("none") and
// derived values that no file can give.
#include "common/config/resolve.h"

#include "common/config/resolve/parts.h"
#include "common/config/scalars.h"
#include "common/units/text.h"

namespace turnpike::config {
namespace {

void write_run(YamlWriter& out, const Run& run) {
  out.put("preset", run.preset);
  out.map("run", [&] {
    out.put("name", plain(run.name));
    out.put("duration", to_text(run.duration));
    out.put("seed", std::to_string(run.seed));
    out.put("output", in_quotes(run.output));
    out.put("sample", to_text(run.sample));
    out.put("settle", to_text(run.settle));
    out.put("tolerance", number(run.tolerance));
    out.put("udp_port", std::to_string(run.udp_port));
    out.put("quantum", to_text(run.quantum));
    out.map("measure", [&] {
      for (const Span& s : run.measure)
        out.put(plain(s.name), mapped({{"from", to_text(s.from)}, {"to", to_text(s.to)}}));
    });
  });
}

}  // namespace

std::string resolved_text(const Topology& t) {
  YamlWriter out;
  write_run(out, t.run);
  write_hosts(out, t);
  write_routers(out, t);
  write_links(out, t);
  write_customers(out, t);
  write_gateways(out, t);
  write_trees(out, t);
  write_traffic(out, t);
  return out.text();
}

}  // namespace turnpike::config
