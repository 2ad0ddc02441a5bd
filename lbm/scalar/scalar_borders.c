/* SPDX-License-Identifier: Apache-2.0 */
/* Fluxes of a scalar through faces at the ends of blocks: sides of the domain, and borders between levels. The finer block makes the
 * ghosts of its border (level_border.h) and finds the fluxes there; the coarser one gets their sums, so both count the same. */
#include "lbm/scalar/scalar_impl.h"

#include "blockforest/exchange/level_border.h"
#include "lbm/lbm_impl.h"

/* ---------------------------------------------------------------- borders between levels */

/* The number of a flux: one component. */
static gab_field_shape one_number(const gab_lbm_scalar *it)
{
  gab_field_shape shape = it->shape.shape;
  shape.components = 1;
  return shape;
}

static size_t border_size(void *user, const void *data, gab_coupling_way way, const gab_contact *contact,
                          bool sends)
{
  const gab_lbm_scalar *it = user;
  const gab_field_shape up = one_number(it);
  const size_t numbers = gab_level_border_count(&up, it->dimension, contact, way);
  (void)data, (void)sends;
  if (way == GAB_COUPLING_UP) return numbers * (it->options.bounded ? 2 : 1) * sizeof(double);
  return (gab_level_border_count(&it->shape.shape, it->dimension, contact, way) +
          (it->options.bounded ? 2 * numbers : 0)) *
         sizeof(double);
}

/* The side of a block at which a border is. */
static int side_of(const gab_level_border *at) { return 2 * at->axis + (at->ghost > 0); }

/* Message of the coarser block for a bounded value opposite to each fine cell: the value there with a limited slope
 * along the border, and the difference to the next cell behind. */
static void pack_bounded(const gab_lbm_scalar *it, const gab_field *now, const scalar_cells *cells,
                         const gab_contact *contact, double *out)
{
  const gab_level_border at = gab_level_border_of(now->shape.cells, it->dimension, contact, false);
  const int behind = side_of(&at) ^ 1;
  for (int32_t j = 0; j < at.count[1]; j++)
    for (int32_t i = 0; i < at.count[0]; i++) {
      const int32_t fine[2] = {i, j};
      int32_t cell[3], second[3];
      gab_level_border_cell(&at, at.first, gab_level_border_opposite(&at, 0, i),
                            gab_level_border_opposite(&at, 1, j), cell);
      gab_level_border_cell(&at, at.second, gab_level_border_opposite(&at, 0, i),
                            gab_level_border_opposite(&at, 1, j), second);
      const unsigned closed = cells->closed ? cells->closed[scalar_cell_at(now, cell)] : 0;
      const double *t = scalar_row(now, cell[1], cell[2]) + cell[0];
      double value = *t;
      for (int k = 0; k < it->dimension - 1; k++) {
        const int axis = at.lateral[k];
        const ptrdiff_t stride = now->map.stride[axis];
        if (cell[axis] == 0 || cell[axis] + 1 == now->shape.cells[axis] || closed >> (2 * axis) & 3) continue;
        value += (fine[k] % 2 ? 0.25 : -0.25) * scalar_limited(t[stride] - *t, *t - t[-stride]);
      }
      *out++ = value;
      *out++ =
          closed >> behind & 1 ? 0 : *t - gab_field_get(now, second[0], second[1], second[2], SCALAR_VALUE);
    }
}

/* Through a fine face of a border. @param[in] first, second  fine values @param[in] beyond, rise  as packed by the coarser block
 * @param[in] speed  towards it */
static double bounded_border_flux(double first, double second, bool ends, double beyond, double rise,
                                  double speed, double conducts)
{
  const double step = beyond - first; /* over one and a half fine cells */
  double value;
  if (speed >= 0) value = first + 0.5 * scalar_limited(ends ? 0 : first - second, step / 1.5);
  else {
    const double change = 0.5 * scalar_limited(rise, -2 * step / 1.5);
    value = fabs(change) > fabs(step) ? first : beyond + change;
  }
  return speed * value - conducts * step / 1.5;
}

