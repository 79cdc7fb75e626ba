// SPDX-License-Identifier: GPL-2.0-or-later
// The URL of an API server, as a kubeconfig or slurm-k8s.conf has it, and the name to verify on its second line.
#include "base/strings.hpp"
#include "fuzz/target.hpp"
#include "http/endpoint.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slurmk8s;
  const std::string text(as_text(data, size));
  const std::size_t line = text.find('\n');
  const std::string name = line == std::string::npos ? "" : text.substr(line + 1);
  const auto endpoint = http::parse_endpoint(text.substr(0, line), name);
  if (!endpoint.ok()) {
    require(!endpoint.error().message().empty(), "an error without words");
    return 0;
  }
  // libcurl is content with one slash.
  require(to_lower(endpoint->url.substr(0, 6)).starts_with(endpoint->tls ? "https:" : "http:"), "another scheme");
  require(!endpoint->url.ends_with('/'), "a slash at the end");
  require(endpoint->url.find_first_of("?#\n\r") == std::string::npos, "a user, a query or a fragment");
  return 0;
}
