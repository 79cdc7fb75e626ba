// SPDX-License-Identifier: GPL-2.0-or-later
// Convert: walks a NodeSet, and looks each field up in the table.
//
// Values of the chart use the second column of the table, so that a note names the path in the user's values.
#include "convert/convert.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/strings.hpp"
#include "nodeset/names.hpp"
#include "nodeset/nodeset.hpp"
#include "nodeset/pod_builder.hpp"
#include "convert/chart_values.hpp"
#include "convert/json_paths.hpp"
#include "convert/slinky_fields.hpp"

namespace slurmk8s {
namespace {

using Kind = ConvertNote::Kind;

constexpr std::string_view kOurVersion = "slurm-k8s.io/v1alpha1";
constexpr std::string_view kSlinkyVersion = "slinky.slurm.net/v1beta1";
constexpr std::string_view kSlinkyDomain = "slinky.slurm.net/";

/** Labels and annotations of the installer. */
constexpr std::array<std::string_view, 6> kOfInstallation{
    "app.kubernetes.io/managed-by", "helm.sh/chart",
    "meta.helm.sh/release-name",    "meta.helm.sh/release-namespace",
    "app.kubernetes.io/part-of",    "kubectl.kubernetes.io/last-applied-configuration"};

/** The names that build_pod() sets, from a pod that it builds. */
struct Reserved {
  std::set<std::string, std::less<>> env;
  std::set<std::string, std::less<>> metadata;  ///< labels and annotations
};

const Reserved& reserved() {
  static const Reserved kReserved = [] {
    NodeSet nodeset;
    nodeset.name = "n";
    nodeset.protects_busy = false;  // a template may have its annotations
    const Json pod = build_pod(nodeset, {.node = "n-0", .request = "r", .jobs = "1"}, Options());
    Reserved names;
    pod.at({"spec", "containers"})[std::size_t(0)]["env"].each(
        [&](const Json& variable) { names.env.emplace(variable["name"].text()); });
    for (const char* kind : {"labels", "annotations"}) {
      pod.at({"metadata", kind}).each([&](std::string_view key, const Json&) { names.metadata.emplace(key); });
    }
    return names;
  }();
  return kReserved;
}

/** Origin of a NodeSet. */
struct Origin {
  bool is_object;                     ///< false: an entry of the chart's values
  std::string root;                   ///< "nodeset NAME" or "nodesets.NAME"
  Json own;                           ///< of values: the entry without nodesetDefaults
  bool is_daemon_set;                 ///< scalingMode DaemonSet
  std::string hostname;               ///< of an object: template.spec.hostname, the prefix of Slurm's node names
  bool has_extra_conf = false;        ///< of values: extraConfMap has no effect
  bool has_partition_config = false;  ///< and partition.configMap beside partition.config
};

/** Conversion of one NodeSet. */
class Walk {
 public:
  Walk(Origin origin, Conversion& conversion) : origin_(std::move(origin)), conversion_(conversion) {}

  /** Converts all members of `value`, at `path` of the source. */
  void members(const Json& value, const std::string& path) {
    value.each([&](std::string_view key, const Json& member) { field(member, path, key); });
  }

  Json result() const { return result_; }

  void note(Kind kind, const std::string& path, const std::string& what) {
    ConvertNote note{kind, prefix(path) + path, what};
    const auto same = [&](const ConvertNote& other) { return other.where == note.where && other.what == note.what; };
    if (std::none_of(conversion_.notes.begin(), conversion_.notes.end(),
                     same)) {  // nodesetDefaults apply to many NodeSets
      conversion_.notes.push_back(std::move(note));
    }
  }

  void set_target(std::string_view target, Json value) { put(result_, target, std::move(value)); }

 private:
  std::string_view column(const SlinkyField& row) const { return origin_.is_object ? row.object : row.value; }

  std::string prefix(const std::string& path) const {
    if (origin_.is_object) return origin_.root + ": ";
    Json at = origin_.own;
    for (const std::string_view key : split(std::string_view(path).substr(0, path.find('[')), '.')) {
      if (!at.has(key)) return "nodesetDefaults.";
      at = at[key];
    }
    return origin_.root + ".";
  }