/* Conductance of half of a fine cell; 0 of one that does not conduct. @param[in] body  of a cell that may be coarse
 * @param[in] eddies  of the fluid there */
static double conductance_of(const gab_lbm_scalar *it, int body, scalar_rates rates, double eddies)
{
  if (body == GAB_CELL_FLUID) return rates.conducts + rates.spreads * eddies;
  if (body < 0 || it->options.bodies[body].kind != GAB_SCALAR_CONDUCTS) return 0;
  return rates.conducts * it->options.bodies[body].conductivity;
}

/* A fine face of a border across which a cell is solid. Cells of the fine block: first, ghost, second. */
typedef struct solid_face {
  size_t cell, behind; /* indices of the first and second one */
  double first, ghost, second;
  double eddies, eddies_beyond;
} solid_face;

/* Along the axis. Both cells as resistances in series, the wide one twice as long; in one body by the gradient of second order. */
static double conducted_through(const gab_lbm_scalar *it, const scalar_cells *cells, const solid_face *at,
                                scalar_rates rates, int side)
{
  const scalar_path *path = &cells->paths[at->cell * 6 + (size_t)side];
  const int own = cells->bodies[at->cell], beyond = path->beyond;
  const double here = conductance_of(it, own, rates, at->eddies),
               there = conductance_of(it, beyond, rates, at->eddies_beyond);
  const int sign = side % 2 ? -1 : 1;
  if (here == 0 || there == 0) return 0;
  if (own == GAB_CELL_FLUID && beyond == GAB_CELL_FLUID && path->fluid == 0 && path->solid == 0)
    return 0; /* fine cells beyond would be solid */
  if (own >= 0 && own == beyond && cells->bodies[at->behind] == own)
    return sign * here * (at->ghost - at->first);
  const double rise = (at->ghost - at->first - 0.2 * (at->first - at->second)) * 15 / 8; /* level_border.h */
  return sign * rise / (0.5 / here + 1 / there);
}

/* Fluxes along the axis through the fine faces of a border with known ghosts. @param[in] packed  by pack_bounded(),
 * or NULL */
static void find_border_fluxes(const gab_lbm_scalar *it, const gab_block *block, const gab_contact *contact,
                               const double *packed)
{
  gab_field *now = gab_block_data(block, it->now), *next = gab_block_data(block, it->next);
  const scalar_cells *cells = gab_block_data(block, it->cells);
  const gab_level_border at = gab_level_border_of(now->shape.cells, it->dimension, contact, true);
  const scalar_rates level = scalar_rates_of(it, block);
  scalar_rates rates = level;
  const int side = side_of(&at), sign = side % 2 ? 1 : -1, eddies = scalar_eddies(it);
  const ptrdiff_t component = now->map.component_stride * (SCALAR_MOMENTUM + at.axis);
  for (int32_t b = 0; b < at.count[1]; b++)
    for (int32_t a = 0; a < at.count[0]; a++) {
      int32_t first[3], ghost[3], second[3];
      gab_level_border_cell(&at, at.first, a, b, first);
      gab_level_border_cell(&at, at.second, a, b, second);
      gab_level_border_cell(&at, at.ghost, a, b, ghost);
      const int32_t *upper = side % 2 ? ghost : first;
      const double *t = scalar_row(now, upper[1], upper[2]) + upper[0];
      const ptrdiff_t before = -now->map.stride[at.axis];
      const size_t cell = scalar_cell_at(now, first);
      const unsigned closed = cells->closed ? cells->closed[cell] : 0;
      const double from_coarse = gab_field_get(now, ghost[0], ghost[1], ghost[2], SCALAR_VALUE);
      double flux;
      if (eddies) /* a ghost is extrapolated, and may be below 0 */
        rates = scalar_rates_between(level, gab_field_get(now, first[0], first[1], first[2], eddies),
                                     fmax(0, gab_field_get(now, ghost[0], ghost[1], ghost[2], eddies)));
      if (!packed) flux = scalar_flux(t, t + component, before, rates);
      else {
        const double near = gab_field_get(now, first[0], first[1], first[2], SCALAR_VALUE),
                     beyond = *packed++, rise = *packed++;
        const double speed = 2 * rates.carries * (t[component] + t[component + before]);
        flux = sign *
               bounded_border_flux(near, gab_field_get(now, second[0], second[1], second[2], SCALAR_VALUE),
                                   closed >> (side ^ 1) & 1, beyond, rise, sign * speed, rates.conducts);
        gab_field_set(now, ghost[0], ghost[1], ghost[2], SCALAR_VALUE, near + (beyond - near) / 1.5);
      }
      if (cells->closed && ((closed | cells->beyond[cell]) >> side & 1)) {
        const solid_face solid = {
            .cell = cell,
            .behind = scalar_cell_at(now, second),
            .first = gab_field_get(now, first[0], first[1], first[2], SCALAR_VALUE),
            .ghost = from_coarse,
            .second = gab_field_get(now, second[0], second[1], second[2], SCALAR_VALUE),
            .eddies = eddies ? gab_field_get(now, first[0], first[1], first[2], eddies) : 0,
            .eddies_beyond = eddies ? fmax(0, gab_field_get(now, ghost[0], ghost[1], ghost[2], eddies)) : 0};
        flux = cells->paths ? conducted_through(it, cells, &solid, level, side) : 0;
      }
      gab_field_set(next, ghost[0], ghost[1], ghost[2], SCALAR_VALUE, flux);
    }
}

