// SPDX-License-Identifier: BSD-3-Clause
// Parses the index's YAML into experiments, or reports every mistake in it.
#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <set>
#include <utility>

#include "common/protocols/registry.h"
#include "common/report/run_data.h"
#include "lab/paper/bounds.h"
#include "lab/paper/index.h"
#include "lab/paper/keys.h"
#include "lab/sweep/axes.h"

namespace turnpike::lab {
namespace {

namespace fs = std::filesystem;
using config::YamlNode;

const std::vector<std::string_view> kTakes{"mean",      "min",  "max",    "sum", "first", "last",
                                           "deviation", "jain", "median", "p90", "p99"};  // as Take
const std::vector<std::string_view> kSeriesOf{"link", "host", "flow"};  // as SeriesSpec::Kind
const std::vector<std::string_view> kBounds{"at_least", "at_most", "within",
                                            "near",     "above",   "below"};  // as CheckSpec::Kind

Take take_of(Keys& keys) { return static_cast<Take>(keys.word("take", kTakes)); }

/// Of each link, host or flow that is named.
std::vector<SeriesSpec> read_all_series(Keys& keys) {
  const std::string_view kind = keys.one_of(kSeriesOf);
  if (kind.empty()) return {{}};
  SeriesSpec s;
  s.kind = static_cast<SeriesSpec::Kind>(std::ranges::find(kSeriesOf, kind) - kSeriesOf.begin());
  s.column = keys.need_text("column");
  s.from = keys.number("from", 0);
  s.to = keys.number("to", kOpenEnd);
  s.every = keys.number("every", 0);
  std::vector<SeriesSpec> all;
  for (const std::string& name : keys.texts(kind)) {
    s.name = name;
    all.push_back(s);
  }
  return all;
}

SeriesSpec read_series(Keys& keys) {
  auto all = read_all_series(keys);
  if (all.size() == 1) return all[0];
  keys.complain("", "must be one series");
  return {};
}

class IndexReader {
 public:
  IndexReader(config::Mistakes& mistakes, std::string root, std::set<std::string>& claims)
      : mistakes_(mistakes), root_(std::move(root)), claims_(claims) {}

  Experiment read(const YamlNode& node, const std::string& path) {
    Keys keys(node, path, mistakes_);
    Experiment e;
    e.id = keys.need_text("id");
    e.figure = keys.need_text("figure");
    e.title = keys.need_text("title");
    e.about = keys.text("about");
    e.is_short = keys.flag("short");
    const std::string file = keys.text("file");
    keys.each("runs", [&](const std::string& name, const YamlNode& run, const std::string& at) {
      e.runs.push_back(read_run(name, run, at, file));
    });
    keys.each("metrics",
              [&](const std::string& name, const YamlNode& metric, const std::string& at) {
                e.metrics.push_back(read_metric(name, metric, at, e));
              });
    keys.each("claims", [&](const std::string&, const YamlNode& claim, const std::string& at) {
      e.claims.push_back(read_claim(claim, at, e));
    });
    keys.each("own", [&](const std::string&, const YamlNode& check, const std::string& at) {
      e.own.push_back(read_check(check, at, e));
      if (!e.own.back().paper.empty())
        mistakes_.add(check.at, at, "a check with the paper's value belongs to one of `claims`");
    });
    keys.each("charts", [&](const std::string&, const YamlNode& chart, const std::string& at) {
      e.charts.push_back(read_chart(chart, at, e));
    });
    return e;
  }

 private:
  static std::vector<config::Setting> read_settings(Keys& keys, std::string_view key) {
    std::vector<config::Setting> settings;
    for (const std::string& text : keys.texts(key)) {
      if (auto setting = config::parse_setting(text))
        settings.push_back(std::move(*setting));
      else
        keys.complain(key, "'" + text + "' is not path=value");
    }
    return settings;
  }

