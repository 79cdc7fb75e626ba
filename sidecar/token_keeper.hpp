// SPDX-License-Identifier: GPL-2.0-or-later
// TokenKeeper: keeps tokens of Slurm users fresh in Secrets.
//
// slurmctld signs them: this process has no key. A token is renewed when half of its time is over, and when slurmctld
// has started again, since it may have another key then. The Secrets are there already: it patches them, and neither
// creates nor reads one. It does so once a minute, for a Secret that was made again or emptied. Same thread rules as
// kube::Client.
#pragma once

#include <chrono>
#include <ctime>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.hpp"
#include "kube/object_writer.hpp"
#include "event/timers.hpp"
#include "sidecar/token_caller.hpp"

namespace slurmk8s {

/** Key of the Secret: the variable that Slurm's commands read. */
inline constexpr const char* kTokenKey = "SLURM_JWT";
/** On the Secret: when its token expires (RFC 3339). */
inline constexpr const char* kAnnotationTokenExpires = "slurm-k8s.io/token-expires";

/** Whose token is kept where. */
struct TokenSpec {
  std::string user;
  std::string name_space;
  std::string secret;
  std::chrono::seconds lifespan{0};
};

/** "USER=NAMESPACE/SECRET:SECONDS", SECONDS from 60 on. */
Result<TokenSpec> parse_token_spec(std::string_view text);

/** What a TokenKeeper works with; all must outlive it. */
struct TokenKeeperParts {
  kube::Writer& kube_writer;
  Timers& timers;
  const Clock& clock;
  kube::Throttle& throttle;
  TokenCaller& caller;
};

class TokenKeeper {
 public:
  TokenKeeper(const TokenKeeperParts& parts, const std::vector<TokenSpec>& specs);
  ~TokenKeeper() { stop(); }
  TokenKeeper(const TokenKeeper&) = delete;
  TokenKeeper& operator=(const TokenKeeper&) = delete;

  void start() { look_after(std::chrono::milliseconds(0)); }
  void stop();

 private:
  struct Entry {
    TokenSpec spec;
    TimePoint due{};    // when the next token is made
    std::string token;  // none: empty
    std::chrono::system_clock::time_point expires;
    TimePoint write_due{};  // when it is written once more; none: it never was
  };
  /** One token that was asked for. */
  struct Answer {
    std::size_t entry;
    Result<std::string> token;
  };
  struct Answers {
    Result<std::time_t> booted;
    std::vector<Answer> tokens;
  };

  static Answers ask(SlurmTokens& slurm, const std::vector<TokenSpec>& specs, const std::vector<std::size_t>& due,
                     std::optional<std::time_t> booted);
  void look_after(std::chrono::milliseconds delay);
  void look();
  void take(const Answers& answers);
  void take(Entry& entry, const Result<std::string>& token);
  void write(Entry& entry);
  kube::ObjectWriter& writer(const std::string& name_space);
  void log_failure(const std::string& what, const Error& error);

  TokenKeeperParts parts_;
  std::vector<TokenSpec> specs_;
  std::vector<Entry> entries_;
  std::map<std::string, std::unique_ptr<kube::ObjectWriter>> writers_;  // by namespace
  std::optional<std::time_t> booted_;                                   // slurmctld, when it made the tokens
  Timers::Id timer_ = 0;
  bool asking_ = false;
  LogLimiter limiter_;
};

}  // namespace slurmk8s