  const SlinkyField* find(std::string_view path) const {
    for (const SlinkyField& row : slinky_fields()) {
      if (!path.empty() && column(row) == path) return &row;
    }
    return nullptr;
  }

  bool has_rows_below(const std::string& path) const {
    const auto is_below = [&](const SlinkyField& row) { return column(row).starts_with(path + "."); };
    return std::ranges::any_of(slinky_fields(), is_below);
  }

  void field(const Json& value, const std::string& parent, std::string_view key) {
    const std::string path = member_path(parent, key);
    const bool has_dot = key.find('.') != std::string_view::npos;  // such a key is not a path of the table
    if (const SlinkyField* row = has_dot ? nullptr : find(path)) return known(value, path, *row);
    if (!has_dot && has_rows_below(path)) {
      if (value.is_object()) return members(value, path);
      if (!value.is_null()) note(Kind::lost, path, shown(value) + ": must be an object");
      return;
    }
    if (const SlinkyField* row = has_dot ? nullptr : find(parent + ".*")) {
      std::string target(row->target.substr(0, row->target.size() - 1));
      return set_target(target.append(key), value.clone());
    }
    note(Kind::lost, path, kUnknownField);
  }

  void known(const Json& value, const std::string& path, const SlinkyField& row) {
    if (value.is_null()) return;
    if (path == "metadata.name") return name(value, path);
    if (path == "spec.template.spec.hostname") return hostname(value, path);
    if (row.target == "spec.scalingMode") return scaling_mode(value, path);
    if (row.target == "spec.replicas" && origin_.is_daemon_set) {
      return note(Kind::unneeded, path, "without effect with scalingMode DaemonSet");
    }
    if (row.target.empty()) return left_out(value, path, row);
    if (row.target.ends_with(".labels") || row.target.ends_with(".annotations")) return strings(value, path, row);
    if (row.target == "spec.slurmd.image") return image(value, path);
    if (row.target == "spec.slurmd.env") return set_target(row.target, env(value, path));
    if (row.target == "spec.template.spec.containers") return set_target(row.target, containers(value, path));
    if (row.target == "spec.extraConf") return extra_conf(value, path);
    if (row.target == "spec.partition.config") return partition_config(value, path);
    set_target(row.target, value.clone());
  }

  void left_out(const Json& value, const std::string& path, const SlinkyField& row) {
    const bool harmless = row.harmless.empty() ? is_empty(value) : shown(value) == row.harmless;
    const bool off = row.harmless == kSlinkyDisabled && is_empty(value["enabled"]);
    const bool lost = row.is_lost && !harmless && !off;
    const std::string prefix = value.is_object() || value.is_array() ? "" : shown(value) + ": ";
    if (!row.is_lost) return note(Kind::unneeded, path, std::string(row.note));
    if (!lost) return note(Kind::unneeded, path, prefix + "as without it");
    note(Kind::lost, path, prefix + std::string(row.note));
  }

  void name(const Json& value, const std::string& path) {
    std::string name(origin_.hostname.substr(0, origin_.hostname.find_last_not_of('-') + 1));
    if (name.empty()) name = value.text();
    if (name != value.text()) {
      note(Kind::unneeded, path, shown(value) + ": the NodeSet is named " + name + ", as Slurm's nodes are");
    }
    set_target("metadata.name", Json::string(name));
  }

  void scaling_mode(const Json& value, const std::string& path) {
    if (value.text() == "StatefulSet") return note(Kind::unneeded, path, "StatefulSet: as without it");
    if (value.text() == "DaemonSet") return set_target("spec.scalingMode", value);
    note(Kind::lost, path, shown(value) + ": must be StatefulSet or DaemonSet");
  }

  void hostname(const Json& value, const std::string& path) {
    if (value.text().ends_with('-')) return;  // it is in the name
    note(Kind::lost, path, "nodes are named " + shown(value) + "-0, not " + shown(value) + "0");
  }

