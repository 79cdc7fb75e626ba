#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Starts MariaDB in the foreground, as the container's user. Arguments are passed to mariadbd.
# Creates the database $MARIADB_DATABASE and gives it to $MARIADB_USER, with the password in the file
# $MARIADB_PASSWORD_FILE. Both are done at each start: a changed password takes effect. The data is in
# /var/lib/mysql/data.
set -euo pipefail

defaults=/etc/mysql/slurm-k8s.cnf
data=/var/lib/mysql/data
init=/run/mysqld/init.sql

# Under another name until it is complete: a container can be killed at any moment.
if [[ ! -d $data ]]; then
  rm -rf "$data.new"
  mariadb-install-db --defaults-file="$defaults" --datadir="$data.new" --skip-test-db \
    --auth-root-authentication-method=socket --auth-root-socket-user=mysql >/dev/null
  mv "$data.new" "$data"
fi

password=$(<"$MARIADB_PASSWORD_FILE")
password=${password//\\/\\\\}
password=${password//\'/\'\'}
umask 077
# Read before the first connection is accepted. One statement in each line.
cat >"$init" <<END
CREATE DATABASE IF NOT EXISTS \`$MARIADB_DATABASE\`;
CREATE USER IF NOT EXISTS '$MARIADB_USER'@'%';
ALTER USER '$MARIADB_USER'@'%' IDENTIFIED BY '$password';
GRANT ALL ON \`$MARIADB_DATABASE\`.* TO '$MARIADB_USER'@'%';
END

exec mariadbd --defaults-file="$defaults" --init-file="$init" "$@"
