# SPDX-License-Identifier: GPL-2.0-or-later
# SLURMK8S_APPEND_CXXFLAGS(VARIABLE, FLAGS): adds those of FLAGS that the compiler knows.
AC_DEFUN([SLURMK8S_APPEND_CXXFLAGS], [
  slurmk8s_saved_CXXFLAGS=$CXXFLAGS
  for slurmk8s_flag in m4_normalize([$2]); do
    AS_VAR_PUSHDEF([known], [slurmk8s_cv_flag_$slurmk8s_flag])
    AC_CACHE_CHECK([whether $CXX knows $slurmk8s_flag], [known],
      [CXXFLAGS="$slurmk8s_saved_CXXFLAGS -Werror $slurmk8s_flag"
       AC_COMPILE_IFELSE([AC_LANG_PROGRAM], [AS_VAR_SET([known], [yes])], [AS_VAR_SET([known], [no])])])
    AS_VAR_IF([known], [yes], [$1="$$1 $slurmk8s_flag"])
    AS_VAR_POPDEF([known])
  done
  CXXFLAGS=$slurmk8s_saved_CXXFLAGS
])
