/* SPDX-License-Identifier: Apache-2.0 */
/* A state is restored only by a flow of the same arithmetic, for any kernel and any length of the title; with levels
 * only by one of the same coupling. A state without a revision is restored only by a flow on one level.
 * gabion-test: np=1 timeout=30 uses=lbm labels=quick */
#include "tests/lbm/lbm_common.h"

static flow_case flow_of(gab_precision precision, bool mixed, const gab_collision *collision,
                         const char *kernel)
{
  return (flow_case){
      .dimension = 2,
      .cells = {8, 8, 1},
      .block = {8, 8, 1},
      .options = {
          .precision = precision, .mixed = mixed, .collision = collision, .kernel = kernel, .omega = 1.5}};
}

static gab_status take_up(gab_world *world, const flow_case *from, const flow_case *to)
{
  gab_buffer record;
  gab_buffer_init(&record, GAB_MEMORY_OTHER);
  flow source = flow_open(world, from);
  REQUIRE_OK(gab_lbm_put_arithmetic(source.lbm, &record));
  flow_close(&source);
  flow target = flow_open(world, to);
  gab_reader in = gab_reader_of_buffer(&record);
  gab_status status = gab_lbm_check_arithmetic(target.lbm, &in);
  REQUIRE(gab_reader_left(&in) == 0);
  flow_close(&target);
  gab_buffer_release(&record);
  return status;
}

/* Revisions follow the title, which may be long. */
static void long_titles(gab_world *world)
{
  static const char title[] =
      "a_model_whose_title_is_longer_than_any_line_of_sixty_four_characters_that_a_record_could_have_been_cut_to";
  gab_collision first = gab_collision_trt, second;
  first.title = title;
  first.revision = 41;
  second = first;
  second.revision = 42;
  const flow_case cases[2] = {flow_of(GAB_PRECISION_DOUBLE, false, &first, NULL),
                              flow_of(GAB_PRECISION_DOUBLE, false, &second, NULL)};
  for (int i = 0; i < 2; i++)
    for (int k = 0; k < 2; k++)
      REQUIRE(take_up(world, &cases[i], &cases[k]) == (i == k ? GAB_OK : GAB_ERR_INPUT));
  REQUIRE(take_up(world, &cases[0], &cases[1]) == GAB_ERR_INPUT);
  REQUIRE(strstr(gab_error_message(), "revision 41") && strstr(gab_error_message(), "revision 42"));
}

/* @return result of restoring a record @param[in] given  its text; @param[in] cut  number of missing bytes at its end */
static gab_status take_up_text(gab_world *world, const flow_case *to, const char *given, size_t cut)
{
  gab_buffer record;
  gab_buffer_init(&record, GAB_MEMORY_OTHER);
  REQUIRE_OK(gab_put_string(&record, given));
  flow target = flow_open(world, to);
  gab_reader in = gab_reader_of(record.data, record.size - cut);
  const gab_status status = gab_lbm_check_arithmetic(target.lbm, &in);
  flow_close(&target);
  gab_buffer_release(&record);
  return status;
}

