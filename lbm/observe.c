#include "lbm/lbm_impl.h"

static gab_status check_box(const gab_lbm_block *block, const gab_box *box)
{
  for (int axis = 0; axis < 3; ++axis)
    if (box->lo[axis] < 0 || box->lo[axis] > box->hi[axis] || box->hi[axis] > block->src->shape.cells[axis])
      GAB_FAIL(GAB_ERR_ARGUMENT, "cells %" PRId64 " to %" PRId64 " along axis %d are not in the block",
               box->lo[axis], box->hi[axis], axis);
  return GAB_OK;
}

/* One row of the box, piece by piece; solid cells get the state of rest. */
static void read_row(const gab_lbm *lbm, const gab_lbm_block *block, const gab_box *box, int32_t y, int32_t z,
                     double *density, double *velocity)
{
  gab_lbm_row row;
  for (int64_t x = box->lo[0]; x < box->hi[0]; x += GAB_LBM_ROW) {
    int32_t count = (int32_t)(box->hi[0] - x < GAB_LBM_ROW ? box->hi[0] - x : GAB_LBM_ROW);
    uint32_t start = (uint32_t)gab_field_index(&block->src->map, (int32_t)x, y, z, 0);
    gab_lbm_row_moments(&lbm->model, block, start, count, &row);
    for (int32_t i = 0; i < count; ++i) {
      bool fluid = gab_flags_are_on(block->flags, (int32_t)x + i, y, z, GAB_CELL_IS_FLUID);
      size_t at = (size_t)(x - box->lo[0] + i);
      if (density) density[at] = fluid ? 1 + row.drho[i] : 1;
      if (!velocity) continue;
      for (int axis = 0; axis < 3; ++axis) velocity[3 * at + (size_t)axis] = fluid ? row.u[axis][i] : 0;
    }
  }
}

gab_status gab_lbm_macroscopic(const gab_lbm *lbm, const gab_block *block, const gab_box *box,
                               double *density, double *velocity)
{
  const gab_lbm_block *data = gab_lbm_block_of(lbm, block);
  GAB_TRY(check_box(data, box));
  size_t width = (size_t)(box->hi[0] - box->lo[0]), done = 0;
  for (int64_t z = box->lo[2]; z < box->hi[2]; ++z)
    for (int64_t y = box->lo[1]; y < box->hi[1]; ++y, done += width)
      read_row(lbm, data, box, (int32_t)y, (int32_t)z, density ? density + done : NULL,
               velocity ? velocity + 3 * done : NULL);
  return GAB_OK;
}

gab_status gab_lbm_fluid_mask(const gab_lbm *lbm, const gab_block *block, const gab_box *box, uint8_t *fluid)
{
  const gab_lbm_block *data = gab_lbm_block_of(lbm, block);
  GAB_TRY(check_box(data, box));
  for (int64_t z = box->lo[2]; z < box->hi[2]; ++z)
    for (int64_t y = box->lo[1]; y < box->hi[1]; ++y)
      for (int64_t x = box->lo[0]; x < box->hi[0]; ++x)
        *fluid++ = gab_flags_are_on(data->flags, (int32_t)x, (int32_t)y, (int32_t)z, GAB_CELL_IS_FLUID);
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------------ divergence */

static bool is_in_range(double drho, double ux, double uy, double uz)
{
  const double most_speed = 0.6, most_density = 10;
  /* Written so that a NaN is out of range. */
  return ux * ux + uy * uy + uz * uz <= most_speed * most_speed && drho > -1 && drho < most_density - 1;
}

/* The first cell of a job that is out of range. */
static bool find_trouble(const gab_lbm *lbm, const gab_lbm_job *job, gab_lbm_trouble *where)
{
  const gab_lbm_block *block = job->block;
  gab_lbm_row row;
  size_t first, last;
  gab_lbm_share(job, block->run_count, &first, &last);
  for (size_t k = first; k < last; ++k)
    for (int32_t done = 0; done < block->runs[k].length; done += GAB_LBM_ROW) {
      const gab_run *run = &block->runs[k];
      int32_t count = run->length - done < GAB_LBM_ROW ? run->length - done : GAB_LBM_ROW;
      gab_lbm_row_moments(&lbm->model, block, run->start + (uint32_t)done, count, &row);
      for (int32_t i = 0; i < count; ++i) {
        if (is_in_range(row.drho[i], row.u[0][i], row.u[1][i], row.u[2][i])) continue;
        *where = (gab_lbm_trouble){
            .step = lbm->step,
            .block = block->id,
            .cell = {block->first[0] + run->x + done + i, block->first[1] + run->y, block->first[2] + run->z},
            .density = 1 + row.drho[i],
            .velocity = {row.u[0][i], row.u[1][i], row.u[2][i]}};
        return true;
      }
    }
  return false;
}

gab_status gab_lbm_check_finite(const gab_lbm *lbm, gab_lbm_trouble *where)
{
  gab_lbm_jobs jobs;
  GAB_TRY(gab_lbm_make_jobs(lbm, &jobs));
  size_t first_bad = jobs.count;
#pragma omp parallel for schedule(dynamic) reduction(min : first_bad)
  for (size_t i = 0; i < jobs.count; ++i) {
    gab_lbm_trouble ignored;
    if (find_trouble(lbm, &jobs.list[i], &ignored) && i < first_bad) first_bad = i;
  }
  gab_lbm_trouble trouble = {0};
  bool diverged = first_bad < jobs.count && find_trouble(lbm, &jobs.list[first_bad], &trouble);
  gab_lbm_release_jobs(&jobs);
  if (!diverged) return GAB_OK;
  if (where) *where = trouble;
  GAB_FAIL(GAB_ERR_DIVERGED,
           "the flow diverged at step %" GAB_PRI_STEP ": block " GAB_PRI_BLOCK ", cell (%" PRId64 ", %" PRId64
           ", %" PRId64 ") has density %g and velocity (%g, %g, %g) in lattice units",
           trouble.step, trouble.block, trouble.cell[0], trouble.cell[1], trouble.cell[2], trouble.density,
           trouble.velocity[0], trouble.velocity[1], trouble.velocity[2]);
}
