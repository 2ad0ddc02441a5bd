/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: labels=quick timeout=60 */
/* Bodies of triangles in a geometry: cells, counts, boxes, walls and normals are consistent and agree with the exact
 * shape, on levels, across periodic sides, inverted, rotated and in sets. */
#include "../lbm_common.h"
#include "../read_bodies.h"

#include "core/base/hash.h"
#include "mesh_shapes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/gabion-mesh-XXXXXX", ball[64], box[64];

static int make_files(void **state)
{
  (void)state;
  const double zero[3] = {0, 0, 0}, lo[3] = {-2, -2, -2}, hi[3] = {2, 2, 2};
  if (!mkdtemp(folder)) return -1;
  snprintf(ball, sizeof ball, "%s/ball.stl", folder);
  snprintf(box, sizeof box, "%s/box.stl", folder);
  facets sphere = facets_sphere(zero, 1, 24), cube = facets_box(lo, hi);
  facets_write(&sphere, ball);
  facets_write(&cube, box);
  facets_release(&sphere);
  facets_release(&cube);
  return 0;
}

static int remove_files(void **state)
{
  (void)state;
  return unlink(ball) + unlink(box) + rmdir(folder);
}

static int64_t draw(int64_t lo, int64_t hi)
{
  static uint64_t counter;
  return lo + (int64_t)(gab_hash_counter(7, 8, ++counter) % (uint64_t)(hi - lo));
}

/* Results for boxes equal those of their single cells; a clear box has no solid cell. */
static void boxes_are_their_cells(const gab_geometry *geometry)
{
  for (int i = 0; i < 60; i++) {
    const int level = i % 3;
    gab_box at;
    uint64_t count = 0;
    int64_t cell[3];
    bool has_solid = false;
    for (int axis = 0; axis < 3; axis++) {
      const int64_t size = gab_geometry_domain(geometry)->cells[axis] << level;
      at.lo[axis] = draw(0, size);
      at.hi[axis] = at.lo[axis] + draw(1, 13);
      if (at.hi[axis] > size) at.hi[axis] = size;
    }
    for (cell[2] = at.lo[2]; cell[2] < at.hi[2]; cell[2]++)
      for (cell[1] = at.lo[1]; cell[1] < at.hi[1]; cell[1]++)
        for (cell[0] = at.lo[0]; cell[0] < at.hi[0]; cell[0]++) {
          const int body = gab_geometry_cell(geometry, level, cell);
          count += body == GAB_CELL_FLUID;
          has_solid = has_solid || body >= 0;
        }
    assert_true(gab_geometry_fluid_cells(geometry, level, &at) == count);
    if (gab_geometry_is_clear(geometry, level, &at)) assert_false(has_solid);
  }
}

/* A fine icosphere compared with the exact sphere: cells, walls and normals. */
static void compare_with_exact(const char *mesh, const char *exact, bool is_periodic)
{
  read_case first, second;
  int64_t cell[3];
  int walls = 0;
  read_bodies(&first, is_periodic, mesh);
  read_bodies(&second, is_periodic, exact);
  boxes_are_their_cells(first.geometry);
  for (cell[2] = 0; cell[2] < 20; cell[2]++)
    for (cell[1] = 0; cell[1] < 20; cell[1]++)
      for (cell[0] = 0; cell[0] < 24; cell[0]++) {
        const int body = gab_geometry_cell(first.geometry, 0, cell);
        double normal[3], other[3], distance, expected;
        assert_int_equal(body, gab_geometry_cell(second.geometry, 0, cell));
        if (body == GAB_CELL_FLUID && gab_geometry_normal(second.geometry, 0, cell, 0, other, &expected) &&
            expected < 3 && expected > 0.1) {
          assert_true(gab_geometry_normal(first.geometry, 0, cell, 0, normal, &distance));
          assert_true(fabs(distance - expected) < 0.01);
          assert_true(normal[0] * other[0] + normal[1] * other[1] + normal[2] * other[2] > 0.99);
        }
        for (int i = 0; i < 27 && body >= 0; i++) {
          const int8_t c[3] = {(int8_t)(i % 3 - 1), (int8_t)(i / 3 % 3 - 1), (int8_t)(i / 9 - 1)};
          const int64_t fluid[3] = {cell[0] + c[0], cell[1] + c[1], cell[2] + c[2]};
          if (gab_geometry_cell(first.geometry, 0, fluid) != GAB_CELL_FLUID) continue;
          const double share = gab_geometry_wall_distance(first.geometry, 0, cell, body, c);
          assert_true(fabs(share - gab_geometry_wall_distance(second.geometry, 0, cell, body, c)) < 0.03);
          walls++;
        }
      }
  assert_true(walls > 200);
  end_case(&first);
  end_case(&second);
}

