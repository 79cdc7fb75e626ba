// SPDX-License-Identifier: GPL-2.0-or-later
// SLURMK8S_EXPORT: makes a symbol of a shared object visible. Everything else is hidden (configure.ac); the exports.map
// of each object lists what may be visible.
#pragma once

#define SLURMK8S_EXPORT __attribute__((visibility("default")))
