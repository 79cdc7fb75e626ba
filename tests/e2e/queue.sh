# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Which tests run beside others and which alone, in which order, and who takes the next file.
#
# A test file says of itself, in comments at its top:
#   # Alone: all             or the names of tests: nothing else may run on the bed, since they stop a part of it, or
#                            change what all releases share. They run in a row when all others have ended.
#   # Release: WORD          the file leaves a release that is not the chart's with values.yaml. The next file with
#                            another word, or none, gets a new release.
# A queue is a file; each line is a piece of work: seconds, file, tests.

# directive NAME FILE: the words after it; nothing when the file has none.
directive() { sed -n "1,20s/^# $1: //p" "$2"; }

tests_of() { grep -oE '^test_[a-z0-9_]+' "$1"; } # FILE: in its order

tests_alone() { # FILE
  local alone
  alone=$(directive Alone "$1")
  if [[ $alone == all ]]; then tests_of "$1"; else tr ' ' '\n' <<<"$alone" | grep . || true; fi
}
tests_beside() { tests_of "$1" | grep -vxF -f <(tests_alone "$1") || true; } # FILE

# How long tests took is kept from run to run: "FILE TEST SECONDS" a line. One that never ran counts as UNKNOWN seconds.
UNKNOWN=20
seconds_of() { # DURATIONS FILE TEST…
  awk -v file="$(basename "$2" .sh)" -v tests="${*:3}" -v unknown="$UNKNOWN" '
    $1 == file { known[$2] = $3 }
    END {
      count = split(tests, names, " ")
      for (i = 1; i <= count; i++) sum += names[i] in known ? known[names[i]] : unknown
      print sum + 0
    }' <(cat "$1" 2>/dev/null)
}
keep_durations() { # KEPT NEW: writes KEPT
  local all
  mkdir -p "$(dirname "$1")"
  touch "$1"
  all=$(awk '!seen[$1, $2]++' "$2" "$1" | sort)
  printf '%s\n' "$all" >"$1"
}

write_queue() { # beside|alone DURATIONS FILE[:TEST]…: those of their tests
  local file tests wanted
  for file in "${@:3}"; do
    wanted=".*"
    if [[ $file == *:* ]]; then wanted=${file##*:}; fi
    file=${file%:*}
    mapfile -t tests < <("tests_$1" "$file" | grep -x -- "$wanted")
    if ((${#tests[@]})); then echo "$(seconds_of "$2" "$file" "${tests[@]}") $file ${tests[*]}"; fi
  done
}
names_in() { # QUEUE…: "FILE TEST" a line
  awk '{ sub(/.*\//, "", $2); sub(/\.sh$/, "", $2); for (i = 3; i <= NF; i++) print $2, $i }' "$@"
}

# Takes the first line off and prints it; prints nothing from an empty one.
take_work() { # QUEUE
  flock "$1.lock" sed -i -e '1w /dev/stdout' -e 1d "$1"
}
