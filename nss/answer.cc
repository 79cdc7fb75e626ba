// SPDX-License-Identifier: GPL-2.0-or-later
// Answers for glibc.
#include "nss/answer.hpp"

#include <arpa/inet.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "nss/control.h"
#include "nss/pieces.hpp"

namespace slurmk8s {
namespace {

std::string nowhere(int family) {
  const std::uint32_t address = htonl(SLURM_K8S_NOWHERE);
  std::string bytes(reinterpret_cast<const char*>(&address), sizeof address);
  if (family == AF_INET6) bytes.insert(0, std::string(10, '\0') + "\xff\xff");
  return bytes;
}

std::size_t size_of(int family) { return family == AF_INET6 ? sizeof(in6_addr) : sizeof(in_addr); }

nss_status too_small(const HostBuffer& buffer) {
  *buffer.error = ERANGE;
  *buffer.host_error = NETDB_INTERNAL;
  return NSS_STATUS_TRYAGAIN;
}

nss_status success(const HostBuffer& buffer) {
  *buffer.error = 0;
  *buffer.host_error = NETDB_SUCCESS;
  return NSS_STATUS_SUCCESS;
}

}  // namespace

std::vector<std::string> addresses_of(const std::vector<std::string>& values, int family) {
  std::vector<std::string> addresses;
  for (const std::string& value : values) {
    if (family == AF_UNSPEC || value.size() == size_of(family)) addresses.push_back(value);
  }
  if (addresses.empty()) addresses.push_back(nowhere(family == AF_INET6 ? AF_INET6 : AF_INET));
  return addresses;
}

nss_status fill_host(std::string_view name, int family, const std::vector<std::string>& addresses, hostent& host,
                     const HostBuffer& buffer) {
  Pieces pieces(buffer.data, buffer.size);
  char** const list = pieces.take<char*>(addresses.size() + 1);
  char** const aliases = pieces.take<char*>();
  char* const text = pieces.text(name);
  if (!list || !aliases || !text) return too_small(buffer);
  std::size_t count = 0;
  for (const std::string& address : addresses) {
    auto* const bytes = pieces.take<in_addr>(address.size() / sizeof(in_addr));
    if (!bytes) return too_small(buffer);
    std::memcpy(bytes, address.data(), address.size());
    list[count++] = reinterpret_cast<char*>(bytes);
  }
  list[count] = nullptr;
  *aliases = nullptr;
  host.h_name = text;
  host.h_aliases = aliases;
  host.h_addrtype = family;
  host.h_length = static_cast<int>(size_of(family));
  host.h_addr_list = list;
  return success(buffer);
}

nss_status fill_tuples(std::string_view name, const std::vector<std::string>& addresses, gaih_addrtuple*& list,
                       const HostBuffer& buffer) {
  Pieces pieces(buffer.data, buffer.size);
  char* const text = pieces.text(name);
  auto* const tuples = pieces.take<gaih_addrtuple>(addresses.size());
  if (!text || !tuples) return too_small(buffer);
  for (std::size_t i = 0; i < addresses.size(); i++) {
    tuples[i] = {};
    tuples[i].name = text;
    tuples[i].family = addresses[i].size() == sizeof(in6_addr) ? AF_INET6 : AF_INET;
    std::memcpy(tuples[i].addr, addresses[i].data(), addresses[i].size());
    tuples[i].next = i + 1 < addresses.size() ? &tuples[i + 1] : nullptr;
  }
  // glibc may pass the first one.
  if (list) {
    *list = tuples[0];
  } else {
    list = tuples;
  }
  return success(buffer);
}

nss_status not_found(const HostBuffer& buffer) {
  *buffer.error = ENOENT;
  *buffer.host_error = HOST_NOT_FOUND;
  return NSS_STATUS_NOTFOUND;
}

nss_status not_ours(const HostBuffer& buffer) {
  *buffer.error = EAGAIN;
  *buffer.host_error = NO_RECOVERY;
  return NSS_STATUS_UNAVAIL;
}

}  // namespace slurmk8s
