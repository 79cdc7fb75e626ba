// SPDX-License-Identifier: GPL-2.0-or-later
// Resource: paths of the API server.
#include "kube/resource.hpp"

namespace slurmk8s::kube {

namespace {

bool is_unreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
         c == '_' || c == '~';
}

void append_segment(std::string& path, std::string_view segment) {
  if (segment.empty()) return;
  path.append("/").append(escape(segment));
}

}  // namespace

std::string escape(std::string_view text) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string escaped;
  escaped.reserve(text.size());
  for (const char c : text) {
    if (is_unreserved(c)) {
      escaped += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    escaped += '%';
    escaped += kDigits[byte >> 4];
    escaped += kDigits[byte & 15];
  }
  return escaped;
}

std::string resource_path(const Resource& resource, std::string_view name_space, std::string_view name,
                          std::string_view subresource) {
  const bool is_core = resource.api.find('/') == std::string_view::npos;
  std::string path(is_core ? "/api/" : "/apis/");
  path.append(resource.api);
  if (!name_space.empty()) {
    path.append("/namespaces");
    append_segment(path, name_space);
  }
  append_segment(path, resource.plural);
  append_segment(path, name);
  append_segment(path, subresource);
  return path;
}

}  // namespace slurmk8s::kube
