/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: labels=quick timeout=60 */
/* Meshes: files, checks, repair, and queries against analytic shapes and against all triangles one by one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "core/base/hash.h"
#include "core/memory/memory.h"
#include "lbm/boundaries/mesh/mesh.h"
#include "lbm/boundaries/mesh/predicates_impl.h"
#include "lbm/boundaries/mesh/tree_impl.h"
#include "mesh_shapes.h"

static const double zero[3] = {0, 0, 0};
static const gab_mesh_placement plain = {.scale = 1};

#define OK(call)                                                                                             \
  do {                                                                                                       \
    if ((call) != GAB_OK) fail_msg("%s", gab_error_message());                                               \
  } while (0)

static double random_in(double lo, double hi)
{
  static uint64_t counter;
  return lo + (hi - lo) * gab_hash_uniform(5, 6, ++counter);
}

/* A mesh through the bytes of a file. */
static gab_mesh mesh_of(const facets *list)
{
  gab_mesh mesh;
  size_t size;
  unsigned char *bytes = facets_stl(list, &size);
  OK(gab_mesh_parse(bytes, size, "test.stl", &mesh));
  free(bytes);
  OK(gab_mesh_place(&mesh, &plain, "test.stl"));
  return mesh;
}

static gab_status check(gab_mesh *mesh, gab_mesh_report *report)
{
  OK(gab_mesh_check(mesh, report));
  OK(gab_mesh_index(mesh));
  OK(gab_mesh_check_index(mesh, report));
  return gab_mesh_refuse(report, "test.stl");
}

static void refused(const facets *list, const char *why)
{
  gab_mesh_report report;
  gab_mesh mesh = mesh_of(list);
  assert_int_equal(check(&mesh, &report), GAB_ERR_INPUT);
  if (!strstr(gab_error_message(), why)) fail_msg("expected '%s' in: %s", why, gab_error_message());
  gab_mesh_release(&mesh);
}

static void unreadable(const void *bytes, size_t size, const char *name, const char *why)
{
  gab_mesh mesh;
  assert_int_equal(gab_mesh_parse(bytes, size, name, &mesh), GAB_ERR_INPUT);
  if (!strstr(gab_error_message(), why)) fail_msg("expected '%s' in: %s", why, gab_error_message());
  assert_null(mesh.vertex);
}

/* ---------------------------------------------------------------- files */

static void bad_files_are_refused_with_the_place(void **state)
{
  (void)state;
  const double lo[3] = {0, 0, 0}, hi[3] = {1, 2, 3};
  facets box = facets_box(lo, hi);
  size_t size;
  unsigned char *bytes = facets_stl(&box, &size);
  const size_t before = gab_memory_peak(GAB_MEMORY_USE_COUNT);
  memcpy(bytes + 80, "\x00\x28\x6b\xee", 4); /* 4e9 */
  unreadable(bytes, size, "a.stl", "a.stl: its head says 4000000000 triangles");
  assert_true(gab_memory_peak(GAB_MEMORY_USE_COUNT) == before);
  memset(bytes + 80, 0, 4);
  unreadable(bytes, size, "a.stl", "its head says 0 triangles, which take 84 bytes, but the file has 684");
  unreadable(bytes, 84, "a.stl", "a.stl: no triangles");
  bytes[80] = 12;
  unreadable(bytes, size - 1, "a.stl", "cut off, or not an STL file");
  unreadable("PK", 2, "a.stl", "not an STL file: 2 bytes");
  unreadable("", 0, "a.stl", "not an STL file");
  memcpy(bytes + 84 + 50 * 3 + 12, "\x00\x00\xc0\x7f", 4);
  unreadable(bytes, size, "a.stl", "a.stl: triangle 4: corner 1 (nan, 0, 0) is not finite");
  memcpy(bytes + 84 + 50 * 3 + 12, "\x00\x00\x80\xff", 4);
  unreadable(bytes, size, "a.stl", "a.stl: triangle 4: corner 1 (-inf, 0, 0) is not finite");
  unreadable(bytes, size, "a.ply", "must end with .stl or .obj");
  free(bytes);
  facets_release(&box);
#define TEXT(text, name, why) unreadable(text, sizeof(text) - 1, name, why)
  TEXT("solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 nan\n", "b.stl",
       "b.stl:5: expected a finite coordinate, got 'nan'");
  TEXT("solid a\nvertex 0 0 0\nvertex 1 0 1e39\n", "b.stl", "b.stl:3: point (1, 0, 1e+39)");
  TEXT("solid a\nvertex 0 0 0\nvertex 1 0\n", "b.stl", "b.stl:3: expected 3 coordinates, got 2");
  TEXT("solid a\nvertex 0 0 0\nvertex 1 0 0\nendfacet\n", "b.stl", "b.stl:4: triangle 1 has 2 corners");
  TEXT("solid a\nvertex 0 0 0\nvertex 1 0 0\nvertex 1 0 1\nvertex 1 0 1\n", "b.stl",
       "has more than 3 corners");
  TEXT("solid a\nvertex 0 0 0\nvertex 1 0 0\nvertex 1 1 0\nendfacet\n", "b.stl", "cut off after triangle 1");
  TEXT("solid a\nhello\n", "b.stl", "b.stl:2: not a line of an STL file: 'hello'");
  TEXT("solid a\nendsolid\n", "b.stl", "b.stl: no triangles");
  TEXT("v 0 0 0\nv 1 0 0\nf 1 2 3\n", "c.obj", "c.obj:3: point 3 is not among the 2 points before it");
  TEXT("v 0 0 0\nv 1 0 0\nf 1 2 -3\n", "c.obj", "c.obj:3: point -3 is not among");
  TEXT("v 0 0 0\nv 1 0 0\nf 1 2\n", "c.obj", "c.obj:3: a face of 2 corners");
  TEXT("v 0 0 0\nf 1/1 x 0\n", "c.obj", "c.obj:2: expected the number of a point, got 'x'");
  TEXT("v 0 0 inf\n", "c.obj", "c.obj:1: expected a finite coordinate");
  TEXT("# nothing\n", "c.obj", "c.obj: no triangles");
#undef TEXT
}

