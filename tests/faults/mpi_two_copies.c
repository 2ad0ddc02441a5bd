/* Images with two copies survive the death of their slot together with its first holder, and of two slots at
 * any instant. */
/* gabion-test: np=7 needs=ulfm labels=quick args=--copies 2 slot=1+4,step=25 slot=2+3,step=35,phase=snapshot,visit=2 */
#include "tests/faults/mpi_automaton.c"
