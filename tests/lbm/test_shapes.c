/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: labels=quick timeout=60 */
/* Shapes, sets, rotations and copies of bodies, read from a parameter file: each cell, wall and normal is compared
 * with a formula of the test; refusals name their places. */
#include "lbm_common.h"

#include "lbm/setup/lbm_config.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <hdf5.h>
#include <unistd.h>

typedef struct read_case {
  gab_config *config;
  gab_domain domain;
  gab_lbm_setup setup;
  gab_geometry *geometry;
} read_case;

static gab_status read_bodies(read_case *it, int dimension, const char *bodies)
{
  char text[4096];
  *it = (read_case){.domain = {.dimension = dimension,
                               .cells = {36, 32, dimension == 3 ? 28 : 1},
                               .dx = 0.25,
                               .origin = {-1, 0, dimension == 3 ? 2 : 0}}};
  snprintf(text, sizeof text, "fluid: {omega: 1.5}\nunits: {dt: 0.5}\nbodies:\n%s", bodies);
  REQUIRE_OK(gab_config_create(&it->config));
  REQUIRE_OK(gab_lbm_declare(it->config));
  gab_status status = gab_config_load_text(it->config, "test.yaml", text, strlen(text));
  if (status == GAB_OK) status = gab_config_check(it->config);
  if (status == GAB_OK) status = gab_lbm_setup_from_config(it->config, &it->domain, NULL, &it->setup);
  if (status == GAB_OK)
    status = gab_geometry_create(&it->domain, it->setup.bodies, it->setup.body_count, &it->geometry);
  return status;
}

static void end_case(read_case *it)
{
  gab_geometry_destroy(&it->geometry);
  gab_lbm_setup_release(&it->setup);
  gab_config_destroy(&it->config);
}

static void refuses(int dimension, const char *bodies, const char *message)
{
  read_case it;
  const gab_status status = read_bodies(&it, dimension, bodies);
  if (status != GAB_ERR_INPUT || !strstr(gab_error_message(), message))
    fail_msg("%s\nstatus %d, message \"%s\" lacks \"%s\"", bodies, status, gab_error_message(), message);
  end_case(&it);
}

/* Negative inside; only its sign and its zero are used. */
typedef double level_set(const double p[3]);

static void point_of(const gab_domain *domain, int level, const double cell[3], double p[3])
{
  for (int axis = 0; axis < 3; axis++)
    p[axis] =
        axis < domain->dimension ? domain->origin[axis] + ldexp(cell[axis] + 0.5, -level) * domain->dx : 0;
}

/* Position of the wall on the link from the fluid cell, by bisection. */
static double wall_at(const gab_domain *domain, int level, const int64_t solid[3], const int8_t c[3],
                      level_set *f)
{
  double from = 0, to = 1; /* fluid at 0 */
  for (int i = 0; i < 60; i++) {
    const double middle = 0.5 * (from + to);
    double at[3], p[3];
    for (int axis = 0; axis < 3; axis++) at[axis] = (double)solid[axis] + (1 - middle) * c[axis];
    point_of(domain, level, at, p);
    if (f(p) > 0) from = middle;
    else to = middle;
  }
  return 0.5 * (from + to);
}

