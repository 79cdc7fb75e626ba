// SPDX-License-Identifier: GPL-2.0-or-later
// sidecar/config_removals: what a slurm.conf defines, and which jobs would end without a part of it.
#include "sidecar/config_removals.hpp"

#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

std::string joined(const std::set<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : " ") + name;
  return text;
}

void reads_what_files_define(void**) {
  const struct {
    const char* what;
    ConfigFiles files;
    const char* partitions;
    const char* nodes;
    bool keeps_partitions = false;
    bool is_whole = true;
  } cases[] = {
      {"no slurm.conf", {}, "", "", false, false},
      {"the chart's", {{"slurm.conf", "NodeSet=gpu Feature=gpu\nPartitionName=gpu Nodes=gpu MaxTime=1\n"}}, "gpu", ""},
      {"other letters and blanks", {{"slurm.conf", "  partitionname = a  Nodes=ALL\r\n"}}, "a", ""},
      {"quotes", {{"slurm.conf", "PartitionName=\"a\" Nodes=ALL\n"}}, "a", ""},
      {"defaults", {{"slurm.conf", "PartitionName=DEFAULT MaxTime=1\nNodeName=default CPUs=2\n"}}, "", ""},
      {"comments", {{"slurm.conf", "#PartitionName=a\nPartitionName=b # PartitionName=c\n"}}, "b", ""},
      {"a line that goes on",
       {{"slurm.conf", "PartitionName=\\\n  a Nodes=ALL\nPartitionName=b \\ \n Nodes=x\n"}},
       "a b",
       ""},
      {"another key", {{"slurm.conf", "XPartitionName=a\nMaxTime=PartitionName=b\n"}}, "", ""},
      {"static nodes", {{"slurm.conf", "NodeName=n-[1-2],m CPUs=2\nNodeName=[ CPUs=1\n"}}, "", "m n-1 n-2"},
      {"included files",
       {{"slurm.conf", "Include a.conf\ninclude /etc/slurm/b.conf\n"},
        {"a.conf", "PartitionName=a Nodes=ALL\nInclude slurm.conf\n"},
        {"b.conf", "PartitionName=b Nodes=ALL\n"}},
       "a b",
       ""},
      {"a file of another folder", {{"slurm.conf", "Include /opt/x.conf\n"}}, "", "", false, false},
      {"no include", {{"slurm.conf", "IncludeX a.conf\nInclude\n"}}, "", ""},
      {"partitions of run time", {{"slurm.conf", "ReconfigFlags=KeepPowerSaveSettings,keeppartinfo\n"}}, "", "", true},
      {"the last one counts",
       {{"slurm.conf", "ReconfigFlags=KeepPartInfo\nReconfigFlags=KeepPartState\n"}},
       "",
       "",
       false},
  };
  for (const auto& c : cases) {
    const ConfigDefinitions found = parse_definitions(c.files);
    if (joined(found.partitions) != c.partitions) fail_msg("%s: \"%s\"", c.what, joined(found.partitions).c_str());
    if (joined(found.nodes) != c.nodes) fail_msg("%s: \"%s\"", c.what, joined(found.nodes).c_str());
    if (found.keeps_partitions != c.keeps_partitions) fail_msg("%s: partitions of run time", c.what);
    if (found.is_whole != c.is_whole) fail_msg("%s: whole", c.what);
  }
}

constexpr const char* kEnd = ": slurmctld would end them. It is applied when they have ended, or are cancelled: ";

