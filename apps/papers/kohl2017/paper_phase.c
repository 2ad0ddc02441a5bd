/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/papers/kohl2017/paper_phase.h"

#include "core/memory/memory.h"
#include "loadbalance/balance.h"

enum { OURS = 6, MORE = PAPER_VALUES - OURS };

/* ---------------------------------------------------------------- values that the model of Gabion does not need */

typedef struct more_values {
  size_t count;
  double value[];
} more_values;

static gab_status create(void *user, const gab_forest *forest, const gab_block *block, void **data)
{
  const int32_t *cells = gab_forest_get_options(forest)->cells;
  const size_t count = (size_t)cells[0] * (size_t)cells[1] * (size_t)cells[2] * MORE;
  (void)user;
  (void)block;
  GAB_TRY(gab_alloc(sizeof(more_values) + count * sizeof(double), GAB_MEMORY_FIELD, data));
  more_values *more = *data;
  more->count = count;
  for (size_t i = 0; i < count; i++) more->value[i] = (double)i;
  return GAB_OK;
}

static void destroy(void *user, void *data)
{
  (void)user;
  gab_free(&data);
}

static size_t packed_size(void *user, const void *data)
{
  (void)user;
  return ((const more_values *)data)->count * sizeof(double);
}

static gab_status pack(void *user, const void *data, gab_buffer *out)
{
  const more_values *more = data;
  (void)user;
  return gab_put_f64s(out, more->value, more->count);
}

static gab_status unpack(void *user, void *data, gab_reader *in)
{
  more_values *more = data;
  (void)user;
  return gab_get_f64s(in, more->value, more->count);
}

/* ---------------------------------------------------------------- the phase field */

static gab_status fill(const gab_forest_options *domain, paper_phase *made)
{
  const gab_block_data_kind more = {.name = "more values",
                                    .create = create,
                                    .destroy = destroy,
                                    .packed_size = packed_size,
                                    .pack = pack,
                                    .unpack = unpack};
  gab_phasefield_options options = {.initial = gab_phasefield_start_state, .initial_user = &made->start};
  gab_data_id id;
  bench_phases_alloy(&options);
  options.sides[4].kind = options.sides[5].kind = GAB_PHASEFIELD_CLOSED;
  made->start = (gab_phasefield_start){.shape = GAB_START_VORONOI,
                                       .height = domain->cells[2] * domain->grid.roots[2] / 2.0,
                                       .solids = 3,
                                       .solid = {0, 1, 2},
                                       .share = {.2, .4, .4},
                                       .seeds = 24,
                                       .seed = 3};
  GAB_TRY(gab_phasefield_start_prepare(&made->start, domain, 3));
  GAB_TRY(gab_phasefield_create(made->forest, &options, &made->model));
  GAB_TRY(gab_forest_add_data(made->forest, &more, &id));
  GAB_TRY(gab_balance_initial(made->forest, NULL, NULL));
  return gab_phasefield_step(made->model);
}

gab_status paper_phase_create(bench *b, const gab_forest_options *domain, paper_phase *made)
{
  *made = (paper_phase){0};
  GAB_TRY(gab_forest_create(b->world, domain, &made->forest));
  return fill(domain, made);
}

void paper_phase_destroy(paper_phase *made)
{
  if (made->model) gab_phasefield_destroy(&made->model);
  if (made->forest) gab_forest_destroy(&made->forest);
  gab_phasefield_start_release(&made->start);
}

double paper_phase_bytes(double cells)
{
  const double state = cells * sizeof(double) * (2 * OURS + MORE),
               image = cells * sizeof(double) * PAPER_VALUES;
  return 1.2 * state + 8 * image; /* a fifth for ghosts */
}
