#include "lbm/kernel_cell_impl.h"
#include "lbm/lattice_list_impl.h"
#include "lbm/lbm_impl.h"

#define FAMILY   "in_place"
#define TABLE    gab_kernels_in_place
#define IN_PLACE 1

#define ROWS_FAMILY "sparse"
#define ROWS_TABLE  gab_kernels_sparse

#include "lbm/kernel_vector_list.inc"
