#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# slurm-ssh-to-node NODE            ProxyCommand of ssh for a node in a pod: says which commands reach the user's jobs
# slurm-ssh-to-node --is-node HOST  whether HOST is one; no, where slurmctld does not answer at once. Nodes on bare
#                                   metal are none, and may have sshd
set -u

if [ "$1" = --is-node ]; then
  timeout 2 scontrol --oneliner show node "$2" 2>/dev/null | grep -q ' State=[^ ]*CLOUD'
  exit
fi

{
  echo "$1 is a Slurm node in a pod, and has no sshd."
  jobs=$(timeout 5 squeue --noheader --me --states=running --nodelist="$1" --format=%A)
  if [ "$jobs" ]; then
    echo "To enter a job of yours on it:"
    for job in $jobs; do echo "  srun --jobid=$job --overlap --nodelist=$1 --pty bash"; done
  else
    echo "No job of yours runs on it. To start one:"
    echo "  srun --nodelist=$1 --pty bash"
  fi
} >&2
exit 1
