// SPDX-License-Identifier: GPL-2.0-or-later
// engine/claim_maker: the volume claims of a node, created one after the other.
#include "engine/claim_maker.hpp"

#include <string>
#include <vector>

#include "support/cmocka.hpp"
#include "support/fake_client.hpp"
#include "support/fake_clock.hpp"

namespace slurmk8s {
namespace {

using kube::kVolumeClaims;
using kube::Verb;

struct Maker {
  kube::FakeClient client;
  FakeClock clock;
  Timers timers{clock};
  EngineMetrics metrics;
  Executor executor{{client, client, timers, clock, "slurm", 16, metrics, [] {}}};
  ClaimMaker maker{executor};
  std::string answer = "none";

  void make() {
    std::vector<Json> claims;
    for (const char* name : {"scratch-c-0", "cache-c-0"}) {
      claims.push_back(Json::object().set("metadata", Json::object().set("name", name)));
    }
    maker.make(std::move(claims), [this](const Status& status) {
      answer = status.ok() ? "ok" : std::string(to_string(status.error().code())) + ": " + status.error().message();
    });
    client.deliver();
  }
};

void creates_missing_claims(void**) {
  Maker m;
  m.make();
  assert_text(m.answer, "ok");
  assert_int_equal(m.client.names(kVolumeClaims, "slurm").size(), 2);
  m.make();  // they are there
  assert_text(m.answer, "ok");
  assert_int_equal(m.client.count(Verb::create), 4);
}

void does_not_use_deleted_claims(void**) {
  Maker m;
  const auto going = Json::parse(R"({"metadata":{"name":"scratch-c-0","deletionTimestamp":"2026-01-01T00:00:00Z"}})");
  m.client.put(kVolumeClaims, "slurm", *going);
  m.make();
  assert_text(m.answer, "unavailable: claim scratch-c-0: it is being deleted");
  assert_int_equal(m.client.count(Verb::create), 1);
}

void returns_the_first_error(void**) {
  Maker m;
  m.client.fail_next(Verb::create, Error(Errc::forbidden, "exceeded quota: storage"));
  m.make();
  assert_text(m.answer, "forbidden: claim scratch-c-0: exceeded quota: storage");
  assert_int_equal(m.client.count(Verb::create), 1);
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(creates_missing_claims),
      SLURMK8S_TEST(does_not_use_deleted_claims),
      SLURMK8S_TEST(returns_the_first_error),
  };
  return cmocka_run_group_tests_name("engine_claim_maker", tests, nullptr, nullptr);
}
