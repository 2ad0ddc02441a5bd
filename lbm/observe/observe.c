/* SPDX-License-Identifier: Apache-2.0 */
#include "lbm/sparse/sparse_impl.h"

#include <string.h>

static gab_status check_block(const gab_lbm *lbm, const gab_block *block)
{
  if (!gab_lbm_block_of(lbm, block)) GAB_FAIL(GAB_ERR_ARGUMENT, "a block of another forest than the flow's");
  return GAB_OK;
}

static gab_status check_box(const gab_lbm *lbm, const gab_box *box)
{
  for (int axis = 0; axis < 3; axis++)
    if (box->lo[axis] < 0 || box->lo[axis] > box->hi[axis] || box->hi[axis] > lbm->model.cells[axis])
      GAB_FAIL(GAB_ERR_ARGUMENT, "cells %" PRId64 " to %" PRId64 " along axis %d are not in the block",
               box->lo[axis], box->hi[axis], axis);
  return GAB_OK;
}

/* A row of cells, and data of the cells around it. */
typedef struct reader {
  const gab_lbm_model *model;
  const gab_lbm_block *block;
  gab_lbm_row row;
  uint32_t first; /* cell of the row */
  int32_t count;
} reader;

/* Makes a row that begins with a cell of a run, or holds it. @return its place in the row */
static int32_t read_cell(reader *from, uint32_t cell, int32_t left)
{
  if (cell >= from->first && cell - from->first < (uint32_t)from->count) return (int32_t)(cell - from->first);
  if (!from->block->sparse) {
    from->first = cell;
    from->count = left < GAB_LBM_ROW ? left : GAB_LBM_ROW;
    gab_lbm_row_moments(from->model, from->block, cell, from->count, cell, &from->row);
    return 0;
  }
  const gab_sparse *sparse = from->block->sparse;
  const size_t chunk = gab_sparse_chunk_of(sparse, cell);
  gab_sparse_window window;
  gab_sparse_open_window(from->model, from->block, chunk, GAB_SPARSE_SENT, &window);
  from->first = sparse->chunks[chunk].cell;
  from->count = window.count;
  gab_lbm_row_moments(from->model, &window.view, window.start, window.count, from->first, &from->row);
  return (int32_t)(cell - from->first);
}

/* The part of a run in one row of the box. */
static void read_run(reader *from, const gab_run *run, const gab_box *box, double *density, double *velocity)
{
  const int64_t lo = run->x > box->lo[0] ? run->x : box->lo[0];
  const int64_t end = (int64_t)run->x + run->length, hi = end < box->hi[0] ? end : box->hi[0];
  for (int64_t x = lo; x < hi; x++) {
    const int32_t i = read_cell(from, run->start + (uint32_t)(x - run->x), (int32_t)(hi - x));
    const size_t at = (size_t)(x - box->lo[0]);
    if (density) density[at] = 1 + from->row.drho[i];
    for (int axis = 0; velocity && axis < 3; axis++) velocity[3 * at + (size_t)axis] = from->row.u[axis][i];
  }
}

/* The runs of a row of the box, from the first one on that does not end before it. */
static const gab_run *runs_of_row(const gab_lbm_block *block, const gab_box *box, int64_t y, int64_t z)
{
  return block->runs + gab_lbm_run_from(block, (int32_t)box->lo[0], (int32_t)y, (int32_t)z);
}
static bool is_in_row(const gab_lbm_block *block, const gab_run *run, const gab_box *box, int64_t y,
                      int64_t z)
{
  return run < block->runs + block->run_count && run->y == y && run->z == z && run->x < box->hi[0];
}

/* Solid cells get the state of rest. */
static void read_row(reader *from, const gab_box *box, int64_t y, int64_t z, double *density,
                     double *velocity)
{
  const size_t width = (size_t)(box->hi[0] - box->lo[0]);
  for (size_t i = 0; density && i < width; i++) density[i] = 1;
  if (velocity) memset(velocity, 0, 3 * width * sizeof *velocity);
  for (const gab_run *run = runs_of_row(from->block, box, y, z); is_in_row(from->block, run, box, y, z);
       run++)
    read_run(from, run, box, density, velocity);
}

