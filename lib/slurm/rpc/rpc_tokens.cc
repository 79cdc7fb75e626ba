// SPDX-License-Identifier: GPL-2.0-or-later
// SlurmTokens over Slurm's RPCs. Apart from rpc_slurm.cc: slurmctld's plugins have no use for it.
#include <cerrno>
#include <memory>
#include <string>

#include "slurm/rpc/call.hpp"
#include "slurm/rpc/compat.hpp"
#include "slurm/tokens.hpp"

// libslurm exports it, for what it hands out, and has it in no public header.
extern "C" void slurm_xfree(void** text);

namespace slurmk8s {
namespace {

struct TextDeleter {
  void operator()(char* text) const { slurm_xfree(reinterpret_cast<void**>(&text)); }
};

class RpcTokens final : public SlurmTokens {
 public:
  Result<std::time_t> load_booted() override {
    slurm_conf_t* raw = nullptr;
    errno = 0;
    if (slurm_load_ctl_conf(0, &raw) != SLURM_SUCCESS || raw == nullptr) return last_error();
    return Conf(raw)->boot_time;
  }

  Result<std::string> make_token(const std::string& user, std::chrono::seconds lifespan) override {
    errno = 0;
    const std::unique_ptr<char, TextDeleter> token(
        slurm_fetch_token(unconst(user), static_cast<int>(lifespan.count())));
    if (token) return std::string(token.get());
    if (errno == 0) return Error(Errc::protocol, "slurm: an empty token");
    return last_error();
  }
};

}  // namespace

std::unique_ptr<SlurmTokens> make_rpc_tokens() { return std::make_unique<RpcTokens>(); }

}  // namespace slurmk8s
