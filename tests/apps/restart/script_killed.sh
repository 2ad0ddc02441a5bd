# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=300
# All processes of a run that nearly always writes to disk are killed at random instants, and it is resumed: there is
# always a complete checkpoint, and the end is that of an undisturbed run. (200 times: script_killed_long.sh)
. "$GABION_SOURCE/tests/apps/common.sh"
. "$GABION_SOURCE/tests/apps/restart/killed.sh"
RANDOM=7
killed 8
finish
