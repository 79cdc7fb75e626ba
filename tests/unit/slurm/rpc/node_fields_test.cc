// SPDX-License-Identifier: GPL-2.0-or-later
// slurm/rpc/node_fields: each flag and field of libslurm's struct is read as what it is, and nothing else. The struct
// is that of the Slurm which the tests are built with.
#include "slurm/rpc/node_fields.hpp"

#include <string>

#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

/** The names of all booleans that are set. */
std::string flags_of(const SlurmNode& node) {
  const struct {
    bool set;
    const char* name;
  } flags[] = {
      {node.cloud, "cloud"},
      {node.dynamic, "dynamic"},
      {node.powering_up, "powering_up"},
      {node.powered_down, "powered_down"},
      {node.powering_down, "powering_down"},
      {node.power_down_asked, "power_down_asked"},
      {node.power_up_asked, "power_up_asked"},
      {node.draining, "draining"},
      {node.completing, "completing"},
      {node.not_responding, "not_responding"},
      {node.has_suspended_job, "has_suspended_job"},
      {node.reserved, "reserved"},
      {node.maintenance, "maintenance"},
  };
  std::string names;
  for (const auto& flag : flags) {
    if (flag.set) names += (names.empty() ? "" : " ") + std::string(flag.name);
  }
  return names;
}

node_info_t in_state(std::uint32_t state) {
  node_info_t info{};
  info.node_state = state;
  return info;
}

void each_flag_is_one_word(void**) {
  const struct {
    std::uint32_t state;
    const char* flags;
  } cases[] = {
      {0, ""},
      {NODE_STATE_CLOUD, "cloud"},
      {NODE_STATE_DYNAMIC_NORM, "dynamic"},
      {NODE_STATE_POWERING_UP, "powering_up"},
      {NODE_STATE_POWERED_DOWN, "powered_down"},
      {NODE_STATE_POWERING_DOWN, "powering_down"},
      {NODE_STATE_POWER_DOWN, "power_down_asked"},
      {NODE_STATE_POWER_DRAIN, "power_down_asked"},
      {NODE_STATE_POWER_UP, "power_up_asked"},
      {NODE_STATE_DRAIN, "draining"},
      {NODE_STATE_FAIL, "draining"},
      {NODE_STATE_COMPLETING, "completing"},
      {NODE_STATE_NO_RESPOND, "not_responding"},
      {NODE_STATE_RES, "reserved"},
      {NODE_STATE_MAINT, "maintenance"},
      {NODE_STATE_CLOUD | NODE_STATE_POWERED_DOWN | NODE_STATE_DRAIN, "cloud powered_down draining"},
      {NODE_STATE_UNDRAIN | NODE_STATE_REBOOT_REQUESTED, ""},  // none of our business
  };
  for (const auto& c : cases) assert_text(flags_of(decode_node(in_state(c.state | NODE_STATE_IDLE))), c.flags);
}

void each_base_state(void**) {
  using Base = SlurmNode::Base;
  const struct {
    std::uint32_t state;
    Base base;
  } cases[] = {
      {NODE_STATE_UNKNOWN, Base::unknown},     {NODE_STATE_DOWN, Base::down},   {NODE_STATE_IDLE, Base::idle},
      {NODE_STATE_ALLOCATED, Base::allocated}, {NODE_STATE_MIXED, Base::mixed}, {NODE_STATE_ERROR, Base::error},
      {NODE_STATE_FUTURE, Base::future},       {NODE_STATE_END, Base::unknown},
  };
  for (const auto& c : cases) {
    assert_true(decode_node(in_state(c.state)).base == c.base);
    assert_true(decode_node(in_state(c.state | NODE_STATE_CLOUD | NODE_STATE_MAINT)).base == c.base);
  }
}

void each_field(void**) {
  std::string name = "c-0", features = "a,b", active = "b", reason = "why", comment = "note", address = "10.0.0.1";
  std::string gres = "gpu:a100:2";
  node_info_t info{};
  info.name = name.data();
  info.gres = gres.data();
  info.features = features.data();
  info.features_act = active.data();
  info.reason = reason.data();
  info.comment = comment.data();
  info.node_addr = address.data();
  info.cpus = 64;
  info.real_memory = 5'000'000'000;  // MiB; of 22.05 to 26.05 64 bits
  info.core_spec_cnt = 3;
  info.mem_spec_limit = 512;
  info.cores = 16;
  info.threads = 2;
  info.weight = 7;
  info.boot_time = 1'700'000'000;
  const SlurmNode node = decode_node(info);
  assert_text(node.name, "c-0");
  assert_text(node.gres, "gpu:a100:2");
  assert_text(node.features, "a,b");
  assert_text(node.active_features, "b");
  assert_text(node.reason, "why");
  assert_text(node.comment, "note");
  assert_text(node.address, "10.0.0.1");
  assert_int_equal(node.cpus, 64);
  assert_int_equal(node.real_memory_mib, 5'000'000'000);
  assert_int_equal(node.core_spec_count, 3);
  assert_int_equal(node.mem_spec_limit_mib, 512);
  assert_int_equal(node.cores_per_socket, 16);
  assert_int_equal(node.threads_per_core, 2);
  assert_int_equal(node.weight, 7);
  assert_int_equal(std::chrono::system_clock::to_time_t(node.boot_time), 1'700'000'000);
}

void texts_that_were_never_set(void**) {
  const SlurmNode node = decode_node(node_info_t{});
  assert_text(node.name + node.features + node.active_features + node.reason + node.comment + node.address, "");
}

void each_state_of_an_update(void**) {
  using State = SlurmNodeUpdate::State;
  const struct {
    State state;
    std::uint32_t code;
  } cases[] = {
      {State::keep, NO_VAL},
      {State::down, NODE_STATE_DOWN},
      {State::drain, NODE_STATE_DRAIN},
      {State::undrain, NODE_STATE_UNDRAIN},
      {State::resume, NODE_RESUME},
      {State::power_up, NODE_STATE_POWER_UP},
      {State::power_down, NODE_STATE_POWER_DOWN},
      {State::power_down_asap, NODE_STATE_POWER_DOWN | NODE_STATE_POWER_DRAIN},
      {State::power_down_force, NODE_STATE_POWER_DOWN | NODE_STATE_POWERED_DOWN},
  };
  for (const auto& c : cases) assert_int_equal(encode_state(c.state), c.code);
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(each_flag_is_one_word),     SLURMK8S_TEST(each_base_state),         SLURMK8S_TEST(each_field),
      SLURMK8S_TEST(texts_that_were_never_set), SLURMK8S_TEST(each_state_of_an_update),
  };
  return cmocka_run_group_tests_name("slurm_rpc_node_fields", tests, nullptr, nullptr);
}
