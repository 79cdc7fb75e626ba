// SPDX-License-Identifier: GPL-2.0-or-later
// nodeset/nodeset: decoding and checking a NodeSet.
#include "nodeset/nodeset.hpp"

#include "base/strings.hpp"
#include "nodeset/template_hash.hpp"
#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

// A NodeSet slurm/compute with this spec.
Json object_with(const std::string& spec) {
  const auto parsed = Json::parse(
      R"({"metadata":{"namespace":"slurm","name":"compute","uid":"u-1","generation":4},"spec":)" + spec + "}");
  assert_true(parsed.ok());
  return *parsed;
}

Result<NodeSet> decode(const std::string& spec) { return decode_nodeset(object_with(spec)); }

// A valid spec with `more` members.
std::string spec_with(const std::string& more) {
  return R"({"slurmd":{"image":"i","resources":{"limits":{"cpu":"2","memory":"1000Mi"}}})" +
         (more.empty() ? "" : "," + more) + "}";
}

// A member of spareSchedules.
std::string window(const char* start = "0 7 * * 1-5", const char* duration = "3h", const char* zone = "Europe/Berlin",
                   const char* replicas = "4", const char* more = "") {
  return format(R"({"start":"%s","duration":"%s","timeZone":"%s","replicas":%s%s})", start, duration, zone, replicas,
                more);
}

std::string window_of(const char* variant) {  // in JSON
  return window("0 7 * * *", "1h", "UTC", "1", format(R"(,"variant":%s)", variant).c_str());
}

void decodes_defaults(void**) {
  const auto nodeset = decode(spec_with(""));
  assert_true(nodeset.ok());
  assert_text(nodeset->name_space, "slurm");
  assert_text(nodeset->name, "compute");
  assert_text(nodeset->uid, "u-1");
  assert_int_equal(nodeset->generation, 4);
  assert_int_equal(nodeset->replicas, 1);
  assert_true(nodeset->spare_replicas.empty());
  assert_true(nodeset->spare_schedules.empty());
  assert_int_equal(nodeset->ordinal_padding, 0);
  assert_true(nodeset->protects_busy);
  assert_true(nodeset->update.type == UpdateStrategy::Type::rolling);
  assert_int_equal(nodeset->update.percentage, 25);
  assert_text(nodeset->template_hash, hash_template(template_parts(*nodeset)));
  assert_false(nodeset->partition.has_value());
  assert_int_equal(nodeset->size.cpus, 2);
  assert_int_equal(nodeset->size.real_memory_mib, 936);
  assert_text(nodeset->features, "compute");
  assert_text(nodeset->device_gres, "");
  assert_true(nodeset->confinement == Confinement::none);
  assert_text(node_definition(*nodeset), "CPUs=2 RealMemory=936");
  assert_true(nodeset->pod_spec.is_null());
  assert_true(nodeset->slurmd.is_object());
}

void decodes_all_fields(void**) {
  const auto nodeset = decode(
      R"({"replicas":12,"ordinalPadding":3,"scalingMode":"Always","memoryReserve":"0","confinement":"Cgroup",
          "workloadDisruptionProtection":false,"partition":{"enabled":true,"config":"MaxTime=1-0"},
          "extraConf":"  Weight=10  Features=a100,fast Gres=gpu:1 ",
          "slurmd":{"resources":{"limits":{"memory":"2Gi"}}},
          "template":{"metadata":{"labels":{"a":"b"}},
                      "spec":{"containers":[{"name":"other"},
                              {"name":"slurmd","image":"i","resources":{"limits":{"cpu":7.9,"memory":"1Gi"}}}]}}})");
  assert_true(nodeset.ok());
  assert_int_equal(nodeset->replicas, 12);
  assert_int_equal(nodeset->ordinal_padding, 3);
  assert_true(nodeset->scaling_mode == ScalingMode::always);
  assert_false(nodeset->protects_busy);
  assert_true(nodeset->confinement == Confinement::cgroup);
  assert_text(nodeset->partition->at("MaxTime"), "1440");
  assert_int_equal(nodeset->size.cpus, 7);
  assert_int_equal(nodeset->size.real_memory_mib, 2048);
  assert_text(nodeset->features, "compute,a100,fast");
  assert_text(node_definition(*nodeset), "CPUs=7 RealMemory=2048 Weight=10 Gres=gpu:1");
  assert_int_equal(nodeset->pod_spec["containers"].size(), 2);
}

void takes_tmp_disk_from_the_storage(void**) {
  const struct {
    const char* storage;  // of the NodeSet's own limits
    const char* more;
    const char* definition;
  } cases[] = {
      {"1Gi", "", " TmpDisk=1024"},
      {"1Gi", R"(,"extraConf":"Weight=2")", " Weight=2 TmpDisk=1024"},
      {"1Gi", R"(,"extraConf":"tmpdisk=7")", " tmpdisk=7"},
      {"1Gi", R"(,"variants":[{"name":"a"}])", " TmpDisk=1024"},
      // A record has one size for all variants.
      {"1Gi", R"(,"variants":[{"name":"a","patch":{"slurmd":{"resources":{"limits":{"ephemeral-storage":"1Mi"}}}}}])",
       " TmpDisk=1"},
      {"1Gi", R"(,"variants":[{"name":"a","patch":{"slurmd":{"resources":{"limits":{"ephemeral-storage":"2Gi"}}}}}])",
       " TmpDisk=1024"},
      {"1Gi", R"(,"variants":[{"name":"a","patch":{"slurmd":{"volumeMounts":[{"name":"t","mountPath":"/tmp"}]}}}])",
       ""},
      {"0", R"(,"variants":[{"name":"a","patch":{"slurmd":{"resources":{"limits":{"ephemeral-storage":"2Gi"}}}}}])",
       ""},
      // The container of the pod's template has it.
      {"1Gi", R"(,"template":{"spec":{"containers":[{"name":"slurmd","resources":{"requests":
              {"ephemeral-storage":"1Mi"}}}]}})",
       " TmpDisk=1"},
  };
  for (const auto& c : cases) {
    const auto nodeset = decode(R"({"slurmd":{"image":"i","resources":{"limits":{"cpu":"2","memory":"1000Mi",)"
                                R"("ephemeral-storage":")" +
                                std::string(c.storage) + "\"}}}" + c.more + "}");
    assert_true(nodeset.ok());
    assert_text(node_definition(*nodeset), "CPUs=2 RealMemory=936" + std::string(c.definition));
    // Also a record's variants have its definition.
    for (const auto& [name, variant] : nodeset->variants) {
      assert_text(variant.template_hash, hash_template(template_parts(with_variant(*nodeset, name))));
    }
  }
}

