/* SPDX-License-Identifier: Apache-2.0 */
#include "lbm/porous/drag_impl.h"
#include "lbm/sparse/sparse_impl.h"

/* Links read populations of fluid cells and write populations of boundary cells, so their order is free; but for open sides, which
 * read what other boundary cells send along them and come last, after pressure patches of bodies (sort_opens_of_run()). */

#define REAL       double
#define NAME(part) links_double##part
#include "lbm/boundaries/links/links_apply_body.inc"

#define REAL       float
#define NAME(part) links_float##part
#include "lbm/boundaries/links/links_apply_body.inc"

static void apply_dense(const gab_lbm_model *model, const gab_lbm_job *job,
                        const double ramp[GAB_SIDE_FACTORS])
{
  if (model->options.precision == GAB_PRECISION_FLOAT) links_float_all(model, job, ramp);
  else links_double_all(model, job, ramp);
}

void gab_links_apply(const gab_lbm_model *model, const gab_lbm_job *job, const double ramp[GAB_SIDE_FACTORS])
{
  if (job->block->sparse) gab_sparse_apply_links(model, job, ramp);
  else apply_dense(model, job, ramp);
}
