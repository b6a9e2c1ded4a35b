// SPDX-License-Identifier: BSD-3-Clause
// `turnpike top`: a running router on a full screen.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>
#include <poll.h>

#include "common/program/command_line.h"
#include "operator/client.h"
#include "operator/screen.h"
#include "operator/top_text.h"
#include "operator/top_view.h"
#include "operator/verbs.h"

namespace turnpike::ops {
namespace {

constexpr Nanos kTimeout = 2_s;  // with a router that does not answer
constexpr size_t kOnceWidth = 120;
constexpr unsigned kFlows = 50;  // of the link that is shown alone

struct TopOptions {
  Where where;
  Nanos interval = 1_s;
  bool once = false, json = false;
};

/// Reads a router's figures; connects again when it has been restarted.
class Source {
 public:
  /// `interval`: between two calls.
  Source(const Where& where, Nanos interval)
      : where_(where), lease_s_(std::clamp(3 * to_seconds(interval), 5., 60.)) {}

  /// The rates since the last call; with a link, its flows as well. The error says why there are
  /// none now.
  tl::expected<TopView, Refused> read(const std::string& link = "") {
    if (!client_) {
      auto made = Client::connect(where_);
      if (!made) return tl::unexpected(Refused{.code = "no_router", .message = made.error()});
      client_ = std::move(*made);
    }
    auto answer = client_->ask({{"request", "top"}}, {}, kTimeout);
    if (!answer) {
      client_.reset();
      return tl::unexpected(answer.error());
    }
    TopView view = top_view(last_, *answer);
    last_ = std::move(*answer);
    if (!link.empty()) {
      const auto flows = client_->ask(
          {{"request", "flows"}, {"link", link}, {"limit", kFlows}, {"for_s", lease_s_}}, {},
          kTimeout);
      if (flows) view.flows = top_flows(*flows);
    }
    return view;
  }

 private:
  const Where& where_;
  std::optional<Client> client_;
  double lease_s_;  // for which the router counts flows after a request
  Json last_;       // answer
};

ExitCode complain(const Refused& error) {
  return fail(error.code == "no_router" ? kExitHostNotReady : kExitRuntime, error.message);
}

ExitCode print_once(Source& source, const TopOptions& options) {
  auto view = source.read();
  if (!view) return complain(view.error());
  ::poll(nullptr, 0, static_cast<int>(options.interval.count() / 1'000'000));
  view = source.read();
  if (!view) return complain(view.error());
  const std::string text =
      options.json ? top_json(*view).dump(2) + "\n" : top_once(*view, kOnceWidth);
  std::fputs(text.c_str(), stdout);
  return kExitOk;
}

/// Moves the selection by `step` links; the first call selects the first.
void select(TopState& state, const std::vector<TopLink>& links, int step) {
  if (links.empty()) return;
  const auto at = std::ranges::find(links, state.selected, &TopLink::name);
  const auto last = static_cast<std::ptrdiff_t>(links.size()) - 1;
  const auto now = at == links.end() ? 0 : at - links.begin() + step;
  state.selected = links[static_cast<size_t>(std::clamp<std::ptrdiff_t>(now, 0, last))].name;
}

/// Returns whether to go on.
bool on_key(Key key, TopState& state, const TopView& view) {
  switch (key) {
    case Key::kQuit:
      return false;
    case Key::kUp:
      select(state, view.links, -1);
      break;
    case Key::kDown:
      select(state, view.links, 1);
      break;
    case Key::kEnter:
      select(state, view.links, 0);
      state.drilled = true;
      break;
    case Key::kBack:
      state.drilled = state.tunnels = false;
      break;
    case Key::kSort:
      state.order = static_cast<TopOrder>((static_cast<int>(state.order) + 1) %
                                          static_cast<int>(TopOrder::kCount));
      break;
    case Key::kReverse:
      state.reverse = !state.reverse;
      break;
    case Key::kCustomers:
      state.tunnels = !state.tunnels;
      break;
    case Key::kPause:
      state.paused = !state.paused;
      break;
    case Key::kNone:
      break;
  }
  return true;
}

ExitCode watch(Source& source, const TopOptions& options) {
  auto first = source.read();
  if (!first) return complain(first.error());
  TopView view = std::move(*first);
  auto screen = Screen::open(options.interval);
  if (!screen) return fail(kExitUsage, screen.error());
  TopState state;
  for (;;) {
    sort_links(view.links, state.order, state.reverse);
    if (state.selected.empty()) select(state, view.links, 0);
    (*screen)->draw(top_screen(view, state, Screen::size()));
    const Screen::Event event = (*screen)->wait();
    if (event.kind == Screen::Event::Kind::kEnd) return kExitOk;
    if (event.kind == Screen::Event::Kind::kKey && !on_key(event.key, state, view)) return kExitOk;
    if (event.kind != Screen::Event::Kind::kTick || state.paused) continue;
    auto next = source.read(state.drilled ? state.selected : "");
    state.message = next ? "" : next.error().message;
    if (next) view = std::move(*next);
  }
}

}  // namespace

void add_top(CLI::App& app, ExitCode& code) {
  CLI::App* top = app.add_subcommand(
      "top", "watch a running router: links, lcores, drops and customers, on a full screen");
  const auto options = std::make_shared<TopOptions>();
  add_where(*top, options->where);
  add_time(
      *top, "--interval", [options](Nanos t) { options->interval = t; },
      "between two pictures, at least 100ms (default: 1s)", 100_ms);
  top->add_flag("--once", options->once, "print the figures of one interval; needs no terminal");
  top->add_flag("--json", options->json, "the same as JSON");
  top->callback([options, &code] {
    Source source(options->where, options->interval);
    code = options->once || options->json ? print_once(source, *options) : watch(source, *options);
  });
}

}  // namespace turnpike::ops