static void fine_spheres_are_spheres(void **state)
{
  (void)state;
  char text[512];
#define BALL(more)                                                                                           \
  (snprintf(text, sizeof text, "  - {type: mesh, file: %s, scale: 5.02, " more "}\n", ball), text)
  compare_with_exact(BALL("translate: [11.3, 9.8, 10.1]"),
                     "  - {type: sphere, radius: 5.02, centre: [11.3, 9.8, 10.1]}\n", false);
  compare_with_exact(BALL("translate: [1.3, 18.8, 0.1]"),
                     "  - {type: sphere, radius: 5.02, centre: [1.3, 18.8, 0.1]}\n", true);
  compare_with_exact(BALL("translate: [11.3, 9.8, 10.1], inside: fluid"),
                     "  - {type: sphere, radius: 5.02, centre: [11.3, 9.8, 10.1], inside: fluid}\n", false);
  compare_with_exact(BALL("translate: [11.3, 9.8, 10.1], rotation: [20, 30, 40]"),
                     "  - {type: sphere, radius: 5.02, centre: [11.3, 9.8, 10.1]}\n", false);
#undef BALL
}

/* Faces of a cube on cell centres: the surface is solid, as for boxes, and links to it have full length. */
static void cube_on_cell_centres_is_the_box(void **state)
{
  (void)state;
  char text[512];
  read_case first, second;
  int64_t cell[3];
  snprintf(text, sizeof text, "  - {type: mesh, file: %s, translate: [9.5, 8.5, 10.5]}\n", box);
  read_bodies(&first, false, text);
  read_bodies(&second, false, "  - {type: box, lo: [7.5, 6.5, 8.5], hi: [11.5, 10.5, 12.5]}\n");
  boxes_are_their_cells(first.geometry);
  for (cell[2] = 0; cell[2] < 20; cell[2]++)
    for (cell[1] = 0; cell[1] < 20; cell[1]++)
      for (cell[0] = 0; cell[0] < 24; cell[0]++) {
        const int body = gab_geometry_cell(first.geometry, 0, cell);
        assert_int_equal(body, gab_geometry_cell(second.geometry, 0, cell));
        for (int i = 0; i < 27 && body >= 0; i++) {
          const int8_t c[3] = {(int8_t)(i % 3 - 1), (int8_t)(i / 3 % 3 - 1), (int8_t)(i / 9 - 1)};
          const int64_t fluid[3] = {cell[0] + c[0], cell[1] + c[1], cell[2] + c[2]};
          if (gab_geometry_cell(first.geometry, 0, fluid) != GAB_CELL_FLUID) continue;
          assert_true(gab_geometry_wall_distance(first.geometry, 0, cell, body, c) == 1);
        }
      }
  end_case(&first);
  end_case(&second);
}

static void meshes_are_parts_of_sets(void **state)
{
  (void)state;
  char text[512];
  read_case it;
  snprintf(text, sizeof text,
           "  - {name: shell, type: mesh, file: %s, scale: 6, translate: [12, 10, 10]}\n"
           "  - {name: core, type: mesh, file: %s, scale: 4, translate: [12, 10, 10]}\n"
           "  - {name: hollow, type: difference, of: [shell, core]}\n",
           ball, ball);
  read_bodies(&it, false, text);
  boxes_are_their_cells(it.geometry);
  const int64_t middle[3] = {12, 10, 10}, wall[3] = {16, 10, 10}, outside[3] = {19, 10, 10};
  assert_int_equal(gab_geometry_cell(it.geometry, 0, middle), GAB_CELL_FLUID);
  assert_int_equal(gab_geometry_cell(it.geometry, 0, wall), 0);
  assert_int_equal(gab_geometry_cell(it.geometry, 0, outside), GAB_CELL_FLUID);
  end_case(&it);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fine_spheres_are_spheres),
      cmocka_unit_test(cube_on_cell_centres_is_the_box),
      cmocka_unit_test(meshes_are_parts_of_sets),
  };
  return cmocka_run_group_tests(tests, make_files, remove_files);
}