  RunSpec read_run(const std::string& name, const YamlNode& node, const std::string& path,
                   const std::string& file) {
    Keys keys(node, path, mistakes_);
    RunSpec run{
        .name = name, .file = root_ + "/" + keys.text("file", file), .scheme = keys.text("scheme")};
    if (!run.scheme.empty() && find_protocol(run.scheme) == nullptr)
      keys.complain("scheme", "there is no scheme '" + run.scheme + "'");
    run.count = keys.text("count");
    if (!run.count.empty() && find_protocol(run.count) == nullptr)
      keys.complain("count", "there is no scheme '" + run.count + "'");
    run.settings = read_settings(keys, "set");
    run.mistake = read_settings(keys, "mistake");
    if (const auto seeds = parse_seeds(keys.text("seeds", "1")))
      run.seeds = *seeds;
    else
      keys.complain("seeds", "must be such as 1..8");
    return run;
  }

  /// The named run; the first run if none is named.
  std::string run_of(Keys& keys, const Experiment& e) {
    if (e.runs.empty()) return keys.text("run");
    std::string run = keys.text("run", e.runs[0].name);
    if (std::ranges::find(e.runs, run, &RunSpec::name) == e.runs.end())
      keys.complain("run", "there is no run '" + run + "'");
    return run;
  }

  /// The named runs, or "all"; the first run if none is named.
  std::vector<std::string> runs_of(Keys& keys, const Experiment& e) {
    std::vector<std::string> runs = keys.texts("run"), all;
    for (const RunSpec& run : e.runs) all.push_back(run.name);
    if (runs.size() == 1 && runs[0] == "all") return all;
    if (runs.empty() && !all.empty()) return {all[0]};
    for (const std::string& run : runs)
      if (std::ranges::find(all, run) == all.end())
        keys.complain("run", "there is no run '" + run + "'");
    return runs;
  }

  std::optional<double> absent_of(Keys& keys) {
    return keys.has("absent") ? std::optional(keys.number("absent", 0)) : std::nullopt;
  }

  std::string metric_of(Keys& keys, std::string_view key, const Experiment& e) {
    keys.need_text(key);
    const auto names = metrics_of(keys, key, e);
    return names.empty() ? "" : names[0];
  }

  std::vector<std::string> metrics_of(Keys& keys, std::string_view key, const Experiment& e) {
    std::vector<std::string> names = keys.texts(key);
    for (const std::string& name : names)
      if (std::ranges::find(e.metrics, name, &MetricSpec::name) == e.metrics.end())
        keys.complain(key, "there is no metric '" + name + "' above");
    return names;
  }

  MetricSpec read_metric(const std::string& name, const YamlNode& node, const std::string& path,
                         const Experiment& e) {
    Keys keys(node, path, mistakes_);
    MetricSpec m{.name = name, .unit = keys.text("unit")};
    m.over = static_cast<Over>(keys.word("over", {"median", "min", "max"}));
    const std::string_view kind = keys.one_of({"summary", "series", "completions", "settle",
                                               "below", "value", "file", "ratio", "metrics"});
    if (keys.has("ns2")) m.reference = {keys.number("ns2", 0), keys.text("why")};
    const auto within = [&](const auto& read) {
      Keys inner(*keys.find(kind), config::join(path, kind), mistakes_);
      read(inner);
    };
    constexpr std::array<std::string_view, 4> kWithoutRuns{"value", "file", "ratio", "metrics"};
    if (std::ranges::find(kWithoutRuns, kind) == kWithoutRuns.end()) m.runs = runs_of(keys, e);
    if (kind == "summary") {
      m.source = FromSummary{keys.texts("summary"), take_of(keys), absent_of(keys)};
    } else if (kind == "series") {
      within([&](Keys& k) { m.source = FromSeries{read_series(k), take_of(k)}; });
    } else if (kind == "completions") {
      within([&](Keys& k) {
        m.source = FromCompletions{k.number("above", 0),
                                   k.number("most", kOpenEnd),
                                   k.number("from", 0),
                                   k.number("to", kOpenEnd),
                                   k.has("first") ? metric_of(k, "first", e) : "",
                                   take_of(k)};
      });
    } else if (kind == "settle") {
      within([&](Keys& k) {
        m.source = Settle{read_all_series(k), k.numbers("after"), k.number("watch", kOpenEnd),
                          k.need_number("target"), k.need_number("within")};
        if (!k.has("after")) k.complain("", "missing key 'after'");
      });
    } else if (kind == "below") {
      within([&](Keys& k) { m.source = Below{read_series(k), k.need_number("level")}; });
    } else if (kind == "value") {
      m.source = Constant{keys.number("value", 0)};
    } else if (kind == "file") {
      m.source = FromFile{root_ + "/" + keys.text("file"), keys.need_text("at")};
    } else if (kind == "ratio") {
      within([&](Keys& k) { m.source = Ratio{metric_of(k, "of", e), metric_of(k, "to", e)}; });
    } else if (kind == "metrics") {
      m.source = Combined{metrics_of(keys, "metrics", e), take_of(keys)};
    }
    return m;
  }

