/* Borders between levels: see levels_impl.h. */
#include "phasefield/levels/levels_impl.h"

#include "blockforest/exchange/level_border.h"

#include <math.h>

/* ------------------------------------------------------------------------------------------ models of levels
 */

void gab_phasefield_levels_sync(gab_phasefield *phasefield)
{
  for (int level = 0; phasefield->levels && level < phasefield->levels->finest; level++) {
    gab_phasefield_model *model = &phasefield->levels->coarse[level];
    *model = phasefield->model;
    model->coarser = phasefield->levels->finest - level;
    model->dx = ldexp(phasefield->model.dx, model->coarser);
    model->shift >>= model->coarser;
    for (int axis = 0; axis < model->dimension; axis++) model->domain[axis] >>= model->coarser;
  }
}

/* ------------------------------------------------------------------------------------------ phi */

uint32_t gab_phasefield_beside(const gab_forest *forest, const gab_block *place)
{
  const gab_root_grid *grid = &gab_forest_get_options(forest)->grid;
  const gab_neighbour *rows = gab_block_neighbours(place);
  const int level = gab_block_level(forest, place);
  uint32_t beside = 0;
  for (size_t r = 0; r < gab_block_neighbour_count(place); r++)
    if (gab_block_id_level(grid, rows[r].id) != level) beside |= 1U << rows[r].direction;
  return beside;
}

/* Corners are nobody's. */
static bool is_read(int direction)
{
  int offset[3];
  gab_direction_offset(direction, offset);
  return (offset[0] != 0) + (offset[1] != 0) + (offset[2] != 0) < 3;
}

void gab_phasefield_fill_beside(const gab_phasefield_block *block, gab_phasefield_which which)
{
  gab_field *field = gab_phasefield_field(block, which);
  const uint32_t wanted = gab_phasefield_is_coarse(block) ? ~UINT32_C(0) : block->beside;
  for (int direction = 0; direction < GAB_DIRECTIONS; direction++) {
    if (!(wanted >> direction & 1) || !is_read(direction) || direction == GAB_DIRECTION_CENTRE) continue;
    if (block->model->dimension == 2 && (direction < 9 || direction >= 18)) continue;
    const gab_box ghosts = gab_direction_receive_box(direction, field->shape.cells, 1);
    int32_t at[3], from[3];
    for (at[2] = (int32_t)ghosts.lo[2]; at[2] < ghosts.hi[2]; at[2]++)
      for (at[1] = (int32_t)ghosts.lo[1]; at[1] < ghosts.hi[1]; at[1]++)
        for (at[0] = (int32_t)ghosts.lo[0]; at[0] < ghosts.hi[0]; at[0]++) {
          for (int axis = 0; axis < 3; axis++) {
            const int32_t last = field->shape.cells[axis] - 1;
            from[axis] = at[axis] < 0 ? 0 : at[axis] > last ? last : at[axis];
          }
          for (int k = 0; k < field->shape.components; k++)
            gab_field_set(field, at[0], at[1], at[2], k, gab_field_get(field, from[0], from[1], from[2], k));
        }
  }
}

/* ------------------------------------------------------------------------------------------ mu */

static gab_level_border border_of(const gab_phasefield_model *model, const gab_contact *contact, bool finer)
{
  return gab_level_border_of(model->cells, model->dimension, contact, finer);
}

static double mu_at(const gab_phasefield_block *block, const int32_t cell[3], int component)
{
  return gab_field_get(block->mu, cell[0], cell[1], cell[2], component);
}

/* Difference over a cell along an axis, as far as the cells beside it may be used. */
static double slope(const gab_phasefield_block *block, const int32_t cell[3], int axis, int component)
{
  int32_t low[3] = {cell[0], cell[1], cell[2]}, high[3] = {cell[0], cell[1], cell[2]};
  int below[3] = {0, 0, 0}, above[3] = {0, 0, 0};
  below[axis] = -1;
  above[axis] = 1;
  if (cell[axis] > 0 || !(block->beside >> gab_direction_of(below[0], below[1], below[2]) & 1)) low[axis]--;
  if (cell[axis] + 1 < block->model->cells[axis] ||
      !(block->beside >> gab_direction_of(above[0], above[1], above[2]) & 1))
    high[axis]++;
  const int width = high[axis] - low[axis];
  return (mu_at(block, high, component) - mu_at(block, low, component)) / width;
}

/* The phase of the coarse layer, then mu' opposite to each fine cell. */
static void pack_down(const gab_phasefield_block *block, const gab_contact *contact, double *out)
{
  const gab_phasefield_model *model = block->model;
  const gab_level_border at = border_of(model, contact, false);
  double *phase = out++;
  for (int32_t j = 0; j < at.count[1]; j++)
    for (int32_t i = 0; i < at.count[0]; i++) {
      const int32_t fine[2] = {i, j};
      int32_t cell[3];
      gab_level_border_cell(&at, at.first, gab_level_border_opposite(&at, 0, i),
                            gab_level_border_opposite(&at, 1, j), cell);
      const int pure = gab_phasefield_pure(block->phi, cell);
      *phase = (i == 0 && j == 0) || pure == (int)*phase ? pure : -1;
      for (int k = 0; k < model->independents; k++) {
        double value = mu_at(block, cell, k);
        for (int lateral = 0; lateral < model->dimension - 1; lateral++)
          value += (fine[lateral] % 2 ? 0.25 : -0.25) * slope(block, cell, at.lateral[lateral], k);
        *out++ = value;
      }
    }
}

