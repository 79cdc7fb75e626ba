// SPDX-License-Identifier: GPL-2.0-or-later
// sidecar/token_keeper: when tokens are made, and what the Secrets have.
#include "sidecar/token_keeper.hpp"

#include <deque>

#include "support/cmocka.hpp"
#include "support/fake_client.hpp"
#include "support/fake_clock.hpp"

namespace slurmk8s {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/** Tokens are "USER/LIFESPAN/NUMBER". */
struct FakeTokens final : SlurmTokens {
  std::time_t booted = 1000;
  std::optional<Error> away;     // slurmctld does not answer
  std::optional<Error> refuses;  // it makes no token
  int made = 0;

  Result<std::time_t> load_booted() override {
    if (away) return *away;
    return booted;
  }
  Result<std::string> make_token(const std::string& user, seconds lifespan) override {
    if (refuses) return *refuses;
    return user + "/" + std::to_string(lifespan.count()) + "/" + std::to_string(++made);
  }
};

/** Calls wait for run(), as those of the thread may. */
struct FakeCaller final : TokenCaller {
  FakeTokens tokens;
  std::deque<Work> work;

  void call(Work one) override { work.push_back(std::move(one)); }
  void run() {
    for (; !work.empty(); work.pop_front()) work.front()(tokens)();
  }
};

struct Fixture {
  kube::FakeClient client;
  FakeClock clock;
  Timers timers{clock};
  kube::Throttle throttle{clock};
  FakeCaller caller;
  TokenKeeper keeper;

