#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=240 labels=quick needs=ulfm
# A few runs for each redundancy scheme; scripts/fault-matrix.sh --only schemes makes the whole of it.
set -euo pipefail
exec "$GABION_SOURCE/scripts/fault-matrix.sh" --subset --only schemes --out "$GABION_BUILD/tests/faults/matrix-schemes"