static void mark_astray(gab_phasefield_block *block)
{
#pragma omp atomic write
  block->astray = 1;
}

static void unpack_down(gab_phasefield_block *block, const gab_contact *contact, const double *in)
{
  const gab_phasefield_model *model = block->model;
  const gab_level_border at = border_of(model, contact, true);
  const double phase = *in++;
  for (int32_t j = 0; j < at.count[1]; j++)
    for (int32_t i = 0; i < at.count[0]; i++) {
      int32_t ghost[3], first[3], second[3];
      gab_level_border_cell(&at, at.ghost, i, j, ghost);
      gab_level_border_cell(&at, at.first, i, j, first);
      gab_level_border_cell(&at, at.second, i, j, second);
      if (phase < 0 || gab_phasefield_pure(block->phi, first) != (int)phase) mark_astray(block);
      for (int k = 0; k < model->independents; k++) {
        const double near = mu_at(block, first, k), far = mu_at(block, second, k), beyond = *in++;
        gab_field_set(block->mu, ghost[0], ghost[1], ghost[2], k, gab_level_border_ghost(near, far, beyond));
      }
    }
}

/* ------------------------------------------------------------------------------------------ messages */

static size_t border_size(void *user, const void *data, gab_coupling_way way, const gab_contact *contact,
                          bool sends)
{
  (void)user, (void)sends;
  const gab_phasefield_model *model = ((const gab_phasefield_block *)data)->model;
  const int axis = gab_level_border_axis(contact);
  if (way == GAB_COUPLING_ACROSS || axis < 0) return 0;
  size_t values = (size_t)model->independents;
  for (int k = 0; k < model->dimension; k++)
    if (k != axis) values *= (size_t)(way == GAB_COUPLING_DOWN ? model->cells[k] : model->cells[k] / 2);
  return (values + (way == GAB_COUPLING_DOWN)) * sizeof(double);
}

static void border_pack(void *user, const void *data, gab_coupling_way way, const gab_contact *contact,
                        void *bytes)
{
  (void)user;
  const gab_phasefield_block *block = data;
  if (way == GAB_COUPLING_DOWN) pack_down(block, contact, bytes);
  else gab_level_border_pack_up(block->mu, block->model->dimension, contact, bytes);
}

static void border_unpack(void *user, void *data, gab_coupling_way way, const gab_contact *contact,
                          const void *bytes)
{
  (void)user;
  gab_phasefield_block *block = data;
  if (way == GAB_COUPLING_DOWN) unpack_down(block, contact, bytes);
  else gab_level_border_unpack_up(block->mu, block->model->dimension, contact, bytes);
}

gab_coupling_kind gab_phasefield_border_coupling(void)
{
  return (gab_coupling_kind){
      .name = "mu between levels", .size = border_size, .pack = border_pack, .unpack = border_unpack};
}

gab_status gab_phasefield_levels_check(gab_phasefield *phasefield)
{
  for (size_t i = 0; i < gab_forest_block_count(phasefield->forest); i++) {
    gab_phasefield_block *block = gab_phasefield_block_of(phasefield, i);
    if (!block->astray) continue;
    block->astray = 0;
    const gab_status status = gab_error_set(
        GAB_ERR_STATE, __FILE__, __LINE__,
        "step %" GAB_PRI_STEP ": an interface has come to coarser cells, at the block from cell (%" PRId64
        ", %" PRId64 ", %" PRId64 ") of width %g on: the grid has to adapt more often, or with a larger "
        "margin",
        phasefield->model.step, block->first[0], block->first[1], block->first[2], block->model->dx);
    return gab_world_raise(gab_forest_world(phasefield->forest), status);
  }
  return GAB_OK;
}

/* All levels at once: what goes down follows from the coarser side alone, what goes up from what came down.
 */
gab_status gab_phasefield_levels_exchange(gab_phasefield *phasefield)
{
  const gab_phasefield_levels *levels = phasefield->levels;
  if (!levels) return GAB_OK;
  for (int way = GAB_COUPLING_DOWN; way <= GAB_COUPLING_UP; way++) {
    for (int level = 0; level < levels->finest; level++)
      GAB_TRY(gab_coupling_start(levels->borders[level], (gab_coupling_way)way, level));
    for (int level = 0; level < levels->finest; level++) GAB_TRY(gab_coupling_finish(levels->borders[level]));
  }
  return gab_phasefield_levels_check(phasefield);
}
