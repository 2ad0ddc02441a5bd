/* gabion-test: np=2 timeout=3600 labels=long args=long */
#include "mpi_open_sides.c"
