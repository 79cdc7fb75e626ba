// SPDX-License-Identifier: GPL-2.0-or-later
// Token: a bearer token in a file that kubelet rotates.
#include "kube/token.hpp"

#include "base/file.hpp"
#include "base/strings.hpp"

namespace slurmk8s::kube {

namespace {

constexpr std::size_t kMaxToken = 64 * 1024;
constexpr std::chrono::seconds kReadAgain{1};

}  // namespace

Result<std::string> Token::read() {
  const TimePoint now = clock_.now();
  if (!value_.empty() && now < next_read_) return value_;
  value_.clear();
  const Result<std::string> content = read_file(path_, kMaxToken);
  if (!content.ok()) return Error(Errc::unauthorized, content.error().wrap("token").message());
  const std::string_view token = trim(*content);
  if (token.empty()) return Error(Errc::unauthorized, "token: " + path_ + ": empty");
  value_ = token;
  next_read_ = now + kReadAgain;
  return value_;
}

}  // namespace slurmk8s::kube
