# SPDX-License-Identifier: Apache-2.0
# A run that loses a process and completes ends with 0, over shared memory and over TCP.
# gabion-test: timeout=120 labels=quick needs=ulfm
. "$GABION_SOURCE/tests/launch/common.sh"

launch 0 -n 4 --stall 20 "$dir/ranks" survive
launch 0 -n 4 --stall 20 --tcp "$dir/ranks" survive
finish
