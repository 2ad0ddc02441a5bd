/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=1,3 quick=3 timeout=60 */
/* A window that moves over a grid of several levels shifts its content by the number of rows: in a melt on blocks of
 * three levels, next to and above each other in all ways, and in a solid with coarser blocks below finer ones. A
 * linear field is shifted exactly in each cell; for any other field, each of the widest cells holds the former
 * content above it, to rounding, whatever blocks split and merge meanwhile. */
#include "tests/phasefield/levels/levels_common.h"

enum { LEVELS = 2, WIDE = 1 << LEVELS };

/* ------------------------------------------------------------------------------------ content of the domain */

/* Of the widest cells: the concentration, summed over the finest, and the levels of the blocks in which they lie. */
typedef struct picture {
  int64_t cells[3]; /* of the widest */
  double *content;
  uint64_t *level;
} picture;

static size_t place_in(const picture *of, int64_t x, int64_t y, int64_t z)
{
  return (size_t)((z * of->cells[1] + y) * of->cells[0] + x);
}

static size_t count_of(const picture *of) { return (size_t)(of->cells[0] * of->cells[1] * of->cells[2]); }

static void add_block(const picture *to, const phase_run *it, const gab_block *block, int dimension)
{
  const gab_phasefield_view view = gab_phasefield_look(it->model, block);
  const gab_box box = gab_block_cells(it->forest, block);
  const int level = gab_block_level(it->forest, block), coarser = LEVELS - level;
  for (int32_t z = 0; z < view.c->shape.cells[2]; z++)
    for (int32_t y = 0; y < view.c->shape.cells[1]; y++)
      for (int32_t x = 0; x < view.c->shape.cells[0]; x++) {
        const size_t at = place_in(to, (box.lo[0] + x) >> level, (box.lo[1] + y) >> level,
                                   dimension == 3 ? (box.lo[2] + z) >> level : 0);
        to->content[at] += (double)(1 << coarser * dimension) * gab_field_get(view.c, x, y, z, 0);
        to->level[at] = (uint64_t)level;
      }
}

/* A widest cell lies in one block: others have nothing to add. */
static picture picture_of(const phase_run *it, int dimension)
{
  picture made = {
      .cells = {it->cells[0] / WIDE, it->cells[1] / WIDE, dimension == 3 ? it->cells[2] / WIDE : 1}};
  made.content = calloc(count_of(&made), sizeof *made.content);
  made.level = calloc(count_of(&made), sizeof *made.level);
  REQUIRE(made.content && made.level);
  for (size_t b = 0; b < gab_forest_block_count(it->forest); b++)
    add_block(&made, it, gab_forest_block(it->forest, b), dimension);
  uint64_t *bits = calloc(count_of(&made), sizeof *bits);
  REQUIRE(bits);
  memcpy(bits, made.content, count_of(&made) * sizeof *bits);
  REQUIRE_OK(gab_world_sum_u64(gab_forest_world(it->forest), bits, count_of(&made)));
  REQUIRE_OK(gab_world_sum_u64(gab_forest_world(it->forest), made.level, count_of(&made)));
  memcpy(made.content, bits, count_of(&made) * sizeof *bits);
  free(bits);
  return made;
}

static void release(picture *gone)
{
  free(gone->content);
  free(gone->level);
}

/* How many of the widest cells go from one level to another when all move down by a row of them. */
typedef struct crossing {
  int up, down; /* into a coarser block, into a finer one */
} crossing;

static crossing crossings(const picture *of, int axis)
{
  crossing found = {0, 0};
  int64_t at[3], step[3] = {0, 0, 0};
  step[axis] = 1;
  for (at[2] = 0; at[2] + step[2] < of->cells[2]; at[2]++)
    for (at[1] = 0; at[1] + step[1] < of->cells[1]; at[1]++)
      for (at[0] = 0; at[0] < of->cells[0]; at[0]++) {
        const uint64_t below = of->level[place_in(of, at[0], at[1], at[2])],
                       above = of->level[place_in(of, at[0], at[1] + step[1], at[2] + step[2])];
        found.up += above > below;
        found.down += above < below;
      }
  return found;
}

/* The largest difference, per finest cell, between the present content of the first `until` rows and the former
 * content `rows` above them. Rows are of the widest cells. */