/* The mean of fine cells in place of a coarse one beyond a border. */
static double mean_beyond(const gab_lbm_scalar *it, const gab_field *now, const gab_level_border *at,
                          int32_t i, int32_t j)
{
  double sum = 0;
  for (int32_t b = 0; b < at->step[1]; b++)
    for (int32_t a = 0; a < at->step[0]; a++) {
      int32_t first[3], second[3];
      gab_level_border_cell(at, at->first, i + a, j + b, first);
      gab_level_border_cell(at, at->second, i + a, j + b, second);
      sum += gab_field_get(now, first[0], first[1], first[2], SCALAR_VALUE) +
             gab_field_get(now, second[0], second[1], second[2], SCALAR_VALUE);
    }
  return ldexp(sum, -it->dimension);
}

/* For each coarse face the sum of fluxes; of a bounded scalar also the value beyond. */
static void pack_up(const gab_lbm_scalar *it, const gab_field *now, const gab_contact *contact, double *out)
{
  const gab_field *next = gab_block_data(gab_forest_find(it->forest, contact->fine), it->next);
  const gab_level_border at = gab_level_border_of(next->shape.cells, it->dimension, contact, true);
  for (int32_t j = 0; j < at.count[1]; j += at.step[1])
    for (int32_t i = 0; i < at.count[0]; i += at.step[0]) {
      double sum = 0;
      for (int32_t b = 0; b < at.step[1]; b++)
        for (int32_t a = 0; a < at.step[0]; a++) {
          int32_t ghost[3];
          gab_level_border_cell(&at, at.ghost, i + a, j + b, ghost);
          sum += gab_field_get(next, ghost[0], ghost[1], ghost[2], SCALAR_VALUE);
        }
      *out++ = ldexp(sum, -it->dimension); /* the coarse cell has the volume of 2^d fine ones */
      if (it->options.bounded) *out++ = mean_beyond(it, now, &at, i, j);
    }
}

