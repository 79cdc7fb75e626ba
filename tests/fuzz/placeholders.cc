// SPDX-License-Identifier: GPL-2.0-or-later
// Placeholders are refused or replaced, whatever a user has called the job: labels stay valid. The input is
// {"metadata": …, "job": {"name": …}}.
#include <algorithm>
#include <cctype>

#include "base/strings.hpp"
#include "fuzz/target.hpp"
#include "nodeset/job_placeholders.hpp"

namespace {

using namespace slurmk8s;

bool is_label(std::string_view text) {
  const auto is_end = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  const auto fits = [&](char c) { return is_end(c) || c == '-' || c == '_' || c == '.'; };
  if (text.empty()) return true;
  return text.size() <= 63 && is_end(text.front()) && is_end(text.back()) &&
         std::all_of(text.begin(), text.end(), fits);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slurmk8s;
  const auto input = Json::parse(as_text(data, size));
  if (!input.ok()) return 0;
  const Json metadata = (*input)["metadata"];
  const auto found = find_placeholders(metadata, "spec.template.metadata");
  if (!found.ok()) {
    require(found.error().message().find("spec.template.metadata") != std::string::npos, "an error without the field");
    return 0;
  }
  SlurmJob job;
  const Json given = (*input)["job"];
  job.name = given["name"].text();
  job.user = given["user"].text();
  job.account = given["account"].text();
  job.extra = given["extra"].text();
  job.gres = given["gres"].text();
  const Json expanded = expand_placeholders(metadata, job);
  expand_placeholders(metadata, std::nullopt);
  require(*found || expanded.equals(metadata), "something else was replaced");
  metadata["labels"].each([&](std::string_view key, const Json& value) {
    const bool replaces = value.text().find("$(JOB_") == 0 && value.text().find(')') + 1 == value.text().size();
    if (replaces) require(is_label(expanded["labels"][key].text()), "a value that no label can have");
  });
  return 0;
}
