// SPDX-License-Identifier: GPL-2.0-or-later
// R5, B9: bridge/identity and job_request: as whom a workload's job is submitted, and what it asks for.
#include "bridge/job_request.hpp"

#include <string>

#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

constexpr const char* kRules = R"(
users:
  - {namespace: team-a, serviceAccount: trainer, uid: 2002, gid: 2002, account: ml, allow: [qos, priority]}
  - {namespace: team-a, uid: 2001, gid: 2000, partition: bridged}
  - {namespace: "*", uid: 3000, gid: 3000}
)";

WorkloadPod make_pod(const char* name_space, const char* service_account, const char* uid = "u") {
  WorkloadPod pod;
  pod.name_space = name_space;
  pod.name = pod.uid = uid;
  pod.service_account = service_account;
  return pod;
}

void rules_decide_the_user(void**) {
  const auto rules = parse_identity_rules(kRules);
  assert_ok(rules);
  const struct {
    const char* name_space;
    const char* service_account;
    JobAnnotations annotations;
    std::uint32_t uid;  // 0: refused
    const char* why;
  } cases[] = {
      {"team-a", "trainer", {}, 2002, ""},
      {"team-a", "default", {}, 2001, ""},
      {"team-b", "trainer", {}, 3000, ""},
      {"team-a", "trainer", {{"qos", "high"}, {"priority", "7"}}, 2002, ""},
      {"team-a",
       "default",
       {{"timelimit", "5"}, {"job-name", "x"}, {"user-id", "2001"}, {"group-id", "2000"}},
       2001,
       ""},
      {"team-a", "default", {{"user-id", "2002"}}, 0, "annotation user-id"},
      {"team-a", "default", {{"group-id", "0"}}, 0, "annotation group-id"},
      {"team-a", "default", {{"qos", "high"}}, 0, "annotation qos: Forbidden"},
      {"team-a", "default", {{"account", "x"}}, 0, "annotation account"},
      {"team-a", "default", {{"reservation", "x"}}, 0, "annotation reservation"},
      {"team-a", "default", {{"partition", "bridged"}}, 2001, ""},
      {"team-a", "default", {{"partition", "debug"}}, 0, "annotation partition"},
      {"team-a", "trainer", {{"account", "ml"}}, 2002, ""},
  };
  for (const auto& one : cases) {
    const auto found = find_identity(*rules, make_pod(one.name_space, one.service_account), one.annotations);
    if (one.uid == 0) {
      assert_error(found, Errc::forbidden, one.why);
    } else {
      assert_ok(found);
      assert_int_equal(found->uid, one.uid);
    }
  }
  assert_error(find_identity({}, make_pod("team-c", "sa"), {}), Errc::forbidden,
               "namespace team-c and service account sa");
}

void wrong_rules_name_their_field(void**) {
  const struct {
    const char* text;
    const char* why;
  } cases[] = {
      {"users: [{uid: 1, gid: 1}]", "users[0].namespace: Required value"},
      {"users: [{namespace: a, gid: 1}]", "users[0].uid: Required value"},
      {"users: [{namespace: a, uid: 1}]", "users[0].gid: Required value"},
      {"users: [{namespace: a, uid: 0, gid: 1}]", "users[0].uid: Invalid value: 0"},
      {"users: [{namespace: a, uid: 4294967295, gid: 1}]", "users[0].uid: Invalid value"},
      {"users: [{namespace: a, uid: x, gid: 1}]", "users[0].uid: Invalid value"},
      {"users: [{namespace: a, uid: 1, gid: 1}, {namespace: b, uid: 1, gid: 1, usr: x}]", "users[1].usr"},
      {"users: [{namespace: a, uid: 1, gid: 1, user: root}]", "users[0].user: Invalid value: \"root\""},
      {"users: [{namespace: a, uid: 1, gid: 1, user: ada}, {namespace: b, uid: 2, gid: 1, user: Ada}]",
       "users[1].user: Invalid value: \"Ada\": uid 2: another rule has user ada with uid 1"},
      {"users: [{namespace: a, uid: 1, gid: 1, user: ada}, {namespace: b, uid: 1, gid: 1, user: bob}]",
       "users[1].user: Invalid value: \"bob\": uid 1: another rule has user ada with uid 1"},
      {"users: [{namespace: a, uid: 1, gid: 1, user: 'a b'}]", "users[0].user: Invalid value: \"a b\""},
      {"users: [{namespace: a, uid: 1, gid: 1, allow: [user-id]}]", "users[0].allow: Unsupported value: \"user-id\""},
      {"users: [", ""},
  };
  for (const auto& [text, why] : cases) assert_error(parse_identity_rules(text), Errc::invalid, why);
  assert_ok(
      parse_identity_rules("users: [{namespace: a, uid: 1, gid: 1, user: ada}, {namespace: b, uid: 1, gid: 2}, "
                           "{namespace: c, uid: 1, gid: 1, user: ada}, {namespace: d, uid: 2, gid: 1, user: b}]"));
  assert_int_equal(parse_identity_rules("")->size(), 0);
  assert_int_equal(parse_identity_rules("users: []")->size(), 0);
}