/* Every cell of two levels, and every link that crosses the surface once. @return number of solid cells on level 0 */
static int compare(read_case *it, level_set *f)
{
  int solids = 0, walls = 0;
  const int dimension = it->domain.dimension;
  for (int level = 0; level < 2; level++) {
    int64_t cell[3], size[3];
    gab_box box = {{0, 0, 0}, {0, 0, 0}};
    uint64_t fluid = 0;
    for (int axis = 0; axis < 3; axis++) {
      size[axis] = it->domain.cells[axis] << (axis < dimension ? level : 0);
      box.hi[axis] = size[axis];
    }
    for (cell[2] = 0; cell[2] < size[2]; cell[2]++)
      for (cell[1] = 0; cell[1] < size[1]; cell[1]++)
        for (cell[0] = 0; cell[0] < size[0]; cell[0]++) {
          const double at[3] = {(double)cell[0], (double)cell[1], (double)cell[2]};
          double p[3];
          point_of(&it->domain, level, at, p);
          const bool expected = f(p) <= 0, found = gab_geometry_cell(it->geometry, level, cell) == 0;
          if (expected != found && fabs(f(p)) > 1e-12)
            fail_msg("level %d cell %d %d %d at %g %g %g: %d instead of %d", level, (int)cell[0],
                     (int)cell[1], (int)cell[2], p[0], p[1], p[2], found, expected);
          fluid += !found;
          solids += level == 0 && found;
          for (int k = 0; found && k < 26; k++) {
            const int code = k < 13 ? k : k + 1;
            const int8_t c[3] = {(int8_t)(code % 3 - 1), (int8_t)(code / 3 % 3 - 1), (int8_t)(code / 9 - 1)};
            const int64_t next[3] = {cell[0] + c[0], cell[1] + c[1], cell[2] + c[2]};
            if ((dimension == 2 && c[2] != 0) ||
                gab_geometry_cell(it->geometry, level, next) != GAB_CELL_FLUID)
              continue;
            const double expected_wall = wall_at(&it->domain, level, cell, c, f),
                         wall = gab_geometry_wall_distance(it->geometry, level, cell, 0, c);
            if (fabs(wall - expected_wall) > 1e-9)
              fail_msg("level %d cell %d %d %d link %d %d %d: wall at %.12g instead of %.12g", level,
                       (int)cell[0], (int)cell[1], (int)cell[2], c[0], c[1], c[2], wall, expected_wall);
            walls++;
          }
        }
    REQUIRE(gab_geometry_fluid_cells(it->geometry, level, &box) == fluid);
  }
  REQUIRE(walls > 20);
  return solids;
}

static void expect(int dimension, const char *bodies, level_set *f, int least)
{
  read_case it;
  REQUIRE_OK(read_bodies(&it, dimension, bodies));
  const int solids = compare(&it, f);
  if (solids < least) fail_msg("%s\nonly %d cells are solid", bodies, solids);
  end_case(&it);
}

/* ------------------------------------------------------------------------------------------ shapes */

static double square(double x) { return x * x; }
static double ellipsoid(const double p[3])
{
  return square((p[0] - 3.1) / 2.2) + square((p[1] - 4) / 0.7) + square((p[2] - 5.2) / 1.6) - 1;
}
static double ellipse(const double p[3]) { return square((p[0] - 3.1) / 2.2) + square((p[1] - 4) / 0.7) - 1; }
static double half(const double p[3]) { return 3 * (p[0] - 2) - 4 * (p[1] - 3.3); }
static double torus(const double p[3])
{
  return square(hypot(p[0] - 3, p[2] - 5.5) - 1.7) + square(p[1] - 4.1) - square(0.6);
}
/* From (1, 2, 4), radius 1.5, to (4, 5, 7), radius 0.4. */
static double cone(const double p[3])
{
  const double a[3] = {1, 2, 4}, d = 1 / sqrt(3), v[3] = {p[0] - a[0], p[1] - a[1], p[2] - a[2]};
  const double along = d * (v[0] + v[1] + v[2]), length = 3 * sqrt(3);
  const double across = sqrt(fmax(0, v[0] * v[0] + v[1] * v[1] + v[2] * v[2] - along * along));
  return fmax(fmax(-along, along - length), across - (1.5 + (0.4 - 1.5) * along / length));
}
/* An L. */
static double polygon(const double p[3])
{
  const double a = fmax(fabs(p[0] - 2.5) - 1.5, fabs(p[1] - 1.6) - 0.6),
               b = fmax(fabs(p[0] - 1.55) - 0.55, fabs(p[1] - 3) - 2);
  return fmin(a, b);
}
static double polygon_along_y(const double p[3])
{
  const double q[3] = {p[0], p[2] - 2};
  return fmax(polygon(q), fabs(p[1] - 4.05) - 1.9);
}
static double wavy(const double p[3]) { return (p[1] - 2.2 - 0.4 * sin(p[0])) / sqrt(1.16); }