static double moved_wrong(const picture *before, const picture *now, int dimension, int64_t rows,
                          int64_t until)
{
  const int axis = dimension - 1;
  int64_t at[3], end[3] = {now->cells[0], now->cells[1], now->cells[2]}, step[3] = {0, 0, 0};
  double most = 0;
  step[axis] = rows;
  end[axis] = until;
  REQUIRE(rows > 0 && until + rows <= before->cells[axis]);
  for (at[2] = 0; at[2] < end[2]; at[2]++)
    for (at[1] = 0; at[1] < end[1]; at[1]++)
      for (at[0] = 0; at[0] < end[0]; at[0]++)
        most = fmax(most, fabs(now->content[place_in(now, at[0], at[1], at[2])] -
                               before->content[place_in(before, at[0], at[1] + step[1], at[2] + step[2])]));
  return most / (double)(1 << LEVELS * dimension);
}

/* ------------------------------------------------------------------------------------ cases */

typedef struct scene {
  phase_case given;
  int64_t solid_rows; /* below the melt */
  double slope[3];    /* of mu; in addition to noise if they are 0 */
} scene;

static void fill(void *user, const int64_t cell[3], double *phi, double *mu)
{
  const scene *it = user;
  phi[cell[it->given.dimension - 1] >= it->solid_rows] = 1;
  mu[0] = it->slope[0] == 0 ? noise(5, cell) : 0.1;
  for (int axis = 0; axis < 3; axis++) mu[0] += it->slope[axis] * (double)cell[axis];
}

static scene scene_of(int dimension, int32_t block, int32_t wide, int32_t high)
{
  scene made = {
      .given = {
          .dimension = dimension, .dx = 1, .cells = {wide, wide, wide}, .block = {block, block, block}}};
  made.given.cells[dimension - 1] = high;
  if (dimension == 2) made.given.cells[2] = made.given.block[2] = 1;
  gab_phasefield_options *options = &made.given.options;
  *options = (gab_phasefield_options){
      .thermo = simple_system(2, 0.5, 0), .initial = fill, .levels = LEVELS, .epsilon = 4, .dt = 0.1};
  equal_interfaces(options, 1, 1);
  all_sides(options, GAB_PHASEFIELD_CLOSED);
  return made;
}

/* Two boxes, fractions of the domain, with corners between all levels. */
static gab_mark mark_boxes(void *user, int level, const gab_box *cells)
{
  const phase_case *given = user;
  static const double boxes[2][3][2] = {{{.25, .5}, {.25, .5}, {.25, .75}}, {{.4, .7}, {.45, .8}, {0, .5}}};
  for (int b = 0; b < 2; b++) {
    bool meets = true;
    for (int axis = 0; axis < given->dimension; axis++) {
      const double all = ldexp(given->cells[axis], level - LEVELS);
      meets = meets && (double)cells->lo[axis] < boxes[b][axis][1] * all &&
              (double)cells->hi[axis] > boxes[b][axis][0] * all;
    }
    if (meets) return GAB_MARK_REFINE;
  }
  return GAB_MARK_KEEP;
}

static gab_mark mark_all(void *user, int level, const gab_box *cells)
{
  (void)user, (void)level, (void)cells;
  return GAB_MARK_REFINE;
}

static phase_run open_marked(gab_world *world, scene *it, gab_mark_place_fn mark)
{
  it->given.options.initial_user = it;
  phase_run made = levels_create(world, &it->given);
  REQUIRE_OK(gab_forest_build(made.forest, mark, &it->given, LEVELS, gab_balance_distribute, NULL, NULL));
  return made;
}

/* ------------------------------------------------------------------------------------ a melt */

/* The largest difference from the linear field, shifted by the rows, in cells without new content from the top. */
static double linear_wrong(const phase_run *it, const scene *of, int64_t rows)
{
  const int axis = of->given.dimension - 1;
  double most = 0;
  for (size_t b = 0; b < gab_forest_block_count(it->forest); b++) {
    const gab_block *block = gab_forest_block(it->forest, b);
    const gab_phasefield_view view = gab_phasefield_look(it->model, block);
    for (int32_t z = 0; z < view.c->shape.cells[2]; z++)
      for (int32_t y = 0; y < view.c->shape.cells[1]; y++)
        for (int32_t x = 0; x < view.c->shape.cells[0]; x++) {
          double centre[3], value = 0.1;
          gab_block_cell_centre(it->forest, block, x, y, z, centre);
          centre[axis] += (double)rows;
          if (centre[axis] + WIDE > it->cells[axis]) continue;
          for (int k = 0; k < of->given.dimension; k++) value += of->slope[k] * (centre[k] - 0.5);
          REQUIRE(gab_field_get(view.phi, x, y, z, 1) == 1);
          most = fmax(most, fabs(gab_field_get(view.c, x, y, z, 0) - value));
        }
  }
  return most;
}

