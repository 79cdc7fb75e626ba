// SPDX-License-Identifier: GPL-2.0-or-later
// base/file and base/unique_fd: whole files, the cap, and each error's code.
#include "base/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>

#include "base/unique_fd.hpp"
#include "support/temporary_folder.hpp"

#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

int make_folder(void** state) {
  *state = new TemporaryFolder;
  return 0;
}

int remove_folder(void** state) {
  delete static_cast<TemporaryFolder*>(*state);
  return 0;
}

const TemporaryFolder& folder(void** state) { return *static_cast<TemporaryFolder*>(*state); }

void reads_whole_files(void** state) {
  for (const std::size_t size : {0u, 1u, 16383u, 16384u, 16385u, 100000u}) {
    const std::string content(size, 'x');
    const auto read = read_file(folder(state).write("file", content), 100000);
    assert_ok(read);
    assert_true(*read == content);
  }
  const std::string binary("a\0b\n", 4);
  assert_true(*read_file(folder(state).write("binary", binary), 4) == binary);
}

void refuses_more_than_the_cap(void** state) {
  const std::string path = folder(state).write("file", "12345");
  assert_ok(read_file(path, 5));
  assert_error(read_file(path, 4), Errc::invalid, path);
  assert_error(read_file(path, 0), Errc::invalid, "more than 0 bytes");
  assert_error(read_file("/dev/zero", 100000), Errc::invalid, "/dev/zero: more than");
}

void names_errors(void** state) {
  assert_error(read_file(folder(state).path() + "/none", 9), Errc::not_found, "/none: open: No such file");
  assert_error(read_file(folder(state).write("f", "") + "/below", 9), Errc::not_found, "/f/below");
  assert_error(read_file(folder(state).path(), 9), Errc::invalid, "Is a directory");
  if (::geteuid() != 0) {
    const std::string path = folder(state).write("secret", "x");
    ::chmod(path.c_str(), 0);
    assert_error(read_file(path, 9), Errc::forbidden, path);
  }
}

void reads_files_of_unknown_size(void** state) {
  assert_true(read_file("/proc/self/status", 1 << 20)->size() > 100);
  const std::string pipe = folder(state).path() + "/pipe";
  assert_int_equal(::mkfifo(pipe.c_str(), 0600), 0);
  Result<std::string> read(Error(Errc::internal, "not run"));
  {
    std::jthread writer([&] {
      const UniqueFd fd(::open(pipe.c_str(), O_WRONLY));
      for (int i = 0; i < 3; ++i) {
        if (::write(fd.get(), "part", 4) != 4) return;
      }
    });
    read = read_file(pipe, 100);
  }
  assert_ok(read);
  assert_text(*read, "partpartpart");
}

bool is_open(int fd) { return ::fcntl(fd, F_GETFD) >= 0; }

void descriptors_are_closed_once(void**) {
  const int number = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  {
    UniqueFd first(number);
    UniqueFd second(std::move(first));
    assert_false(static_cast<bool>(first));
    assert_true(is_open(number));
    UniqueFd third;
    third = std::move(second);
    UniqueFd& same = third;
    third = std::move(same);
    assert_int_equal(third.get(), number);
    assert_true(is_open(number));
  }
  assert_false(is_open(number));
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST_WITH(reads_whole_files, make_folder, remove_folder),
      SLURMK8S_TEST_WITH(refuses_more_than_the_cap, make_folder, remove_folder),
      SLURMK8S_TEST_WITH(names_errors, make_folder, remove_folder),
      SLURMK8S_TEST_WITH(reads_files_of_unknown_size, make_folder, remove_folder),
      SLURMK8S_TEST(descriptors_are_closed_once),
  };
  return cmocka_run_group_tests_name("base_file", tests, nullptr, nullptr);
}
