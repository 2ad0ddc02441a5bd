# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=1800 labels=long
# As script_figures.sh: each of the two processes is killed, in the first, the second, and the last iteration.
exec bash "$GABION_SOURCE/tests/persist/scripts/script_figures.sh" "1 2 10" "0 1"