void takes_gpus_from_the_limits(void**) {
  const struct {
    const char* more;
    const char* definition;
    const char* device_gres;
  } cases[] = {
      {"", "Gres=gpu:2", "gpu:2"},
      {R"(,"gresType":"a100","extraConf":"Weight=10")", "Weight=10 Gres=gpu:a100:2", "gpu:a100:2"},
      {R"(,"extraConf":"Gres=foo:1")", "Gres=foo:1,gpu:2", "gpu:2"},
      {R"(,"extraConf":"Gres=gpu:h100:4","gresType":"a100")", "Gres=gpu:h100:4", ""},  // an administrator's own
      {R"(,"gpuResource":"example.com/gpu")", "Gres=gpu:5", "gpu:5"},
      {R"(,"variants":[{"name":"v","patch":{"slurmd":{"image":"j"}}}])", "Gres=gpu:2", "gpu:2"},
  };
  for (const auto& c : cases) {
    const auto nodeset = decode(R"({"slurmd":{"image":"i","resources":{"limits":{"cpu":"2","memory":"1000Mi",)"
                                R"("nvidia.com/gpu":"2","example.com/gpu":3}}})" +
                                std::string(c.more) + "}");
    assert_true(nodeset.ok());
    assert_text(node_definition(*nodeset), "CPUs=2 RealMemory=936 " + std::string(c.definition));
    assert_text(nodeset->device_gres, c.device_gres);
    assert_true(nodeset->gres_names.contains("gpu"));
  }
}

void takes_gpus_of_claims(void**) {
  const std::string variant = R"("variants":[{"name":"v","patch":{"slurmd":{"image":"j"}}}])";
  const std::string limits = R"({"cpu":"2","memory":"1000Mi")";
  const struct {
    std::string limits;
    const char* more;
    const char* definition;
  } cases[] = {
      {limits + "}", R"("claimedGpus":2)", " Gres=gpu:2"},
      {limits + "}", R"("claimedGpus":2,"gresType":"a100")", " Gres=gpu:a100:2"},
      {limits + R"(,"nvidia.com/gpu":1})", R"("claimedGpus":2)", " Gres=gpu:3"},
      {limits + "}", R"("claimedGpus":2,"extraConf":"Gres=gpu:h100:4")", " Gres=gpu:h100:4"},
      {limits + "}", R"("claimedGpus":0)", ""},
  };
  for (const auto& c : cases) {
    const auto nodeset = decode(R"({"slurmd":{"image":"i","resources":{"claims":[{"name":"g"}],"limits":)" + c.limits +
                                "}}," + c.more + "," + variant + "}");
    assert_ok(nodeset);
    assert_text(node_definition(*nodeset), "CPUs=2 RealMemory=936" + std::string(c.definition));
  }
  // The container of the pod's template may have the claim.
  const auto of_template = decode(spec_with(R"("claimedGpus":1,"template":{"spec":{"containers":[
      {"name":"slurmd","resources":{"claims":[{"name":"g"}]}}]}})"));
  assert_ok(of_template);
  assert_text(of_template->device_gres, "gpu:1");
}

