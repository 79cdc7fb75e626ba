// SPDX-License-Identifier: GPL-2.0-or-later
// pod_request_milli(): as Kubernetes adds requests up.
#include "nodeset/pod_request.hpp"

#include <algorithm>
#include <limits>

#include "nodeset/quantity.hpp"

namespace slurmk8s {
namespace {

/** The largest number instead of an overflow. */
std::int64_t add(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<std::int64_t>::max() : sum;
}

}  // namespace

std::int64_t quantity_milli(const Json& quantities, std::string_view resource) {
  const Json value = quantities[resource];
  if (value.is_null()) return 0;
  const Result<std::int64_t> milli = parse_quantity_milli(value.is_string() ? value.text() : value.dump());
  return milli ? std::max<std::int64_t>(*milli, 0) : 0;
}

std::int64_t pod_request_milli(const Json& spec, std::string_view resource) {
  std::int64_t running = 0;
  spec["containers"].each([&](const Json& container) {
    running = add(running, quantity_milli(container.at({"resources", "requests"}), resource));
  });
  std::int64_t sidecars = 0;
  std::int64_t starting = 0;
  spec["initContainers"].each([&](const Json& container) {
    const std::int64_t own = quantity_milli(container.at({"resources", "requests"}), resource);
    const bool is_sidecar = container["restartPolicy"].text() == "Always";
    if (is_sidecar) sidecars = add(sidecars, own);
    starting = std::max(starting, add(sidecars, is_sidecar ? 0 : own));
  });
  std::int64_t request = std::max(add(running, sidecars), starting);
  const Json whole = spec.at({"resources", "requests"});
  if (whole.has(resource)) request = quantity_milli(whole, resource);
  return add(request, quantity_milli(spec["overhead"], resource));
}

}  // namespace slurmk8s