  ClaimSpec read_claim(const YamlNode& node, const std::string& path, const Experiment& e) {
    Keys keys(node, path, mistakes_);
    ClaimSpec c{
        .id = keys.need_text("id"), .says = keys.need_text("says"), .at = keys.need_text("at")};
    if (!claims_.insert(c.id).second) keys.complain("id", "there is another claim '" + c.id + "'");
    keys.each("checks", [&](const std::string&, const YamlNode& check, const std::string& at) {
      c.checks.push_back(read_check(check, at, e));
    });
    if (c.checks.empty()) keys.complain("", "must have `checks`");
    return c;
  }

  CheckSpec read_check(const YamlNode& node, const std::string& path, const Experiment& e) {
    Keys keys(node, path, mistakes_);
    CheckSpec c{.metric = metric_of(keys, "metric", e),
                .paper = keys.text("paper"),
                .model = keys.text("model"),
                .wider = keys.text("wider"),
                .why = keys.text("why")};
    const std::string_view bound = keys.one_of(kBounds);
    if (bound.empty()) return c;
    c.kind = static_cast<CheckSpec::Kind>(std::ranges::find(kBounds, bound) - kBounds.begin());
    if (bound == "above" || bound == "below") {
      c.other = metric_of(keys, bound, e);
    } else {
      const auto numbers = keys.numbers(bound);
      const size_t wanted = bound == "within" || bound == "near" ? 2 : 1;
      if (numbers.size() != wanted)
        keys.complain(bound, wanted == 2 ? "must be [a, b]" : "must be a number");
      c.a = numbers.empty() ? 0 : numbers[0];
      c.b = numbers.size() < 2 ? 0 : numbers[1];
    }
    if (c.wider.empty() && wider_than_paper(c))
      keys.complain(bound,
                    "admits more than the paper's value, " + c.paper + ": say why in `wider`");
    return c;
  }

  ChartSpec read_chart(const YamlNode& node, const std::string& path, const Experiment& e) {
    Keys keys(node, path, mistakes_);
    ChartSpec c{.title = keys.need_text("title"),
                .x = keys.text("x", "time (s)"),
                .y = keys.need_text("y")};
    c.log_x = keys.flag("log_x");
    c.log_y = keys.flag("log_y");
    c.half = keys.flag("half");
    c.from = keys.number("from", 0);
    c.to = keys.number("to", kOpenEnd);
    c.low = keys.number("low", kOpenEnd);
    c.high = keys.number("high", kOpenEnd);
    keys.each("lines", [&](const std::string&, const YamlNode& line, const std::string& at) {
      c.lines.push_back(read_line(line, at, e));
    });
    return c;
  }

