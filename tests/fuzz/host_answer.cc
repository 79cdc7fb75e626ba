// SPDX-License-Identifier: GPL-2.0-or-later
// Answers of libnss_slurm_k8s in a buffer of any size: the first byte is its size, then four for each address, then the
// name. What is filled is in the buffer.
#include <cerrno>
#include <memory>
#include <string>
#include <vector>

#include <sys/socket.h>

#include "fuzz/target.hpp"
#include "nss/answer.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slurmk8s;
  if (size < 2) return 0;
  const std::size_t room = data[0];
  const std::size_t count = data[1] % 8;
  std::string_view rest = as_text(data + 2, size - 2);
  const int family = data[1] < 128 ? AF_INET : AF_INET6;
  const std::size_t bytes = family == AF_INET ? 4 : 16;
  std::vector<std::string> values;
  while (values.size() < count && rest.size() >= bytes) {
    values.emplace_back(rest.substr(0, bytes));
    rest.remove_prefix(bytes);
  }
  const auto addresses = addresses_of(values, family);
  require(!addresses.empty(), "no address");
  const std::unique_ptr<char[]> memory(new char[room]);  // a byte behind it ends the program
  const auto is_inside = [&](const void* at, std::size_t length) {
    const auto* const begin = static_cast<const char*>(at);
    return begin >= memory.get() && begin + length <= memory.get() + room;
  };
  int error = 0;
  int host_error = 0;
  const HostBuffer buffer{memory.get(), room, &error, &host_error};
  hostent host{};
  const nss_status status = fill_host(rest, family, addresses, host, buffer);
  require(status == NSS_STATUS_SUCCESS || (status == NSS_STATUS_TRYAGAIN && error == ERANGE), "another status");
  if (status == NSS_STATUS_SUCCESS) {
    require(is_inside(host.h_name, rest.size() + 1) && host.h_name[rest.size()] == '\0', "a name outside");
    for (std::size_t i = 0; i < addresses.size(); i++) {
      require(is_inside(host.h_addr_list[i], bytes), "an address outside");
      require(std::string_view(host.h_addr_list[i], bytes) == addresses[i], "another address");
    }
  }
  gaih_addrtuple* list = nullptr;
  if (fill_tuples(rest, addresses, list, buffer) != NSS_STATUS_SUCCESS) return 0;
  std::size_t found = 0;
  for (const gaih_addrtuple* tuple = list; tuple; tuple = tuple->next) {
    require(is_inside(tuple, sizeof *tuple), "a tuple outside");
    found++;
  }
  require(found == addresses.size(), "another number of addresses");
  return 0;
}
