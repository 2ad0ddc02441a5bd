/* SPDX-License-Identifier: Apache-2.0 */
/* Levels of the multigrid solver: sizes, fields, ghosts. */
#include "blockforest/elliptic/elliptic_impl.h"

#include "core/messages/collective.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static uint64_t count_of(const int32_t cells[3])
{
  return (uint64_t)cells[0] * (uint64_t)cells[1] * (uint64_t)cells[2];
}

static bool are_even(const gab_elliptic *elliptic, const int32_t cells[3])
{
  for (int axis = 0; axis < elliptic->dimension; axis++)
    if (cells[axis] % 2 != 0) return false;
  return true;
}

/* ---------------------------------------------------------------- sizes */

static elliptic_level coarser(const gab_elliptic *elliptic, const elliptic_level *fine)
{
  elliptic_level coarse = {.number = fine->number + 1,
                           .finest = fine->finest,
                           .width = 2 * fine->width,
                           .is_whole = fine->is_whole};
  for (int axis = 0; axis < 3; axis++)
    coarse.cells[axis] = axis < elliptic->dimension ? fine->cells[axis] / 2 : 1;
  return coarse;
}

/* The cells of a uniform level in one piece. */
static elliptic_level joined(const gab_elliptic *elliptic, const elliptic_level *level)
{
  elliptic_level made = *level;
  made.is_whole = true;
  for (int axis = 0; axis < elliptic->dimension; axis++)
    made.cells[axis] *= elliptic->roots[axis] << level->finest;
  return made;
}

static gab_status check_finest(const gab_elliptic *elliptic, const int32_t cells[3])
{
  const int finest = elliptic->options.finest;
  for (int axis = 0; axis < elliptic->dimension && finest > 0; axis++)
    if (cells[axis] < 4 || cells[axis] % (1 << finest) != 0)
      GAB_FAIL(GAB_ERR_INPUT,
               "blocks of %" PRId32
               " cells along %c: an elliptic solver with a finest level %d needs a multiple of %d, 4 or more",
               cells[axis], "xyz"[axis], finest, 1 << finest);
  return GAB_OK;
}

/* Level 0 lies on blocks, the last levels are whole. */
static gab_status plan(gab_elliptic *elliptic, const int32_t cells[3])
{
  elliptic_level *levels = elliptic->levels;
  int count = 1;
  GAB_TRY(check_finest(elliptic, cells));
  levels[0] = (elliptic_level){.width = elliptic->levels[0].width, .finest = elliptic->options.finest};
  memcpy(levels[0].cells, cells, sizeof levels[0].cells);
  while (!levels[count - 1].is_whole) {
    elliptic_level *fine = &levels[count - 1], *coarse = &levels[count];
    *coarse = are_even(elliptic, fine->cells) ? coarser(elliptic, fine) : joined(elliptic, fine);
    if (!coarse->is_whole && coarse->number >= coarse->finest) {
      const elliptic_level whole = joined(elliptic, coarse);
      if (count_of(whole.cells) <= GAB_ELLIPTIC_GATHERED) *coarse = whole;
    }
    count++;
  }
  elliptic->first_whole = count - 1;
  const uint64_t gathered = count_of(levels[count - 1].cells);
  if (gathered > GAB_ELLIPTIC_MOST_GATHERED)
    GAB_FAIL(GAB_ERR_INPUT,
             "blocks of %" PRId32 " x %" PRId32 " x %" PRId32 " cells can be halved %d times; %" PRIu64
             " cells are then left on each process, at most %d are possible: use blocks of 2^n cells",
             cells[0], cells[1], cells[2], count - 2, gathered, GAB_ELLIPTIC_MOST_GATHERED);
  while (are_even(elliptic, levels[count - 1].cells)) {
    levels[count] = coarser(elliptic, &levels[count - 1]);
    count++;
  }
  elliptic->level_count = count;
  return GAB_OK;
}

/* ---------------------------------------------------------------- fields */

static gab_field_shape shape_of(const gab_elliptic *elliptic, const int32_t cells[3])
{
  return (gab_field_shape){
      .cells = {cells[0], cells[1], cells[2]}, .ghosts = {1, 1, elliptic->dimension == 3}, .components = 1};
}

static bool is_kept(const gab_elliptic *elliptic, elliptic_field which)
{
  return which != FIELD_DIAGONAL || elliptic->options.operation.apply != NULL;
}

/* A field of the cells that a block of its level has. */
static gab_status create_field(void *user, const gab_forest *forest, const gab_block *block, void **data)
{
  const elliptic_level *level = user;
  const int of = gab_block_level(forest, block);
  gab_field *made = NULL;
  const gab_status status =
      gab_field_create(&level->shapes[of < level->finest ? of : level->finest].shape, &made);
  *data = made;
  return status;
}

static gab_status add_scratch(gab_elliptic *elliptic, elliptic_level *level, const char *name,
                              gab_data_id *id)
{
  gab_block_data_kind kind = gab_block_field_scratch(&level->shapes[0], name);
  kind.user = level;
  kind.check = NULL; /* coarse levels have fewer cells than the block */
  kind.create = create_field;
  return gab_forest_add_data(elliptic->forest, &kind, id);
}

