/* SPDX-License-Identifier: Apache-2.0 */
#include "phasefield/setup/initial_impl.h"

#include "core/base/hash.h"

#include <math.h>

/* ------------------------------------------------------------------------------------------ checks */

static gab_status check_solids(const gab_phasefield_start *start)
{
  double sum = 0;
  if (start->solids < 1 || start->solids > GAB_MOST_PHASES)
    GAB_FAIL(GAB_ERR_INPUT, "an initial state of %d solids cannot be", start->solids);
  for (int k = 0; k < start->solids; k++) {
    if (start->solid[k] < 0 || start->solid[k] >= start->melt)
      GAB_FAIL(GAB_ERR_INPUT, "phase %d of the initial state is not a solid", start->solid[k]);
    if (!(start->share[k] >= 0))
      GAB_FAIL(GAB_ERR_INPUT, "the share of a solid cannot be %g", start->share[k]);
    sum += start->share[k];
  }
  const bool shared = start->shape == GAB_START_LAMELLAE || start->shape == GAB_START_VORONOI;
  if (shared && !(fabs(sum - 1) < 1e-9))
    GAB_FAIL(GAB_ERR_INPUT, "the shares of the solids have the sum %.10g, not 1", sum);
  return GAB_OK;
}

/* A ball that reaches through a periodic side comes in again on the opposite one. */
static bool is_inside(const gab_phasefield_start *start, const int64_t cell[3])
{
  double square = 0;
  for (int k = 0; k < start->dimension; k++) {
    const double edge = (double)start->cells[k];
    double gap = fabs((double)cell[k] + 0.5 - start->centre[k]);
    if (start->periodic[k]) {
      gap = fmod(gap, edge);
      gap = fmin(gap, edge - gap);
    }
    square += gap * gap;
  }
  return square < start->radius * start->radius;
}

static gab_status check_sphere(const gab_phasefield_start *start)
{
  int64_t nearest[3] = {0, 0, 0};
  if (!(start->radius > 0 && isfinite(start->radius)))
    GAB_FAIL(GAB_ERR_INPUT, "the radius of the sphere must be positive, not %g", start->radius);
  for (int k = 0; k < start->dimension; k++) {
    const double edge = (double)start->cells[k];
    double at = floor(start->centre[k]);
    if (start->periodic[k]) at -= edge * floor(at / edge);
    nearest[k] = (int64_t)fmin(fmax(at, 0), edge - 1);
  }
  if (!is_inside(start, nearest))
    GAB_FAIL(GAB_ERR_INPUT,
             "the sphere of radius %g covers no cell: the centre of the nearest cell (%" PRId64 ", %" PRId64
             ", %" PRId64 ") lies outside of it",
             start->radius, nearest[0], nearest[1], nearest[2]);
  return GAB_OK;
}

static gab_status check_lamellae(const gab_phasefield_start *start)
{
  const double edge = (double)start->cells[0], times = fmax(round(edge / start->period), 1);
  if (!(start->period >= 1)) GAB_FAIL(GAB_ERR_INPUT, "lamellae cannot repeat after %g cells", start->period);
  if (start->periodic[0] && fabs(edge / start->period - times) > 1e-9 * times)
    GAB_FAIL(GAB_ERR_INPUT,
             "a period of %g cells does not fit a domain of %g periodic cells along x; %g would (%g periods)",
             start->period, edge, edge / times, times);
  return GAB_OK;
}

