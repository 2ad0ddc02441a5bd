#include "lbm/lbm_impl.h"

/* Links read populations of fluid cells and write populations of boundary cells, so their order is free. */

#define REAL       double
#define NAME(part) links_double##part
#include "lbm/boundary_body.inc"

#define REAL       float
#define NAME(part) links_float##part
#include "lbm/boundary_body.inc"

void gab_links_apply(const gab_lbm_model *model, const gab_lbm_job *job, const double ramp[GAB_SIDE_COUNT])
{
  if (model->options.precision == GAB_PRECISION_FLOAT) links_float_all(model, job, ramp);
  else links_double_all(model, job, ramp);
}
