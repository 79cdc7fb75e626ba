// SPDX-License-Identifier: GPL-2.0-or-later
// Result<T>: a value or an Error. The only way a function of this project reports a failure.
#pragma once

#include <optional>
#include <utility>
#include <variant>

#include "base/error.hpp"

namespace slurmk8s {

/**
 * A value of type T or an Error. Reading the side that isn't there is a programming error: it throws what guarded()
 * takes, so that it ends no slurmctld.
 */
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  T value_or(T fallback) const& { return ok() ? value() : std::move(fallback); }

  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

/** Success, or an Error. */
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}

  bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  const Error& error() const { return error_.value(); }

 private:
  std::optional<Error> error_;
};

using Status = Result<void>;

}  // namespace slurmk8s

/** Evaluates to the value of a Result; on an error returns it from the calling function. */
#define SLURMK8S_TRY(expression)                               \
  __extension__({                                              \
    auto slurmk8s_result = (expression);                       \
    if (!slurmk8s_result.ok()) return slurmk8s_result.error(); \
    std::move(slurmk8s_result).value();                        \
  })

/** The same for a Status: returns the error from the calling function, or goes on. */
#define SLURMK8S_CHECK(expression)                             \
  do {                                                         \
    const auto& slurmk8s_status = (expression);                \
    if (!slurmk8s_status.ok()) return slurmk8s_status.error(); \
  } while (false)