static void shapes_are_what_formulas_say(void **state)
{
  (void)state;
  expect(3, "  - {type: ellipsoid, centre: [3.1, 4, 5.2], radii: [2.2, 0.7, 1.6]}\n", ellipsoid, 500);
  expect(2, "  - {type: ellipsoid, centre: [3.1, 4], radii: [2.2, 0.7]}\n", ellipse, 60);
  expect(2, "  - {type: half_space, point: [2, 3.3], normal: [3, -4]}\n", half, 200);
  expect(3, "  - {type: half_space, point: [2, 3.3, 9], normal: [3, -4, 0]}\n", half, 2000);
  expect(3, "  - {type: torus, centre: [3, 4.1, 5.5], axis: y, radius: 1.7, tube: 0.6}\n", torus, 600);
  expect(3, "  - {type: cone, from: [1, 2, 4], to: [4, 5, 7], radii: [1.5, 0.4]}\n", cone, 700);
  expect(2, "  - {type: polygon, points: [1, 1, 4, 1, 4, 2.2, 2.1, 2.2, 2.1, 5, 1, 5]}\n", polygon, 90);
  expect(
      3,
      "  - {type: polygon, axis: y, range: [2.15, 5.95], points: [1, 3, 4, 3, 4, 4.2, 2.1, 4.2, 2.1, 7, 1, 7]}\n",
      polygon_along_y, 1000);
  expect(2, "  - {type: formula, distance: \"(y - 2.2 - 0.4 * sin(x)) / sqrt(1.16)\"}\n", wavy, 200);
}

/* The distance with a normal, compared with the distance to many points of the surface. */
static void distances_of_an_ellipsoid_and_a_cone_are_exact(void **state)
{
  (void)state;
  const double pi = acos(-1);
  for (int shape = 0; shape < 2; shape++) {
    read_case it;
    REQUIRE_OK(read_bodies(&it, 3,
                           shape ? "  - {type: cone, from: [1, 2, 4], to: [4, 5, 7], radii: [1.5, 0.4]}\n"
                                 : "  - {type: ellipsoid, centre: [3.1, 4, 5.2], radii: [2.2, 0.7, 1.6]}\n"));
    for (int64_t i = 0; i < 60; i++) {
      const int64_t cell[3] = {3 + i * 7 % 29, 2 + i * 11 % 28, 1 + i * 5 % 25};
      const double at[3] = {(double)cell[0], (double)cell[1], (double)cell[2]};
      double p[3], least = INFINITY, normal[3], distance;
      point_of(&it.domain, 0, at, p);
      for (int a = 0; a <= 240; a++)
        for (int b = 0; b < 250; b++) {
          const double u = a / 240.0, v = 2 * pi * b / 250;
          double q[3] = {3.1 + 2.2 * sin(pi * u) * cos(v), 4 + 0.7 * sin(pi * u) * sin(v),
                         5.2 + 1.6 * cos(pi * u)};
          if (shape) { /* path from the axis at one end, along the mantle, to the axis at the other */
            const double e[2][3] = {{sqrt(0.5), -sqrt(0.5), 0}, {1 / sqrt(6), 1 / sqrt(6), -2 / sqrt(6)}};
            const double w = 3 * u,
                         along = w < 1   ? 0
                                 : w < 2 ? w - 1
                                         : 1,
                         r = w < 1   ? 1.5 * w
                             : w < 2 ? 1.5 - 1.1 * (w - 1)
                                     : 0.4 * (3 - w);
            for (int k = 0; k < 3; k++)
              q[k] = (k == 0 ? 1 : k == 1 ? 2 : 4) + 3 * along + r * (cos(v) * e[0][k] + sin(v) * e[1][k]);
          }
          least = fmin(least, square(q[0] - p[0]) + square(q[1] - p[1]) + square(q[2] - p[2]));
        }
      REQUIRE(gab_geometry_normal(it.geometry, 0, cell, 0, normal, &distance));
      /* the points are at most 0.05 apart */
      const double found = square(distance * it.domain.dx);
      if (found > least * (1 + 1e-12) || found < least - square(0.05))
        fail_msg("shape %d at %g %g %g: %g instead of %g", shape, p[0], p[1], p[2], distance * it.domain.dx,
                 sqrt(least));
    }
    end_case(&it);
  }
}

