// SPDX-License-Identifier: GPL-2.0-or-later
// cmocka for C++: the only file that includes cmocka.h.
//
// A failed assertion leaves the test by longjmp: destructors don't run. What owns a thread, a descriptor or a process
// belongs into a fixture, or into a scope that ends before the first assertion. cmocka.h defines the macros fail(),
// skip() and mock(): include this file after all others whose names might clash.
#pragma once

#include <csetjmp>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <string_view>

#include "base/error.hpp"

#pragma GCC diagnostic push
#ifndef __clang__  // which has no such warning, and says so
#pragma GCC diagnostic ignored "-Wvolatile"
#endif
extern "C" {
#include <cmocka.h>
}
#pragma GCC diagnostic pop
#undef stop  // of cmocka 2: no word to take from everybody

namespace slurmk8s {

/** A test's body; an exception that leaves it is a failure, not the end of the program. */
template <void (*fn)(void**)>
void guarded_test(void** state) {
  std::string what;
  try {
    fn(state);
    return;
  } catch (const std::exception& e) {
    what = e.what();
  } catch (...) {
    what = "of no known type";
  }
  fail_msg("exception: %s", what.c_str());
}

inline void check_text(std::string_view actual, std::string_view expected, const char* file, int line) {
  if (actual == expected) return;
  print_error("got      \"%s\"\nexpected \"%s\"\n", std::string(actual).c_str(), std::string(expected).c_str());
  _fail(file, line);
}

inline void check_contains(std::string_view text, std::string_view part, const char* file, int line) {
  if (text.find(part) != std::string_view::npos) return;
  print_error("\"%s\"\nlacks \"%s\"\n", std::string(text).c_str(), std::string(part).c_str());
  _fail(file, line);
}

template <typename R>
void check_ok(const R& result, const char* file, int line) {
  if (result.ok()) return;
  print_error("%s: %s\n", std::string(to_string(result.error().code())).c_str(), result.error().message().c_str());
  _fail(file, line);
}

template <typename R>
void check_error(const R& result, Errc code, std::string_view part, const char* file, int line) {
  if (result.ok()) {
    print_error("no error; expected %s: %s\n", std::string(to_string(code)).c_str(), std::string(part).c_str());
    _fail(file, line);
  }
  check_text(to_string(result.error().code()), to_string(code), file, line);
  check_contains(result.error().message(), part, file, line);
}

}  // namespace slurmk8s

#define SLURMK8S_TEST(fn) \
  { #fn, &::slurmk8s::guarded_test < fn>, nullptr, nullptr, nullptr }
#define SLURMK8S_TEST_WITH(fn, setup, teardown) \
  { #fn, &::slurmk8s::guarded_test < fn>, setup, teardown, nullptr }

/** Texts are equal; both are shown when they aren't. */
#define assert_text(actual, expected) ::slurmk8s::check_text(actual, expected, __FILE__, __LINE__)
/** `text` has `part` in it. */
#define assert_contains(text, part) ::slurmk8s::check_contains(text, part, __FILE__, __LINE__)
/** A Result or Status is ok; its error is shown when it isn't. */
#define assert_ok(result) ::slurmk8s::check_ok(result, __FILE__, __LINE__)
/** A Result or Status is an error of this code whose message has `part` in it. */
#define assert_error(result, code, part) ::slurmk8s::check_error(result, code, part, __FILE__, __LINE__)
