/* SPDX-License-Identifier: Apache-2.0 */
/* Mass that neighbouring coarse cells exchange along a border between levels, so that a wall may cross the border.
 *
 * **Why.** Let u be the velocity across the border, towards the fine region, and u = S y along it from a wall at y = 0, in
 * coarse cells and steps. The children of a coarse population cross the border at three heights. With exact values on both
 * sides, fine cells take 1/4, 1/2 and 1/4 of what their links carry at y - 1/2, y and y + 1/2 from the coarse population
 * that crosses at y. This is consistent in all rows but one: half of the flux of fine links at y = 1/2 has to come from the
 * coarse link at y = 0, which bounces back at the wall. The coarse cell at the wall therefore loses a mass of S / 24 per
 * step, or gains it where u < 0. That is an error of first order in the velocity and of order zero in the wall shear
 * stress. No rule for this cell alone can correct it: mass is conserved, and all other cells have the correct mass.
 *
 * **The exchange.** Of two coarse cells that are neighbours along the border, the lower one gives the upper one the mass
 *
 *     G = -1/24 du/dy.
 *
 * In a linear flow each cell gives as much as it gets, except for the last cell before a wall, which keeps the missing S /
 * 24. In a curved flow each row gets u'' / 24. With this mass the errors of straight links, which take the middle of a row,
 * and of diagonal ones, which take both ends, cancel as in Simpson's rule: a parabola crosses with its own flux in each
 * row.
 *
 * The mass is added to the rest population. At the last cell before a wall it is distributed by weight to the populations
 * that the wall has bounced back across the border: this is exact in linear flows. Their momentum comes from the wall, and
 * a body is given the opposite. At open sides, which set the mass themselves, the last cell gets none. Where a fine region
 * ends within the flow, the coarse cell at its corner is the last one. Along periodic axes of a domain without bodies
 * nothing is exchanged.
 *
 * du/dy is twice the difference of two fine cells of the first row behind the border, from the populations that they send
 * straight across in s1. If both coarse cells belong to one block, these are the two fine cells at their common face; else
 * the mean of the nearest two of each block. Fine blocks compute it and send it to both coarse cells. It is exactly zero in
 * uniform flows.
 *
 * Tests: tests/lbm/levels/mpi_levels_walls.c, mpi_levels_corner.c. */
#include "lbm/levels/levels_lists_impl.h"

#include <string.h>

/* Two coarse cells side by side along a border: `lower`, and the next one along an axis. */
typedef struct pair {
  int32_t lower[3];
  int across, side,
      along; /* axis across the border; side (-1, 1) of the fine cells; axis from cell to cell */
} pair;

/* The contribution of a fine block: cells `row` and `row` + 1 along the border. */
typedef struct part {
  int8_t place[3]; /* of the block, in fine blocks */
  int32_t row;
  double share;
} part;

typedef enum ending { CONTINUES, AT_WALL, AT_OPEN_SIDE } ending;

static int dimension_of(const gab_level_maker *by) { return by->model->lattice->dimension; }

static void end_of(const pair *it, int end, int32_t coarse[3])
{
  memcpy(coarse, it->lower, 3 * sizeof *coarse);
  coarse[it->along] += end;
}

/* The fine cell next to a coarse one, across the border. @param[in] child  bits along the other axes */
static void behind(const gab_level_maker *by, const pair *it, const int32_t coarse[3], int child,
                   int32_t cell[3])
{
  gab_path_child(&by->paths, coarse, child, cell);
  cell[it->across] = 2 * coarse[it->across] + (it->side > 0 ? 2 : -1);
}

static bool is_coarse_fluid(const gab_level_maker *by, const int32_t coarse[3])
{
  int32_t place[3];
  gab_path_child(&by->paths, coarse, 0, place);
  return gab_level_view_look(&by->view, place).kind == GAB_PATH_COARSE;
}

/* FINE if all cells there are; COARSE; else WALL. */
static gab_path_kind kind_behind(const gab_level_maker *by, const pair *it, const int32_t coarse[3])
{
  int32_t next[3] = {coarse[0], coarse[1], coarse[2]};
  next[it->across] += it->side;
  if (is_coarse_fluid(by, next)) return GAB_PATH_COARSE;
  for (int child = 0; child < 1 << dimension_of(by); child++) {
    int32_t cell[3];
    behind(by, it, coarse, child, cell);
    if (gab_level_view_look(&by->view, cell).kind != GAB_PATH_FINE) return GAB_PATH_WALL;
  }
  return GAB_PATH_FINE;
}

