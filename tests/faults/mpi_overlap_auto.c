/* SPDX-License-Identifier: Apache-2.0 */
/* Checkpoints with automatic choice between waiting and sending copies after the steps, by measurements: all ranks
 * decide alike, also replacement processes with fewer measurements, and runs roll back after deaths as usual. */
/* gabion-test: np=5 needs=ulfm args=--overlap-auto --every 5 --steps 120 rank=1,step=13,phase=compute
 * rank=2,step=31,phase=snapshot,visit=2 rank=0,step=61,phase=commit */
#include "tests/faults/mpi_automaton.c"