constexpr const char* kClasses = R"(
users: []
priorityClasses:
  - {name: high, qos: urgent}
  - {name: low, priority: 5}
  - {name: both, qos: urgent, priority: 7}
)";

void priority_classes_mean_a_qos_or_a_priority(void**) {
  const auto rules = parse_priority_rules(kClasses);
  assert_ok(rules);
  const struct {
    const char* priority_class;
    JobAnnotations annotations;
    const char* qos;
    std::uint32_t priority;  // 0: Slurm's
  } cases[] = {
      {"", {}, "normal", 0},
      {"unknown", {}, "normal", 0},
      {"high", {}, "urgent", 0},
      {"low", {}, "normal", 5},
      {"both", {}, "urgent", 7},
      {"both", {{"qos", "chosen"}}, "chosen", 7},
      {"both", {{"priority", "9"}}, "urgent", 9},
  };
  for (const auto& one : cases) {
    WorkloadPod pod = make_pod("a", "s", "u");
    pod.priority_class = one.priority_class;
    IdentityRule identity;
    identity.uid = identity.gid = 7;
    identity.qos = "normal";
    identity.user = "ada";
    apply_priority_class(*rules, pod, identity);
    const auto request = build_job_request({"a", "Pod", "p"}, {&pod}, one.annotations, identity);
    assert_ok(request);
    assert_text(request->user_name, "ada");
    assert_text(request->qos, one.qos);
    assert_int_equal(request->priority.value_or(0), one.priority);
  }
}

void wrong_priority_classes_name_their_field(void**) {
  const struct {
    const char* text;
    const char* why;
  } cases[] = {
      {"priorityClasses: [{qos: a}]", "priorityClasses[0].name: Required value"},
      {"priorityClasses: [{name: a}]", "priorityClasses[0].qos: Required value"},
      {"priorityClasses: [{name: a, qos: b}, {name: c, priority: 0}]", "priorityClasses[1].priority: Invalid value"},
      {"priorityClasses: [{name: a, priority: high}]", "priorityClasses[0].priority: Invalid value"},
      {"priorityClasses: [{name: a, qos: b}, {name: a, qos: c}]", "priorityClasses[1].name: Invalid value"},
      {"priorityClasses: [{name: a, qos: b, nice: 1}]", "priorityClasses[0].nice: Forbidden"},
  };
  for (const auto& [text, why] : cases) assert_error(parse_priority_rules(text), Errc::invalid, why);
  assert_true(parse_priority_rules("")->empty());
  assert_true(parse_priority_rules("users: []")->empty());
}

Result<AllocationRequest> request_of(const JobAnnotations& annotations) {
  static WorkloadPod large = make_pod("a", "s", "u2");
  static WorkloadPod small = make_pod("a", "s", "u1");
  large.cpu_milli = 1001;
  large.memory_bytes = 100 << 20;
  small.cpu_milli = 500;
  small.memory_bytes = (101 << 20) + 1;
  small.minutes = 9;
  IdentityRule rule;
  rule.uid = 7;
  rule.gid = 8;
  rule.account = "acct";
  return build_job_request({"a", "Job", "train"}, {&large, &small}, annotations, rule);
}

void sizes_are_of_the_largest_pod(void**) {
  const auto request = request_of({});
  assert_ok(request);
  assert_text(request->name, "train");
  assert_int_equal(request->user, 7);
  assert_int_equal(request->group, 8);
  assert_text(request->account, "acct");
  assert_int_equal(request->tasks, 2);
  assert_int_equal(request->min_nodes, 1);
  assert_int_equal(request->max_nodes, 2);
  assert_int_equal(request->cpus_per_task, 2);
  assert_int_equal(request->memory_per_cpu_mib, 51);  // 102 MiB for 2 CPUs
  assert_int_equal(request->minutes.value_or(0), 9);
  assert_false(request->exclusive);
}

