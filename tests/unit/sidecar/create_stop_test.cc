// SPDX-License-Identifier: GPL-2.0-or-later
// sidecar/create_stop: when the same nodes are tried again, and what a status keeps of it.
#include "sidecar/create_stop.hpp"

#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

using std::chrono::hours;
using std::chrono::system_clock;

const system_clock::time_point kNow{std::chrono::seconds(1800000000)};

void waits_longer_each_time(void**) {
  std::optional<CreateStop> stop;
  for (const int wait : {1, 2, 4, 8, 16, 24, 24}) {
    stop = stop_create(stop, "a", kNow);
    assert_int_equal((next_try(*stop) - kNow) / hours(1), wait);
  }
  assert_int_equal(stop_create(stop, "b", kNow).count, 1);
}

void names_what_slurmctld_is_given(void**) {
  const std::string key = key_of_create("NodeName=c-[0-3] State=CLOUD Feature=c CPUs=2", "");
  assert_text(key, key_of_create("NodeName=c-7 State=CLOUD Feature=c CPUs=2", ""));
  assert_true(key != key_of_create("NodeName=c-7 State=CLOUD Feature=c CPUs=4", ""));
  assert_true(key != key_of_create("NodeName=c-7 State=CLOUD Feature=c CPUs=2", "again"));
}

void a_status_keeps_it(void**) {
  const CreateStop stop = stop_create(std::nullopt, "a", kNow);
  Json status = Json::object().set("createStopped", encode_create_stop(stop));
  assert_text(status.dump(), R"({"createStopped":{"definition":"a","time":"2027-01-15T08:00:00Z","count":1}})");
  assert_true(decode_create_stop(status) == stop);
  assert_true(encode_create_stop({}).is_null());
  for (const char* bad :
       {"{}", R"({"createStopped":{"definition":"a"}})", R"({"createStopped":{"time":"x"}})",
        R"({"createStopped":{"definition":"","time":"2027-01-15T08:00:00Z"}})", R"({"createStopped":7})"}) {
    assert_false(decode_create_stop(*Json::parse(bad)).has_value());
  }
}

void names_the_field(void**) {
  const CreateStop stop = stop_create(std::nullopt, "a", kNow);
  assert_contains(describe(stop, "c-0", "Gres=gpu:2"), "spec.extraConf (Gres=gpu:2)");
  assert_contains(describe(stop, "c-0", ""), "create c-0: slurmctld exited while creating these nodes");
  assert_contains(describe(stop, "c-0", ""), "spec.slurmd.resources");
  assert_contains(describe(stop, "c-0", ""), "at 2027-01-15T09:00:00Z");
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(waits_longer_each_time),
      SLURMK8S_TEST(names_what_slurmctld_is_given),
      SLURMK8S_TEST(a_status_keeps_it),
      SLURMK8S_TEST(names_the_field),
  };
  return cmocka_run_group_tests_name("sidecar_create_stop", tests, nullptr, nullptr);
}
