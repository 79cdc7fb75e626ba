// SPDX-License-Identifier: GPL-2.0-or-later
// Nodes, pods and records in all states, for the tables of the plan.
#pragma once

#include <chrono>
#include <initializer_list>
#include <optional>
#include <utility>

#include "engine/node.hpp"
#include "slurm/slurm.hpp"

namespace slurmk8s {

using namespace std::chrono_literals;

inline const TimePoint kNow = TimePoint{} + std::chrono::hours(10);

inline Pod make_pod(const char* uid, const char* request) {
  Pod pod;
  pod.uid = uid;
  pod.request = request;
  return pod;
}

inline Pod deleting(Pod pod) {
  pod.deleting = true;
  return pod;
}

inline Pod on_machine(Pod pod) {
  pod.grace = 5s;
  pod.kube_node = "m1";
  return pod;
}

inline Pod ended(Pod pod, const char* why) {
  pod.ended = why;
  return pod;
}

inline Node make_node(Node::Want want, const char* request, std::optional<Pod> pod) {
  Node node;
  if (want == Node::Want::up) node.begin({request}, kNow);
  if (want == Node::Want::down) node.end(kNow);
  node.problem_since = kNow;
  node.pod = std::move(pod);
  node.note_deletion(node.pod && node.pod->deleting, kNow);
  return node;
}

/** Its pod is being deleted for so long. */
inline Node deleting_since(Node node, std::chrono::seconds ago) {
  node.deleting_since = kNow - ago;
  return node;
}

inline Node told_stuck(Node node) {
  node.told_stuck = true;
  return node;
}

inline Node with_pod_seen(Node node) {
  node.progress.had_pod = true;
  return node;
}

/** It had a job when the engine started. */
inline Node with_job(Node node) {
  node.progress.had_job = true;
  return node;
}

inline Node busy(Node node) {
  node.busy = true;
  return node;
}

inline Node backing_off(Node node) {
  node.not_before = kNow + std::chrono::seconds(1);
  return node;
}

inline Node missed(Node node, std::chrono::seconds ago) {
  node.waiting_unasked_since = kNow - ago;
  return node;
}

inline Node needs_get(Node node) {
  node.needs_get = true;
  return node;
}

/** The node's last question has this answer. */
inline Node answered(Node node, Answer answer, const char* text = "") {
  node.ask();
  node.busy = false;
  node.answer = answer;
  node.answer_text = text;
  return node;
}

inline Node suspended(Node node) {
  node.end(kNow + 1s);
  return node;
}

inline Node resumed(Node node, const char* request) {
  node.begin({request}, kNow + 1s);
  return node;
}

inline Node with_other_pod(Node node) {
  node.pod = make_pod("u9", "r9");
  return node;
}

inline Node without_pod(Node node) {
  node.forget_pod();
  return node;
}

/** Wanted up or down since then. */
inline Node since(Node node, std::chrono::seconds ago) {
  if (node.want() == Node::Want::down) node.end(kNow - ago);
  if (node.is_wanted_up()) node.begin(node.resume(), kNow - ago);
  return node;
}

inline Node with_older_pod_gone(Node node) {
  node.forget_pod();
  return node;
}

using Hint = StartProblem::Kind;

inline Pod with_problem(Pod pod, Hint kind) {
  pod.start_problem = {kind, "why"};
  return pod;
}

inline Node with_problem_since(Node node, std::chrono::seconds ago) {
  node.problem_since = kNow - ago;
  return node;
}

inline SlurmNode record(std::initializer_list<bool SlurmNode::*> flags, bool registered = false) {
  SlurmNode node;
  node.base = SlurmNode::Base::idle;
  for (const auto flag : flags) node.*flag = true;
  if (registered) node.boot_time = std::chrono::system_clock::time_point(std::chrono::seconds(1));
  return node;
}

/** After `scontrol reboot`, before its slurmd has registered. */
inline SlurmNode rebooting() {
  SlurmNode node = record({&SlurmNode::cloud, &SlurmNode::reboot_issued}, true);
  node.base = SlurmNode::Base::down;
  return node;
}

inline Node seen(Node node, std::chrono::seconds ago) {
  node.seen = kNow - ago;
  return node;
}

inline SlurmNode with_address(SlurmNode node) {
  node.name = "compute-0";
  node.address = "10.1.2.3";
  return node;
}

inline SlurmNode with_base(SlurmNode node, SlurmNode::Base base, const char* reason = "") {
  node.base = base;
  node.reason = reason;
  return node;
}

}  // namespace slurmk8s
