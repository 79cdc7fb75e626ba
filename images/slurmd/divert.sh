#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# MaxRSS in a pod: our jobacct_gather_linux.so loads Slurm's, from where this moves it to. Once, when an image is built.
set -eu
cd /usr/lib/*/slurm-k8s
install -d slurm
dpkg-divert --local --rename --divert "$PWD/slurm/jobacct_gather_linux.so" "${PWD%/*}/slurm-wlm/jobacct_gather_linux.so"
ln -s ../slurm-k8s/jobacct_gather_linux.so ../slurm-wlm/
ls -L slurm/jobacct_gather_linux.so ../slurm-wlm/jobacct_gather_linux.so
