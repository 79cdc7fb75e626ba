# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# check: one test, as a line of TAP. The output of a failed command is shown. `echo "1..$NUMBER"` ends them.

NUMBER=0
FAILED=0

check() { # WHAT COMMAND...
  local output
  NUMBER=$((NUMBER + 1))
  if output=$("${@:2}" 2>&1); then
    echo "ok $NUMBER - $1"
  else
    FAILED=$((FAILED + 1))
    echo "not ok $NUMBER - $1"
    printf '# %s\n' "${output//$'\n'/$'\n# '}"
  fi
}
