#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=1800 labels=long needs=ulfm
# Rows of the fault matrix in which each pair of values of two factors occurs, and some that are drawn, each with the end that
# was worked out for it; scripts/fault-matrix.sh --runs makes as many as one likes.
set -euo pipefail
command -v python3 >/dev/null || exit 77
exec "$GABION_SOURCE/scripts/fault-matrix.sh" --only wide --runs 50 --jobs 2 --out "$GABION_BUILD/tests/faults/matrix-wide"
