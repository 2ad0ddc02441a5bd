/* SPDX-License-Identifier: Apache-2.0 */
/* How far the normal of a surface turns over the width of a cell. */
#include "lbm/boundaries/geometry_impl.h"

#include <math.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

/* A shape whose surface is followed with cells of a level. */
typedef struct follower {
  const gab_geometry *geometry;
  const gab_shape_data *shape;
  int level, dimension;
  double angle;
} follower;

/* Directions along the surface, of length 1 and at right angles. @return their number */
static int directions_along(const double normal[3], int dimension, double along[2][3])
{
  int least = 0;
  double length = 0;
  if (dimension == 2) {
    memcpy(along[0], (double[3]){-normal[1], normal[0], 0}, sizeof along[0]);
    return 1;
  }
  for (int axis = 1; axis < 3; axis++)
    if (fabs(normal[axis]) < fabs(normal[least])) least = axis;
  const int next = (least + 1) % 3, third = (least + 2) % 3;
  length = sqrt(normal[next] * normal[next] + normal[third] * normal[third]);
  along[0][least] = 0;
  along[0][next] = normal[third] / length;
  along[0][third] = -normal[next] / length;
  for (int axis = 0; axis < 3; axis++) {
    const int x = (axis + 1) % 3, y = (axis + 2) % 3;
    along[1][axis] = normal[x] * along[0][y] - normal[y] * along[0][x];
  }
  return 2;
}

/* The largest angle between the normals at both ends of a way of one cell along the surface, in radians: the largest singular value of the
 * change of the normal in both directions is the chord of that angle. A distance has the same normal beside the surface as on it. */
static double turn_at(const follower *by, const double point[3], const double normal[3])
{
  const double half = ldexp(0.5, -by->level);
  double along[2][3], change[2][3] = {{0}}, product[2][2] = {{0}};
  const int count = directions_along(normal, by->dimension, along);
  for (int k = 0; k < count; k++) {
    double before[3], behind[3], first[3], second[3];
    for (int axis = 0; axis < 3; axis++) {
      before[axis] = point[axis] - half * along[k][axis];
      behind[axis] = point[axis] + half * along[k][axis];
    }
    if (!gab_shape_normal(by->shape, by->dimension, before, first) ||
        !gab_shape_normal(by->shape, by->dimension, behind, second))
      return pi; /* as in the centre of a ball smaller than a cell */
    for (int axis = 0; axis < 3; axis++) change[k][axis] = second[axis] - first[axis];
  }
  for (int i = 0; i < 4; i++)
    for (int axis = 0; axis < 3; axis++) product[i / 2][i % 2] += change[i / 2][axis] * change[i % 2][axis];
  const double mean = 0.5 * (product[0][0] + product[1][1]),
               apart = hypot(0.5 * (product[0][0] - product[1][1]), product[0][1]);
  return 2 * asin(fmin(0.5 * sqrt(mean + apart), 1));
}

/* Whether there is fluid in front of a point of the surface: it is not within another body or beyond a side. */
static bool meets_fluid(const follower *by, const double point[3], const double normal[3])
{
  enum { FINER = 4 }; /* an eighth of a cell is two finer ones */
  int64_t cell[3];
  for (int axis = 0; axis < 3; axis++) {
    const int level = axis < by->dimension ? by->level + FINER : 0;
    const double at = point[axis] + ldexp(normal[axis], -by->level - 3);
    cell[axis] = (int64_t)floor(ldexp(at, level));
  }
  return gab_geometry_cell(by->geometry, by->level + FINER, cell) == GAB_CELL_FLUID;
}

/* Where the surface is nearest to the centre of a cell, which it may pass. */
static bool is_curved_near(const follower *by, const double centre[3], double distance)
{
  double normal[3], point[3];
  if (!gab_shape_normal(by->shape, by->dimension, centre, normal)) return true;
  for (int axis = 0; axis < 3; axis++) point[axis] = centre[axis] - distance * normal[axis];
  return meets_fluid(by, point, normal) && turn_at(by, point, normal) > by->angle;
}

/* Halves the box along its longest axis while the surface may pass it, down to one cell. */
static bool is_curved_in(const follower *by, const gab_box *box)
{
  const double slack = 1e-9; /* as for boxes of cells: shapes_distance.c */
  double centre[3], square = 0;
  int64_t cells = 1;
  int longest = 0;
  for (int axis = 0; axis < 3; axis++) {
    const int level = axis < by->dimension ? by->level : 0;
    const double width = ldexp((double)(box->hi[axis] - box->lo[axis]), -level);
    if (box->hi[axis] <= box->lo[axis]) return false;
    centre[axis] = ldexp(0.5 * (double)(box->lo[axis] + box->hi[axis]), -level);
    if (axis < by->dimension) square += 0.25 * width * width;
    cells *= box->hi[axis] - box->lo[axis];
    if (box->hi[axis] - box->lo[axis] > box->hi[longest] - box->lo[longest]) longest = axis;
  }
  const double distance = gab_shape_distance(by->shape, centre), reach = sqrt(square);
  if (fabs(distance) > reach + slack * (1 + reach + fabs(distance))) return false;
  if (cells == 1) return is_curved_near(by, centre, distance);
  gab_box left = *box, right = *box;
  left.hi[longest] = right.lo[longest] = (box->lo[longest] + box->hi[longest]) / 2;
  return is_curved_in(by, &left) || is_curved_in(by, &right);
}

bool gab_geometry_is_curved(const gab_geometry *geometry, int level, const gab_box *cells, double angle)
{
  const gab_domain *domain = gab_geometry_domain(geometry);
  size_t count;
  const gab_shape_data *shapes = gab_geometry_shapes(geometry, &count);
  gab_box box = *cells;
  for (int axis = 0; axis < 3; axis++) {
    const int64_t end = domain->cells[axis] << (axis < domain->dimension ? level : 0);
    if (box.lo[axis] < 0) box.lo[axis] = 0;
    if (box.hi[axis] > end) box.hi[axis] = end;
  }
  for (size_t i = 0; i < count; i++) {
    const follower by = {geometry, &shapes[i], level, domain->dimension, angle};
    if (!gab_body_has_surface(gab_geometry_body(geometry, (size_t)shapes[i].body))) continue;
    if (is_curved_in(&by, &box)) return true;
  }
  return false;
}
