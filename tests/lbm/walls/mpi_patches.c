/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=1,3 timeout=120 */
/* Patches: one over the whole of a side equals that side to the last bit; inflow through them is their flow rate;
 * closed boxes with patches conserve mass; areas and flow rates add up to those of the side; all kernels give the
 * same bits. */
#include "core/messages/collective.h"
#include "lbm/sides/patch.h"
#include "lbm/boundaries/shapes/shapes_impl.h"
#include "tests/lbm/lbm_common.h"

enum { X = 12, Y = 24, Z = 16 };

static flow_case box_of(int dimension)
{
  flow_case given = {.dimension = dimension,
                     .cells = {X, Y, dimension == 2 ? 1 : Z},
                     .block = {6, 8, dimension == 2 ? 1 : 8},
                     .options = {.omega = 1.2}};
  for (int side = 0; side < 2 * dimension; side++) given.options.sides[side].kind = GAB_SIDE_WALL;
  return given;
}

static gab_domain domain_of(const flow_case *given)
{
  gab_domain made = {.dimension = given->dimension, .dx = 1};
  for (int axis = 0; axis < 3; axis++) {
    made.cells[axis] = given->cells[axis];
    made.periodic[axis] = given->options.sides[2 * axis].kind == GAB_SIDE_PERIODIC;
  }
  return made;
}

static gab_patch box_patch(int side, double lo, double hi, gab_side condition)
{
  gab_patch made = {.name = "box", .path = "box", .side = side, .condition = condition};
  for (int axis = 0; axis < 3; axis++) {
    made.lo[axis] = lo;
    made.hi[axis] = hi;
  }
  return made;
}

static void use(flow_case *given, gab_patches *patches)
{
  const gab_domain domain = domain_of(given);
  REQUIRE_OK(gab_patches_complete(patches, &domain));
  given->options.patches = patches;
}

static double mass_of(flow *it)
{
  gab_lbm_integrals now;
  REQUIRE_OK(gab_lbm_integrate(it->lbm, false, &now));
  return now.mass;
}

static void set_rates(flow *it)
{
  gab_side_sums sums[GAB_MOST_CONDITIONS];
  REQUIRE_OK(gab_lbm_sum_sides(it->lbm, sums));
  REQUIRE_OK(gab_lbm_set_flow_rates(it->lbm, sums, NULL));
}

static uint64_t hash_after(gab_world *world, const flow_case *given, int steps)
{
  flow it = flow_open(world, given);
  set_rates(&it);
  flow_run(&it, steps);
  uint64_t hash = flow_hash(&it);
  REQUIRE_OK(gab_lbm_check_finite(it.lbm, NULL));
  REQUIRE_OK(gab_world_sum_u64(world, &hash, 1));
  flow_close(&it);
  return hash;
}

/* ---------------------------------------------------------------- over the whole side */

static void a_patch_may_be_the_side(gab_world *world, int dimension, gab_side inlet, gab_side outlet)
{
  static gab_patches patches;
  flow_case as_side = box_of(dimension), as_patch = box_of(dimension);
  as_side.options.initial = as_patch.options.initial = dimension == 2 ? noisy_plane : noisy_state;
  as_side.options.sides[GAB_SIDE_X_MIN] = inlet;
  as_side.options.sides[GAB_SIDE_X_MAX] = outlet;
  patches = (gab_patches){
      .count = 2,
      .list = {box_patch(GAB_SIDE_X_MIN, -1, 99, inlet), box_patch(GAB_SIDE_X_MAX, -1, 99, outlet)}};
  use(&as_patch, &patches);
  CHECK(patches.side_faces[GAB_SIDE_X_MIN] == 0);
  CHECK(hash_after(world, &as_side, 12) == hash_after(world, &as_patch, 12));
}

