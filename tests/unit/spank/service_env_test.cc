// SPDX-License-Identifier: GPL-2.0-or-later
// spank/service_env: variables of Kubernetes services leave the environment, a user's own stay.
#include "spank/service_env.hpp"

#include <string>

#include "base/strings.hpp"
#include "support/cmocka.hpp"
#include "support/env_changes.hpp"

using namespace slurmk8s;

namespace {

void service_variables(void**) {
  const struct {
    const char* names;
    const char* expected;
  } cases[] = {
      {"HOME PATH", ""},
      {"KUBERNETES_SERVICE_HOST KUBERNETES_SERVICE_PORT KUBERNETES_SERVICE_PORT_HTTPS KUBERNETES_PORT "
       "KUBERNETES_PORT_443_TCP KUBERNETES_PORT_443_TCP_ADDR",
       "-KUBERNETES_PORT -KUBERNETES_PORT_443_TCP -KUBERNETES_PORT_443_TCP_ADDR -KUBERNETES_SERVICE_HOST "
       "-KUBERNETES_SERVICE_PORT -KUBERNETES_SERVICE_PORT_HTTPS"},
      {"KUBERNETES_SERVICE_HOST", "-KUBERNETES_SERVICE_HOST"},
      {"KUBERNETES_VERSION KUBERNETES_PORTAL KUBERNETES", ""},  // no variables of a service
      {"MY_DB_SERVICE_HOST MY_DB_SERVICE_PORT MY_DB_PORT MY_DB_PORT_5432_TCP_PROTO MY_DB_USER DB_PORT",
       "-MY_DB_PORT -MY_DB_PORT_5432_TCP_PROTO -MY_DB_SERVICE_HOST -MY_DB_SERVICE_PORT"},
      {"REDIS_SERVICE_HOST REDIS_PORT", ""},  // a user's: no port beside it
      {"_SERVICE_HOST _SERVICE_PORT", ""},
  };
  for (const auto& row : cases) assert_text(shown(without_services(split(row.names, ' '))), row.expected);
}

}  // namespace

int main() {
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(service_variables),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