void devices_of_the_bridge_are_gres_too(void**) {
  const auto nodeset = decode(spec_with(R"("extraConf":"Weight=10 Feature=fast","gresType":"a100",
      "bridgeDevices":{"nvidia.com/gpu":"2"},"variants":[{"name":"v","patch":{}}])"));
  assert_ok(nodeset);
  assert_true(nodeset->has_bridge_devices);
  assert_text(nodeset->device_gres, "gpu:a100:2");
  assert_contains(node_definition(*nodeset), "Weight=10 Gres=gpu:a100:2");
  assert_text(nodeset->features, "compute,fast,nvidia.com/gpu,v");
  const auto mig = decode(spec_with(R"("bridgeDevices":{"nvidia.com/mig-3g.40gb":1,"nvidia.com/mig-1g.10gb":2})"));
  assert_ok(mig);
  assert_text(mig->device_gres, "gpu:1g.10gb:2,gpu:3g.40gb:1");
  assert_text(mig->features, "compute,nvidia.com/mig-1g.10gb,nvidia.com/mig-3g.40gb");
  const auto none = decode(spec_with(R"("bridgeDevices":{"amd.com/gpu":0})"));
  assert_ok(none);
  assert_false(none->has_bridge_devices);
  assert_text(none->features, "compute");
}

void decodes_spare_schedules(void**) {
  const auto nodeset = decode(spec_with(R"("spareReplicas":1,"spareSchedules":[)" + window() +
                                        R"(,{"start":"30 22 1 * *","duration":"1h30m","replicas":65536}])"));
  assert_ok(nodeset);
  assert_true(nodeset->spare_replicas == SpareReplicas({{"", 1}}));
  assert_int_equal(nodeset->spare_schedules.size(), 2);
  const SpareSchedule& first = nodeset->spare_schedules[0];
  assert_int_equal(first.duration.count(), 180);
  assert_text(first.time_zone, "Europe/Berlin");
  assert_int_equal(first.replicas, 4);
  assert_true(first.start.hours.test(7) && first.start.weekdays.test(5) && !first.start.weekdays.test(6));
  assert_int_equal(nodeset->spare_schedules[1].duration.count(), 90);
  assert_text(nodeset->spare_schedules[1].time_zone, "Etc/UTC");
  assert_text(nodeset->spare_schedules[1].variant, "");
}

void decodes_spares_of_variants(void**) {
  const auto nodeset = decode(spec_with(R"("spareReplicas":1,"variants":[{"name":"a","spareReplicas":2},{"name":"b"},
                            {"name":"c","spareReplicas":0}],"spareSchedules":[)" +
                                        window_of(R"("b")") + "]"));
  assert_ok(nodeset);
  assert_true(nodeset->spare_replicas == SpareReplicas({{"", 1}, {"a", 2}}));
  assert_text(nodeset->spare_schedules[0].variant, "b");
}

void decodes_variants(void**) {
  const auto nodeset = decode(spec_with(R"("extraConf":"Features=a100","template":{"metadata":{"labels":{"a":"b"}},
      "spec":{"nodeSelector":{"disk":"ssd"},"volumes":[{"name":"v","emptyDir":{}}]}},
      "variants":[{"name":"cuda-12.4","allowedUsers":["alice"],"allowedAccounts":["Physics"],
                   "patch":{"slurmd":{"image":"j","env":[{"name":"X","value":"1"}]},
                            "template":{"metadata":{"labels":{"a":null,"c":"d"}},
                                        "spec":{"nodeSelector":{"disk":null,"gpu":"a"},"runtimeClassName":"r",
                                                "volumes":[{"name":"w","emptyDir":{}}]}}}},
                  {"name":"plain"}])"));
  assert_true(nodeset.ok());
  assert_text(nodeset->features, "compute,a100,cuda-12.4,plain");
  assert_int_equal(nodeset->variants.size(), 2);
  const Variant& variant = nodeset->variants.at("cuda-12.4");
  assert_true(variant.access == (VariantAccess{{"alice"}, {"physics"}}));
  assert_text(variant.slurmd["image"].text(), "j");
  assert_text(variant.slurmd.at({"resources", "limits", "cpu"}).text(), "2");
  assert_text(variant.pod_metadata.dump(), R"({"labels":{"c":"d"}})");
  assert_text(variant.pod_spec.dump(), R"({"nodeSelector":{"gpu":"a"},"volumes":[{"name":"v","emptyDir":{}},)"
                                       R"({"name":"w","emptyDir":{}}],"runtimeClassName":"r"})");
  assert_text(nodeset->slurmd["image"].text(), "i");

  assert_text(with_variant(*nodeset, "cuda-12.4").template_hash, variant.template_hash);
  assert_true(variant.template_hash != nodeset->template_hash);
  assert_text(nodeset->variants.at("plain").template_hash, nodeset->template_hash);
  assert_true(revision_of(*nodeset) != nodeset->template_hash);
  assert_text(find_variant(*nodeset, "compute,a100,plain"), "plain");
  assert_text(find_variant(*nodeset, "compute,a100"), "");
  const VariantCatalog::Entry entry = catalog_entry(*nodeset);
  assert_true(entry.features == (std::set<std::string>{"compute", "a100"}));
  assert_int_equal(entry.variants.size(), 2);
}

