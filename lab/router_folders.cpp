// SPDX-License-Identifier: BSD-3-Clause
#include "lab/router_folders.h"

#include "common/report/csv.h"
#include "common/report/run_data.h"
#include "sender/results/link_name.h"

namespace turnpike::lab {
/// A router has one name per link; results name the link's two directions separately.
/// directions.
std::string full_link_name(const config::Topology& topology, const std::string& router,
                           const std::string& link) {
  for (size_t l = 0; l < topology.links.size(); ++l) {
    if (topology.links[l].name != link) continue;
    for (size_t d = 0; d < 2; ++d)
      if (topology.links[l].ends[d].node == router) return sender::link_name(topology, {l, d});
  }
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
