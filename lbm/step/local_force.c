/* SPDX-License-Identifier: Apache-2.0 */
/* The populations that a cell has sent are in its own places for any pattern (storage_impl.h): those that its sweep
 * accesses. So cells can be changed in any order, right after their sweep, by any thread. */
#include "lbm/step/local_force.h"

#include "lbm/lbm_impl.h"

#include <math.h>

gab_status gab_lbm_set_local_force(gab_lbm *lbm, const gab_local_force *force)
{
  if (force && (!force->name || !force->row))
    GAB_FAIL(GAB_ERR_ARGUMENT, "a local force without a name or a function");
  if (force && lbm->model.sparse_below > 0)
    GAB_FAIL(GAB_ERR_ARGUMENT,
             "%s acts on blocks that store all cells: the kernel must be in_place, vector or "
             "reference",
             force->name);
  if (lbm->ghosts != GAB_GHOSTS_STALE)
    GAB_FAIL(GAB_ERR_STATE, "a local force is set between two steps, but an exchange of ghosts has begun");
  lbm->model.local_force = force;
  lbm->model.forest = lbm->forest;
  return GAB_OK;
}

static void push_row(const gab_lbm_model *model, const gab_lbm_block *block, size_t start, int32_t count,
                     double force[3][GAB_LBM_ROW])
{
  const gab_lattice *lattice = model->lattice;
  const gab_storage *after = block->now->next;
  gab_field *field = block->dst ? block->dst : block->src;
  const double scale = ldexp(3, -block->at->level);
  for (int q = 1; q < lattice->q; q++)
    for (int32_t i = 0; i < count; i++) {
      const size_t place = gab_place(start + (size_t)i, after->sent[q]);
      double along = 0;
      for (int axis = 0; axis < lattice->dimension; axis++) along += lattice->c[q][axis] * force[axis][i];
      gab_value_set(field, place, gab_value_at(field, place) + scale * lattice->weight[q] * along);
    }
}

void gab_lbm_push_slab(const gab_lbm_model *model, const gab_lbm_block *block, size_t slab)
{
  const gab_local_force *force = model->local_force;
  const gab_block *place = gab_forest_find(model->forest, block->id);
  for (size_t r = block->run_start[slab]; r < block->run_start[slab + 1]; r++) {
    const gab_run *run = &block->runs[r];
    for (int32_t done = 0; done < run->length; done += GAB_LBM_ROW) {
      const int32_t left = run->length - done, count = left < GAB_LBM_ROW ? left : GAB_LBM_ROW;
      double rows[3][GAB_LBM_ROW] = {{0}};
      double *const to[3] = {rows[0], rows[1], rows[2]};
      force->row(force->user, place, (const int32_t[3]){run->x + done, run->y, run->z}, count, to);
      push_row(model, block, (size_t)run->start + (size_t)done, count, rows);
    }
  }
}

static void take_row(const gab_local_force *force, const gab_block *block, int level, const int32_t first[3],
                     int32_t count, const double *density, double *velocity)
{
  double rows[3][GAB_LBM_ROW] = {{0}};
  double *const to[3] = {rows[0], rows[1], rows[2]};
  force->row(force->user, block, first, count, to);
  for (int32_t i = 0; i < count; i++)
    for (int axis = 0; axis < 3; axis++)
      velocity[3 * i + axis] -= ldexp(rows[axis][i], -level - 1) / density[i];
}

void gab_lbm_take_half_force(const gab_lbm *lbm, const gab_block *block, const gab_box *box,
                             const double *density, double *velocity)
{
  const gab_local_force *force = lbm->model.local_force;
  const int level = gab_block_level(lbm->forest, block);
  if (!force) return;
  for (int64_t z = box->lo[2]; z < box->hi[2]; z++)
    for (int64_t y = box->lo[1]; y < box->hi[1]; y++)
      for (int64_t x = box->lo[0]; x < box->hi[0]; x += GAB_LBM_ROW) {
        const int64_t left = box->hi[0] - x;
        const int32_t count = left < GAB_LBM_ROW ? (int32_t)left : GAB_LBM_ROW;
        take_row(force, block, level, (const int32_t[3]){(int32_t)x, (int32_t)y, (int32_t)z}, count, density,
                 velocity);
        density += count;
        velocity += 3 * count;
      }
}