void refuses_variants(void**) {
  const struct {
    const char* variants;
    const char* expected;
  } cases[] = {
      {R"({})", "spec.variants"},
      {R"([3])", "spec.variants[0]: Invalid value: \"integer\": must be an object"},
      {R"([{}])", "spec.variants[0].name"},
      {R"([{"name":"a b"}])", "spec.variants[0].name: Invalid value: \"a b\": must be at most 63 letters"},
      {R"([{"name":"-a"}])", "spec.variants[0].name"},
      {R"([{"name":"compute"}])", "must not be a feature of all nodes"},
      {R"([{"name":"a100"}])", "must not be a feature of all nodes"},
      {R"([{"name":"a"},{"name":"a"}])", "spec.variants[1].name: Duplicate value: \"a\""},
      {R"([{"name":"a","patch":3}])", "variant a: patch"},
      {R"([{"name":"a","patch":{"replicas":3}}])", "variant a: patch.replicas: Forbidden: only slurmd"},
      {R"([{"name":"a","patch":{"slurmd":3}}])", "variant a: patch.slurmd"},
      {R"([{"name":"a","allowedUsers":[3]}])", "variant a: allowedUsers"},
      {R"([{"name":"a","patch":{"slurmd":{"image":""}}}])", "spec.slurmd.image"},
      {R"([{"name":"a","patch":{"slurmd":{"resources":{"limits":{"cpu":"4"}}}}}])",
       "limits: Forbidden: must be those of the NodeSet"},
      {R"([{"name":"a","patch":{"slurmd":{"resources":{"limits":{"memory":"2Gi"}}}}}])", "must be those of"},
      {R"([{"name":"a","patch":{"slurmd":{"resources":{"limits":{"nvidia.com/gpu":1}}}}}])", "must be those of"},
      {R"x([{"name":"a","patch":{"template":{"metadata":{"labels":{"x":"$(JOB_X)"}}}}}])x", "unknown placeholder"},
  };
  for (const auto& c : cases) {
    const auto nodeset = decode(spec_with(R"("extraConf":"Features=a100","variants":)" + std::string(c.variants)));
    assert_false(nodeset.ok());
    assert_contains(nodeset.error().message(), c.expected);
  }
  std::string users = "\"u0\"";
  for (int i = 1; i <= 256; i++) users += ",\"u" + std::to_string(i) + "\"";
  const auto many = decode(spec_with(R"("variants":[{"name":"a","allowedUsers":[)" + users + "]}]"));
  assert_contains(many.error().message(), "allowedUsers: Too many: 257: must have at most 256 items");
  const auto longest =
      decode(spec_with(R"("variants":[{"name":"a","allowedAccounts":[")" + std::string(257, 'x') + "\"]}]"));
  assert_contains(longest.error().message(), "allowedAccounts: Too long: may not be more than 256 bytes");
  const auto features = decode(spec_with(R"("extraConf":"Features=)" + std::string(2048, 'x') + "\""));
  assert_contains(features.error().message(), "spec.extraConf: Too long: may not be more than 2048 bytes");
  // Equal values, and limits that are not in node records.
  for (const char* fine : {R"({"cpu":2})", R"({"cpu":"2000m"})", R"({"ephemeral-storage":"1Gi"})"}) {
    const std::string limits = std::string(R"({"resources":{"limits":)") + fine + "}}";
    assert_true(decode(spec_with(R"("variants":[{"name":"a","patch":{"slurmd":)" + limits + "}}]")).ok());
  }
}

void knows_whether_pods_name_jobs(void**) {
  assert_false(decode(spec_with(""))->names_jobs);
  assert_true(decode(spec_with(R"x("template":{"metadata":{"labels":{"a":"$(JOB_ACCOUNT)"}}})x"))->names_jobs);
  assert_true(decode(spec_with(R"x("variants":[{"name":"v","patch":{"template":{"metadata":{"annotations":
                                  {"a":"$(JOB_ID)"}}}}}])x"))
                  ->names_jobs);
}

void takes_half_a_cpu_as_one(void**) {
  const auto nodeset =
      decode(R"({"replicas":0,"slurmd":{"image":"i","resources":{"limits":{"cpu":"500m","memory":"128Mi"}}}})");
  assert_true(nodeset.ok());
  assert_int_equal(nodeset->replicas, 0);
  assert_true(nodeset->scaling_mode == ScalingMode::on_demand);
  assert_int_equal(nodeset->size.cpus, 1);
  assert_int_equal(nodeset->size.real_memory_mib, 64);
}

void a_daemon_set_has_a_node_for_each_kube_node(void**) {
  auto nodeset = decode(R"({"scalingMode":"DaemonSet","replicas":1,
      "slurmd":{"image":"i","resources":{"limits":{"cpu":"2","memory":"1Gi"}}}})");
  assert_true(nodeset.ok());
  assert_true(nodeset->keeps_up());
  assert_text(daemon_node_name(*nodeset, "m1.example.org"), "compute-m1--example--org");
  assert_text(kube_node_of(*nodeset, "compute-m1--example--org"), "m1.example.org");
  assert_text(kube_node_of(*nodeset, "compute"), "");
  nodeset->scaling_mode = ScalingMode::always;
  assert_text(kube_node_of(*nodeset, "compute-0"), "");
  const auto external =
      decode(R"({"scalingMode":"External","slurmd":{"resources":{"limits":{"cpu":"2","memory":"1Gi"}}}})");
  assert_true(external.ok());  // without an image
  assert_true(external->is_per_kube_node());
  assert_false(external->has_pods());
  assert_text(kube_node_of(*external, "compute-m1"), "m1");
}

void external_nodes_need_no_limits(void**) {
  const auto any = decode(R"({"scalingMode":"External","slurmd":{},"memoryReserve":"128Mi",
      "extraConf":"CoresPerSocket=4 ThreadsPerCore=2"})");
  assert_true(any.ok());
  assert_int_equal(any->size.cpus, kMaxCpus);
  assert_true(any->size.real_memory_mib > std::uint64_t{1} << 40);
  assert_int_equal(any->memory_reserve, 128 << 20);
  assert_int_equal(any->cpu_multiple, 8);
  assert_text(node_definition(*any, {8, 936}), "CPUs=8 RealMemory=936 CoresPerSocket=4 ThreadsPerCore=2");
  const auto cpu = decode(R"({"scalingMode":"External","slurmd":{"resources":{"limits":{"cpu":"3"}}}})");
  assert_true(cpu.ok());
  assert_int_equal(cpu->size.cpus, 3);
  assert_true(cpu->size.real_memory_mib == any->size.real_memory_mib);
  const auto memory = decode(R"({"scalingMode":"External","slurmd":{"resources":{"limits":{"memory":"1000Mi"}}}})");
  assert_true(memory.ok());
  assert_true(memory->size == (NodeSize{any->size.cpus, 936}));
}

