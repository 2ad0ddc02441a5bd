# SPDX-License-Identifier: Apache-2.0
# Shared by the tests of clusters; to be sourced behind tests/apps/common.sh. A uniform flow for 16 processes.
cp "$GABION_SOURCE/tests/apps/plan/cluster_cube.yaml" cube.yaml
