/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=1,2 timeout=240 */
/* Edges and corners of sides, for every pair of kinds in 2D and every triple in 3D. A case and the same case with
 * exchanged axes give the same flow to rounding; all values stay finite; boxes between walls, lids and free-slip
 * sides conserve mass, and inlets have exactly their inflow. Four lids that rotate one way make four equal corners.
 * Called with "print": results of each case. */
#include "core/messages/collective.h"
#include "tests/lbm/lbm_common.h"

enum { WALL, LID, INLET, PRESSURE, OUTFLOW, SLIP, KINDS, CLOSED = -1 };
enum { SIZE = 6 };
static bool printing;

static bool is_closed(int kind) { return kind == WALL || kind == LID || kind == SLIP; }

static gab_side side_of(int kind, int axis, int dimension, double density)
{
  gab_side made = {.kind = GAB_SIDE_WALL, .density = density};
  if (kind == PRESSURE) made.kind = GAB_SIDE_PRESSURE;
  if (kind == OUTFLOW) made.kind = GAB_SIDE_OUTFLOW;
  if (kind == SLIP) made.kind = GAB_SIDE_FREE_SLIP;
  if (kind == LID || kind == INLET) made.kind = GAB_SIDE_VELOCITY;
  for (int other = 0; other < dimension; other++) {
    if (kind == LID && other != axis) made.velocity[other] = 0.03 + 0.01 * other;
    if (kind == INLET && other == axis) made.velocity[other] = 0.02;
  }
  return made;
}

typedef struct box {
  const gab_lattice *lattice;
  int kinds[3]; /* of x-, y-, z- */
  int order[3]; /* axis a of the case lies along axis order[a] */
  int far;      /* kind of the other sides */
  const char *kernel;
} box;

static flow open_box(gab_world *world, const box *wanted)
{
  const int dimension = wanted->lattice->dimension;
  flow_case given = {
      .dimension = dimension, .cells = {SIZE, SIZE, SIZE}, .block = {SIZE / 2, SIZE / 2, SIZE / 2}};
  if (dimension == 2) given.cells[2] = given.block[2] = 1;
  given.options = (gab_lbm_options){.lattice = wanted->lattice, .omega = 1.4, .kernel = wanted->kernel};
  for (int axis = 0; axis < dimension; axis++)
    for (int end = 0; end < 2; end++) {
      const gab_side made =
          side_of(end ? wanted->far : wanted->kinds[axis], axis, dimension, 1 + 0.001 * axis);
      gab_side *to = &given.options.sides[2 * wanted->order[axis] + end];
      *to = made;
      for (int other = 0; other < dimension; other++)
        to->velocity[wanted->order[other]] = made.velocity[other];
    }
  return flow_open(world, &given);
}

typedef struct state {
  const box *of;
  double value[SIZE][SIZE][SIZE][4];
} state;

static void take(void *user, const int64_t cell[3], bool fluid, double density, const double u[3])
{
  state *it = user;
  int64_t at[3] = {0, 0, 0};
  (void)fluid;
  for (int axis = 0; axis < it->of->lattice->dimension; axis++) at[axis] = cell[it->of->order[axis]];
  double *to = it->value[at[0]][at[1]][at[2]];
  to[0] = density;
  for (int axis = 0; axis < 3; axis++)
    to[1 + axis] = axis < it->of->lattice->dimension ? u[it->of->order[axis]] : 0;
}

enum { VALUES = SIZE * SIZE * SIZE * 4 };

static double mass_of(const flow *it)
{
  gab_lbm_integrals seen;
  REQUIRE_OK(gab_lbm_integrate(it->lbm, false, &seen));
  return seen.mass;
}

/* @param[out] grown  mass gained during the steps */
static void run_box(gab_world *world, const box *wanted, int steps, state *seen, double *grown)
{
  flow it = open_box(world, wanted);
  memset(seen, 0, sizeof *seen);
  seen->of = wanted;
  const double before = mass_of(&it);
  flow_run(&it, steps);
  REQUIRE_OK(gab_lbm_check_finite(it.lbm, NULL));
  *grown = mass_of(&it) - before;
  flow_visit(&it, take, seen);
  flow_close(&it);
  (void)world;
}

static void name_of(const box *it, char *text, size_t capacity)
{
  static const char *const names[] = {"wall", "lid", "inlet", "pressure", "outflow", "free slip"};
  snprintf(text, capacity, "%s: %s, %s%s%s, others %s", it->lattice->name, names[it->kinds[0]],
           names[it->kinds[1]], it->lattice->dimension == 3 ? ", " : "",
           it->lattice->dimension == 3 ? names[it->kinds[2]] : "", names[it->far]);
}

static void expect(const gab_world *world, const box *of, const char *what, double seen, double most)
{
  char name[120];
  name_of(of, name, sizeof name);
  if (printing) {
    if (gab_world_rank(world) == 0 && !(seen < most)) printf("%s: %s %.3e\n", name, what, seen);
    return;
  }
  if (!(seen < most)) fprintf(stderr, "%s: %s %.3e\n", name, what, seen);
  CHECK(seen < most);
}

