# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=1800 labels=long needs=ulfm
# As script_figure3_in_job.sh: both processes, in the first, the second, and the last iteration.
exec bash "$GABION_SOURCE/tests/persist/scripts/script_figure3_in_job.sh" "1 2 10" "0 1"
