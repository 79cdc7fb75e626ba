// SPDX-License-Identifier: GPL-2.0-or-later
// kSanitized: whether a sanitizer is compiled in, which takes memory and time of its own.
#pragma once

#ifndef __has_feature  // g++ before 14
#define __has_feature(name) 0
#endif

namespace slurmk8s {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__) || __has_feature(thread_sanitizer) || \
    __has_feature(address_sanitizer)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace slurmk8s
