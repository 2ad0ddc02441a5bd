#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=1800 labels=long needs=ulfm
# Rows of the fault matrix that contain each pair of values of two factors, and some random ones, each with its
# derived end; scripts/fault-matrix.sh --runs makes any number of them.
set -euo pipefail
command -v python3 >/dev/null || exit 77
exec "$GABION_SOURCE/scripts/fault-matrix.sh" --only wide --runs 50 --jobs 2 --out "$GABION_BUILD/tests/faults/matrix-wide"
