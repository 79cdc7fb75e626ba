# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What `convert --values` makes of values of Slinky's chart (tests/unit/convert/convert_test.cc) is accepted by ours.

slinky=(-f "$TOP/tests/chart/convert/converted.yaml")

check "values from Slinky are accepted" shows controller/statefulset 'kind: StatefulSet' "${slinky[@]}"
check "from Slinky: its NodeSets" shows nodesets/nodesets '^  name: "slinky"$' "${slinky[@]}"
check "from Slinky: not those of our defaults" lacks '^  name: "compute"$' "${slinky[@]}"
check "from Slinky: its partition" has slurm.conf \
  "PartitionName=all Nodes=ALL State=UP Default=YES MaxTime=UNLIMITED" "${slinky[@]}"
check "from Slinky: no partition of our defaults" lacks 'PartitionName=main' "${slinky[@]}"
check "from Slinky: a prolog" has slurm.conf "Prolog=00-log.sh" "${slinky[@]}"
check "from Slinky: the prolog's text" has 00-log.sh "#!/bin/sh" "${slinky[@]}"
check "from Slinky: login pods" shows login/statefulset 'replicas: 2' "${slinky[@]}"
check "from Slinky: its LDAP directory" shows login/nslcd_config 'nslcd.conf: "uri ldap://ldap.example.com\\nbase dc=' \
  "${slinky[@]}"
check "from Slinky: slurmdbd's database" shows accounting/slurmdbd_config 'StorageHost=mariadb' "${slinky[@]}"
