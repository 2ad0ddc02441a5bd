# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=1800 labels=long needs=ulfm
# script_cluster_file.sh for 1, 2, 4, 8 and 16 clusters.
: "${GABION_SOURCE:?}"
GABION_CLUSTERS="1 2 4 8 16" exec bash "$GABION_SOURCE/tests/apps/plan/script_cluster_file.sh"