/* ------------------------------------------------------------------------------------------ sets, rotation, copies */

static double ball_at(const double p[3], double x, double y, double z, double r)
{
  return sqrt(square(p[0] - x) + square(p[1] - y) + square(p[2] - z)) - r;
}
static double flange(const double p[3])
{
  double solid = fmax(fmax(fabs(p[0] - 3) - 2, fabs(p[1] - 3.5) - 1.5), fabs(p[2] - 5) - 0.8);
  for (int hole = 0; hole < 2; hole++) solid = fmax(solid, 0.45 - hypot(p[0] - 2 - 2.1 * hole, p[1] - 3.4));
  return solid;
}
static double rotated_flange(const double p[3])
{
  const double angle = 30 * acos(-1) / 180, x = p[0] - 3, y = p[1] - 3.5;
  const double q[3] = {3 + cos(angle) * x + sin(angle) * y, 3.5 - sin(angle) * x + cos(angle) * y, p[2]};
  return flange(q);
}
static double lens(const double p[3]) { return fmax(ball_at(p, 2.4, 4, 5, 1.8), ball_at(p, 3.9, 4, 5, 1.5)); }
static double outside_of_lens(const double p[3]) { return -lens(p); }
static double pair(const double p[3])
{
  return fmin(ball_at(p, 1.2, 4, 5, 1.1),
              fmax(fmax(fabs(p[0] - 4) - 1, fabs(p[1] - 4) - 1), fabs(p[2] - 5) - 1.2));
}
static double row(const double p[3])
{
  double least = INFINITY;
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 2; k++) least = fmin(least, hypot(p[0] - 0.4 - 2.3 * i, p[1] - 5.5 + 2.9 * k) - 0.85);
  return least;
}
/* A box, rotated about x by 90, then about z by 45 degrees. */
static double turned_box(const double p[3])
{
  const double s = sqrt(0.5), x = p[0] - 3, y = p[1] - 4, z = p[2] - 5;
  const double a = s * (x + y), b = s * (y - x); /* back about z */
  const double c = z, d = -b;                    /* back about x: y' = z, z' = -y */
  return fmax(fmax(fabs(a) - 2, fabs(c) - 0.6), fabs(d) - 1.1);
}

/* Bars at 30 degrees, 1.7 apart along x. */
static double bars(const double p[3])
{
  double least = INFINITY;
  for (int i = 0; i < 3; i++) {
    const double angle = acos(-1) / 6, x = p[0] - 1.5 - 1.7 * i, y = p[1] - 4;
    const double along = cos(angle) * x + sin(angle) * y, across = cos(angle) * y - sin(angle) * x;
    least = fmin(least, fmax(fabs(along) - 0.5, fabs(across) - 1.5));
  }
  return fmin(least, hypot(p[0] - 6.5, p[1] - 2) - 0.6);
}

static const char *const flange_parts =
    "  - {name: plate, type: box, lo: [1, 2, 4.2], hi: [5, 5, 5.8]}\n"
    "  - {name: hole, type: cylinder, centre: [2, 3.4, 0], radius: 0.45, copies: "
    "[2, 1, 1], copy_offset: [2.1, 0, 0]}\n";

