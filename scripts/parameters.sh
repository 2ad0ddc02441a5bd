#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Writes doc/parameters.md, the reference of all parameters, from the tables in the source. A test checks that it is
# up to date.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

case ${1:-} in -h|--help) print_head "${BASH_SOURCE[0]}"; exit 0 ;; esac
gabion_setup
gabion_build "$GABION_BUILD"
"$GABION_BUILD/bin/gabion" help --reference >"$GABION_ROOT/doc/parameters.md.new"
mv "$GABION_ROOT/doc/parameters.md.new" "$GABION_ROOT/doc/parameters.md"
say "doc/parameters.md is written"
