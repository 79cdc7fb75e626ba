#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Starts nslcd in the foreground, as the container's user. Arguments are passed to nslcd.
# Needs /run/slurm-k8s/ldap/nslcd.conf, and /run/slurm-k8s/nslcd, a folder in memory for the complete file.
set -euo pipefail

umask 077
# A directory must not have root, nor Slurm's users: the site's file can set other limits.
{
  echo 'log /dev/stderr info'
  echo 'nss_min_uid 1000'
  # nslcd's own default is to wait for ever for a server that is gone, and to keep connections that are no more.
  echo 'timelimit 30'
  echo 'idle_timelimit 30'
  # Without a file it takes no certificate.
  echo 'tls_cacertfile /etc/ssl/certs/ca-certificates.crt'
  cat /run/slurm-k8s/ldap/nslcd.conf
  echo # nslcd refuses a last line without its end
} >/run/slurm-k8s/nslcd/nslcd.conf
umask 022

# The container's own standard error belongs to root: only a pipe of this user can be opened again.
exec 2> >(exec cat >&2)
exec /usr/sbin/nslcd -n "$@"