static void sets_rotations_and_copies_are_what_formulas_say(void **state)
{
  (void)state;
  char text[1024];
  snprintf(text, sizeof text, "%s  - {name: flange, type: difference, of: [plate, hole]}\n", flange_parts);
  expect(3, text, flange, 500);
  snprintf(
      text, sizeof text,
      "%s  - {type: difference, of: [plate, hole], rotation: [0, 0, 30], rotation_centre: [3, 3.5, 5]}\n",
      flange_parts);
  expect(3, text, rotated_flange, 500);
  const char *balls = "  - {name: a, type: sphere, centre: [2.4, 4, 5], radius: 1.8}\n"
                      "  - {name: b, type: sphere, centre: [3.9, 4, 5], radius: 1.5}\n";
  snprintf(text, sizeof text, "%s  - {type: intersection, of: [a, b]}\n", balls);
  expect(3, text, lens, 300);
  snprintf(text, sizeof text, "%s  - {type: intersection, of: [a, b], inside: fluid}\n", balls);
  expect(3, text, outside_of_lens, 3000);
  expect(3,
         "  - {name: a, type: sphere, centre: [1.2, 4, 5], radius: 1.1}\n"
         "  - {name: b, type: box, lo: [3, 3, 3.8], hi: [5, 5, 6.2]}\n"
         "  - {type: union, of: [a, b]}\n",
         pair, 600);
  expect(2,
         "  - {type: cylinder, centre: [0.4, 5.5], radius: 0.85, copies: [3, 2], copy_offset: [2.3, -2.9]}\n",
         row, 150);
  expect(
      2,
      "  - {name: bar, type: box, lo: [1, 2.5], hi: [2, 5.5], rotation: [30], copies: [3, 1], copy_offset: [1.7, 0]}\n"
      "  - {name: rod, type: sphere, centre: [6.5, 2], radius: 0.6}\n"
      "  - {type: union, of: [bar, rod]}\n",
      bars, 100);
  expect(3, "  - {type: box, lo: [1, 3.4, 3.9], hi: [5, 4.6, 6.1], rotation: [90, 0, 45]}\n", turned_box,
         500);
}

/* ------------------------------------------------------------------------------------------ voxels */

static double slab_of_waves(int64_t x, int64_t y, int64_t z)
{
  return 3 * sin(0.4 * (double)x) + cos(0.3 * (double)y) + 0.1 * (double)z;
}

