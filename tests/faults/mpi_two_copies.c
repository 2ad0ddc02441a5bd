/* SPDX-License-Identifier: Apache-2.0 */
/* Images with two copies survive the death of their rank together with its first holder, and of two ranks at
 * any instant. */
/* gabion-test: np=7 needs=ulfm labels=quick args=--copies 2 rank=1+4,step=25 rank=2+3,step=35,phase=snapshot,visit=2 */
#include "tests/faults/mpi_automaton.c"
