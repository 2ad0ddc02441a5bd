/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: labels=quick timeout=30 */
#include "lbm_common.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#ifdef GAB_HAVE_PNG
#include <fcntl.h>
#include <png.h>
#include <unistd.h>
#endif

static gab_geometry *geometry_of(const gab_domain *domain, const gab_body *bodies, size_t count)
{
  gab_geometry *geometry;
  REQUIRE_OK(gab_geometry_create(domain, bodies, count, &geometry));
  return geometry;
}

static const gab_domain cube = {.dimension = 3, .cells = {20, 18, 16}, .dx = 0.5, .origin = {1, 2, 3}};

static uint64_t counted_one_by_one(const gab_geometry *geometry, int level, const gab_box *box)
{
  uint64_t count = 0;
  int64_t cell[3];
  for (cell[2] = box->lo[2]; cell[2] < box->hi[2]; cell[2]++)
    for (cell[1] = box->lo[1]; cell[1] < box->hi[1]; cell[1]++)
      for (cell[0] = box->lo[0]; cell[0] < box->hi[0]; cell[0]++)
        count += gab_geometry_cell(geometry, level, cell) == GAB_CELL_FLUID;
  return count;
}

static uint64_t counted_solid(const gab_geometry *geometry, int level, const gab_box *box)
{
  uint64_t count = 0;
  int64_t cell[3];
  for (cell[2] = box->lo[2]; cell[2] < box->hi[2]; cell[2]++)
    for (cell[1] = box->lo[1]; cell[1] < box->hi[1]; cell[1]++)
      for (cell[0] = box->lo[0]; cell[0] < box->hi[0]; cell[0]++)
        count += gab_geometry_cell(geometry, level, cell) >= 0;
  return count;
}

static const gab_body zoo[] = {
    {.shape = GAB_SHAPE_SPHERE, .centre = {4, 5, 6}, .radius = 1.7},
    {.shape = GAB_SHAPE_CYLINDER, .centre = {8, 7, 7}, .radius = 1.2, .axis = 1, .length = 4},
    {.shape = GAB_SHAPE_BOX, .lo = {6, 2.1, 3}, .hi = {7.3, 4, 9.9}},
    {.shape = GAB_SHAPE_CYLINDER, .centre = {6, 6, 7}, .radius = 4.4, .axis = 0, .inside_is_fluid = true},
};

static void cells_are_counted_as_if_one_by_one(void **state)
{
  (void)state;
  gab_geometry *geometry = geometry_of(&cube, zoo, 4);
  for (int level = 0; level < 3; level++)
    for (int i = 0; i < 40; i++) {
      gab_box box;
      for (int axis = 0; axis < 3; axis++) {
        int64_t size = cube.cells[axis] << level;
        box.lo[axis] = (int64_t)(gab_hash_counter(1, (uint64_t)axis, (uint64_t)i) % (uint64_t)size);
        box.hi[axis] = box.lo[axis] + 1 + (int64_t)(gab_hash_counter(2, (uint64_t)axis, (uint64_t)i) % 12);
      }
      REQUIRE(gab_geometry_fluid_cells(geometry, level, &box) == counted_one_by_one(geometry, level, &box));
    }
  gab_geometry_destroy(&geometry);
  REQUIRE(geometry == NULL);
}

static void blocks_without_fluid_do_not_exist_and_weights_are_fluid_cells(void **state)
{
  (void)state;
  gab_body half = {.shape = GAB_SHAPE_BOX, .lo = {-99, -99, -99}, .hi = {1 + 0.5 * 8, 99, 99}};
  gab_geometry *geometry = geometry_of(&cube, &half, 1);
  gab_box solid = {{0, 0, 0}, {8, 9, 8}}, mixed = {{4, 0, 0}, {12, 9, 8}};
  REQUIRE(!gab_geometry_block_exists(geometry, 0, &solid));
  REQUIRE(gab_geometry_block_exists(geometry, 0, &mixed));
  REQUIRE(gab_geometry_block_weight(geometry, 0, &mixed) == 4 * 9 * 8);
  REQUIRE(gab_geometry_block_weight(geometry, 0, &solid) == 1);
  gab_geometry_destroy(&geometry);
}

