/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: labels=quick timeout=60 */
/* The criterion `curvature': round surfaces are refined to the level on which their normal turns by less than the angle per cell, in
 * any direction, as a shape, a mesh or a pipe; edges are refined to the last level; flat, hidden and far surfaces are not. */
#include "../lbm_common.h"
#include "../mesh/mesh_shapes.h"
#include "../read_bodies.h"
#include "lbm/levels/refinement/refinement.h"

#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>

#include <cmocka.h>

enum { BLOCK = 4, DEEPEST = 3 };
static const double degree = 3.14159265358979323846 / 180;
static char folder[] = "/tmp/gabion-curvature-XXXXXX", fine[64], coarse[64];

static int make_files(void **state)
{
  (void)state;
  const double zero[3] = {0, 0, 0};
  if (!mkdtemp(folder)) return -1;
  snprintf(fine, sizeof fine, "%s/fine.stl", folder);
  snprintf(coarse, sizeof coarse, "%s/coarse.stl", folder);
  facets many = facets_sphere(zero, 1, 32), few = facets_sphere(zero, 1, 3);
  facets_write(&many, fine);
  facets_write(&few, coarse);
  facets_release(&many);
  facets_release(&few);
  return 0;
}

static int remove_files(void **state)
{
  (void)state;
  return unlink(fine) + unlink(coarse) + rmdir(folder);
}

static bool is_marked(const read_case *it, double angle, int level, const gab_box *cells)
{
  const gab_criterion criterion = {.kind = GAB_CRITERION_CURVATURE, .level = DEEPEST, .angle = angle};
  gab_refinement refinement = {.geometry = it->geometry, .criteria = &criterion, .count = 1};
  REQUIRE_OK(gab_refinement_check(&refinement, DEEPEST));
  return gab_refinement_mark_place(&refinement, level, cells) == GAB_MARK_REFINE;
}

/* Blocks of a level with solid and fluid cells, and those of them that are marked. Others must not be, more than a cell away. */
static void count_blocks(const read_case *it, double angle, int level, int *passed, int *marked)
{
  *passed = *marked = 0;
  for (int64_t z = 0; z < it->domain.cells[2] << level; z += BLOCK)
    for (int64_t y = 0; y < it->domain.cells[1] << level; y += BLOCK)
      for (int64_t x = 0; x < it->domain.cells[0] << level; x += BLOCK) {
        const gab_box cells = {{x, y, z}, {x + BLOCK, y + BLOCK, z + BLOCK}},
                      wide = {{x - 2, y - 2, z - 2}, {x + BLOCK + 2, y + BLOCK + 2, z + BLOCK + 2}};
        const uint64_t fluid = gab_geometry_fluid_cells(it->geometry, level, &cells);
        const bool is_passed = fluid > 0 && fluid < BLOCK * BLOCK * BLOCK;
        const bool is_far = gab_geometry_is_clear(it->geometry, level, &wide) ||
                            gab_geometry_fluid_cells(it->geometry, level, &wide) == 0;
        const bool wants = (is_passed || is_far) && is_marked(it, angle, level, &cells);
        if (is_far && wants) fail_msg("block at %d, %d, %d is marked", (int)x, (int)y, (int)z);
        *passed += is_passed;
        *marked += is_passed && wants;
      }
}

/* All blocks that the surface passes are marked on levels below the predicted one, and none on it. @param[in] radius  in cells of level 0 */
static void refines_to(const char *bodies, double radius, double degrees, int levels)
{
  read_case it;
  bool has_both[2] = {false, false};
  read_bodies(&it, false, bodies);
  for (int level = 0; level < levels; level++) {
    int passed, marked;
    count_blocks(&it, degrees * degree, level, &passed, &marked);
    const bool expected = 2 * atan(ldexp(1, -level) / (2 * radius)) > degrees * degree;
    if (passed < 8 || marked != (expected ? passed : 0))
      fail_msg("%s: level %d, %g degrees: %d of %d blocks are marked", bodies, level, degrees, marked,
               passed);
    has_both[expected] = true;
  }
  assert_true(has_both[false] && has_both[true]);
  end_case(&it);
}

/* On level 0 the normal of a radius of 6 cells turns by 9.53 degrees, on level 1 by 4.77. */
static void round_surfaces_are_refined_to_the_predicted_level(void **state)
{
  (void)state;
  refines_to("  - {type: sphere, centre: [12.1, 10.3, 9.8], radius: 6}\n", 6, 5, 2);
  refines_to("  - {type: sphere, centre: [12.1, 10.3, 9.8], radius: 6}\n", 6, 9, 2);
  refines_to("  - {type: sphere, centre: [12.1, 10.3, 9.8], radius: 6, inside: fluid}\n", 6, 5, 2);
  refines_to("  - {type: cylinder, centre: [12.1, 10.3, 0], radius: 6, axis: z}\n", 6, 5, 2);
  refines_to("  - {type: cone, from: [-14, -20, -12], to: [36, 44, 30], radii: [6, 6]}\n", 6, 5, 2);
}

