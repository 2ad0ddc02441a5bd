/* SPDX-License-Identifier: Apache-2.0 */
/* Parity groups survive one loss in each, repeatedly, also during the reconstruction of an image, and continue until
 * two are left. */
/* gabion-test: np=8 needs=ulfm labels=quick args=--scheme parity --group 4 --scrub 3 rank=0+1,step=15,phase=exchange
 * rank=5,step=25 rank=2,step=25,phase=recovery rank=3,step=35,phase=snapshot,visit=2 rank=6,step=45,phase=commit */
#include "tests/faults/mpi_automaton.c"
