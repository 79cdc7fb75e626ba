// SPDX-License-Identifier: GPL-2.0-or-later
// Finds, checks and replaces $(JOB_…).
#include "nodeset/job_placeholders.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/strings.hpp"
#include "nodeset/field_error.hpp"
#include "nodeset/names.hpp"

namespace slurmk8s {
namespace {

constexpr std::string_view kBegin = "$(JOB_";
constexpr std::size_t kMaxAnnotation = 1024;

struct Placeholder {
  std::string_view name;
  std::string (*value)(const SlurmJob& job);
};

constexpr std::array<Placeholder, 13> kPlaceholders{{
    {"$(JOB_ID)", [](const SlurmJob& job) { return std::to_string(job.id); }},
    {"$(JOB_NAME)", [](const SlurmJob& job) { return job.name; }},
    {"$(JOB_USER)", [](const SlurmJob& job) { return job.user; }},
    {"$(JOB_ACCOUNT)", [](const SlurmJob& job) { return job.account; }},
    {"$(JOB_PARTITION)", [](const SlurmJob& job) { return job.partitions; }},
    {"$(JOB_QOS)", [](const SlurmJob& job) { return job.qos; }},
    {"$(JOB_RESERVATION)", [](const SlurmJob& job) { return job.reservation; }},
    {"$(JOB_EXTRA)", [](const SlurmJob& job) { return job.extra; }},
    {"$(JOB_CONSTRAINT)", [](const SlurmJob& job) { return job.features; }},
    {"$(JOB_CPUS)", [](const SlurmJob& job) { return std::to_string(job.cpus); }},
    {"$(JOB_MEMORY)", [](const SlurmJob& job) { return job.memory; }},
    {"$(JOB_GRES)", [](const SlurmJob& job) { return job.gres; }},
    {"$(JOB_NODES)", [](const SlurmJob& job) { return std::to_string(job.nodes); }},
}};

std::string escape_label(std::string text) {
  for (char& c : text) {
    if (!is_alphanumeric(c) && c != '-' && c != '_' && c != '.') c = '_';
  }
  text.resize(std::min(text.size(), kMaxLabel));
  const auto begin = std::find_if(text.begin(), text.end(), is_alphanumeric);
  const auto end = std::find_if(text.rbegin(), text.rend(), is_alphanumeric).base();
  return begin < end ? std::string(begin, end) : std::string();
}

/** Cuts between two UTF-8 characters, and replaces invalid UTF-8, which the API server would refuse. */
std::string escape_annotation(std::string text) {
  std::string valid;
  for (std::size_t i = 0; i < text.size() && valid.size() < kMaxAnnotation;) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const std::size_t length = lead < 0x80 ? 1 : lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    const std::string character = text.substr(i, length);
    const bool is_control = lead < 0x20 || lead == 0x7f;
    const bool is_valid = character.size() == length && (length == 1 || Json::parse("\"" + character + "\"").ok());
    if (is_control) {
      valid += ' ';
    } else if (!is_valid) {
      valid += '?';
    } else if (valid.size() + length <= kMaxAnnotation) {
      valid += character;
    }
    i += is_valid ? length : 1;
  }
  return valid;
}

/** The placeholder at the beginning of `text`; null: unknown. */
const Placeholder* find_placeholder(std::string_view text) {
  const auto found = std::find_if(kPlaceholders.begin(), kPlaceholders.end(),
                                  [&](const Placeholder& p) { return text.starts_with(p.name); });
  return found == kPlaceholders.end() ? nullptr : &*found;
}

std::string expand(std::string_view text, const std::optional<SlurmJob>& job, bool is_label) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = std::min(text.find(kBegin, at), text.size());
    result += text.substr(at, begin - at);
    at = begin;
    if (begin == text.size()) break;
    const Placeholder* placeholder = find_placeholder(text.substr(begin));
    const std::size_t length = placeholder ? placeholder->name.size() : kBegin.size();
    if (!placeholder) result += kBegin;
    if (placeholder && job) result += is_label ? placeholder->value(*job) : escape_annotation(placeholder->value(*job));
    at += length;
  }
  return is_label ? escape_label(std::move(result)) : result;
}

bool has_placeholder(std::string_view text) { return text.find(kBegin) != std::string_view::npos; }

}  // namespace

Result<bool> find_placeholders(const Json& metadata, const std::string& field) {
  bool found = false;
  Status status;
  for (const char* part : {"labels", "annotations"}) {
    metadata[part].each([&](std::string_view key, const Json& value) {
      const std::string_view text = value.text();
      for (std::size_t at = text.find(kBegin); at != std::string_view::npos; at = text.find(kBegin, at + 1)) {
        found = true;
        if (find_placeholder(text.substr(at)) || !status) continue;
        const std::string_view rest = text.substr(at);
        const std::string name(rest.substr(0, std::min(rest.find(')') + 1, rest.size())));
        std::string names;
        for (const Placeholder& p : kPlaceholders) names += " " + std::string(p.name);
        status = invalid_field(field + "." + part + "." + std::string(key), name,
                               "unknown placeholder; supported placeholders:" + names);
      }
    });
  }
  SLURMK8S_CHECK(status);
  return found;
}

Json expand_placeholders(const Json& metadata, const std::optional<SlurmJob>& job) {
  Json result = metadata.clone();
  for (const char* part : {"labels", "annotations"}) {
    const bool is_label = std::string_view(part) == "labels";
    metadata[part].each([&](std::string_view key, const Json& value) {
      if (!has_placeholder(value.text())) return;
      Json members = result[part];
      members.set(key, expand(value.text(), job, is_label));
      result.set(part, std::move(members));
    });
  }
  return result;
}

}  // namespace slurmk8s
