/* SPDX-License-Identifier: Apache-2.0 */
#include "lbm/boundaries/mesh/predicates_impl.h"
#include "lbm/boundaries/mesh/tree_impl.h"

#include "core/memory/memory.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------- winding number */

/* Whether a point lies above the edge a → b in the (y, z) plane, where the edge passes its y: a[1] <= y < b[1]. The same for
 * both triangles of the edge, which is given from its lower end. */
static bool is_above(const double a[3], const double b[3], const double point[3])
{
  if (point[2] < fmin(a[2], b[2])) return false;
  if (point[2] > fmax(a[2], b[2])) return true;
  return gab_mesh_orient2d(a + 1, b + 1, point + 1) > 0;
}

/* The sign with which the line through a point along x passes a triangle, 0 if it does not. The edges that pass the plane
 * y = point[1] form closed curves on a closed surface, and each curve has each end of an edge on one side of the line. So no
 * line passes through an edge or a corner unseen, or twice. */
static int passes(double corner[3][3], const double point[3])
{
  bool is_low[3], up = false, down = false;
  for (int k = 0; k < 3; k++) is_low[k] = corner[k][1] <= point[1];
  if (is_low[0] == is_low[1] && is_low[1] == is_low[2]) return 0;
  for (int k = 0; k < 3; k++) {
    const int next = (k + 1) % 3;
    if (is_low[k] == is_low[next]) continue;
    if (is_low[k]) up = is_above(corner[k], corner[next], point);
    else down = is_above(corner[next], corner[k], point);
  }
  return up == down ? 0 : up ? 1 : -1;
}

static bool is_on(double corner[3][3], const double point[3])
{
  for (int axis = 0; axis < 3; axis++) {
    if (point[axis] < fmin(corner[0][axis], fmin(corner[1][axis], corner[2][axis]))) return false;
    if (point[axis] > fmax(corner[0][axis], fmax(corner[1][axis], corner[2][axis]))) return false;
  }
  return gab_mesh_orient3d(corner[0], corner[1], corner[2], point) == 0 &&
         gab_mesh_triangle_has(corner[0], corner[1], corner[2], point);
}

/* Towards larger x. A triangle that the line passes counts if it lies there. */
static int winding_of(double corner[3][3], const double point[3])
{
  const int sign = passes(corner, point);
  if (sign == 0) return 0;
  if (fmin(corner[0][0], fmin(corner[1][0], corner[2][0])) > point[0]) return sign;
  if (fmax(corner[0][0], fmax(corner[1][0], corner[2][0])) < point[0]) return 0;
  return gab_mesh_orient3d(corner[0], corner[1], corner[2], point) * sign > 0 ? sign : 0;
}

int gab_mesh_winding(const gab_mesh *mesh, const double point[3], bool *on_surface)
{
  const double hi[3] = {INFINITY, point[1], point[2]};
  gab_mesh_walk walk = gab_mesh_walk_of(mesh);
  const gab_mesh_node *leaf;
  int winding = 0;
  *on_surface = false;
  while ((leaf = gab_mesh_next_leaf(&walk, point, hi)))
    for (uint32_t i = 0; i < leaf->count; i++) {
      double corner[3][3];
      gab_mesh_corners(mesh, leaf->next + i, corner);
      winding += winding_of(corner, point);
      *on_surface = *on_surface || is_on(corner, point);
    }
  return winding;
}

/* ---------------------------------------------------------------- distance */

static double square_to_box(const gab_mesh_node *node, const double point[3])
{
  double square = 0;
  for (int axis = 0; axis < 3; axis++) {
    const double beyond = fmax(fmax(node->lo[axis] - point[axis], point[axis] - node->hi[axis]), 0);
    square += beyond * beyond;
  }
  return square;
}

/* The nearer child first; of equal distances the one found first. */
double gab_mesh_distance(const gab_mesh *mesh, const double point[3], double nearest[3], size_t *triangle)
{
  struct {
    uint32_t node;
    double square;
  } stack[GAB_MESH_STACK];
  double best = INFINITY;
  int depth = 0;
  *triangle = 0;
  if (mesh->node_count > 0) stack[depth].square = 0, stack[depth++].node = 0;
  while (depth > 0) {
    const uint32_t index = stack[--depth].node;
    if (stack[depth].square >= best) continue;
    const gab_mesh_node *node = &mesh->node[index];
    for (uint32_t i = 0; i < node->count; i++) {
      double corner[3][3], place[3];
      gab_mesh_corners(mesh, node->next + i, corner);
      const double square = gab_mesh_triangle_nearest(corner, point, place);
      if (square >= best) continue;
      best = square;
      *triangle = node->next + i;
      memcpy(nearest, place, sizeof place);
    }
    if (node->count > 0) continue;
    const double first = square_to_box(&mesh->node[index + 1], point),
                 second = square_to_box(&mesh->node[node->next], point);
    const bool first_is_nearer = first <= second;
    stack[depth].square = first_is_nearer ? second : first;
    stack[depth++].node = first_is_nearer ? node->next : index + 1;
    stack[depth].square = first_is_nearer ? first : second;
    stack[depth++].node = first_is_nearer ? index + 1 : node->next;
  }
  return sqrt(best);
}

