#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The contract suite of Slurm against a real slurmctld, that of fetch_slurmctld. It runs as this user, believes
# everybody on this machine (auth/none), and ends with the suite. job_submit/k8s gives allocations their users.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

skip() {
  echo "1..0 # SKIP $*"
  exit 0
}
python=${PYTHON3:-python3}
command -v "$python" >/dev/null || skip "python3 is required"
root=$("$here/fetch_slurmctld" 2>/dev/null) || skip "no slurmctld: tests/contract/fetch_slurmctld"
plugins=$(compgen -G "$root/usr/lib/*/slurm-wlm") || skip "no slurmctld in $root"
build=$(cd "${TOP_BUILDDIR:-$here/../..}" && pwd)

folder=$(mktemp -d "${TMPDIR:-/tmp}/slurm-k8s-slurmctld-XXXXXX")
slurmctld=
stop() {
  if [[ -n $slurmctld ]]; then kill "$slurmctld" 2>/dev/null && wait "$slurmctld" || true; fi
  rm -rf "$folder"
}
trap stop EXIT
trap 'exit 143' INT TERM

port=$("$python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
mkdir "$folder/state"
(umask 077; head -c 32 /dev/urandom >"$folder/jwt.key")
export SLURM_CONF=$folder/slurm.conf
cat >"$SLURM_CONF" <<TEXT
ClusterName=contract
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmctldPort=$port
SlurmUser=$(id -un)
AuthType=auth/none
CredType=cred/none
AuthAltTypes=auth/jwt
AuthAltParameters=jwt_key=$folder/jwt.key
PluginDir=$build/plugins/.libs:$plugins
JobSubmitPlugins=k8s
StateSaveLocation=$folder/state
SlurmctldPidFile=$folder/slurmctld.pid
SelectType=select/cons_tres
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MailProg=/bin/true
ResumeProgram=/bin/true
SuspendProgram=/bin/true
SuspendTime=3600
PrivateData=cloud
MaxNodeCount=16
PartitionName=main Nodes=ALL Default=YES
TEXT
of_slurm() { LD_LIBRARY_PATH=$plugins:$(dirname "$plugins") "$@"; }
of_slurmctld() { exec -a slurmctld "$root/usr/sbin/slurmctld-wlm" -D; } # 24.11 asks for this name
LD_LIBRARY_PATH=$plugins:$(dirname "$plugins") of_slurmctld >"$folder/log" 2>&1 &
slurmctld=$!
for ((tries = 0; ; tries++)); do
  if of_slurm "$root/usr/bin/scontrol" ping 2>/dev/null | grep -c 'is UP' >/dev/null; then break; fi
  if ((tries > 300)) || ! kill -0 "$slurmctld" 2>/dev/null; then
    echo "not ok 1 - slurmctld starts"
    sed 's/^/# /' "$folder/log"
    exit 1
  fi
  sleep 0.1
done
SLURM_K8S_CONTRACT_JOB=$(of_slurm "$root/usr/bin/sbatch" --parsable --hold --output=/dev/null --wrap true)
export SLURM_K8S_CONTRACT_JOB
# cred/none of 24.11 looks for a function that only the library of Slurm's own programs has.
LD_PRELOAD=$(compgen -G "$plugins/libslurmfull.so") "$build/tests/contract/slurm_suite"
