#include "lbm/kernel_cell_impl.h"
#include "lbm/lattice_list_impl.h"
#include "lbm/lbm_impl.h"

/* Pairs that even moments do not tell from each other, by their first directions; 0: there is none. */
typedef struct reference_group {
  int first, second;
} reference_group;

#define ONE(name, cx, cy, cz, pair)        {(pair), 0},
#define TWO(name, cx, cy, cz, pair, other) {(pair), (other)},
static const reference_group *groups_of(const gab_lattice *lattice)
{
  static const reference_group plane[] = {GAB_D2Q9_AXES(ONE) GAB_D2Q9_PLANES(TWO){0, 0}},
                               space[] = {GAB_D3Q19_AXES(ONE) GAB_D3Q19_PLANES(TWO){0, 0}};
  return lattice->dimension == 3 ? space : plane;
}

#define REAL       double
#define STORED     double
#define NAME(part) reference_double##part
#include "lbm/kernel_reference_body.inc"

#define REAL       float
#define STORED     float
#define NAME(part) reference_float##part
#include "lbm/kernel_reference_body.inc"

#define REAL       double
#define STORED     float
#define NAME(part) reference_mixed##part
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
FOUR(d2q9_mixed, gab_lattice_d2q9, reference_mixed_runs)
FOUR(d3q19_double, gab_lattice_d3q19, reference_double_runs)
FOUR(d3q19_float, gab_lattice_d3q19, reference_float_runs)
FOUR(d3q19_mixed, gab_lattice_d3q19, reference_mixed_runs)

#define ENTRIES(lattice, real, prefix)                                                                       \
  {"reference/" lattice "/" real "/free", prefix##_free, false},                                             \
      {"reference/" lattice "/" real "/forced", prefix##_forced, false},                                     \
      {"reference/" lattice "/" real "/MRT/free", prefix##_mrt_free, false},                                 \
      {"reference/" lattice "/" real "/MRT/forced", prefix##_mrt_forced, false},
const gab_kernel gab_kernels_reference[GAB_KERNELS_PER_FAMILY] = {
    ENTRIES("D2Q9", "double", d2q9_double) ENTRIES("D2Q9", "float", d2q9_float)
        ENTRIES("D2Q9", "mixed", d2q9_mixed) ENTRIES("D3Q19", "double", d3q19_double)
            ENTRIES("D3Q19", "float", d3q19_float) ENTRIES("D3Q19", "mixed", d3q19_mixed)};
