# gabion-test: timeout=300 labels=quick
# Some of the MPI tests, of each folder, notice what is broken on one slot; script_broken_long.sh asks all of them.
set -eu
exec "$GABION_SOURCE/scripts/test-of-tests.sh" --jobs 1 \
  --only '^(core/route-np3|blockforest/exchange-np2|loadbalance/after_death-np4|lbm/flow-np2|phasefield/statistics-np3|resilience/flipped_bits-np4|faults/parity-np8)$'