/* The block is within the disc except for its corners: the centres of all its cells are inside, but at half the width
 * four cells at the corners are outside. */
static void blocks_exist_for_the_fluid_that_their_children_would_have(void **state)
{
  (void)state;
  gab_domain domain = {.dimension = 2, .cells = {12, 12, 1}, .dx = 1};
  const gab_body disc = {.shape = GAB_SHAPE_CYLINDER, .axis = 2, .centre = {6, 6, 0}, .radius = 3.75};
  const gab_box block = {{3, 3, 0}, {9, 9, 1}}, corner = {{6, 6, 0}, {12, 12, 1}},
                core = {{4, 4, 0}, {8, 8, 1}};
  for (int deepest = 0; deepest <= 2; deepest++) {
    domain.deepest = deepest;
    gab_geometry *geometry = geometry_of(&domain, &disc, 1);
    REQUIRE(gab_geometry_fluid_cells(geometry, 0, &block) == 0);
    REQUIRE(gab_geometry_block_exists(geometry, 0, &block) == (deepest > 0));
    REQUIRE(gab_geometry_block_exists(geometry, 1, &corner));
    REQUIRE(!gab_geometry_block_exists(geometry, 0, &core));
    gab_geometry_destroy(&geometry);
  }
}

static void walls_are_met_at_the_exact_distance(void **state)
{
  (void)state;
  const gab_domain domain = {.dimension = 3, .cells = {20, 20, 20}, .dx = 1};
  gab_body ball = {
      .shape = GAB_SHAPE_SPHERE, .wall = GAB_WALL_INTERPOLATED, .centre = {10.2, 9.9, 10.4}, .radius = 4.3};
  for (int inverted = 0; inverted < 2; inverted++) {
    ball.inside_is_fluid = inverted;
    gab_geometry *geometry = geometry_of(&domain, &ball, 1);
    int links = 0;
    for (int64_t n = 0; n < 20 * 20 * 20; n++)
      for (int q = 1; q < gab_lattice_d3q19.q; q++) {
        const int8_t *c = gab_lattice_d3q19.c[q];
        int64_t solid[3] = {n % 20, n / 20 % 20, n / 400};
        int64_t fluid[3] = {solid[0] + c[0], solid[1] + c[1], solid[2] + c[2]};
        int body = gab_geometry_cell(geometry, 0, solid);
        if (body < 0 || gab_geometry_cell(geometry, 0, fluid) != GAB_CELL_FLUID) continue;
        double delta = gab_geometry_wall_distance(geometry, 0, solid, body, c), square = 0;
        REQUIRE(delta > 0 && delta <= 1);
        for (int axis = 0; axis < 3; axis++) {
          double x = (double)fluid[axis] + 0.5 - delta * c[axis] - ball.centre[axis];
          square += x * x;
        }
        REQUIRE_NEAR(sqrt(square), ball.radius, 1e-13);
        links++;
      }
    REQUIRE(links > 500);
    ball.wall = GAB_WALL_INTERPOLATED;
    gab_geometry_destroy(&geometry);
  }
}

static void staircase_walls_are_half_way(void **state)
{
  (void)state;
  const gab_domain domain = {.dimension = 3, .cells = {8, 8, 8}, .dx = 1};
  gab_body box = {.shape = GAB_SHAPE_BOX, .lo = {0, 0, 0}, .hi = {3.9, 8, 8}};
  gab_geometry *geometry = geometry_of(&domain, &box, 1);
  REQUIRE_NEAR(gab_geometry_wall_distance(geometry, 0, (int64_t[3]){3, 4, 4}, 0, (int8_t[3]){1, 0, 0}), 0.5,
               0);
  gab_geometry_destroy(&geometry);
  box.wall = GAB_WALL_INTERPOLATED;
  geometry = geometry_of(&domain, &box, 1);
  REQUIRE_NEAR(gab_geometry_wall_distance(geometry, 0, (int64_t[3]){3, 4, 4}, 0, (int8_t[3]){1, 0, 0}), 0.6,
               1e-15);
  REQUIRE_NEAR(gab_geometry_wall_distance(geometry, 0, (int64_t[3]){3, 4, 4}, 0, (int8_t[3]){1, -1, 0}), 0.6,
               1e-15);
  gab_geometry_destroy(&geometry);
}

