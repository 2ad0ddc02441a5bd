#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=900 labels=long needs=ulfm
# A minute of random kills, of one, several, or all processes: every run ends with the undisturbed checksum, after
# recoveries in the job or a restart by the same command. scripts/faults/chaos.sh does that for any time.
set -euo pipefail
exec "$GABION_SOURCE/scripts/faults/chaos.sh" --minutes 1 -n 8 --steps 3000 --out "$GABION_BUILD/tests/faults/chaos"
