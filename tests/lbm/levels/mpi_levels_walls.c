/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=1,2 timeout=200 */
/* Walls across a border between levels, in the maximum norm. A flow between a fixed and a moving wall is exact to
 * rounding, on all lattices, at walls of the domain and of bodies, interpolated ones at any distance from the cells.
 * A channel is of second order in both components of the velocity, and its friction converges. */
#include "tests/lbm/walls/wall_shear_common.h"

#ifdef _OPENMP
#include <omp.h>
#endif

typedef enum wall_kind { SIDES, BODIES, INTERPOLATED } wall_kind;
static const char *const wall_names[] = {"sides", "bodies", "interpolated"};

typedef struct crossing {
  wall_kind walls;
  const gab_lattice *lattice;
  const gab_collision *collision;
  double omega, offset; /* of the lower wall from the faces of cells, of interpolated bodies */
  bool moves;           /* the upper wall moves, and no force drives the flow */
  int across; /* 0: the border lies across the flow, walls across y; 1: walls across x, the flow along y */
  int levels; /* number of finer levels: 1 or 2 */
  int32_t height;
} crossing;

typedef struct state {
  const crossing *it;
  double floor, width, top, viscosity,
      bulge;                 /* width: between the walls; bulge: parabolic share, at both walls */
  double error[2], friction; /* relative to the largest velocity; relative error of the friction */
} state;

static int wall_axis(const state *of) { return of->it->across ? 0 : 1; }

/* The flow at a position between the walls. */
static double flow_at(const state *of, const double centre[3], double *slope)
{
  const double s = (centre[wall_axis(of)] - of->floor) / of->width;
  *slope = (of->it->moves ? of->top : 4 * of->top * (1 - 2 * s)) / of->width;
  return of->it->moves ? of->top * s : 4 * of->top * s * (1 - s);
}

static bool is_between(const state *of, const double centre[3])
{
  const double s = centre[wall_axis(of)] - of->floor;
  return s > 0 && s < of->width;
}

static void start(void *user, const double centre[3], gab_lbm_state *made)
{
  const state *of = user;
  const int wall = wall_axis(of), along = 1 - wall;
  if (!is_between(of, centre)) return;
  made->velocity[along] = flow_at(of, centre, &made->gradient[along][wall]);
}

/* The first half along the flow is finer, and the fourth in its middle is finer again. */
static gab_mark mark(void *user, int level, const gab_box *cells)
{
  const state *of = user;
  const int along = 1 - wall_axis(of);
  const int32_t length = of->it->height << level;
  if (level >= of->it->levels) return GAB_MARK_KEEP;
  if (level == 0) return cells->lo[along] < length / 2 ? GAB_MARK_REFINE : GAB_MARK_KEEP;
  return cells->lo[along] >= length / 8 && cells->lo[along] < 3 * length / 8 ? GAB_MARK_REFINE
                                                                             : GAB_MARK_KEEP;
}

static void see_friction(void *user, const sight *at)
{
  state *of = user;
  const double expected = of->viscosity * (of->it->moves ? 1 : 4) * of->top / of->width;
  const double seen = at->shear[1 - wall_axis(of)];
  if (!isnan(seen)) of->friction = fmax(of->friction, fabs(fabs(seen) / expected - 1));
}

static void find_errors(const view *seen, state *of)
{
  const int32_t *cells = gab_forest_get_options(seen->it.forest)->cells;
  const gab_box box = {{0, 0, 0}, {cells[0], cells[1], cells[2]}};
  const size_t count = (size_t)cells[0] * (size_t)cells[1] * (size_t)cells[2];
  const int along = 1 - wall_axis(of);
  double *velocity = malloc(3 * count * sizeof *velocity);
  REQUIRE(velocity);
  for (size_t b = 0; b < gab_forest_block_count(seen->it.forest); b++) {
    const gab_block *block = gab_forest_block(seen->it.forest, b);
    REQUIRE_OK(gab_lbm_macroscopic(seen->it.lbm, block, &box, NULL, velocity));
    for (size_t i = 0; i < count; i++) {
      double centre[3], slope;
      gab_block_cell_centre(seen->it.forest, block, (int32_t)(i % (size_t)cells[0]),
                            (int32_t)(i / (size_t)cells[0] % (size_t)cells[1]),
                            (int32_t)(i / (size_t)cells[0] / (size_t)cells[1]), centre);
      if (!is_between(of, centre)) continue;
      const double *u = &velocity[3 * i];
      of->error[0] = fmax(of->error[0], fabs(u[along] - flow_at(of, centre, &slope)) / of->top);
      of->error[1] = fmax(of->error[1], fabs(u[1 - along]) / of->top);
    }
  }
  free(velocity);
}

