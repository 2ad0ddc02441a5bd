#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=240 needs=ulfm
# Deaths within the solve of a linear system on adaptive blocks: some runs of the fault matrix;
# scripts/fault-matrix.sh runs all of them.
set -euo pipefail
exec "$GABION_SOURCE/scripts/fault-matrix.sh" --subset --only implicit --out "$GABION_BUILD/tests/faults/matrix-implicit"
