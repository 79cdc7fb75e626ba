// SPDX-License-Identifier: GPL-2.0-or-later
// Rules of users.
#include "bridge/identity.hpp"

#include <algorithm>
#include <cctype>
#include <limits>

#include "base/allocation_user.hpp"
#include "base/strings.hpp"
#include "json/yaml.hpp"
#include "nodeset/field_error.hpp"

namespace slurmk8s {
namespace {

constexpr std::string_view kKeys[] = {"namespace", "serviceAccount", "user", "uid",  "gid",
                                      "account",   "partition",      "qos",  "allow"};
constexpr std::string_view kPriorityKeys[] = {"name", "qos", "priority"};

template <std::size_t N>
bool is_one_of(std::string_view word, const std::string_view (&words)[N]) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

Result<std::uint32_t> parse_id(const Json& value, const std::string& path) {
  if (value.is_null()) return required_field(path);
  const std::int64_t id = value.integer_or(-1);
  // Slurm's NO_VAL and what is above it are no ids.
  if (id < 1 || id > 0xfffffff0) return invalid_field(path, value, "must be 1 to 4294967280: never root's");
  return static_cast<std::uint32_t>(id);
}

template <std::size_t N>
Status check_keys(const Json& entry, const std::string& path, const std::string_view (&keys)[N]) {
  Status valid;
  entry.each([&](std::string_view key, const Json&) {
    if (valid.ok() && !is_one_of(key, keys)) valid = forbidden_field(path + "." + std::string(key), "unknown field");
  });
  return valid;
}

Status parse_allow(const Json& allow, const std::string& path, std::set<std::string>& allowed) {
  Status valid;
  allow.each([&](const Json& word) {
    if (valid.ok() && !is_one_of(word.text(), kRestricted)) {
      valid = unsupported_field(path, word, {"account", "partition", "priority", "qos", "reservation"});
    }
    allowed.emplace(word.text());
  });
  return valid;
}

Result<IdentityRule> parse_rule(const Json& entry, const std::string& path) {
  SLURMK8S_CHECK(check_keys(entry, path, kKeys));
  IdentityRule rule;
  rule.name_space = entry["namespace"].text();
  if (rule.name_space.empty()) return required_field(path + ".namespace");
  rule.service_account = entry["serviceAccount"].text();
  rule.user = entry["user"].text();
  if (!entry["user"].is_null() && !is_user_name(rule.user)) {
    return invalid_field(path + ".user", entry["user"], "must be the name of a user");
  }
  rule.uid = SLURMK8S_TRY(parse_id(entry["uid"], path + ".uid"));
  rule.gid = SLURMK8S_TRY(parse_id(entry["gid"], path + ".gid"));
  rule.account = entry["account"].text();
  rule.partition = entry["partition"].text();
  rule.qos = entry["qos"].text();
  SLURMK8S_CHECK(parse_allow(entry["allow"], path + ".allow", rule.allow));
  return rule;
}

/** As Slurm compares names of users. */
std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

/** slurmctld believes the first of two names for a uid, and the first of two uids for a name. */
Status check_user(const IdentityRule& rule, const std::vector<IdentityRule>& before, const std::string& path) {
  if (rule.user.empty()) return {};
  const std::string name = lower(rule.user);
  if (name == "root") return invalid_field(path + ".user", std::string_view(rule.user), "must not be root");
  for (const IdentityRule& other : before) {
    if (other.user.empty() || (lower(other.user) == name) == (other.uid == rule.uid)) continue;
    return invalid_field(
        path + ".user", std::string_view(rule.user),
        format("uid %u: another rule has user %s with uid %u", rule.uid, other.user.c_str(), other.uid));
  }
  return {};
}

Result<std::optional<std::uint32_t>> parse_priority(const Json& value, const std::string& path) {
  if (value.is_null()) return std::optional<std::uint32_t>();
  constexpr std::int64_t kMax = std::numeric_limits<std::int32_t>::max();
  const std::int64_t priority = value.integer_or(-1);
  if (priority < 1 || priority > kMax) return invalid_field(path, value, "must be 1 to 2147483647");
  return std::optional(static_cast<std::uint32_t>(priority));
}

/** What the rule itself says of a restricted annotation; empty: nothing. */
std::string_view fixed_value(const IdentityRule& rule, std::string_view key) {
  if (key == "account") return rule.account;
  if (key == "partition") return rule.partition;
  if (key == "qos") return rule.qos;
  return {};
}

}  // namespace

Result<std::vector<IdentityRule>> parse_identity_rules(std::string_view yaml) {
  const std::vector<Json> documents = SLURMK8S_TRY(parse_yaml_documents(yaml));
  std::vector<IdentityRule> rules;
  if (documents.empty()) return rules;
  const Json users = documents.front()["users"];
  for (std::size_t i = 0; i < users.size(); ++i) {
    const std::string path = format("users[%zu]", i);
    const IdentityRule rule = SLURMK8S_TRY(parse_rule(users[i], path));
    SLURMK8S_CHECK(check_user(rule, rules, path));
    rules.push_back(rule);
  }
  return rules;
}

Result<PriorityRules> parse_priority_rules(std::string_view yaml) {
  const std::vector<Json> documents = SLURMK8S_TRY(parse_yaml_documents(yaml));
  PriorityRules rules;
  if (documents.empty()) return rules;
  const Json classes = documents.front()["priorityClasses"];
  for (std::size_t i = 0; i < classes.size(); ++i) {
    const std::string path = format("priorityClasses[%zu]", i);
    const Json entry = classes[i];
    SLURMK8S_CHECK(check_keys(entry, path, kPriorityKeys));
    const std::string name(entry["name"].text());
    if (name.empty()) return required_field(path + ".name");
    PriorityRule rule{std::string(entry["qos"].text()), {}};
    rule.priority = SLURMK8S_TRY(parse_priority(entry["priority"], path + ".priority"));
    if (rule.qos.empty() && !rule.priority) return required_field(path + ".qos");
    if (!rules.emplace(name, rule).second) return invalid_field(path + ".name", entry["name"], "is there twice");
  }
  return rules;
}

void apply_priority_class(const PriorityRules& rules, const WorkloadPod& pod, IdentityRule& identity) {
  const auto rule = rules.find(pod.priority_class);
  if (rule == rules.end()) return;
  if (!rule->second.qos.empty()) identity.qos = rule->second.qos;
  identity.priority = rule->second.priority;
}

Result<IdentityRule> find_identity(const std::vector<IdentityRule>& rules, const WorkloadPod& pod,
                                   const JobAnnotations& annotations) {
  const auto rule = std::find_if(rules.begin(), rules.end(), [&](const IdentityRule& one) {
    return (one.name_space == "*" || one.name_space == pod.name_space) &&
           (one.service_account.empty() || one.service_account == pod.service_account);
  });
  if (rule == rules.end()) {
    return Error(Errc::forbidden, "no rule of bridge.users has namespace " + pod.name_space + " and service account " +
                                      pod.service_account);
  }
  for (const auto& [key, value] : annotations) {
    const bool is_ids = key == "user-id" || key == "group-id";
    const std::string own = key == "user-id" ? std::to_string(rule->uid) : std::to_string(rule->gid);
    const bool same = is_ids ? value == own : value == fixed_value(*rule, key);
    const bool restricted = is_ids || is_one_of(key, kRestricted);
    if (!restricted || same || rule->allow.contains(key)) continue;
    return Error(Errc::forbidden, format("annotation %s: Forbidden: the namespace's rule of bridge.users does not "
                                         "allow \"%s\"",
                                         key.c_str(), value.c_str()));
  }
  return *rule;
}

}  // namespace slurmk8s