/* Runs the case to its steady state. */
static state run(gab_world *world, const crossing *it)
{
  const int dimension = it->lattice->dimension;
  const int32_t height = it->height, beyond = it->walls == SIDES ? 0 : height / 4;
  const double far = 1000;
  state of = {.it = it, .width = height - it->offset, .floor = beyond + it->offset};
  of.viscosity = (1 / it->omega - 0.5) / 3;
  of.top = it->moves ? 1e-6 : 0.1 / height;
  const int wall = wall_axis(&of), along = 1 - wall;
  gab_body bodies[2] = {{.shape = GAB_SHAPE_BOX, .lo = {-far, -far, -far}, .hi = {far, far, far}},
                        {.shape = GAB_SHAPE_BOX, .lo = {-far, -far, -far}, .hi = {far, far, far}}};
  bodies[0].hi[wall] = of.floor;
  bodies[1].lo[wall] = of.floor + of.width;
  for (int i = 0; i < 2 && it->walls == INTERPOLATED; i++) bodies[i].wall = GAB_WALL_INTERPOLATED;
  flow_case given = {.dimension = dimension, .bodies = bodies, .body_count = it->walls == SIDES ? 0 : 2};
  const int32_t cells[2] = {height + 2 * beyond, height},
                block[2] = {height > 16 ? height / 4 : 4, height > 32 ? height / 8 : 4};
  given.cells[wall] = cells[0];
  given.cells[along] = cells[1];
  given.block[wall] = block[0];
  given.block[along] = block[1];
  given.cells[2] = given.block[2] = dimension == 3 ? 4 : 1;
  given.options = (gab_lbm_options){.lattice = it->lattice,
                                    .collision = it->collision,
                                    .omega = it->omega,
                                    .initial = start,
                                    .initial_user = &of};
  if (it->collision == &gab_collision_trt) given.options.magic = 3. / 16;
  if (it->walls == SIDES)
    for (int side = 2 * wall; side < 2 * wall + 2; side++) given.options.sides[side].kind = GAB_SIDE_WALL;
  gab_side *upper = &given.options.sides[2 * wall + 1];
  if (!it->moves) given.options.force[along] = 8 * of.viscosity * of.top / (of.width * of.width);
  else if (it->walls == SIDES) {
    upper->kind = GAB_SIDE_VELOCITY;
    upper->velocity[along] = of.top;
  } else bodies[1].velocity[along] = of.top;
  view seen = open_view_on(world, &given, mark, &of, it->levels);
  flow_run(&seen.it, (int)(0.6 * height * height / of.viscosity));
  find_errors(&seen, &of);
  visit(&seen, see_friction, &of);
  double most[3] = {of.error[0], of.error[1], of.friction};
  REQUIRE_OK(gab_world_max_f64(world, most, 3));
  of.error[0] = most[0];
  of.error[1] = most[1];
  of.friction = most[2];
  close_view(&seen);
  return of;
}

/* ---------------------------------------------------------------- flows between a fixed and a moving wall */

