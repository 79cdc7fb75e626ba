// SPDX-License-Identifier: GPL-2.0-or-later
// What all plugins use of slurmctld beyond Slurm's public headers. Nothing else in this folder tests versions.
//
// Source: src/common/read_config.h of Slurm 22.05.8, 24.11.5 and 26.05.3.
#pragma once

#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <slurm/slurm_version.h>
#include <slurm/spank.h>  // slurm_info() and its siblings

extern "C" {

/** A line NodeName=… of slurm.conf: its first members; more follow. */
struct slurm_conf_node_t {
  char* nodenames;
  char* hostnames;
  char* addresses;
};

#define SLURMK8S_WEAK __attribute__((weak))
extern slurm_conf_t slurm_conf SLURMK8S_WEAK;
/** How many such lines there are, and they. Takes no lock: while slurmctld is starting. */
int slurm_conf_nodename_array(slurm_conf_node_t** lines[]) SLURMK8S_WEAK;

}  // extern "C"
