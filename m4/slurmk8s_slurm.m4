# SPDX-License-Identifier: GPL-2.0-or-later
# SLURMK8S_SLURM: finds Slurm's public headers, libslurm and the folder of its plugins.
#
# Sets SLURM_CPPFLAGS, SLURM_LIBS (for programs only), SLURM_VERSION, slurmplugindir and the conditional
# SLURM_HAS_POWER. The source is --with-slurm=PREFIX, else pkg-config's slurm module (Debian has none), else the
# compiler's own paths. Slurm takes a plugin of its very own micro release only: one build for each.
AC_DEFUN([SLURMK8S_SLURM], [
  AC_ARG_WITH([slurm], [AS_HELP_STRING([--with-slurm=PREFIX], [where Slurm is installed])], [], [with_slurm=])
  AC_ARG_WITH([slurm-plugindir], [AS_HELP_STRING([--with-slurm-plugindir=DIR], [where Slurm looks for plugins])],
              [], [with_slurm_plugindir=])
  slurmk8s_multiarch=`$CXX -print-multiarch 2>/dev/null`
  slurmk8s_found_plugindir=
  AS_CASE([$with_slurm],
    [no], [AC_MSG_ERROR([slurm-k8s can not be built without Slurm's headers])],
    [yes|''],
      [PKG_CHECK_EXISTS([slurm],
         [SLURM_CPPFLAGS=`$PKG_CONFIG --cflags slurm`
          SLURM_LIBS=`$PKG_CONFIG --libs slurm`
          slurmk8s_found_plugindir=`$PKG_CONFIG --variable=plugindir slurm`],
         [SLURM_CPPFLAGS= SLURM_LIBS=-lslurm])
       slurmk8s_prefix=/usr],
    [SLURM_CPPFLAGS="-I$with_slurm/include" SLURM_LIBS=-lslurm slurmk8s_prefix=$with_slurm
     for slurmk8s_dir in "lib/$slurmk8s_multiarch" lib64 lib; do
       AS_IF([ls "$with_slurm/$slurmk8s_dir"/libslurm.so* >/dev/null 2>&1],
             [SLURM_LIBS="-L$with_slurm/$slurmk8s_dir -lslurm"; break])
     done])
  AC_SUBST([SLURM_CPPFLAGS])
  AC_SUBST([SLURM_LIBS])

  slurmk8s_saved_CPPFLAGS=$CPPFLAGS
  CPPFLAGS="$CPPFLAGS $SLURM_CPPFLAGS"
  AC_CHECK_HEADERS([slurm/slurm.h slurm/slurm_errno.h slurm/spank.h], [],
    [AC_MSG_ERROR([Slurm's headers are missing: install libslurm-dev or give --with-slurm=PREFIX])],
    [#include <slurm/slurm.h>])
  AC_COMPUTE_INT([slurmk8s_version], [SLURM_VERSION_NUMBER], [#include <slurm/slurm_version.h>],
    [AC_MSG_ERROR([slurm/slurm_version.h has no SLURM_VERSION_NUMBER])])
  CPPFLAGS=$slurmk8s_saved_CPPFLAGS
  SLURM_VERSION=`printf %d.%02d.%d $((slurmk8s_version >> 16)) $((slurmk8s_version >> 8 & 255)) $((slurmk8s_version & 255))`
  AC_MSG_NOTICE([Slurm is $SLURM_VERSION])
  AS_IF([test "$slurmk8s_version" -lt $((0x160500))], [AC_MSG_ERROR([Slurm 22.05 or later is needed])])
  AC_SUBST([SLURM_VERSION])
  AM_CONDITIONAL([SLURM_HAS_POWER], [test "$slurmk8s_version" -lt $((0x180500))])

  # Debian keeps the plugins in slurm-wlm, everybody else in slurm; Slurm's own folder wins over our --libdir.
  for slurmk8s_dir in "$slurmk8s_prefix/lib/$slurmk8s_multiarch/slurm-wlm" "$slurmk8s_prefix/lib64/slurm" \
                      "$slurmk8s_prefix/lib/slurm"; do
    AS_IF([test -z "$slurmk8s_found_plugindir" && ls "$slurmk8s_dir"/select_*.so >/dev/null 2>&1],
          [slurmk8s_found_plugindir=$slurmk8s_dir])
  done
  AS_IF([test -n "$with_slurm_plugindir"], [slurmplugindir=$with_slurm_plugindir],
        [test -n "$slurmk8s_found_plugindir"], [slurmplugindir=$slurmk8s_found_plugindir],
        [test -d "/usr/lib/$slurmk8s_multiarch" && test -f /etc/debian_version],
          [slurmplugindir="$slurmk8s_prefix/lib/$slurmk8s_multiarch/slurm-wlm"],
        [slurmplugindir='${libdir}/slurm'])
  AC_SUBST([slurmplugindir])
])
