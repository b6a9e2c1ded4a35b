// SPDX-License-Identifier: BSD-3-Clause
#include "common/metrics/log.h"

#include <memory>
#include <utility>

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

namespace turnpike::metrics {

tl::expected<void, std::string> set_up_log(std::string_view program, std::string_view level) {
  // spdlog reads every unknown name as "off".
  const auto parsed = spdlog::level::from_str(std::string(level));
  if (parsed == spdlog::level::off && level != "off")
    return tl::unexpected("'" + std::string(level) + "' is not a log level: use one of " +
                          std::string(kLogLevels));
  auto logger = std::make_shared<spdlog::logger>(
      std::string(program), std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
  logger->set_level(parsed);
  logger->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %n %^%l%$ %v", spdlog::pattern_time_type::utc);
  logger->flush_on(spdlog::level::warn);
  spdlog::set_default_logger(std::move(logger));
  return {};
}

}  // namespace turnpike::metrics
