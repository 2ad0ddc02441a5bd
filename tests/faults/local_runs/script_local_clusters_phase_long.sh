# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=900 labels=long needs=ulfm
# Clusters and a phase field with all situations of script_local_clusters.sh.
export GABION_TEST_EVERY_CASE=1
exec bash "$GABION_SOURCE/tests/faults/local_runs/script_local_clusters_phase.sh"
