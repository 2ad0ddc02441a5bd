#include "lbm/kernel_cell_impl.h"
#include "lbm/lattice_list_impl.h"
#include "lbm/lbm_impl.h"

#define FAMILY   "vector"
#define TABLE    gab_kernels_vector
#define IN_PLACE 0
#include "lbm/kernel_vector_list.inc"
