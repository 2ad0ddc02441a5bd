/* SPDX-License-Identifier: Apache-2.0 */
#include "core/messages/collective.h"
#include "lbm/observe/stress_impl.h"

#include <math.h>

enum { MASS, MOMENTUM_X, MOMENTUM_Y, MOMENTUM_Z, ENERGY, STRAIN, VOLUME, SUM_COUNT };

typedef struct totals {
  gab_exact_sum sum[SUM_COUNT];
  uint64_t cells;
  double max_square;
} totals;

static void clear(totals *all)
{
  for (int i = 0; i < SUM_COUNT; i++) gab_exact_clear(&all->sum[i]);
  all->cells = 0;
  all->max_square = 0;
}

static void merge(totals *into, const totals *from)
{
  for (int i = 0; i < SUM_COUNT; i++) gab_exact_merge(&into->sum[i], &from->sum[i]);
  into->cells += from->cells;
  into->max_square = fmax(into->max_square, from->max_square);
}

/* @param[in] volume  of the cell, in cells of level 0: a power of two, so products are exact */
static void add_cell(totals *all, double volume, double drho, double ux, double uy, double uz)
{
  double rho = 1 + drho, square = ux * ux + uy * uy + uz * uz;
  gab_exact_add(&all->sum[MASS], volume * drho);
  gab_exact_add(&all->sum[MOMENTUM_X], volume * (rho * ux));
  gab_exact_add(&all->sum[MOMENTUM_Y], volume * (rho * uy));
  gab_exact_add(&all->sum[MOMENTUM_Z], volume * (rho * uz));
  gab_exact_add(&all->sum[ENERGY], volume * (0.5 * rho * square));
  all->max_square = fmax(all->max_square, square);
}

/* S:S of the incoming populations of a cell: S = -3 omega / (2 rho) (sum c c f_neq + (u F + F u) / 2), its trace with
 * the rate of the energy in place of omega. If the rate varies between cells, it is that of the cell. */
static double strain_square(const gab_lbm_model *model, const gab_lbm_block *block, uint32_t cell,
                            uint32_t number)
{
  const int dimension = model->lattice->dimension;
  gab_lbm_second second;
  double square = 0;
  gab_lbm_second_moments(model, block, cell, number, &second);
  const double bulk = (block->at->bulk_rate / block->at->rates.even - 1) * second.trace / dimension;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      const double moment = second.moment[i][j] + (i == j && i < dimension ? bulk : 0);
      const double strain = -1.5 * second.rate / second.rho * moment;
      square += strain * strain;
    }
  return square;
}

typedef struct adding {
  const gab_lbm_model *model;
  totals *all;
} adding;

static bool add_row(void *user, const gab_lbm_block *sent, uint32_t start, int32_t count, uint32_t cell)
{
  adding *to = user;
  gab_lbm_row row;
  gab_lbm_row_moments(to->model, sent, start, count, cell, &row);
  to->all->cells += (uint64_t)count;
  const double volume = sent->at->volume;
  gab_exact_add(&to->all->sum[MASS], volume * count);
  gab_exact_add(&to->all->sum[VOLUME], volume * count);
  for (int32_t i = 0; i < count; i++)
    add_cell(to->all, volume, row.drho[i], row.u[0][i], row.u[1][i], row.u[2][i]);
  return true;
}

static bool add_strain(void *user, const gab_lbm_block *arriving, uint32_t start, int32_t count,
                       uint32_t cell)
{
  adding *to = user;
  const double unit = ldexp(arriving->at->volume, 2 * arriving->at->level); /* rates per step of level 0 */
  for (int32_t i = 0; i < count; i++)
    gab_exact_add(&to->all->sum[STRAIN],
                  unit * strain_square(to->model, arriving, start + (uint32_t)i, cell + (uint32_t)i));
  return true;
}

static void add_job(const gab_lbm_model *model, const gab_lbm_job *job, bool with_strain, totals *all)
{
  adding to = {.model = model, .all = all};
  (void)gab_lbm_visit_rows(model, job, add_row, &to);
  if (with_strain) (void)gab_lbm_visit_arriving_rows(model, job, add_strain, &to);
}

static gab_status sum_locally(gab_lbm *lbm, bool with_strain, totals *all)
{
  gab_lbm_jobs jobs;
  GAB_TRY(gab_lbm_make_jobs(lbm, -1, &jobs));
#pragma omp parallel
  {
    totals mine;
    clear(&mine);
#pragma omp for schedule(dynamic)
    for (size_t i = 0; i < jobs.count; i++) add_job(&lbm->model, &jobs.list[i], with_strain, &mine);
#pragma omp critical(gab_lbm_integrals)
    merge(all, &mine);
  }
  gab_lbm_release_jobs(&jobs);
  return GAB_OK;
}

gab_status gab_lbm_integrate(gab_lbm *lbm, bool with_strain, gab_lbm_integrals *integrals)
{
  if (with_strain) GAB_TRY(gab_lbm_fill_arrivals(lbm));
  totals all;
  clear(&all);
  GAB_TRY(sum_locally(lbm, with_strain, &all));
  GAB_TRY(gab_world_sum_exact(lbm->world, all.sum, SUM_COUNT));
  GAB_TRY(gab_world_sum_u64(lbm->world, &all.cells, 1));
  GAB_TRY(gab_world_max_f64(lbm->world, &all.max_square, 1));
  gab_exact_add(&all.sum[MASS], -gab_wall_balance_mass(lbm));
  *integrals = (gab_lbm_integrals){.fluid_cells = all.cells,
                                   .volume = gab_exact_value(&all.sum[VOLUME]),
                                   .mass = gab_exact_value(&all.sum[MASS]),
                                   .kinetic_energy = gab_exact_value(&all.sum[ENERGY]),
                                   .strain = gab_exact_value(&all.sum[STRAIN]),
                                   .max_velocity = sqrt(all.max_square)};
  for (int axis = 0; axis < 3; axis++)
    integrals->momentum[axis] = gab_exact_value(&all.sum[MOMENTUM_X + axis]);
  return GAB_OK;
}
