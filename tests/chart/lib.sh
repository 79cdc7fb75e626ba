# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Functions of the chart's tests: each test is a call of `check`, with one of the other functions as its command.
# CHART is the chart's folder, TOP that of the tree, HELM the program.

# shellcheck source=tests/support/check.sh
source "$TOP/tests/support/check.sh"

# render [OPTION...]: helm template.
render() {
  "$HELM" template slurm "$CHART" --namespace slurm "$@"
}

# config_file NAME [OPTION...]: a file of the ConfigMap.
config_file() {
  local file=$1
  shift
  render --show-only templates/config/configmap.yaml "$@" |
    awk -v head="  $file: |" '
      $0 == head || $0 == head "2" { on = 1; next }
      on && /^  [^ ]/ { exit }
      on { sub(/^    /, ""); print }'
}

# has FILE LINE [OPTION...]: the file of /etc/slurm has exactly this line.
has() {
  local file=$1 line=$2 text
  shift 2
  text=$(config_file "$file" "$@")
  grep -qxF -- "$line" <<<"$text" || {
    printf '%s\n' "no line: $line" "$text"
    return 1
  }
}

# shows TEMPLATE PATTERN [OPTION...]: a line of the rendered template matches; TEMPLATE is its path below templates/.
shows() {
  local template=$1 pattern=$2 text
  shift 2
  text=$(render --show-only "templates/$template.yaml" "$@")
  grep -qE -- "$pattern" <<<"$text" || {
    printf '%s\n' "not found: $pattern" "$text"
    return 1
  }
}

# lacks PATTERN [OPTION...]: no rendered line matches.
lacks() {
  local pattern=$1 text
  shift
  text=$(render "$@") || return 1
  ! grep -nE -- "$pattern" <<<"$text"
}

# lacks_in TEMPLATE PATTERN [OPTION...]: no line of the rendered template matches.
lacks_in() {
  local template=$1 pattern=$2
  shift 2
  lacks "$pattern" --show-only "templates/$template.yaml" "$@"
}

# refused PATTERN OPTION...: the values are refused with a message that matches.
refused() {
  local pattern=$1 text
  shift
  if text=$(render "$@" 2>&1); then
    echo "accepted: $*"
    return 1
  fi
  grep -qE -- "$pattern" <<<"$text" || {
    printf '%s\n' "refused with another message:" "$text"
    return 1
  }
}

# object KIND NAME [OPTION...]: one of the rendered objects.
object() {
  local kind=$1 name=$2
  shift 2
  render "$@" | awk -v kind="kind: $kind" -v name="  name: $name" '
    /^---/ { if (found && wanted) exit; text = ""; found = wanted = 0; next }
    { text = text $0 "\n" } $0 == kind { found = 1 } $0 == name { wanted = 1 }
    END { if (found && wanted) printf "%s", text }'
}

# part PATTERN KIND NAME [OPTION...]: a line of the object matches.
part() {
  local pattern=$1 text
  shift
  text=$(object "$@")
  grep -qE -- "$pattern" <<<"$text" || { printf '%s\n' "not found: $pattern" "$text"; return 1; }
}
