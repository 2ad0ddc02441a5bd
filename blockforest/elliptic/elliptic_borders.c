/* SPDX-License-Identifier: Apache-2.0 */
/* Ghosts of a level of the multigrid beyond faces of blocks. Blocks of two levels have cells of equal width on the levels of the multigrid
 * on which the finer ones are halved: their ghosts are copies there. Elsewhere fluxes match (level_border.h). */
#include "blockforest/elliptic/elliptic_impl.h"

#include "blockforest/exchange/level_border.h"

static bool is_equally_wide(const elliptic_level *level, const gab_contact *contact)
{
  return gab_block_id_level(level->grid, contact->fine) > level->finest - level->number;
}

static int dimension_of(const gab_field *field) { return field->shape.ghosts[2] > 0 ? 3 : 2; }

/* The axis that a contact crosses, -1 if the blocks touch at an edge or a corner. */
static int crossed_axis(const gab_contact *contact)
{
  int offset[3], axis = -1, crossed = 0;
  gab_direction_offset(contact->direction, offset);
  for (int k = 0; k < 3; k++)
    if (offset[k] != 0) {
      axis = k;
      crossed++;
    }
  return crossed == 1 ? axis : -1;
}

/* The cells at the common face of two blocks with cells of equal width, or the ghosts beyond it. */
static gab_box beside(const gab_field *field, const gab_contact *contact, bool is_finer, bool is_ghost)
{
  int offset[3];
  const int axis = crossed_axis(contact);
  gab_box box = gab_field_interior(field);
  gab_direction_offset(contact->direction, offset);
  const bool is_upper = (offset[axis] > 0) == is_finer;
  for (int k = 0; k < dimension_of(field) && !is_finer; k++) {
    const int32_t half = field->shape.cells[k] / 2;
    if (k == axis) continue;
    box.lo[k] = contact->place[k] * half;
    box.hi[k] = box.lo[k] + half;
  }
  box.lo[axis] = (is_upper ? field->shape.cells[axis] - 1 : 0) + (is_ghost ? (is_upper ? 1 : -1) : 0);
  box.hi[axis] = box.lo[axis] + 1;
  return box;
}

/* What the ghosts of a block are weighed by. Local. @param[in] id  of a block of this process */
static const gab_field *weights_of(const elliptic_level *level, gab_block_id id)
{
  if (!level->weighs_fluxes) return NULL;
  return gab_block_data(gab_forest_find(level->forest, id), level->blocks[FIELD_DIAGONAL]);
}

static size_t border_size(void *user, const void *data, gab_coupling_way way, const gab_contact *contact,
                          bool sends)
{
  const gab_field *field = data;
  if (way == GAB_COUPLING_ACROSS || crossed_axis(contact) < 0) return 0;
  if (!is_equally_wide(user, contact))
    return gab_level_border_count(&field->shape, dimension_of(field), contact, way) * sizeof(double);
  const gab_box box = beside(field, contact, sends == (way == GAB_COUPLING_UP), false);
  return gab_box_count(&box) * sizeof(double);
}

/* Ghosts are on their way when what goes down is made: no direction may be read. */
static void border_pack(void *user, const void *data, gab_coupling_way way, const gab_contact *contact,
                        void *bytes)
{
  const elliptic_level *level = user;
  if (is_equally_wide(user, contact)) {
    const gab_box box = beside(data, contact, way == GAB_COUPLING_UP, false);
    gab_field_pack_box(data, &box, NULL, 1, bytes);
  } else if (way == GAB_COUPLING_DOWN)
    gab_level_border_pack_down(data, dimension_of(data), contact, ~UINT32_C(0), bytes);
  else gab_level_border_pack_up(data, weights_of(level, contact->fine), dimension_of(data), contact, bytes);
}

static void border_unpack(void *user, void *data, gab_coupling_way way, const gab_contact *contact,
                          const void *bytes)
{
  const elliptic_level *level = user;
  if (is_equally_wide(user, contact)) {
    const gab_box box = beside(data, contact, way == GAB_COUPLING_DOWN, true);
    gab_field_unpack_box(data, &box, NULL, 1, bytes);
  } else if (way == GAB_COUPLING_DOWN) gab_level_border_unpack_down(data, dimension_of(data), contact, bytes);
  else
    gab_level_border_unpack_up(data, weights_of(level, contact->other), dimension_of(data), contact, bytes);
}

gab_status gab_elliptic_borders_create(gab_forest *forest, elliptic_level *level)
{
  const gab_coupling_kind border = {.name = "elliptic, between levels",
                                    .user = level,
                                    .size = border_size,
                                    .pack = border_pack,
                                    .unpack = border_unpack};
  level->forest = forest;
  level->grid = &gab_forest_topology(forest)->grid;
  for (int of = 0; of <= level->finest; of++) {
    gab_ghost_kind ghosts = gab_block_field_ghosts(&level->shapes[of]);
    ghosts.coupled = level->finest > 0;
    ghosts.check = NULL; /* it is also asked about blocks of other levels */
    GAB_TRY(gab_exchange_create_on_level(forest, level->blocks[FIELD_U], &ghosts, level->finest > 0 ? of : -1,
                                         &level->within[of]));
  }
  for (int of = 0; of < level->finest; of++)
    GAB_TRY(gab_coupling_create(forest, level->blocks[FIELD_U], &border, &level->between[of]));
  return GAB_OK;
}

void gab_elliptic_borders_destroy(elliptic_level *level)
{
  for (int of = 0; of <= level->finest; of++)
    if (level->within[of]) gab_exchange_destroy(&level->within[of]);
  for (int of = 0; of < level->finest; of++)
    if (level->between[of]) gab_coupling_destroy(&level->between[of]);
}

/* What goes up follows from ghosts that came down. */
gab_status gab_elliptic_borders_exchange(elliptic_level *level)
{
  const int finest = level->finest;
  for (int of = 0; of <= finest; of++) GAB_TRY(gab_exchange_start(level->within[of]));
  for (int of = 0; of < finest; of++) GAB_TRY(gab_coupling_start(level->between[of], GAB_COUPLING_DOWN, of));
  for (int of = 0; of < finest; of++) GAB_TRY(gab_coupling_finish(level->between[of]));
  for (int of = 0; of < finest; of++) GAB_TRY(gab_coupling_start(level->between[of], GAB_COUPLING_UP, of));
  for (int of = 0; of <= finest; of++) GAB_TRY(gab_exchange_finish(level->within[of]));
  for (int of = 0; of < finest; of++) GAB_TRY(gab_coupling_finish(level->between[of]));
  return GAB_OK;
}
