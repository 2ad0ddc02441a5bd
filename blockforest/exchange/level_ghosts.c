/* SPDX-License-Identifier: Apache-2.0 */
/* Data to finer levels depends on the coarser blocks alone, data to coarser levels on these, so all levels are exchanged at
 * once. */
#include "blockforest/exchange/level_ghosts.h"

#include "blockforest/exchange/level_border.h"

struct gab_level_ghosts {
  const gab_block_field *field;
  gab_exchange *within;
  gab_coupling **between; /* one per level of the coarser blocks */
  int finest;
};

/* ------------------------------------------------------------------ messages */

static int dimension_of(const gab_field *field) { return field->shape.ghosts[2] > 0 ? 3 : 2; }

static size_t border_size(void *user, const void *data, gab_coupling_way way, const gab_contact *contact,
                          bool sends)
{
  const gab_field *field = data;
  (void)user, (void)sends;
  return gab_level_border_count(&field->shape, dimension_of(field), contact, way) * sizeof(double);
}

/* Ghosts are in transit while data for finer levels is packed: none may be read. */
static void border_pack(void *user, const void *data, gab_coupling_way way, const gab_contact *contact,
                        void *bytes)
{
  (void)user;
  if (way == GAB_COUPLING_DOWN)
    gab_level_border_pack_down(data, dimension_of(data), contact, ~UINT32_C(0), bytes);
  else gab_level_border_pack_up(data, NULL, dimension_of(data), contact, bytes);
}

static void border_unpack(void *user, void *data, gab_coupling_way way, const gab_contact *contact,
                          const void *bytes)
{
  (void)user;
  if (way == GAB_COUPLING_DOWN) gab_level_border_unpack_down(data, dimension_of(data), contact, bytes);
  else gab_level_border_unpack_up(data, NULL, dimension_of(data), contact, bytes);
}

static gab_status start_way(const gab_level_ghosts *ghosts, gab_coupling_way way)
{
  for (int level = 0; level < ghosts->finest; level++)
    GAB_TRY(gab_coupling_start(ghosts->between[level], way, level));
  return GAB_OK;
}

static gab_status finish_way(const gab_level_ghosts *ghosts)
{
  for (int level = 0; level < ghosts->finest; level++) GAB_TRY(gab_coupling_finish(ghosts->between[level]));
  return GAB_OK;
}

gab_status gab_level_ghosts_start(gab_level_ghosts *ghosts)
{
  GAB_TRY(gab_exchange_start(ghosts->within));
  return start_way(ghosts, GAB_COUPLING_DOWN);
}

gab_status gab_level_ghosts_finish(gab_level_ghosts *ghosts)
{
  GAB_TRY(finish_way(ghosts));
  GAB_TRY(start_way(ghosts, GAB_COUPLING_UP));
  GAB_TRY(gab_exchange_finish(ghosts->within));
  return finish_way(ghosts);
}

/* ------------------------------------------------------------------ life */

static gab_status check(const gab_forest *forest, const gab_block_field *field, int finest)
{
  const gab_forest_options *options = gab_forest_get_options(forest);
  if (finest < 0) GAB_FAIL(GAB_ERR_ARGUMENT, "a finest level of %d", finest);
  if (finest == 0) return GAB_OK;
  if (field->shape.ghosts[0] != 1)
    GAB_FAIL(GAB_ERR_ARGUMENT, "%" PRId32 " layers of ghosts: between levels there is one",
             field->shape.ghosts[0]);
  for (int axis = 0; axis < options->grid.dimension; axis++)
    if (options->cells[axis] % 2 != 0 || options->cells[axis] < 4)
      GAB_FAIL(GAB_ERR_ARGUMENT,
               "blocks of %" PRId32 " cells along %c: between levels an even number is needed, 4 or more",
               options->cells[axis], "xyz"[axis]);
  return GAB_OK;
}

static gab_status open_borders(gab_forest *forest, gab_data_id data, gab_level_ghosts *made)
{
  const gab_coupling_kind border = {
      .name = "field between levels", .size = border_size, .pack = border_pack, .unpack = border_unpack};
  if (made->finest == 0) return GAB_OK;
  GAB_TRY(GAB_NEW_ARRAY(&made->between, (size_t)made->finest, GAB_MEMORY_OTHER));
  for (int level = 0; level < made->finest; level++)
    GAB_TRY(gab_coupling_create(forest, data, &border, &made->between[level]));
  return GAB_OK;
}

gab_status gab_level_ghosts_create(gab_forest *forest, gab_data_id data, const gab_block_field *field,
                                   int finest, gab_level_ghosts **ghosts)
{
  *ghosts = NULL;
  GAB_TRY(check(forest, field, finest));
  gab_level_ghosts *made;
  GAB_TRY(GAB_NEW(&made, GAB_MEMORY_OTHER));
  *made = (gab_level_ghosts){.field = field, .finest = finest};
  gab_ghost_kind within = gab_block_field_ghosts(field);
  within.coupled = finest > 0;
  gab_status status = gab_exchange_create(forest, data, &within, &made->within);
  if (status == GAB_OK) status = open_borders(forest, data, made);
  if (status == GAB_OK) *ghosts = made;
  else gab_level_ghosts_destroy(&made);
  return status;
}

void gab_level_ghosts_destroy(gab_level_ghosts **ghosts)
{
  if (!ghosts || !*ghosts) return;
  gab_level_ghosts *gone = *ghosts;
  gab_exchange_destroy(&gone->within);
  for (int level = 0; gone->between && level < gone->finest; level++)
    gab_coupling_destroy(&gone->between[level]);
  gab_free(&gone->between);
  gab_free(ghosts);
}
