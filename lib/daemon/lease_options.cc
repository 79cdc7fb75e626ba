// SPDX-License-Identifier: GPL-2.0-or-later
// Options of the leader election: names, values, and what fits together.
#include "daemon/lease_options.hpp"

#include <unistd.h>

#include <optional>

#include "base/random.hpp"
#include "base/strings.hpp"

namespace slurmk8s {
namespace {

using std::chrono::seconds;

constexpr seconds kLongest{24 * 3600};

std::optional<seconds> unit(char letter) {
  if (letter == 'h') return seconds(3600);
  if (letter == 'm') return seconds(60);
  if (letter == 's') return seconds(1);
  return std::nullopt;
}

/** "1m30s"; empty when it isn't one, or none between a second and a day. */
std::optional<seconds> parse_duration(std::string_view text) {
  seconds sum{0};
  while (!text.empty()) {
    const std::size_t digits = text.find_first_not_of("0123456789");
    if (digits == 0 || digits == std::string_view::npos) return std::nullopt;
    const auto count = parse_int(text.substr(0, digits));
    const auto each = unit(text[digits]);
    if (!count || !each || *count > kLongest.count()) return std::nullopt;
    sum += *count * *each;
    text.remove_prefix(digits + 1);
  }
  if (sum < seconds(1) || sum > kLongest) return std::nullopt;
  return sum;
}

}  // namespace

Status set_lease_option(std::string_view option, std::string_view value, LeaseOptions& options) {
  const std::string shown = "--" + std::string(option);
  if (option == "leader-elect") {
    if (!value.empty() && value != "true" && value != "false")
      return invalid_value(shown, value, "must be true or false");
    options.elect = value != "false";
    return {};
  }
  const bool is_name = option == "leader-elect-resource-name";
  if (is_name || option == "leader-elect-identity") {
    if (value.empty()) return required_value(shown);
    (is_name ? options.name : options.identity) = value;
    return {};
  }
  const std::optional<seconds> duration = parse_duration(value);
  if (!duration)
    return invalid_value(shown, value, "must be a duration of whole seconds up to a day, such as 15s or 1m");
  if (option == "leader-elect-lease-duration") {
    options.lease_duration = *duration;
  } else if (option == "leader-elect-renew-deadline") {
    options.renew_deadline = *duration;
  } else {
    options.retry_period = *duration;
  }
  return {};
}

Status check_lease_options(const LeaseOptions& options) {
  if (options.lease_duration <= options.renew_deadline) {
    return Error(Errc::invalid, "--leader-elect-lease-duration must be longer than --leader-elect-renew-deadline");
  }
  if (options.renew_deadline <= options.retry_period) {
    return Error(Errc::invalid, "--leader-elect-renew-deadline must be longer than --leader-elect-retry-period");
  }
  return {};
}

std::string make_identity() {
  char host[256] = "";
  if (gethostname(host, sizeof host - 1) != 0) host[0] = '\0';
  return std::string(host) + "_" + random_id();
}

}  // namespace slurmk8s
