// SPDX-License-Identifier: GPL-2.0-or-later
// find_removals(): lines of slurm.conf, as Slurm's parse_config.c has them.
#include "sidecar/config_removals.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>

#include "base/strings.hpp"
#include "slurm/hostlist.hpp"

namespace slurmk8s {
namespace {

constexpr std::string_view kBlanks = " \t\r";
constexpr std::string_view kSlurmFolder = "/etc/slurm/";

/** The word at its begin, without quotes. */
std::string_view first_word(std::string_view text) {
  text = trim(text);
  if (text.starts_with('"')) return text.substr(1, text.substr(1).find('"'));
  return text.substr(0, text.find_first_of(kBlanks));
}

/** One per line, without comments. A line that ends with a backslash goes on. */
std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines(1);
  for (std::string_view line : split(text, '\n')) {
    line = line.substr(0, line.find('#'));
    while (!line.empty() && kBlanks.find(line.back()) != std::string_view::npos) line.remove_suffix(1);
    const bool goes_on = line.ends_with('\\');
    if (goes_on) line.remove_suffix(1);
    lines.back().append(line);
    goes_on ? void(lines.back() += ' ') : void(lines.emplace_back());
  }
  return lines;
}

bool is_default(std::string_view name) { return to_lower(name) == "default"; }

class Parser {
 public:
  explicit Parser(const ConfigFiles& files) : files_(files) {}

  ConfigDefinitions parse() {
    read("slurm.conf");
    return std::move(found_);
  }

 private:
  void read(std::string_view name) {
    if (name.starts_with(kSlurmFolder)) name.remove_prefix(kSlurmFolder.size());
    const auto file = files_.find(std::string(name));
    if (file == files_.end()) {
      found_.is_whole = false;
      return;
    }
    if (!seen_.insert(file->first).second) return;
    for (const std::string& line : lines_of(file->second)) read_line(trim(line));
  }

  void read_line(std::string_view line) {
    constexpr std::string_view kInclude = "include";
    if (to_lower(line.substr(0, kInclude.size())) == kInclude && line.size() > kInclude.size() &&
        kBlanks.find(line[kInclude.size()]) != std::string_view::npos) {
      return read(first_word(line.substr(kInclude.size())));
    }
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) return;
    const std::string key = to_lower(trim(line.substr(0, equals)));
    const std::string_view value = first_word(line.substr(equals + 1));
    if (key == "reconfigflags") {
      found_.keeps_partitions = to_lower(value).find("keeppartinfo") != std::string::npos;
    } else if (key == "partitionname" && !is_default(value)) {
      found_.partitions.emplace(value);
    } else if (key == "nodename" && !is_default(value)) {
      const Result<std::vector<std::string>> names = expand_hostlist(value);
      if (names.ok()) found_.nodes.insert(names->begin(), names->end());
    }
  }

  const ConfigFiles& files_;
  std::set<std::string> seen_;
  ConfigDefinitions found_;
};

std::set<std::string> without(const std::set<std::string>& all, const std::set<std::string>& others) {
  std::set<std::string> rest;
  std::set_difference(all.begin(), all.end(), others.begin(), others.end(), std::inserter(rest, rest.end()));
  return rest;
}

std::string hostlist_of(const std::set<std::string>& names) {
  return shorten(compress_hostlist({names.begin(), names.end()}));
}

/** Those of the job that are removed. */
std::set<std::string> removed_nodes(const ConfigRemovals& removals, const SlurmJobNeeds& job) {
  std::set<std::string> found;
  if (removals.nodes.empty()) return found;
  for (const std::string* hostlist : {&job.nodes, &job.required_nodes}) {
    const Result<std::vector<std::string>> names = expand_hostlist(*hostlist);
    if (!names.ok()) continue;
    for (const std::string& name : *names) {
      if (removals.nodes.contains(name)) found.insert(name);
    }
  }
  return found;
}

std::string count_of(std::size_t jobs) { return std::to_string(jobs) + (jobs == 1 ? " job" : " jobs"); }

void append(std::string& list, const std::string& item) { list.append(list.empty() ? "" : ", ").append(item); }

}  // namespace

ConfigDefinitions parse_definitions(const ConfigFiles& files) { return Parser(files).parse(); }

bool ConfigRemovals::removes_partition(const std::string& name) const {
  if (wanted.keeps_partitions || name.empty() || wanted.partitions.contains(name)) return false;
  return wanted.is_whole || partitions.contains(name);
}

ConfigRemovals find_removals(const ConfigFiles& live, const ConfigFiles& wanted) {
  const ConfigDefinitions now = parse_definitions(live);
  ConfigRemovals removals{.wanted = parse_definitions(wanted), .partitions = {}, .nodes = {}};
  removals.nodes = without(now.nodes, removals.wanted.nodes);
  if (!removals.wanted.keeps_partitions) removals.partitions = without(now.partitions, removals.wanted.partitions);
  return removals;
}

std::string describe_lost_jobs(const ConfigRemovals& removals, const std::vector<SlurmJobNeeds>& jobs) {
  std::map<std::string, std::size_t> of_partitions;
  std::set<std::string> nodes;
  std::size_t on_nodes = 0;
  for (const SlurmJobNeeds& job : jobs) {
    for (const std::string_view name : split(job.partitions, ',')) {
      const std::string partition(name);
      if (removals.removes_partition(partition)) of_partitions[partition]++;
    }
    const std::set<std::string> removed = removed_nodes(removals, job);
    nodes.insert(removed.begin(), removed.end());
    on_nodes += removed.empty() ? 0 : 1;
  }
  std::string lost, cancel;
  for (const auto& [partition, count] : of_partitions) {
    append(lost, "partition " + partition + " is removed and has " + count_of(count));
    append(cancel, "scancel --partition=" + partition);
  }
  if (!nodes.empty()) {
    const std::string names = hostlist_of(nodes);
    append(lost, (nodes.size() == 1 ? "node " + names + " is" : "nodes " + names + " are") + " removed and " +
                     (nodes.size() == 1 ? "has " : "have ") + count_of(on_nodes));
    append(cancel, "scancel --nodelist=" + names);
  }
  if (lost.empty()) return lost;
  return "slurm.conf: " + lost +
         ": slurmctld would end them. It is applied when they have ended, or are cancelled: " + cancel;
}

std::string describe_removals(const ConfigRemovals& removals) {
  std::string list;
  for (const std::string& name : removals.partitions) append(list, "partition " + name);
  if (!removals.nodes.empty()) {
    append(list, (removals.nodes.size() == 1 ? "node " : "nodes ") + hostlist_of(removals.nodes));
  }
  return list;
}

}  // namespace slurmk8s
