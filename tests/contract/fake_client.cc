// SPDX-License-Identifier: GPL-2.0-or-later
// FakeClient does what every Client does. What only an API server does (suite.cc) it leaves out: tokens, the validation
// of objects, JSON patches, what comes by time.
#include <thread>

#include "contract/client_tests.hpp"
#include "support/fake_client.hpp"

namespace slurmk8s::contract {
namespace {

Json name_space_object(const std::string& name) {
  return Json().set("apiVersion", "v1").set("kind", "Namespace").set("metadata", Json().set("name", name));
}

int start(void**) {
  auto client = std::make_unique<kube::FakeClient>();
  for (const std::string& name : {name_space(), std::string("default")}) {
    client->put(kNamespaces, "", name_space_object(name));
  }
  const auto turn = [fake = client.get()] {
    if (fake->deliver() == 0) std::this_thread::sleep_for(1ms);  // a Reflector's timer may be next
  };
  session = Session::of(std::move(client), turn);
  return 0;
}

int stop(void**) {
  session.reset();
  return 0;
}

}  // namespace
}  // namespace slurmk8s::contract

int main() {
  using namespace slurmk8s::contract;
  const std::vector<CMUnitTest> tests = client_tests();
  return _cmocka_run_group_tests("contract_fake_client", tests.data(), tests.size(), start, stop);
}