static void formats_give_the_same_mesh(void **state)
{
  (void)state;
  static const char ascii[] =
      "solid tetra\r\n"
      " facet normal 0 0 0\n outer loop\n vertex 0 0 0\n vertex 0 1 0\n vertex 1 0 0\n endloop\n endfacet\n"
      " facet normal 0 0 0\n outer loop\n vertex 0 0 0\n vertex 1 0 0\n vertex 0 0 1\n endloop\n endfacet\n"
      " facet normal 0 0 0\n outer loop\n vertex -0 0 0\n vertex 0 0 1.0\n vertex 0 1e0 0\n endloop\n endfacet\n"
      " facet normal 0 0 0\n outer loop\n vertex 1 0 0\n vertex 0 1 0\n vertex 0 0 1\n endloop\n endfacet\n"
      "endsolid tetra\n";
  static const char obj[] =
      "# tetra\nmtllib a.mtl\nv 0 0 0\nv 0 1 0 1.0\nv 1 0 0\nvn 0 0 1\nf 1//1 2//1 3//1\n"
      "v 0 0 1\nf -4 -2 -1\nf 1/7/1 4 2/2\nf 3 2 4 # the last\n";
  gab_mesh first, second;
  OK(gab_mesh_parse((const unsigned char *)ascii, sizeof ascii - 1, "t.STL", &first));
  OK(gab_mesh_parse((const unsigned char *)obj, sizeof obj - 1, "t.obj", &second));
  assert_int_equal(first.triangle_count, 4);
  assert_int_equal(first.vertex_count, 4);
  assert_int_equal(second.vertex_count, 4);
  assert_memory_equal(first.corner, second.corner, 12 * sizeof *first.corner);
  assert_memory_equal(first.vertex, second.vertex, 12 * sizeof *first.vertex);
  gab_mesh_release(&second);
  static const char square[] = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n";
  OK(gab_mesh_parse((const unsigned char *)square, sizeof square - 1, "t.obj", &second));
  assert_int_equal(second.triangle_count, 2);
  const uint32_t fan[6] = {0, 1, 2, 0, 2, 3};
  assert_memory_equal(second.corner, fan, sizeof fan);
  gab_mesh_release(&first);
  gab_mesh_release(&second);
}

/* ---------------------------------------------------------------- faults */

