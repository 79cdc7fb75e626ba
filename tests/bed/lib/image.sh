# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Container images: made by buildah without any registry, kept in the cache, loaded into the bed's
# containerd. `pause`, `base` and `prometheus` are the bed's own, every images/NAME with a Dockerfile the product's.

# All that can change the product's images.
IMAGE_INPUTS=(lib engine nss plugins spank convert sidecar bridge images packaging docs m4 build-aux configure.ac
  Makefile.am
  autogen.sh LICENSE .containerignore)

# skip_mount_home: or every call would leave a mount behind. TMPDIR: the builder's cache of compiled files is below it.
image_buildah() {
  mkdir -p "$BED_CACHE/buildah"
  TMPDIR=$BED_CACHE/buildah CONTAINERS_REGISTRIES_CONF=$BED_DIR/config/registries.conf BUILDAH_ISOLATION=chroot \
    buildah --root "$BED_CACHE/storage" --runroot /run/slurm-k8s-buildah \
    --storage-driver overlay --storage-opt overlay.skip_mount_home=true "$@"
}

image_ctr() {
  ctr --address "$CONTAINERD_SOCKET" --namespace k8s.io images "$@"
}

# Prints the names of the product's images in the order in which they are to be built.
image_product_names() {
  local directory
  if [[ -f $REPOSITORY/images/build-order ]]; then
    grep -v '^#' "$REPOSITORY/images/build-order"
    return
  fi
  for directory in "$REPOSITORY"/images/*/; do
    [[ ! -f $directory/Dockerfile ]] || basename "$directory"
  done
}

image_reference() {
  case $1 in
    pause) echo "$PAUSE_IMAGE" ;;
    base) echo "$BASE_IMAGE" ;;
    prometheus) echo "$PROMETHEUS_IMAGE" ;;
    *) echo "localhost/slurm-k8s/$1:$IMAGE_TAG" ;;
  esac
}

# Prints the name of the file that remembers an image: below images/ of the cache, and of the bed's state.
image_file() {
  case $1 in
    pause) echo pause ;;
    base | prometheus) echo "$1-$BASE_SUITE" ;;
    *) echo "$1-$IMAGE_TAG" ;;
  esac
}

image_require() {
  case $1 in
    pause | base | prometheus) ;;
    *) [[ $1 =~ ^[a-z][a-z0-9-]*$ && -f $REPOSITORY/images/$1/Dockerfile ]] ||
      die "image $1: no images/$1/Dockerfile" ;;
  esac
}

# git also lists files that were removed and not yet committed.
image_existing_files() {
  local file
  while IFS= read -r -d '' file; do
    [[ ! -e $REPOSITORY/$file ]] || printf '%s\0' "$file"
  done
}

# Prints the names of the inputs: what git knows or would add; everything where the tree is no clone.
image_input_names() {
  if [[ -e $REPOSITORY/.git ]]; then
    git -C "$REPOSITORY" ls-files -z --cached --others --exclude-standard -- "${IMAGE_INPUTS[@]}"
  else
    (cd "$REPOSITORY" && find "${IMAGE_INPUTS[@]}" ! -type d -print0 2>/dev/null) || true
  fi
}

image_product_inputs() {
  image_input_names | sort -z | image_existing_files |
    tar -C "$REPOSITORY" --create --no-recursion --mtime=@0 --owner=0 --group=0 --numeric-owner --null --files-from=-
}

# Prints the image that must be up to date before the named one is built: most of the product's images copy from
# `builder`, that of Slurm's test suite begins with slurmctld's, that of tests/clients with slurmd's.
image_parent() {
  case $1 in
    pause | base) ;;
    prometheus) echo base ;;
    suite) echo slurmctld ;;
    clients) echo slurmd ;;
    *) if grep -q '^ARG BUILDER' "$REPOSITORY/images/$1/Dockerfile"; then echo builder; else echo base; fi ;;
  esac
}

image_key() {
  case $1 in
    pause) cat "$BED_DIR/image/pause/Dockerfile" "$(command -v catatonit)" ;;
    base)
      cat "$BED_DIR"/image/base/*
      printf '%s\n' "$BASE_SUITE"
      ;;
    prometheus)
      image_record base
      program_key prometheus-config-reloader
      cat "$BED_DIR/image/prometheus/Dockerfile"
      ;;
    *)
      image_record "$(image_parent "$1")"
      image_product_inputs
      ;;
  esac | sha256sum | cut -c 1-16
}

# Prints "KEY ID" of what was built last, if anything.
image_record() {
  cat "$BED_CACHE/images/$(image_file "$1")" 2>/dev/null || true
}

image_id() {
  local record
  record=$(image_record "$1")
  printf '%s\n' "${record#* }"
}

# image_is_built NAME KEY
image_is_built() {
  local record
  record=$(image_record "$1")
  [[ ${record%% *} == "$2" ]] && [[ $(image_buildah images --quiet --no-trunc) == *"sha256:${record#* }"* ]]
}

# Unmounts what is mounted below the builder's folders, the innermost first. buildah unmounts only what it has recorded.
image_unmount() {
  local folder mount
  for folder in "$BED_CACHE/storage" "$BED_CACHE/buildah"; do
    while read -r mount; do
      umount --lazy "$mount"
    done < <(folder=$(realpath --canonicalize-missing "$folder")/ \
      awk 'index($5, ENVIRON["folder"]) == 1 { print $5 }' /proc/self/mountinfo | tac)
  done
}

# Removes images without a manifest: as long as there is one buildah lists none.
image_remove_unfinished() {
  local directory
  ! image_buildah images --quiet >/dev/null 2>&1 || return 0
  for directory in "$BED_CACHE"/storage/overlay-images/*/; do
    [[ -e $directory/manifest ]] || image_buildah rmi "$(basename "$directory")" >/dev/null 2>&1 || true
  done
}

