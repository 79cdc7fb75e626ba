# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A folder that all Kubernetes nodes have at the same path, for volumes of kind hostPath that move with their pod. It is
# on this machine; virtual machines mount it by NFS. NFS-Ganesha of Debian serves it, unpacked and not installed, since
# this machine's kernel may have no NFS server.

VM_SHARE=$BED_STATE/share
VM_SHARE_PACKAGES=(nfs-ganesha nfs-ganesha-vfs libntirpc4.3 libnfsidmap1 liburcu8 libwbclient0)

# Prints the folder of the unpacked packages.
vm_share_fetch() {
  local version folder work package
  version=$(apt-cache policy nfs-ganesha | awk '/Candidate:/ { print $2 }')
  [[ $version && $version != '(none)' ]] || die 'vm share: apt knows no package nfs-ganesha'
  folder=$BED_CACHE/nfs-ganesha-$version
  if [[ ! -d $folder ]]; then
    work=$(mktemp -d)
    (cd "$work" && apt-get -qq -o APT::Sandbox::User=root download "${VM_SHARE_PACKAGES[@]}" >&2) ||
      die 'vm share: packages could not be fetched'
    for package in "$work"/*.deb; do dpkg-deb --extract "$package" "$work/root"; done
    mv -T "$work/root" "$folder" 2>/dev/null || [[ -d $folder ]] # another one was faster
    rm -rf "$work"
  fi
  printf '%s\n' "$folder"
}

# Files have the numbers of their users, as on a disk. A server that has just started waits for no former client.
vm_share_configuration() { # FOLDER-OF-PACKAGES
  cat <<END
NFS_CORE_PARAM {
  Bind_addr = $NODE_ADDRESS; Protocols = 4; Enable_UDP = false; Enable_NLM = false; Enable_RQUOTA = false;
  Plugins_Dir = "$(dirname "$(find "$1" -name libfsalvfs.so)")";
}
NFSV4 {
  Graceless = true; RecoveryBackend = fs; RecoveryRoot = "$BED_STATE/nfs"; Minor_Versions = 1, 2;
  Only_Numeric_Owners = true; UseGetpwnam = true;
}
EXPORT {
  Export_Id = 1; Path = "$VM_SHARE"; Pseudo = "/share"; Access_Type = RW; Squash = No_Root_Squash; SecType = sys;
  FSAL { Name = VFS; }
}
END
}

vm_share_is_served() { network_run bash -c ": <>/dev/tcp/$NODE_ADDRESS/2049" 2>/dev/null; }

vm_share_serve() {
  local folder
  mkdir -p "$VM_SHARE" "$BED_STATE/nfs"
  if process_is_gone nfs; then
    folder=$(vm_share_fetch)
    vm_share_configuration "$folder" >"$BED_STATE/nfs/ganesha.conf"
    process_start nfs \
      "LD_LIBRARY_PATH=$(dirname "$(find "$folder" -name 'libntirpc.so.*' -print -quit)"):$folder/usr/lib/ganesha" \
      "$folder/usr/bin/ganesha.nfsd" -F -f "$BED_STATE/nfs/ganesha.conf" -L /dev/stdout -p "$BED_STATE/nfs/pid"
  fi
  wait_until 60 "NFS server (its log: $BED_LOG/nfs.log)" vm_share_is_served
}

vm_share_mount() {
  vm_ssh "$1" "mkdir -p $VM_SHARE && { mountpoint --quiet $VM_SHARE ||
    mount --types nfs4 --options minorversion=1,timeo=100 $NODE_ADDRESS:/share $VM_SHARE; }"
}

# Prints the folder.
vm_share_start() { # NAME
  vm_require_running "$1"
  vm_share_serve
  vm_share_mount "$1" || die "$1: $VM_SHARE could not be mounted, see $BED_LOG/nfs.log"
  printf '%s\n' "$VM_SHARE"
}