static void a_linear_field_is_shifted_exactly(gab_world *world, int dimension)
{
  scene it = scene_of(dimension, 4, 64, 64);
  for (int axis = 0; axis < dimension; axis++) it.slope[axis] = 0.01 * (axis + 1);
  phase_run run = open_marked(world, &it, mark_boxes);
  REQUIRE(linear_wrong(&run, &it, 0) < 1e-13);
  REQUIRE_OK(gab_phasefield_shift(run.model, WIDE));
  REQUIRE(linear_wrong(&run, &it, WIDE) < 1e-13);
  REQUIRE_OK(gab_phasefield_shift(run.model, 2 * WIDE));
  REQUIRE(linear_wrong(&run, &it, 3 * WIDE) < 1e-13);
  phase_close(&run);
}

static void each_wide_cell_keeps_its_content(gab_world *world, int dimension)
{
  scene it = scene_of(dimension, 4, 64, 64);
  phase_run run = open_marked(world, &it, mark_boxes);
  picture before = picture_of(&run, dimension);
  const crossing crossed = crossings(&before, dimension - 1);
  REQUIRE(crossed.up > 0 && crossed.down > 0);
  REQUIRE_OK(gab_phasefield_shift(run.model, 2 * WIDE));
  picture now = picture_of(&run, dimension);
  REQUIRE(moved_wrong(&before, &now, dimension, 2, before.cells[dimension - 1] - 2) < 1e-14);
  release(&now);
  release(&before);
  phase_close(&run);
}

/* ------------------------------------------------------------------------------------ a solid */

/* There is no diffusion in it: below the interface the content is that of the start, though its blocks merge, the
 * window moves it across borders of levels, and blocks split near the interface. */
static void a_solid_keeps_what_was_frozen_in(gab_world *world)
{
  enum { BLOCK = 12, HIGH = 240, SOLID = 180, DEEP = (SOLID - BLOCK) / WIDE, MOVES = 20 };
  const gab_phasefield_grid grid = {.margin = 8, .distribute = gab_balance_distribute};
  scene it = scene_of(2, BLOCK, 2 * WIDE * BLOCK, HIGH);
  it.solid_rows = SOLID;
  it.given.options.sides[3] = (gab_phasefield_side){.kind = GAB_PHASEFIELD_RESERVOIR, .mu = {0.5}};
  phase_run run = open_marked(world, &it, mark_all);
  const gab_phasefield_integrals start = phase_sums(&run);
  picture before = picture_of(&run, 2);
  int merges = 0, splits = 0, rose = 0;
  gab_adapt_report report;
  for (int move = 1; move <= MOVES; move++) {
    for (int round = 0; round <= LEVELS; round++) {
      REQUIRE_OK(gab_phasefield_adapt(run.model, &grid, &report));
      merges += report.grid.merged > 0;
      splits += report.grid.split > 0;
    }
    phase_steps(&run, 5);
    picture above = picture_of(&run, 2);
    rose += crossings(&above, 1).up;
    release(&above);
    REQUIRE_OK(gab_phasefield_shift(run.model, WIDE));
    picture now = picture_of(&run, 2);
    REQUIRE(moved_wrong(&before, &now, 2, move, DEEP - move) < 1e-14);
    release(&now);
  }
  REQUIRE(merges > 0 && splits > 0 && rose > MOVES);
  const gab_phasefield_integrals end = phase_sums(&run);
  double gained[GAB_MOST_INDEPENDENTS];
  REQUIRE_OK(gab_phasefield_ledger(run.model, gained));
  REQUIRE(fabs(end.content[0] - start.content[0] - gained[0]) < 1e-13 * fabs(start.content[0]));
  release(&before);
  phase_close(&run);
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  for (int dimension = 2; dimension <= 3; dimension++) {
    a_linear_field_is_shifted_exactly(world, dimension);
    each_wide_cell_keeps_its_content(world, dimension);
  }
  a_solid_keeps_what_was_frozen_in(world);
  return test_end(&world);
}