static void patches_may_be_sides(gab_world *world)
{
  static const gab_profile profiles[] = {GAB_PROFILE_CONSTANT, GAB_PROFILE_PARABOLIC, GAB_PROFILE_DUCT};
  const gab_side pressure = {.kind = GAB_SIDE_PRESSURE, .density = 1.01},
                 outflow = {.kind = GAB_SIDE_OUTFLOW, .density = 1, .ramp_steps = 5},
                 slip = {.kind = GAB_SIDE_FREE_SLIP};
  for (int dimension = 2; dimension <= 3; dimension++) {
    for (int i = 0; i < 3; i++)
      a_patch_may_be_the_side(
          world, dimension,
          (gab_side){
              .kind = GAB_SIDE_VELOCITY, .velocity = {0.02, 0.01}, .profile = profiles[i], .ramp_steps = 7},
          i == 1 ? outflow : pressure);
    a_patch_may_be_the_side(world, dimension,
                            (gab_side){.kind = GAB_SIDE_VELOCITY, .velocity = {0.02}, .flow_rate = 0.3},
                            outflow);
    a_patch_may_be_the_side(world, dimension, slip, pressure);
  }
}

/* ---------------------------------------------------------------- mass */

/* A jet and two vents, one of them behind the other, next to free slip; all surrounded by walls. */
static gab_patches jet_and_vents(int dimension)
{
  gab_patches made = {.count = 4};
  made.list[0] =
      (gab_patch){.name = "jet",
                  .side = GAB_SIDE_X_MIN,
                  .region = GAB_PATCH_DISC,
                  .centre = {0, 11, 7},
                  .radius = 3.2,
                  .condition = {.kind = GAB_SIDE_VELOCITY,
                                .velocity = {0.01},
                                .profile = dimension == 3 ? GAB_PROFILE_PARABOLIC : GAB_PROFILE_CONSTANT,
                                .flow_rate = 0.2}};
  made.list[1] = box_patch(GAB_SIDE_Y_MAX, 2, 7,
                           (gab_side){.kind = GAB_SIDE_VELOCITY, .velocity = {0, 0.01}, .flow_rate = -0.15});
  made.list[2] = box_patch(GAB_SIDE_Y_MAX, 5, 11,
                           (gab_side){.kind = GAB_SIDE_VELOCITY, .velocity = {0, 0.01}, .flow_rate = -0.05});
  made.list[3] = box_patch(GAB_SIDE_X_MIN, 13, 18, (gab_side){.kind = GAB_SIDE_FREE_SLIP});
  return made;
}

static void boxes_keep_their_mass(gab_world *world, int dimension, const char *kernel)
{
  static gab_patches patches;
  flow_case given = box_of(dimension);
  patches = jet_and_vents(dimension);
  given.options.kernel = kernel;
  given.options.initial = dimension == 2 ? noisy_plane : noisy_state;
  use(&given, &patches);
  flow it = flow_open(world, &given);
  set_rates(&it);
  const double before = mass_of(&it);
  flow_run(&it, 40);
  REQUIRE_NEAR(mass_of(&it) / before, 1, 1e-13);
  flow_close(&it);
}

/* Inflow and outflow of a patch that moves in its plane are equal: within a side, at its edges, next to another patch
 * and next to free slip. */
static void patches_that_move_along_themselves_keep_the_mass(gab_world *world, const gab_lattice *lattice)
{
  static gab_patches patches;
  flow_case given = box_of(lattice->dimension);
  const double across = lattice->dimension == 3 ? -0.02 : 0;
  given.options.lattice = lattice;
  patches =
      (gab_patches){.count = 4,
                    .list = {box_patch(GAB_SIDE_Y_MAX, 3, 9,
                                       (gab_side){.kind = GAB_SIDE_VELOCITY, .velocity = {0.05, 0, across}}),
                             box_patch(GAB_SIDE_X_MIN, -1, 9,
                                       (gab_side){.kind = GAB_SIDE_VELOCITY, .velocity = {0, 0.05, across}}),
                             box_patch(GAB_SIDE_X_MIN, 4, 16,
                                       (gab_side){.kind = GAB_SIDE_VELOCITY, .velocity = {0, -0.03, across}}),
                             box_patch(GAB_SIDE_X_MIN, -1, 30, (gab_side){.kind = GAB_SIDE_FREE_SLIP})}};
  use(&given, &patches);
  flow it = flow_open(world, &given);
  const double before = mass_of(&it);
  flow_run(&it, 1);
  REQUIRE_NEAR(mass_of(&it) / before, 1, 1e-14);
  flow_run(&it, 40);
  REQUIRE_NEAR(mass_of(&it) / before, 1, 1e-13);
  flow_close(&it);
}

/* ---------------------------------------------------------------- sums */