static void linear_flows_are_exact(gab_world *world)
{
  const gab_collision *trt = &gab_collision_trt, *rr = &gab_collision_rr;
  const gab_lattice *d2 = &gab_lattice_d2q9, *d19 = &gab_lattice_d3q19, *d27 = &gab_lattice_d3q27;
  const crossing all[] = {
      {SIDES, d2, trt, 1.2, .moves = true, .levels = 1, .height = 16},
      {INTERPOLATED, d2, trt, 1.4, .moves = true, .levels = 1, .height = 16},
      {SIDES, d2, trt, 1.7, .moves = true, .across = 1, .levels = 1, .height = 16},
      {BODIES, d2, trt, 0.9, .moves = true, .levels = 1, .height = 16},
      {SIDES, d2, trt, 1, .moves = true, .levels = 2, .height = 16},
      {INTERPOLATED, d2, trt, 1.2, 0.2, .moves = true, .levels = 1, .height = 8},
      {INTERPOLATED, d2, rr, 1.4, 0.4, .moves = true, .levels = 1, .height = 16},
      {INTERPOLATED, d2, trt, 1.2, 0.6, .moves = true, .levels = 1, .height = 16},
      {INTERPOLATED, d2, trt, 1.2, 0.7, .moves = true, .across = 1, .levels = 1, .height = 8},
      {INTERPOLATED, d2, trt, 1, 0.8, .moves = true, .levels = 2, .height = 16},
      {INTERPOLATED, d19, trt, 1.2, 0.4, .moves = true, .levels = 1, .height = 8},
      {INTERPOLATED, d27, trt, 1.2, 0.6, .moves = true, .levels = 1, .height = 8},
      {SIDES, d19, trt, 1.2, .moves = true, .levels = 1, .height = 8},
      {BODIES, d27, rr, 1.2, .moves = true, .across = 1, .levels = 1, .height = 8}};
  /* On several processes, which wait for each other in many small steps, one case is enough. */
  const size_t count = gab_world_processes(world) == 1 ? sizeof all / sizeof all[0] : 1;
  for (size_t k = 0; k < count; k++) {
    crossing it = all[k];
    if (count == 1) it.height = 8;
    const state of = run(world, &it);
    const double most = fmax(fmax(of.error[0], of.error[1]), of.friction);
    if (!(most < 1e-6))
      printf("%s at %g, %s, omega %g: u %.1e, v %.1e, friction %.1e\n", wall_names[all[k].walls],
             all[k].offset, all[k].lattice->name, all[k].omega, of.error[0], of.error[1], of.friction);
    CHECK(most < 1e-6);
  }
}

/* ---------------------------------------------------------------- channels */

static void channels_converge(gab_world *world)
{
  const gab_collision *trt = &gab_collision_trt, *mrt = &gab_collision_mrt, *rr = &gab_collision_rr;
  const gab_lattice *d2 = &gab_lattice_d2q9, *d19 = &gab_lattice_d3q19;
  /* Blocks over 8 cells are as large as over 16, so the order is that of more cells with one-sided slopes. */
  const struct {
    crossing it;               /* with the smaller height */
    double order, v, friction; /* v and friction at twice the height */
  } all[] = {{{SIDES, d2, trt, 1.2, .levels = 1, .height = 16}, 1.8, 4.5e-4, 4.7e-3},
             {{BODIES, d2, mrt, 1.2, .across = 1, .levels = 1, .height = 16}, 1.8, 9e-4, 3.8e-3},
             {{INTERPOLATED, d2, rr, 1.2, .levels = 1, .height = 16}, 1.8, 4.5e-4, 5.2e-3},
             {{INTERPOLATED, d2, trt, 1.2, 0.4, .levels = 1, .height = 16}, 1.8, 9e-4, 2.5e-2},
             {{INTERPOLATED, d2, trt, 1.7, 0.6, .levels = 1, .height = 16}, 1.8, 2.3e-3, 4e-2},
             {{SIDES, d2, trt, 1, .levels = 2, .height = 16}, 1.8, 3.6e-4, 4e-3},
             {{SIDES, d19, trt, 1.2, .levels = 1, .height = 8}, 1.6, 1.6e-3, 9.5e-3}};
  for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) {
    state of[2];
    for (int i = 0; i < 2; i++) {
      crossing it = all[k].it;
      it.height <<= i;
      of[i] = run(world, &it);
    }
    const bool holds = log2(of[0].error[0] / of[1].error[0]) > 1.8 &&
                       log2(of[0].error[1] / of[1].error[1]) > all[k].order &&
                       log2(of[0].friction / of[1].friction) > 0.85 && of[1].error[1] < all[k].v &&
                       of[1].friction < all[k].friction;
    if (!holds)
      for (int i = 0; i < 2; i++)
        printf("%s, %s, height %d: u %.2e, v %.2e, friction %.2e\n", wall_names[all[k].it.walls],
               all[k].it.lattice->name, (int)all[k].it.height << i, of[i].error[0], of[i].error[1],
               of[i].friction);
    CHECK(holds);
  }
}

