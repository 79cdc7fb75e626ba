# SPDX-License-Identifier: GPL-2.0-or-later
# SLURMK8S_SIDECAR: --disable-sidecar; the conditional BUILD_SIDECAR and MICROHTTPD_CFLAGS, MICROHTTPD_LIBS,
# PROMETHEUS_CFLAGS, PROMETHEUS_LIBS.
AC_DEFUN([SLURMK8S_SIDECAR], [
  AC_ARG_ENABLE([sidecar], [AS_HELP_STRING([--disable-sidecar], [don't build slurm-k8s-sidecar (no libmicrohttpd, no prometheus-cpp)])])
  AS_IF([test "$enable_sidecar" = no], [build_sidecar=no], [
    build_sidecar=yes
    PKG_CHECK_MODULES([MICROHTTPD], [libmicrohttpd >= 0.9.71])
    PKG_CHECK_MODULES([PROMETHEUS], [prometheus-cpp-core])
  ])
  AM_CONDITIONAL([BUILD_SIDECAR], [test "$build_sidecar" = yes])
])