static void one_box(gab_world *world, box given)
{
  static const int orders[][3] = {{1, 0, 2}, {1, 2, 0}, {0, 2, 1}};
  static state first, other;
  const int dimension = given.lattice->dimension, steps = dimension == 2 ? 40 : 10;
  const double area = dimension == 2 ? SIZE : SIZE * SIZE;
  double grown, again, inflow = 0;
  bool closed = is_closed(given.far);
  for (int axis = 0; axis < 3; axis++) given.order[axis] = axis;
  for (int axis = 0; axis < dimension; axis++) {
    closed = closed && (is_closed(given.kinds[axis]) || given.kinds[axis] == INLET);
    inflow += given.kinds[axis] == INLET ? 0.02 * area * steps : 0;
  }
  run_box(world, &given, steps, &first, &grown);
  if (closed) expect(world, &given, "mass not asked for", fabs(grown - inflow), 1e-11);
  for (int o = 0; o < (dimension == 2 ? 1 : 3); o++) {
    box turned = given;
    memcpy(turned.order, orders[o], sizeof turned.order);
    run_box(world, &turned, steps, &other, &again);
    double away = 0;
    const double *a = &first.value[0][0][0][0], *b = &other.value[0][0][0][0];
    if (gab_members_count(gab_world_members(world)) == 1)
      for (int i = 0; i < VALUES; i++) away = fmax(away, fabs(a[i] - b[i]));
    expect(world, &given, "differs, turned, by", away, 1e-13);
    expect(world, &given, "mass differs, turned, by", fabs(grown - again), 1e-10);
  }
}

static void all_boxes(gab_world *world, const gab_lattice *lattice, int part, int parts)
{
  const bool deep = lattice->dimension == 3;
  int number = 0;
  for (int a = 0; a < KINDS; a++)
    for (int b = a; b < KINDS; b++)
      for (int c = deep ? b : KINDS - 1; c < KINDS; c++)
        for (int far = 0; far < KINDS; far++) {
          if (far != WALL && far != OUTFLOW && (deep || far != PRESSURE)) continue;
          if (number++ % parts == part)
            one_box(world, (box){.lattice = lattice, .kinds = {a, b, c}, .far = far});
        }
}

/* Also with different ramps. */
static void kernels_agree(gab_world *world, const gab_lattice *lattice)
{
  static const char *const kernels[] = {"in_place", "sparse", "vector", "reference"};
  static const int kinds[][3] = {{INLET, LID, PRESSURE}, {OUTFLOW, PRESSURE, SLIP}, {INLET, INLET, LID}};
  for (int k = 0; k < 3; k++) {
    uint64_t wanted = 0, seen;
    for (int i = 0; i < 4; i++) {
      box given = {.lattice = lattice, .order = {0, 1, 2}, .far = OUTFLOW, .kernel = kernels[i]};
      memcpy(given.kinds, kinds[k], sizeof given.kinds);
      flow it = open_box(world, &given);
      flow_run(&it, 9);
      REQUIRE_OK(gab_forest_checksum(it.forest, &seen));
      flow_close(&it);
      if (i == 0) wanted = seen;
      CHECK(seen == wanted);
    }
  }
}

typedef struct corners {
  double density[4];
} corners;

static void take_corner(void *user, const int64_t cell[3], bool fluid, double density, const double u[3])
{
  corners *it = user;
  (void)u;
  if (!fluid || (cell[0] != 0 && cell[0] != 31) || (cell[1] != 0 && cell[1] != 31)) return;
  it->density[(cell[0] > 0) + 2 * (cell[1] > 0)] = density;
}

static void four_lids(gab_world *world)
{
  flow_case given = {.dimension = 2, .cells = {32, 32, 1}, .block = {16, 16, 1}};
  corners it = {{0}};
  given.options.omega = 1 / (0.5 + 3 * 0.1 * 32 / 100);
  for (int side = 0; side < 4; side++) {
    static const double along[4] = {1, -1, -1, 1};
    given.options.sides[side] = (gab_side){.kind = GAB_SIDE_VELOCITY};
    given.options.sides[side].velocity[1 - side / 2] = 0.1 * along[side];
  }
  flow turning = flow_open(world, &given);
  flow_run(&turning, 500);
  flow_visit(&turning, take_corner, &it);
  REQUIRE_OK(gab_world_max_f64(world, it.density, 4));
  for (int i = 1; i < 4; i++) CHECK(fabs(it.density[i] - it.density[0]) < 1e-12);
  if (printing) printf("%.6f %.6f %.6f %.6f\n", it.density[0], it.density[1], it.density[2], it.density[3]);
  flow_close(&turning);
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  printing = argc > 1 && strcmp(argv[1], "print") == 0;
  const bool is_alone = gab_members_count(gab_world_members(world)) == 1;
  four_lids(world);
  all_boxes(world, &gab_lattice_d2q9, 0, 1);
  all_boxes(world, &gab_lattice_d3q19, 0, is_alone ? 1 : 7);
  all_boxes(world, &gab_lattice_d3q27, 0, is_alone ? 5 : 11);
  for (int l = 0; l < 3; l++) kernels_agree(world, gab_lattice_at(l));
  return test_end(&world);
}