  /** Labels or annotations. */
  void strings(const Json& value, const std::string& path, const SlinkyField& row) {
    if (!value.is_object()) return note(Kind::lost, path, shown(value) + ": must be an object");
    const bool of_pod = row.target.starts_with("spec.");
    Json kept = Json::object();
    value.each([&](std::string_view key, const Json& text) {
      const bool installed = std::find(kOfInstallation.begin(), kOfInstallation.end(), key) != kOfInstallation.end();
      if (installed) {
        note(Kind::unneeded, member_path(path, key), "says how Slinky's object was installed");
      } else if (key.find(kSlinkyDomain) != std::string_view::npos) {
        note(Kind::lost, member_path(path, key), "only slurm-operator reads it");
      } else if (of_pod && reserved().metadata.contains(key)) {
        note(Kind::lost, member_path(path, key), std::string(kSetByUs));
      } else {
        kept.set(key, text);
      }
    });
    if (kept.size() > 0) set_target(row.target, kept);
  }

  void image(const Json& value, const std::string& path) {
    std::string text = shown(value);
    if (value.is_object()) {
      text = value["repository"].text();
      if (!is_empty(value["digest"])) {
        text += "@" + shown(value["digest"]);
      } else if (!is_empty(value["tag"])) {
        text += ":" + shown(value["tag"]);
      }
      value.each([&](std::string_view key, const Json&) {
        if (key == "repository" || key == "tag" || key == "digest") return;
        note(Kind::lost, member_path(path, key), kUnknownField);
      });
    }
    if (text.empty()) return;
    set_target("spec.slurmd.image", Json::string(text));
    const bool is_slinkys = text.find("slinkyproject/") != std::string::npos;
    if (is_slinkys && conversion_.as_values) {
      note(Kind::unneeded, path, text + ": the chart's own image: `images`");
    } else if (is_slinkys) {
      note(Kind::missing, path, text + ": an image of slurm-k8s, whose entrypoint knows which node it is");
    }
  }

  /** A container's variables without those of build_pod(). */
  Json env(const Json& value, const std::string& path) {
    if (!value.is_array()) return value.clone();
    Json kept = Json::array();
    for (std::size_t i = 0; i < value.size(); i++) {
      const Json variable = value[i];
      const std::string_view name = variable["name"].text();
      if (reserved().env.contains(name)) {
        note(Kind::lost, path + format("[%zu]", i), std::string(name) + ": slurm-k8s sets this variable");
      } else {
        kept.push(variable.clone());
      }
    }
    return kept;
  }

  Json containers(const Json& value, const std::string& path) {
    Json all = value.clone();
    for (std::size_t i = 0; i < all.size(); i++) {
      Json container = all[i];
      if (container["name"].text() != kSlurmdContainer || !container["env"].is_array()) continue;
      container.set("env", env(container["env"], path + format("[%zu].env", i)));
    }
    return all;
  }

  /** Why this word is not supported; empty: it is. */
  static std::string refusal(std::string_view word) {
    if (word.find('$') != std::string_view::npos) return "variables are not expanded";
    // CPUs as in the word: CoresPerSocket and ThreadsPerCore are checked later, with all words.
    const std::size_t equals = word.find('=');
    const std::optional<std::int64_t> number =
        equals == std::string_view::npos ? std::nullopt : parse_int(word.substr(equals + 1));
    const std::int64_t cpus = std::clamp<std::int64_t>(number.value_or(1), 1, 65000);
    Json object = Json::object();
    put(object, "metadata.name", Json::string("n"));
    put(object, "spec.slurmd.image", Json::string("i"));
    put(object, "spec.slurmd.resources.limits.cpu", Json::integer(cpus));
    put(object, "spec.slurmd.resources.limits.memory", Json::string("1Gi"));
    put(object, "spec.extraConf", Json::string(word));
    const Result<NodeSet> decoded = decode_nodeset(object);
    if (decoded.ok()) return {};
    const std::string& message = decoded.error().message();
    return message.substr(message.rfind(": ") + 2);
  }

