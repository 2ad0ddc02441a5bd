/* SPDX-License-Identifier: Apache-2.0 */
/* Copies that travel behind the steps: deaths before, while and after they do, and as the snapshot is agreed on. */
/* gabion-test: np=5,7 quick=5 needs=ulfm args=--overlap --scrub 4 --copies 2 rank=1,step=10,phase=compute
 * rank=2,step=20,phase=snapshot,visit=2 rank=3,step=31,phase=commit rank=0,step=41,phase=swap */
#include "tests/faults/mpi_automaton.c"
