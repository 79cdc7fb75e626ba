# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The programs that the bed builds from Go modules, kept in the cache under a hash of their inputs.
#
#   programs/NAME-KEY/NAME   the program
#   bin/                     links to it, by the names it is called by
#   go/                      Go's caches while something is built (4 GB): removed once all is built, so
#                            that an interrupted build goes on where it was

# shellcheck disable=SC2034 # state.sh uses it
UP_PROGRAMS=(kube helm coredns)
# shellcheck disable=SC2034 # bed uses it
PROGRAMS=("${UP_PROGRAMS[@]}" kwok device-plugin prometheus-adapter dra-example-kubeletplugin jobset lws
  kube-router prometheus-operator prometheus-admission-webhook prometheus-config-reloader)

program_links() {
  case $1 in
    kube) echo kubectl etcd kube-apiserver kube-controller-manager kube-scheduler kubelet kube-proxy ;;
    *) echo "$1" ;;
  esac
}

program_flags() {
  local minor=${KUBERNETES_VERSION#*.}
  minor=${minor%.*}
  case $1 in
    kube)
      local version=k8s.io/component-base/version
      printf '%s ' -s -w -X "$version.gitVersion=v$KUBERNETES_VERSION" -X "$version.gitMajor=1" \
        -X "$version.gitMinor=$minor"
      ;;
    helm)
      # Without these a chart's kubeVersion is checked against Kubernetes 1.20.
      local package=helm.sh/helm/v3
      printf '%s ' -s -w -X "$package/internal/version.version=v$HELM_VERSION" \
        -X "$package/pkg/chartutil.k8sVersionMajor=1" -X "$package/pkg/chartutil.k8sVersionMinor=$minor" \
        -X "$package/pkg/lint/rules.k8sVersionMajor=1" -X "$package/pkg/lint/rules.k8sVersionMinor=$minor"
      ;;
    kwok) printf '%s ' -s -w -X "sigs.k8s.io/kwok/pkg/consts.Version=v$KWOK_VERSION" ;;
    prometheus-operator | prometheus-admission-webhook | prometheus-config-reloader)
      printf '%s ' -s -w -X "github.com/prometheus/common/version.Version=$PROMETHEUS_OPERATOR_VERSION"
      ;;
    *) echo -s -w ;;
  esac
}

program_module() {
  case $1 in
    helm) echo "helm.sh/helm/v3/cmd/helm@v$HELM_VERSION" ;;
    coredns) echo "github.com/coredns/coredns@v$COREDNS_VERSION" ;;
    kwok) echo "sigs.k8s.io/kwok/cmd/kwok@v$KWOK_VERSION" ;;
    prometheus-adapter) echo "sigs.k8s.io/prometheus-adapter@v$PROMETHEUS_ADAPTER_VERSION" ;;
    dra-example-kubeletplugin) echo "sigs.k8s.io/dra-example-driver@v$DRA_EXAMPLE_DRIVER_VERSION" ;;
    jobset) echo "sigs.k8s.io/jobset@v$JOBSET_VERSION" ;;
    lws) echo "sigs.k8s.io/lws@v$LWS_VERSION" ;;
    kube-router) echo "github.com/cloudnativelabs/kube-router/v2@v$KUBE_ROUTER_VERSION" ;;
  esac
}

# The folder of the bed with its go.mod; fails for a program that has none here.
program_folder() {
  case $1 in
    kube | device-plugin) echo "$BED_DIR/$1" ;;
    prometheus-operator | prometheus-admission-webhook | prometheus-config-reloader)
      echo "$BED_DIR/prometheus-operator"
      ;;
    *) return 1 ;;
  esac
}

# The package: in its module, for a program that `go install` cannot build from a proxy without a list of versions, or
# of another module, for one with a go.mod here.
program_package() {
  local operator=github.com/prometheus-operator/prometheus-operator
  case $1 in
    kube | device-plugin) echo . ;;
    prometheus-operator) echo "$operator/cmd/operator" ;;
    prometheus-admission-webhook) echo "$operator/cmd/admission-webhook" ;;
    prometheus-config-reloader) echo "$operator/cmd/prometheus-config-reloader" ;;
    prometheus-adapter) echo ./cmd/adapter ;;
    dra-example-kubeletplugin) echo ./cmd/dra-example-kubeletplugin ;;
    jobset) echo . ;;
    lws) echo ./cmd ;;
    kube-router) echo ./cmd/kube-router ;;
  esac
}

# The folder in the module with manifests that are kept beside the program: definition.yaml and webhooks.yaml.
program_manifests() {
  case $1 in
    jobset) echo config/components ;;
    lws) echo config ;;
  esac
}