/* Figures for readers: called with "print". */
static void print_all(gab_world *world, int32_t highest)
{
  const gab_collision *collisions[] = {&gab_collision_trt, &gab_collision_mrt, &gab_collision_rr};
  const gab_lattice *lattices[] = {&gab_lattice_d2q9, &gab_lattice_d3q19};
  const struct {
    wall_kind walls;
    double offset;
    bool moves;
    int collision, lattice, levels;
    double omega;
  } all[] = {{SIDES, 0, false, 0, 0, 1, 1.2},          {SIDES, 0, false, 0, 0, 1, 1.7},
             {SIDES, 0, false, 1, 0, 1, 1.2},          {SIDES, 0, false, 2, 0, 1, 1.2},
             {BODIES, 0, false, 0, 0, 1, 1.2},         {SIDES, 0, false, 0, 0, 2, 1},
             {SIDES, 0, true, 0, 0, 1, 1.2},           {SIDES, 0, true, 0, 0, 2, 1},
             {INTERPOLATED, 0, false, 0, 0, 1, 1.2},   {INTERPOLATED, 0.2, false, 0, 0, 1, 1.2},
             {INTERPOLATED, 0.4, false, 0, 0, 1, 1.2}, {INTERPOLATED, 0.6, false, 0, 0, 1, 1.2},
             {INTERPOLATED, 0.8, false, 0, 0, 1, 1.2}, {INTERPOLATED, 0.4, true, 0, 0, 1, 1.2},
             {INTERPOLATED, 0.2, false, 0, 0, 1, 1.7}, {INTERPOLATED, 0.4, false, 0, 0, 1, 1.7},
             {INTERPOLATED, 0.6, false, 0, 0, 1, 1.7}, {INTERPOLATED, 0.8, false, 0, 0, 1, 1.7},
             {INTERPOLATED, 0.4, false, 2, 0, 1, 1.2}, {INTERPOLATED, 0.4, false, 1, 0, 1, 1.2},
             {SIDES, 0, false, 0, 1, 1, 1.2},          {INTERPOLATED, 0.4, false, 0, 1, 1, 1.2}};
  for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) {
    state before = {.top = 0};
    for (int32_t height = 8 * all[k].levels; height <= highest && (height <= 16 || all[k].lattice == 0);
         height *= 2) {
      const crossing it = {.walls = all[k].walls,
                           .lattice = lattices[all[k].lattice],
                           .collision = collisions[all[k].collision],
                           .omega = all[k].omega,
                           .offset = all[k].offset,
                           .moves = all[k].moves,
                           .levels = all[k].levels,
                           .height = height};
      const state of = run(world, &it);
      printf("%-12s %.1f %s %s %s levels %d omega %.1f height %2d: u %.2e v %.2e friction %.2e",
             wall_names[it.walls], it.offset, it.moves ? "moves" : "rests", it.lattice->name,
             it.collision->name, it.levels + 1, it.omega, (int)height, of.error[0], of.error[1], of.friction);
      if (before.top > 0)
        printf("; orders %.2f %.2f %.2f", log2(before.error[0] / of.error[0]),
               log2(before.error[1] / of.error[1]), log2(before.friction / of.friction));
      printf("\n");
      fflush(stdout);
      before = of;
    }
  }
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
#ifdef _OPENMP
  omp_set_num_threads(1); /* the grids are small, and many tests run at once */
#endif
  if (argc > 2 && strcmp(argv[1], "print") == 0) print_all(world, atoi(argv[2]));
  else {
    linear_flows_are_exact(world);
    if (gab_world_processes(world) == 1) channels_converge(world);
  }
  return test_end(&world);
}
