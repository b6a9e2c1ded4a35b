// SPDX-License-Identifier: BSD-3-Clause
#include "router/program/reload_requests.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <utility>

namespace turnpike::router {

namespace {

/// Lines with all mistakes.
std::string text_of(const std::vector<config::Mistake>& mistakes) {
  std::string text;
  for (const config::Mistake& m : mistakes) text += (text.empty() ? "" : "\n") + m.text();
  return text;
}

Json answer(const Plan& plan, const std::string& said, bool applied) {
  Json j = Json::parse(plan_json(plan).dump());  // whose keys have no order
  j["applied"] = applied;
  j["text"] = plan.text() + said + "\n";
  return j;
}

/// Adds the time for which the lcores were held.
Json with_pause(Json answer, Nanos pause) {
  const auto us = static_cast<double>(pause.count()) * 1e-3;
  char text[64];
  std::snprintf(text, sizeof text, "the lcores paused for %.1f us\n", us);
  answer["pause_us"] = us;
  answer["text"] = answer["text"].get<std::string>() + text;
  return answer;
}

/// The change of a gateway, which is made when the function is called.
tl::expected<std::function<void()>, std::string> change_of(Engine& engine,
                                                           const config::Topology& wanted) {
  gateway::Gateway* const gateway = engine.gateway();
  if (gateway == nullptr) return std::function<void()>();
  auto keys = gateway->prepare_keys(wanted);
  if (!keys) return tl::unexpected(keys.error());
  // A std::function can be copied, and so is what it holds.
  const auto shared = std::make_shared<gateway::Gateway::Keys>(std::move(*keys));
  return [gateway, &wanted, shared] {
    gateway->take_customers(wanted);
    gateway->take_keys(*shared);
  };
}

}  // namespace

ReloadRequests::ReloadRequests(Parts parts)
    : clock_(parts.clock),
      file_(std::move(parts.file)),
      reconfigurer_(parts.engine.router(), std::move(parts.running), std::move(parts.history),
                    {.hold = [this, &engine = parts.engine](
                                 const auto& change) { return hold(engine, change); },
                     .beside = [&engine = parts.engine](
                                   const auto& wanted) { return change_of(engine, wanted); },
                     .adjust = std::move(parts.adjust)}) {
  count_kept();
}

// A worker waits for the slowest one, so that the time from the request on is the bound for all.
tl::expected<void, std::string> ReloadRequests::hold(Engine& engine,
                                                     const std::function<void()>& change) {
  auto held = engine.at_quiescence(change);
  if (!held) return held;
  changes_.last_pause = engine.last_pause().gathering + engine.last_pause().held;
  changes_.pauses.record(static_cast<uint64_t>(changes_.last_pause.count()));
  return held;
}

void ReloadRequests::count(uint64_t& kind) {
  ++kind;
  last_change_ = clock_.now();
  count_kept();
}

void ReloadRequests::count_kept() {
  if (const History* history = reconfigurer_.history())
    if (const auto entries = history->entries()) changes_.kept = entries->size();
}

ChangeFigures ReloadRequests::changes() const {
  ChangeFigures all = changes_;
  all.unconfirmed = reconfigurer_.next() != kNever;
  return all;
}

tl::expected<void, std::string> ReloadRequests::begin() {
  const History* history = reconfigurer_.history();
  if (history == nullptr || history->committed()) return {};
  auto begun = reconfigurer_.begin(file_);
  count_kept();
  return begun;
}

void ReloadRequests::serve(ControlServer& server) {
  server.answer("reload", [this](const Json& request) { return reload(request); });
  server.answer("commit", [this](const Json&) { return commit(); });
  server.answer("rollback", [this](const Json& request) { return rollback(request); });
}

ReloadRequests::Answer ReloadRequests::apply(const Reconfigurer::Check& checked, bool dry_run,
                                             std::optional<Nanos> confirm) {
  if (!checked) {
    ++changes_.refused;
    std::string text = text_of(checked.error());
    if (text.find(std::strerror(EACCES)) != std::string::npos)
      text +=
          "\na router in its sandbox reads files only below the folder of the file that it was "
          "started with: copy the file there";
    return tl::unexpected(Failure{"bad_configuration", text});
  }
  const std::string why = checked->plan.refusal();
  if (dry_run)
    return answer(checked->plan,
                  why.empty() ? "nothing was changed: a dry run" : "refused:\n" + why, false);
  auto applied = reconfigurer_.apply(*checked, clock_.now(), confirm);
  if (!applied) {
    ++changes_.refused;
    const bool refused = !why.empty() || reconfigurer_.next() != kNever;
    return tl::unexpected(Failure{refused ? "refused" : "failed", applied.error(),
                                  Json::parse(plan_json(checked->plan).dump())});
  }
  if (checked->plan.empty()) return answer(checked->plan, *applied, true);
  count(changes_.applied);
  return with_pause(answer(checked->plan, *applied, true), changes_.last_pause);
}

ReloadRequests::Answer ReloadRequests::reload(const Json& request) {
  std::optional<Nanos> confirm;
  if (const auto s = request.find("confirm_s"); s != request.end()) {
    const auto seconds = s->is_number() ? s->get<double>() : 0;
    if (!(seconds > 0 && seconds <= 7 * 86400))
      return tl::unexpected(
          Failure{"bad_time", "the time to confirm must be more than 0 and at most a week"});
    confirm = from_seconds(seconds);
  }
  return apply(reconfigurer_.check_file(request.value("file", file_)),
               request.value("dry_run", false), confirm);
}

ReloadRequests::Answer ReloadRequests::commit() {
  auto done = reconfigurer_.commit();
  if (!done) return tl::unexpected(Failure{"nothing_waits", done.error()});
  count_kept();
  return Json{{"text", *done + "\n"}};
}

tl::expected<uint64_t, Failure> ReloadRequests::entry_before(const Json& request) const {
  const auto at = request.find("steps");
  if (at == request.end()) return uint64_t{0};  // check_entry() and rollback() know which one
  if (!at->is_number_unsigned() || *at == 0)
    return tl::unexpected(Failure{"bad_value", "steps must be a whole number from 1 on"});
  const auto steps = at->get<size_t>();
  if (steps == 1) return uint64_t{0};
  const History* history = reconfigurer_.history();
  if (history == nullptr)
    return tl::unexpected(
        Failure{"no_history", "this router keeps no history: give it --state DIR"});
  if (const auto number = history->before(steps)) return *number;
  return tl::unexpected(
      Failure{"no_entry", "the history does not go back " + std::to_string(steps) + " commits"});
}

ReloadRequests::Answer ReloadRequests::rollback(const Json& request) {
  const auto number = entry_before(request);
  if (!number) return tl::unexpected(number.error());
  const auto checked = reconfigurer_.check_entry(*number);
  if (!checked) return tl::unexpected(Failure{"no_entry", text_of(checked.error())});
  if (request.value("dry_run", false)) return apply(checked, true, {});
  auto done = reconfigurer_.rollback(*number, clock_.now());
  if (!done) {
    ++changes_.refused;
    return tl::unexpected(
        Failure{checked->plan.refusal().empty() ? "failed" : "refused", done.error()});
  }
  count(changes_.reverted);
  return with_pause(answer(checked->plan, *done, true), changes_.last_pause);
}

tl::expected<ReloadRequests::Lines, ReloadRequests::Lines> ReloadRequests::reload_file() {
  const Answer done = apply(reconfigurer_.check_file(file_), false, {});
  std::string text = done ? (*done)["text"].get<std::string>() : done.error().message;
  Lines lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back("reload of " + file_ + ": " + text.substr(at, end - at));
    at = end + 1;
  }
  if (done) return lines;
  lines.push_back("reload of " + file_ + ": refused, the running configuration stays");
  return tl::unexpected(std::move(lines));
}

std::optional<std::string> ReloadRequests::poll() {
  const auto reverted = reconfigurer_.poll(clock_.now());
  if (!reverted) return {};
  if (!*reverted) return reverted->error();
  count(changes_.reverted);
  return **reverted;
}

}  // namespace turnpike::router