# Removes what a build that was killed has left: mounts, containers, an image that wasn't written to its end. Needs the
# lock of the images. All processes of a build hold it, so none of them runs.
image_heal() {
  image_unmount
  image_buildah rm --all >/dev/null
  image_remove_unfinished
}

# This machine's way to PyPI, for the image that needs it: files that are mounted into its build and stay in no layer.
image_pip_secrets() { # FOLDER
  env | sed -nE "s/^(PIP_[A-Z_]+)=(.*)/export \1='\2'/p" >"$1/pip"
  cat /etc/pip.conf >"$1/pip.conf" 2>/dev/null || true
  cat /etc/ssl/certs/ca-certificates.crt >"$1/certificates" 2>/dev/null || true
}

# image_bud NAME CONTEXT DOCKERFILE KEY: needs the lock of the images.
image_bud() {
  local name=$1 context=$2 dockerfile=$3 key=$4 work log=$BED_CACHE/$1-image.log secret options=()
  work=$(mktemp -d)
  if [[ $name == clients ]]; then
    image_pip_secrets "$work"
    for secret in pip pip.conf certificates; do options+=(--secret "id=$secret,src=$work/$secret"); done
  fi
  if ! image_buildah build --signature-policy "$BED_DIR/config/policy.json" --layers --force-rm --pull=never \
    --build-arg BASE="$BASE_IMAGE" --build-arg BUILDER="$(image_reference builder)" \
    --build-arg SLURMCTLD="$(image_reference slurmctld)" \
    --build-arg SLURMD="$(image_reference slurmd)" "${options[@]}" \
    --file "$dockerfile" --tag "$(image_reference "$name")" --iidfile "$work/id" "$context" >"$log" 2>&1; then
    tail -n 40 "$log" >&2
    rm -rf "$work"
    die "image $name: build failed, the whole log is $log"
  fi
  mkdir -p "$BED_CACHE/images"
  printf '%s %s\n' "$key" "$(sed 's/^sha256://' "$work/id")" >"$BED_CACHE/images/$(image_file "$name")"
  rm -rf "$work" "$log"
}

image_build_pause() {
  local context=$BED_CACHE/pause-context
  rm -rf "$context"
  mkdir -p "$context"
  cp "$(command -v catatonit)" "$context/catatonit"
  image_bud pause "$context" "$BED_DIR/image/pause/Dockerfile" "$1"
  rm -rf "$context"
}

image_build_prometheus() {
  local context=$BED_CACHE/prometheus-context
  program_ensure prometheus-config-reloader
  rm -rf "$context"
  mkdir -p "$context"
  cp "$BED_BIN/prometheus-config-reloader" "$context"
  image_bud prometheus "$context" "$BED_DIR/image/prometheus/Dockerfile" "$1"
  rm -rf "$context"
}

# Builds the image unless the one in the cache was made from the same inputs.
image_ensure_built() {
  local name=$1 parent key
  parent=$(image_parent "$name")
  [[ -z $parent ]] || image_ensure_built "$parent"
  key=$(image_key "$name")
  # Without the lock: buildah lists nothing, and says so, while another command makes an image.
  ! image_is_built "$name" "$key" 2>/dev/null || return 0
  lock_take images
  image_heal
  # While this one waited the tree may have changed, and another command may have built it.
  key=$(image_key "$name")
  ! image_is_built "$name" "$key" || return 0
  progress "image $name: building (log: $BED_CACHE/$name-image.log)"
  case $name in
    pause | base | prometheus) "image_build_$name" "$key" ;;
    *) image_bud "$name" "$REPOSITORY" "$REPOSITORY/images/$name/Dockerfile" "$key" ;;
  esac
  progress "image $name: built"
}

