/* Images with two copies survive the death of their slot together with its first holder, and of two slots at
 * any instant. */
/* gabion-test: np=7 timeout=60 labels=quick needs=ulfm args=--copies 2 slot=1+4,step=25,phase=compute
 * slot=2,step=35,phase=snapshot,visit=2 slot=3,step=35,phase=recovery */
#include "tests/faults/mpi_automaton.c"
