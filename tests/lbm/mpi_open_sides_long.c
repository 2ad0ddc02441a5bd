/* gabion-test: np=1 timeout=7200 labels=long args=long */
#include "mpi_open_sides.c"