# Layers of earlier builds stay for a week, since the next build may reuse them.
image_prune() {
  local identities
  mapfile -t identities < <(image_buildah images --quiet --filter dangling=true --filter until=168h | sort -u)
  ((${#identities[@]} == 0)) || image_buildah rmi "${identities[@]}" >/dev/null
}

image_build() {
  local names=("$@") name
  package_install "${IMAGE_PACKAGES[@]}"
  ((${#names[@]})) || mapfile -t names < <(image_product_names)
  ((${#names[@]})) || die "$REPOSITORY/images: no image there"
  for name in "${names[@]}"; do image_require "$name"; done
  for name in "${names[@]}"; do image_ensure_built "$name"; done
}

image_is_loaded() {
  [[ $(cat "$BED_STATE/images/$(image_file "$1")" 2>/dev/null) == "$2" ]] &&
    [[ -n $(image_ctr ls --quiet "name==$(image_reference "$1")") ]]
}

# Prints the id of a built image.
image_built_id() {
  local id
  image_require "$1"
  id=$(image_id "$1")
  [[ -n $id ]] || die "image $1: not built (bed image build $1)"
  printf '%s\n' "$id"
}

# Prints the product's images that pods run: the builder image is only an ingredient of the others.
image_runnable_names() {
  image_product_names | grep -vx builder
}

# Writes a built image into a new file, and prints its name.
image_archive() { # NAME ID
  local archive
  archive=$(mktemp "$BED_STATE/image-XXXXXX")
  # buildah adds to an archive that exists.
  rm -f "$archive"
  image_buildah push --quiet --signature-policy "$BED_DIR/config/policy.json" \
    "$2" "docker-archive:$archive:$(image_reference "$1")" >/dev/null
  printf '%s\n' "$archive"
}

# Imports a built image into containerd, unless that very one is there.
image_load_one() {
  local name=$1 id archive
  id=$(image_built_id "$name")
  ! image_is_loaded "$name" "$id" || return 0
  archive=$(image_archive "$name" "$id")
  image_ctr import --digests=false "$archive" >/dev/null
  rm -f "$archive"
  mkdir -p "$BED_STATE/images"
  printf '%s\n' "$id" >"$BED_STATE/images/$(image_file "$name")"
  progress "image $name: loaded"
}

image_load() {
  local names=("$@") name
  state_require_up
  ((${#names[@]})) || mapfile -t names < <(image_runnable_names)
  ((${#names[@]})) || die "$REPOSITORY/images: no image there"
  for name in "${names[@]}"; do image_load_one "$name"; done
}

# image_push PREFIX TAG [NAME...]: from the cache to a registry, so no bed has to be up.
image_push() {
  local prefix=${1:-} tag=${2:-} names name id options=()
  (($# >= 2)) || usage_error 'image push: PREFIX TAG [NAME...]'
  names=("${@:3}")
  ((${#names[@]})) || mapfile -t names < <(image_runnable_names)
  # A registry on this machine has no certificate that anybody knows.
  [[ ! $prefix =~ ^(localhost|127\.0\.0\.1)[:/] ]] || options=(--tls-verify=false)
  for name in "${names[@]}"; do
    id=$(image_built_id "$name")
    image_buildah push --quiet "${options[@]}" --signature-policy "$BED_DIR/config/policy.json" \
      "$id" "docker://$prefix/$name:$tag" || die "image $name: push to $prefix/$name:$tag: see above"
    progress "image $name: pushed to $prefix/$name:$tag"
  done
}

# image_import FILE...: archives of images, made by whom ever, into containerd.
image_import() {
  local file
  state_require_up
  for file; do image_ctr import --digests=false "$file"; done
}

# image_forget REFERENCE...: removes them from containerd. Those that aren't there are fine.
image_forget() {
  local reference
  state_require_up
  for reference; do
    [[ -z $(image_ctr ls --quiet "name==$reference") ]] || image_ctr rm --sync "$reference" >/dev/null
  done
}

# The builder as a command of buildah, for packaging/release: with the bed's base images, and no others.
image_builder() { # COMMAND ARGUMENT...
  local command=${1:-} options=()
  (($#)) || usage_error 'image buildah: COMMAND: required'
  shift
  [[ $command != @(build|push) ]] || options+=(--signature-policy "$BED_DIR/config/policy.json")
  [[ $command != build ]] || options+=(--force-rm --pull=never)
  lock_take images
  image_buildah "$command" "${options[@]}" "$@"
}

image_list() {
  local name id loaded
  printf '%-12s %-14s %-7s %s\n' NAME ID LOADED REFERENCE
  for name in pause base prometheus $(image_product_names); do
    id=$(image_id "$name")
    loaded=no
    if state_is_prepared && [[ -n $id ]] && image_is_loaded "$name" "$id"; then loaded=yes; fi
    printf '%-12s %-14s %-7s %s\n' "$name" "${id:0:12}" "$loaded" "$(image_reference "$name")"
  done
}

image_main() {
  local action=${1:-}
  (($#)) && shift
  case $action in
    build)
      image_build "$@"
      # What was built took the lock.
      [[ -z ${LOCKS_HELD[images]:-} ]] || image_prune
      ;;
    load) image_load "$@" ;;
    push) image_push "$@" ;;
    import) image_import "$@" ;;
    forget) image_forget "$@" ;;
    buildah) image_builder "$@" ;;
    run) chroot_run "$@" ;;
    list) image_list ;;
    names)
      state_require_up
      image_ctr ls --quiet
      ;;
    tag) echo "$IMAGE_TAG" ;;
    *) usage_error 'image: build|load [NAME...], push PREFIX TAG [NAME...], import FILE..., forget REFERENCE...,
      run NAME COMMAND..., buildah COMMAND..., list, names or tag' ;;
  esac
}
