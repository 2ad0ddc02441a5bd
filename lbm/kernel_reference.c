#include "lbm/kernel_cell_impl.h"
#include "lbm/lbm_impl.h"

#define REAL       double
#define NAME(part) reference_double##part
#include "lbm/kernel_reference_body.inc"

#define REAL       float
#define NAME(part) reference_float##part
#include "lbm/kernel_reference_body.inc"

#define KERNEL(name, lattice, runs, mrt, forced)                                                             \
  static void name(const gab_sweep *sweep, const gab_run *list, size_t count)                                \
  {                                                                                                          \
    runs(&(lattice), (mrt), (forced), sweep, list, count);                                                   \
  }
#define FOUR(prefix, lattice, runs)                                                                          \
  KERNEL(prefix##_free, lattice, runs, false, false)                                                         \
  KERNEL(prefix##_forced, lattice, runs, false, true)                                                        \
  KERNEL(prefix##_mrt_free, lattice, runs, true, false)                                                      \
  KERNEL(prefix##_mrt_forced, lattice, runs, true, true)
FOUR(d2q9_double, gab_lattice_d2q9, reference_double_runs)
FOUR(d2q9_float, gab_lattice_d2q9, reference_float_runs)
FOUR(d3q19_double, gab_lattice_d3q19, reference_double_runs)
FOUR(d3q19_float, gab_lattice_d3q19, reference_float_runs)

#define ENTRIES(lattice, real, prefix)                                                                       \
  {"reference/" lattice "/" real "/free", prefix##_free, false},                                             \
      {"reference/" lattice "/" real "/forced", prefix##_forced, false},                                     \
      {"reference/" lattice "/" real "/MRT/free", prefix##_mrt_free, false},                                 \
      {"reference/" lattice "/" real "/MRT/forced", prefix##_mrt_forced, false},
const gab_kernel gab_kernels_reference[GAB_KERNELS_PER_FAMILY] = {
    ENTRIES("D2Q9", "double", d2q9_double) ENTRIES("D2Q9", "float", d2q9_float)
        ENTRIES("D3Q19", "double", d3q19_double) ENTRIES("D3Q19", "float", d3q19_float)};
