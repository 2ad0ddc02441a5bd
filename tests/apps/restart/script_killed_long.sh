# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=3000 labels=long
# As script_killed.sh, 200 times.
. "$GABION_SOURCE/tests/apps/common.sh"
. "$GABION_SOURCE/tests/apps/restart/killed.sh"
RANDOM=1
killed 200
cat kills.txt # the one line this test says
finish
