// SPDX-License-Identifier: GPL-2.0-or-later
// Whether oci.conf is there.
#include "base/oci_conf.hpp"

#include <unistd.h>

#include <cerrno>
#include <string>

namespace slurmk8s {

bool lacks_oci_conf(std::string_view slurm_conf) {
  const std::size_t slash = slurm_conf.rfind('/');
  if (slash == std::string_view::npos) return false;
  const std::string file = std::string(slurm_conf.substr(0, slash)) + "/oci.conf";
  return ::access(file.c_str(), F_OK) != 0 && errno == ENOENT;
}

}  // namespace slurmk8s
