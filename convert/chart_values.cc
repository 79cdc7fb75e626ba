// SPDX-License-Identifier: GPL-2.0-or-later
// Walks the values, and looks each key up in a table.
#include "convert/chart_values.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "base/strings.hpp"
#include "convert/json_paths.hpp"
#include "convert/sssd.hpp"
#include "nodeset/names.hpp"

namespace slurmk8s {
namespace {

using Kind = ConvertNote::Kind;
using Fields = std::span<const SlinkyChartField>;

/** Keys with rules of their own. */
constexpr std::array<std::string_view, 5> kRuled{"nodesets", "nodesetDefaults", "loginsets", "loginsetDefaults",
                                                 "partitions"};

/** A kind of scripts, and the parameter of slurm.conf that names each of them. */
struct ScriptKind {
  std::string_view texts;  ///< scripts by name
  std::string_view refs;   ///< ConfigMaps that have scripts
  std::string_view parameter;
};
constexpr ScriptKind kScripts[] = {
    {"prologScripts", "prologScriptRefs", "Prolog"},
    {"epilogScripts", "epilogScriptRefs", "Epilog"},
    {"prologSlurmctldScripts", "prologSlurmctldScriptRefs", "PrologSlurmctld"},
    {"epilogSlurmctldScripts", "epilogSlurmctldScriptRefs", "EpilogSlurmctld"},
};

template <typename List>
bool contains(const List& list, std::string_view key) {
  return std::find(list.begin(), list.end(), key) != list.end();
}

/** Converts the members of one object by a table. */
class TableWalk {
 public:
  /** `root`: the object's path, for notes, with its dot; `values`: it, for switches. */
  TableWalk(Fields fields, std::string root, Json values, Conversion& conversion)
      : fields_(fields), root_(std::move(root)), values_(std::move(values)), conversion_(conversion) {}

  void field(const Json& value, const std::string& parent, std::string_view key) {
    const std::string path = member_path(parent, key);
    const bool has_dot = key.find('.') != std::string_view::npos;  // such a key is not a path of the table
    if (const SlinkyChartField* row = has_dot ? nullptr : find(path)) return known(value, path, *row);
    if (!has_dot && has_rows_below(path)) {
      if (!value.is_object() && !value.is_null()) return note(Kind::lost, path, shown(value) + ": must be an object");
      return value.each([&](std::string_view member, const Json& below) { field(below, path, member); });
    }
    const SlinkyChartField* rest = has_dot ? nullptr : find(parent + ".*");
    if (!rest) return note(Kind::lost, path, kUnknownField);
    if (is_blank(value)) return;
    std::string target(rest->target.substr(0, rest->target.size() - 1));
    put(conversion_.values, target.append(key), value.clone());
  }

 private:
  void note(Kind kind, const std::string& path, const std::string& what) {
    conversion_.notes.push_back({kind, root_ + path, what});
  }

  const SlinkyChartField* find(std::string_view path) const {
    const auto row = std::ranges::find(fields_, path, &SlinkyChartField::path);
    return row == fields_.end() ? nullptr : &*row;
  }

  bool has_rows_below(const std::string& path) const {
    return std::ranges::any_of(fields_, [&](const auto& row) { return row.path.starts_with(path + "."); });
  }

  /** The chart's own default, false or 0 are not. */
  static bool is_blank(const Json& value) { return is_empty(value) && !value.is_boolean() && !value.is_number(); }

  void known(const Json& value, const std::string& path, const SlinkyChartField& row) {
    if (is_blank(value)) return;
    if (!row.when.empty() && is_empty(find_member(values_, row.when))) return;
    if (row.target.empty()) return left_out(value, path, row);
    // In Slinky's chart the text replaces the map; in ours both count.
    constexpr std::string_view kMap = "extraConfMap";
    if (path.ends_with(kMap) && !is_empty(find_member(values_, path.substr(0, path.size() - 3)))) {
      return note(Kind::unneeded, path, "without effect beside extraConf");
    }
    if (row.target == "metrics.paths") return paths(value);
    put(conversion_.values, row.target, value.clone());
  }

