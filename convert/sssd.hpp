// SPDX-License-Identifier: GPL-2.0-or-later
// sssd.conf, which Slinky's chart has, as nslcd.conf, which ours has. Pure; any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convert/convert.hpp"

namespace slurmk8s {

/** What becomes of a key of sssd.conf. */
struct SssdField {
  std::string_view key;
  std::string_view lines;     ///< of nslcd.conf, with @ for the value; empty: it is left out
  bool is_lost;               ///< left out although it has an effect, unless `harmless`
  std::string_view harmless;  ///< values without effect, separated by commas
  std::string_view note;      ///< the reason, or a hint
};
/** In the order of the lines of nslcd.conf. */
std::span<const SssdField> sssd_fields();

struct NslcdConf {
  std::string text;  ///< empty when there is no domain of LDAP
  std::vector<ConvertNote> notes;
};
/** Converts the first domain. Each key of the input is in the result, or has a note. No note has a password. */
NslcdConf convert_sssd(std::string_view text);

}  // namespace slurmk8s
