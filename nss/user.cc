// SPDX-License-Identifier: GPL-2.0-or-later
// passwd and the list of groups.
#include "nss/user.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "nss/pieces.hpp"

namespace slurmk8s {
namespace {

std::string_view text_of(const char* text) { return text ? text : ""; }

/** Room for one more. False: the limit is reached, or there is no memory. */
bool make_room(const GroupList& groups, int* error) {
  if (*groups.start < *groups.size) return true;
  if (groups.limit > 0 && *groups.size >= groups.limit) return false;
  long size = std::max(2 * *groups.size, 16L);
  if (groups.limit > 0) size = std::min(size, groups.limit);
  auto* const list = static_cast<gid_t*>(std::realloc(*groups.list, static_cast<std::size_t>(size) * sizeof(gid_t)));
  if (!list) {
    *error = ENOMEM;
    return false;
  }
  *groups.list = list;
  *groups.size = size;
  return true;
}

}  // namespace

nss_status fill_passwd(const slurm_k8s_user& user, passwd& entry, char* data, std::size_t size, int* error) {
  Pieces pieces(data, size);
  entry.pw_name = pieces.text(text_of(user.name));
  entry.pw_passwd = pieces.text("x");
  entry.pw_gecos = pieces.text(text_of(user.gecos));
  entry.pw_dir = pieces.text(text_of(user.home));
  entry.pw_shell = pieces.text(text_of(user.shell));
  entry.pw_uid = user.uid;
  entry.pw_gid = user.gid;
  if (!entry.pw_name || !entry.pw_passwd || !entry.pw_gecos || !entry.pw_dir || !entry.pw_shell) {
    *error = ERANGE;
    return NSS_STATUS_TRYAGAIN;
  }
  *error = 0;
  return NSS_STATUS_SUCCESS;
}

nss_status add_groups(const slurm_k8s_user& user, gid_t own, const GroupList& groups, int* error) {
  for (int i = 0; i < user.group_count; ++i) {
    const gid_t group = user.groups[i];
    gid_t* const end = *groups.list + *groups.start;
    if (group == own || std::find(*groups.list, end, group) != end) continue;
    *error = 0;
    if (!make_room(groups, error)) return *error ? NSS_STATUS_TRYAGAIN : NSS_STATUS_SUCCESS;
    (*groups.list)[(*groups.start)++] = group;
  }
  return NSS_STATUS_SUCCESS;
}

}  // namespace slurmk8s
