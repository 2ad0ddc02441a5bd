#include "lbm/kernel_cell_impl.h"
#include "lbm/lattice_list_impl.h"
#include "lbm/lbm_impl.h"

#define NAME   d2q9_double
#define REAL   double
#define PAIRS  GAB_D2Q9_PAIRS
#define REST   GAB_D2Q9_REST
#define FORCED 0
#include "lbm/kernel_vector_body.inc"

#define NAME   d2q9_double_forced
#define REAL   double
#define PAIRS  GAB_D2Q9_PAIRS
#define REST   GAB_D2Q9_REST
#define FORCED 1
#include "lbm/kernel_vector_body.inc"

#define NAME   d2q9_float
#define REAL   float
#define PAIRS  GAB_D2Q9_PAIRS
#define REST   GAB_D2Q9_REST
#define FORCED 0
#include "lbm/kernel_vector_body.inc"

#define NAME   d2q9_float_forced
#define REAL   float
#define PAIRS  GAB_D2Q9_PAIRS
#define REST   GAB_D2Q9_REST
#define FORCED 1
#include "lbm/kernel_vector_body.inc"

#define NAME   d3q19_double
#define REAL   double
#define PAIRS  GAB_D3Q19_PAIRS
#define REST   GAB_D3Q19_REST
#define FORCED 0
#include "lbm/kernel_vector_body.inc"

#define NAME   d3q19_double_forced
#define REAL   double
#define PAIRS  GAB_D3Q19_PAIRS
#define REST   GAB_D3Q19_REST
#define FORCED 1
#include "lbm/kernel_vector_body.inc"

#define NAME   d3q19_float
#define REAL   float
#define PAIRS  GAB_D3Q19_PAIRS
#define REST   GAB_D3Q19_REST
#define FORCED 0
#include "lbm/kernel_vector_body.inc"

#define NAME   d3q19_float_forced
#define REAL   float
#define PAIRS  GAB_D3Q19_PAIRS
#define REST   GAB_D3Q19_REST
#define FORCED 1
#include "lbm/kernel_vector_body.inc"

const gab_kernel gab_kernels_vector[GAB_KERNELS_PER_FAMILY] = {
    {"vector/D2Q9/double/free", d2q9_double},   {"vector/D2Q9/double/forced", d2q9_double_forced},
    {"vector/D2Q9/float/free", d2q9_float},     {"vector/D2Q9/float/forced", d2q9_float_forced},
    {"vector/D3Q19/double/free", d3q19_double}, {"vector/D3Q19/double/forced", d3q19_double_forced},
    {"vector/D3Q19/float/free", d3q19_float},   {"vector/D3Q19/float/forced", d3q19_float_forced},
};