void finds_pinned_kube_nodes(void**) {
  Json object = *Json::parse(
      R"({"metadata":{"name":"compute"},"status":{"ordinalToNode":{"0":"m1","12":"m2"}},"spec":{"pinToNode":true,
      "ordinalPadding":3,"slurmd":{"image":"i","resources":{"limits":{"cpu":"2","memory":"1Gi"}}}}})");
  const auto pinned = decode_nodeset(object);
  assert_true(pinned.ok());
  assert_text(kube_node_of(*pinned, "compute-000"), "m1");
  assert_text(kube_node_of(*pinned, "compute-012"), "m2");
  assert_text(kube_node_of(*pinned, "compute-001"), "");
  object["spec"].set("pinToNode", Json::boolean(false));
  assert_text(kube_node_of(*decode_nodeset(object), "compute-000"), "");
}

void finds_owners_by_name(void**) {
  std::map<std::string, Result<NodeSet>> nodesets;
  for (const char* name : {"a", "a-b", "a-b-c", "d"}) {
    NodeSet nodeset;
    nodeset.name = name;
    const bool counts = nodeset.name == "a-b" || nodeset.name == "d";
    nodeset.scaling_mode = counts ? ScalingMode::on_demand : ScalingMode::daemon_set;
    nodesets.emplace(name, nodeset);
  }
  nodesets.emplace("e", Error(Errc::invalid, "spec"));
  const std::pair<const char*, const char*> cases[] = {
      {"a-m1", "a"},        {"a-0", "a"},      {"a-m-1", "a"}, {"a-b-m", "a"}, {"a-b-1", "a-b"},
      {"a-b-c-0", "a-b-c"}, {"a-b-c--d", "a"}, {"d-7", "d"},   {"d-m", "-"},   {"e-7", "e"},
      {"e-m1", "e"},        {"f-1", "-"},      {"a", "-"},     {"-a", "-"},    {"a-M", "-"},
  };
  for (const auto& [node, owner] : cases) {
    const auto found = owner_name(node, [&](const std::string& name) {
      const auto at = nodesets.find(name);
      return at == nodesets.end() ? nullptr : &at->second;
    });
    if (found.value_or("-") != owner) fail_msg("%s: %s", node, found.value_or("-").c_str());
  }
}