static void groups_have_their_triangles(void **state)
{
  (void)state;
  static const char
      obj[] = "v 0 0 0\nv 2 0 0\nv 0 2 0\nv 0 0 2\nf 1 3 2\no tank\ng floor  \nf 1 2 4\nusemtl steel\n"
              "f 1 4 3\ng lid of it\nf 2 3 4\n",
      stl[] =
          "solid floor a\nfacet\nvertex 0 0 0\nvertex 0 2 0\nvertex 2 0 0\nendfacet\nendsolid floor a\n"
          "solid rest\nfacet\nvertex 0 0 0\nvertex 2 0 0\nvertex 0 0 2\nendfacet\nfacet\nvertex 0 0 0\n"
          "vertex 0 0 2\nvertex 0 2 0\nendfacet\nfacet\nvertex 2 0 0\nvertex 0 2 0\nvertex 0 0 2\nendfacet\n"
          "endsolid\n";
  const double sum = 2 * sqrt(3.0), centre[3] = {0.7, 0.7, 0.7}, side[3] = {0.5, -0.1, 0.5};
  double lo[3], hi[3], nearest[3];
  size_t triangle;
  gab_mesh mesh;
  assert_int_equal(gab_mesh_parse((const unsigned char *)obj, sizeof obj - 1, "a.obj", &mesh), GAB_OK);
  assert_int_equal(gab_mesh_place(&mesh, &plain, "a"), GAB_OK);
  assert_int_equal(gab_mesh_index(&mesh), GAB_OK);
  assert_true(fabs(gab_mesh_group_area(&mesh, "tank", lo, hi) - 4 - sum) < 1e-12);
  assert_true(gab_mesh_group_area(&mesh, "floor", lo, hi) == 4 && hi[0] == 2 && hi[1] == 2 && lo[2] == 0);
  assert_true(fabs(gab_mesh_group_area(&mesh, "steel", lo, hi) - 2 - sum) < 1e-12);
  assert_true(fabs(gab_mesh_group_area(&mesh, "lid of it", lo, hi) - sum) < 1e-12);
  assert_true(gab_mesh_group_area(&mesh, "lid", lo, hi) == 0 && gab_mesh_group_area(&mesh, "", lo, hi) == 0);
  (void)gab_mesh_distance(&mesh, centre, nearest, &triangle);
  assert_true(gab_mesh_is_in_group(&mesh, triangle, "lid of it") &&
              gab_mesh_is_in_group(&mesh, triangle, "steel") &&
              !gab_mesh_is_in_group(&mesh, triangle, "floor"));
  (void)gab_mesh_distance(&mesh, side, nearest, &triangle);
  assert_true(gab_mesh_is_in_group(&mesh, triangle, "floor") &&
              !gab_mesh_is_in_group(&mesh, triangle, "steel"));
  gab_mesh_release(&mesh);
  assert_int_equal(gab_mesh_parse((const unsigned char *)stl, sizeof stl - 1, "a.stl", &mesh), GAB_OK);
  assert_true(gab_mesh_group_area(&mesh, "floor a", lo, hi) == 2);
  assert_true(fabs(gab_mesh_group_area(&mesh, "rest", lo, hi) - 4 - sum) < 1e-12);
  gab_mesh_release(&mesh);
}

/* Names of 63 and of 64 characters, and files with the largest number of distinct names and one more. */
static void names_are_never_mixed_up(void **state)
{
  enum { LONGEST = GAB_MESH_NAME - 1, MANY = GAB_MESH_MOST_GROUPS };
  static const char points[] = "v 0 0 0\nv 2 0 0\nv 0 2 0\nv 0 0 2\n";
  char text[512], name[LONGEST + 1], *file = malloc((size_t)(MANY + 1) * 16 + sizeof text);
  double lo[3], hi[3];
  gab_mesh mesh;
  (void)state;
  memset(name, 'a', LONGEST);
  name[LONGEST] = 0;
  int length = snprintf(text, sizeof text, "%sg %s\nf 1 3 2\ng %sb\nf 1 2 4\ng %sc\nf 1 4 3\nf 2 3 4\n",
                        points, name, name, name);
  assert_int_equal(gab_mesh_parse((const unsigned char *)text, (size_t)length, "a.obj", &mesh), GAB_OK);
  assert_true(gab_mesh_group_area(&mesh, name, lo, hi) == 2);
  gab_mesh_release(&mesh);
  for (int count = MANY - 1; count <= MANY; count++) {
    length = sprintf(file, "%sg first\nf 1 3 2\n", points);
    for (int i = 0; i < count; i++) length += sprintf(file + length, "g %d\n", i);
    length += sprintf(file + length, "f 1 2 4\nf 1 4 3\nf 2 3 4\n");
    assert_int_equal(gab_mesh_parse((const unsigned char *)file, (size_t)length, "a.obj", &mesh), GAB_OK);
    assert_true(mesh.triangle_count == 4 && mesh.groups.are_too_many == (count == MANY));
    assert_true(gab_mesh_group_area(&mesh, "first", lo, hi) == (count == MANY ? 0 : 2));
    gab_mesh_release(&mesh);
  }
  free(file);
}