static part part_behind(const gab_level_maker *by, const pair *it, const int32_t coarse[3], double share)
{
  int32_t cell[3];
  part made = {.row = 2 * coarse[it->along], .share = share};
  behind(by, it, coarse, 0, cell);
  gab_level_place_of(by, cell, made.place);
  return made;
}

/* Whether no wall can end a border along an axis: then no mass is missing. */
static bool has_no_end(const gab_level_maker *by, int axis)
{
  const gab_geometry *geometry = by->model->geometry;
  return gab_geometry_domain(geometry)->periodic[axis] && gab_geometry_body_count(geometry) == 0;
}

/* Finds the fine blocks that contribute to a pair. @return their number; 0: no exchange */
static int find_parts(const gab_level_maker *by, const pair *it, part parts[2])
{
  int32_t cell[2][3];
  gab_path_kind kind[2];
  int count = 0;
  if (has_no_end(by, it->along)) return 0;
  for (int end = 0; end < 2; end++) {
    end_of(it, end, cell[end]);
    if (!is_coarse_fluid(by, cell[end])) return 0;
  }
  for (int end = 0; end < 2; end++) {
    kind[end] = kind_behind(by, it, cell[end]);
    if (kind[end] == GAB_PATH_WALL) return 0;
  }
  for (int end = 0; end < 2; end++)
    if (kind[end] == GAB_PATH_FINE) parts[count++] = part_behind(by, it, cell[end], 1);
  if (count < 2) return count;
  if (memcmp(parts[0].place, parts[1].place, sizeof parts[0].place) == 0) {
    parts[0].row++;
    return 1;
  }
  parts[0].share = parts[1].share = 0.5;
  return 2;
}

/* The coarse cell beyond an end. */
static void beyond_end(const pair *it, int end, int32_t coarse[3])
{
  end_of(it, end, coarse);
  coarse[it->along] += end == 0 ? -1 : 1;
}

static ending ending_of(const gab_level_maker *by, const pair *it, int end)
{
  int32_t coarse[3];
  bool is_wall = true;
  beyond_end(it, end, coarse);
  for (int child = 0; child < 1 << dimension_of(by); child++) {
    int32_t place[3];
    gab_path_child(&by->paths, coarse, child, place);
    const int kind = gab_level_view_look(&by->view, place).kind;
    if (kind == GAB_PATH_OPEN) return AT_OPEN_SIDE;
    is_wall = is_wall && (kind == GAB_PATH_WALL || kind == GAB_PATH_FINE_WALL);
  }
  return is_wall ? AT_WALL : CONTINUES;
}

static gab_level_key key_of(const pair *it, int32_t group)
{
  return gab_level_key_of(group, it->lower, GAB_LEVEL_KEY_CARRY,
                          (2 * it->across + (it->side > 0)) * 3 + it->along);
}

/* The direction straight along an axis. */
static int straight(const gab_lattice *lattice, int axis, int way)
{
  for (int q = 1; q < lattice->q; q++) {
    const int8_t *c = lattice->c[q];
    if (c[axis] == way && c[(axis + 1) % 3] == 0 && c[(axis + 2) % 3] == 0) return q;
  }
  return 0;
}

/* ------------------------------------------------------------------------------------------ fine blocks */

static int row_count(const gab_level_maker *by) { return dimension_of(by) == 3 ? 2 : 1; }

/* Row k of the fine rows next to one coarse cell. */
static gab_level_interface_carry carry_of(const gab_level_maker *by, const pair *it, const part *own, int k)
{
  const gab_lattice *lattice = by->model->lattice;
  gab_level_interface_carry made = {.q = straight(lattice, it->across, 1)};
  int32_t cell[3];
  behind(by, it, it->lower, 0, cell);
  if (dimension_of(by) == 3) cell[3 - it->across - it->along] += k;
  cell[it->along] = own->row;
  made.lower = gab_level_index_of(by, cell);
  cell[it->along]++;
  made.upper = gab_level_index_of(by, cell);
  /* G: a difference of fine cells is half of that of coarse ones; a pair of populations is 6 w u. */
  made.weight = -it->side * own->share / (72 * lattice->weight[made.q] * row_count(by));
  return made;
}

