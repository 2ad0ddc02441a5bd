/* SPDX-License-Identifier: Apache-2.0 */
/* One rank after another dies, each time the holder of the last victim's image, without a checkpoint in between:
 * restored data is protected again before the run continues. */
/* gabion-test: np=5 needs=ulfm labels=quick args=--every 1000 rank=1,step=8 rank=3,step=10,phase=exchange rank=0,step=12 */
#include "tests/faults/mpi_automaton.c"