static void faults_name_their_triangle(void **state)
{
  (void)state;
  const double lo[3] = {0, 0, 0}, hi[3] = {1, 2, 3}, other_lo[3] = {0.5, 0.5, 0.5}, other_hi[3] = {4, 4, 4};
  facets box = facets_box(lo, hi), other = facets_box(other_lo, other_hi);
  gab_mesh_report report;
  gab_mesh mesh = mesh_of(&box);
  OK(check(&mesh, &report));
  assert_true(report.volume == 6 && report.area == 22 && report.components == 1 && report.holes == 0);
  gab_mesh_release(&mesh);

  facets changed = facets_box(lo, hi);
  changed.count = 11;
  refused(&changed, "3 open edges (triangle 1 at (0, 1, 3) m) around 1 hole");
  refused(&changed, "set `repair: winding'");
  changed.count = 12;
  for (int axis = 0; axis < 3; axis++) { /* triangle 5 */
    const double kept = changed.corner[4][0][axis];
    changed.corner[4][0][axis] = changed.corner[4][1][axis];
    changed.corner[4][1][axis] = kept;
  }
  refused(&changed, "3 edges between triangles of opposite orientation (triangle 5 at");
  facets_release(&changed);

  changed = facets_box(lo, hi);
  facets_add(&changed, changed.corner[6][1], changed.corner[6][2], changed.corner[6][0]);
  refused(&changed, "3 edges of more than two triangles (triangle 13 at");
  refused(&changed, "1 duplicate triangle (triangle 13 at");
  facets_release(&changed);

  changed = facets_box(lo, hi);
  facets_add(&changed, changed.corner[6][1], changed.corner[6][2], changed.corner[6][1]);
  refused(&changed, "1 triangle without area (triangle 13 at");
  facets_release(&changed);

  changed = facets_box(lo, hi);
  for (size_t i = 0; i < other.count; i++)
    facets_add(&changed, other.corner[i][0], other.corner[i][1], other.corner[i][2]);
  refused(&changed,
          /* a box that protrudes into another */
          "pairs of crossing triangles (triangle 3 and 17 at (1, 1.33333, 1) m)");
  facets_release(&changed);

  changed = facets_box(lo, hi);
  for (size_t i = 0; i < box.count; i++) /* far away and with inverted orientation */
    for (int k = 0; k < 3; k++) other.corner[i][k][0] += 10;
  for (size_t i = 0; i < other.count; i++)
    facets_add(&changed, other.corner[i][1], other.corner[i][0], other.corner[i][2]);
  refused(&changed, "1 part that faces inwards (triangle ");
  facets_release(&changed);
  facets_release(&box);
  facets_release(&other);
}

/* A hollow body is not a fault: its inner surface faces the cavity. */
static void cavities_are_outside(void **state)
{
  (void)state;
  const double lo[3] = {0, 0, 0}, hi[3] = {9, 9, 9}, inner_lo[3] = {2, 2, 2}, inner_hi[3] = {7, 7, 7};
  facets list = facets_box(lo, hi), inner = facets_box(inner_lo, inner_hi);
  for (size_t i = 0; i < inner.count; i++)
    facets_add(&list, inner.corner[i][0], inner.corner[i][2], inner.corner[i][1]);
  gab_mesh_report report;
  gab_mesh mesh = mesh_of(&list);
  OK(check(&mesh, &report));
  assert_true(report.components == 2 && fabs(report.volume - (729 - 125)) < 1e-9);
  const double cavity[3] = {4, 4, 4}, wall[3] = {1, 4, 4};
  assert_false(gab_mesh_has(&mesh, cavity));
  assert_true(gab_mesh_has(&mesh, wall));
  gab_mesh_release(&mesh);
  facets_release(&list);
  facets_release(&inner);
}

