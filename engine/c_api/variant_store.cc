// SPDX-License-Identifier: GPL-2.0-or-later
// VariantStore: a pointer under a mutex, and a file of JSON.
#include "engine/c_api/variant_store.hpp"

#include <utility>

#include "base/file.hpp"
#include "base/log.hpp"
#include "json/json.hpp"

namespace slurmk8s {
namespace {

constexpr const char* kFile = "/slurm-k8s-variants.json";
constexpr std::size_t kMaxBytes = 8u << 20;
constexpr std::chrono::seconds kLookInterval{1};

Result<VariantCatalog> load(const std::string& path) {
  const std::string text = SLURMK8S_TRY(read_file(path, kMaxBytes));
  return VariantCatalog::decode(SLURMK8S_TRY(Json::parse(text)));
}

}  // namespace

void VariantStore::open(const std::string& folder) {
  auto state = state_.lock();
  state->users++;
  state->path = folder + kFile;
  if (!state->live) read(*state);
}

void VariantStore::close() {
  auto state = state_.lock();
  state->users--;
  forget_if_unused(*state);
}

void VariantStore::forget_if_unused(State& state) {
  if (state.users > 0 || state.live) return;
  State forgotten;  // an assigned string would keep its memory
  std::swap(state, forgotten);
}

/** Another file than the last time is read; a missing one says nothing. */
void VariantStore::read(State& state) {
  state.looked = std::chrono::steady_clock::now();
  struct stat now {};
  if (stat(state.path.c_str(), &now) != 0) return;
  if (now.st_mtim.tv_sec == state.changed.tv_sec && now.st_mtim.tv_nsec == state.changed.tv_nsec) return;
  state.changed = now.st_mtim;
  const auto catalog = load(state.path);
  if (catalog) {
    state.index = std::make_shared<const VariantIndex>(*catalog);
  } else {
    log_error("%s: %s: jobs and nodes are read without what it says", state.path.c_str(),
              catalog.error().message().c_str());
  }
}

void VariantStore::publish(const VariantCatalog* catalog) {
  // Made before the mutex is taken, for which slurmctld may wait while it holds its locks.
  auto fresh = catalog ? std::make_shared<const VariantIndex>(*catalog) : nullptr;
  std::string path;
  {
    auto state = state_.lock();
    state->live = catalog != nullptr;
    if (!catalog) return forget_if_unused(*state);
    state->index.swap(fresh);
    state->former.swap(fresh);
    path = state->path;
  }
  if (path.empty()) return;
  const Status status = replace_file(path, catalog->encode().dump());
  if (!status) log_error("%s: a restart of slurmctld would not know the variants", status.error().message().c_str());
}

std::shared_ptr<const VariantIndex> VariantStore::index() {
  auto state = state_.lock();
  if (!state->live && !state->path.empty() && std::chrono::steady_clock::now() - state->looked >= kLookInterval) {
    read(*state);
  }
  return state->index ? state->index : std::make_shared<const VariantIndex>();
}

}  // namespace slurmk8s
