# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# plugstack.conf: the SPANK plugins, and what slurm.conf says for their scripts.

example_is_the_default() {
  diff <(grep -v '^#' "$TOP/examples/plugstack.conf") <(config_file plugstack.conf)
}

check "plugstack.conf is that of examples/" example_is_the_default
spank=(--set "slurm.spank.threads=auto,slurm.spank.gpus=off,slurm.spank.serviceEnv=keep,slurm.spank.oomScoreAdj=0")
check "SPANK: arguments" \
  has plugstack.conf "optional spank_k8s.so memory_limit=on service_env=keep threads=auto" "${spank[@]}"
check "SPANK: timeout of a login environment" \
  has plugstack.conf "optional spank_k8s.so gpus=ids login_env=9 memory_limit=on oom_score_adj=1000" \
  --set slurm.spank.loginEnv=9
check "SPANK: no login environment" \
  has plugstack.conf "optional spank_k8s.so gpus=ids login_env=off memory_limit=on oom_score_adj=1000" \
  --set slurm.spank.loginEnv=0
check "SPANK: timeout of a login environment above the maximum" refused "/slurm/spank/loginEnv" \
  --set slurm.spank.loginEnv=61
check "SPANK: no host names" \
  has plugstack.conf "optional spank_k8s.so gpus=ids hosts=off memory_limit=on oom_score_adj=1000" \
  --set slurm.spank.hostNames=false
check "SPANK: a number of threads" \
  has plugstack.conf "optional spank_k8s.so gpus=ids memory_limit=on oom_score_adj=1000 threads=4" \
  --set slurm.spank.threads=4
check "SPANK: no memory limit" has plugstack.conf "optional spank_k8s.so gpus=ids oom_score_adj=1000" \
  --set slurm.spank.memoryLimit=false
check "SPANK: tasks on the CPUs of their step" \
  has plugstack.conf "optional spank_k8s.so cpu_bind=on gpus=ids memory_limit=on oom_score_adj=1000" \
  --set slurm.spank.cpuBind=true
check "SPANK: with hide it is required" \
  has plugstack.conf "required spank_k8s.so gpus=ids hide=/a,/b memory_limit=on oom_score_adj=1000" \
  --set 'slurm.spank.hide={/a,/b}'
scripts=(--set "slurm.spank.scripts.podSetup=/opt/setup,slurm.spank.scripts.jobCleanup=/opt/done")
scripts+=(--set slurm.spank.scripts.timeout=20)
check "SPANK: scripts" \
  has plugstack.conf "required spank_k8s_scripts.so job_cleanup=/opt/done pod_setup=/opt/setup timeout=20" \
  "${scripts[@]}"
check "SPANK: scripts are run" has slurm.conf "PrEpPlugins=prep/k8s,prep/script" "${scripts[@]}"
check "SPANK: BatchStartTimeout covers scripts" has slurm.conf "BatchStartTimeout=50" "${scripts[@]}"
check "SPANK: none of that without scripts" lacks 'prep/script|BatchStartTimeout|spank_k8s_scripts'
check "SPANK: other plugins" has plugstack.conf 'include /usr/share/pyxis/*' \
  --set-string 'slurm.spank.extraConf=include /usr/share/pyxis/*'
check "SPANK: off" lacks 'spank_k8s' --set slurm.spank.enabled=false
check "SPANK: invalid serviceEnv" refused "/slurm/spank/serviceEnv" --set slurm.spank.serviceEnv=no
check "SPANK: relative path in hide" refused "/slurm/spank/hide" --set 'slurm.spank.hide={key}'
check "SPANK: path with a blank" refused "/slurm/spank/scripts/jobSetup" \
  --set-string 'slurm.spank.scripts.jobSetup=/a b'
check "SPANK: invalid threads" refused "/slurm/spank/threads" --set slurm.spank.threads=many