static void bodies_reach_through_periodic_sides(void **state)
{
  (void)state;
  gab_domain domain = {.dimension = 2, .cells = {12, 10, 1}, .periodic = {true, true, true}, .dx = 1};
  gab_body disc = {
      .shape = GAB_SHAPE_SPHERE, .wall = GAB_WALL_INTERPOLATED, .centre = {0.7, 9.6, 0}, .radius = 2.6};
  gab_body same = disc;
  same.centre[0] += 6;
  same.centre[1] -= 5;
  gab_geometry *corner = geometry_of(&domain, &disc, 1), *middle = geometry_of(&domain, &same, 1);
  for (int64_t y = -3; y < 13; y++)
    for (int64_t x = -3; x < 15; x++) {
      int64_t here[3] = {x, y, 0}, there[3] = {x + 6, y - 5, 0};
      int body = gab_geometry_cell(corner, 0, here);
      REQUIRE(body == gab_geometry_cell(middle, 0, there));
      if (body < 0) continue;
      const int8_t c[3] = {1, -1, 0};
      REQUIRE_NEAR(gab_geometry_wall_distance(corner, 0, here, 0, c),
                   gab_geometry_wall_distance(middle, 0, there, 0, c), 1e-14);
    }
  domain.periodic[0] = false;
  gab_geometry_destroy(&corner);
  corner = geometry_of(&domain, &disc, 1);
  REQUIRE(gab_geometry_cell(corner, 0, (int64_t[3]){-1, 4, 0}) == GAB_CELL_OUTSIDE);
  REQUIRE(gab_geometry_cell(corner, 0, (int64_t[3]){11, 9, 0}) == GAB_CELL_FLUID);
  REQUIRE(gab_geometry_cell(corner, 0, (int64_t[3]){0, 0, 0}) == 0);
  gab_geometry_destroy(&corner);
  gab_geometry_destroy(&middle);
}

/* The first sphere, or periodic image of it, that covers a cell, by checking all of them. */
static int first_that_covers(const gab_domain *domain, const gab_body *spheres, int count,
                             const int64_t cell[3])
{
  for (int i = 0; i < count; i++)
    for (int image = 0; image < 27; image++) {
      const int at[3] = {image % 3 - 1, image / 3 % 3 - 1, image / 9 - 1};
      double square = 0;
      bool exists = true;
      for (int axis = 0; axis < domain->dimension; axis++) {
        exists = exists && (at[axis] == 0 || domain->periodic[axis]);
        double there = spheres[i].centre[axis] + (double)(at[axis] * domain->cells[axis]);
        square += ((double)cell[axis] + 0.5 - there) * ((double)cell[axis] + 0.5 - there);
      }
      if (exists && square <= spheres[i].radius * spheres[i].radius) return i;
    }
  return GAB_CELL_FLUID;
}