  void left_out(const Json& value, const std::string& path, const SlinkyChartField& row) {
    const std::string prefix = value.is_object() || value.is_array() ? "" : shown(value) + ": ";
    const bool harmless = row.harmless.empty() ? is_empty(value) : shown(value) == row.harmless;
    if (!row.is_lost) return note(Kind::unneeded, path, std::string(row.note));
    if (harmless) return note(Kind::unneeded, path, prefix + "as without it");
    note(Kind::lost, path, prefix + std::string(row.note));
  }

  /** Endpoints of a ServiceMonitor: [{path: PATH}]. */
  void paths(const Json& endpoints) const {
    Json all = Json::array();
    endpoints.each([&](const Json& endpoint) { all.push(endpoint["path"].clone()); });
    put(conversion_.values, "metrics.paths", all);
  }

  const Fields fields_;
  const std::string root_;
  const Json values_;
  Conversion& conversion_;
};

/** An object in the values, which is made; `ours` is an entry of our chart's defaults, which null takes away. */
Json entries(Conversion& conversion, std::string_view key, std::string_view ours) {
  if (conversion.values[key].is_null()) conversion.values.set(key, Json::object().set(ours, Json()));
  return conversion.values[key];
}

/** Its config, in one text. */
void convert_partition(const std::string& name, const Json& partition, Conversion& conversion) {
  const std::string where = "partitions." + name;
  Json result = Json::object();
  partition.each([&](std::string_view key, const Json& value) {
    if (value.is_null() || key == "config" || key == "configMap") return;
    if (key == "enabled" || key == "nodesets") return void(result.set(key, value.clone()));
    conversion.notes.push_back({Kind::lost, member_path(where, key), kUnknownField});
  });
  const bool has_config = !is_empty(partition["config"]);
  const std::string config = has_config ? shown(partition["config"]) : join_parameters(partition["configMap"]);
  if (!config.empty()) result.set("config", config);
  if (has_config && !is_empty(partition["configMap"])) {
    conversion.notes.push_back({Kind::unneeded, where + ".configMap", "without effect beside config"});
  }
  entries(conversion, "partitions", "main").set(name, result);
}

/** Users of login pods: sssd.conf becomes nslcd.conf. */
void convert_directory(const Json& sssd, bool has_login, Conversion& conversion) {
  if (is_empty(sssd)) return;
  if (!has_login) return conversion.notes.push_back({Kind::unneeded, "sssd", "there are no login pods"});
  sssd.each([&](std::string_view key, const Json& value) {
    if (key != "conf" && key != "secretRef" && !is_empty(value)) {
      conversion.notes.push_back({Kind::lost, member_path("sssd", key), kUnknownField});
    }
  });
  const std::string secret(sssd.at({"secretRef", "name"}).text());
  if (!secret.empty()) {
    return conversion.notes.push_back(
        {Kind::missing, "sssd.secretRef",
         secret + ": write sssd.conf of this Secret into `sssd.conf`, and convert again"});
  }
  NslcdConf nslcd = convert_sssd(sssd["conf"].text());
  for (ConvertNote& note : nslcd.notes) conversion.notes.push_back(std::move(note));
  if (!nslcd.text.empty()) put(conversion.values, "login.nslcd.conf", Json::string(nslcd.text));
}

/** Keys that two sets have with other values: "replicas, service"; or that there is none. */
std::string differing_keys(const Json& set, const Json& other) {
  std::string keys;
  const auto add = [&](std::string_view key) {
    if (key != "enabled" && !set[key].equals(other[key])) keys.append(keys.empty() ? "" : ", ").append(key);
  };
  set.each([&](std::string_view key, const Json&) { add(key); });
  other.each([&](std::string_view key, const Json&) { set.has(key) ? void() : add(key); });
  return keys.empty() ? "none" : keys;
}

/** Our chart has one set of login pods: the first that is `enabled`. */
void convert_login_sets(const Json& values, Conversion& conversion) {
  std::string taken;
  Json of_taken;
  values["loginsets"].each([&](std::string_view name, const Json& own) {
    const std::string where = "loginsets." + std::string(name);
    const Json set = merge_patch(values["loginsetDefaults"].is_object() ? values["loginsetDefaults"] : Json::object(),
                                 own.is_object() ? own : Json::object());
    if (!set["enabled"].boolean_or(true)) {
      return conversion.notes.push_back({Kind::unneeded, where + ".enabled", "false: there are no login pods of it"});
    }
    if (!taken.empty()) {
      return conversion.notes.push_back({Kind::lost, where,
                                         "the chart has one set of login pods, and `login` is " + taken +
                                             "; other values than that one's: " + differing_keys(set, of_taken)});
    }
    taken = where;
    of_taken = set.clone();
    put(conversion.values, "login.enabled", Json::boolean(true));
    TableWalk walk(slinky_login_fields(), where + ".", set, conversion);
    set.each([&](std::string_view key, const Json& value) { walk.field(value, "", key); });
    if (set["extraSshdConfig"].text().find("sss_ssh_authorizedkeys") != std::string_view::npos) {
      conversion.notes.push_back(
          {Kind::missing, where + ".extraSshdConfig", "remove sss_ssh_authorizedkeys: the image has no SSSD"});
    }
  });
  convert_directory(values["sssd"], !taken.empty(), conversion);
}

/** Slinky's default has the namespace in it, which values do not tell; of another name slurmdbd has another cluster. */
void convert_cluster_name(const Json& values, Conversion& conversion) {
  if (!is_empty(values["clusterName"]) || is_empty(find_member(values, "accounting.enabled"))) return;
  conversion.notes.push_back({Kind::missing, "clusterName",
                              "Slinky's default is NAMESPACE_RELEASE, ours RELEASE: with the former name accounts and "
                              "usage stay those of this cluster"});
}

/** A name that no other file has: two kinds of scripts may have one of the same name. */
std::string free_name(const Json& files, std::string_view name, std::string_view parameter) {
  std::string own(name);
  while (!files[own].is_null()) own.insert(0, to_lower(parameter) + "-");
  return own;
}

/** slurmctld takes the names of its own scripts as they are; slurmd looks for Prolog and Epilog beside slurm.conf. */
std::string script_path(std::string_view parameter, const std::string& name) {
  return (parameter.ends_with("Slurmctld") ? "/etc/slurm/" : "") + name;
}

/** Each becomes a file of /etc/slurm, and a line of slurm.conf that names it. */
void convert_scripts(const Json& values, std::string_view key, std::string_view parameter, Conversion& conversion) {
  std::string lines;
  Json files = conversion.values["configFiles"];
  if (files.is_null()) files = Json::object();
  values[key].each([&](std::string_view name, const Json& text) {
    const std::string file = free_name(files, name, parameter);
    files.set(file, text.clone());
    lines += (lines.empty() ? "" : "\n") + std::string(parameter) + "=" + script_path(parameter, file);
  });
  if (lines.empty()) return;
  conversion.values.set("configFiles", files);
  const std::string before(conversion.values.at({"controller", "extraConf"}).text());
  const std::string_view separator = before.empty() || before.ends_with('\n') ? "" : "\n";
  put(conversion.values, "controller.extraConf", Json::string(before + std::string(separator) + lines));
}

/** Adds {configMap: NAME} to configFilesFrom, once. */
void add_config_map(const std::string& name, const Json& values) {
  const Json entry = Json::object().set("configMap", name);
  bool is_there = false;
  values["configFilesFrom"].each([&](const Json& other) { is_there = is_there || other.equals(entry); });
  if (is_there) return;
  Json from = values["configFilesFrom"].is_null() ? Json::array() : values["configFilesFrom"];
  put(values, "configFilesFrom", from.push(entry));
}

/** ConfigMaps of scripts. slurm.conf must name their keys, which are not in the values. */
void convert_script_refs(const Json& values, const ScriptKind& kind, Conversion& conversion) {
  const std::string where(kind.refs);
  const Json& refs = values[kind.refs];
  if (!refs.is_array() && !is_empty(refs)) {
    return conversion.notes.push_back({Kind::lost, where, shown(refs) + ": must be a list"});
  }
  refs.each([&](const Json& ref) {
    const std::string name(ref["name"].text());
    if (name.empty()) return conversion.notes.push_back({Kind::lost, where, shown(ref) + ": must have a name"});
    add_config_map(name, conversion.values);
    conversion.notes.push_back({Kind::missing, where,
                                name + ": write " + std::string(kind.parameter) + "=" +
                                    script_path(kind.parameter, "KEY") +
                                    " for each key of this ConfigMap into controller.extraConf"});
  });
}

/** "r.example/slurmd:1" as {repository, tag}. */
Json image_of(const std::string& text) {
  Json image = Json::object();
  const std::size_t digest = text.find('@');
  const std::size_t colon = text.rfind(':');
  const bool has_tag = colon != std::string::npos && text.find('/', colon) == std::string::npos;
  const std::size_t end = digest != std::string::npos ? digest : has_tag ? colon : text.size();
  image.set("repository", std::string_view(text).substr(0, end));
  if (end < text.size()) image.set(digest != std::string::npos ? "digest" : "tag", text.substr(end + 1));
  return image;
}

}  // namespace

void convert_chart_values(const Json& values, Conversion& conversion) {
  TableWalk walk(slinky_chart_fields(), "", values, conversion);
  values.each([&](std::string_view key, const Json& value) {
    const bool is_script =
        std::ranges::any_of(kScripts, [&](const ScriptKind& kind) { return kind.texts == key || kind.refs == key; });
    if (!is_script && !contains(kRuled, key) && key != "sssd") walk.field(value, "", key);
  });
  // Slinky's chart always has slurmrestd; ours has it when it is asked for.
  if (!is_empty(values["restapi"]) && values["restapi"]["enabled"].is_null()) {
    put(conversion.values, "rest.enabled", Json::boolean(true));
  }
  for (const ScriptKind& kind : kScripts) {
    convert_scripts(values, kind.texts, kind.parameter, conversion);
    convert_script_refs(values, kind, conversion);
  }
  convert_login_sets(values, conversion);
  convert_cluster_name(values, conversion);
  // Where all of them are disabled, ours is not wanted either.
  if (!is_empty(values["nodesets"])) entries(conversion, "nodesets", "compute");
  values["partitions"].each([&](std::string_view name, const Json& partition) {
    convert_partition(std::string(name), partition, conversion);
  });
}

void add_values_entry(const Json& nodeset, Conversion& conversion) {
  Json entry = Json::object();
  nodeset["spec"].each([&](std::string_view key, const Json& value) {
    if (key != "template") entry.set(key, value.clone());
  });
  const std::string image(nodeset.at({"spec", "slurmd", "image"}).text());
  if (image.find("slinkyproject/") != std::string::npos) {
    entry["slurmd"].erase("image");
  } else if (!image.empty()) {
    entry["slurmd"].set("image", image_of(image));
  }
  const Json pod = nodeset.at({"spec", "template"});
  if (pod.has("metadata")) entry.set("metadata", pod["metadata"].clone());
  if (pod.has("spec")) entry.set("podSpec", pod["spec"].clone());
  entries(conversion, "nodesets", "compute").set(nodeset.at({"metadata", "name"}).text(), entry);
}

}  // namespace slurmk8s
