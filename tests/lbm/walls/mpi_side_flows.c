/* gabion-test: np=1,2 timeout=240 labels=quick */
/* A uniform flow at an angle to sides of given velocity stays uniform with all collisions. Called with "print": what each case
 * gives. */
#include "tests/lbm/lbm_common.h"

static bool printing;
static const gab_collision *const collisions[] = {&gab_collision_trt, &gab_collision_srt, &gab_collision_mrt,
                                                  &gab_collision_rr, &gab_collision_smagorinsky};
enum { COLLISIONS = 5 };

typedef struct uniform {
  double velocity[3], worst;
} uniform;

static void compare_cell(void *user, const int64_t cell[3], bool fluid, double density, const double u[3])
{
  uniform *it = user;
  (void)cell;
  (void)fluid;
  it->worst = fmax(it->worst, fabs(density - 1));
  for (int axis = 0; axis < 3; axis++) it->worst = fmax(it->worst, fabs(u[axis] - it->velocity[axis]));
}

/* Inlets and outlets on all sides. @param[in] open  x+ is a pressure side, y+ an outflow */
static void at_an_angle(gab_world *world, const gab_lattice *lattice, const gab_collision *collision,
                        bool open)
{
  const bool deep = lattice->dimension == 3;
  flow_case given = {
      .dimension = lattice->dimension, .cells = {8, 8, deep ? 4 : 1}, .block = {4, 4, deep ? 4 : 1}};
  given.options = (gab_lbm_options){.lattice = lattice, .collision = collision, .omega = 1.3};
  uniform it = {.velocity = {0.06, 0.03, deep ? -0.04 : 0}};
  memcpy(given.options.velocity, it.velocity, sizeof it.velocity);
  for (int side = 0; side < 2 * lattice->dimension; side++) {
    given.options.sides[side] = (gab_side){.kind = GAB_SIDE_VELOCITY};
    memcpy(given.options.sides[side].velocity, it.velocity, sizeof it.velocity);
  }
  if (open) given.options.sides[GAB_SIDE_X_MAX] = (gab_side){.kind = GAB_SIDE_PRESSURE};
  if (open) given.options.sides[GAB_SIDE_Y_MAX] = (gab_side){.kind = GAB_SIDE_OUTFLOW};
  flow moved = flow_open(world, &given);
  flow_run(&moved, 60);
  flow_visit(&moved, compare_cell, &it);
  flow_close(&moved);
  if (printing && gab_world_slot(world) == 0)
    printf("%s, %s, uniform flow at an angle%s: %.2e\n", lattice->name, collision->name, open ? ", open" : "",
           it.worst);
  else CHECK(it.worst < 1e-13);
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  printing = argc > 1 && strcmp(argv[1], "print") == 0;
  for (int l = 0; l < 3; l++)
    for (int c = 0; c < COLLISIONS; c++) {
      const gab_lattice *lattice = gab_lattice_at(l);
      if (collisions[c] == &gab_collision_mrt && lattice == &gab_lattice_d3q27) continue;
      at_an_angle(world, lattice, collisions[c], false);
      at_an_angle(world, lattice, collisions[c], true);
    }
  return test_end(&world);
}