static void levels(gab_world *world)
{
  const flow_case one = flow_of(GAB_PRECISION_DOUBLE, false, &gab_collision_trt, NULL);
  flow_case several = one;
  char before[80], first[100];
  several.options.deepest = 2;
  REQUIRE(take_up(world, &several, &several) == GAB_OK);
  REQUIRE(take_up(world, &one, &several) == GAB_ERR_INPUT && take_up(world, &several, &one) == GAB_ERR_INPUT);
  REQUIRE(strstr(gab_error_message(), ", levels revision "));
  snprintf(before, sizeof before, "D2Q9/double/TRT, revision %d", gab_collision_trt.revision);
  snprintf(first, sizeof first, "%s, levels revision 1", before);
  REQUIRE(take_up_text(world, &one, before, 0) == GAB_OK);
  REQUIRE(take_up_text(world, &several, before, 0) == GAB_ERR_INPUT);
  REQUIRE(take_up_text(world, &several, first, 0) == GAB_ERR_INPUT);
  REQUIRE(take_up_text(world, &one, before, 1) == GAB_ERR_CORRUPT);
  /* Lattices with directions along space diagonals have a revision higher by one, and so have ramps, equilibria beyond
   * second order, open sides and interpolated bodies. */
  const gab_body ball = {
      .shape = GAB_SHAPE_SPHERE, .wall = GAB_WALL_INTERPOLATED, .centre = {2, 2, 2}, .radius = 1.3};
  for (int variant = 0; variant < 32; variant++)
    for (int revision = 1; revision <= 12; revision++) {
      const int full = variant % 2, ramp = variant / 2 % 2, beyond = variant / 4 % 2, open = variant / 8 % 2,
                body = variant / 16;
      const gab_collision *collision = beyond ? &gab_collision_rr : &gab_collision_trt;
      flow_case space = several;
      space.dimension = 3;
      space.cells[2] = space.block[2] = 4;
      space.options.lattice = full ? &gab_lattice_d3q27 : &gab_lattice_d3q19;
      space.options.collision = collision;
      for (int axis = 0; axis < 3; axis++)
        space.options.sides[2 * axis].kind = space.options.sides[2 * axis + 1].kind = GAB_SIDE_WALL;
      space.options.sides[GAB_SIDE_X_MIN] = (gab_side){.kind = GAB_SIDE_VELOCITY, .ramp_steps = 9.0 * ramp};
      space.options.sides[GAB_SIDE_X_MAX].ramp_steps = 9; /* without effect for a wall */
      if (open) space.options.sides[GAB_SIDE_Y_MAX].kind = GAB_SIDE_OUTFLOW;
      space.bodies = &ball;
      space.body_count = (size_t)body;
      snprintf(first, sizeof first, "%s/double/%s, revision %d, levels revision %d%s%s",
               space.options.lattice->name, collision->title, collision->revision, revision,
               body && !open ? ", walls revision 2" : "", open ? ", sides revision 2" : "");
      REQUIRE(take_up_text(world, &space, first, 0) ==
              (revision == 6 + full + ramp + beyond + open + body ? GAB_OK : GAB_ERR_INPUT));
    }
  /* The geometry sets the revision, too. */
  gab_forest_options options = {.grid = {.dimension = 2, .roots = {1, 1, 1}},
                                .dx = 1,
                                .cells = {8, 8, 1},
                                .periodic = {true, true, true}};
  gab_domain domain = gab_lbm_domain(&options);
  domain.deepest = 1;
  flow it = {0};
  gab_buffer record;
  gab_buffer_init(&record, GAB_MEMORY_OTHER);
  REQUIRE_OK(gab_geometry_create(&domain, NULL, 0, &it.geometry));
  REQUIRE_OK(gab_forest_create(world, &options, &it.forest));
  REQUIRE_OK(gab_lbm_create(it.forest, it.geometry, &one.options, &it.lbm));
  REQUIRE_OK(gab_lbm_put_arithmetic(it.lbm, &record));
  flow_close(&it);
  flow target = flow_open(world, &several);
  gab_reader in = gab_reader_of_buffer(&record);
  REQUIRE_OK(gab_lbm_check_arithmetic(target.lbm, &in));
  flow_close(&target);
  gab_buffer_release(&record);
}

/* A flow that balances the mass of its walls refuses a state of a version without the balance. */
static void walls(gab_world *world)
{
  const gab_body body = {
      .shape = GAB_SHAPE_SPHERE, .wall = GAB_WALL_INTERPOLATED, .centre = {4, 4, 0}, .radius = 2.2};
  flow_case closed = flow_of(GAB_PRECISION_DOUBLE, false, &gab_collision_trt, NULL);
  closed.bodies = &body;
  closed.body_count = 1;
  flow_case open = closed;
  for (int side = 0; side < 4; side++) open.options.sides[side].kind = GAB_SIDE_PRESSURE;
  char before[80], sided[100];
  snprintf(before, sizeof before, "D2Q9/double/TRT, revision %d", gab_collision_trt.revision);
  snprintf(sided, sizeof sided, "%s, sides revision 2", before);
  REQUIRE(take_up_text(world, &closed, before, 0) == GAB_ERR_INPUT);
  REQUIRE(strstr(gab_error_message(), ", walls revision 1"));
  REQUIRE_OK(take_up_text(world, &open, sided, 0));
  REQUIRE(take_up(world, &closed, &closed) == GAB_OK && take_up(world, &open, &closed) == GAB_ERR_INPUT);
}

/* Whether a flow with such sides accepts a state without a revision of the sides. */
static void takes_up(gab_world *world, const gab_side given[4], bool expected)
{
  flow_case it = flow_of(GAB_PRECISION_DOUBLE, false, &gab_collision_trt, NULL);
  char before[80];
  memcpy(it.options.sides, given, 4 * sizeof *given);
  snprintf(before, sizeof before, "D2Q9/double/TRT, revision %d", gab_collision_trt.revision);
  REQUIRE(take_up_text(world, &it, before, 0) == (expected ? GAB_OK : GAB_ERR_INPUT));
  if (!expected) REQUIRE(strstr(gab_error_message(), ", sides revision 2"));
  REQUIRE_OK(take_up(world, &it, &it));
}