static void unpack_up(const gab_lbm_scalar *it, gab_field *now, const gab_contact *contact, const double *in)
{
  gab_field *next = gab_block_data(gab_forest_find(it->forest, contact->other), it->next);
  const gab_level_border at = gab_level_border_of(next->shape.cells, it->dimension, contact, false);
  for (int32_t j = 0; j < at.count[1]; j += at.step[1])
    for (int32_t i = 0; i < at.count[0]; i += at.step[0]) {
      int32_t ghost[3];
      gab_level_border_cell(&at, at.ghost, gab_level_border_opposite(&at, 0, i),
                            gab_level_border_opposite(&at, 1, j), ghost);
      gab_field_set(next, ghost[0], ghost[1], ghost[2], SCALAR_VALUE, *in++);
      if (it->options.bounded) gab_field_set(now, ghost[0], ghost[1], ghost[2], SCALAR_VALUE, *in++);
    }
}

static void border_pack(void *user, const void *data, gab_coupling_way way, const gab_contact *contact,
                        void *bytes)
{
  const gab_lbm_scalar *it = user;
  double *out = bytes;
  if (way == GAB_COUPLING_UP) {
    pack_up(it, data, contact, out);
    return;
  }
  /* Ghosts are under way: no direction may be read. */
  gab_level_border_pack_down(data, it->dimension, contact, ~UINT32_C(0), out);
  if (it->options.bounded)
    pack_bounded(it, data, gab_block_data(gab_forest_find(it->forest, contact->other), it->cells), contact,
                 out + gab_level_border_count(&it->shape.shape, it->dimension, contact, way));
}

static void border_unpack(void *user, void *data, gab_coupling_way way, const gab_contact *contact,
                          const void *bytes)
{
  const gab_lbm_scalar *it = user;
  const double *in = bytes;
  if (way == GAB_COUPLING_UP) {
    unpack_up(it, data, contact, in);
    return;
  }
  gab_level_border_unpack_down(data, it->dimension, contact, in);
  find_border_fluxes(it, gab_forest_find(it->forest, contact->fine), contact,
                     it->options.bounded
                         ? in + gab_level_border_count(&it->shape.shape, it->dimension, contact, way)
                         : NULL);
}

/* ---------------------------------------------------------------- exchange */

static gab_box ghosts_of_side(const gab_field *field, int side)
{
  gab_box box = gab_field_interior(field);
  box.lo[side / 2] = side % 2 ? box.hi[side / 2] : -1;
  box.hi[side / 2] = box.lo[side / 2] + 1;
  return box;
}

/* The set of faces with separate fluxes changes only with the grid. */
static void forget_fluxes(gab_lbm_scalar *it)
{
  if (it->revision == gab_forest_revision(it->forest)) return;
  for (size_t b = 0; b < gab_forest_block_count(it->forest); b++) {
    gab_field *next = gab_block_data(gab_forest_block(it->forest, b), it->next);
    for (int side = 0; side < 2 * it->dimension; side++) {
      const gab_box box = ghosts_of_side(next, side);
      gab_field_fill(next, SCALAR_VALUE, &box, NAN);
    }
  }
  it->revision = gab_forest_revision(it->forest);
}

static gab_status start_way(const gab_lbm_scalar *it, gab_coupling_way way)
{
  for (int level = 0; level < it->finest; level++)
    GAB_TRY(gab_coupling_start(it->between[level], way, level));
  return GAB_OK;
}

static gab_status finish_way(const gab_lbm_scalar *it)
{
  for (int level = 0; level < it->finest; level++) GAB_TRY(gab_coupling_finish(it->between[level]));
  return GAB_OK;
}

gab_status gab_lbm_scalar_exchange(gab_lbm_scalar *it)
{
  forget_fluxes(it);
  GAB_TRY(gab_exchange_start(it->within));
  GAB_TRY(start_way(it, GAB_COUPLING_DOWN));
  GAB_TRY(finish_way(it));
  GAB_TRY(start_way(it, GAB_COUPLING_UP));
  GAB_TRY(gab_exchange_finish(it->within));
  return finish_way(it);
}

/* ---------------------------------------------------------------- sides */

bool gab_lbm_scalar_is_at_side(const gab_lbm_scalar *it, const gab_block *block, int side)
{
  const gab_box cells = gab_block_cells(it->forest, block), domain = scalar_domain(it, block);
  const int axis = side / 2;
  if (gab_forest_get_options(it->forest)->periodic[axis]) return false;
  return side % 2 ? cells.hi[axis] == domain.hi[axis] : cells.lo[axis] == domain.lo[axis];
}