  explicit Fixture(const std::vector<TokenSpec>& specs = {{"ada", "slurm", "ada-token", seconds(600)}})
      : keeper({client, timers, clock, throttle, caller}, specs) {
    for (const TokenSpec& spec : specs) make_secret(spec.name_space, spec.secret);
    keeper.start();
  }
  void make_secret(const std::string& name_space, const std::string& name) {
    client.put(kube::kSecrets, name_space, Json::object().set("metadata", Json::object().set("name", name)));
  }
  void run_for(milliseconds time) {
    for (const TimePoint end = clock.now() + time; clock.now() < end;) {
      caller.run();
      if (client.deliver() == 0) clock.advance(milliseconds(500));
      timers.run_due();
    }
  }
  std::string token(const char* name = "ada-token", const char* name_space = "slurm") const {
    return std::string(client.find(kube::kSecrets, name_space, name)["stringData"][kTokenKey].text());
  }
  std::string expires() const {
    const Json secret = client.find(kube::kSecrets, "slurm", "ada-token");
    return std::string(secret["metadata"]["annotations"][kAnnotationTokenExpires].text());
  }
};

void writes_a_token_at_once(void**) {
  Fixture f;
  f.run_for(seconds(1));
  assert_text(f.token(), "ada/600/1");
  assert_text(f.expires(), "2026-01-01T00:10:00.500000Z");
}

void renews_it_at_half_of_its_time(void**) {
  Fixture f;
  f.run_for(seconds(295));
  assert_text(f.token(), "ada/600/1");
  f.run_for(seconds(15));
  assert_text(f.token(), "ada/600/2");
  f.run_for(seconds(600));
  assert_int_equal(f.caller.tokens.made, 4);
}

void renews_all_when_slurmctld_has_started_again(void**) {
  Fixture f({{"ada", "slurm", "ada-token", seconds(600)}, {"bob", "team", "bob-token", seconds(86400)}});
  f.run_for(seconds(20));
  assert_text(f.token("bob-token", "team"), "bob/86400/2");
  f.caller.tokens.booted++;
  f.run_for(seconds(6));
  assert_text(f.token(), "ada/600/3");
  assert_text(f.token("bob-token", "team"), "bob/86400/4");
  f.run_for(seconds(60));
  assert_int_equal(f.caller.tokens.made, 4);
}

void waits_for_slurmctld(void**) {
  Fixture f;
  f.caller.tokens.away = Error(Errc::unavailable, "slurm: Unable to contact slurm controller");
  f.run_for(seconds(60));
  assert_text(f.token(), "");
  f.caller.tokens.away.reset();
  f.run_for(seconds(6));
  assert_text(f.token(), "ada/600/1");
}

void keeps_the_token_while_slurmctld_refuses(void**) {
  Fixture f;
  f.run_for(seconds(290));
  f.caller.tokens.refuses = Error(Errc::forbidden, "slurm: Access/permission denied");
  f.run_for(seconds(120));
  assert_text(f.token(), "ada/600/1");
  f.caller.tokens.refuses.reset();
  f.run_for(seconds(35));
  assert_text(f.token(), "ada/600/2");
}

void asks_no_more_while_a_call_is_under_way(void**) {
  Fixture f;
  for (int i = 0; i < 60; i++) {
    f.clock.advance(seconds(1));
    f.timers.run_due();
  }
  assert_int_equal(f.caller.work.size(), 1);
}

void writes_again_after_a_failure(void**) {
  Fixture f;
  f.client.fail_next(kube::Verb::patch, Error(Errc::unavailable, "no route"));
  f.run_for(seconds(30));
  assert_text(f.token(), "ada/600/1");
  assert_int_equal(f.client.count(kube::Verb::patch), 2);
}

void creates_and_reads_no_secret(void**) {
  Fixture f;
  f.client.erase(kube::kSecrets, "slurm", "ada-token");
  f.run_for(seconds(10));
  assert_int_equal(f.client.count(kube::Verb::create) + f.client.count(kube::Verb::get), 0);
  assert_int_equal(f.client.count(kube::Verb::list) + f.client.count(kube::Verb::watch), 0);
  f.make_secret("slurm", "ada-token");  // an administrator restores it
  f.run_for(seconds(60));
  assert_text(f.token(), "ada/600/1");
}

void fills_a_secret_that_was_made_again(void**) {
  Fixture f;
  f.run_for(seconds(70));
  f.client.erase(kube::kSecrets, "slurm", "ada-token");
  f.make_secret("slurm", "ada-token");
  assert_text(f.token(), "");
  f.run_for(seconds(66));
  assert_text(f.token(), "ada/600/1");
  assert_int_equal(f.caller.tokens.made, 1);
  assert_int_equal(f.client.count(kube::Verb::patch), 3);  // once a minute
}

void reads_what_to_keep(void**) {
  const auto spec = parse_token_spec("ada=team-a/ada.token:3600");
  assert_true(spec.ok());
  assert_text(spec->user, "ada");
  assert_text(spec->name_space, "team-a");
  assert_text(spec->secret, "ada.token");
  assert_int_equal(spec->lifespan.count(), 3600);
}

void refuses_what_it_cannot_keep(void**) {
  for (const char* text : {"", "ada", "ada=s/t", "ada=t:60", "=s/t:60", "ada=/t:60", "ada=s/:60", "s/t:60"}) {
    const auto spec = parse_token_spec(text);
    assert_false(spec.ok());
    assert_text(spec.error().message(),
                "--token: invalid value \"" + std::string(text) + "\": must be USER=NAMESPACE/SECRET:SECONDS");
  }
  for (const char* text : {"ada=s/t:59", "ada=s/t:31536001", "ada=s/t:x", "ada=s/t:"}) {
    assert_text(parse_token_spec(text).error().message(),
                "--token: invalid value \"" + std::string(text) + "\": SECONDS must be 60 to 31536000");
  }
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(writes_a_token_at_once),
      SLURMK8S_TEST(renews_it_at_half_of_its_time),
      SLURMK8S_TEST(renews_all_when_slurmctld_has_started_again),
      SLURMK8S_TEST(waits_for_slurmctld),
      SLURMK8S_TEST(keeps_the_token_while_slurmctld_refuses),
      SLURMK8S_TEST(asks_no_more_while_a_call_is_under_way),
      SLURMK8S_TEST(writes_again_after_a_failure),
      SLURMK8S_TEST(creates_and_reads_no_secret),
      SLURMK8S_TEST(fills_a_secret_that_was_made_again),
      SLURMK8S_TEST(reads_what_to_keep),
      SLURMK8S_TEST(refuses_what_it_cannot_keep),
  };
  return cmocka_run_group_tests_name("sidecar_token_keeper", tests, nullptr, nullptr);
}
