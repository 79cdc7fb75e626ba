// SPDX-License-Identifier: GPL-2.0-or-later
// sidecar/config_exchange: requests and answers; here the test is images/slurmctld/config/main.py.
#include "sidecar/config_exchange.hpp"

#include <sys/stat.h>

#include <filesystem>

#include "base/file.hpp"
#include "support/cmocka.hpp"
#include "support/temporary_folder.hpp"

namespace slurmk8s {
namespace {

namespace fs = std::filesystem;

void reads_what_is_live(void**) {
  const TemporaryFolder folder;
  ConfigExchange exchange(folder.path(), folder.path() + "/live");
  assert_false(exchange.live().ok());
  folder.write("live/..set/slurm.conf", "x\n");
  fs::create_symlink("..set", folder.path() + "/live/..data");
  fs::create_symlink("..data/slurm.conf", folder.path() + "/live/slurm.conf");
  const ConfigFiles live = exchange.live().value();
  assert_int_equal(live.size(), 1);
  assert_text(live.at("slurm.conf"), "x\n");
  struct stat status {};
  assert_int_equal(lstat((folder.path() + "/live/..data").c_str(), &status), 0);
  assert_int_equal(exchange.installed().value(), status.st_mtime);
  assert_false(ConfigExchange(folder.path(), folder.path()).installed().ok());
}

void asks_and_hears(void**) {
  const TemporaryFolder folder;
  ConfigExchange exchange(folder.path(), folder.path() + "/live");
  const ConfigFiles files{{"slurm.conf", "y\n"}};
  assert_false(exchange.ask(ConfigInstaller::Verb::install, files).ok());  // nobody reads
  folder.write("requests", "");
  assert_true(exchange.ask(ConfigInstaller::Verb::install, files).ok());
  const std::string request = *read_file(folder.path() + "/requests", 100);
  assert_true(request.starts_with("install ") && request.ends_with("\n"));
  const std::string id = request.substr(8, request.size() - 9);
  assert_text(*read_file(folder.path() + "/sets/" + id + "/slurm.conf", 100), "y\n");
  assert_false(exchange.answer().has_value());
  folder.write("answer", R"({"id":"of another request","error":""})");
  assert_false(exchange.answer().has_value());
  folder.write("answer", R"({"id":")" + id + R"(","error":"no"})");
  assert_text(exchange.answer().value(), "no");
  assert_true(exchange.behind().empty());
  folder.write("answer", R"({"id":")" + id + R"(","error":"","behind":[{"pod":"b","uid":"1"}]})");
  assert_text(exchange.answer().value(), "");
  assert_true(exchange.behind() == (std::vector<OtherController>{{"b", "1"}}));
  folder.write("requests", "");
  assert_true(exchange.ask(ConfigInstaller::Verb::compare, {}).ok());
  assert_true(read_file(folder.path() + "/requests", 100)->starts_with("compare "));
  assert_true(exchange.behind().empty());  // of that request nothing is known
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(reads_what_is_live),
      SLURMK8S_TEST(asks_and_hears),
  };
  return cmocka_run_group_tests_name("sidecar_config_exchange", tests, nullptr, nullptr);
}
