/* SPDX-License-Identifier: Apache-2.0 */
/* The rendezvous of mpi_patterns.c among six ranks in clusters of two: the cluster of the victim rolls back, and its two
 * senders are in the next cluster, which replays to it. GABION_SECOND=1: the other rank of its cluster dies with it; 2: one
 * of the third cluster. */
/* gabion-test: np=8 timeout=90 needs=ulfm */
/* gabion-test: np=8 env=GABION_PATTERN_IDS=0 */
/* gabion-test: np=8 env=GABION_SCHEDULE=4 */
/* gabion-test: np=8 env=GABION_ROUNDS_OVERLAP=1 */
/* gabion-test: np=8 env=GABION_SECOND=1 */
/* gabion-test: np=8 env=GABION_SECOND=2 */
#define ACTIVE  6
#define CLUSTER 2
#define SPARES  2
#define ROOTS   2, 3, 2
#include "tests/faults/local/mpi_patterns.c"