/* ---------------------------------------------------------------- repair */

static void repaired(facets *list, bool (*expected)(const double *), double except)
{
  gab_mesh mesh = mesh_of(list);
  OK(gab_mesh_repair(&mesh));
  OK(gab_mesh_index(&mesh));
  for (int i = 0; i < 4000; i++) {
    const double point[3] = {random_in(-1.3, 1.3), random_in(-1.3, 1.3), random_in(-1.3, 1.3)};
    double nearest[3];
    size_t triangle;
    if (gab_mesh_distance(&mesh, point, nearest, &triangle) < except) continue;
    if (gab_mesh_has(&mesh, point) != expected(point))
      fail_msg("(%g, %g, %g) should be %s", point[0], point[1], point[2],
               expected(point) ? "inside" : "outside");
  }
  gab_mesh_release(&mesh);
}

static bool in_ball(const double *p) { return p[0] * p[0] + p[1] * p[1] + p[2] * p[2] < 1; }

static void repair_closes_small_holes_and_turns_triangles(void **state)
{
  (void)state;
  facets list = facets_sphere(zero, 1, 12);
  for (int i = 0; i < 20; i++) { /* a small hole in each face of the icosahedron */
    const size_t hole = (size_t)(i * 144 + 70);
    memmove(list.corner[hole], list.corner[--list.count], sizeof *list.corner);
  }
  for (size_t i = 0; i < list.count; i += 3) /* a third of all triangles inverted */
    for (int axis = 0; axis < 3; axis++) {
      const double kept = list.corner[i][0][axis];
      list.corner[i][0][axis] = list.corner[i][1][axis];
      list.corner[i][1][axis] = kept;
    }
  facets_add(&list, list.corner[5][0], list.corner[5][1], list.corner[5][2]); /* and one twice */
  repaired(&list, in_ball, 0.02);
  facets_release(&list);
}

/* ---------------------------------------------------------------- queries */

static double to_torus(const double *p, double ring, double tube)
{
  const double across = sqrt(p[0] * p[0] + p[1] * p[1]) - ring;
  return sqrt(across * across + p[2] * p[2]) - tube;
}

static void torus_has_its_distance_and_inside(void **state)
{
  (void)state;
  facets list = facets_torus(10, 4, 200, 100);
  gab_mesh_report report;
  gab_mesh mesh = mesh_of(&list);
  OK(check(&mesh, &report));
  const double pi = 3.14159265358979323846;
  assert_true(fabs(report.volume / (2 * pi * pi * 10 * 16) - 1) < 2e-3);
  assert_true(fabs(report.area / (4 * pi * pi * 10 * 4) - 1) < 1e-3);
  for (int i = 0; i < 5000; i++) {
    const double point[3] = {random_in(-16, 16), random_in(-16, 16), random_in(-6, 6)};
    const double exact = to_torus(point, 10, 4);
    double nearest[3];
    size_t triangle;
    const double distance = gab_mesh_distance(&mesh, point, nearest, &triangle);
    assert_true(fabs(distance - fabs(exact)) < 0.01);
    if (fabs(exact) > 0.01) assert_int_equal(gab_mesh_has(&mesh, point), exact < 0);
  }
  gab_mesh_release(&mesh);
  facets_release(&list);
}