static gab_status create_on_blocks(gab_elliptic *elliptic, elliptic_level *level)
{
  static const char *const names[] = {"u", "next", "f", "diagonal"};
  for (int of = 0; of <= level->finest; of++) {
    const int wider = level->finest - of < level->number ? level->finest - of : level->number;
    int32_t cells[3] = {1, 1, 1};
    for (int axis = 0; axis < elliptic->dimension; axis++) cells[axis] = level->cells[axis] << wider;
    level->shapes[of] = (gab_block_field){.shape = shape_of(elliptic, cells), .faces_only = true};
  }
  level->weighs_fluxes = elliptic->options.operation.apply != NULL && level->number < level->finest;
  for (int which = 0; which < FIELD_KINDS; which++) {
    char name[64];
    snprintf(name, sizeof name, "elliptic %d: %s of level %d", elliptic->number, names[which], level->number);
    if (is_kept(elliptic, which)) GAB_TRY(add_scratch(elliptic, level, name, &level->blocks[which]));
  }
  return gab_elliptic_borders_create(elliptic->forest, level);
}

static gab_status create_whole(gab_elliptic *elliptic, elliptic_level *level)
{
  const gab_field_shape shape = shape_of(elliptic, level->cells);
  for (int which = 0; which < FIELD_KINDS; which++)
    if (is_kept(elliptic, which)) GAB_TRY(gab_field_create(&shape, &level->whole[which]));
  return GAB_OK;
}

static gab_status create_for_krylov(gab_elliptic *elliptic)
{
  static const char *const names[] = {"solution", "preconditioned", "direction", "rest", "shadow"};
  static const int counts[] = {[GAB_ELLIPTIC_CONJUGATE] = 2,
                               [GAB_ELLIPTIC_CONJUGATE_MULTIGRID] = 3,
                               [GAB_ELLIPTIC_BICGSTAB_MULTIGRID] = 5};
  gab_data_id *const data[] = {&elliptic->solution, &elliptic->preconditioned, &elliptic->direction,
                               &elliptic->rest, &elliptic->shadow};
  const int count = counts[elliptic->options.method];
  for (int i = 0; i < count; i++) {
    char name[64];
    snprintf(name, sizeof name, "elliptic %d: %s", elliptic->number, names[i]);
    GAB_TRY(add_scratch(elliptic, &elliptic->levels[0], name, data[i]));
  }
  return GAB_OK;
}

gab_status gab_elliptic_levels_create(gab_elliptic *elliptic)
{
  GAB_TRY(plan(elliptic, gab_forest_get_options(elliptic->forest)->cells));
  for (int i = 0; i < elliptic->level_count; i++) {
    if (elliptic->levels[i].is_whole) GAB_TRY(create_whole(elliptic, &elliptic->levels[i]));
    else GAB_TRY(create_on_blocks(elliptic, &elliptic->levels[i]));
  }
  GAB_TRY(create_for_krylov(elliptic));
  const uint64_t gathered = count_of(elliptic->levels[elliptic->first_whole].cells);
  const uint64_t bottom = count_of(elliptic->levels[elliptic->level_count - 1].cells);
  GAB_TRY(GAB_NEW_ARRAY(&elliptic->gathered, gathered, GAB_MEMORY_OTHER));
  for (int i = 0; i < 3; i++) GAB_TRY(GAB_NEW_ARRAY(&elliptic->bottom[i], bottom, GAB_MEMORY_OTHER));
  return GAB_OK;
}

void gab_elliptic_levels_destroy(gab_elliptic *elliptic)
{
  for (int i = 0; i < GAB_ELLIPTIC_MOST_LEVELS; i++) {
    elliptic_level *level = &elliptic->levels[i];
    gab_elliptic_borders_destroy(level);
    for (int which = 0; which < FIELD_KINDS; which++)
      if (level->whole[which]) gab_field_destroy(&level->whole[which]);
  }
  gab_free(&elliptic->gathered);
  for (int i = 0; i < 3; i++) gab_free(&elliptic->bottom[i]);
}

ptrdiff_t gab_elliptic_pieces(const gab_elliptic *elliptic, const elliptic_level *level)
{
  return level->is_whole ? 1 : (ptrdiff_t)gab_forest_block_count(elliptic->forest);
}

gab_field *gab_elliptic_piece(const gab_elliptic *elliptic, const elliptic_level *level, ptrdiff_t piece,
                              elliptic_field which)
{
  if (level->is_whole) return level->whole[which];
  return gab_block_data(gab_forest_block(elliptic->forest, (size_t)piece), level->blocks[which]);
}

int gab_elliptic_block_level(const gab_elliptic *elliptic, const elliptic_level *level, ptrdiff_t piece)
{
  return level->is_whole
             ? 0
             : gab_block_level(elliptic->forest, gab_forest_block(elliptic->forest, (size_t)piece));
}

