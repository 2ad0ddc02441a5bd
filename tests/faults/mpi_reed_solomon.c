/* A Reed-Solomon group survives any two at once, and another two in the next recovery. */
/* gabion-test: np=8 needs=ulfm args=--scheme reed-solomon --losses 2 slot=2+3,step=25,phase=compute slot=0,step=35,phase=snapshot slot=7,step=35,phase=recovery slot=1+4,step=45,phase=swap */
#include "tests/faults/mpi_automaton.c"
