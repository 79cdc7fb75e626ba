// SPDX-License-Identifier: GPL-2.0-or-later
// Endpoint, by libcurl's own parser of URLs: what we check is what it connects to.
#include "http/endpoint.hpp"

#include <curl/curl.h>

#include <algorithm>
#include <memory>

namespace slurmk8s::http {
namespace {

struct UrlDeleter {
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};

std::string url_part(CURLU* url, CURLUPart part, unsigned flags = 0) {
  char* text = nullptr;
  if (curl_url_get(url, part, &text, flags) != CURLUE_OK) return {};
  std::string copy(text);
  curl_free(text);
  return copy;
}

bool is_loopback(const std::string& host) {
  const bool is_number = host.find_first_not_of("0123456789.") == std::string::npos;  // not 127.example.org
  return host == "localhost" || host == "[::1]" || (is_number && host.starts_with("127."));
}

}  // namespace

Result<Endpoint> parse_endpoint(const std::string& base_url, const std::string& tls_server_name) {
  const auto bad = [&](const char* why) { return Error(Errc::invalid, "server " + base_url + ": " + why); };
  // libcurl takes an empty query for none, and a text for its beginning, up to a zero byte.
  const bool is_plain =
      std::none_of(base_url.begin(), base_url.end(), [](unsigned char c) { return c <= ' ' || c == '?' || c == '#'; });
  if (!is_plain) return bad("only https://host:port/path is understood");
  const std::unique_ptr<CURLU, UrlDeleter> url(curl_url());
  if (!url || curl_url_set(url.get(), CURLUPART_URL, base_url.c_str(), 0) != CURLUE_OK) return bad("not a URL");
  for (const CURLUPart part : {CURLUPART_USER, CURLUPART_PASSWORD}) {
    if (!url_part(url.get(), part).empty()) return bad("only https://host:port/path is understood");
  }
  const std::string scheme = url_part(url.get(), CURLUPART_SCHEME);
  const std::string host = url_part(url.get(), CURLUPART_HOST);
  if (scheme != "https" && !(scheme == "http" && is_loopback(host))) return bad("not https");

  Endpoint endpoint{base_url, "", scheme == "https"};
  if (!tls_server_name.empty()) {
    endpoint.connect_to = "::" + host + ":" + url_part(url.get(), CURLUPART_PORT, CURLU_DEFAULT_PORT);
    if (curl_url_set(url.get(), CURLUPART_HOST, tls_server_name.c_str(), 0) != CURLUE_OK) {
      return bad("the name to verify is not a host name");
    }
    endpoint.url = url_part(url.get(), CURLUPART_URL);
  }
  while (endpoint.url.ends_with('/')) endpoint.url.pop_back();
  return endpoint;
}

}  // namespace slurmk8s::http
