#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# sshd's AuthorizedKeysCommand: prints the site's keys of a user. sshd would refuse the files themselves: the folder of
# a Secret is writable by all.
case $1 in
  '' | */* | .*) exit 1 ;;
esac
file=/run/slurm-k8s/users/authorized_keys.$1
[ ! -r "$file" ] || exec cat "$file"
