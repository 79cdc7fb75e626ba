# SPDX-License-Identifier: GPL-2.0-or-later
# SLURMK8S_HARDENING: HARDENING_CXXFLAGS and HARDENING_LDFLAGS.
#
# Our code lives inside slurmctld, whose own symbols are all exported and would take the place of ours: hence hidden
# visibility. -z now turns a function that Slurm no longer has into a refused load instead of a crash at its first
# call. One GNU_UNIQUE symbol would make dlclose() do nothing. --exclude-libs hides convenience libraries too: what a
# shared object exports must stand in its own sources.
AC_DEFUN([SLURMK8S_HARDENING], [
  HARDENING_CXXFLAGS=
  SLURMK8S_APPEND_CXXFLAGS([HARDENING_CXXFLAGS],
    [-fvisibility=hidden -fvisibility-inlines-hidden -fno-gnu-unique -fstack-protector-strong])
  AC_SUBST([HARDENING_CXXFLAGS])
  AC_SUBST([HARDENING_LDFLAGS], ["-Wl,-z,relro,-z,now,-z,noexecstack -Wl,--exclude-libs,ALL"])
])