static void each_cell_belongs_to_the_first_of_many_bodies_that_covers_it(void **state)
{
  (void)state;
  enum { COUNT = 300 };
  static gab_body spheres[COUNT];
  for (int deep = 0; deep < 2; deep++) {
    const gab_domain domain = {.dimension = 2 + deep,
                               .cells = {deep ? 40 : 90, deep ? 33 : 130, deep ? 50 : 1},
                               .periodic = {true, false, true},
                               .dx = 1};
    for (uint64_t i = 0; i < COUNT; i++) {
      spheres[i] = (gab_body){.shape = GAB_SHAPE_SPHERE,
                              .radius = 0.25 * (double)(1 + gab_hash_counter(3, i, 3) % 25)};
      for (int axis = 0; axis < 3; axis++)
        spheres[i].centre[axis] =
            0.25 * (double)(gab_hash_counter(3, i, (uint64_t)axis) % (uint64_t)(4 * domain.cells[axis]));
    }
    gab_geometry *geometry = geometry_of(&domain, spheres, COUNT);
    int64_t cell[3];
    for (cell[2] = 0; cell[2] < domain.cells[2]; cell[2]++)
      for (cell[1] = 0; cell[1] < domain.cells[1]; cell[1]++)
        for (cell[0] = 0; cell[0] < domain.cells[0]; cell[0]++)
          REQUIRE(gab_geometry_cell(geometry, 0, cell) == first_that_covers(&domain, spheres, COUNT, cell));
    const gab_box all = {{0, 0, 0}, {domain.cells[0], domain.cells[1], domain.cells[2]}};
    REQUIRE(gab_geometry_fluid_cells(geometry, 0, &all) == counted_one_by_one(geometry, 0, &all));
    gab_geometry_destroy(&geometry);
  }
}

/* Also across periodic sides, and for boxes wider than the domain. */
static void in_what_is_clear_no_cell_is_solid_nor_are_its_children_and_parents(void **state)
{
  enum { CASES = 400, BOXES = 20 };
  int clear = 0, doubtful = 0;
  (void)state;
  for (uint64_t i = 0; i < CASES; i++) {
    gab_domain domain = {.dimension = 2 + (int)(i % 2), .cells = {8, 6, i % 2 ? 4 : 1}, .dx = 1};
    gab_body thing = {.shape = i % 3 ? GAB_SHAPE_BOX : GAB_SHAPE_SPHERE};
    const int64_t of_body[3] = {(int64_t)i, 0, 0};
    thing.radius = 0.5 + 0.45 * noise(7, of_body);
    for (int axis = 0; axis < 3; axis++) {
      const double half = 0.5 + 0.45 * noise(20 + (uint64_t)axis, of_body);
      domain.periodic[axis] = axis >= domain.dimension || i >> (2 + axis) & 1;
      thing.centre[axis] = 0.5 * (double)domain.cells[axis] * (1 + noise(10 + (uint64_t)axis, of_body));
      thing.lo[axis] = thing.centre[axis] - half;
      thing.hi[axis] = thing.centre[axis] + half;
    }
    gab_geometry *geometry = geometry_of(&domain, &thing, 1);
    for (int64_t k = 0; k < BOXES; k++) {
      const int level = (int)(k % 3);
      gab_box box, children, parents;
      for (int axis = 0; axis < 3; axis++) {
        const int64_t place[3] = {(int64_t)i, k, axis}, size = domain.cells[axis] << level;
        const bool refines = axis < domain.dimension;
        box.lo[axis] = refines ? (int64_t)((double)size * noise(30, place)) : 0;
        box.hi[axis] =
            refines ? box.lo[axis] + 1 + (int64_t)(0.6 * (double)size * (1 + noise(31, place))) : 1;
        children.lo[axis] = box.lo[axis] * (refines ? 2 : 1);
        children.hi[axis] = box.hi[axis] * (refines ? 2 : 1);
        parents.lo[axis] = refines ? box.lo[axis] >> 1 : 0;
        parents.hi[axis] = refines ? ((box.hi[axis] - 1) >> 1) + 1 : 1;
      }
      if (!gab_geometry_is_clear(geometry, level, &box)) {
        doubtful++;
        continue;
      }
      clear++;
      REQUIRE(counted_solid(geometry, level, &box) == 0);
      REQUIRE(counted_solid(geometry, level + 1, &children) == 0);
      REQUIRE(level == 0 || counted_solid(geometry, level - 1, &parents) == 0);
    }
    gab_geometry_destroy(&geometry);
  }
  REQUIRE(clear > CASES && doubtful > CASES);
}

