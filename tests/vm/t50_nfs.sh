# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Homes on NFS: a kernel's NFS server, and login pods and nodes that mount it, on the virtual machine. The bed's own
# kernel has no NFS client.
#
# Release: vm_nfs

# shellcheck source=tests/vm/lib.sh
source "$E2E_FOLDER/../vm/lib.sh"
# shellcheck source=tests/e2e/login.sh
source "$E2E_FOLDER/login.sh"

# shellcheck disable=SC2034 # login.sh
LOGIN_SECONDS=600

# With root_squash, NFS's default, a pod's root cannot create homes: they exist before.
serve_homes() {
  in_vm "mkdir -p /export/home/ada /export/home/bob
    chown 2001:2001 /export/home/ada; chown 2002:2002 /export/home/bob; chmod 700 /export/home/*
    echo '/export/home *(rw,sync,no_subtree_check)' >/etc/exports
    systemctl start nfs-server && exportfs -ra"
}
address() { kubectl get node "$VM" -o jsonpath='{.status.addresses[?(@.type=="InternalIP")].address}'; }
# Beside the values of the example, which docs/admin/login.md names.
nfs_values() { # PUBLIC-KEY
  local place="nodeSelector: {vm: $VM}, tolerations: [$TOLERATE]"
  cat <<END
slurm: {resumeTimeout: 600, suspendTime: 900}
login:
  podSpec: {$place}
  users:
    passwd: "ada:x:2001:2001:Ada:/home/ada:/bin/bash\nbob:x:2002:2002:Bob:/home/bob:/bin/bash\n"
    group: "ada:x:2001:\nbob:x:2002:\n"
    authorizedKeys: {ada: "$1", bob: "$1"}
nodesetDefaults:
  podSpec: {$place}
END
}
# With the address of this server.
example() { sed "s/nfs\.example\.org/$(address)/" "$E2E_FOLDER/../../examples/nfs/values.yaml"; }

test_homes_on_nfs() {
  local said job
  trap '"$BED" helm uninstall slurm -n "$NAMESPACE" --wait >/dev/null # pods that have the volume
    kubectl label node "$VM" "e2e/$NAMESPACE-" >/dev/null' EXIT
  start_vm
  # As hold_pods() has it: the chart's nodes of these tests are on Kubernetes nodes with this label.
  kubectl label --overwrite node "$VM" "e2e/$NAMESPACE=yes" >/dev/null
  "$BED" vm load "$VM" login
  serve_homes
  example >"$WORK/nfs-example.yaml"
  (($(grep -c "server: $(address)," "$WORK/nfs-example.yaml") == 2)) || fail "$(<"$WORK/nfs-example.yaml")"
  VALUES+=(-f "$WORK/nfs-example.yaml")
  install_login nfs_values ada
  assert_equal "ada's home" "nfs 2001:2001" "$(
    ssh_as ada 'stat --file-system --format=%T .; stat --format=%u:%g .' | paste -sd' ')"
  # sbatch has nothing to say of the output: it is on a shared path.
  job=$(ssh_as ada 'echo "of the login pod" >note
    sbatch --parsable -N2 --wrap "cat note; srun sh -c \"hostname; stat --file-system --format=%T .\" | sort
      echo of a job >answer" 2>&1')
  [[ $job =~ ^[0-9]+$ ]] || fail "sbatch: $job"
  wait_done "$job" 600
  assert_equal "the job's output" "of the login pod
compute-0
compute-1
nfs
nfs" "$(ssh_as ada "cat slurm-$job.out")"
  assert_equal "the job's file" "2001:2001 of a job" "$(
    ssh_as ada 'stat --format=%u:%g answer; cat answer' | paste -sd' ')"
  # Of another user, on the server's word: its kernel decides by the ids.
  said=$(ssh_as bob 'cat /home/ada/note 2>&1; srun -N1 cat /home/ada/note 2>&1' || true)
  (($(grep -c 'Permission denied' <<<"$said") == 2)) || fail "bob in ada's home: $said"
}
