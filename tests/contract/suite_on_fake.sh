#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The contract suite against the fake API server, as `make check` runs it.
exec "$(dirname "$0")/with_fake.sh" "${TOP_BUILDDIR:-../..}/tests/contract/suite"
