# SPDX-License-Identifier: GPL-2.0-or-later
# SLURMK8S_WARNINGS: WARNING_CXXFLAGS, and --enable-werror (not the default: compilers differ).
# gcc 12 sees uninitialised members in std::optional and std::variant where there are none: no -Wmaybe-uninitialized, no
# -Wnull-dereference.
AC_DEFUN([SLURMK8S_WARNINGS], [
  AC_ARG_ENABLE([werror], [AS_HELP_STRING([--enable-werror], [warnings are errors])])
  WARNING_CXXFLAGS=
  SLURMK8S_APPEND_CXXFLAGS([WARNING_CXXFLAGS],
    [-Wall -Wextra -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wformat=2 -Wcast-qual -Wundef
     -Wunused -Wvla -Wduplicated-cond -Wlogical-op -Wno-missing-field-initializers
     -Wno-maybe-uninitialized])
  AS_IF([test "$enable_werror" = yes], [WARNING_CXXFLAGS="$WARNING_CXXFLAGS -Werror"])
  AC_SUBST([WARNING_CXXFLAGS])
])
