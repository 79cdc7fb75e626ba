// SPDX-License-Identifier: GPL-2.0-or-later
// FNV-1a over the template in a fixed order.
#include "nodeset/template_hash.hpp"

#include <cstdint>
#include <map>

#include "base/strings.hpp"

namespace slurmk8s {
namespace {

constexpr std::string_view kVersion = "1-";

/** 64-bit FNV-1a: collisions are not a security concern. */
class Hash {
 public:
  void add(std::string_view text) {
    for (const char c : text) value_ = (value_ ^ static_cast<unsigned char>(c)) * 1099511628211u;
  }
  /** Members sorted by name: the API server and clients may order them differently. */
  void add(const Json& value) {
    if (value.is_object()) {
      std::map<std::string, Json> members;
      value.each([&](std::string_view key, const Json& member) { members.emplace(key, member); });
      add("{");
      for (const auto& [key, member] : members) {
        add(Json::string(key).dump() + ":");
        add(member);
      }
      add("}");
    } else if (value.is_array()) {
      add("[");
      value.each([&](const Json& element) {
        add(element);
        add(",");
      });
      add("]");
    } else {
      add(value.dump());
    }
  }
  std::string text() const { return format("%016llx", static_cast<unsigned long long>(value_)); }

 private:
  std::uint64_t value_ = 14695981039346656037u;
};

}  // namespace

std::string hash_template(const TemplateParts& parts) {
  Hash hash;
  for (const Json& part : {parts.pod_metadata, parts.pod_spec, parts.slurmd}) {
    hash.add(part);
    hash.add("\n");
  }
  hash.add(parts.node_definition);
  for (const Json& claim : parts.claims) hash.add("\n" + std::string(claim.at({"metadata", "name"}).text()));
  if (!parts.confinement.empty()) hash.add("\nconfinement " + parts.confinement);
  return std::string(kVersion) + hash.text();
}

std::string hash_text(std::string_view text) {
  Hash hash;
  hash.add(text);
  return hash.text();
}

std::string hash_revision(std::string_view text) { return std::string(kVersion) + hash_text(text); }

bool is_former_template(std::string_view made_from, std::string_view present) {
  return made_from.starts_with(kVersion) && present.starts_with(kVersion) && made_from != present;
}

}  // namespace slurmk8s
