# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Daemons inside the bed's network namespace. A process is known by its pid and its start time,
# so that a pid which the kernel gave to another process is never signalled.

# Prints "STATE STARTTIME" of a pid; fails when there is no such process or only its zombie.
process_stat() {
  local line fields
  { read -r line <"/proc/$1/stat"; } 2>/dev/null || return 1
  # The second field, the name in parentheses, may hold blanks.
  read -r -a fields <<<"${line##*) }"
  [[ ${fields[0]} != [ZX] ]] || return 1
  printf '%s %s\n' "${fields[0]}" "${fields[19]}"
}

# Prints the pid of the named daemon; fails when it does not run.
process_pid() {
  local pid started stat
  { read -r pid started <"$BED_STATE/run/$1.pid"; } 2>/dev/null || return 1
  stat=$(process_stat "$pid") || return 1
  [[ ${stat#* } == "$started" ]] || return 1
  printf '%s\n' "$pid"
}

# process_remember NAME PID: for process_pid.
process_remember() {
  local stat
  stat=$(process_stat "$2") || return 1
  printf '%s %s\n' "$2" "${stat#* }" >"$BED_STATE/run/$1.pid"
}

process_is_gone() {
  ! process_pid "$1" >/dev/null
}

# Closes what was open in the caller, locks for example: a component outlives it.
close_inherited() {
  local entry fd
  for entry in /proc/"$BASHPID"/fd/*; do
    fd=${entry##*/}
    if ((fd > 2)); then eval "exec $fd>&-"; fi
  done
}

# process_start NAME COMMAND...: standard output and error go to the log. The user's environment
# stays out: a proxy setting would lead the components' traffic out of the namespace.
process_start() {
  local name=$1
  shift
  (
    cgroup_join "$BASHPID"
    close_inherited
    exec setsid nsenter --net="$BED_NETNS_FILE" -- \
      env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME="$BED_STATE" "$@"
  ) </dev/null >>"$BED_LOG/$name.log" 2>&1 &
  process_remember "$name" $! || die "$name: ended at once, see $BED_LOG/$name.log"
}

process_signal() {
  local pid
  pid=$(process_pid "$2") || return 1
  kill -s "$1" "$pid"
}

process_kill() {
  process_signal KILL "$1" || return 0
  wait_until 10 "$1: end of the process" process_is_gone "$1"
}
