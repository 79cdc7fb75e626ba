// SPDX-License-Identifier: GPL-2.0-or-later
// sidecar/gres_conf: lines of gres.conf for nodes with GPUs, and their file.
#include "sidecar/gres_conf.hpp"

#include <unistd.h>

#include "base/file.hpp"
#include "base/strings.hpp"
#include "support/cmocka.hpp"
#include "support/fake_slurm.hpp"

namespace slurmk8s {
namespace {

KnownNodeSet nodeset(const std::string& name, const std::string& limits, const std::string& more = "") {
  const auto object =
      Json::parse(R"({"metadata":{"name":")" + name + R"("},"spec":{"slurmd":{"image":"i","resources":{"limits":{)" +
                  R"("cpu":"2","memory":"1Gi")" + limits + "}}}" + more + "}}");
  assert_true(object.ok());
  return {.generation = 1, .spec = decode_nodeset(*object)};
}

SlurmNode record(const std::string& name, const std::string& gres) {
  SlurmNode node = FakeSlurm::cloud_node(name);
  node.features = name.substr(0, name.rfind('-'));
  node.gres = gres;
  return node;
}

NodeAction create(const std::string& name, const std::string& nodes) {
  return {NodeAction::Kind::create, name, nodes, "", {}};
}

constexpr const char* kTwo = R"(,"nvidia.com/gpu":2)";

void has_a_file_for_each_gpu(void**) {
  const struct {
    const char* what;
    NodeSets nodesets;
    std::vector<SlurmNode> nodes;
    std::vector<NodeAction> actions;
    const char* expected;
  } cases[] = {
      {"nothing", {}, {}, {}, ""},
      {"no GPUs", {{"c", nodeset("c", "")}}, {record("c-0", "")}, {create("c", "c-1")}, ""},
      {"nodes to be made",
       {{"g", nodeset("g", kTwo)}},
       {},
       {create("g", "g-[0-3]")},
       "NodeName=g-[0-3] Name=gpu File=/run/slurm-k8s/gpu[0-1]\n"},
      {"records, and nodes to be made",
       {{"g", nodeset("g", kTwo)}},
       {record("g-0", "gpu:2(S:0)"), record("g-1", "gpu:2")},
       {create("g", "g-[2-3]")},
       "NodeName=g-[0-3] Name=gpu File=/run/slurm-k8s/gpu[0-1]\n"},
      {"a record keeps what it was made with",
       {{"g", nodeset("g", kTwo, R"(,"gresType":"h100")")}},
       {record("g-0", "gpu:a100:4(S:0,1)"), record("g-1", "gpu:h100:2"), record("g-2", "")},
       {},
       "NodeName=g-0 Name=gpu Type=a100 File=/run/slurm-k8s/gpu[0-3]\n"
       "NodeName=g-1 Name=gpu Type=h100 File=/run/slurm-k8s/gpu[0-1]\n"},
      {"several types, other Gres",
       {{"m", nodeset("m", R"(,"nvidia.com/mig-1g.10gb":2,"nvidia.com/mig-3g.40gb":1)", R"(,"extraConf":"Gres=x:1")")}},
       {record("m-0", "x:1,gpu:1g.10gb:2,gpu:3g.40gb:1")},
       {},
       "NodeName=m-0 Name=gpu Type=1g.10gb File=/run/slurm-k8s/gpu[0-1]\n"
       "NodeName=m-0 Name=gpu Type=3g.40gb File=/run/slurm-k8s/gpu[2-2]\n"},
      {"an administrator's own Gres",
       {{"g", nodeset("g", kTwo, R"(,"extraConf":"Gres=gpu:2")")}},
       {record("g-0", "gpu:2")},
       {create("g", "g-1")},
       ""},
      {"an invalid spec",
       {{"g", nodeset("g", kTwo, R"(,"replicas":-1)")}},
       {record("g-0", "gpu:2")},
       {},
       "NodeName=g-0 Name=gpu File=/run/slurm-k8s/gpu[0-1]\n"},
      {"records of others", {{"g", nodeset("g", kTwo)}}, {record("other-0", "gpu:2")}, {}, ""},
      {"words that are not ours",
       {{"g", nodeset("g", kTwo)}},
       {record("g-0", "gpu"), record("g-1", "gpu:a:b:2"), record("g-2", "gpu:-1"), record("g-3", "gpu:1000")},
       {},
       ""},
  };
  for (const auto& c : cases) {
    const std::string text = build_gres_conf(c.nodesets, c.nodes, c.actions);
    if (text != c.expected) fail_msg("%s:\n%s", c.what, text.c_str());
  }
}

// Jobs may use the GPUs of such records: a slurmctld that starts without their lines drains the nodes.
void keeps_lines_of_records_that_have_lost_their_nodeset(void**) {
  constexpr const char* kLines = "NodeName=g-0 Name=gpu Type=a100 File=/run/slurm-k8s/gpu[0-1]\n";
  const auto of_administrator = [](const char* conf) {
    return NodeSets{{"g", nodeset("g", "", format(R"(,"extraConf":"%s")", conf))}};
  };
  const struct {
    const char* what;
    NodeSets nodesets;
    std::set<std::string> former;
    const char* expected;
  } cases[] = {
      {"the NodeSet is gone", {}, {"g-0"}, kLines},
      {"and it had no lines", {}, {"other-0"}, ""},
      {"its limits have no GPUs any more", {{"g", nodeset("g", "")}}, {"g-0"}, kLines},
      {"the administrator's Gres, not yet made", of_administrator("Weight=2 Gres=gpu:b200:2"), {"g-0"}, kLines},
      {"made again as the administrator's", of_administrator("Weight=2 gres=gpu:a100:2,x:1"), {"g-0"}, ""},
  };
  for (const auto& c : cases) {
    const std::string text = build_gres_conf(c.nodesets, {record("g-0", "gpu:a100:2(S:0)")}, {}, c.former);
    if (text != c.expected) fail_msg("%s:\n%s", c.what, text.c_str());
  }
}

void writes_when_it_differs(void**) {
  char folder[] = "/tmp/gres_conf_test-XXXXXX";
  assert_non_null(mkdtemp(folder));
  const std::string path = std::string(folder) + "/gres.conf";
  const auto lines = [&path] { return *read_file(path, 100); };
  const auto with_head = [](const char* text) { return std::string(kGresConfHead) + text; };
  GresConfFile file(path);
  assert_true(file.write("").ok());
  assert_text(lines(), with_head("").c_str());
  assert_true(file.write("a\n").ok());
  assert_text(lines(), with_head("a\n").c_str());
  // What is there already is not written again: by the next sidecar neither.
  assert_int_equal(unlink(path.c_str()), 0);
  assert_true(file.write("a\n").ok());
  assert_false(read_file(path, 100).ok());
  assert_true(replace_file(path, with_head("b\n")).ok());
  GresConfFile next(path);
  assert_true(next.write("b\n").ok());
  assert_true(next.write("c\n").ok());
  assert_text(lines(), with_head("c\n").c_str());
  assert_true(GresConfFile(path).nodes().empty());
  assert_true(next.write("NodeName=a-[0-1],b-3 Name=gpu File=/x[0-1]\nNodeName=c-0 Name=gpu File=/x[0-1]\n").ok());
  const std::set<std::string> expected = {"a-0", "a-1", "b-3", "c-0"};
  assert_true(next.nodes() == expected);
  assert_true(GresConfFile(path).nodes() == expected);
  assert_int_equal(unlink(path.c_str()), 0);
  assert_int_equal(rmdir(folder), 0);
  const Status failed = GresConfFile(path).write("d\n");
  assert_false(failed.ok());
  assert_contains(failed.error().message(), path.c_str());
  assert_true(GresConfFile("").write("e\n").ok());
  assert_true(GresConfFile("").nodes().empty());
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(has_a_file_for_each_gpu),
      SLURMK8S_TEST(keeps_lines_of_records_that_have_lost_their_nodeset),
      SLURMK8S_TEST(writes_when_it_differs),
  };
  return cmocka_run_group_tests_name("sidecar_gres_conf", tests, nullptr, nullptr);
}
