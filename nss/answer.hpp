// SPDX-License-Identifier: GPL-2.0-or-later
// Answers in glibc's form: structures and texts in the caller's buffer. Any thread; nothing allocates.
#pragma once

#include <netdb.h>
#include <nss.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace slurmk8s {

/** Addresses of one family among `values` (4 or 16 bytes each); SLURM_K8S_NOWHERE if there are none. */
std::vector<std::string> addresses_of(const std::vector<std::string>& values, int family);

/** The caller's buffer and error variables. */
struct HostBuffer {
  char* data;
  std::size_t size;
  int* error;
  int* host_error;
};

/** Fills `host`. `addresses` are of `family`. TRYAGAIN with ERANGE when the buffer is too small. */
nss_status fill_host(std::string_view name, int family, const std::vector<std::string>& addresses, hostent& host,
                     const HostBuffer& buffer);

/** Fills a list of addresses of any family; `list` as of gethostbyname4_r(). */
nss_status fill_tuples(std::string_view name, const std::vector<std::string>& addresses, gaih_addrtuple*& list,
                       const HostBuffer& buffer);

/** No such name or address. */
nss_status not_found(const HostBuffer& buffer);

/** Not served here: glibc asks the next source. */
nss_status not_ours(const HostBuffer& buffer);

}  // namespace slurmk8s