void gpus_are_of_the_pods_and_for_pods_alone(void**) {
  using Devices = std::map<std::string, std::int64_t>;
  const struct {
    Devices first, second;
    JobAnnotations annotations;
    const char* gres;  // or the beginning of an error
    const char* features = "amd.com/gpu";
  } cases[] = {
      {{}, {}, {}, "", ""},
      {{{"amd.com/gpu", 0}}, {}, {}, "", ""},
      {{{"amd.com/gpu", 1000}}, {}, {}, "gpu:1"},
      {{{"amd.com/gpu", 1000}}, {{"amd.com/gpu", 2000}}, {}, "gpu:2"},
      {{{"nvidia.com/gpu", 1000}}, {}, {}, "gpu:1", "nvidia.com/gpu"},
      {{{"nvidia.com/mig-1g.10gb", 1000}}, {}, {}, "gpu:1g.10gb:1", "nvidia.com/mig-1g.10gb"},
      {{{"nvidia.com/mig-1g.10gb", 1000}},
       {{"nvidia.com/mig-3g.40gb", 1000}},
       {},
       "gpu:1g.10gb:1,gpu:3g.40gb:1",
       "nvidia.com/mig-1g.10gb&nvidia.com/mig-3g.40gb"},
      {{{"amd.com/gpu", 2000}}, {}, {{"gres", "gpu:mi300:2"}}, "gpu:mi300:2"},
      {{{"amd.com/gpu", 2000}}, {}, {{"gres", "GPU:mi300:2"}}, "gpu:mi300:2"},
      {{{"amd.com/gpu", 2000}}, {}, {{"gres", "gpu:2"}}, "gpu:2"},
      {{{"amd.com/gpu", 2000}}, {}, {{"gres", "gres/gpu=2"}}, "gpu:2"},
      {{{"amd.com/gpu", 2000}}, {}, {{"gres", "gres/gpu:2"}}, "gpu:2"},
      {{{"amd.com/gpu", 2000}}, {}, {{"gres", "gres/gpu:mi300=2"}}, "gpu:mi300:2"},
      {{{"amd.com/gpu", 2000}}, {}, {{"gres", "gres/gpu=3"}}, "annotation gres: Invalid value: \"gres/gpu=3\""},
      {{{"amd.com/gpu", 2000}}, {}, {{"constraints", "fast&old"}}, "gpu:2", "fast&old&amd.com/gpu"},
      {{{"amd.com/gpu", 2000}}, {}, {{"constraints", "fast|old"}}, "gpu:2", "(fast|old)&amd.com/gpu"},
      {{{"amd.com/gpu", 2000}}, {}, {{"constraints", "[fast|old]"}}, "annotation constraints"},
      {{{"amd.com/gpu", 2000}}, {}, {{"gres", "gpu:mi300:1"}}, "annotation gres: Invalid value: \"gpu:mi300:1\""},
      {{{"amd.com/gpu", 2000}}, {}, {{"gres", "gpu:mi300:2,nic:1"}}, "annotation gres: Invalid value"},
      {{{"amd.com/gpu", 2000}}, {}, {{"gres", "gpu:mi300:02"}}, "annotation gres: Invalid value"},
      {{{"amd.com/gpu", 2000}}, {}, {{"gres", "gpu:2k:2"}}, "annotation gres: Invalid value"},
      {{{"amd.com/gpu", 2000}}, {}, {{"gres", "nic:2"}}, "annotation gres: Invalid value"},
      {{{"nvidia.com/mig-1g.10gb", 1000}}, {}, {{"gres", "gpu:a100:1"}}, "annotation gres: Invalid value"},
      {{}, {}, {{"gres", "gpu:1"}}, "annotation gres: Invalid value"},
      {{{"nvidia.com/gpu", 1000}}, {{"nvidia.com/mig-1g.10gb", 1000}}, {}, "spec.containers: resources.requests: Forb"},
      {{{"nvidia.com/gpu", 1000}}, {{"amd.com/gpu", 1000}}, {}, "spec.containers: resources.requests: Forbidden"},
      {{{"nvidia.com/gpu", 1500}}, {}, {}, "spec.containers: resources.requests: nvidia.com/gpu: must be an integer"},
  };
  for (const auto& c : cases) {
    WorkloadPod first = make_pod("a", "s", "u1");
    WorkloadPod second = make_pod("a", "s", "u2");
    first.devices = c.first;
    second.devices = c.second;
    const auto request = build_job_request({"a", "Job", "train"}, {&first, &second}, c.annotations, IdentityRule());
    if (!request) {
      assert_contains(request.error().message(), c.gres);
      continue;
    }
    assert_text(request->gres, c.gres);
    assert_text(request->features, c.features);
  }
}