void names_the_invalid_field(void**) {
  const std::string limits = R"("resources":{"limits":{"cpu":"2","memory":"1Gi"}})";
  const auto invalid_part = [](const std::string& value) {
    return "spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: " + value +
           ": must be a number of nodes, at least 1, or a percentage from \"1%\" to \"100%\"";
  };
  const struct {
    std::string spec;
    std::string message;  // without "nodeset slurm/compute: "
  } cases[] = {
      {"null", "spec: Required value"},
      {spec_with(R"("replicas":-1)"), "spec.replicas: Invalid value: -1: must be 0 to 65536"},
      {spec_with(R"("replicas":65537)"), "spec.replicas: Invalid value: 65537: must be 0 to 65536"},
      {spec_with(R"("replicas":"8")"), "spec.replicas: Invalid value: \"8\": must be an integer"},
      {spec_with(R"("replicas":1.5)"), "spec.replicas: Invalid value: 1.5: must be an integer"},
      {spec_with(R"("partition":{"config":"MaxTime=soon"})"),
       "spec.partition.config: Invalid value: \"MaxTime=soon\": MaxTime=soon: must be a time such as 30, 1:00:00, 1-0 "
       "or UNLIMITED"},
      {spec_with(R"("partition":{"config":7})"), "spec.partition.config: Invalid value: 7: must be a string"},
      {spec_with(R"("partition":{"enabled":"yes"})"),
       "spec.partition.enabled: Invalid value: \"yes\": must be true or false"},
      {spec_with(R"("partition":[])"), "spec.partition: Invalid value: \"array\": must be an object"},
      {spec_with(R"("workloadDisruptionProtection":"yes")"),
       "spec.workloadDisruptionProtection: Invalid value: \"yes\": must be true or false"},
      {spec_with(R"("unschedulableGracePeriodSeconds":-1)"),
       "spec.unschedulableGracePeriodSeconds: Invalid value: -1: must be 0 to 86400"},
      {spec_with(R"("ordinalPadding":6)"), "spec.ordinalPadding: Invalid value: 6: must be 0 to 5"},
      {spec_with(R"("updateStrategy":"OnDelete")"),
       "spec.updateStrategy: Invalid value: \"string\": must be an object"},
      {spec_with(R"("updateStrategy":{"type":"Recreate"})"),
       "spec.updateStrategy.type: Unsupported value: \"Recreate\": supported values: \"RollingUpdate\", \"OnDelete\", "
       "\"ScheduledUpdate\""},
      {spec_with(R"("updateStrategy":{"rollingUpdate":1})"),
       "spec.updateStrategy.rollingUpdate: Invalid value: \"integer\": must be an object"},
      {spec_with(R"("updateStrategy":{"rollingUpdate":{"maxUnavailable":0}})"), invalid_part("0")},
      {spec_with(R"("updateStrategy":{"rollingUpdate":{"maxUnavailable":"101%"}})"), invalid_part("\"101%\"")},
      {spec_with(R"("updateStrategy":{"rollingUpdate":{"maxUnavailable":"0%"}})"), invalid_part("\"0%\"")},
      {spec_with(R"("updateStrategy":{"rollingUpdate":{"maxUnavailable":"3"}})"), invalid_part("\"3\"")},
      {spec_with(R"("updateStrategy":{"rollingUpdate":{"maxUnavailable":1.5}})"), invalid_part("1.5")},
      {spec_with(R"("scalingMode":"StatefulSet")"),
       "spec.scalingMode: Unsupported value: \"StatefulSet\": supported values: \"OnDemand\", \"Always\", "
       "\"DaemonSet\", \"External\""},
      {spec_with(R"("confinement":"Full")"),
       "spec.confinement: Unsupported value: \"Full\": supported values: \"None\", \"Cgroup\", \"Privileged\""},
      {spec_with(R"("scalingMode":1)"),
       "spec.scalingMode: Unsupported value: 1: supported values: \"OnDemand\", \"Always\", \"DaemonSet\", "
       "\"External\""},
      {spec_with(R"("scalingMode":"DaemonSet","replicas":2)"),
       "spec.replicas: Forbidden: may not be set with scalingMode DaemonSet or External"},
      {spec_with(R"("gresType":"4090")"),
       "spec.gresType: Invalid value: \"4090\": must be a letter, then at most 62 letters, digits, '_', '-' and '.', "
       "such as a100"},
      {spec_with(R"("gresType":3)"),
       "spec.gresType: Invalid value: 3: must be a letter, then at most 62 letters, digits, '_', '-' and '.', such as "
       "a100"},
      {spec_with(R"("gpuResource":3)"),
       "spec.gpuResource: Invalid value: 3: must be the name of an extended resource, such as example.com/gpu"},
      {spec_with(R"("claimedGpus":"2")"), "spec.claimedGpus: Invalid value: \"2\": must be an integer"},
      {spec_with(R"("claimedGpus":257)"), "spec.claimedGpus: Invalid value: 257: must be 0 to 256"},
      {spec_with(R"("claimedGpus":1)"),
       "spec.claimedGpus: Forbidden: may not be set without spec.slurmd.resources.claims"},
      {spec_with(R"("claimedGpus":1,"bridgeDevices":{"amd.com/gpu":1},"template":{"spec":{"containers":[
          {"name":"slurmd","resources":{"claims":[{"name":"g"}]}}]}})"),
       "spec.bridgeDevices: Forbidden: may not be set with GPUs in spec.slurmd.resources.limits or spec.claimedGpus"},
      {spec_with(R"("claimedGpus":1,"variants":[{"name":"v","patch":{"template":{"spec":{"containers":null}}}}],
          "template":{"spec":{"containers":[{"name":"slurmd","resources":{"claims":[{"name":"g"}]}}]}})"),
       "spec.variants: variant v: patch.slurmd.resources.claims: Forbidden: may not be empty with spec.claimedGpus"},
      {spec_with(R"("bridgeDevices":[])"), "spec.bridgeDevices: Invalid value: \"array\": must be an object"},
      {spec_with(R"("bridgeDevices":{"amd.com/gpu":"x"})"),
       "spec.bridgeDevices.amd.com/gpu: Invalid value: \"x\": must be a quantity such as 500m, 2 or 16Gi"},
      {spec_with(R"("bridgeDevices":{"amd.com/gpu":"1500m"})"), "spec.bridgeDevices: amd.com/gpu: must be an integer"},
      {spec_with(R"("bridgeDevices":{"rdma/hca":1})"),
       "spec.bridgeDevices: Invalid value: \"rdma/hca\": must be nvidia.com/gpu, nvidia.com/mig-PROFILE, "
       "amd.com/gpu, gpu.intel.com/i915 or gpu.intel.com/xe"},
      {spec_with(R"("bridgeDevices":{"amd.com/gpu":1,"nvidia.com/mig-1g.10gb":1})"),
       "spec.bridgeDevices: Forbidden: may not have whole GPUs of two resources, or beside MIG devices"},
      {spec_with(R"("bridgeDevices":{"amd.com/gpu":1},"extraConf":"Gres=gpu:2")"),
       "spec.bridgeDevices: Forbidden: may not be set with a gpu in Gres of spec.extraConf"},
      {R"({"bridgeDevices":{"amd.com/gpu":1},
           "slurmd":{"image":"i","resources":{"limits":{"cpu":"2","memory":"1Gi","nvidia.com/gpu":1}}}})",
       "spec.bridgeDevices: Forbidden: may not be set with GPUs in spec.slurmd.resources.limits or spec.claimedGpus"},
      {R"({"slurmd":{"image":"i","resources":{"limits":{"cpu":"2","memory":"1Gi","nvidia.com/gpu":"1500m"}}}})",
       "spec.slurmd.resources.limits: nvidia.com/gpu: must be an integer"},
      {spec_with(R"("spareReplicas":-1)"), "spec.spareReplicas: Invalid value: -1: must be 0 to 65536"},
      {spec_with(R"("spareReplicas":"2")"), "spec.spareReplicas: Invalid value: \"2\": must be an integer"},
      {spec_with(R"("scalingMode":"Always","spareReplicas":1)"),
       "spec.spareReplicas: Forbidden: may be set with scalingMode OnDemand only"},
      {spec_with(R"("scalingMode":"DaemonSet","spareReplicas":1)"),
       "spec.spareReplicas: Forbidden: may be set with scalingMode OnDemand only"},
      {spec_with(R"("spareSchedules":{})"), "spec.spareSchedules: Invalid value: \"object\": must be an array"},
      {spec_with(R"("spareSchedules":[7])"), "spec.spareSchedules[0]: Invalid value: \"integer\": must be an object"},
      {spec_with(R"("spareSchedules":[)" + window() + R"(,{"start":"0 7 * * *","duration":"1h"}])"),
       "spec.spareSchedules[1].replicas: Required value"},
      {spec_with(R"("spareSchedules":[)" + window("0 25 * * *") + "]"),
       "spec.spareSchedules[0].start: Invalid value: \"0 25 * * *\": hour must be *, 0 to 23, a range such as 1-5, "
       "one of these with a step such as */2, or a list of these"},
      {spec_with(R"("spareSchedules":[)" + window("@daily") + "]"),
       "spec.spareSchedules[0].start: Invalid value: \"@daily\": must be minute, hour, day of the month, month and day "
       "of the week, such as 0 7 * * 1-5"},
      {spec_with(R"("spareSchedules":[)" + window("0 7 * * *", "3 h") + "]"),
       "spec.spareSchedules[0].duration: Invalid value: \"3 h\": must be hours and minutes from 1m to 168h, such as "
       "3h, "
       "90m or 1h30m"},
      {spec_with(R"("spareSchedules":[)" + window("0 7 * * *", "1h", "../etc/passwd") + "]"),
       "spec.spareSchedules[0].timeZone: Invalid value: \"../etc/passwd\": must be the name of a time zone, such as "
       "Europe/Berlin"},
      {spec_with(R"("spareSchedules":[)" + window("0 7 * * *", "1h", "UTC", "0") + "]"),
       "spec.spareSchedules[0].replicas: Invalid value: 0: must be 1 to 65536"},
      {spec_with(R"("spareSchedules":[)" + window("0 7 * * *", "1h", "UTC", R"("4")") + "]"),
       "spec.spareSchedules[0].replicas: Invalid value: \"4\": must be 1 to 65536"},
      {spec_with(R"("variants":[{"name":"v","spareReplicas":-1}])"),
       "spec.variants[0].spareReplicas: Invalid value: -1: must be 0 to 65536"},
      {spec_with(R"("scalingMode":"Always","variants":[{"name":"v","spareReplicas":1}])"),
       "spec.variants[0].spareReplicas: Forbidden: may be set with scalingMode OnDemand only"},
      {spec_with(R"("variants":[{"name":"v"}],"spareSchedules":[)" + window_of(R"("w")") + "]"),
       "spec.spareSchedules[0].variant: Not found: \"w\""},
      {spec_with(R"("spareSchedules":[)" + window_of("3") + "]"),
       "spec.spareSchedules[0].variant: Invalid value: 3: must be the name of a variant"},
      {spec_with(R"("scalingMode":"Always","spareSchedules":[)" + window() + "]"),
       "spec.spareSchedules: Forbidden: may be set with scalingMode OnDemand only"},
      {spec_with(R"("scalingMode":"DaemonSet","pinToNode":true)"),
       "spec.pinToNode: Forbidden: may not be set with scalingMode DaemonSet or External"},
      {R"({"scalingMode":"External","slurmd":{"resources":{"limits":{"cpu":0}}}})",
       "spec.slurmd.resources.limits.cpu: Invalid value: 0: must be greater than 0"},
      {spec_with(R"("scalingMode":"External","replicas":2)"),
       "spec.replicas: Forbidden: may not be set with scalingMode DaemonSet or External"},
      {spec_with(R"("scalingMode":"External","variants":[{"name":"v","patch":{}}])"),
       "spec.variants: Forbidden: may not be set with scalingMode External, whose nodes have no pods"},
      {spec_with(R"("scalingMode":"External","volumeClaimTemplates":[{"metadata":{"name":"v"},"spec":{}}])"),
       "spec.volumeClaimTemplates: Forbidden: may not be set with scalingMode External, whose nodes have no pods"},
      {spec_with(R"("scalingMode":"External","confinement":"Cgroup")"),
       "spec.confinement: Forbidden: may not be set with scalingMode External, whose nodes have no pods"},
      {spec_with(R"("pinToNode":1)"), "spec.pinToNode: Invalid value: 1: must be true or false"},
      {spec_with(R"("template":[])"), "spec.template: Invalid value: \"array\": must be an object"},
      {spec_with(R"("template":{"metadata":{"labels":{"a":1}}})"),
       "spec.template.metadata.labels.a: Invalid value: 1: must be a string"},
      {spec_with(R"("template":{"spec":{"containers":{}}})"),
       "spec.template.spec.containers: Invalid value: \"object\": must be an array"},
      {spec_with(R"("template":{"spec":{"containers":[{"image":"x"}]}})"),
       "spec.template.spec.containers[0].name: Required value"},
      {"{"
       R"("slurmd":{)" +
           limits + "}}",
       "spec.slurmd.image: Required value"},
      {R"({"slurmd":{"image":" ",)" + limits + "}}",
       "spec.slurmd.image: Invalid value: \" \": must be the name of an image"},
      {R"({"slurmd":{"image":"i"}})", "spec.slurmd.resources.limits.cpu: Required value"},
      {R"({"slurmd":{"image":"i","resources":{"limits":{"cpu":2}}}})",
       "spec.slurmd.resources.limits.memory: Required value"},
      {R"({"slurmd":{"image":"i","resources":{"limits":{"cpu":"two","memory":"1Gi"}}}})",
       "spec.slurmd.resources.limits.cpu: Invalid value: \"two\": must be a quantity such as 500m, 2 or 16Gi"},
      {R"({"slurmd":{"image":"i","resources":{"limits":{"cpu":"0","memory":"1Gi"}}}})",
       "spec.slurmd.resources.limits.cpu: Invalid value: \"0\": must be greater than 0"},
      {R"({"slurmd":{"image":"i","resources":{"limits":{"cpu":"2","memory":true}}}})",
       "spec.slurmd.resources.limits.memory: Invalid value: true: must be a quantity such as 500m, 2 or 16Gi"},
      {R"({"slurmd":{"image":"i","resources":{"limits":{"cpu":"2","memory":"64Mi"}}}})",
       "spec.slurmd.resources.limits.memory: Invalid value: \"64Mi\": must be at least 1Mi more than "
       "spec.memoryReserve"},
      {spec_with(R"("memoryReserve":"-1Mi")"),
       "spec.memoryReserve: Invalid value: \"-1Mi\": must be a quantity such as 500m, 2 or 16Gi"},
      {spec_with(R"("extraConf":"Weight=1\nNodeName=x")"),
       "spec.extraConf: Invalid value: \"Weight=1\\nNodeName=x\": must be one line of printable characters without "
       "quotes, '#' and '\\'"},
      {spec_with(R"("extraConf":"Weight")"), "spec.extraConf: Invalid value: \"Weight\": must be KEY=VALUE"},
      {spec_with(R"("extraConf":"Weight=")"), "spec.extraConf: Invalid value: \"Weight=\": must be KEY=VALUE"},
      {spec_with(R"("extraConf":"cpus=64")"), "spec.extraConf: Invalid value: \"cpus=64\": cpus is not supported here"},
      {spec_with(R"("extraConf":"Port=x")"), "spec.extraConf: Invalid value: \"Port=x\": Port is not supported here"},
      {spec_with(R"("extraConf":"ThreadsPerCore=two")"),
       "spec.extraConf: Invalid value: \"ThreadsPerCore=two\": must be a number from 1 to 65000"},
      {spec_with(R"("extraConf":"Gres=foo:a:1,foo:1")"),
       "spec.extraConf: Invalid value: \"Gres=foo:a:1,foo:1\": foo: all entries of a name must have a type, or none"},
      {spec_with(R"("extraConf":"Gres=foo:1 gres=foo:a:1")"),
       "spec.extraConf: Invalid value: \"gres=foo:a:1\": must have one Gres"},
      {spec_with(R"("extraConf":"ThreadsPerCore=2 CoresPerSocket=2")"),
       "spec.extraConf: Invalid value: \"ThreadsPerCore=2 CoresPerSocket=2\": CoresPerSocket and ThreadsPerCore must "
       "divide "
       "the 2 CPUs of a node"},
  };
  for (const auto& c : cases) {
    const auto nodeset = decode(c.spec);
    assert_false(nodeset.ok());
    assert_int_equal(nodeset.error().code(), Errc::invalid);
    assert_text(nodeset.error().message(), std::string("nodeset slurm/compute: ") + c.message);
  }
}

