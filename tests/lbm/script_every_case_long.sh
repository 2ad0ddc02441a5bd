# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=1200 labels=long
# All cases of tests of which the full tier runs only some: borders between levels at moving sides, and layouts of
# fused blocks in images.
set -u
: "${GABION_BUILD:?}" "${GABION_MPIRUN:?}" "${GABION_JUDGE:?}"
export GABION_TEST_EVERY_CASE=1
for test in levels_lids:1 levels_lids:2 fused_images:1 fused_images:3; do
  program=$GABION_BUILD/tests/lbm/mpi_lbm_${test%:*} count=${test#*:}
  # shellcheck disable=SC2086 # words on purpose
  said=$("$GABION_JUDGE" "$count" "$GABION_MPIRUN" $GABION_MPI_FLAGS -n "$count" "$GABION_JUDGE" --watch "$program" 2>&1) ||
    { echo "$test: $said"; exit 1; }
done