gab_status gab_lbm_macroscopic(const gab_lbm *lbm, const gab_block *block, const gab_box *box,
                               double *density, double *velocity)
{
  GAB_TRY(check_box(lbm, box));
  GAB_TRY(check_block(lbm, block));
  reader from = {.model = &lbm->model, .block = gab_lbm_block_of(lbm, block)};
  size_t width = (size_t)(box->hi[0] - box->lo[0]), done = 0;
  for (int64_t z = box->lo[2]; z < box->hi[2]; z++)
    for (int64_t y = box->lo[1]; y < box->hi[1]; y++, done += width)
      read_row(&from, box, y, z, density ? density + done : NULL, velocity ? velocity + 3 * done : NULL);
  return GAB_OK;
}

gab_status gab_lbm_fluid_mask(const gab_lbm *lbm, const gab_block *block, const gab_box *box, uint8_t *fluid)
{
  const gab_lbm_block *data = gab_lbm_block_of(lbm, block);
  GAB_TRY(check_box(lbm, box));
  GAB_TRY(check_block(lbm, block));
  memset(fluid, 0, gab_box_count(box));
  const size_t width = (size_t)(box->hi[0] - box->lo[0]);
  for (int64_t z = box->lo[2]; z < box->hi[2]; z++)
    for (int64_t y = box->lo[1]; y < box->hi[1]; y++, fluid += width)
      for (const gab_run *run = runs_of_row(data, box, y, z); is_in_row(data, run, box, y, z); run++)
        for (int64_t x = run->x; x < run->x + run->length; x++)
          if (x >= box->lo[0] && x < box->hi[0]) fluid[x - box->lo[0]] = 1;
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------------ divergence */

static bool is_in_range(double drho, double ux, double uy, double uz)
{
  const double most_speed = 0.6, most_density = 10;
  /* Written so that a NaN is out of range. */
  return ux * ux + uy * uy + uz * uz <= most_speed * most_speed && drho > -1 && drho < most_density - 1;
}

typedef struct search {
  const gab_lbm *lbm;
  const gab_lbm_block *block;
  gab_lbm_trouble *where;
} search;

static gab_lbm_trouble trouble_at(const search *in, uint32_t cell, const gab_lbm_row *row, int32_t i)
{
  const gab_lbm_block *block = in->block;
  const gab_run *run = block->runs, *end = run + block->run_count;
  while (run + 1 < end && run[1].start <= cell) run++;
  return (gab_lbm_trouble){.step = in->lbm->step,
                           .block = block->id,
                           .cell = {block->first[0] + run->x + (int32_t)(cell - run->start),
                                    block->first[1] + run->y, block->first[2] + run->z},
                           .density = 1 + row->drho[i],
                           .velocity = {row->u[0][i], row->u[1][i], row->u[2][i]}};
}

static bool search_row(void *user, const gab_lbm_block *sent, uint32_t start, int32_t count, uint32_t cell)
{
  const search *in = user;
  gab_lbm_row row;
  gab_lbm_row_moments(&in->lbm->model, sent, start, count, cell, &row);
  for (int32_t i = 0; i < count; i++) {
    if (is_in_range(row.drho[i], row.u[0][i], row.u[1][i], row.u[2][i])) continue;
    *in->where = trouble_at(in, cell + (uint32_t)i, &row, i);
    return false;
  }
  return true;
}

/* The first cell of a job that is out of range. */
static bool find_trouble(const gab_lbm *lbm, const gab_lbm_job *job, gab_lbm_trouble *where)
{
  search in = {.lbm = lbm, .block = job->block, .where = where};
  return !gab_lbm_visit_rows(&lbm->model, job, search_row, &in);
}

gab_status gab_lbm_check_finite(const gab_lbm *lbm, gab_lbm_trouble *where)
{
  gab_lbm_jobs jobs;
  GAB_TRY(gab_lbm_make_jobs(lbm, -1, &jobs));
  size_t first_bad = jobs.count;
#pragma omp parallel for schedule(dynamic) reduction(min : first_bad)
  for (size_t i = 0; i < jobs.count; i++) {
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
