#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# images/slurmdbd/database.sh with a client that is a fake: what it says of the server's settings, and when it lets
# slurmdbd start. Prints TAP.
set -euo pipefail

top=$(cd "${TOP_SRCDIR:-../..}" && pwd)
# shellcheck source=tests/support/expect.sh
source "$top/tests/support/expect.sh"

export FAKE=$folder/fake
mkdir "$FAKE"
# Each call has the next of the files $FAKE/1, $FAKE/2…: an exit code in the first line, then what is said.
cat >"$FAKE/mariadb" <<'END'
#!/bin/bash
number=$(($(cat "$FAKE/calls" 2>/dev/null || echo 0) + 1))
echo "$number" >"$FAKE/calls"
cat "${1#--defaults-file=}" >"$FAKE/client"
tail -n +2 "$FAKE/$number"
exit "$(head -n 1 "$FAKE/$number")"
END
printf '#!/bin/bash\n' >"$FAKE/sleep"
chmod +x "$FAKE/mariadb" "$FAKE/sleep"
PATH=$FAKE:$PATH

answers() { # CODE TEXT CODE TEXT…: of the calls
  local number=1
  rm -f "$FAKE"/[0-9]* "$FAKE/calls"
  while (($#)); do
    printf '%s\n%b' "$1" "$2" >"$FAKE/$number"
    number=$((number + 1))
    shift 2
  done
}
conf=$folder/slurmdbd.conf
cat >"$conf" <<'END'
StorageHost=old
StorageHost=db.example.org
StoragePort=3307
StorageUser=slurm
StoragePass="a b'c=$d"
END
cat >"$folder/wait" <<END
#!/bin/bash
source "$top/images/slurmdbd/database.sh"
wait_for_settings "$conf" "$folder/client.cnf"
echo starts
END
wait=(bash "$folder/wait")
server="slurmdbd-entrypoint: database db.example.org:3307"
right='innodb_lock_wait_timeout\t900\ninnodb_snapshot_isolation\tOFF\nmax_allowed_packet\t16777216\n'
statement='Run there: SET GLOBAL'
file="and set it in the server's option file"

answers 0 "$right"
expect "the right settings" 0 starts "" "${wait[@]}"
expect "what the client is told" 0 "*host=\"db.example.org\"
port=3307
user=\"slurm\"
password=\"a b'c=\$d\"*" "" cat "$FAKE/client"
expect "who may read that" 0 600 "" stat --format=%a "$folder/client.cnf"
answers 0 'max_allowed_packet\t16777216\n'
expect "a server without the others" 0 starts "" "${wait[@]}"
answers 0 'innodb_snapshot_isolation\tON\n' 0 "$right"
expect "records would be lost" 0 starts \
  "$server: innodb_snapshot_isolation=ON: slurmdbd would lose records (error 1020). \
$statement innodb_snapshot_isolation=OFF; $file; waiting" "${wait[@]}"
expect "it asked again" 0 2 "" cat "$FAKE/calls"
answers 0 'innodb_lock_wait_timeout\t50\nmax_allowed_packet\t1048576\n'
expect "settings that are too low" 0 starts \
  "$server: innodb_lock_wait_timeout=50 is less than 900. $statement innodb_lock_wait_timeout=900; $file
$server: max_allowed_packet=1048576 is less than 16777216. $statement max_allowed_packet=16777216; $file" "${wait[@]}"
for code in 2002 2003 2005; do
  answers 1 "ERROR $code (HY000): away\n" 0 "$right"
  expect "error $code: the server is away" 0 starts "$server: waiting for the server" "${wait[@]}"
done
answers 1 'ERROR 1045 (28000): Access denied\n'
expect "slurmdbd says what else is wrong" 0 starts "" "${wait[@]}"
echo "1..$number"
