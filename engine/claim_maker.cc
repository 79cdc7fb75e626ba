// SPDX-License-Identifier: GPL-2.0-or-later
// Claims, one after the other.
#include "engine/claim_maker.hpp"

namespace slurmk8s {
namespace {

std::string name_of(const Json& claim) { return std::string(claim.at({"metadata", "name"}).text()); }

}  // namespace

void ClaimMaker::next(std::vector<Json> claims, std::size_t index, Done done) {
  if (index == claims.size()) return done({});
  executor_.create(kube::kVolumeClaims, claims[index],
                   [this, claims, index, done = std::move(done)](const Result<Json>& result) {
                     if (result) return next(claims, index + 1, done);
                     if (result.error().code() == Errc::already_exists) return read(claims, index, done);
                     done(result.error().wrap("claim " + name_of(claims[index])));
                   });
}

void ClaimMaker::read(std::vector<Json> claims, std::size_t index, Done done) {
  const std::string name = name_of(claims[index]);
  executor_.get(kube::kVolumeClaims, name,
                [this, claims, index, done = std::move(done), name](const Result<Json>& result) {
                  const bool gone = !result && result.error().code() == Errc::not_found;
                  if (gone || (result && !result->at({"metadata", "deletionTimestamp"}).is_null())) {
                    return done(Error(Errc::unavailable, "claim " + name + ": it is being deleted"));
                  }
                  if (!result) return done(result.error().wrap("claim " + name));
                  next(claims, index + 1, done);
                });
}

}  // namespace slurmk8s