/* The tree misses no triangle: compared with a loop over all triangles. */
static void queries_agree_with_all_triangles(void **state)
{
  (void)state;
  const double centre[3] = {3, 4, 5};
  facets list = facets_sphere(centre, 2, 10);
  gab_mesh mesh = mesh_of(&list);
  OK(gab_mesh_index(&mesh));
  for (int i = 0; i < 400; i++) {
    double point[3], far[3], nearest[3], best = INFINITY, lo[3], hi[3], t;
    size_t triangle;
    bool touches = false;
    int crossings = 0;
    for (int axis = 0; axis < 3; axis++) {
      point[axis] = random_in(centre[axis] - 3, centre[axis] + 3);
      far[axis] = point[axis] + random_in(-0.6, 0.6);
      lo[axis] = fmin(point[axis], far[axis]);
      hi[axis] = fmax(point[axis], far[axis]);
    }
    for (size_t k = 0; k < list.count; k++) {
      double place[3], corner[3][3];
      gab_mesh_corners(&mesh, k, corner);
      best = fmin(best, gab_mesh_triangle_nearest(corner, point, place));
      touches = touches || gab_mesh_triangle_touches(corner, lo, hi);
    }
    assert_true(fabs(gab_mesh_distance(&mesh, point, nearest, &triangle) - sqrt(best)) < 1e-14);
    assert_int_equal(gab_mesh_touches(&mesh, lo, hi), touches);
    const bool inside = gab_mesh_has(&mesh, point), other = gab_mesh_has(&mesh, far);
    const bool crosses = gab_mesh_crossing(&mesh, point, far, &t);
    if (inside != other) assert_true(crosses);
    crossings += crosses;
    if (!crosses) continue;
    double at[3], square = 0;
    for (int axis = 0; axis < 3; axis++) at[axis] = point[axis] + t * (far[axis] - point[axis]);
    for (int axis = 0; axis < 3; axis++) square += (at[axis] - centre[axis]) * (at[axis] - centre[axis]);
    assert_true(sqrt(square) < 2 + 1e-6 && sqrt(square) > 1.98);
    const gab_mesh_state is = gab_mesh_state_of(&mesh, lo, hi);
    assert_true(crossings == 0 || is == GAB_MESH_SURFACE);
  }
  gab_mesh_release(&mesh);
  facets_release(&list);
}

/* No ray passes between triangles, also through corners and edges: points of the lattice of the corners. */
static void cube_on_lattice_points_is_exact(void **state)
{
  (void)state;
  const double lo[3] = {2, 2, 2}, hi[3] = {6, 6, 6};
  facets list = facets_box(lo, hi);
  gab_mesh mesh = mesh_of(&list);
  OK(gab_mesh_index(&mesh));
  for (int i = 0; i < 33 * 33 * 33; i++) {
    const double point[3] = {0.25 * (i % 33), 0.25 * (i / 33 % 33), 0.25 * (i / 1089)};
    bool inside = true, on_surface;
    for (int axis = 0; axis < 3; axis++) inside = inside && point[axis] >= 2 && point[axis] <= 6;
    assert_int_equal(gab_mesh_has(&mesh, point), inside); /* the surface counts as inside */
    bool within = inside;
    for (int axis = 0; axis < 3; axis++) within = within && point[axis] > 2 && point[axis] < 6;
    const int winding = gab_mesh_winding(&mesh, point, &on_surface);
    assert_true(winding == 0 || winding == 1);
    if (within) assert_int_equal(winding, 1);
    assert_int_equal(on_surface, inside && !within);
    if (!inside) assert_int_equal(winding, 0);
  }
  gab_mesh_release(&mesh);
  facets_release(&list);
}

/* Sides of a prism as needles of 1e-6 of their length, rotated off the axes. */
static void needles_do_not_leak(void **state)
{
  (void)state;
  enum { SIDES = 3000 };
  facets list = {0};
  const double turn = 2 * 3.14159265358979323846 / SIDES;
  for (int i = 0; i < SIDES; i++) {
    double p[6][3];
    for (int k = 0; k < 4; k++) {
      const double angle = turn * ((i + k / 2) % SIDES);
      p[k][0] = 0.01 * cos(angle);
      p[k][1] = 0.01 * sin(angle);
      p[k][2] = k % 2 ? 20 : -20;
    }
    for (int k = 0; k < 2; k++) p[4 + k][0] = p[4 + k][1] = 0, p[4 + k][2] = k ? 20 : -20;
    for (int k = 0; k < 6; k++) {
      const double x = p[k][0], z = p[k][2];
      p[k][0] = (float)(0.6 * x + 0.8 * z);
      p[k][1] = (float)p[k][1];
      p[k][2] = (float)(-0.8 * x + 0.6 * z);
    }
    facets_add(&list, p[0], p[2], p[3]);
    facets_add(&list, p[0], p[3], p[1]);
    facets_add(&list, p[4], p[2], p[0]);
    facets_add(&list, p[5], p[1], p[3]);
  }
  gab_mesh_report report;
  gab_mesh mesh = mesh_of(&list);
  OK(gab_mesh_check(&mesh, &report));
  assert_int_equal(report.faults[GAB_MESH_OPEN] + report.faults[GAB_MESH_FLIPPED], 0);
  OK(gab_mesh_index(&mesh));
  for (int i = 0; i < 20000; i++) {
    const double along = random_in(-19.9, 19.9), angle = random_in(0, 6.3), radius = random_in(0, 0.02);
    const double x = radius * cos(angle);
    const double point[3] = {0.6 * x + 0.8 * along, radius * sin(angle), -0.8 * x + 0.6 * along};
    if (fabs(radius - 0.01) > 1e-5) assert_int_equal(gab_mesh_has(&mesh, point), radius < 0.01);
  }
  gab_mesh_release(&mesh);
  facets_release(&list);
}