/* The bits of walls, free-slip sides and a lid that meets only these are unchanged; those of open sides, inlets and lids
 * that meet are not. */
static void sides(gab_world *world)
{
  static const gab_side wall = {.kind = GAB_SIDE_WALL}, slip = {.kind = GAB_SIDE_FREE_SLIP},
                        pressure = {.kind = GAB_SIDE_PRESSURE}, outflow = {.kind = GAB_SIDE_OUTFLOW},
                        lid_of_x = {.kind = GAB_SIDE_VELOCITY, .velocity = {0, 0.01, 0}},
                        lid_of_y = {.kind = GAB_SIDE_VELOCITY, .velocity = {0.01, 0, 0}},
                        inlet = {.kind = GAB_SIDE_VELOCITY, .velocity = {0.01, 0, 0}};
  takes_up(world, (const gab_side[]){wall, wall, slip, lid_of_y}, true);
  takes_up(world, (const gab_side[]){slip, slip, lid_of_y, lid_of_y}, true);
  takes_up(world, (const gab_side[]){lid_of_x, wall, wall, lid_of_y}, false);
  takes_up(world, (const gab_side[]){inlet, inlet, wall, wall}, false);
  takes_up(world, (const gab_side[]){wall, pressure, wall, wall}, false);
  takes_up(world, (const gab_side[]){wall, outflow, wall, wall}, false);
}

/* The entity of a flow contains the number of steps, and is refused by a flow of another arithmetic. */
static void entity(gab_world *world)
{
  const flow_case one = flow_of(GAB_PRECISION_DOUBLE, false, &gab_collision_trt, NULL);
  const flow_case other = flow_of(GAB_PRECISION_DOUBLE, false, &gab_collision_srt, NULL);
  gab_buffer record;
  gab_buffer_init(&record, GAB_MEMORY_OTHER);
  flow source = flow_open(world, &one);
  gab_lbm_set_step(source.lbm, 77);
  gab_entity state = gab_lbm_entity(source.lbm);
  REQUIRE(strcmp(state.name, "flow") == 0 && state.kind == GAB_ENTITY_REPLICATED);
  REQUIRE_OK(state.pack(state.user, &record));
  flow_close(&source);
  flow target = flow_open(world, &one);
  state = gab_lbm_entity(target.lbm);
  gab_reader in = gab_reader_of_buffer(&record);
  REQUIRE_OK(state.unpack(state.user, &in));
  REQUIRE(gab_reader_left(&in) == 0 && gab_lbm_get_step(target.lbm) == 77);
  flow_close(&target);
  target = flow_open(world, &other);
  state = gab_lbm_entity(target.lbm);
  in = gab_reader_of_buffer(&record);
  REQUIRE(state.unpack(state.user, &in) == GAB_ERR_INPUT && gab_lbm_get_step(target.lbm) == 0);
  flow_close(&target);
  gab_buffer_release(&record);
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  const flow_case cases[] = {flow_of(GAB_PRECISION_DOUBLE, false, &gab_collision_trt, NULL),
                             flow_of(GAB_PRECISION_FLOAT, false, &gab_collision_trt, NULL),
                             flow_of(GAB_PRECISION_FLOAT, true, &gab_collision_trt, NULL),
                             flow_of(GAB_PRECISION_DOUBLE, false, &gab_collision_srt, NULL),
                             flow_of(GAB_PRECISION_DOUBLE, false, &gab_collision_mrt, NULL)};
  enum { CASES = sizeof cases / sizeof cases[0] };
  for (int i = 0; i < CASES; i++)
    for (int k = 0; k < CASES; k++)
      REQUIRE(take_up(world, &cases[i], &cases[k]) == (i == k ? GAB_OK : GAB_ERR_INPUT));
  REQUIRE(take_up(world, &cases[2], &cases[4]) == GAB_ERR_INPUT);
  REQUIRE(strstr(gab_error_message(), "D2Q9/mixed/TRT") && strstr(gab_error_message(), "D2Q9/double/MRT"));
  const flow_case other = flow_of(GAB_PRECISION_DOUBLE, false, &gab_collision_trt, "reference");
  REQUIRE_OK(take_up(world, &cases[0], &other));
  long_titles(world);
  entity(world);
  levels(world);
  walls(world);
  sides(world);
  return test_end(&world);
}
