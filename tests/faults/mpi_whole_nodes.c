/* SPDX-License-Identifier: Apache-2.0 */
/* Copies are kept off the own node: nodes of two are lost as a whole, one after another, until one is left. */
/* gabion-test: np=8 needs=ulfm labels=quick args=--per-node 2 rank=0+1,step=15 rank=4+5,step=25,phase=exchange
 * rank=6+7,step=45,phase=snapshot */
#include "tests/faults/mpi_automaton.c"