static void signs_are_exact_near_zero(void **state)
{
  (void)state;
  const double a[3] = {12, 12, 0}, b[3] = {24, 24, 0}, c[3] = {0.5, 0.5, 7};
  for (int i = -40; i <= 40; i++) {
    const double p[3] = {0.5 + i * 0x1p-53, 0.5, 1}, q[2] = {p[0], p[1]};
    const int expected = (p[0] > 0.5) - (p[0] < 0.5);
    assert_int_equal(gab_mesh_orient2d(a, b, q), -expected);
    assert_int_equal(gab_mesh_orient2d(b, a, q), expected);
    assert_int_equal(abs(gab_mesh_orient3d(a, b, c, p)), abs(expected));
    assert_int_equal(gab_mesh_orient3d(a, b, c, p), -gab_mesh_orient3d(b, a, c, p));
  }
}

static void placement_scales_turns_moves_and_fits(void **state)
{
  (void)state;
  const double lo[3] = {1, 0, 0}, hi[3] = {3, 1, 4};
  facets box = facets_box(lo, hi);
  gab_mesh mesh = mesh_of(&box);
  const gab_mesh_placement turned = {.scale = 0.001, .degrees = {0, 0, 90}, .translation = {5, 6, 7}};
  OK(gab_mesh_place(&mesh, &turned, "box"));
  assert_true(mesh.lo[0] == 5 + 0.001 * -1 && mesh.hi[0] == 5 && mesh.lo[1] == 6 + 0.001 * 1 &&
              mesh.hi[1] == 6 + 0.001 * 3 && mesh.lo[2] == 7 && mesh.hi[2] == 7 + 0.001 * 4);
  gab_mesh_release(&mesh);
  mesh = mesh_of(&box);
  const gab_mesh_placement fits = {.fits = true, .fit_lo = {0, 0, 0}, .fit_hi = {10, 10, 2}};
  OK(gab_mesh_place(&mesh, &fits, "box"));
  assert_true(mesh.lo[0] == 4.5 && mesh.hi[0] == 5.5 && mesh.lo[2] == 0 && mesh.hi[2] == 2);
  gab_mesh_release(&mesh);
  static const char flat[] = "v 0 0 0\nv 1 0 0\nv 1 1 0\nf 1 2 3\n";
  OK(gab_mesh_parse((const unsigned char *)flat, sizeof flat - 1, "t.obj", &mesh));
  assert_int_equal(gab_mesh_place(&mesh, &turned, "box"), GAB_ERR_INPUT);
  gab_mesh_release(&mesh);
  facets_release(&box);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bad_files_are_refused_with_the_place),
      cmocka_unit_test(formats_give_the_same_mesh),
      cmocka_unit_test(groups_have_their_triangles),
      cmocka_unit_test(names_are_never_mixed_up),
      cmocka_unit_test(faults_name_their_triangle),
      cmocka_unit_test(cavities_are_outside),
      cmocka_unit_test(repair_closes_small_holes_and_turns_triangles),
      cmocka_unit_test(torus_has_its_distance_and_inside),
      cmocka_unit_test(queries_agree_with_all_triangles),
      cmocka_unit_test(cube_on_lattice_points_is_exact),
      cmocka_unit_test(needles_do_not_leak),
      cmocka_unit_test(signs_are_exact_near_zero),
      cmocka_unit_test(placement_scales_turns_moves_and_fits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