void tells_which_jobs_would_end(void**) {
  const std::string live = "PartitionName=a Nodes=ALL\nPartitionName=b Nodes=ALL\nNodeName=n-[1-3] CPUs=2\n";
  const std::string no_b = "PartitionName=a Nodes=ALL\nNodeName=n-[1-3] CPUs=2\n";
  const std::string no_nodes = "PartitionName=a Nodes=ALL\nPartitionName=b Nodes=ALL\nNodeName=n-1 CPUs=2\n";
  const struct {
    const char* what;
    std::string wanted;
    std::vector<SlurmJobNeeds> jobs;
    std::string expected;  ///< without the begin and kEnd: what is lost|what to do
  } cases[] = {
      {"nothing is removed", live, {{1, "b", "n-1", ""}}, ""},
      {"no jobs", no_b, {}, ""},
      {"jobs elsewhere", no_b, {{1, "a", "n-1", "n-1"}}, ""},
      {"a job", no_b, {{1, "b", "", ""}}, "partition b is removed and has 1 job|scancel --partition=b"},
      {"jobs",
       no_b,
       {{1, "b", "n-1", ""}, {2, "a", "", ""}, {3, "b", "", ""}},
       "partition b is removed and has 2 jobs|scancel --partition=b"},
      // Slurm 24.11 ends a job of several partitions when one of them is gone.
      {"of several partitions",
       no_b,
       {{1, "a,b", "", ""}},
       "partition b is removed and has 1 job|scancel --partition=b"},
      {"a new name",
       "PartitionName=a Nodes=ALL\nPartitionName=c Nodes=ALL\nNodeName=n-[1-3] CPUs=2\n",
       {{1, "b", "", ""}},
       "partition b is removed and has 1 job|scancel --partition=b"},
      {"made at run time",
       live,
       {{1, "runtime", "", ""}},
       "partition runtime is removed and has 1 job|scancel --partition=runtime"},
      {"made at run time, and kept", live + "ReconfigFlags=KeepPartInfo\n", {{1, "runtime", "", ""}}, ""},
      {"perhaps of a file that is elsewhere", live + "Include /opt/x\n", {{1, "other", "", ""}}, ""},
      {"certainly removed",
       no_b + "Include /opt/x\n",
       {{1, "b", "", ""}},
       "partition b is removed and has 1 job|scancel --partition=b"},
      {"removed from the files, and kept", no_b + "ReconfigFlags=KeepPartInfo\n", {{1, "b", "", ""}}, ""},
      {"a job without a partition", no_b, {{1, "", "", ""}}, ""},
      {"a node", no_nodes, {{1, "a", "n-[1-2]", ""}}, "node n-2 is removed and has 1 job|scancel --nodelist=n-2"},
      {"nodes that are asked for",
       no_nodes,
       {{1, "a", "", "n-2"}, {2, "a", "", "n-3"}, {3, "a", "n-1", ""}},
       "nodes n-[2-3] are removed and have 2 jobs|scancel --nodelist=n-[2-3]"},
      {"both",
       "PartitionName=a Nodes=ALL\n",
       {{1, "b", "n-1", ""}},
       "partition b is removed and has 1 job, node n-1 is removed and has 1 job|"
       "scancel --partition=b, scancel --nodelist=n-1"},
  };
  for (const auto& c : cases) {
    const std::string text =
        describe_lost_jobs(find_removals({{"slurm.conf", live}}, {{"slurm.conf", c.wanted}}), c.jobs);
    const std::size_t bar = c.expected.find('|');
    const std::string expected =
        c.expected.empty() ? "" : "slurm.conf: " + c.expected.substr(0, bar) + kEnd + c.expected.substr(bar + 1);
    if (text != expected) fail_msg("%s: \"%s\"", c.what, text.c_str());
  }
}

void names_what_is_removed(void**) {
  const char* kLive = "PartitionName=a Nodes=ALL\nPartitionName=b Nodes=ALL\nNodeName=n-[1-2] CPUs=2\n";
  const struct {
    const char* wanted;
    const char* expected;
  } cases[] = {
      {kLive, ""},
      {"", "partition a, partition b, nodes n-[1-2]"},
      {"PartitionName=a\nPartitionName=b\nNodeName=n-2\n", "node n-1"},
      {"ReconfigFlags=KeepPartInfo\nNodeName=n-[1-2]\n", ""},
  };
  for (const auto& c : cases) {
    const ConfigRemovals removals = find_removals({{"slurm.conf", kLive}}, {{"slurm.conf", c.wanted}});
    assert_text(describe_removals(removals), c.expected);
    assert_true(removals.empty() == (*c.expected == '\0'));
  }
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(reads_what_files_define),
      SLURMK8S_TEST(tells_which_jobs_would_end),
      SLURMK8S_TEST(names_what_is_removed),
  };
  return cmocka_run_group_tests_name("sidecar_config_removals", tests, nullptr, nullptr);
}
