/* SPDX-License-Identifier: GPL-2.0-or-later
 * What the test programs of Slurm's suite look for in the config.h of a built source: facts of Debian 13 and its Slurm.
 */
#pragma once

#define HAVE_CONFIG_H 1
#define HAVE_DIRENT_H 1
#define HAVE_EACCESS 1
#define HAVE_ENVIRON 1
#define HAVE_GET_CURRENT_DIR_NAME 1
#define HAVE_MALLOC 1
#define HAVE_SETENV 1
#define HAVE_STRERROR_R 1
#define HAVE_STRLCPY 1
#define HAVE_SYS_PRCTL_H 1
#define HAVE_SYS_SYSLOG_H 1
#define HAVE_UNISTD_H 1
#define HAVE_UNSETENV 1
#define PACKAGE "slurm"
#define WITH_PTHREADS 1
