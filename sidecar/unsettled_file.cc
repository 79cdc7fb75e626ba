// SPDX-License-Identifier: GPL-2.0-or-later
// The file and its removal.
#include "sidecar/unsettled_file.hpp"

#include <unistd.h>

#include <cerrno>

#include "base/file.hpp"

namespace slurmk8s {

bool UnsettledFile::exists() const { return !path_.empty() && ::access(path_.c_str(), F_OK) == 0; }

Status UnsettledFile::keep(bool unsettled) const {
  if (path_.empty()) return {};
  if (unsettled) return put_file(path_, "", 0600);  // a crash of the machine ends slurmctld, too
  if (::unlink(path_.c_str()) != 0 && errno != ENOENT) return file_error(path_, "not removed");
  return {};
}

}  // namespace slurmk8s
