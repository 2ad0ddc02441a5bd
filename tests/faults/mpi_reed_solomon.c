/* SPDX-License-Identifier: Apache-2.0 */
/* A Reed-Solomon group survives any two losses at once, one more during the reconstruction of an image, and two
 * during the computation of parities. */
/* gabion-test: np=8 needs=ulfm labels=quick args=--scheme reed-solomon --losses 2 rank=2+3,step=25,phase=compute
 * rank=0,step=35,phase=snapshot rank=7,step=35,phase=recovery,visit=3 rank=1+4,step=45,phase=snapshot,visit=3 */
#include "tests/faults/mpi_automaton.c"
