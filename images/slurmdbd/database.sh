# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Functions of slurmdbd's entrypoint: whether the settings of the database server suit slurmdbd.

# wait_for_settings CONF CLIENT: returns when the server of slurmdbd.conf has the settings that slurmdbd needs. CLIENT
# is the file that it writes for the client, with the password.
wait_for_settings() {
  local host port settings bad
  host=$(conf_value StorageHost "$1")
  port=$(conf_value StoragePort "$1")
  write_client_conf "$1" "$2"
  while true; do
    if settings=$(database_settings "$2" 2>&1); then
      bad=$(harmful_settings <<<"$settings")
      if [[ -z $bad ]]; then
        slow_settings <<<"$settings" | report "$host:$port" >&2
        return 0
      fi
      report "$host:$port" <<<"$bad; waiting" >&2
    elif [[ $settings =~ ^ERROR\ 200[235]\  && -z $(conf_value StorageBackupHost "$1") ]]; then
      report "$host:$port" <<<"waiting for the server" >&2
    else
      return 0 # slurmdbd says what is wrong, or uses the other server
    fi
    sleep 5
  done
}
report() { sed "s|^|slurmdbd-entrypoint: database $1: |"; } # SERVER

# Of two lines with the same key Slurm takes the last.
conf_value() { sed -En "s/^ *$1 *= *\"?([^ #\"]+).*/\\1/Ip" "$2" | tail -1; } # KEY CONF

write_client_conf() { # CONF FILE
  (
    umask 077
    printf '[client]\nhost="%s"\nport=%s\nuser="%s"\npassword="%s"\nconnect-timeout=5\n' \
      "$(conf_value StorageHost "$1")" "$(conf_value StoragePort "$1")" "$(conf_value StorageUser "$1")" \
      "$(sed -n 's/^StoragePass="\(.*\)"$/\1/p' "$1" | tail -1)" >"$2"
  )
}

# NAME VALUE of each that the server has. An old server, or MySQL, lacks the first.
database_settings() { # CLIENT-CONF
  mariadb --defaults-file="$1" --skip-ssl-verify-server-cert --batch --skip-column-names --execute \
    "SHOW GLOBAL VARIABLES WHERE Variable_name IN
     ('innodb_snapshot_isolation', 'innodb_lock_wait_timeout', 'max_allowed_packet')"
}

harmful_settings() { # reads NAME VALUE
  awk '$1 == "innodb_snapshot_isolation" && $2 == "ON" {
    print "innodb_snapshot_isolation=ON: slurmdbd would lose records (error 1020)." \
      " Run there: SET GLOBAL innodb_snapshot_isolation=OFF; and set it in the server'\''s option file" }'
}
slow_settings() { # reads NAME VALUE
  awk '
    function note(least) {
      print $1 "=" $2 " is less than " least ". Run there: SET GLOBAL " $1 "=" least ";" \
        " and set it in the server'\''s option file"
    }
    $1 == "innodb_lock_wait_timeout" && $2 < 900 { note(900) }
    $1 == "max_allowed_packet" && $2 < 16777216 { note(16777216) }'
}
