/* SPDX-License-Identifier: Apache-2.0 */
/* Faults of a mesh that its tree finds: crossing triangles, and parts that face inwards. */
#include "lbm/boundaries/mesh/edges_impl.h"
#include "lbm/boundaries/mesh/predicates_impl.h"
#include "lbm/boundaries/mesh/tree_impl.h"

#include "core/memory/memory.h"

#include <math.h>

/* ---------------------------------------------------------------- crossings */

static bool share_corner(const uint32_t *a, const uint32_t *b)
{
  for (int i = 0; i < 9; i++)
    if (a[i / 3] == b[i % 3]) return true;
  return false;
}

/* Crossings of a triangle with those behind it in the mesh. @param[out] other  of the least number in the file */
static size_t crossings_of(const gab_mesh *mesh, size_t triangle, size_t *other)
{
  double corner[3][3], lo[3], hi[3];
  size_t count = 0;
  gab_mesh_corners(mesh, triangle, corner);
  for (int axis = 0; axis < 3; axis++) {
    lo[axis] = fmin(corner[0][axis], fmin(corner[1][axis], corner[2][axis]));
    hi[axis] = fmax(corner[0][axis], fmax(corner[1][axis], corner[2][axis]));
  }
  gab_mesh_walk walk = gab_mesh_walk_of(mesh);
  const gab_mesh_node *leaf;
  while ((leaf = gab_mesh_next_leaf(&walk, lo, hi)))
    for (size_t i = leaf->next; i < (size_t)leaf->next + leaf->count; i++) {
      double second[3][3];
      if (i <= triangle || share_corner(mesh->corner + 3 * triangle, mesh->corner + 3 * i)) continue;
      gab_mesh_corners(mesh, i, second);
      if (!gab_mesh_triangle_touches(second, lo, hi) || !gab_mesh_triangles_cross(corner, second)) continue;
      if (count++ == 0 || mesh->number[i] < *other) *other = mesh->number[i];
    }
  return count;
}

static void find_crossings(const gab_mesh *mesh, gab_mesh_report *report)
{
  size_t faults = 0;
  size_t least = SIZE_MAX, partner = 0, place = 0;
#pragma omp parallel for schedule(dynamic, 1024) reduction(+ : faults)
  for (size_t i = 0; i < mesh->triangle_count; i++) {
    size_t other = 0;
    const size_t count = crossings_of(mesh, i, &other);
    faults += count;
    if (count == 0) continue;
#pragma omp critical(gab_mesh_crossing)
    if (mesh->number[i] < least) {
      least = mesh->number[i];
      partner = other;
      place = i;
    }
  }
  report->faults[GAB_MESH_CROSSED] = faults;
  if (faults == 0) return;
  report->first[GAB_MESH_CROSSED] = least;
  report->other = partner;
  double corner[3][3];
  gab_mesh_corners(mesh, place, corner);
  for (int axis = 0; axis < 3; axis++)
    report->place[GAB_MESH_CROSSED][axis] = (corner[0][axis] + corner[1][axis] + corner[2][axis]) / 3;
}

/* ---------------------------------------------------------------- parts that face inwards */

/* Whether the winding number is negative on one side of a triangle, which then faces the wrong way. */
static bool faces_inwards(const gab_mesh *mesh, size_t triangle, double middle[3])
{
  double corner[3][3], normal[3], front[3], back[3];
  bool on_surface;
  const double near = 1e-6, area2 = gab_mesh_area_vector(mesh, triangle, normal);
  gab_mesh_corners(mesh, triangle, corner);
  if (!(area2 > 0)) return false;
  for (int axis = 0; axis < 3; axis++) {
    middle[axis] = (corner[0][axis] + corner[1][axis] + corner[2][axis]) / 3;
    front[axis] = middle[axis] + near * normal[axis] / sqrt(area2);
    back[axis] = middle[axis] - near * normal[axis] / sqrt(area2);
  }
  return gab_mesh_winding(mesh, front, &on_surface) < 0 || gab_mesh_winding(mesh, back, &on_surface) < 0;
}

/* Asks the largest triangle of each connected part. */
static gab_status find_inverted(const gab_mesh *mesh, gab_mesh_report *report)
{
  uint32_t *sets, *largest;
  double vector[3];
  GAB_TRY(gab_mesh_sets_create(mesh->vertex_count, &sets));
  const gab_status status = GAB_NEW_ARRAY(&largest, mesh->vertex_count, GAB_MEMORY_OTHER);
  for (size_t i = 0; status == GAB_OK && i < mesh->triangle_count; i++)
    for (size_t k = 1; k < 3; k++) gab_mesh_sets_join(sets, mesh->corner[3 * i], mesh->corner[3 * i + k]);
  for (size_t i = 0; status == GAB_OK && i < mesh->triangle_count; i++) {
    uint32_t *best = &largest[gab_mesh_set_of(sets, mesh->corner[3 * i])]; /* index + 1 */
    if (*best == 0 || gab_mesh_area_vector(mesh, i, vector) > gab_mesh_area_vector(mesh, *best - 1, vector))
      *best = (uint32_t)i + 1;
  }
  for (size_t i = 0; status == GAB_OK && i < mesh->vertex_count; i++) {
    double middle[3];
    if (largest[i] == 0 || !faces_inwards(mesh, largest[i] - 1, middle)) continue;
    const size_t number = mesh->number[largest[i] - 1];
    if (report->faults[GAB_MESH_INVERTED]++ > 0 && report->first[GAB_MESH_INVERTED] <= number) continue;
    report->first[GAB_MESH_INVERTED] = number;
    for (int axis = 0; axis < 3; axis++) report->place[GAB_MESH_INVERTED][axis] = middle[axis];
  }
  gab_free(&sets);
  gab_free(&largest);
  return status;
}

gab_status gab_mesh_check_index(const gab_mesh *mesh, gab_mesh_report *report)
{
  find_crossings(mesh, report);
  if (report->faults[GAB_MESH_OPEN] + report->faults[GAB_MESH_FLIPPED] + report->faults[GAB_MESH_CROWDED] > 0)
    return GAB_OK; /* without meaning there */
  return find_inverted(mesh, report);
}
