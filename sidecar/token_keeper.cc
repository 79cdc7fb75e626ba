// SPDX-License-Identifier: GPL-2.0-or-later
// Tokens in Secrets: when they are made, and how they are written.
#include "sidecar/token_keeper.hpp"

#include <utility>

#include "base/rfc3339.hpp"
#include "base/strings.hpp"

namespace slurmk8s {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds kPeriod{5};        // between two looks: a restarted slurmctld is seen within this
constexpr seconds kRetry{30};        // after slurmctld has refused a token
constexpr seconds kRewrite{60};      // the API server takes the same patch once more without a change
constexpr seconds kMinLifespan{60};  // the kubelet takes about a minute to bring a changed Secret to a pod
constexpr seconds kMaxLifespan{365 * 86400};
constexpr seconds kLogInterval{60};

Json build_patch(const std::string& token, std::chrono::system_clock::time_point expires) {
  Json annotations = Json::object().set(kAnnotationTokenExpires, rfc3339(expires));
  Json patch = Json::object();
  patch.set("metadata", Json::object().set("annotations", std::move(annotations)))
      .set("stringData", Json::object().set(kTokenKey, token));
  return patch;
}

}  // namespace

Result<TokenSpec> parse_token_spec(std::string_view text) {
  const std::size_t equals = text.find('='), slash = text.find('/', equals), colon = text.find(':', slash);
  const auto invalid = [&](const char* what) { return invalid_value("--token", text, what); };
  if (colon == std::string_view::npos) return invalid("must be USER=NAMESPACE/SECRET:SECONDS");
  TokenSpec spec{.user = std::string(text.substr(0, equals)),
                 .name_space = std::string(text.substr(equals + 1, slash - equals - 1)),
                 .secret = std::string(text.substr(slash + 1, colon - slash - 1))};
  if (spec.user.empty() || spec.name_space.empty() || spec.secret.empty()) {
    return invalid("must be USER=NAMESPACE/SECRET:SECONDS");
  }
  const auto number = parse_int(text.substr(colon + 1));
  if (!number || *number < kMinLifespan.count() || *number > kMaxLifespan.count()) {
    return invalid("SECONDS must be 60 to 31536000");
  }
  spec.lifespan = seconds(*number);
  return spec;
}

TokenKeeper::TokenKeeper(const TokenKeeperParts& parts, const std::vector<TokenSpec>& specs)
    : parts_(parts), specs_(specs), limiter_(kLogInterval) {
  for (const TokenSpec& spec : specs) entries_.push_back({.spec = spec, .token = {}, .expires = {}});
}

void TokenKeeper::stop() {
  parts_.timers.cancel(timer_);
  timer_ = 0;
}

void TokenKeeper::look_after(milliseconds delay) {
  stop();
  timer_ = parts_.timers.after(delay, [this] {
    timer_ = 0;
    look();
  });
}

void TokenKeeper::look() {
  look_after(kPeriod);
  for (Entry& entry : entries_) write(entry);
  if (asking_) return;
  asking_ = true;
  std::vector<std::size_t> due;
  for (std::size_t i = 0; i < entries_.size(); i++) {
    if (parts_.clock.now() >= entries_[i].due) due.push_back(i);
  }
  parts_.caller.call([this, specs = specs_, due = std::move(due), booted = booted_](SlurmTokens& slurm) {
    return [this, answers = ask(slurm, specs, due, booted)] { take(answers); };
  });
}

/** The caller's thread: `due` are made, or all, when slurmctld has started since `booted`. */
TokenKeeper::Answers TokenKeeper::ask(SlurmTokens& slurm, const std::vector<TokenSpec>& specs,
                                      const std::vector<std::size_t>& due, std::optional<std::time_t> booted) {
  Answers answers{slurm.load_booted(), {}};
  if (!answers.booted) return answers;
  const auto add = [&](std::size_t i) {
    answers.tokens.push_back({i, slurm.make_token(specs[i].user, specs[i].lifespan)});
  };
  if (booted == *answers.booted) {
    for (const std::size_t i : due) add(i);
  } else {
    for (std::size_t i = 0; i < specs.size(); i++) add(i);
  }
  return answers;
}

void TokenKeeper::take(const Answers& answers) {
  asking_ = false;
  if (!answers.booted) return log_failure("tokens", answers.booted.error());
  booted_ = *answers.booted;
  for (const Answer& answer : answers.tokens) take(entries_[answer.entry], answer.token);
}

void TokenKeeper::take(Entry& entry, const Result<std::string>& token) {
  if (!token) {
    entry.due = parts_.clock.now() + kRetry;
    return log_failure("token of " + entry.spec.user, token.error());
  }
  entry.due = parts_.clock.now() + entry.spec.lifespan / 2;
  entry.expires = parts_.clock.wall() + entry.spec.lifespan;
  entry.token = *token;
  entry.write_due = {};
  write(entry);
}

void TokenKeeper::write(Entry& entry) {
  kube::ObjectWriter& secrets = writer(entry.spec.name_space);
  if (entry.token.empty() || parts_.clock.wall() >= entry.expires) return;
  if (parts_.clock.now() < entry.write_due || !secrets.may_write(entry.spec.secret)) return;
  secrets.patch(entry.spec.secret, kube::PatchType::merge, build_patch(entry.token, entry.expires),
                [this, &entry, sent = entry.token](const Result<Json>& answer) {
                  // Without an answer it is written again.
                  if (!answer || entry.token != sent) return;
                  if (std::exchange(entry.write_due, parts_.clock.now() + kRewrite) != TimePoint{}) return;
                  log_info("token of %s: in secret %s/%s until %s", entry.spec.user.c_str(),
                           entry.spec.name_space.c_str(), entry.spec.secret.c_str(), rfc3339(entry.expires).c_str());
                });
}

kube::ObjectWriter& TokenKeeper::writer(const std::string& name_space) {
  auto& found = writers_[name_space];
  if (!found) {
    found = std::make_unique<kube::ObjectWriter>(parts_.kube_writer, parts_.clock, parts_.throttle,
                                                 kube::ObjectWriterOptions{.resource = kube::kSecrets,
                                                                           .name_space = name_space,
                                                                           .what = "secret",
                                                                           .action = "write a token",
                                                                           .logs_absence = true});
  }
  return *found;
}

void TokenKeeper::log_failure(const std::string& what, const Error& error) {
  unsigned suppressed = 0;
  if (!limiter_.allow(parts_.clock.now(), suppressed)) return;
  log_warning("%s: %s (%u similar messages suppressed)", what.c_str(), error.message().c_str(), suppressed);
}

}  // namespace slurmk8s
