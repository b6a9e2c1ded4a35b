// SPDX-License-Identifier: BSD-3-Clause
#include "router/program/bypass_request.h"

#include <spdlog/spdlog.h>

#include "common/config/mistakes.h"
#include "common/units/printable.h"

namespace turnpike::router {

tl::expected<Json, Failure> bypass(const Json& request, gateway::Gateway* gateway) {
  if (gateway == nullptr)
    return tl::unexpected(Failure{"no_gateway", "this router is no gateway: it has no customers"});
  const auto name = request.value("customer", std::string());
  const auto customer = gateway->find_customer(name);
  if (!customer) {
    std::vector<std::string_view> known;
    for (const config::Customer& c : gateway->topology().customers) known.push_back(c.name);
    return tl::unexpected(Failure{
        "unknown_customer",
        "there is no customer '" + printable(name, 60) + "'" + config::suggestion(name, known)});
  }
  const bool on = request.value("on", true);
  if (on && gateway->sealed())
    return tl::unexpected(
        Failure{"sealed",
                "the tunnels of this gateway are encrypted: outside of them its peers refuse the "
                "customer's packets"});
  const bool before = gateway->bypassed(*customer);
  gateway->bypass(*customer, on);
  const std::string now = on ? "is bypassed: its packets go outside of tunnels, without a price"
                             : "goes through tunnels";
  const std::string text = "customer " + name + " " + now;
  if (on != before) spdlog::warn(text);
  return Json{{"customer", name},
              {"bypassed", on},
              {"text", text + (on == before ? ", as before" : "") + "\n"}};
}

}  // namespace turnpike::router