typedef struct side_state {
  gab_lbm_scalar_side_kind kind;
  double value, transfer;
  bool is_open; /* fluid crosses it with a velocity that is not given */
  double given; /* momentum into the domain else */
  int sign;     /* of inflow along the axis */
} side_state;

/* Along the axis, in cells of the block. @param[in] j  momentum of the cell; inner: that of the next cell, or the same
 * @param[out] beyond  value of the ghost cell */
static double side_flux(const gab_lbm_scalar *it, const side_state *at, double t, double j, double inner,
                        scalar_rates rates, double *beyond)
{
  const double twice = at->is_open ? j + (2 * j - inner) /* linear to the side */ : 2 * at->sign * at->given;
  double conducted = 0;
  *beyond = at->kind == GAB_SCALAR_FIXED ? 2 * at->value - t : t;
  if (at->kind == GAB_SCALAR_FIXED) conducted = rates.conducts * (*beyond - t);
  else if (at->kind == GAB_SCALAR_FLUX) conducted = rates.passes * at->value;
  else if (at->kind == GAB_SCALAR_TRANSFER && at->transfer > 0)
    conducted = (at->value - t) / (1 / (2 * rates.conducts) + 1 / (rates.passes * at->transfer));
  const double carried = rates.carries * twice;
  if (it->options.bounded && at->sign * carried < 0) return 2 * carried * t + at->sign * conducted;
  return carried * (t + *beyond) + at->sign * conducted;
}

/* The condition of a face: of a patch, or of all of a side. */
static side_state state_of(const gab_lbm_scalar *it, int side, int condition, double inflow)
{
  side_state at = {.kind = it->options.sides[side].kind,
                   .value = it->options.sides[side].value,
                   .transfer = it->options.transfer[side],
                   .is_open =
                       gab_side_kind_is_open(gab_lbm_condition(&it->lbm->model.options, condition)->kind),
                   .given = inflow,
                   .sign = side % 2 ? -1 : 1};
  if (condition < GAB_SIDE_COUNT || !it->options.patches) return at;
  const gab_lbm_scalar_wall *patch = &it->options.patches[condition - GAB_SIDE_COUNT];
  at.kind = patch->kind;
  at.value = patch->value;
  at.transfer = patch->transfer;
  return at;
}

/* At a ghost cell beyond a side. @param[in] place  in cells of the domain @param[in] inflow  momentum that is given */
static double flux_beyond(const gab_lbm_scalar *it, const gab_block *block, int side, const int32_t ghost[3],
                          const int64_t place[3], scalar_rates rates, double inflow)
{
  gab_field *now = gab_block_data(block, it->now);
  const scalar_cells *cells = gab_block_data(block, it->cells);
  const int axis = side / 2,
            inwards = side % 2 ? 2 * axis : 2 * axis + 1; /* the side of the cell towards the inside */
  const int condition = gab_condition_at(&it->lbm->model, gab_block_level(it->forest, block), place, side);
  const side_state at = state_of(it, side, condition, inflow);
  int32_t cell[3] = {ghost[0], ghost[1], ghost[2]}, inner[3];
  cell[axis] += at.sign;
  for (int k = 0; k < 3; k++) inner[k] = cell[k];
  const uint8_t closed = cells->closed ? cells->closed[scalar_cell_at(now, cell)] : 0;
  if (scalar_is_empty(cells, scalar_cell_at(now, cell))) return 0;
  if (!(closed >> inwards & 1) && now->shape.cells[axis] > 1) inner[axis] += at.sign;
  double beyond;
  const bool is_fluid = !(closed & SCALAR_SOLID);
  const double flux =
      side_flux(it, &at, gab_field_get(now, cell[0], cell[1], cell[2], SCALAR_VALUE),
                is_fluid ? gab_field_get(now, cell[0], cell[1], cell[2], SCALAR_MOMENTUM + axis) : 0,
                is_fluid ? gab_field_get(now, inner[0], inner[1], inner[2], SCALAR_MOMENTUM + axis) : 0,
                scalar_rates_in(it, block, rates, cell), &beyond);
  if (it->options.bounded) gab_field_set(now, ghost[0], ghost[1], ghost[2], SCALAR_VALUE, beyond);
  return flux;
}

