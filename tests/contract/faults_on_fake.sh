#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The faults that only the fake API server has, as `make check` runs them.
exec "$(dirname "$0")/with_fake.sh" "${TOP_BUILDDIR:-../..}/tests/contract/faults"