double gab_elliptic_width(const gab_elliptic *elliptic, const elliptic_level *level, ptrdiff_t piece)
{
  if (level->is_whole) return level->width;
  const int wider = level->finest - gab_elliptic_block_level(elliptic, level, piece) - level->number;
  return wider > 0 ? ldexp(level->width, wider) : level->width;
}

void gab_elliptic_first_cell(const gab_elliptic *elliptic, const elliptic_level *level, ptrdiff_t piece,
                             int32_t first[3])
{
  first[0] = first[1] = first[2] = 0;
  if (level->is_whole) return;
  const gab_box cells = gab_block_cells(elliptic->forest, gab_forest_block(elliptic->forest, (size_t)piece));
  const gab_field *u = gab_elliptic_piece(elliptic, level, piece, FIELD_U);
  for (int axis = 0; axis < elliptic->dimension; axis++)
    first[axis] = (int32_t)(cells.lo[axis] / elliptic->levels[0].cells[axis]) * u->shape.cells[axis];
}

/* ---------------------------------------------------------------- ghosts */

/* A face of a piece, by the index of its layer of ghosts. Value: the mean of ghost and cell is that of the face. */
static void fill_side(gab_field *u, int axis, bool upper, const gab_elliptic_side *side, double value,
                      double width)
{
  const int32_t inner = upper ? u->shape.cells[axis] - 1 : 0, ghost = upper ? inner + 1 : -1;
  const ptrdiff_t step = (ghost - inner) * u->map.stride[axis];
  const int one = axis == 0 ? 1 : 0, two = 3 - axis - one;
  double *data = u->data;
  int32_t at[3] = {0, 0, 0};
  at[axis] = inner;
  for (at[two] = 0; at[two] < u->shape.cells[two]; at[two]++)
    for (at[one] = 0; at[one] < u->shape.cells[one]; at[one]++) {
      double *cell = data + gab_field_index(&u->map, at[0], at[1], at[2], 0);
      cell[step] = side->kind == GAB_ELLIPTIC_VALUE ? 2 * value - cell[0] : cell[0] + width * value;
    }
}

/* Opposite sides of the whole grid meet. */
static void wrap(gab_field *u, int axis)
{
  gab_box from = gab_field_interior(u), to = from;
  for (int upper = 0; upper < 2; upper++) {
    const int32_t cells = u->shape.cells[axis];
    from.lo[axis] = upper ? 0 : cells - 1;
    to.lo[axis] = upper ? cells : -1;
    from.hi[axis] = from.lo[axis] + 1;
    to.hi[axis] = to.lo[axis] + 1;
    gab_field_copy_box(u, &to, u, &from, NULL, 1);
  }
}

static void fill_sides(const gab_elliptic *elliptic, elliptic_level *level, ptrdiff_t piece, bool homogeneous)
{
  gab_field *u = gab_elliptic_piece(elliptic, level, piece, FIELD_U);
  const double width = gab_elliptic_width(elliptic, level, piece);
  const int of = gab_elliptic_block_level(elliptic, level, piece);
  int32_t first[3];
  gab_elliptic_first_cell(elliptic, level, piece, first);
  for (int axis = 0; axis < elliptic->dimension; axis++) {
    if (elliptic->periodic[axis]) {
      if (level->is_whole) wrap(u, axis);
      continue;
    }
    const int32_t cells = u->shape.cells[axis],
                  all = level->is_whole ? cells : cells * (elliptic->roots[axis] << of);
    for (int upper = 0; upper < 2; upper++) {
      const gab_elliptic_side *side = &elliptic->options.sides[2 * axis + upper];
      if (upper ? first[axis] + cells < all : first[axis] > 0) continue;
      fill_side(u, axis, upper, side, homogeneous ? 0 : side->value, width);
    }
  }
}

gab_status gab_elliptic_fill_ghosts(gab_elliptic *elliptic, elliptic_level *level, bool homogeneous)
{
  if (!level->is_whole) GAB_TRY(gab_elliptic_borders_exchange(level));
  const ptrdiff_t pieces = gab_elliptic_pieces(elliptic, level);
#pragma omp parallel for schedule(dynamic)
  for (ptrdiff_t i = 0; i < pieces; i++) fill_sides(elliptic, level, i, homogeneous);
  return GAB_OK;
}

/* ---------------------------------------------------------------- gathering */

/* Each cell was set by one process, and is zero bits on the others: the sum of the bits is exact. */
gab_status gab_elliptic_gather(gab_elliptic *elliptic)
{
  const elliptic_level *level = &elliptic->levels[elliptic->first_whole];
  gab_field *f = level->whole[FIELD_F];
  const uint64_t count = count_of(level->cells);
  size_t at = 0;
  GAB_TRY(gab_world_sum_u64(gab_forest_world(elliptic->forest), elliptic->gathered, count));
  for (int32_t z = 0; z < level->cells[2]; z++)
    for (int32_t y = 0; y < level->cells[1]; y++, at += (size_t)level->cells[0])
      memcpy((double *)f->data + gab_field_index(&f->map, 0, y, z, 0), elliptic->gathered + at,
             (size_t)level->cells[0] * sizeof(double));
  return GAB_OK;
}
