// SPDX-License-Identifier: BSD-3-Clause
#include "lab/router_folders.h"

#include <algorithm>

#include "common/report/csv.h"
#include "common/report/run_data.h"
#include "sender/results/link_name.h"

namespace turnpike::lab {
std::string full_link_name(const config::Topology& topology, const std::string& router,
                           const std::string& link) {
  const auto self = std::ranges::find(topology.routers, router, &config::Router::name);
  if (self == topology.routers.end()) return link;
  for (const size_t l : self->links)
    if (topology.links[l].name == link)
      return sender::link_name(topology, {l, topology.links[l].end_at(router)});
  return link;
}

std::string router_folder(const config::Topology& topology, const config::Router& router,
                          const std::string& folder) {
  return topology.routers.size() == 1 ? folder : folder + "/" + router.name;
}

tl::expected<nlohmann::json, std::string> read_router(const config::Topology& topology,
                                                      const config::Router& router,
                                                      const std::string& folder) {
  return report::read_json(router_folder(topology, router, folder) + "/router-" + router.name +
                           ".json");
}

void gather_links(const config::Topology& topology, const std::string& folder) {
  if (topology.routers.size() < 2) return;
  std::string all;
  for (const config::Router& r : topology.routers) {
    const auto text = report::read_text(router_folder(topology, r, folder) + "/links.csv");
    if (!text) continue;
    const report::Csv csv = report::Csv::parse(*text);
    if (all.empty()) all = report::csv_line(csv.columns());
    for (size_t row = 0; row < csv.rows(); ++row) {
      std::vector<std::string> fields;
      for (const std::string& column : csv.columns()) {
        const std::string text_there(csv.text(row, column));
        fields.push_back(column == "link" ? full_link_name(topology, r.name, text_there)
                                          : text_there);
      }
      all += report::csv_line(fields);
    }
  }
  if (all.empty()) return;
  // If this fails, the report has no link figures.
  [[maybe_unused]] const auto written = report::write_text(folder + "/links.csv", all);
}

}  // namespace turnpike::lab
