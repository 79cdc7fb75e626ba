// SPDX-License-Identifier: GPL-2.0-or-later
// A node record out of libslurm's struct.
#include "slurm/rpc/node_fields.hpp"

#include "slurm/rpc/text.hpp"

namespace slurmk8s {
namespace {

SlurmNode::Base decode_base(std::uint32_t state) {
  switch (state & NODE_STATE_BASE) {
    case NODE_STATE_DOWN: return SlurmNode::Base::down;
    case NODE_STATE_IDLE: return SlurmNode::Base::idle;
    case NODE_STATE_ALLOCATED: return SlurmNode::Base::allocated;
    case NODE_STATE_MIXED: return SlurmNode::Base::mixed;
    case NODE_STATE_ERROR: return SlurmNode::Base::error;
    case NODE_STATE_FUTURE: return SlurmNode::Base::future;
    default: return SlurmNode::Base::unknown;
  }
}

}  // namespace

SlurmNode decode_node(const node_info_t& info) {
  const std::uint32_t state = info.node_state;
  const auto has = [state](std::uint32_t flags) { return (state & flags) != 0; };
  SlurmNode node;
  node.name = text_of(info.name);
  node.base = decode_base(state);
  node.cloud = has(NODE_STATE_CLOUD);
  node.external = compat::is_external(state);
  node.dynamic = has(NODE_STATE_DYNAMIC_NORM);
  node.powering_up = has(NODE_STATE_POWERING_UP);
  node.powered_down = has(NODE_STATE_POWERED_DOWN);
  node.powering_down = has(NODE_STATE_POWERING_DOWN);
  node.power_down_asked = has(NODE_STATE_POWER_DOWN | NODE_STATE_POWER_DRAIN);
  node.power_up_asked = has(NODE_STATE_POWER_UP);
  node.reboot_issued = has(NODE_STATE_REBOOT_ISSUED);
  node.draining = has(NODE_STATE_DRAIN | NODE_STATE_FAIL);
  node.completing = has(NODE_STATE_COMPLETING);
  node.not_responding = has(NODE_STATE_NO_RESPOND);
  node.reserved = has(NODE_STATE_RES);
  node.maintenance = has(NODE_STATE_MAINT);
  node.cpus = info.cpus;
  node.real_memory_mib = info.real_memory;
  node.core_spec_count = info.core_spec_cnt;
  node.mem_spec_limit_mib = info.mem_spec_limit;
  node.cores_per_socket = info.cores;
  node.threads_per_core = info.threads;
  node.weight = info.weight;
  node.has_no_suspend_time = compat::has_no_suspend_time(info);
  node.gres = text_of(info.gres);
  node.features = text_of(info.features);
  node.active_features = text_of(info.features_act);
  node.topology = compat::topology_of(info);
  node.reason = text_of(info.reason);
  node.comment = text_of(info.comment);
  node.address = text_of(info.node_addr);
  node.boot_time = std::chrono::system_clock::from_time_t(info.boot_time);
  return node;
}

std::uint32_t encode_state(SlurmNodeUpdate::State state) {
  using State = SlurmNodeUpdate::State;
  switch (state) {
    case State::down: return NODE_STATE_DOWN;
    case State::drain: return NODE_STATE_DRAIN;
    case State::undrain: return NODE_STATE_UNDRAIN;
    case State::resume: return NODE_RESUME;
    case State::power_up: return NODE_STATE_POWER_UP;
    case State::power_down: return NODE_STATE_POWER_DOWN;
    case State::power_down_asap: return NODE_STATE_POWER_DOWN | NODE_STATE_POWER_DRAIN;
    case State::power_down_force: return NODE_STATE_POWER_DOWN | NODE_STATE_POWERED_DOWN;
    case State::keep: break;
  }
  return NO_VAL;
}

}  // namespace slurmk8s
