// SPDX-License-Identifier: GPL-2.0-or-later
// Error and Result: codes survive context, and TRY and CHECK return them.
#include "base/error.hpp"

#include <memory>

#include "base/result.hpp"
#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

void codes_have_names_and_some_are_retryable(void**) {
  const struct {
    Errc code;
    const char* name;
    bool retryable;
  } cases[] = {
      {Errc::invalid, "invalid", false},
      {Errc::not_found, "not_found", false},
      {Errc::already_exists, "already_exists", false},
      {Errc::conflict, "conflict", false},
      {Errc::gone, "gone", false},
      {Errc::unauthorized, "unauthorized", true},
      {Errc::forbidden, "forbidden", false},
      {Errc::throttled, "throttled", true},
      {Errc::timeout, "timeout", true},
      {Errc::unavailable, "unavailable", true},
      {Errc::interrupted, "interrupted", true},
      {Errc::cancelled, "cancelled", false},
      {Errc::protocol, "protocol", true},
      {Errc::internal, "internal", false},
  };
  for (const auto& c : cases) {
    assert_text(to_string(c.code), c.name);
    assert_int_equal(Error(c.code, "x").retryable(), c.retryable);
  }
}

void context_keeps_code_and_wait(void**) {
  const Error inner(Errc::throttled, "too many requests", std::chrono::seconds(7));
  const Error outer = inner.wrap("create").wrap("pod slurm/c-1");
  assert_text(outer.message(), "pod slurm/c-1: create: too many requests");
  assert_int_equal(outer.code(), Errc::throttled);
  assert_int_equal(outer.retry_after()->count(), 7);
}

Result<int> half(int number) {
  if (number % 2 != 0) return Error(Errc::invalid, "odd");
  return number / 2;
}

Result<int> quarter(int number) {
  const int once = SLURMK8S_TRY(half(number));
  return SLURMK8S_TRY(half(once));
}

Status check_even(int number) {
  if (number % 2 != 0) return Error(Errc::invalid, "odd");
  return {};
}

Status check_both(int a, int b) {
  SLURMK8S_CHECK(check_even(a));
  SLURMK8S_CHECK(check_even(b));
  return {};
}

void try_and_check_return_the_error(void**) {
  assert_int_equal(*quarter(12), 3);
  assert_error(quarter(7), Errc::invalid, "odd");
  assert_error(quarter(6), Errc::invalid, "odd");
  assert_ok(check_both(2, 4));
  assert_error(check_both(2, 3), Errc::invalid, "odd");
  assert_error(check_both(1, 2), Errc::invalid, "odd");
}

Result<std::unique_ptr<int>> made(bool ok) {
  if (!ok) return Error(Errc::internal, "no");
  return std::make_unique<int>(5);
}

Result<int> unwrapped(bool ok) {
  const std::unique_ptr<int> value = SLURMK8S_TRY(made(ok));
  return *value;
}

void values_that_only_move(void**) {
  assert_int_equal(*unwrapped(true), 5);
  assert_error(unwrapped(false), Errc::internal, "no");
}

void fallback(void**) {
  assert_int_equal(half(4).value_or(9), 2);
  assert_int_equal(half(5).value_or(9), 9);
  assert_true(static_cast<bool>(half(4)));
  assert_false(static_cast<bool>(half(5)));
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(codes_have_names_and_some_are_retryable),
      SLURMK8S_TEST(context_keeps_code_and_wait),
      SLURMK8S_TEST(try_and_check_return_the_error),
      SLURMK8S_TEST(values_that_only_move),
      SLURMK8S_TEST(fallback),
  };
  return cmocka_run_group_tests_name("base_error", tests, nullptr, nullptr);
}