void annotations_set_members(void**) {
  const auto request = request_of({{"job-name", "n"},
                                   {"timelimit", "30"},
                                   {"constraints", "gpu&fast"},
                                   {"licenses", "l:1"},
                                   {"exclusive", "true"},
                                   {"min-nodes", "2"},
                                   {"pods-per-node", "1"},
                                   {"cpu-per-task", "4"},
                                   {"mem-per-node", "2Gi"},
                                   {"qos", "q"},
                                   {"partition", "p"},
                                   {"reservation", "r"},
                                   {"wckey", "w"},
                                   {"priority", "5"},
                                   {"account", "b"},
                                   {"user-id", "7"}});
  assert_ok(request);
  assert_text(request->name, "n");
  assert_int_equal(request->minutes.value_or(0), 30);
  assert_text(request->features, "gpu&fast");
  assert_text(request->licenses, "l:1");
  assert_true(request->exclusive);
  assert_int_equal(request->min_nodes, 2);
  assert_int_equal(request->tasks_per_node, 1);
  assert_int_equal(request->cpus_per_task, 4);
  assert_int_equal(request->memory_per_cpu_mib, 512);
  assert_text(request->qos + request->partition + request->reservation + request->wckey + request->account, "qprwb");
  assert_int_equal(request->priority.value_or(0), 5);
}

void wrong_annotations_are_named(void**) {
  const struct {
    const char* key;
    const char* value;
  } cases[] = {{"timelimit", "soon"},
               {"timelimit", "0"},
               {"exclusive", "no"},
               {"mem-per-node", "lots"},
               {"min-nodes", "3"},
               {"min-nodes", "-1"},
               {"qos", ""},
               {"cpu-per-task", "99999999999"},
               {"begin", "now"},
               {"max-nodes", "0"},
               {"priority", "high"},
               {"priority", "0"},
               {"mem-per-node", "1Ki"},
               {"mem-per-node", "512"},
               {"exclusive", "0"},
               {"exclusive", "user"},
               {"cpu-per-task", "0"},
               {"cpu-per-task", "-1"},
               {"cpu-per-task", "foo"},
               {"cpu-per-task", "65536"}};
  for (const auto& [key, value] : cases) {
    assert_error(request_of({{key, value}}), Errc::invalid, std::string("annotation ") + key + ": Invalid value: \"");
  }
}

/** What slurm-bridge's manifests may have, with its meaning (its internal/utils/slurmjobir/annotations.go). */
void values_mean_what_they_mean_to_slurm_bridge(void**) {
  WorkloadPod pod = make_pod("a", "s");
  pod.cpu_milli = 100;
  const auto request = [&](const char* key, const char* value) {
    const auto built = build_job_request({"a", "Pod", "p"}, {&pod}, {{key, value}}, IdentityRule());
    assert_ok(built);
    return *built;
  };
  const std::pair<const char*, std::uint32_t> cpus[] = {{"200m", 1}, {"1", 1}, {"1500m", 2}, {"2.5", 3}, {"4", 4}};
  for (const auto& [value, expected] : cpus) {
    assert_int_equal(request("cpu-per-task", value).cpus_per_task, expected);
  }
  const std::pair<const char*, std::uint64_t> memory[] = {
      {"1Gi", 1024}, {"512Mi", 512}, {"1G", 954}, {"1048576", 1}, {"1073741824", 1024}};
  for (const auto& [value, expected] : memory) {
    assert_int_equal(request("mem-per-node", value).memory_per_cpu_mib, expected);
  }
  const std::pair<const char*, bool> exclusive[] = {{"true", true},   {"True", true},   {" true ", true},
                                                    {"yes", true},    {"1", true},      {"", true},
                                                    {"false", false}, {"False", false}, {" false", false}};
  for (const auto& [value, expected] : exclusive) {
    if (request("exclusive", value).exclusive != expected) fail_msg("exclusive: \"%s\"", value);
  }
}