void rounds_up_how_many_may_be_unavailable(void**) {
  const struct {
    int replicas;
    const char* max_unavailable;
    std::int64_t nodes;
  } cases[] = {{8, "\"25%\"", 2}, {9, "\"25%\"", 3},  {0, "\"25%\"", 1},         {3, "\"1%\"", 1},
               {8, "3", 3},       {8, "\"100%\"", 8}, {65536, "\"99%\"", 64881}, {1, "20", 20}};
  for (const auto& c : cases) {
    const auto nodeset = decode(spec_with(
        format(R"("replicas":%d,"updateStrategy":{"type":"ScheduledUpdate","rollingUpdate":{"maxUnavailable":%s}})",
               c.replicas, c.max_unavailable)));
    assert_ok(nodeset);
    assert_true(nodeset->update.type == UpdateStrategy::Type::scheduled);
    assert_int_equal(nodeset->update.unavailable_limit(nodeset->replicas), c.nodes);
  }
}

void checks_names(void**) {
  const struct {
    std::string name;
    int padding;
    bool ok;
  } cases[] = {
      {"a", 0, true},
      {std::string(61, 'a'), 0, true},
      {std::string(61, 'a'), 2, false},
      {std::string(62, 'a'), 0, false},
      {"a.b", 0, false},
      {"A", 0, false},
      {"a-", 0, false},
      {"", 0, false},
  };
  for (const auto& c : cases) {
    Json object = object_with(spec_with("\"ordinalPadding\":" + std::to_string(c.padding)));
    object.set("metadata", Json().set("namespace", "slurm").set("name", c.name));
    const auto nodeset = decode_nodeset(object);
    assert_int_equal(nodeset.ok(), c.ok);
    if (!c.ok) assert_contains(nodeset.error().message(), "metadata.name: ");
  }
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(decodes_defaults),
      SLURMK8S_TEST(decodes_all_fields),
      SLURMK8S_TEST(decodes_spare_schedules),
      SLURMK8S_TEST(decodes_spares_of_variants),
      SLURMK8S_TEST(decodes_variants),
      SLURMK8S_TEST(refuses_variants),
      SLURMK8S_TEST(knows_whether_pods_name_jobs),
      SLURMK8S_TEST(takes_gpus_from_the_limits),
      SLURMK8S_TEST(takes_gpus_of_claims),
      SLURMK8S_TEST(takes_tmp_disk_from_the_storage),
      SLURMK8S_TEST(devices_of_the_bridge_are_gres_too),
      SLURMK8S_TEST(takes_half_a_cpu_as_one),
      SLURMK8S_TEST(names_the_invalid_field),
      SLURMK8S_TEST(checks_names),
      SLURMK8S_TEST(rounds_up_how_many_may_be_unavailable),
      SLURMK8S_TEST(a_daemon_set_has_a_node_for_each_kube_node),
      SLURMK8S_TEST(external_nodes_need_no_limits),
      SLURMK8S_TEST(finds_owners_by_name),
      SLURMK8S_TEST(finds_pinned_kube_nodes),
  };
  return cmocka_run_group_tests_name("nodeset_nodeset", tests, nullptr, nullptr);
}
