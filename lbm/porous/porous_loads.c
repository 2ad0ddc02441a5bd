/* SPDX-License-Identifier: Apache-2.0 */
/* Loads of porous regions: the velocity of a cell gives the drag of its last step. */
#include "lbm/porous/drag_impl.h"

#include "core/messages/collective.h"

#include <math.h>

enum { VOLUME, FORCE, VELOCITY = FORCE + 3, POWER = VELOCITY + 3, SUM_COUNT };

typedef struct region_sums {
  gab_exact_sum sum[SUM_COUNT];
  uint64_t cells[2]; /* all, beyond the knee of the law */
  double most;
} region_sums;

typedef struct summing {
  const gab_lbm_model *model;
  const gab_level_model *level;
  const gab_lbm_row *row;
  region_sums *to; /* by region */
} summing;

static void add_part(void *user, int32_t first, int32_t count, const uint8_t *region,
                     double (*half)[GAB_LBM_ROW])
{
  const summing *it = user;
  const double volume = it->level->volume;
  for (int32_t i = 0; i < count; i++) {
    const int32_t k = first + i;
    const double rho = 1 + it->row->drho[k];
    double u[3], drag[3], power = 0;
    if (region[i] == 0) continue;
    const gab_drag_law law = gab_drag_law_of(&it->model->porous->regions[region[i] - 1], it->level->level);
    region_sums *to = &it->to[region[i] - 1];
    for (int axis = 0; axis < 3; axis++) u[axis] = it->row->u[axis][k] - half[axis][i] / rho;
    gab_drag_at(&law, u, drag);
    gab_exact_add(&to->sum[VOLUME], volume);
    to->cells[0]++;
    to->cells[1] += u[0] * u[0] + u[1] * u[1] + u[2] * u[2] > law.knee * law.knee;
    for (int axis = 0; axis < 3; axis++) {
      const double force = ldexp(rho * drag[axis] * u[axis], it->level->level);
      gab_exact_add(&to->sum[FORCE + axis], volume * force);
      gab_exact_add(&to->sum[VELOCITY + axis], volume * u[axis]);
      power += force * u[axis];
      to->most = fmax(to->most, drag[axis]);
    }
    gab_exact_add(&to->sum[POWER], volume * power);
  }
}

static bool add_row(void *user, const gab_lbm_block *sent, uint32_t start, int32_t count, uint32_t cell)
{
  summing *it = user;
  gab_lbm_row row;
  if (!sent->porous) return false;
  gab_lbm_row_moments(it->model, sent, start, count, cell, &row);
  it->level = sent->at;
  it->row = &row;
  gab_porous_visit(it->model, sent, cell, count, add_part, it);
  return true;
}

static void clear(region_sums *sums, size_t count)
{
  for (size_t i = 0; i < count; i++) {
    for (int k = 0; k < SUM_COUNT; k++) gab_exact_clear(&sums[i].sum[k]);
    sums[i].cells[0] = sums[i].cells[1] = 0;
    sums[i].most = 0;
  }
}

static gab_status sum_locally(gab_lbm *lbm, region_sums *sums)
{
  gab_lbm_jobs jobs;
  GAB_TRY(gab_lbm_make_jobs(lbm, -1, &jobs));
  summing it = {.model = &lbm->model, .to = sums};
  for (size_t i = 0; i < jobs.count; i++) (void)gab_lbm_visit_rows(&lbm->model, &jobs.list[i], add_row, &it);
  gab_lbm_release_jobs(&jobs);
  return GAB_OK;
}

static gab_status sum_region(gab_lbm *lbm, region_sums *sums, gab_porous_load *load)
{
  GAB_TRY(gab_world_sum_exact(lbm->world, sums->sum, SUM_COUNT));
  GAB_TRY(gab_world_sum_u64(lbm->world, sums->cells, 2));
  GAB_TRY(gab_world_max_f64(lbm->world, &sums->most, 1));
  const double volume = gab_exact_value(&sums->sum[VOLUME]);
  *load = (gab_porous_load){.cells = sums->cells[0],
                            .beyond = sums->cells[1],
                            .volume = volume,
                            .power = gab_exact_value(&sums->sum[POWER]),
                            .most_drag = sums->most};
  for (int axis = 0; axis < 3 && volume > 0; axis++) {
    load->force[axis] = gab_exact_value(&sums->sum[FORCE + axis]);
    load->velocity[axis] = gab_exact_value(&sums->sum[VELOCITY + axis]) / volume;
  }
  return GAB_OK;
}

gab_status gab_lbm_porous_loads(gab_lbm *lbm, gab_porous_load *loads)
{
  const size_t count = lbm->model.options.porous_count;
  region_sums *sums;
  if (count == 0) return GAB_OK;
  GAB_TRY(GAB_NEW_ARRAY(&sums, count, GAB_MEMORY_OTHER));
  clear(sums, count);
  gab_status status = gab_world_reduce_status(lbm->world, sum_locally(lbm, sums));
  for (size_t i = 0; status == GAB_OK && i < count; i++) status = sum_region(lbm, &sums[i], &loads[i]);
  gab_free(&sums);
  return status;
}