static gab_status check_shape(const gab_phasefield_start *start)
{
  const double top = (double)start->cells[start->dimension - 1];
  GAB_TRY(check_solids(start));
  if (start->shape != GAB_START_SPHERE && !(start->height >= 0 && start->height <= top))
    GAB_FAIL(GAB_ERR_INPUT, "the solid cannot reach up to %g of %g cells", start->height, top);
  if (start->shape != GAB_START_SPHERE && start->height > 0 && start->height <= 0.5)
    GAB_FAIL(GAB_ERR_INPUT, "a solid of height %g covers no cell: it ends below the centre of the first one",
             start->height);
  if (start->shape == GAB_START_SPHERE) GAB_TRY(check_sphere(start));
  if (start->shape == GAB_START_LAMELLAE) GAB_TRY(check_lamellae(start));
  if (start->shape == GAB_START_VORONOI &&
      (start->seeds < start->solids || start->seeds > GAB_START_MOST_SEEDS))
    GAB_FAIL(GAB_ERR_INPUT, "%d seeds for %d solids: expected one for each, and at most %d", start->seeds,
             start->solids, (int)GAB_START_MOST_SEEDS);
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------------ columns */

/* The seed nearest to a place in the plane; distances across periodic sides are the shorter ones. */
static int nearest_seed(const gab_phasefield_start *start, double x, double y)
{
  int nearest = 0;
  double least = INFINITY;
  for (int s = 0; s < start->seeds; s++) {
    double gap[2] = {fabs(x - start->place[s][0]), fabs(y - start->place[s][1])};
    for (int k = 0; k < 2; k++) {
      const double edge = (double)start->cells[k];
      if (start->periodic[k] && 2 * gap[k] > edge) gap[k] = edge - gap[k];
    }
    const double square = gap[0] * gap[0] + (start->dimension == 3 ? gap[1] * gap[1] : 0);
    if (square < least) nearest = s;
    least = fmin(least, square);
  }
  return nearest;
}

/* Shares of the seeds in the plane, from the cells or, if there are many, from that number of points. */
static void measure_columns(const gab_phasefield_start *start, double *area)
{
  enum { MOST_POINTS = 256 };
  int64_t points[2] = {start->cells[0], start->dimension == 3 ? start->cells[1] : 1};
  for (int k = 0; k < 2; k++)
    if (points[k] > MOST_POINTS && start->dimension == 3) points[k] = MOST_POINTS;
  for (int64_t j = 0; j < points[1]; j++)
    for (int64_t i = 0; i < points[0]; i++) {
      const double x = ((double)i + 0.5) * (double)start->cells[0] / (double)points[0];
      const double y = ((double)j + 0.5) * (double)start->cells[1] / (double)points[1];
      area[nearest_seed(start, x, y)] += 1 / (double)(points[0] * points[1]);
    }
}

/* The largest column that is left goes to the solid that lacks most. */
static void share_columns(gab_phasefield_start *start, double *area)
{
  double lack[GAB_MOST_PHASES];
  for (int k = 0; k < start->solids; k++) lack[k] = start->share[k];
  for (int round = 0; round < start->seeds; round++) {
    int largest = 0, neediest = 0;
    for (int s = 1; s < start->seeds; s++)
      if (area[s] > area[largest]) largest = s;
    for (int k = 1; k < start->solids; k++)
      if (lack[k] > lack[neediest]) neediest = k;
    start->column[largest] = start->solid[neediest];
    lack[neediest] -= area[largest];
    area[largest] = -1;
  }
}

static gab_status make_columns(gab_phasefield_start *start)
{
  double *area;
  GAB_TRY(GAB_NEW_ARRAY(&start->place, (size_t)start->seeds, GAB_MEMORY_OTHER));
  GAB_TRY(GAB_NEW_ARRAY(&start->column, (size_t)start->seeds, GAB_MEMORY_OTHER));
  GAB_TRY(GAB_NEW_ARRAY(&area, (size_t)start->seeds, GAB_MEMORY_OTHER));
  for (int s = 0; s < start->seeds; s++)
    for (int k = 0; k < 2; k++)
      start->place[s][k] = gab_hash_uniform(start->seed, (uint64_t)k, (uint64_t)s) * (double)start->cells[k];
  measure_columns(start, area);
  share_columns(start, area);
  gab_free(&area);
  return GAB_OK;
}

gab_status gab_phasefield_start_prepare(gab_phasefield_start *start, const gab_forest_options *forest,
                                        int melt)
{
  start->melt = melt;
  start->dimension = forest->grid.dimension;
  start->place = NULL;
  start->column = NULL;
  for (int k = 0; k < 3; k++) {
    start->cells[k] = (int64_t)forest->grid.roots[k] * forest->cells[k];
    start->periodic[k] = forest->periodic[k];
  }
  start->file = NULL;
  start->as_stored = false;
  if (start->shape == GAB_START_FILE)
    return gab_phasefield_start_file_open(start->path, forest, start->thermo, &start->as_stored,
                                          &start->file);
  GAB_TRY(check_shape(start));
  gab_status status = start->shape == GAB_START_VORONOI ? make_columns(start) : GAB_OK;
  if (status != GAB_OK) gab_phasefield_start_release(start);
  return status;
}

void gab_phasefield_start_release(gab_phasefield_start *start)
{
  gab_free(&start->place);
  gab_free(&start->column);
  gab_phasefield_start_file_close(&start->file);
}

/* ------------------------------------------------------------------------------------------ states */

static int lamella_of(const gab_phasefield_start *start, double x)
{
  double along = x / start->period - floor(x / start->period), end = 0;
  int k = 0;
  for (; k < start->solids - 1; k++) {
    end += start->share[k];
    if (along < end) break;
  }
  return start->solid[k];
}

void gab_phasefield_start_state(void *user, const int64_t cell[3], double *phi, double *mu)
{
  const gab_phasefield_start *start = user;
  if (start->shape == GAB_START_FILE) {
    gab_phasefield_start_file_cell(start->file, cell, phi, mu);
    return;
  }
  const double x = (double)cell[0] + 0.5, y = (double)cell[1] + 0.5;
  int phase = start->solid[0];
  bool solid = (double)cell[start->dimension - 1] + 0.5 < start->height;
  if (start->shape == GAB_START_SPHERE) solid = is_inside(start, cell);
  else if (!solid) phase = start->melt;
  else if (start->shape == GAB_START_LAMELLAE) phase = lamella_of(start, x);
  else if (start->shape == GAB_START_VORONOI) phase = start->column[nearest_seed(start, x, y)];
  phi[solid ? phase : start->melt] = 1;
}

gab_status gab_phasefield_start_status(void *user)
{
  const gab_phasefield_start *start = user;
  return start->shape == GAB_START_FILE ? gab_phasefield_start_file_status(start->file) : GAB_OK;
}
