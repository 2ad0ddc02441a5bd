/* SPDX-License-Identifier: Apache-2.0 */
/* One cell of TRT and SRT on a lattice that is known at run time: the readable arithmetic, in double. */
#include "lbm/kernels/kernel_cell_impl.h"
#include "lbm/kernels/lattice_list_impl.h"
#include "lbm/lbm_impl.h"

#define R(number)  ((double)(number))
#define REAL       double
#define NAME(part) two_rates##part
#define MRT        0
#include "lbm/kernels/source/kernel_reference_body.inc"

void gab_collide_two_rates(const gab_lattice *lattice, const gab_collision_rates *rates, bool forced,
                           double *f)
{
  two_rates_cell(lattice, rates, forced, f);
}
