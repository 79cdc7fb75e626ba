// SPDX-License-Identifier: GPL-2.0-or-later
// VariantStore: a pointer under a mutex, and a file of JSON.
#include "engine/variant_store.hpp"

#include <utility>

#include "base/file.hpp"
#include "base/log.hpp"
#include "json/json.hpp"

namespace slurmk8s {
namespace {

constexpr const char* kFile = "/slurm-k8s-variants.json";
constexpr std::size_t kMaxBytes = 8u << 20;

/** A clock tick has room for two writes. */
bool is_same_file(const struct stat& one, const struct stat& other) {
  return one.st_mtim.tv_sec == other.st_mtim.tv_sec && one.st_mtim.tv_nsec == other.st_mtim.tv_nsec &&
         one.st_ino == other.st_ino && one.st_size == other.st_size;
}

Result<VariantCatalog> load(const std::string& path) {
  const std::string text = SLURMK8S_TRY(read_file(path, kMaxBytes));
  return VariantCatalog::decode(SLURMK8S_TRY(Json::parse(text)));
}

}  // namespace

void VariantStore::open(const std::string& folder) {
  {
    auto state = state_.lock();
    state->users++;
    state->path = folder + kFile;
  }
  refresh();
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

void VariantStore::replace(State& state, std::shared_ptr<const VariantIndex>& fresh) {
  state.index.swap(fresh);
  state.former.swap(fresh);
}

/** The file is read without the mutex, for which slurmctld may wait while it holds its locks. */
void VariantStore::refresh() {
  const State before = *state_.lock();
  if (before.live || before.path.empty()) return;
  struct stat now {};
  if (stat(before.path.c_str(), &now) != 0) return;
  if (is_same_file(now, before.file)) return;
  const auto catalog = load(before.path);
  auto fresh = catalog ? std::make_shared<const VariantIndex>(*catalog) : nullptr;
  {
    auto state = state_.lock();
    if (state->live || state->path != before.path) return;
    state->file = now;
    if (fresh) replace(*state, fresh);
  }
  if (!catalog) {
    log_error("%s: %s: ignored; jobs and nodes are loaded without variants", before.path.c_str(),
              catalog.error().message().c_str());
  }
}

bool VariantStore::publish(const VariantCatalog* catalog) {
  // Made before the mutex is taken, for which slurmctld may wait while it holds its locks.
  auto fresh = catalog ? std::make_shared<const VariantIndex>(*catalog) : nullptr;
  std::string path;
  {
    auto state = state_.lock();
    state->live = catalog != nullptr;
    if (!catalog) {
      forget_if_unused(*state);
      return true;
    }
    replace(*state, fresh);
    path = state->path;
  }
  if (path.empty()) return true;
  const Status status = replace_file(path, catalog->encode().dump());
  if (!status) {
    log_error("%s: not saved; until it is, variants are lost at a restart of slurmctld",
              status.error().message().c_str());
  }
  return status.ok();
}

std::map<std::string, std::uint32_t> VariantStore::stored_ids() {
  const std::string path = state_.lock()->path;
  if (path.empty()) return {};
  const auto catalog = load(path);
  return catalog ? catalog->uids : std::map<std::string, std::uint32_t>();
}

std::shared_ptr<const VariantIndex> VariantStore::index() {
  auto state = state_.lock();
  return state->index ? state->index : std::make_shared<const VariantIndex>();
}

}  // namespace slurmk8s
