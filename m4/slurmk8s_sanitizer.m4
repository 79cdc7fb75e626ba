# SPDX-License-Identifier: GPL-2.0-or-later
# SLURMK8S_SANITIZER: --enable-sanitizer=address,undefined or =thread; SANITIZER_FLAGS. With fuzzer-no-link, which needs
# clang, the fuzz targets are fuzzers: FUZZER. Without --exclude-libs, which would hide the sanitizer's operators from the
# C++ library. Comes after SLURMK8S_HARDENING.
AC_DEFUN([SLURMK8S_SANITIZER], [
  AC_ARG_ENABLE([sanitizer],
    [AS_HELP_STRING([--enable-sanitizer=LIST], [comma-separated: address, undefined, thread, fuzzer-no-link])],
    [], [enable_sanitizer=])
  SANITIZER_FLAGS=
  AS_CASE([$enable_sanitizer],
    [no|''], [enable_sanitizer=],
    [yes], [AC_MSG_ERROR([--enable-sanitizer needs a list, such as address,undefined])],
    [SANITIZER_FLAGS="-fsanitize=$enable_sanitizer -fno-sanitize-recover=all -fno-omit-frame-pointer"
     AC_SUBST([HARDENING_LDFLAGS], ["-Wl,-z,relro,-z,now,-z,noexecstack"])
     AC_MSG_CHECKING([whether $CXX links with -fsanitize=$enable_sanitizer])
     slurmk8s_saved_CXXFLAGS=$CXXFLAGS
     CXXFLAGS="$CXXFLAGS $SANITIZER_FLAGS"
     AC_LINK_IFELSE([AC_LANG_PROGRAM], [AC_MSG_RESULT([yes])],
                    [AC_MSG_RESULT([no])
                     AC_MSG_ERROR([the compiler refuses -fsanitize=$enable_sanitizer])])
     CXXFLAGS=$slurmk8s_saved_CXXFLAGS])
  AC_SUBST([SANITIZER_FLAGS])
  AM_CONDITIONAL([FUZZER], [AS_CASE([$enable_sanitizer], [*fuzzer-no-link*], [true], [false])])
])
