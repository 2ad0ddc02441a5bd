/* SPDX-License-Identifier: Apache-2.0 */
/* Checkpoints of which some are waited for and some travel behind the steps, as measurements have it: all ranks
 * decide alike, also those that have measured less since they came later, and deaths lead back as ever. */
/* gabion-test: np=5 needs=ulfm args=--overlap-auto --every 5 --steps 120 rank=1,step=13,phase=compute
 * rank=2,step=31,phase=snapshot,visit=2 rank=0,step=61,phase=commit */
#include "tests/faults/mpi_automaton.c"
