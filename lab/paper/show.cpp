// SPDX-License-Identifier: BSD-3-Clause
#include "lab/paper/show.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "common/report/number.h"
#include "common/report/page.h"
#include "lab/columns.h"
#include "lab/paper/charts.h"
#include "lab/paper/references.h"

namespace turnpike::lab {
namespace {

using report::Cell;

std::string met_text(const ClaimResult& v) {
  return v.met ? "met" : v.lost ? "NOT MET" : "not met";
}

report::HtmlTable table(const EvaluatedClaims& evaluated) {
  report::HtmlTable t{.caption = "", .columns = {"", "paper", "here", "claim", ""}};
  for (const ClaimResult& v : evaluated.results)
    t.rows.push_back({v.metric,
                      report::number(v.paper),
                      report::number(v.here),
                      report::number(v.bound),
                      {met_text(v), v.met ? Cell::Look::kGood : Cell::Look::kBad}});
  return t;
}

/// Groups claims that are not met for the same reason.
struct Reason {
  std::string claims, why;
};

std::vector<Reason> reasons(const EvaluatedClaims& evaluated) {
  std::vector<Reason> all;
  for (const ClaimResult& v : evaluated.results) {
    if (v.met || v.why.empty()) continue;
    const auto same = std::ranges::find(all, v.why, &Reason::why);
    if (same == all.end()) {
      all.push_back({v.claim(), v.why});
    } else {
      same->claims.append("; ").append(v.claim());
    }
  }
  return all;
}

void show_reasons(const EvaluatedClaims& evaluated, report::Page& page) {
  for (const Reason& r : reasons(evaluated)) page.paragraph("Not met: " + r.claims + ". " + r.why);
}

std::string signed_percent(double ratio) {
  return (ratio > 0 ? "+" : "") + report::fixed(100 * ratio, 1) + " %";
}

void show_references(const EvaluatedClaims& evaluated, report::Page& page) {
  const auto all = compare_references(*evaluated.experiment, evaluated.metrics);
  if (all.empty()) return;
  report::HtmlTable t{
      .caption = "Comparison with an independent simulator, ns-2.35 with its own modules.",
      .columns = {"", "ns-2", "here", "difference"}};
  for (const Compared& c : all)
    t.rows.push_back({c.metric, report::number(c.reference), report::number(c.here),
                      report::number(signed_percent(c.difference))});
  page.table(t);
  for (const Compared& c : all)
    if (!c.why.empty()) page.paragraph("Unlike ns-2: " + c.metric + ". " + c.why);
}

nlohmann::json references(const std::vector<EvaluatedClaims>& all) {
  nlohmann::json out = nlohmann::json::array();
  for (const EvaluatedClaims& j : all)
    for (const Compared& c : compare_references(*j.experiment, j.metrics))
      out.push_back({{"id", j.experiment->id},
                     {"metric", c.metric},
                     {"ns2", c.reference},
                     {"here", c.here},
                     {"far", c.far()},
                     {"why", c.why}});
  return out;
}

nlohmann::json data(const std::vector<EvaluatedClaims>& all) {
  nlohmann::json out = nlohmann::json::array();
  for (const EvaluatedClaims& j : all)
    for (const ClaimResult& v : j.results)
      out.push_back({{"id", v.experiment},
                     {"figure", v.figure},
                     {"metric", v.metric},
                     {"paper", v.paper},
                     {"here", v.here},
                     {"claim", v.bound},
                     {"met", v.met},
                     {"why", v.why}});
  return out;
}

/// "XCP, figure 4: Impact of capacity"; "figure" is omitted where the id is no number.
std::string heading(const Experiment& e) {
  const bool figure = !e.figure.empty() && e.figure[0] >= '0' && e.figure[0] <= '9';
  return e.paper + ", " + (figure ? "figure " : "") + e.figure + ": " + e.title;
}

}  // namespace

std::string verdict_lines(const EvaluatedClaims& evaluated) {
  std::vector<std::vector<std::string>> rows;
  for (const ClaimResult& v : evaluated.results)
    rows.push_back({v.figure, v.metric, v.paper, v.here, v.bound, met_text(v)});
  std::string out = columns(rows, 2);
  for (const Reason& r : reasons(evaluated))
    out.append("      ").append(r.claims).append(": ").append(r.why).append("\n");
  rows.clear();
  for (const Compared& c : compare_references(*evaluated.experiment, evaluated.metrics))
    rows.push_back({c.metric, "ns-2 " + c.reference, c.here, signed_percent(c.difference)});
  if (!rows.empty()) out += columns(rows, 2);
  return out;
}

std::string count_text(const std::vector<EvaluatedClaims>& all) {
  size_t met = 0, claims = 0, lost = 0;
  for (const EvaluatedClaims& j : all)
    for (const ClaimResult& v : j.results) ++claims, met += v.met ? 1 : 0, lost += v.lost ? 1 : 0;
  return std::to_string(met) + " of " + std::to_string(claims) + " claims met" +
         (lost == 0 ? "" : ", " + std::to_string(lost) + " NOT MET any more");
}

std::string paper_page(const std::vector<EvaluatedClaims>& all, const std::string& out) {
  report::Page page("The papers' figures, reproduced");
  const bool lost = std::ranges::any_of(all, [](const EvaluatedClaims& j) {
    return std::ranges::any_of(j.results, &ClaimResult::lost);
  });
  page.verdict(!lost, count_text(all) + ".");
  page.paragraph(
      "Every run is turnpike lab: the routers' and senders' own code on a virtual clock. Charts "
      "show the run of the first seed; metrics are medians over seeds unless they say otherwise.");
  for (const EvaluatedClaims& j : all) {
    const Experiment& e = *j.experiment;
    page.heading(heading(e));
    if (!e.about.empty()) page.paragraph(e.about);
    if (!j.results.empty()) page.table(table(j));
    show_reasons(j, page);
    show_references(j, page);
    for (const ChartSpec& spec : e.charts)
      page.figure(report::svg(chart_of(spec, e, j.metrics, out)), spec.title, spec.half);
  }
  page.data("claims", data(all).dump());
  page.data("references", references(all).dump());
  return page.html();
}

}  // namespace turnpike::lab
