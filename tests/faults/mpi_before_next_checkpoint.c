/* SPDX-License-Identifier: Apache-2.0 */
/* One rank after another dies, each time the one that holds what the last had left, and no checkpoint is due between:
 * what a recovery restores is protected again before the run goes on. */
/* gabion-test: np=5 needs=ulfm labels=quick args=--every 1000 rank=1,step=8 rank=3,step=10,phase=exchange rank=0,step=12 */
#include "tests/faults/mpi_automaton.c"
