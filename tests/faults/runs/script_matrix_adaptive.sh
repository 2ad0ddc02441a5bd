#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=240 needs=ulfm
# Deaths in the middle of an adaptation: a dozen runs of the fault matrix; scripts/fault-matrix.sh makes all of them.
set -euo pipefail
exec "$GABION_SOURCE/scripts/fault-matrix.sh" --subset --only adaptive --out "$GABION_BUILD/tests/faults/matrix-adaptive"
