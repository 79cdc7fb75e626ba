// SPDX-License-Identifier: GPL-2.0-or-later
// Pieces: allocates from a caller's buffer, as functions of glibc's sources do. One thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string_view>

namespace slurmk8s {

class Pieces {
 public:
  Pieces(char* data, std::size_t size) : next_(data), left_(size) {}

  /** Null when the buffer is full. */
  template <typename T>
  T* take(std::size_t count = 1) {
    const std::size_t pad = -reinterpret_cast<std::uintptr_t>(next_) % alignof(T);
    if (left_ < pad || (left_ - pad) / sizeof(T) < count) return nullptr;
    char* const piece = next_ + pad;
    next_ = piece + count * sizeof(T);
    left_ -= pad + count * sizeof(T);
    return new (piece) T[count];
  }

  char* text(std::string_view text) {
    char* const copy = take<char>(text.size() + 1);
    if (copy) *std::copy(text.begin(), text.end(), copy) = '\0';
    return copy;
  }

 private:
  char* next_;
  std::size_t left_;
};

}  // namespace slurmk8s
