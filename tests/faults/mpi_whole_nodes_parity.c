/* SPDX-License-Identifier: Apache-2.0 */
/* Groups have one member on each node: any node can be lost as a whole. */
/* gabion-test: np=8 needs=ulfm args=--per-node 2 --scheme parity --group 4 rank=2+3,step=15,phase=exchange */
#include "tests/faults/mpi_automaton.c"