void time_limits_have_slurms_forms(void**) {
  const struct {
    const char* text;
    std::uint32_t minutes;  // 0: refused
  } cases[] = {{"90", 90},          {"1:30", 2},       {"0:01", 1},
               {"2:00:00", 120},    {"1:00:01", 61},   {"1-0", 1440},
               {"1-2", 1560},       {"1-2:3", 1563},   {"1-00:00:00", 1440},
               {"0:0", 0},          {"", 0},           {"-1", 0},
               {"1-", 0},           {"1:2:3:4", 0},    {"1::2", 0},
               {"1-2-3", 0},        {"2h", 120},       {"4294967296", 0},
               {"2147483647-0", 0}, {"30s", 1},        {"90m", 90},
               {"1h30m", 90},       {"1h1s", 61},      {"1m1h", 0},
               {"1.5h", 0},         {"h", 0},          {"1h1h", 0},
               {"-1h", 0},          {"1d", 0},         {"0h", 0},
               {"2h30", 0},         {"2147483647h", 0}};
  for (const auto& row : cases) {
    const auto request = request_of({{"timelimit", row.text}});
    if (request.ok() != (row.minutes != 0)) fail_msg("%s", row.text);
    if (request) assert_int_equal(request->minutes.value_or(0), row.minutes);
  }
}

// Slurm would give away what the kubelet has given to the pod.
void a_job_is_no_smaller_than_its_pods(void**) {
  WorkloadPod pod = make_pod("a", "s");
  pod.cpu_milli = 3500;
  pod.memory_bytes = std::int64_t{1} << 30;
  const auto request = [&](const JobAnnotations& annotations) {
    return build_job_request({"a", "Pod", "p"}, {&pod}, annotations, IdentityRule());
  };
  assert_ok(request({{"cpu-per-task", "4"}, {"mem-per-node", "1Gi"}}));
  pod.memory_bytes = 1'000'000'000;
  assert_ok(request({{"mem-per-node", "1G"}}));
  pod.memory_bytes = std::int64_t{1} << 30;
  assert_error(request({{"cpu-per-task", "3"}}), Errc::invalid,
               "annotation cpu-per-task: Invalid value: \"3\": must be at least what a pod requests");
  assert_error(request({{"mem-per-node", "1023Mi"}}), Errc::invalid,
               "annotation mem-per-node: Invalid value: \"1023Mi\": must be at least what a pod requests");
}

void comment_names_workload_and_pods(void**) {
  const WorkloadRef workload{"a", "Job", "train"};
  const std::string comment = build_job_comment(workload, {"u1", "u2"});
  assert_contains(comment, "k8s:a/Job/train:");
  assert_text(comment, build_job_comment(workload, {"u2", "u1"}));
  assert_text(comment, request_of({})->comment);
  assert_true(comment != build_job_comment(workload, {"u1"}));
  assert_true(comment != build_job_comment(workload, {"u1u2"}));
  // The same after an update of the bridge: it finds its jobs by this.
  assert_text(build_job_comment({"a", "Pod", "p"}, {"u"}), "k8s:a/Pod/p:08c4b407b567a8ce");
}

// A job with another Comment is nothing that the bridge may end.
void only_its_own_comments_have_a_namespace(void**) {
  const struct {
    const char* comment;
    const char* name_space;
  } cases[] = {
      {"k8s:a/Pod/p:08c4b407b567a8ce", "a"},
      {"k8s:team-a/LeaderWorkerSet/serve/0:08c4b407b567a8ce", "team-a"},
      {"", ""},
      {"k8s:", ""},
      {"k8s:x", ""},
      {"k8s:a/Pod/p", ""},
      {"k8s:a/Pod/p:08c4b407b567a8c", ""},
      {"k8s:a/Pod/p:08c4b407b567a8ceb", ""},
      {"k8s:a/Pod/p:08c4b407b567a8cX", ""},
      {"k8s:a/Pod:08c4b407b567a8ce", ""},
      {"k8s:08c4b407b567a8ce", ""},
      {"k8s:/Pod/p:08c4b407b567a8ce", ""},
      {"my k8s:a/Pod/p:08c4b407b567a8ce", ""},
  };
  for (const auto& row : cases) assert_text(std::string(find_job_namespace(row.comment)), row.name_space);
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(rules_decide_the_user),
      SLURMK8S_TEST(wrong_rules_name_their_field),
      SLURMK8S_TEST(priority_classes_mean_a_qos_or_a_priority),
      SLURMK8S_TEST(wrong_priority_classes_name_their_field),
      SLURMK8S_TEST(sizes_are_of_the_largest_pod),
      SLURMK8S_TEST(gpus_are_of_the_pods_and_for_pods_alone),
      SLURMK8S_TEST(annotations_set_members),
      SLURMK8S_TEST(wrong_annotations_are_named),
      SLURMK8S_TEST(values_mean_what_they_mean_to_slurm_bridge),
      SLURMK8S_TEST(time_limits_have_slurms_forms),
      SLURMK8S_TEST(a_job_is_no_smaller_than_its_pods),
      SLURMK8S_TEST(comment_names_workload_and_pods),
      SLURMK8S_TEST(only_its_own_comments_have_a_namespace),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
