# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# srun --container: a bundle in ada's home, in an unprivileged pod, as examples/job-containers has it.
# Release: containers
# shellcheck source=tests/clients/lib.sh
source "$E2E_FOLDER/../clients/lib.sh"

# A shell, two programs and their libraries, and an /etc that says where one is.
make_bundle() {
  ada_file bundle/make.sh <<'END'
mkdir -p rootfs/bin rootfs/usr rootfs/etc rootfs/tmp rootfs/dev rootfs/proc rootfs/sys rootfs/home
ln -sfn ../bin rootfs/usr/bin
cp -L /bin/sh /bin/cat /usr/bin/id rootfs/bin
for library in $(ldd /bin/sh /bin/cat /usr/bin/id | grep -o '/[^ ]*\.so[^ ]*' | sort -u); do
  mkdir -p "rootfs$(dirname "$library")"
  cp -L "$library" "rootfs$library"
done
cp /etc/passwd /etc/group rootfs/etc
echo "of the bundle" >rootfs/etc/os-release
cat >config.json <<'JSON'
{"ociVersion": "1.0.0", "root": {"path": "rootfs"}, "process": {"args": ["sh"], "cwd": "/"}}
JSON
END
  ada 'cd bundle && sh make.sh' </dev/null
}

test_a_bundle_is_the_root_of_a_job() {
  local said job
  CLIENTS_VALUES=(-f "$E2E_FOLDER/../../examples/job-containers/values.yaml")
  ada_logs_in
  make_bundle
  said=$(ada 'srun --quiet --container=$HOME/bundle sh -c "cat /etc/os-release; id -un; pwd"' </dev/null)
  assert_equal "srun" "of the bundle
ada
/" "$said"
  said=$(ada 'srun --quiet cat /etc/os-release' </dev/null)
  [[ $said != *"of the bundle"* ]] || fail "without --container: $said"
  ada_file script.sh <<'END'
#!/bin/sh
cat /etc/os-release
END
  job=$(ada 'sbatch --parsable --container=$HOME/bundle --output=contained.out script.sh' </dev/null)
  wait_done "$job" 90
  assert_equal "sbatch" "of the bundle" "$(ada 'cat contained.out' </dev/null)"
}
