#include "lbm/kernel_cell_impl.h"
#include "lbm/lbm_impl.h"

#define REAL       double
#define NAME(part) reference_double##part
#include "lbm/kernel_reference_body.inc"

#define REAL       float
#define NAME(part) reference_float##part
#include "lbm/kernel_reference_body.inc"

#define KERNEL(name, lattice, runs, forced)                                                                  \
  static void name(const gab_sweep *sweep, const gab_run *list, size_t count)                                \
  {                                                                                                          \
    runs(&(lattice), (forced), sweep, list, count);                                                          \
  }

KERNEL(d2q9_double, gab_lattice_d2q9, reference_double_runs, false)
KERNEL(d2q9_double_forced, gab_lattice_d2q9, reference_double_runs, true)
KERNEL(d2q9_float, gab_lattice_d2q9, reference_float_runs, false)
KERNEL(d2q9_float_forced, gab_lattice_d2q9, reference_float_runs, true)
KERNEL(d3q19_double, gab_lattice_d3q19, reference_double_runs, false)
KERNEL(d3q19_double_forced, gab_lattice_d3q19, reference_double_runs, true)
KERNEL(d3q19_float, gab_lattice_d3q19, reference_float_runs, false)
KERNEL(d3q19_float_forced, gab_lattice_d3q19, reference_float_runs, true)

const gab_kernel gab_kernels_reference[GAB_KERNELS_PER_FAMILY] = {
    {"reference/D2Q9/double/free", d2q9_double, false},
    {"reference/D2Q9/double/forced", d2q9_double_forced, false},
    {"reference/D2Q9/float/free", d2q9_float, false},
    {"reference/D2Q9/float/forced", d2q9_float_forced, false},
    {"reference/D3Q19/double/free", d3q19_double, false},
    {"reference/D3Q19/double/forced", d3q19_double_forced, false},
    {"reference/D3Q19/float/free", d3q19_float, false},
    {"reference/D3Q19/float/forced", d3q19_float_forced, false},
};