/* Two patches that partition a side, each with one step: 2D, faces 0 to 9 and 10 to 23. */
static void parts_add_up_to_the_side(gab_world *world)
{
  static gab_patches patches;
  const gab_side inlet = {.kind = GAB_SIDE_VELOCITY, .velocity = {0.02}, .profile = GAB_PROFILE_FORMULA};
  flow_case whole = box_of(2), parts = box_of(2);
  whole.options.sides[GAB_SIDE_X_MIN] = parts.options.sides[GAB_SIDE_X_MIN] = inlet;
  gab_expression *shape;
  REQUIRE_OK(gab_expression_create("1 + sin(y / 5)", "x|y|z", NULL, 0, &shape));
  whole.options.sides[GAB_SIDE_X_MIN].shape = parts.options.sides[GAB_SIDE_X_MIN].shape = shape;
  patches = (gab_patches){.count = 1,
                          .list = {box_patch(GAB_SIDE_X_MIN, -1, 10, whole.options.sides[GAB_SIDE_X_MIN])}};
  use(&parts, &patches);
  gab_side_sums all[GAB_MOST_CONDITIONS], some[GAB_MOST_CONDITIONS];
  flow one = flow_open(world, &whole), two = flow_open(world, &parts);
  REQUIRE_OK(gab_lbm_sum_sides(one.lbm, all));
  REQUIRE_OK(gab_lbm_sum_sides(two.lbm, some));
  CHECK(gab_exact_value(&all[0].area) == 24 && gab_exact_value(&some[0].area) == 14 &&
        gab_exact_value(&some[6].area) == 10);
  REQUIRE_NEAR(gab_exact_value(&some[0].flow) + gab_exact_value(&some[6].flow), gab_exact_value(&all[0].flow),
               1e-15);
  CHECK(gab_lbm_passes_fluid(two.lbm, 6) && gab_exact_value(&some[6].wetted) == 2);
  flow_close(&one);
  flow_close(&two);
  CHECK(hash_after(world, &whole, 12) == hash_after(world, &parts, 12));
  gab_expression_destroy(&shape);
}

/* ---------------------------------------------------------------- kernels, numbers, refusals */

static void kernels_give_the_same_bits(gab_world *world)
{
  static gab_patches patches;
  flow_case given = box_of(3);
  patches = jet_and_vents(3);
  patches.list[1].condition = (gab_side){.kind = GAB_SIDE_PRESSURE, .density = 1.002};
  patches.list[2].condition = (gab_side){.kind = GAB_SIDE_OUTFLOW, .density = 0.999};
  given.options.initial = noisy_state;
  given.options.sides[GAB_SIDE_Y_MAX].kind = GAB_SIDE_FREE_SLIP;
  use(&given, &patches);
  const uint64_t wanted = hash_after(world, &given, 20);
  given.options.fused_blocks = 2;
  CHECK(hash_after(world, &given, 20) == wanted);
  given.options.fused_blocks = 0;
  given.options.kernel = "sparse";
  CHECK(hash_after(world, &given, 20) == wanted);
  given.options.kernel = "reference";
  CHECK(hash_after(world, &given, 20) == wanted);
}

/* Blocks in the middle of a side have the same surroundings, but other faces of a patch. Sparse blocks share no
 * links. */
static void blocks_at_a_side_have_links_of_their_own(gab_world *world)
{
  static gab_patches patches;
  flow_case given = box_of(2);
  given.cells[1] = 6 * given.block[1];
  patches = (gab_patches){
      .count = 2,
      .list = {box_patch(GAB_SIDE_X_MIN, 18, 22, (gab_side){.kind = GAB_SIDE_VELOCITY, .velocity = {0.03}}),
               box_patch(GAB_SIDE_X_MAX, 9, 29, (gab_side){.kind = GAB_SIDE_PRESSURE, .density = 1})}};
  use(&given, &patches);
  const uint64_t wanted = hash_after(world, &given, 20);
  given.options.kernel = "sparse";
  CHECK(hash_after(world, &given, 20) == wanted);
}

/* D3Q19 with the axes after the diagonals. */
static const gab_lattice *axes_last(void)
{
  static gab_lattice made;
  made = gab_lattice_d3q19;
  made.name = "D3Q19R";
  made.doc = "axes last";
  for (int q = 1; q < made.q; q++) {
    const int from = (q + 5) % 18 + 1;
    memcpy(made.c[q], gab_lattice_d3q19.c[from], sizeof made.c[q]);
    made.weight[q] = gab_lattice_d3q19.weight[from];
  }
  REQUIRE_OK(gab_lattice_register(&made));
  return &made;
}

