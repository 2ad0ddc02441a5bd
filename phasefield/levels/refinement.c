/* SPDX-License-Identifier: Apache-2.0 */
/* Which blocks are to be fine. A block knows of the interfaces beyond its border because the blocks that have
 * them say so: a byte for each neighbour. */
#include "phasefield/levels/refinement.h"

#include "phasefield/levels/levels_impl.h"

#include <math.h>
#include <string.h>

/* How near an interface is. A block whose interface is at a distance does not split and merge all the time.
 */
enum { FAR, NEAR, CLOSE };
enum { HYSTERESIS = 2 };

static gab_status check_grid(const gab_phasefield *phasefield, const gab_phasefield_grid *grid)
{
  int32_t least = phasefield->model.cells[0];
  for (int axis = 1; axis < phasefield->model.dimension; axis++)
    if (phasefield->model.cells[axis] < least) least = phasefield->model.cells[axis];
  if (grid->margin < 2 || grid->margin + HYSTERESIS > least)
    GAB_FAIL(GAB_ERR_INPUT,
             "a margin of %d cells around interfaces cannot be: with blocks of %" PRId32
             " it may be 2 to %" PRId32,
             grid->margin, least, least - HYSTERESIS);
  if (!(grid->steepest >= 0))
    GAB_FAIL(GAB_ERR_INPUT, "mu cannot be limited to change by %g from cell to cell", grid->steepest);
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------------ the first grid
 */

typedef struct marker {
  gab_phasefield *phasefield;
  const gab_phasefield_grid *grid;
} marker;

/* The phase of a cell of the domain at the start, -1 if there are several. */
static int initial_phase(const gab_phasefield_model *model, const int64_t cell[3])
{
  double phi[GAB_MOST_PHASES] = {0}, mu[GAB_MOST_INDEPENDENTS];
  memcpy(mu, model->options.mu, sizeof mu);
  model->options.initial(model->options.initial_user, cell, phi, mu);
  gab_phasefield_project(model->phases, (1U << model->phases) - 1, phi);
  for (int a = 0; a < model->phases; a++)
    if (phi[a] == 1) return a;
  return -1;
}

/* A box of cells of the domain, continued over periodic borders, is of one phase. */
static bool is_of_one_phase(const gab_phasefield_model *model, const gab_box *box)
{
  int phase = -2;
  int64_t at[3];
  for (at[2] = box->lo[2]; at[2] < box->hi[2]; at[2]++)
    for (at[1] = box->lo[1]; at[1] < box->hi[1]; at[1]++)
      for (at[0] = box->lo[0]; at[0] < box->hi[0]; at[0]++) {
        int64_t cell[3];
        for (int axis = 0; axis < 3; axis++) {
          const int64_t cells = axis < model->dimension ? model->domain[axis] : 1;
          cell[axis] = ((at[axis] % cells) + cells) % cells;
        }
        const int mine = initial_phase(model, cell);
        if (mine < 0 || (phase >= 0 && mine != phase)) return false;
        phase = mine;
      }
  return true;
}

static gab_mark mark_place(void *user, int level, const gab_box *cells)
{
  const marker *by = user;
  const gab_phasefield_model *model = &by->phasefield->model;
  const int coarser = model->options.levels - level;
  gab_box box = *cells;
  if (coarser <= 0) return GAB_MARK_KEEP;
  for (int axis = 0; axis < model->dimension; axis++) {
    box.lo[axis] = (box.lo[axis] << coarser) - by->grid->margin;
    box.hi[axis] = (box.hi[axis] << coarser) + by->grid->margin;
    if (model->options.sides[2 * axis].kind == GAB_PHASEFIELD_PERIODIC) continue;
    if (box.lo[axis] < 0) box.lo[axis] = 0;
    if (box.hi[axis] > model->domain[axis]) box.hi[axis] = model->domain[axis];
  }
  return is_of_one_phase(model, &box) ? GAB_MARK_KEEP : GAB_MARK_REFINE;
}

gab_status gab_phasefield_build(gab_phasefield *phasefield, const gab_phasefield_grid *grid,
                                gab_refine_report *report)
{
  const int levels = phasefield->model.options.levels;
  marker by = {phasefield, grid};
  if (levels > 0) GAB_TRY(check_grid(phasefield, grid));
  return gab_forest_build(phasefield->forest, levels > 0 ? mark_place : NULL, &by, levels, grid->distribute,
                          grid->context, report);
}

gab_status gab_phasefield_refine_places(gab_phasefield *phasefield, const gab_phasefield_grid *grid,
                                        gab_proxies *proxies)
{
  const int levels = phasefield->model.options.levels;
  marker by = {phasefield, grid};
  if (levels == 0) return GAB_OK;
  GAB_TRY(check_grid(phasefield, grid));
  return gab_proxies_refine_places(proxies, mark_place, &by, levels, NULL);
}

/* ------------------------------------------------------------------------------------------ nearness */

/* Whether fractions change in the cell or next to it. */
static bool has_interface(const gab_phasefield_model *model, const gab_field *phi, const int32_t at[3])
{
  const int phase = gab_phasefield_pure(phi, at);
  if (phase < 0) return true;
  for (int axis = 0; axis < model->dimension; axis++)
    for (int side = -1; side <= 1; side += 2) {
      int32_t next[3] = {at[0], at[1], at[2]};
      next[axis] += side;
      if (gab_field_get(phi, next[0], next[1], next[2], phase) != 1) return true;
    }
  return false;
}

/* Notes an interface for the neighbours that it is near to. */
static void note_cell(gab_phasefield_block *block, const int32_t at[3], int margin)
{
  const gab_phasefield_model *model = block->model;
  for (int direction = 0; direction < GAB_DIRECTIONS; direction++) {
    int offset[3];
    int32_t distance = 0;
    gab_direction_offset(direction, offset);
    for (int axis = 0; axis < model->dimension; axis++) {
      const int32_t away = offset[axis] < 0   ? at[axis]
                           : offset[axis] > 0 ? model->cells[axis] - 1 - at[axis]
                                              : 0;
      if (away > distance) distance = away;
    }
    const uint8_t mine = distance < margin ? CLOSE : distance < margin + HYSTERESIS ? NEAR : FAR;
    if (mine > block->nearness[direction]) block->nearness[direction] = mine;
  }
}

static void note_block(gab_phasefield_block *block, int margin)
{
  const int32_t *cells = block->model->cells;
  memset(block->nearness, FAR, sizeof block->nearness);
  block->nearest = FAR;
  if (gab_phasefield_is_coarse(block)) return;
  int32_t at[3];
  for (at[2] = 0; at[2] < cells[2]; at[2]++)
    for (at[1] = 0; at[1] < cells[1]; at[1]++)
      for (at[0] = 0; at[0] < cells[0]; at[0]++)
        if (has_interface(block->model, block->phi, at)) {
          block->nearest = CLOSE;
          note_cell(block, at, margin);
        }
}

/* Reports of neighbours: the nearest counts. */
static void hear(gab_phasefield_block *block, const void *bytes)
{
  const int said = *(const uint8_t *)bytes;
#pragma omp critical(gab_phasefield_nearness)
  if (said > block->nearest) block->nearest = said;
}

static size_t near_size(void *user, int direction)
{
  (void)user, (void)direction;
  return 1;
}
static void near_pack(void *user, const void *data, int direction, void *bytes)
{
  (void)user;
  *(uint8_t *)bytes = ((const gab_phasefield_block *)data)->nearness[direction];
}
static void near_unpack(void *user, void *data, int direction, const void *bytes)
{
  (void)user, (void)direction;
  hear(data, bytes);
}

gab_ghost_kind gab_phasefield_nearness_exchange(void)
{
  return (gab_ghost_kind){
      .name = "nearness", .size = near_size, .pack = near_pack, .unpack = near_unpack, .coupled = true};
}

static size_t near_up_size(void *user, const void *data, gab_coupling_way way, const gab_contact *contact,
                           bool sends)
{
  (void)user, (void)data, (void)contact, (void)sends;
  return way == GAB_COUPLING_UP;
}
static void near_up_pack(void *user, const void *data, gab_coupling_way way, const gab_contact *contact,
                         void *bytes)
{
  (void)way;
  near_pack(user, data, contact->direction, bytes);
}
static void near_up_unpack(void *user, void *data, gab_coupling_way way, const gab_contact *contact,
                           const void *bytes)
{
  (void)user, (void)way, (void)contact;
  hear(data, bytes);
}

gab_coupling_kind gab_phasefield_nearness_coupling(void)
{
  return (gab_coupling_kind){.name = "nearness between levels",
                             .size = near_up_size,
                             .pack = near_up_pack,
                             .unpack = near_up_unpack};
}

/* ------------------------------------------------------------------------------------------ adaptation */

/* The largest change of a component of mu from a cell to the next one of the block. */
static double steepness(const gab_phasefield_block *block)
{
  const gab_phasefield_model *model = block->model;
  double most = 0;
  int32_t at[3];
  for (int axis = 0; axis < model->dimension; axis++)
    for (at[2] = axis == 2; at[2] < model->cells[2]; at[2]++)
      for (at[1] = axis == 1; at[1] < model->cells[1]; at[1]++)
        for (at[0] = axis == 0; at[0] < model->cells[0]; at[0]++)
          for (int i = 0; i < model->independents; i++) {
            int32_t low[3] = {at[0], at[1], at[2]};
            low[axis]--;
            most = fmax(most, fabs(gab_field_get(block->mu, at[0], at[1], at[2], i) -
                                   gab_field_get(block->mu, low[0], low[1], low[2], i)));
          }
  return most;
}

static gab_status mark_block(void *user, const gab_forest *forest, const gab_block *place, gab_mark *mark)
{
  const marker *by = user;
  const gab_phasefield_block *block = gab_block_data(place, by->phasefield->data);
  const int level = gab_block_level(forest, place), finest = by->phasefield->model.options.levels;
  const double steepest = by->grid->steepest, steep = steepest > 0 ? steepness(block) : 0;
  const bool is_steep = steepest > 0 && steep > steepest, is_flat = steepest == 0 || 4 * steep < steepest;
  if (level < finest && (block->nearest == CLOSE || is_steep)) *mark = GAB_MARK_REFINE;
  else if (level > 0 && block->nearest == FAR && is_flat) *mark = GAB_MARK_COARSEN;
  return GAB_OK;
}

gab_status gab_phasefield_adapt(gab_phasefield *phasefield, const gab_phasefield_grid *grid,
                                gab_adapt_report *report)
{
  const gab_phasefield_levels *levels = phasefield->levels;
  marker by = {phasefield, grid};
  if (report) *report = (gab_adapt_report){.changed = false};
  if (!levels) return GAB_OK;
  GAB_TRY(check_grid(phasefield, grid));
  GAB_TRY(gab_phasefield_settle(phasefield));
  const size_t blocks = gab_forest_block_count(phasefield->forest);
#pragma omp parallel for schedule(dynamic)
  for (size_t i = 0; i < blocks; i++) note_block(gab_phasefield_block_of(phasefield, i), grid->margin);
  GAB_TRY(gab_exchange_start(levels->nearness_exchange));
  GAB_TRY(gab_exchange_finish(levels->nearness_exchange));
  GAB_TRY(gab_coupling_start(levels->nearness, GAB_COUPLING_UP, levels->finest - 1));
  GAB_TRY(gab_coupling_finish(levels->nearness));
  const gab_adapt_options options = {.max_level = levels->finest,
                                     .mark = mark_block,
                                     .user = &by,
                                     .distribute = grid->distribute,
                                     .distribute_context = grid->context};
  return gab_forest_adapt(phasefield->forest, &options, report);
}
