# SPDX-License-Identifier: GPL-2.0-or-later
# SLURMK8S_CXX20: the compiler speaks C++20 as far as gcc 12 does; puts -std=c++20 into CXX.
AC_DEFUN([SLURMK8S_CXX20], [
  CXX="$CXX -std=c++20"
  AC_CACHE_CHECK([whether $CXX compiles C++20], [slurmk8s_cv_cxx20],
    [AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[
       #include <concepts>
       #include <span>
       #include <string_view>
       struct Point { int x; int y; };
       template <std::integral T> T twice(T value) { return value + value; }
     ]], [[
       Point point{.x = 1, .y = 2};
       std::span<Point> points(&point, 1);
       return std::string_view("text").starts_with("te") ? twice(points[0].x) : 0;
     ]])], [slurmk8s_cv_cxx20=yes], [slurmk8s_cv_cxx20=no])])
  AS_IF([test "$slurmk8s_cv_cxx20" != yes], [AC_MSG_ERROR([a C++20 compiler is needed (gcc 12 or clang 14)])])
])