/* Voxels of half a cell from (0, 1, 3); a data set of three dimensions, x last. */
static void voxels_of_a_data_set_are_solid_in_their_range(void **state)
{
  enum { NX = 30, NY = 26, NZ = 21 };
  static float values[NZ][NY][NX];
  const hsize_t size[3] = {NZ, NY, NX};
  const char *bodies =
      "  - {type: voxels, file: test_shapes.h5, dataset: sample/phase, solid: [0.5, 2], lo: [0, 1, 3], voxel: "
      "0.125}\n";
  (void)state;
  for (int z = 0; z < NZ; z++)
    for (int y = 0; y < NY; y++)
      for (int x = 0; x < NX; x++) values[z][y][x] = (float)slab_of_waves(x, y, z);
  const hid_t file = H5Fcreate("test_shapes.h5", H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t group = H5Gcreate2(file, "sample", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t space = H5Screate_simple(3, size, NULL);
  const hid_t set = H5Dcreate2(group, "phase", H5T_IEEE_F32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  REQUIRE(H5Dwrite(set, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
  H5Dclose(set);
  H5Sclose(space);
  H5Gclose(group);
  H5Fclose(file);
  read_case it;
  REQUIRE_OK(read_bodies(&it, 3, bodies));
  int solids = 0, bounds = 0;
  for (int level = 0; level < 2; level++) {
    int64_t cell[3];
    gab_box all = {{0, 0, 0}, {0, 0, 0}};
    uint64_t fluid = 0;
    for (int axis = 0; axis < 3; axis++) all.hi[axis] = it.domain.cells[axis] << level;
    for (cell[2] = 0; cell[2] < all.hi[2]; cell[2]++)
      for (cell[1] = 0; cell[1] < all.hi[1]; cell[1]++)
        for (cell[0] = 0; cell[0] < all.hi[0]; cell[0]++) {
          const double at[3] = {(double)cell[0], (double)cell[1], (double)cell[2]};
          double p[3];
          point_of(&it.domain, level, at, p);
          const double v[3] = {floor(p[0] * 8), floor((p[1] - 1) * 8), floor((p[2] - 3) * 8)};
          const bool is_in = v[0] >= 0 && v[0] < NX && v[1] >= 0 && v[1] < NY && v[2] >= 0 && v[2] < NZ;
          const float value = is_in ? values[(int)v[2]][(int)v[1]][(int)v[0]] : -1;
          const bool expected = value >= 0.5 && value <= 2;
          REQUIRE((gab_geometry_cell(it.geometry, level, cell) == 0) == expected);
          solids += expected;
          bounds += !is_in;
          fluid += !expected;
        }
    REQUIRE(gab_geometry_fluid_cells(it.geometry, level, &all) == fluid);
  }
  REQUIRE(solids > 1000 && bounds > 1000);
  const int64_t near[3] = {8, 8, 8};
  double normal[3], distance;
  REQUIRE(!gab_geometry_normal(it.geometry, 0, near, 0, normal, &distance));
  end_case(&it);
  refuses(3, "  - {type: voxels, file: test_shapes.h5, dataset: sample/phases, lo: [0, 1, 3], voxel: 0.1}\n",
          "is not there");
  refuses(3, "  - {type: voxels, file: test_shapes.h5, dataset: sample, lo: [0, 1, 3], voxel: 0.1}\n",
          "test.yaml:4:");
  refuses(3, "  - {type: voxels, file: test_shapes.h6, dataset: a, lo: [0, 1, 3], voxel: 0.1}\n",
          "test_shapes.h6");
  refuses(2, "  - {type: voxels, file: test_shapes.h5, dataset: sample/phase, lo: [0, 1], voxel: 0.1}\n",
          "has 3 dimensions, the domain 2");
  refuses(
      3,
      "  - {type: voxels, file: test_shapes.h5, dataset: sample/phase, lo: [0, 1, 3], voxel: 0.1, rotation: [0, 0, 45]}\n",
      "cannot be rotated");
  REQUIRE(unlink("test_shapes.h5") == 0);
}

/* In messages bodies after a set keep the number of their item; parts are not bodies. */
static void parts_are_no_bodies(void **state)
{
  (void)state;
  read_case it;
  char text[1024];
  snprintf(text, sizeof text,
           "%s  - {name: flange, type: difference, of: [plate, hole]}\n"
           "  - {name: rod, type: sphere, centre: [6, 6, 7], radius: 0.8}\n",
           flange_parts);
  REQUIRE_OK(read_bodies(&it, 3, text));
  REQUIRE(it.setup.body_count == 2 && it.setup.bodies[0].item == 2 && it.setup.bodies[1].item == 3);
  REQUIRE(strcmp(gab_geometry_body(it.geometry, 1)->name, "rod") == 0);
  const int64_t rod[3] = {28, 24, 20};
  REQUIRE(gab_geometry_cell(it.geometry, 0, rod) == 1);
  double lo[3], hi[3];
  gab_body_extent(&it.setup.bodies[0], 3, lo, hi);
  REQUIRE(lo[0] == 1 && hi[0] == 5 && lo[2] == 4.2 && hi[2] == 5.8);
  end_case(&it);
}

static void walls_spin_in_their_surface(void **state)
{
  (void)state;
  read_case it;
  REQUIRE_OK(read_bodies(
      &it, 3,
      "  - {type: cylinder, centre: [3, 4, 0], radius: 1, spin: [0, 0, 0.02], velocity: [0.05, 0, "
      "0]}\n"));
  const double point[3] = {3, 5, 6};
  double velocity[3];
  gab_body_velocity_at(&it.setup.bodies[0], point, velocity);
  /* dt / dx = 2 */
  REQUIRE_NEAR(velocity[0], 2 * (0.05 - 0.02), 1e-15);
  REQUIRE_NEAR(velocity[1], 0, 1e-15);
  const int64_t cell[3] = {16, 19, 4};
  const double to_wall[3] = {-0.5, 0.5, 0}; /* the cell is at (3.125, 4.875) */
  gab_geometry_wall_velocity(it.geometry, 0, cell, 0, to_wall, velocity);
  REQUIRE_NEAR(velocity[0], 2 * (0.05 - 0.02 * (4.875 + 0.125 - 4)), 1e-15);
  REQUIRE_NEAR(velocity[1], 2 * 0.02 * (3.125 - 0.125 - 3), 1e-15);
  REQUIRE_NEAR(it.setup.speed, 2 * hypot(0.05 + 0.02 * 1, 0.02 * 1), 1e-12);
  end_case(&it);
}

static void what_cannot_be_is_refused_with_its_place(void **state)
{
  (void)state;
  const char *a = "  - {name: a, type: sphere, centre: [2, 2, 4], radius: 1}\n";
  char text[512];
  refuses(3, "  - {type: union, of: [a]}\n", "no body has the name 'a'");
  refuses(3, "  - {name: s, type: union, of: [s]}\n", "'s' must come before the set");
  snprintf(text, sizeof text, "%s  - {type: union, of: [a, a]}\n", a);
  refuses(3, text, "of");
  snprintf(text, sizeof text, "%s  - {type: union, of: [a]}\n  - {type: union, of: [a]}\n", a);
  refuses(3, text, "test.yaml:6:");
  refuses(3,
          "  - {name: a, type: sphere, centre: [2, 2, 4], radius: 1, velocity: [1, 0, 0]}\n"
          "  - {name: wheel, type: union, of: [a]}\n",
          "has no effect: the body is a part of wheel");
  refuses(2, "  - {type: torus, centre: [2, 2], radius: 1, tube: 0.2}\n", "needs a domain in 3D");
  refuses(2, "  - {type: polygon, points: [0, 0, 1, 1, 1, 0, 0, 1]}\n", "cross");
  refuses(2, "  - {type: polygon, points: [0, 0, 1, 1, 1, 0, 4]}\n", "odd number of coordinates: 7");
  refuses(2, "  - {type: polygon, points: [0, 0, 1, 1, 2, 2]}\n", "no area");
  refuses(2, "  - {type: formula, distance: \"2 * (y - 2)\"}\n", "does not return a distance");
  refuses(2, "  - {type: formula, distance: \"log(y - 2)\"}\n", "does not return a distance");
  refuses(3, "  - {type: half_space, point: [0, 0, 0], normal: [0, 0, 0]}\n", "must not be 0");
  refuses(3, "  - {type: cone, from: [0, 1, 3], to: [0, 1, 3], radii: [1, 1]}\n", "another point");
  refuses(3, "  - {type: sphere, centre: [2, 2, 4], radius: 1, copies: [2, 1, 1]}\n", "needs copy_offset");
  refuses(3, "  - {type: sphere, centre: [2, 2, 4], radius: 1, copies: [2, 1, 1], copy_offset: [0, 1, 1]}\n",
          "not 0");
  refuses(
      3,
      "  - {type: sphere, centre: [2, 2, 4], radius: 1, inside: fluid, copies: [2, 1, 1], copy_offset: [1, 1, "
      "1]}\n",
      "inside is fluid");
  refuses(2, "  - {type: sphere, centre: [2, 2], radius: 1, rotation: [1, 2, 3]}\n", "one number in 2D");
  refuses(3, "  - {type: cylinder, centre: [2, 2, 4], radius: 1, rotation: [0, 20, 0]}\n",
          "rotation_centre: is needed");
  refuses(3, "  - {type: sphere, centre: [2, 2, 4], radius: 1, rotation_centre: [0, 20, 0]}\n",
          "without rotation");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(shapes_are_what_formulas_say),
      cmocka_unit_test(distances_of_an_ellipsoid_and_a_cone_are_exact),
      cmocka_unit_test(sets_rotations_and_copies_are_what_formulas_say),
      cmocka_unit_test(voxels_of_a_data_set_are_solid_in_their_range),
      cmocka_unit_test(parts_are_no_bodies),
      cmocka_unit_test(walls_spin_in_their_surface),
      cmocka_unit_test(what_cannot_be_is_refused_with_its_place),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
