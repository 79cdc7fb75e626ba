# SPDX-License-Identifier: GPL-2.0-or-later
# SLURMK8S_TESTS: what only make check needs; the conditional HAVE_CMOCKA. A build without it is fine.
AC_DEFUN([SLURMK8S_TESTS], [
  PKG_CHECK_MODULES([CMOCKA], [cmocka >= 1.1.5], [have_cmocka=yes], [have_cmocka=no])
  AM_CONDITIONAL([HAVE_CMOCKA], [test "$have_cmocka" = yes])
  AC_PATH_PROG([PYTHON3], [python3], [false])
  AC_PATH_PROG([OPENSSL], [openssl], [false])
])
