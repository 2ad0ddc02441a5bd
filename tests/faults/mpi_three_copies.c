/* SPDX-License-Identifier: Apache-2.0 */
/* With as many copies as there are other ranks, one process alone continues. */
/* gabion-test: np=4 needs=ulfm args=--copies 3 --scheme ring rank=0+1+3,step=25,phase=exchange */
#include "tests/faults/mpi_automaton.c"