# The folder of a module, fetched. Some proxies do not list its versions, which `go install` asks for.
program_fetch() { # GO NAME
  local answer directory
  # A fault of the download is in the answer, too.
  answer=$(cd / && GO111MODULE=on go_run env GOTOOLCHAIN=local "$1" mod download -json "$(program_module "$2")") || true
  directory=$(sed -n 's/^\t"Dir": "\(.*\)",\?$/\1/p' <<<"$answer")
  [[ -d $directory ]] || die "$2: not fetched: $answer"
  printf '%s\n' "$directory"
}

# Definitions of the Prometheus Operator: a folder of its module that is no package.
program_operator_definitions() { # GO FOLDER
  local module
  module=$(go_run env GOTOOLCHAIN=local "$1" list -C "$2" -m -f '{{.Dir}}' \
    github.com/prometheus-operator/prometheus-operator)
  cat "$module"/example/prometheus-operator-crd/*.yaml
}

program_key() {
  local folder file
  {
    printf '%s\n' "$(uname -m)" "$(program_module "$1")" "$(program_flags "$1")"
    if folder=$(program_folder "$1"); then
      for file in "$folder"/{main.go,go.mod,go.sum}; do [[ ! -e $file ]] || cat "$file"; done
    fi
  } | sha256sum | cut -c 1-16
}

program_is_built() {
  [[ -x $BED_CACHE/programs/$1-$(program_key "$1")/$1 && -x $BED_BIN/$(program_links "$1" | cut -d ' ' -f 1) ]]
}

program_compile() {
  local name=$1 go=$2 target=$3 arguments folder module manifests
  # GOTOOLCHAIN=local: the Go that was found is new enough; another one is not to be fetched unasked.
  arguments=(env GOTOOLCHAIN=local)
  if folder=$(program_folder "$name"); then
    go_run "${arguments[@]}" "$go" build -C "$folder" -mod=readonly -buildvcs=false -trimpath \
      -ldflags "$(program_flags "$name")" -o "$target/$name" "$(program_package "$name")"
    [[ $name != prometheus-operator ]] || program_operator_definitions "$go" "$folder" >"$target/definition.yaml"
  elif [[ $(program_package "$name") ]]; then
    module=$(program_fetch "$go" "$name")
    go_run "${arguments[@]}" "$go" build -C "$module" -mod=readonly -buildvcs=false -trimpath \
      -ldflags "$(program_flags "$name")" -o "$target/$name" "$(program_package "$name")"
    manifests=$(program_manifests "$name")
    [[ ! $manifests ]] || {
      cat "$module/$manifests"/crd/bases/*.yaml >"$target/definition.yaml"
      cat "$module/$manifests/webhook/manifests.yaml" >"$target/webhooks.yaml"
    }
  else
    (cd / && go_run "${arguments[@]}" GOBIN="$target" GO111MODULE=on \
      "$go" install -trimpath -ldflags "$(program_flags "$name")" "$(program_module "$name")")
  fi
}

program_link() {
  local name=$1 directory=$2 link
  mkdir -p "$BED_BIN"
  for link in $(program_links "$name"); do
    ln -sfn "../programs/$directory/$name" "$BED_BIN/$link"
  done
}

program_build() {
  local name=$1 go=$2 directory partial log
  directory=$name-$(program_key "$name")
  partial=$BED_CACHE/programs/.$directory
  log=$BED_CACHE/$name-build.log
  if [[ ! -x $BED_CACHE/programs/$directory/$name ]]; then
    progress "building $name (once; minutes; log: $log)"
    rm -rf "$partial"
    mkdir -p "$partial"
    if ! program_compile "$name" "$go" "$partial" >"$log" 2>&1; then
      tail -n 20 "$log" >&2
      die "$name: build failed, the whole log is $log"
    fi
    mv "$partial" "$BED_CACHE/programs/$directory"
    rm -f "$log"
  fi
  program_link "$name" "$directory"
  find "$BED_CACHE/programs" -mindepth 1 -maxdepth 1 -name "$name-*" ! -name "$directory" -exec rm -rf {} +
  progress "$name built"
}

# program_ensure NAME...: each one is built and linked when this returns.
program_ensure() {
  local name go missing=()
  for name in "$@"; do
    program_is_built "$name" || missing+=("$name")
  done
  ((${#missing[@]})) || return 0
  package_install ca-certificates
  lock_take programs
  go=$(go_program)
  for name in "${missing[@]}"; do
    program_is_built "$name" || program_build "$name" "$go" # by another command, meanwhile
  done
  program_remove_caches
}

# In the background: these are gigabytes of small files, whose removal takes minutes on some disks. What an interrupted
# removal has left goes, too.
program_remove_caches() {
  local gone=$BED_CACHE/.go-$$
  [[ -e $BED_CACHE/go ]] || return 0
  progress 'removing the build caches, in the background'
  mv "$BED_CACHE/go" "$gone"
  (
    close_inherited
    trap '' HUP
    # Modules are written without the right to change them.
    chmod -R u+w "$BED_CACHE"/.go-* && rm -rf "$BED_CACHE"/.go-*
  ) </dev/null >/dev/null 2>&1 &
}