static void impossible_bodies_are_refused_by_name(void **state)
{
  (void)state;
  const gab_body bad[] = {
      {.name = "dot", .shape = GAB_SHAPE_SPHERE, .radius = 0},
      {.name = "sheet", .shape = GAB_SHAPE_BOX, .lo = {0, 1, 0}, .hi = {1, 1, 1}},
      {.name = "rod", .shape = GAB_SHAPE_CYLINDER, .radius = 1, .axis = 3},
      {.name = "face", .shape = GAB_SHAPE_MASK, .lo = {0, 0, 0}, .hi = {1, 1, 1}, .mask = "nobody.png"},
  };
  for (size_t i = 0; i < 4; i++) {
    gab_geometry *geometry;
    REQUIRE(gab_geometry_create(&cube, &bad[i], 1, &geometry) == GAB_ERR_INPUT);
    REQUIRE(geometry == NULL && strstr(gab_error_message(), bad[i].name));
  }
}

#ifdef GAB_HAVE_PNG
static void dark_pixels_of_a_picture_are_solid_with_the_first_row_on_top(void **state)
{
  (void)state;
  char path[] = "gabion_mask_XXXXXX";
  int file = mkstemp(path);
  REQUIRE(file >= 0);
  close(file);
  const unsigned char pixels[2 * 3] = {0, 255, 255, 255, 255, 10};
  png_image image = {.version = PNG_IMAGE_VERSION, .width = 3, .height = 2, .format = PNG_FORMAT_GRAY};
  REQUIRE(png_image_write_to_file(&image, path, 0, pixels, 0, NULL));
  const gab_domain domain = {.dimension = 2, .cells = {6, 4, 1}, .dx = 1};
  gab_body body = {.shape = GAB_SHAPE_MASK, .lo = {0, 0, 0}, .hi = {6, 4, 0}};
  strcpy(body.mask, path);
  gab_geometry *geometry = geometry_of(&domain, &body, 1);
  for (int64_t y = 0; y < 4; y++)
    for (int64_t x = 0; x < 6; x++) {
      bool dark = (y >= 2 && x < 2) || (y < 2 && x >= 4);
      REQUIRE((gab_geometry_cell(geometry, 0, (int64_t[3]){x, y, 0}) == 0) == dark);
    }
  gab_box all = {{0, 0, 0}, {6, 4, 1}};
  REQUIRE(gab_geometry_fluid_cells(geometry, 0, &all) == 16);
  gab_geometry_destroy(&geometry);

  file = open(path, O_WRONLY | O_TRUNC);
  REQUIRE(file >= 0 && write(file, "no picture", 10) == 10);
  close(file);
  REQUIRE(gab_geometry_create(&domain, &body, 1, &geometry) == GAB_ERR_INPUT);
  unlink(path);
  REQUIRE(gab_geometry_create(&domain, &body, 1, &geometry) == GAB_ERR_INPUT);
  REQUIRE(strstr(gab_error_message(), path));
}
#endif

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cells_are_counted_as_if_one_by_one),
      cmocka_unit_test(blocks_without_fluid_do_not_exist_and_weights_are_fluid_cells),
      cmocka_unit_test(blocks_exist_for_the_fluid_that_their_children_would_have),
      cmocka_unit_test(walls_are_met_at_the_exact_distance),
      cmocka_unit_test(staircase_walls_are_half_way),
      cmocka_unit_test(bodies_reach_through_periodic_sides),
      cmocka_unit_test(each_cell_belongs_to_the_first_of_many_bodies_that_covers_it),
      cmocka_unit_test(in_what_is_clear_no_cell_is_solid_nor_are_its_children_and_parents),
      cmocka_unit_test(impossible_bodies_are_refused_by_name),
#ifdef GAB_HAVE_PNG
      cmocka_unit_test(dark_pixels_of_a_picture_are_solid_with_the_first_row_on_top),
#endif
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