/* Adds the contribution of the block to sum G. */
static gab_status draft_sum(gab_level_maker *by, const pair *it, const part *own, int32_t group)
{
  const gab_level_key sum = key_of(it, group);
  GAB_TRY(gab_level_keys_add(&by->keys, sum));
  for (int k = 0; k < row_count(by); k++) {
    void *items = by->carries;
    GAB_TRY(
        gab_level_list_grow(&items, by->interface->carry_count, &by->carry_capacity, sizeof *by->carries));
    by->carries = items;
    by->carries[by->interface->carry_count++] =
        (gab_level_carry_draft){.sum = sum, .carry = carry_of(by, it, own, k)};
  }
  return GAB_OK;
}

/* Momentum of a body by the mass of the last cell, if the wall belongs to a body. */
static gab_status draft_impulses(gab_level_maker *by, const pair *it, const part *own, int end)
{
  const int way = end == 0 ? -1 : 1;
  int32_t coarse[3], wall[3];
  beyond_end(it, end, coarse);
  gab_path_child(&by->paths, coarse, 0, wall);
  const double middle[3] = {wall[0] + 1.0, wall[1] + 1.0, wall[2] + 1.0}; /* of the coarse cell */
  for (int i = 0; i < 4 * row_count(by); i++) {
    const gab_level_interface_carry carry = carry_of(by, it, own, i >> 2);
    const int up = i & 1 ? 1 : -1, back = i & 2 ? -1 : 1;
    const gab_level_interface_impulse made = {
        .kind = GAB_IMPULSE_SENT,
        .when = GAB_LEVEL_IN_FIRST,
        .at = up > 0 ? carry.upper : carry.lower,
        .q = (int8_t)straight(by->model->lattice, it->along, way),
        .sent_q = (int8_t)(back > 0 ? carry.q : gab_lattice_opposite(carry.q)),
        .share = 0.5 * (1 << dimension_of(by)) * way * up * back * carry.weight};
    GAB_TRY(gab_level_add_impulse(by, made, wall, middle, false));
  }
  return GAB_OK;
}

static gab_status draft_pair(gab_level_maker *by, const pair *it)
{
  static const int8_t here[3] = {0, 0, 0};
  part parts[2];
  const int count = find_parts(by, it, parts);
  for (int i = 0; i < count; i++) {
    int32_t seen = -1;
    for (int end = 0; end < 2 && memcmp(parts[i].place, here, sizeof here) == 0; end++) {
      int32_t coarse[3];
      end_of(it, end, coarse);
      const int32_t group = gab_level_seen_from(by, coarse, here);
      const ending ends = ending_of(by, it, end);
      if (ends == AT_OPEN_SIDE) continue;
      if (group != seen)
        GAB_TRY(draft_sum(by, it, &parts[i], group)); /* once for both cells, if one block has both */
      if (ends == AT_WALL) GAB_TRY(draft_impulses(by, it, &parts[i], end));
      seen = group;
    }
  }
  return GAB_OK;
}

/* All pairs along one side of the block; the first and the last one reach into the next block. */
static gab_status draft_side(gab_level_maker *by, int across, int side, int along)
{
  const int32_t *cells = by->model->cells;
  const int other = 3 - across - along, dimension = dimension_of(by);
  const int32_t wide = dimension == 3 ? cells[other] / 2 : 1;
  pair it = {.across = across, .side = side, .along = along};
  it.lower[across] = side > 0 ? -1 : cells[across] / 2;
  for (int32_t k = 0; k < wide; k++)
    for (int32_t i = -1; i < cells[along] / 2; i++) {
      it.lower[along] = i;
      it.lower[other] = k;
      GAB_TRY(draft_pair(by, &it));
    }
  return GAB_OK;
}

