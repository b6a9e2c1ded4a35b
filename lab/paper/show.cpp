// SPDX-License-Identifier: BSD-3-Clause
#include "lab/paper/show.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <utility>

#include <nlohmann/json.hpp>

#include "common/report/number.h"
#include "common/report/page.h"
#include "lab/columns.h"
#include "lab/paper/charts.h"
#include "lab/paper/references.h"

namespace turnpike::lab {
namespace {

using report::Cell;

std::string met_text(const CheckResult& c) {
  return c.met ? "met" : c.lost ? "NOT MET" : "not met";
}

Cell verdict(std::string text, bool good) {
  return {std::move(text), good ? Cell::Look::kGood : Cell::Look::kBad};
}

/// Values by seed, as in "0.31 to 0.46 s"; empty for metrics without.
std::string spread_text(const EvaluatedExperiment& e, const std::string& metric,
                        const std::string& out, ResultFiles& files) {
  const MetricSpec& m = *std::ranges::find(e.experiment->metrics, metric, &MetricSpec::name);
  const auto range = spread(m, *e.experiment, out, files, e.metrics);
  if (!range) return "";
  const double scale = m.unit == "%" ? 100 : 1;
  return " (" + shown_text(range->first * scale, {.name = m.name}) + " to " +
         shown_text(range->second * scale, m) + ")";
}

/// The bound, and the value of the metric that it names, as in "< time, XCP = 2 s".
std::string shown_bound(const CheckResult& c) {
  return c.bound + (c.other.empty() ? "" : " = " + c.other);
}

/// Keeps numbers and their units on one line.
std::string with_units_kept(const std::string& text) {
  constexpr const char* kNoBreakSpace = "\u00a0";
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool unit = text[i] == ' ' && i > 0 && i + 1 < text.size() &&
                      std::isdigit(static_cast<unsigned char>(text[i - 1])) != 0 &&
                      text[i + 1] != '(' && text.compare(i + 1, 3, "to ") != 0;
    out += unit ? kNoBreakSpace : std::string(1, text[i]);
  }
  return out;
}

std::vector<Cell> check_row(const EvaluatedExperiment& e, const CheckResult& c,
                            const std::string& out, ResultFiles& files) {
  return {
      c.metric, report::number(with_units_kept(c.paper)), report::number(with_units_kept(c.model)),
      report::number(with_units_kept(c.here + spread_text(e, c.metric, out, files))),
      // Text, for names of metrics are long.
      with_units_kept(shown_bound(c) + (c.wider.empty() ? "" : " *")), verdict(met_text(c), c.met)};
}

/// Each claim of the paper above its checks, then our own checks.
report::HtmlTable table(const EvaluatedExperiment& e, const std::string& out, ResultFiles& files) {
  report::HtmlTable t{.columns = {"", "paper", "model", "here", "bound", ""}};
  for (const ClaimResult& claim : e.evaluation.claims) {
    const bool met = claim.met();
    t.rows.push_back({Cell(claim.claim->says + " (" + claim.claim->at + ")"),
                      verdict(met ? "met" : "not met", met)});
    for (const CheckResult& c : claim.checks) t.rows.push_back(check_row(e, c, out, files));
  }
  if (!e.evaluation.own.empty()) t.rows.push_back({Cell("Not stated by the paper:")});
  for (const CheckResult& c : e.evaluation.own) t.rows.push_back(check_row(e, c, out, files));
  return t;
}

/// Checks that share a remark.
struct Remark {
  std::string checks, text;
};

/// The remark of each check that `text_of` finds one for.
template <class TextOf>
std::vector<Remark> remarks(const EvaluatedExperiment& e, const TextOf& text_of) {
  std::vector<Remark> all;
  e.evaluation.each([&](const CheckResult& c) {
    const std::string text = text_of(c);
    if (text.empty()) return;
    const auto same = std::ranges::find(all, text, &Remark::text);
    if (same == all.end())
      all.push_back({c.check(), text});
    else
      same->checks.append("; ").append(c.check());
  });
  return all;
}

std::vector<Remark> reasons(const EvaluatedExperiment& e) {
  return remarks(e, [](const CheckResult& c) { return c.met ? std::string() : c.why; });
}

void show_remarks(const EvaluatedExperiment& e, report::Page& page) {
  for (const Remark& r : remarks(e, [](const CheckResult& c) { return c.wider; }))
    page.paragraph("* Wider than the paper's value: " + r.checks + ". " + r.text);
  for (const Remark& r : reasons(e)) page.paragraph("Not met: " + r.checks + ". " + r.text);
}

std::string signed_percent(double ratio) {
  return (ratio > 0 ? "+" : "") + report::fixed(100 * ratio, 1) + " %";
}

void show_references(const EvaluatedExperiment& evaluated, report::Page& page) {
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

nlohmann::json references(const std::vector<EvaluatedExperiment>& all) {
  nlohmann::json out = nlohmann::json::array();
  for (const EvaluatedExperiment& j : all)
    for (const Compared& c : compare_references(*j.experiment, j.metrics))
      out.push_back({{"id", j.experiment->id},
                     {"metric", c.metric},
                     {"ns2", c.reference},
                     {"here", c.here},
                     {"far", c.far()},
                     {"why", c.why}});
  return out;
}

nlohmann::json data(const CheckResult& c) {
  return {{"metric", c.metric}, {"paper", c.paper}, {"model", c.model}, {"here", c.here},
          {"bound", c.bound},   {"wider", c.wider}, {"met", c.met},     {"why", c.why}};
}

nlohmann::json data(const std::vector<CheckResult>& checks) {
  nlohmann::json out = nlohmann::json::array();
  for (const CheckResult& c : checks) out.push_back(data(c));
  return out;
}

/// For each experiment its claims and its own checks.
nlohmann::json data(const std::vector<EvaluatedExperiment>& all) {
  nlohmann::json out = nlohmann::json::array();
  for (const EvaluatedExperiment& e : all) {
    nlohmann::json claims = nlohmann::json::array();
    for (const ClaimResult& c : e.evaluation.claims)
      claims.push_back({{"id", c.claim->id},
                        {"says", c.claim->says},
                        {"at", c.claim->at},
                        {"met", c.met()},
                        {"checks", data(c.checks)}});
    out.push_back({{"id", e.experiment->id},
                   {"figure", e.experiment->figure},
                   {"claims", claims},
                   {"own", data(e.evaluation.own)}});
  }
  return out;
}

/// Claims and checks of one paper, or of all.
struct Score {
  size_t met = 0, claims = 0;   // of the paper
  size_t own_met = 0, own = 0;  // checks
  size_t lost = 0;              // checks

  void add(const Evaluation& e) {
    claims += e.claims.size();
    met += static_cast<size_t>(std::ranges::count_if(e.claims, &ClaimResult::met));
    own += e.own.size();
    own_met += static_cast<size_t>(std::ranges::count_if(e.own, &CheckResult::met));
    e.each([&](const CheckResult& c) { lost += c.lost ? 1 : 0; });
  }
};

Score score_of(const std::vector<EvaluatedExperiment>& all) {
  Score score;
  for (const EvaluatedExperiment& e : all) score.add(e.evaluation);
  return score;
}

/// A row per paper.
report::HtmlTable scorecard(const std::vector<EvaluatedExperiment>& all) {
  std::vector<std::pair<std::string, Score>> papers;
  for (const EvaluatedExperiment& e : all) {
    if (papers.empty() || papers.back().first != e.experiment->paper)
      papers.emplace_back(e.experiment->paper, Score{});
    papers.back().second.add(e.evaluation);
  }
  report::HtmlTable t{
      .columns = {"paper", "its claims", "met", "not met", "checks of ours", "met"}};
  for (const auto& [paper, s] : papers) {
    std::vector<Cell> row{paper};
    for (const size_t n : {s.claims, s.met, s.claims - s.met, s.own, s.own_met})
      row.push_back(report::number(std::to_string(n)));
    t.rows.push_back(std::move(row));
  }
  return t;
}

/// The parts of an experiment's section that are computed from its runs.
struct Section {
  report::HtmlTable table;
  std::vector<std::string> charts = {};  // SVG
};

Section section_of(const EvaluatedExperiment& e, const std::string& out) {
  ResultFiles files;
  Section section{.table = table(e, out, files)};
  for (const ChartSpec& chart : e.experiment->charts)
    section.charts.push_back(report::svg(chart_of(chart, *e.experiment, e.metrics, out, files)));
  return section;
}

/// "turnpike paper fcp-fig5-6: 7 runs of configs/paper/fcp-fig5-6.yaml, up to 8 seeds".
std::string command_text(const Experiment& e) {
  std::vector<std::string> files;
  size_t seeds = 0;
  for (const RunSpec& run : e.runs) {
    seeds = std::max(seeds, run.seeds.size());
    const std::string file = std::filesystem::path(run.file).lexically_normal().string();
    if (std::ranges::find(files, file) == files.end()) files.push_back(file);
  }
  std::string text = "turnpike paper " + e.id;
  if (files.empty()) return text;
  text += ": " + std::to_string(e.runs.size()) + (e.runs.size() == 1 ? " run of " : " runs of ");
  for (size_t i = 0; i < files.size(); ++i) text += (i == 0 ? "" : ", ") + files[i];
  return text + (seeds == 1 ? ", one seed" : ", up to " + std::to_string(seeds) + " seeds");
}

/// "Figure 4: Impact of capacity"; the word is omitted where the id is no number.
std::string heading(const Experiment& e) {
  const bool figure = !e.figure.empty() && e.figure[0] >= '0' && e.figure[0] <= '9';
  return (figure ? "Figure " : "") + e.figure + ": " + e.title;
}

}  // namespace

std::string verdict_lines(const EvaluatedExperiment& e) {
  std::vector<std::vector<std::string>> rows;
  const auto add = [&](const std::string& id, const CheckResult& c) {
    rows.push_back({id, c.metric, c.paper, c.here, shown_bound(c), met_text(c)});
  };
  for (const ClaimResult& claim : e.evaluation.claims)
    for (const CheckResult& c : claim.checks) add(claim.claim->id, c);
  for (const CheckResult& c : e.evaluation.own) add("ours", c);
  std::string out = columns(rows, 2);
  for (const Remark& r : reasons(e))
    out.append("      ").append(r.checks).append(": ").append(r.text).append("\n");
  rows.clear();
  for (const Compared& c : compare_references(*e.experiment, e.metrics))
    rows.push_back({c.metric, "ns-2 " + c.reference, c.here, signed_percent(c.difference)});
  if (!rows.empty()) out += columns(rows, 2);
  return out;
}

std::string count_text(const std::vector<EvaluatedExperiment>& all) {
  const Score s = score_of(all);
  return std::to_string(s.met) + " of " + std::to_string(s.claims) + " claims of the papers met, " +
         std::to_string(s.own_met) + " of " + std::to_string(s.own) + " checks of our own" +
         (s.lost == 0 ? "" : ", " + std::to_string(s.lost) + " NOT MET any more");
}

std::string paper_page(const std::vector<EvaluatedExperiment>& all, const std::string& out,
                       const Threads& threads) {
  std::vector<Section> sections(all.size());
  threads.for_each(all.size(), [&](size_t i) { sections[i] = section_of(all[i], out); });
  report::Page page("The papers' figures, reproduced");
  page.verdict(score_of(all).lost == 0, count_text(all) + ".");
  page.paragraph(
      "Every run is turnpike lab: the routers' and senders' own code on a virtual clock. Charts "
      "show the run of the first seed; metrics are medians over seeds unless they say otherwise, "
      "and the least and the greatest value of all seeds follow in brackets. A claim is a "
      "statement of the paper, paraphrased; it is met if all checks below it are. The "
      "bounds follow from the paper's values; an asterisk marks a wider one. The column \"model\" "
      "has the value of ns-2 or of an independent model of the paper.");
  page.table(scorecard(all));
  page.contents();
  std::string paper;
  for (size_t i = 0; i < all.size(); ++i) {
    const EvaluatedExperiment& e = all[i];
    const Experiment& spec = *e.experiment;
    if (paper != spec.paper) page.heading(paper = spec.paper);
    page.heading(heading(spec), 3);
    if (!spec.about.empty()) page.paragraph(spec.about);
    page.paragraph(command_text(spec));
    page.table(sections[i].table);
    show_remarks(e, page);
    show_references(e, page);
    for (size_t c = 0; c < spec.charts.size(); ++c)
      page.figure(sections[i].charts[c], spec.charts[c].title, spec.charts[c].half);
  }
  page.data("claims", data(all).dump());
  page.data("references", references(all).dump());
  return page.html();
}

}  // namespace turnpike::lab