  void extra_conf(const Json& value, const std::string& path) {
    const std::string text = value.is_object() ? join_parameters(value) : shown(value);
    if (text.empty()) return;
    if (path == "extraConfMap" && origin_.has_extra_conf) {
      return note(Kind::unneeded, path, "without effect beside extraConf");
    }
    std::string kept;
    for (const std::string_view line : split(text, '\n')) {
      for (const std::string_view word : split(line, ' ')) {
        if (trim(word).empty()) continue;
        const std::string why = refusal(word);
        if (!why.empty()) {
          note(Kind::lost, path, std::string(word) + ": " + why);
        } else {
          kept += (kept.empty() ? "" : " ") + std::string(word);
        }
      }
    }
    if (!kept.empty()) set_target("spec.extraConf", Json::string(kept));
  }

  void partition_config(const Json& value, const std::string& path) {
    const std::string text = value.is_object() ? join_parameters(value) : shown(value);
    if (text.empty()) return;
    if (path == "partition.configMap" && origin_.has_partition_config) {
      return note(Kind::unneeded, path, "without effect beside config");
    }
    std::string kept;
    for (const std::string_view word : split(text, ' ')) {
      if (word.empty()) continue;
      const auto parsed = parse_partition_options(word);
      if (!parsed.ok()) {
        note(Kind::lost, path, parsed.error().message());  // which begins with the word
      } else {
        kept += (kept.empty() ? "" : " ") + std::string(word);
      }
    }
    if (!kept.empty()) set_target("spec.partition.config", Json::string(kept));
  }