/* ---------------------------------------------------------------- boxes and segments */

bool gab_mesh_touches(const gab_mesh *mesh, const double lo[3], const double hi[3])
{
  const double slack = gab_mesh_slack(mesh);
  double low[3], high[3];
  for (int axis = 0; axis < 3; axis++) {
    low[axis] = lo[axis] - slack;
    high[axis] = hi[axis] + slack;
  }
  gab_mesh_walk walk = gab_mesh_walk_of(mesh);
  const gab_mesh_node *leaf;
  while ((leaf = gab_mesh_next_leaf(&walk, low, high)))
    for (uint32_t i = 0; i < leaf->count; i++) {
      double corner[3][3];
      gab_mesh_corners(mesh, leaf->next + i, corner);
      if (gab_mesh_triangle_touches(corner, low, high)) return true;
    }
  return false;
}

/* Where a segment meets a triangle, by the volumes of both ends; edges and corners count. */
static bool meets(double corner[3][3], const double from[3], const double to[3], double *t)
{
  const int first = gab_mesh_orient3d(corner[0], corner[1], corner[2], from),
            second = gab_mesh_orient3d(corner[0], corner[1], corner[2], to);
  int positive = 0, negative = 0;
  if (first == second) return false; /* in the plane: its neighbours have that crossing */
  for (int k = 0; k < 3; k++) {
    const int sign = gab_mesh_orient3d(from, to, corner[k], corner[(k + 1) % 3]);
    positive += sign > 0;
    negative += sign < 0;
  }
  if (positive > 0 && negative > 0) return false;
  double before = 0, after = 0;
  for (int axis = 0; axis < 3; axis++) {
    const int x = (axis + 1) % 3, y = (axis + 2) % 3;
    const double normal = (corner[1][x] - corner[0][x]) * (corner[2][y] - corner[0][y]) -
                          (corner[1][y] - corner[0][y]) * (corner[2][x] - corner[0][x]);
    before += normal * (from[axis] - corner[0][axis]);
    after += normal * (to[axis] - corner[0][axis]);
  }
  *t = first == 0 ? 0 : second == 0 ? 1 : before == after ? 0.5 : fmin(fmax(before / (before - after), 0), 1);
  return true;
}

bool gab_mesh_crossing(const gab_mesh *mesh, const double from[3], const double to[3], double *t)
{
  double lo[3], hi[3];
  for (int axis = 0; axis < 3; axis++) {
    lo[axis] = fmin(from[axis], to[axis]);
    hi[axis] = fmax(from[axis], to[axis]);
  }
  gab_mesh_walk walk = gab_mesh_walk_of(mesh);
  const gab_mesh_node *leaf;
  bool found = false;
  *t = 1;
  while ((leaf = gab_mesh_next_leaf(&walk, lo, hi)))
    for (uint32_t i = 0; i < leaf->count; i++) {
      double corner[3][3], at;
      gab_mesh_corners(mesh, leaf->next + i, corner);
      if (!meets(corner, from, to, &at)) continue;
      *t = found ? fmin(*t, at) : at;
      found = true;
    }
  return found;
}

/* ---------------------------------------------------------------- memory */

size_t gab_mesh_bytes(const gab_mesh *mesh)
{
  const size_t numbers = mesh->number ? mesh->triangle_count * sizeof *mesh->number : 0;
  const size_t cubes =
      mesh->grid.state ? (size_t)(mesh->grid.count[0] * mesh->grid.count[1] * mesh->grid.count[2]) : 0;
  const gab_mesh_groups *groups = &mesh->groups;
  const size_t names = groups->of_count * sizeof *groups->of + groups->name_count * sizeof *groups->name;
  return names + mesh->vertex_count * 3 * sizeof *mesh->vertex +
         mesh->triangle_count * GAB_MESH_TRIANGLE_BYTES + numbers + mesh->node_count * sizeof *mesh->node +
         cubes;
}
