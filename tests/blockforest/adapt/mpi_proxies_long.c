/* SPDX-License-Identifier: Apache-2.0 */
/* As mpi_proxies.c, with more and longer sequences on larger grids. */
/* gabion-test: np=1,2,5,16 timeout=3000 labels=long args=150 */
#define PROXIES_STEPS       14
#define PROXIES_MOST_LEAVES 220
#include "tests/blockforest/adapt/mpi_proxies.c"