/* A pressure side reads arrivals along another side only if that side is closed at the face of the cell. With the
 * face at the start of the link instead, the order of the links would matter. */
static void open_sides_know_the_patches_next_to_them(gab_world *world, const gab_lattice *lattice)
{
  static gab_patches patches;
  flow_case given = box_of(3);
  const gab_side open = {.kind = GAB_SIDE_PRESSURE, .density = 1.002};
  given.options.lattice = lattice;
  given.options.initial = noisy_state;
  given.options.sides[GAB_SIDE_X_MIN] = open;
  patches = (gab_patches){
      .count = 2, .list = {box_patch(GAB_SIDE_Y_MIN, -1, 6, open), box_patch(GAB_SIDE_Z_MAX, -1, 9, open)}};
  use(&given, &patches);
  given.options.kernel = "reference";
  const uint64_t wanted = hash_after(world, &given, 20);
  given.options.kernel = "sparse";
  CHECK(hash_after(world, &given, 20) == wanted);
}

static bool has_mirrored(gab_patch patch, const gab_domain *domain, int y, int z, int mirrors)
{
  const int64_t face[3] = {0, mirrors & 1 ? Y - 1 - y : y, mirrors & 2 ? Z - 1 - z : z};
  return gab_patch_has(&patch, domain, face);
}

/* Outlines with edges through centres of faces, along the axes and at an angle; the same for mirror images. */
static void outlines_belong_to_their_regions(void)
{
  const flow_case given = box_of(3);
  const gab_domain domain = domain_of(&given);
  const double corners[4][2] = {{2.5, 3.5}, {10.5, 3.5}, {10.5, 11.5}, {2.5, 11.5}};
  static unsigned char dark[] = {1};
  static gab_mask mask = {.width = 1, .height = 1, .stride = 1, .dark = dark};
  for (int mirrors = 0; mirrors < 4; mirrors++) {
    double square[8];
    bool is_right[4] = {true, true, true, true};
    for (int i = 0; i < 8; i++)
      square[i] = mirrors >> i % 2 & 1 ? (i % 2 == 0 ? Y : Z) - corners[i / 2][i % 2] : corners[i / 2][i % 2];
    const gab_patch box = {.lo = {0, fmin(square[0], square[2]), fmin(square[1], square[5])},
                           .hi = {0, fmax(square[0], square[2]), fmax(square[1], square[5])}};
    const gab_patch polygon = {.region = GAB_PATCH_POLYGON, .points = square, .point_count = 4},
                    triangle = {.region = GAB_PATCH_POLYGON, .points = square, .point_count = 3};
    gab_patch picture = box;
    picture.region = GAB_PATCH_MASK;
    picture.mask = &mask;
    for (int y = 0; y < Y; y++)
      for (int z = 0; z < Z; z++) {
        const bool inside = y >= 2 && y <= 10 && z >= 3 && z <= 11;
        is_right[0] &= has_mirrored(box, &domain, y, z, mirrors) == inside;
        is_right[1] &= has_mirrored(picture, &domain, y, z, mirrors) == inside;
        is_right[2] &= has_mirrored(polygon, &domain, y, z, mirrors) == inside;
        is_right[3] &= has_mirrored(triangle, &domain, y, z, mirrors) == (inside && z - 3 <= y - 2);
      }
    for (int i = 0; i < 4; i++) CHECK(is_right[i]);
  }
}