  LineSpec read_line(const YamlNode& node, const std::string& path, const Experiment& e) {
    Keys keys(node, path, mistakes_);
    LineSpec line{.name = keys.text("name"), .scale = keys.number("scale", 1)};
    line.dashed = keys.flag("dashed");
    if (keys.has("by_size")) {
      keys.flag("by_size");
      line.source = LineSpec::BySize{run_of(keys, e)};
    } else if (keys.has("distribution")) {
      keys.flag("distribution");
      line.source = LineSpec::Distribution{run_of(keys, e)};
    } else if (keys.has("by_time")) {
      line.source = LineSpec::ByTime{run_of(keys, e), keys.number("by_time", 1)};
    } else if (keys.has("px")) {
      line.source = LineSpec::Points{keys.numbers("px"), keys.numbers("py")};
    } else if (keys.has("sweep")) {
      line.source = read_sweep(keys, e);
    } else if (keys.has("level")) {
      line.source = LineSpec::Level{keys.number("level", 0)};
    } else if (keys.has("mark_x")) {
      line.source = LineSpec::Mark{metric_of(keys, "mark_x", e), metric_of(keys, "mark_y", e)};
    } else {
      line.source = LineSpec::Samples{run_of(keys, e), read_series(keys)};
    }
    return line;
  }

  LineSpec::Sweep read_sweep(Keys& keys, const Experiment& e) {
    LineSpec::Sweep sweep{metric_of(keys, "sweep", e), keys.numbers("x")};
    const auto metric = std::ranges::find(e.metrics, sweep.metric, &MetricSpec::name);
    if (metric != e.metrics.end() && metric->runs.size() != sweep.x.size())
      keys.complain("x", "must have a value for each of the metric's runs");
    return sweep;
  }

  config::Mistakes& mistakes_;
  std::string root_;
  std::set<std::string>& claims_;  // ids until now
};

}  // namespace

tl::expected<std::vector<Experiment>, std::vector<config::Mistake>> parse_index(
    const std::vector<IndexText>& texts, const std::string& root) {
  std::vector<Experiment> all;
  std::vector<config::Mistake> wrong;
  std::set<std::string> ids, claims;
  for (const IndexText& file : texts) {
    config::Mistakes mistakes(file.name);
    if (const auto tree = config::parse_yaml(file.text, mistakes)) {
      Keys keys(*tree, "", mistakes);
      IndexReader reader(mistakes, root, claims);
      const std::string paper = keys.need_text("paper");
      keys.each(
          "experiments", [&](const std::string&, const YamlNode& node, const std::string& at) {
            all.push_back(reader.read(node, at));
            all.back().paper = paper;
            if (!ids.insert(all.back().id).second)
              mistakes.add(node.at, at, "there is another experiment '" + all.back().id + "'");
          });
    }
    std::ranges::move(mistakes.sorted(), std::back_inserter(wrong));
  }
  if (!wrong.empty()) return tl::unexpected(wrong);
  return all;
}

tl::expected<std::vector<Experiment>, std::vector<config::Mistake>> read_index(
    const std::string& folder, const std::string& root) {
  const auto mistake = [](const std::string& path, const std::string& what) {
    return tl::unexpected(std::vector<config::Mistake>{{path, 0, 0, "", what}});
  };
  std::vector<std::string> paths;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (entry.path().extension() == ".yaml") paths.push_back(entry.path().string());
  if (error) return mistake(folder, error.message());
  // FCP is the subject, the other papers are what it is compared with.
  std::ranges::sort(paths, {}, [](const std::string& path) {
    return std::pair(fs::path(path).stem() != "fcp", path);
  });
  std::vector<IndexText> texts;
  for (const std::string& path : paths) {
    auto text = report::read_text(path);
    if (!text) return mistake(path, text.error());
    texts.push_back({path, std::move(*text)});
  }
  return parse_index(texts, root);
}

}  // namespace turnpike::lab