static void a_fine_mesh_is_refined_as_its_shape_and_a_coarse_one_at_its_edges(void **state)
{
  char text[256];
  read_case it;
  int passed, marked;
  (void)state;
  snprintf(text, sizeof text, "  - {type: mesh, file: %s, scale: 6, translate: [12.1, 10.3, 9.8]}\n", fine);
  refines_to(text, 6, 8.2, 2); /* its triangles meet at 1.4 degrees at most */
  snprintf(text, sizeof text, "  - {type: mesh, file: %s, scale: 6, translate: [12.1, 10.3, 9.8]}\n", coarse);
  read_bodies(&it, false, text); /* at 11 to 14 degrees, more at corners */
  count_blocks(&it, 10 * degree, 1, &passed, &marked);
  assert_true(marked > 8);
  count_blocks(&it, 45 * degree, 1, &passed, &marked);
  assert_int_equal(marked, 0);
  end_case(&it);
}

static gab_box block_at(int level, double x, double y, double z)
{
  const double point[3] = {x, y, z};
  gab_box cells;
  for (int axis = 0; axis < 3; axis++) {
    cells.lo[axis] = (int64_t)ldexp(point[axis], level) / BLOCK * BLOCK;
    cells.hi[axis] = cells.lo[axis] + BLOCK;
  }
  return cells;
}

static void edges_are_refined_to_the_last_level_and_faces_are_not(void **state)
{
  read_case it;
  (void)state;
  read_bodies(&it, false, "  - {type: box, lo: [6, 6, 2], hi: [11.3, 11.3, 18]}\n");
  for (int level = 1; level < 5; level++) {
    const gab_box edge = block_at(level, 11.3, 11.3, 10), face = block_at(level, 11.3, 8.6, 10);
    assert_int_equal(is_marked(&it, 80 * degree, level, &edge), level < DEEPEST);
    assert_false(is_marked(&it, 91 * degree, level, &edge));
    assert_false(is_marked(&it, 0.01 * degree, level, &face));
  }
  end_case(&it);
}

static void a_surface_within_another_body_or_beyond_a_side_does_not_count(void **state)
{
  read_case it;
  int passed, marked;
  (void)state;
  read_bodies(&it, false,
              "  - {type: sphere, centre: [12, 10, 10], radius: 4}\n"
              "  - {type: box, lo: [4, -100, -100], hi: [100, 100, 100]}\n");
  count_blocks(&it, 1 * degree, 0, &passed, &marked);
  assert_int_equal(marked, 0);
  end_case(&it);
  read_bodies(&it, false,
              "  - {type: sphere, centre: [6, 10, 10], radius: 3}\n"
              "  - {type: box, lo: [6, -100, -100], hi: [100, 100, 100]}\n"); /* half of it is in fluid */
  count_blocks(&it, 1 * degree, 0, &passed, &marked);
  assert_true(marked > 0 && marked < passed);
  end_case(&it);
}

static void a_distance_reaches_further(void **state)
{
  read_case it;
  (void)state;
  read_bodies(&it, false, "  - {type: sphere, centre: [4, 10, 10], radius: 2}\n");
  gab_criterion criterion = {.kind = GAB_CRITERION_CURVATURE, .level = 1, .angle = 5 * degree};
  const gab_refinement refinement = {.geometry = it.geometry, .criteria = &criterion, .count = 1};
  const gab_box beside = {{8, 8, 8}, {12, 12, 12}};
  assert_int_equal(gab_refinement_mark_place((void *)(uintptr_t)&refinement, 0, &beside), GAB_MARK_KEEP);
  criterion.distance = 3;
  assert_int_equal(gab_refinement_mark_place((void *)(uintptr_t)&refinement, 0, &beside), GAB_MARK_REFINE);
  criterion.angle = 0;
  assert_int_equal(gab_refinement_check(&refinement, 1), GAB_ERR_INPUT);
  end_case(&it);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(round_surfaces_are_refined_to_the_predicted_level),
      cmocka_unit_test(a_fine_mesh_is_refined_as_its_shape_and_a_coarse_one_at_its_edges),
      cmocka_unit_test(edges_are_refined_to_the_last_level_and_faces_are_not),
      cmocka_unit_test(a_surface_within_another_body_or_beyond_a_side_does_not_count),
      cmocka_unit_test(a_distance_reaches_further),
  };
  return cmocka_run_group_tests(tests, make_files, remove_files);
}