static void conditions_have_numbers(void)
{
  static gab_patches patches;
  flow_case given = box_of(3);
  const gab_domain domain = domain_of(&given);
  double lo, hi;
  patches = jet_and_vents(3);
  use(&given, &patches);
  CHECK(gab_lbm_condition_count(&given.options) == 10 &&
        gab_lbm_condition_side(&given.options, 7) == GAB_SIDE_Y_MAX);
  CHECK(gab_lbm_condition(&given.options, 6) == &patches.list[0].condition);
  CHECK(gab_lbm_condition(&given.options, 3) == &given.options.sides[3] &&
        gab_lbm_condition_has_faces(&given.options, 3));
  CHECK(gab_patch_has(&patches.list[0], &domain, (int64_t[]){0, 10, 6}));
  CHECK(!gab_patch_has(&patches.list[0], &domain, (int64_t[]){0, 14, 6}));
  CHECK(gab_patches_condition_at(&patches, &domain, GAB_SIDE_X_MIN, (int64_t[]){-1, 10, 6}) == 6);
  CHECK(gab_patches_condition_at(&patches, &domain, GAB_SIDE_X_MIN, (int64_t[]){-1, 1, 6}) == GAB_SIDE_X_MIN);
  CHECK(gab_patches_condition_at(&patches, &domain, GAB_SIDE_X_MAX, (int64_t[]){12, 10, 6}) ==
        GAB_SIDE_X_MAX);
  CHECK(gab_patches_condition_at(&patches, &domain, GAB_SIDE_Y_MAX, (int64_t[]){5, 24, 5}) ==
        7); /* the first one */
  gab_patch_extent(&patches.list[0], 2, &lo, &hi);
  REQUIRE_NEAR(lo, 3.8, 1e-15);
  REQUIRE_NEAR(hi, 10.2, 1e-15);
  CHECK(patches.list[1].faces == 25 && patches.list[2].faces == 36 - 4 && patches.list[2].region_faces == 36);
  CHECK(patches.side_faces[GAB_SIDE_Y_MAX] == X * Z - 25 - 32);
  gab_patches_release(&patches);
}

static void refuse(gab_patch patch, const char *words)
{
  static gab_patches patches;
  flow_case given = box_of(2);
  const gab_domain domain = domain_of(&given);
  patches = (gab_patches){
      .count = 2, .list = {box_patch(GAB_SIDE_Y_MIN, 2, 6, (gab_side){.kind = GAB_SIDE_OUTFLOW}), patch}};
  CHECK(gab_patches_complete(&patches, &domain) == GAB_ERR_INPUT && strstr(gab_error_message(), words));
}

static void what_cannot_be_is_refused(gab_world *world)
{
  static gab_patches patches;
  const gab_side wall = {.kind = GAB_SIDE_WALL};
  refuse(box_patch(GAB_SIDE_X_MIN, 3.6, 4.4, wall), "contains the centre of none");
  refuse(box_patch(GAB_SIDE_Y_MIN, 3, 5, wall), "behind earlier patches");
  refuse(box_patch(GAB_SIDE_Z_MIN, 3, 5, wall), "not periodic");
  flow_case given = box_of(2);
  patches = (gab_patches){.count = 1, .list = {box_patch(GAB_SIDE_X_MIN, 3, 5, wall)}};
  given.options.patches = &patches;
  gab_forest_options grid = {.grid = {.dimension = 2, .roots = {2, 3, 1}}, .dx = 1, .cells = {6, 8, 1}};
  gab_forest *forest;
  gab_lbm *lbm = NULL;
  REQUIRE_OK(gab_forest_create(world, &grid, &forest));
  CHECK(gab_lbm_create(forest, NULL, &given.options, &lbm) == GAB_ERR_ARGUMENT);
  CHECK(strstr(gab_error_message(), "gab_patches_complete()"));
  patches.list[0].condition.kind = GAB_SIDE_PERIODIC;
  use(&given, &patches);
  CHECK(gab_lbm_create(forest, NULL, &given.options, &lbm) == GAB_ERR_INPUT &&
        strstr(gab_error_message(), "periodic"));
  gab_lbm_destroy(&lbm);
  gab_forest_destroy(&forest);
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  conditions_have_numbers();
  outlines_belong_to_their_regions();
  what_cannot_be_is_refused(world);
  patches_may_be_sides(world);
  for (int dimension = 2; dimension <= 3; dimension++) {
    boxes_keep_their_mass(world, dimension, NULL);
    boxes_keep_their_mass(world, dimension, "sparse");
  }
  for (int i = 0; gab_lattice_at(i); i++)
    patches_that_move_along_themselves_keep_the_mass(world, gab_lattice_at(i));
  parts_add_up_to_the_side(world);
  kernels_give_the_same_bits(world);
  open_sides_know_the_patches_next_to_them(world, &gab_lattice_d3q19);
  open_sides_know_the_patches_next_to_them(world, axes_last());
  blocks_at_a_side_have_links_of_their_own(world);
  return test_end(&world);
}
