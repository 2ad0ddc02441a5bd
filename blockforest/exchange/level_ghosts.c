/* What goes down follows from the coarser blocks alone, what goes up from what came down: so all levels go at once. */
#include "blockforest/exchange/level_ghosts.h"

#include "blockforest/exchange/level_border.h"

struct gab_level_ghosts {
  const gab_block_field *field;
  gab_exchange *within;
  gab_coupling **between; /* one per level of the coarser blocks */
  int finest;
};

/* ------------------------------------------------------------------ values */

static int dimension_of(const gab_field *field) { return field->shape.ghosts[2] > 0 ? 3 : 2; }

static double value_at(const gab_field *field, const int32_t cell[3], int component)
{
  return gab_field_get(field, cell[0], cell[1], cell[2], component);
}

/* Difference from a cell to the next one along an axis: central, one-sided at the sides of the block. */
static double slope(const gab_field *field, const int32_t cell[3], int axis, int component)
{
  int32_t low[3] = {cell[0], cell[1], cell[2]}, high[3] = {cell[0], cell[1], cell[2]};
  if (cell[axis] > 0) low[axis]--;
  if (cell[axis] + 1 < field->shape.cells[axis]) high[axis]++;
  return (value_at(field, high, component) - value_at(field, low, component)) / (high[axis] - low[axis]);
}

/* u' opposite to each fine cell. */
static void pack_down(const gab_field *field, const gab_contact *contact, double *out)
{
  const int dimension = dimension_of(field);
  const gab_level_border at = gab_level_border_of(field->shape.cells, dimension, contact, false);
  for (int32_t j = 0; j < at.count[1]; j++)
    for (int32_t i = 0; i < at.count[0]; i++) {
      const int32_t fine[2] = {i, j};
      int32_t cell[3];
      gab_level_border_cell(&at, at.first, gab_level_border_opposite(&at, 0, i),
                            gab_level_border_opposite(&at, 1, j), cell);
      for (int c = 0; c < field->shape.components; c++) {
        double value = value_at(field, cell, c);
        for (int lateral = 0; lateral < dimension - 1; lateral++)
          value += (fine[lateral] % 2 ? 0.25 : -0.25) * slope(field, cell, at.lateral[lateral], c);
        *out++ = value;
      }
    }
}

static void unpack_down(gab_field *field, const gab_contact *contact, const double *in)
{
  const gab_level_border at = gab_level_border_of(field->shape.cells, dimension_of(field), contact, true);
  for (int32_t j = 0; j < at.count[1]; j++)
    for (int32_t i = 0; i < at.count[0]; i++) {
      int32_t ghost[3], first[3], second[3];
      gab_level_border_cell(&at, at.ghost, i, j, ghost);
      gab_level_border_cell(&at, at.first, i, j, first);
      gab_level_border_cell(&at, at.second, i, j, second);
      for (int c = 0; c < field->shape.components; c++)
        gab_field_set(field, ghost[0], ghost[1], ghost[2], c,
                      gab_level_border_ghost(value_at(field, first, c), value_at(field, second, c), *in++));
    }
}

/* ------------------------------------------------------------------ messages */

static size_t border_size(void *user, const void *data, gab_coupling_way way, const gab_contact *contact,
                          bool sends)
{
  const gab_field *field = data;
  const int axis = gab_level_border_axis(contact), dimension = dimension_of(field);
  size_t values = (size_t)field->shape.components;
  (void)user, (void)sends;
  if (way == GAB_COUPLING_ACROSS || axis < 0) return 0;
  for (int k = 0; k < dimension; k++)
    if (k != axis) values *= (size_t)field->shape.cells[k] / (way == GAB_COUPLING_DOWN ? 1 : 2);
  return values * sizeof(double);
}

static void border_pack(void *user, const void *data, gab_coupling_way way, const gab_contact *contact,
                        void *bytes)
{
  (void)user;
  if (way == GAB_COUPLING_DOWN) pack_down(data, contact, bytes);
  else gab_level_border_pack_up(data, dimension_of(data), contact, bytes);
}

static void border_unpack(void *user, void *data, gab_coupling_way way, const gab_contact *contact,
                          const void *bytes)
{
  (void)user;
  if (way == GAB_COUPLING_DOWN) unpack_down(data, contact, bytes);
  else gab_level_border_unpack_up(data, dimension_of(data), contact, bytes);
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
  void *memory;
  if (made->finest == 0) return GAB_OK;
  GAB_TRY(gab_alloc((size_t)made->finest * sizeof *made->between, GAB_MEMORY_OTHER, &memory));
  made->between = memory;
  for (int level = 0; level < made->finest; level++)
    GAB_TRY(gab_coupling_create(forest, data, &border, &made->between[level]));
  return GAB_OK;
}

gab_status gab_level_ghosts_create(gab_forest *forest, gab_data_id data, const gab_block_field *field,
                                   int finest, gab_level_ghosts **ghosts)
{
  void *memory;
  *ghosts = NULL;
  GAB_TRY(check(forest, field, finest));
  GAB_TRY(gab_alloc(sizeof(gab_level_ghosts), GAB_MEMORY_OTHER, &memory));
  gab_level_ghosts *made = memory;
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
