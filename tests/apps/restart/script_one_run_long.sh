# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=1500 labels=long
# The same fifty times, twenty-five of them behind a killed owner.
GABION_ROUNDS=${GABION_ROUNDS:-50} exec bash "$GABION_SOURCE/tests/apps/restart/script_one_run.sh"
