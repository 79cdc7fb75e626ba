// SPDX-License-Identifier: GPL-2.0-or-later
// Leases, ConfigMaps and Secrets as the API server has them, and the arguments and texts that name them.
#include "daemon/leader_lease.hpp"
#include "fuzz/target.hpp"
#include "sidecar/config_pusher.hpp"
#include "sidecar/token_keeper.hpp"
#include "slurm/job_comment.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slurmk8s;
  const std::string_view text = as_text(data, size);
  if (const auto token = parse_token_spec(text); token.ok()) {
    require(token->lifespan.count() >= 60, "a token that expires at once");
    require(!token->user.empty() && !token->name_space.empty() && !token->secret.empty(), "a token without a place");
  }
  if (const auto source = parse_config_source(text); source.ok()) require(!source->name.empty(), "no name");
  if (const auto comment = parse_job_comment(text)) {
    require(parse_job_comment(build_job_comment(*comment)) == comment, "another comment the second time");
  }
  const auto object = Json::parse(text);
  if (!object.ok()) return 0;
  const Lease lease = decode_lease(*object, std::chrono::seconds(15));
  require(!lease.there || lease.duration.count() > 0, "a lease of no time");
  plan_lease(lease, "me", false);
  for (const bool is_secret : {false, true}) decode_config_files(*object, is_secret);
  return 0;
}
