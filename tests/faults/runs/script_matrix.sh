#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=240 needs=ulfm
# A few dozen runs of the fault matrix; scripts/fault-matrix.sh without --subset makes the whole of it.
set -euo pipefail
exec "$GABION_SOURCE/scripts/fault-matrix.sh" --subset --only flow --out "$GABION_BUILD/tests/faults/matrix-subset"
