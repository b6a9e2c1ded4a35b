// SPDX-License-Identifier: BSD-3-Clause
#include "common/report/page.h"

#include <algorithm>
#include <span>

#include "common/report/markup.h"
#include "common/report/number.h"

namespace turnpike::report {
namespace {

constexpr std::string_view kStyle = R"(
body{font:15px/1.45 "Helvetica Neue",Helvetica,Arial,"DejaVu Sans",sans-serif;color:#222;background:#fff;
max-width:780px;margin:2em auto;padding:0 1em}
h1{font-size:1.5em;margin:0 0 .3em}
h2{font-size:1.15em;margin:1.8em 0 .4em;border-bottom:1px solid #ccc;padding-bottom:.15em}
h3{font-size:1.05em;margin:1.4em 0 .4em}
nav ul{list-style:none;padding:0;columns:2;font-size:.9em}
nav li.h2{font-weight:600;margin-top:.5em;break-after:avoid}nav li.h3{padding-left:1em}
nav a{color:inherit;text-decoration:none}
p{margin:.4em 0}
.verdict{border-left:4px solid;padding:.3em .7em;background:#f6f7f8}
.good{color:#00634a}.bad{color:#b03a00;font-weight:bold}
figure{margin:.8em 0;display:inline-block;vertical-align:top;width:100%}
figure.half{width:50%}
figure svg{display:block;width:100%;height:auto}
figcaption{font-size:.85em;color:#444;padding:0 1em}
table{border-collapse:collapse;margin:.8em 0;font-size:.9em;border-top:1.5px solid #222;
border-bottom:1.5px solid #222}
caption{text-align:left;font-size:.95em;color:#444;padding:.2em 0}
th{border-bottom:1px solid #222;font-weight:600;text-align:left}
th,td{padding:.15em .8em .15em .2em}
th.n,td.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
tr.group td{border-top:1px solid #ddd;padding-top:.4em}tr.group td:first-child{font-weight:600}
tr.group~tr td.n:not(.good):not(.bad){white-space:normal}
@media (max-width:600px){body{margin:1em auto}nav ul{columns:1}figure.half{width:100%}
figure:not(.half){overflow-x:auto}figure:not(.half) svg{width:640px}
table{display:block;overflow-x:auto;font-size:.75em}th,td{padding:.15em .4em .15em 0}
th.n,td.n{white-space:normal}}
@page{size:A4;margin:16mm}
@media print{body{font-size:9.5pt;margin:0;padding:0;max-width:none}
figure,table,tr,.verdict{break-inside:avoid}table:has(tr.group){break-inside:auto}
h2,h3,tr.group{break-after:avoid}
*{-webkit-print-color-adjust:exact;print-color-adjust:exact}}
)";

std::string element(std::string_view name, std::string_view attributes, std::string_view content) {
  return "<" + std::string(name) + std::string(attributes) + ">" + std::string(content) + "</" +
         std::string(name) + ">\n";
}

std::string_view classes(Cell::Look look) {
  switch (look) {
    case Cell::Look::kText:
      return "";
    case Cell::Look::kNumber:
      return " class=\"n\"";
    case Cell::Look::kGood:
      return " class=\"n good\"";
    case Cell::Look::kBad:
      return " class=\"n bad\"";
  }
  return "";
}

}  // namespace

void Page::heading(std::string_view text, int level) {
  const std::string id = "s" + std::to_string(++headings_), name = "h" + std::to_string(level);
  body_ += element(name, " id=\"" + id + "\"", escape(text));
  contents_ +=
      element("li", " class=\"" + name + "\"", element("a", " href=\"#" + id + "\"", escape(text)));
}

void Page::paragraph(std::string_view text) { body_ += element("p", "", escape(text)); }

void Page::verdict(bool good, std::string_view text) {
  body_ += element("p", good ? " class=\"verdict good\"" : " class=\"verdict bad\"", escape(text));
}

void Page::figure(std::string_view svg, std::string_view caption, bool half) {
  // No blank between figures, so that two half figures fit on one line.
  body_ += "<figure" + std::string(half ? " class=\"half\"" : "") + ">" + std::string(svg) +
           "<figcaption>" + escape(caption) + "</figcaption></figure>";
}

void Page::table(const HtmlTable& table) {
  std::string rows, head;
  // A column's alignment is that of its first cell in a whole row.
  for (size_t i = 0; i < table.columns.size(); ++i) {
    const auto whole =
        std::ranges::find(table.rows, table.columns.size(), &std::vector<Cell>::size);
    const bool text = whole == table.rows.end() || (*whole)[i].look == Cell::Look::kText;
    head += element("th", text ? "" : " class=\"n\"", escape(table.columns[i]));
  }
  const size_t shown = std::min(table.rows.size(), HtmlTable::kMaxRows);
  for (const auto& row : std::span(table.rows).first(shown)) {
    std::string cells;
    for (const Cell& c : row) {
      std::string attributes(classes(c.look));
      if (&c == row.data() && row.size() < table.columns.size())
        attributes += " colspan=\"" + std::to_string(table.columns.size() - row.size() + 1) + "\"";
      cells += element("td", attributes, escape(c.text));
    }
    rows += element("tr", row.size() < table.columns.size() ? " class=\"group\"" : "", cells);
  }
  std::string text = table.caption;
  if (table.rows.size() > HtmlTable::kMaxRows)
    text += (text.empty() ? "" : " ") + ("The first " + grouped(HtmlTable::kMaxRows)) + " of " +
            grouped(table.rows.size()) + " rows; the files beside this page have all.";
  const std::string caption = text.empty() ? "" : element("caption", "", escape(text));
  body_ +=
      element("table", "",
              caption + element("thead", "", element("tr", "", head)) + element("tbody", "", rows));
}

void Page::data(std::string_view id, std::string_view json) {
  body_ +=
      element("script", " type=\"application/json\" id=\"" + escape(id) + "\"", embeddable(json));
}

std::string Page::html() const {
  std::string body = body_;
  if (contents_at_ != std::string::npos)
    body.insert(contents_at_, element("nav", "", element("ul", "", contents_)));
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n" +
         element("title", "", escape(title_)) + element("style", "", kStyle) + "</head>\n<body>\n" +
         element("h1", "", escape(title_)) + body + "</body>\n</html>\n";
}

}  // namespace turnpike::report