  const Origin origin_;
  Conversion& conversion_;
  Json result_ = Json::object();
};

/** The members in a readable order. */
Json ordered(const Json& object, std::initializer_list<std::string_view> first) {
  Json out = Json::object();
  for (const std::string_view key : first) {
    if (object.has(key)) out.set(key, object[key]);
  }
  object.each([&](std::string_view key, const Json& value) {
    if (!out.has(key)) out.set(key, value);
  });
  return out;
}

/** Errors of decode_nodeset(). Fills missing fields in to find the errors after them. Values need no image. */
std::vector<std::string> complaints(const Json& nodeset, bool needs_image) {
  static constexpr std::pair<std::string_view, std::string_view> kFillings[] = {
      {"spec.slurmd.image", "i"},
      {"spec.slurmd.resources.limits.cpu", "1"},
      {"spec.slurmd.resources.limits.memory", "1Ti"}};
  std::vector<std::string> all;
  const Json filled = nodeset.clone();
  if (!needs_image && nodeset.at({"spec", "slurmd", "image"}).is_null())
    put(filled, "spec.slurmd.image", Json::string("i"));
  for (std::size_t round = 0; round <= std::size(kFillings); round++) {
    const Result<NodeSet> decoded = decode_nodeset(filled);
    if (decoded.ok()) break;
    const std::string& message = decoded.error().message();  // "nodeset NAMESPACE/NAME: FIELD: …"
    std::string complaint = message.substr(message.find(": ") + 2);
    if (!all.empty() && all.back() == complaint) break;  // its parent has another type
    all.push_back(std::move(complaint));
    const auto is_it = [&](const auto& filling) {
      return all.back() == std::string(filling.first) + ": Required value";
    };
    const auto filling = std::ranges::find_if(kFillings, is_it);
    if (filling == std::end(kFillings)) break;
    put(filled, filling->first, Json::string(filling->second));
  }
  return all;
}

/** As an entry of the chart's values, which have no labels and annotations of NodeSets. */
void add_entry(const Json& nodeset, const std::string& where, Conversion& conversion) {
  for (const char* kind : {"labels", "annotations"}) {
    if (is_empty(nodeset.at({"metadata", kind}))) continue;
    conversion.notes.push_back(
        {Kind::lost, where, std::string("metadata.") + kind + ": NodeSets of the chart have none"});
  }
  add_values_entry(nodeset, conversion);
}

void add_nodeset(const Json& nodeset, const std::string& where, Conversion& conversion) {
  for (const std::string& complaint : complaints(nodeset, !conversion.as_values)) {
    conversion.notes.push_back({Kind::missing, where, complaint});
  }
  const Json metadata = nodeset["metadata"];
  const std::string_view space = conversion.as_values ? "" : metadata["namespace"].text();
  const std::string name = std::string(space) + "/" + std::string(metadata["name"].text());
  if (!conversion.names.insert(name).second) {
    conversion.notes.push_back({Kind::missing, where, "another name: there is already a NodeSet " + name});
  }
  if (conversion.as_values) return add_entry(nodeset, where, conversion);
  conversion.nodesets.push_back(nodeset);
}

void finish(const Walk& walk, const std::string& where, Conversion& conversion) {
  const Json result = walk.result();
  Json nodeset = Json::object();
  nodeset.set("apiVersion", kOurVersion).set("kind", "NodeSet");
  nodeset.set("metadata", ordered(result["metadata"], {"name", "namespace", "labels", "annotations"}));
  Json spec = ordered(result["spec"], {"replicas", "ordinalPadding", "slurmd", "template", "extraConf"});
  if (spec.has("slurmd")) spec.set("slurmd", ordered(spec["slurmd"], {"image", "imagePullPolicy"}));
  if (spec.has("template")) spec.set("template", ordered(spec["template"], {"metadata", "spec"}));
  nodeset.set("spec", std::move(spec));
  add_nodeset(nodeset, where, conversion);
}

void convert_object(const Json& object, Conversion& conversion) {
  const std::string where = "nodeset " + std::string(object.at({"metadata", "name"}).text());
  const bool is_daemon_set = object.at({"spec", "scalingMode"}).text() == "DaemonSet";
  const std::string hostname(object.at({"spec", "template", "spec", "hostname"}).text());
  Walk walk({.is_object = true, .root = where, .own = {}, .is_daemon_set = is_daemon_set, .hostname = hostname},
            conversion);
  Json rest = object.clone();
  rest.erase("apiVersion");
  rest.erase("kind");
  walk.members(ordered(rest, {"metadata"}), "");
  finish(walk, where, conversion);
}

/** Helm's merge of values over defaults: objects member by member, null removes, the rest replaces. */
Json over_defaults(const Json& defaults, const Json& entry) {
  return merge_patch(defaults.is_object() ? defaults : Json::object(), entry.is_object() ? entry : Json::object());
}

/** The namespace, and how images are pulled: in values of our chart they are values, too. */
void apply_pull_values(const Json& values, const Json& nodeset, Walk& walk) {
  if (!is_empty(values["namespaceOverride"])) walk.set_target("metadata.namespace", values["namespaceOverride"]);
  if (!is_empty(values["imagePullPolicy"]) && nodeset.at({"slurmd", "imagePullPolicy"}).is_null()) {
    walk.set_target("spec.slurmd.imagePullPolicy", values["imagePullPolicy"]);
  }
  Json secrets = Json::array();
  for (const Json& list : {nodeset.at({"podSpec", "imagePullSecrets"}), values["imagePullSecrets"]}) {
    list.each([&](const Json& secret) { secrets.push(secret.clone()); });
  }
  if (secrets.size() > 0) walk.set_target("spec.template.spec.imagePullSecrets", secrets);
}

void apply_priority_class(const Json& priority, const Json& nodeset, Walk& walk) {
  if (!priority["enabled"].boolean_or(false) || !is_empty(nodeset.at({"podSpec", "priorityClassName"}))) return;
  walk.set_target("spec.template.spec.priorityClassName", priority["name"]);
}

void convert_entry(const Json& values, const std::string& name, const Json& own, Conversion& conversion) {
  const Json nodeset = over_defaults(values["nodesetDefaults"], own);
  const std::string where = "nodesets." + name;
  if (!own.is_object() && !own.is_null()) {
    conversion.notes.push_back({Kind::lost, where, shown(own) + ": must be an object"});
    return;
  }
  if (!nodeset["enabled"].boolean_or(true)) {
    conversion.notes.push_back({Kind::unneeded, where + ".enabled", "false: this NodeSet is left out"});
    return;
  }
  const bool is_daemon_set = nodeset["scalingMode"].text() == "DaemonSet";
  const bool extra_conf = !is_empty(nodeset["extraConf"]);
  const bool config = !is_empty(nodeset.at({"partition", "config"}));
  Walk walk({.is_object = false,
             .root = where,
             .own = own,
             .is_daemon_set = is_daemon_set,
             .hostname = {},
             .has_extra_conf = extra_conf,
             .has_partition_config = config},
            conversion);
  walk.set_target("metadata.name", Json::string(name));
  walk.members(nodeset, "");
  if (!conversion.as_values) {
    apply_pull_values(values, nodeset, walk);
    apply_priority_class(values["priorityClass"], nodeset, walk);
  }
  finish(walk, where, conversion);
}

/** Values without a part in NodeSets, when only these are wanted. */
void note_other_values(const Json& values, Conversion& conversion) {
  values.each([&](std::string_view key, const Json& value) {
    if (key == "nodesets" || key == "nodesetDefaults") return;
    const auto is_key = [&](const SlinkyChartValue& known) { return known.name == key; };
    if (std::ranges::none_of(slinky_chart_values(), is_key)) {
      conversion.notes.push_back({Kind::lost, std::string(key), "no part of a NodeSet: see convert --values"});
    } else if (key == "priorityClass" && value["enabled"].boolean_or(false) && value["create"].boolean_or(false)) {
      conversion.notes.push_back({Kind::lost, "priorityClass.create", "the class must be there"});
    }
  });
}

void convert_values(const Json& values, Conversion& conversion) {
  values["nodesets"].each(
      [&](std::string_view name, const Json& entry) { convert_entry(values, std::string(name), entry, conversion); });
  if (!values["nodesets"].is_object() && !values["nodesets"].is_null()) {
    conversion.notes.push_back({Kind::lost, "nodesets", "must be an object: a list is of Slinky's chart before 1.0"});
  }
  if (conversion.as_values) return convert_chart_values(values, conversion);
  note_other_values(values, conversion);
}

/** "document 3 (Service slurm)". */
std::string describe(const Json& object, std::size_t number) {
  std::string text = format("document %zu", number);
  const std::string kind(object["kind"].text());
  const std::string name(object.at({"metadata", "name"}).text());
  if (!kind.empty()) text += " (" + kind + (name.empty() ? "" : " " + name) + ")";
  return text;
}

void convert_document(const Json& document, std::size_t number, Conversion& conversion) {
  const std::string_view version = document["apiVersion"].text();
  const std::string_view kind = document["kind"].text();
  if (document.is_null()) return;
  if (document["items"].is_array() && (kind == "List" || kind == "NodeSetList")) {
    document["items"].each([&](const Json& item) { convert_document(item, number, conversion); });
    return;
  }
  if (kind == "NodeSet" && version == kOurVersion) {
    conversion.recognized = true;
    return add_nodeset(document, describe(document, number), conversion);
  }
  if (kind == "NodeSet" && version == kSlinkyVersion) {
    conversion.recognized = true;
    return convert_object(document, conversion);
  }
  const bool has_nodesets = document.has("nodesets") || document.has("nodesetDefaults");
  const bool has_parts = conversion.as_values && (document.has("controller") || document.has("loginsets"));
  if (kind.empty() && version.empty() && (has_nodesets || has_parts)) {
    conversion.recognized = true;
    return convert_values(document, conversion);
  }
  std::string what = kind.empty() ? "neither an object nor values with nodesets" : "no NodeSet";
  if (kind == "NodeSet") what = std::string(version) + ": only " + std::string(kSlinkyVersion) + " is known";
  conversion.notes.push_back({Kind::lost, describe(document, number), what});
}

}  // namespace

const char* to_string(ConvertNote::Kind kind) {
  switch (kind) {
    case Kind::unneeded: return "not needed";
    case Kind::lost: return "not converted";
    case Kind::missing: return "to be completed";
  }
  return "unknown";
}

bool Conversion::is_partial() const {
  return std::any_of(notes.begin(), notes.end(), [](const ConvertNote& note) { return note.kind != Kind::unneeded; });
}

void convert_documents(const std::vector<Json>& documents, Conversion& conversion) {
  if (conversion.as_values && conversion.values.is_null()) conversion.values = Json::object();
  for (std::size_t i = 0; i < documents.size(); i++) convert_document(documents[i], i + 1, conversion);
}

}  // namespace slurmk8s