gab_status gab_level_draft_carries(gab_level_maker *by)
{
  for (int across = 0; across < dimension_of(by); across++)
    for (int side = -1; side <= 1; side += 2) {
      int offset[3] = {0, 0, 0};
      offset[across] = -side;
      const int direction = gab_direction_of(offset[0], offset[1], offset[2]);
      if (by->block->beside.kind[direction] != GAB_BESIDE_COARSER) continue;
      for (int along = 0; along < dimension_of(by); along++)
        if (along != across) GAB_TRY(draft_side(by, across, side, along));
    }
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------------ coarse cells */

gab_status gab_level_arrival_of(gab_level_maker *by, const int32_t coarse[3], int q, size_t first,
                                uint32_t *found)
{
  gab_level_interface *interface = by->interface;
  for (size_t i = first; i < interface->arrival_count; i++)
    if (interface->arrivals[i].q == q) {
      *found = (uint32_t)i;
      return GAB_OK;
    }
  void *items = interface->arrivals;
  GAB_TRY(gab_level_list_grow(&items, interface->arrival_count, &by->arrival_capacity,
                              sizeof *interface->arrivals));
  interface->arrivals = items;
  *found = (uint32_t)interface->arrival_count;
  interface->arrivals[interface->arrival_count++] =
      (gab_level_interface_arrival){.cell = gab_level_index_of(by, coarse),
                                    .q = (int16_t)q,
                                    .keep = (int8_t)(1 << dimension_of(by)),
                                    .times = 1,
                                    .first = (uint32_t)interface->order_count,
                                    .last = (uint32_t)interface->order_count};
  return GAB_OK;
}

static gab_status add_gain(gab_level_maker *by, const int32_t coarse[3], int q, size_t first,
                           const gab_level_key *sum, double weight)
{
  gab_level_gain_draft made = {.sum = *sum, .gain.weight = weight};
  GAB_TRY(gab_level_arrival_of(by, coarse, q, first, &made.gain.arrival));
  void *items = by->gains;
  GAB_TRY(gab_level_list_grow(&items, by->interface->gain_count, &by->gain_capacity, sizeof made));
  by->gains = items;
  by->gains[by->interface->gain_count++] = made;
  return GAB_OK;
}

/* Whether a wall beyond an end bounces back, in direction q, populations that crossed the border. */
static bool comes_from_wall(const gab_lattice *lattice, const pair *it, int end, int q)
{
  return lattice->c[q][it->across] != 0 && lattice->c[q][it->along] == (end == 0 ? 1 : -1);
}

/* Adds to an end of a pair its share from one of the contributing fine blocks. */
static gab_status add_gains(gab_level_maker *by, const pair *it, int end, bool at_wall,
                            const gab_level_key *sum, size_t first)
{
  const gab_lattice *lattice = by->model->lattice;
  const double sign = end == 0 ? -1 : 1;
  double all = 0;
  int32_t coarse[3];
  end_of(it, end, coarse);
  GAB_TRY(gab_level_keys_add(&by->keys, *sum));
  if (!at_wall) return add_gain(by, coarse, 0, first, sum, sign);
  for (int q = 1; q < lattice->q; q++)
    if (comes_from_wall(lattice, it, end, q)) all += lattice->weight[q];
  for (int q = 1; q < lattice->q; q++)
    if (comes_from_wall(lattice, it, end, q))
      GAB_TRY(add_gain(by, coarse, q, first, sum, sign * lattice->weight[q] / all));
  return GAB_OK;
}

gab_status gab_level_draft_gains(gab_level_maker *by, const int32_t coarse[3], size_t first)
{
  const int dimension = dimension_of(by);
  for (int across = 0; across < dimension; across++)
    for (int side = -1; side <= 1; side += 2)
      for (int i = 0; i < 2 * dimension; i++) {
        const int along = i / 2, end = i % 2;
        pair it = {
            .lower = {coarse[0], coarse[1], coarse[2]}, .across = across, .side = side, .along = along};
        part parts[2];
        if (along == across) continue;
        it.lower[along] -= end;
        const int count = find_parts(by, &it, parts);
        const ending ends = count > 0 ? ending_of(by, &it, end) : AT_OPEN_SIDE;
        for (int k = 0; k < count && ends != AT_OPEN_SIDE; k++) {
          const int seen = gab_level_seen_from(by, coarse, parts[k].place);
          const gab_level_key sum = key_of(&it, gab_level_interface_group(parts[k].place, seen));
          GAB_TRY(add_gains(by, &it, end, ends == AT_WALL, &sum, first));
        }
      }
  return GAB_OK;
}