static void fill_side(const gab_lbm_scalar *it, const gab_block *block, int side)
{
  gab_field *next = gab_block_data(block, it->next);
  const scalar_cells *made = gab_block_data(block, it->cells);
  const scalar_rates rates = scalar_rates_of(it, block);
  size_t face = 0, i = made->inflow_start[side];
  const gab_box ghosts = ghosts_of_side(next, side), cells = gab_block_cells(it->forest, block);
  for (int64_t z = ghosts.lo[2]; z < ghosts.hi[2]; z++)
    for (int64_t y = ghosts.lo[1]; y < ghosts.hi[1]; y++)
      for (int64_t x = ghosts.lo[0]; x < ghosts.hi[0]; x++, face++) {
        double inflow = 0;
        for (; i < made->inflow_start[side + 1] && made->inflows[i].face == face; i++)
          inflow += made->inflows[i].flow * it->factors[made->inflows[i].factor];
        const int32_t ghost[3] = {(int32_t)x, (int32_t)y, (int32_t)z};
        const int64_t place[3] = {cells.lo[0] + x, cells.lo[1] + y, cells.lo[2] + z};
        gab_field_set(next, ghost[0], ghost[1], ghost[2], SCALAR_VALUE,
                      flux_beyond(it, block, side, ghost, place, rates, inflow));
      }
}

void gab_lbm_scalar_fill_sides(const gab_lbm_scalar *it, const gab_block *block)
{
  for (int side = 0; side < 2 * it->dimension; side++)
    if (gab_lbm_scalar_is_at_side(it, block, side)) fill_side(it, block, side);
}

/* ---------------------------------------------------------------- made and unmade */

static gab_status check_cells(const gab_lbm_scalar *it)
{
  const gab_forest_options *grid = gab_forest_get_options(it->forest);
  if (it->finest < 0) GAB_FAIL(GAB_ERR_ARGUMENT, "a finest level of %d", it->finest);
  for (int axis = 0; it->finest > 0 && axis < it->dimension; axis++)
    if (grid->cells[axis] % 2 != 0 || grid->cells[axis] < 4)
      GAB_FAIL(GAB_ERR_ARGUMENT,
               "blocks of %" PRId32 " cells along %c: between levels an even number is needed, 4 or more",
               grid->cells[axis], "xyz"[axis]);
  return GAB_OK;
}

gab_status gab_lbm_scalar_borders_create(gab_lbm_scalar *it)
{
  const gab_coupling_kind border = {.name = "scalar between levels",
                                    .user = it,
                                    .size = border_size,
                                    .pack = border_pack,
                                    .unpack = border_unpack};
  gab_ghost_kind within = gab_block_field_ghosts(&it->shape);
  GAB_TRY(check_cells(it));
  within.coupled = it->finest > 0;
  GAB_TRY(gab_exchange_create(it->forest, it->now, &within, &it->within));
  if (it->finest == 0) return GAB_OK;
  GAB_TRY(GAB_NEW_ARRAY(&it->between, (size_t)it->finest, GAB_MEMORY_OTHER));
  for (int level = 0; level < it->finest; level++)
    GAB_TRY(gab_coupling_create(it->forest, it->now, &border, &it->between[level]));
  return GAB_OK;
}

void gab_lbm_scalar_borders_destroy(gab_lbm_scalar *it)
{
  gab_exchange_destroy(&it->within);
  for (int level = 0; it->between && level < it->finest; level++) gab_coupling_destroy(&it->between[level]);
  gab_free(&it->between);
}
