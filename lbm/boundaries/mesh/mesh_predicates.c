/* SPDX-License-Identifier: Apache-2.0 */
#include "lbm/boundaries/mesh/predicates_impl.h"

#include <float.h>
#include <math.h>

/* ---------------------------------------------------------------- pairs of doubles */

typedef struct pair {
  double high, low;
} pair;

static pair sum_of(double a, double b)
{
  const double sum = a + b, part = sum - a;
  return (pair){sum, (a - (sum - part)) + (b - part)};
}

static pair product_of(double a, double b)
{
  const double product = a * b;
  return (pair){product, fma(a, b, -product)};
}

static pair add(pair a, pair b)
{
  const pair high = sum_of(a.high, b.high), low = sum_of(a.low, b.low);
  const pair middle = sum_of(high.high, high.low + low.high);
  return sum_of(middle.high, middle.low + low.low);
}

static pair negative(pair a) { return (pair){-a.high, -a.low}; }

static pair multiply(pair a, pair b)
{
  const pair product = product_of(a.high, b.high);
  return sum_of(product.high, product.low + (a.high * b.low + a.low * b.high));
}

static pair difference_of(double a, double b) { return sum_of(a, -b); }

static int sign_of(pair value, double magnitude)
{
  const double error = 0x1p-96 * magnitude; /* of the pair, not of the input */
  return value.high > error ? 1 : value.high < -error ? -1 : 0;
}

/* ---------------------------------------------------------------- signs */

int gab_mesh_orient2d(const double a[2], const double b[2], const double p[2])
{
  const double bound = 3.4e-16; /* ccwerrboundA of Shewchuk 1997, rounded up */
  const double left = (b[0] - a[0]) * (p[1] - a[1]), right = (b[1] - a[1]) * (p[0] - a[0]);
  const double magnitude = fabs(left) + fabs(right);
  if (left - right > bound * magnitude) return 1;
  if (left - right < -bound * magnitude) return -1;
  const pair exact = add(multiply(difference_of(b[0], a[0]), difference_of(p[1], a[1])),
                         negative(multiply(difference_of(b[1], a[1]), difference_of(p[0], a[0]))));
  return sign_of(exact, magnitude);
}

static int orient3d_by_pairs(const double a[3], const double b[3], const double c[3], const double p[3],
                             double magnitude)
{
  pair d[3][3], sum = {0, 0};
  for (int axis = 0; axis < 3; axis++) {
    d[0][axis] = difference_of(a[axis], p[axis]);
    d[1][axis] = difference_of(b[axis], p[axis]);
    d[2][axis] = difference_of(c[axis], p[axis]);
  }
  for (int k = 0; k < 3; k++) {
    const pair *second = d[(k + 1) % 3], *third = d[(k + 2) % 3];
    const pair minor = add(multiply(second[0], third[1]), negative(multiply(second[1], third[0])));
    sum = add(sum, multiply(d[k][2], minor));
  }
  return sign_of(sum, magnitude);
}

int gab_mesh_orient3d(const double a[3], const double b[3], const double c[3], const double p[3])
{
  const double bound = 7.8e-16; /* o3derrboundA of Shewchuk 1997, rounded up */
  double d[3][3], sum = 0, magnitude = 0;
  for (int axis = 0; axis < 3; axis++) {
    d[0][axis] = a[axis] - p[axis];
    d[1][axis] = b[axis] - p[axis];
    d[2][axis] = c[axis] - p[axis];
  }
  for (int k = 0; k < 3; k++) {
    const double *second = d[(k + 1) % 3], *third = d[(k + 2) % 3];
    const double left = second[0] * third[1], right = second[1] * third[0];
    sum += d[k][2] * (left - right);
    magnitude += fabs(d[k][2]) * (fabs(left) + fabs(right));
  }
  if (sum > bound * magnitude) return 1;
  if (sum < -bound * magnitude) return -1;
  return orient3d_by_pairs(a, b, c, p, magnitude);
}

/* ---------------------------------------------------------------- triangles */

bool gab_mesh_triangle_has(const double a[3], const double b[3], const double c[3], const double p[3])
{
  for (int axis = 0; axis < 3; axis++) { /* in all three projections: one of them may have no area */
    const int x = (axis + 1) % 3, y = (axis + 2) % 3;
    const double pa[2] = {a[x], a[y]}, pb[2] = {b[x], b[y]}, pc[2] = {c[x], c[y]}, pp[2] = {p[x], p[y]};
    const int first = gab_mesh_orient2d(pa, pb, pp), second = gab_mesh_orient2d(pb, pc, pp),
              third = gab_mesh_orient2d(pc, pa, pp);
    if ((first > 0 || second > 0 || third > 0) && (first < 0 || second < 0 || third < 0)) return false;
    if (p[axis] < fmin(a[axis], fmin(b[axis], c[axis])) || p[axis] > fmax(a[axis], fmax(b[axis], c[axis])))
      return false;
  }
  return true;
}

static bool edge_crosses(const double p[3], const double q[3], double triangle[3][3])
{
  if (gab_mesh_orient3d(triangle[0], triangle[1], triangle[2], p) *
          gab_mesh_orient3d(triangle[0], triangle[1], triangle[2], q) >=
      0)
    return false;
  int positive = 0, negative_ones = 0;
  for (int k = 0; k < 3; k++) {
    const int sign = gab_mesh_orient3d(p, q, triangle[k], triangle[(k + 1) % 3]);
    positive += sign > 0;
    negative_ones += sign < 0;
  }
  return positive == 0 || negative_ones == 0;
}

bool gab_mesh_triangles_cross(double first[3][3], double second[3][3])
{
  for (int k = 0; k < 3; k++)
    if (edge_crosses(first[k], first[(k + 1) % 3], second) ||
        edge_crosses(second[k], second[(k + 1) % 3], first))
      return true;
  return false;
}

static void cross_of(const double a[3], const double b[3], double result[3])
{
  for (int axis = 0; axis < 3; axis++) {
    const int next = (axis + 1) % 3, last = (axis + 2) % 3;
    result[axis] = a[next] * b[last] - a[last] * b[next];
  }
}

static double dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static bool separates(const double axis[3], double corner[3][3], const double half[3])
{
  const double first = dot(axis, corner[0]), second = dot(axis, corner[1]), third = dot(axis, corner[2]);
  const double reach = half[0] * fabs(axis[0]) + half[1] * fabs(axis[1]) + half[2] * fabs(axis[2]);
  return fmin(first, fmin(second, third)) > reach || fmax(first, fmax(second, third)) < -reach;
}

bool gab_mesh_triangle_touches(double corner[3][3], const double lo[3], const double hi[3])
{
  double moved[3][3], half[3], edge[3][3], axis[3];
  for (int i = 0; i < 3; i++) {
    const double least = fmin(corner[0][i], fmin(corner[1][i], corner[2][i]));
    const double most = fmax(corner[0][i], fmax(corner[1][i], corner[2][i]));
    if (least > hi[i] || most < lo[i]) return false;
    half[i] = 0.5 * (hi[i] - lo[i]);
    for (int k = 0; k < 3; k++) moved[k][i] = corner[k][i] - 0.5 * (lo[i] + hi[i]);
    for (int k = 0; k < 3; k++) edge[k][i] = corner[(k + 1) % 3][i] - corner[k][i];
  }
  cross_of(edge[0], edge[1], axis);
  if (separates(axis, moved, half)) return false;
  for (int k = 0; k < 3; k++)
    for (int i = 0; i < 3; i++) {
      const double unit[3] = {i == 0, i == 1, i == 2};
      cross_of(unit, edge[k], axis);
      if (separates(axis, moved, half)) return false;
    }
  return true;
}

/* The nearest of three edges: of a triangle without area, or where the nearest point is not within it. */
static double nearest_of_edges(double corner[3][3], const double point[3], double nearest[3])
{
  double best = INFINITY;
  for (int k = 0; k < 3; k++) {
    const double *from = corner[k], *to = corner[(k + 1) % 3];
    double along[3], off[3], place[3], square = 0;
    for (int i = 0; i < 3; i++) {
      along[i] = to[i] - from[i];
      off[i] = point[i] - from[i];
    }
    const double length = dot(along, along);
    const double t = length > 0 ? fmin(fmax(dot(along, off) / length, 0), 1) : 0;
    for (int i = 0; i < 3; i++) {
      place[i] = from[i] + t * along[i];
      square += (point[i] - place[i]) * (point[i] - place[i]);
    }
    if (square >= best) continue;
    best = square;
    for (int i = 0; i < 3; i++) nearest[i] = place[i];
  }
  return best;
}

double gab_mesh_triangle_nearest(double corner[3][3], const double point[3], double nearest[3])
{
  double edge[3][3], off[3], normal[3];
  for (int i = 0; i < 3; i++) {
    for (int k = 0; k < 3; k++) edge[k][i] = corner[(k + 1) % 3][i] - corner[k][i];
    off[i] = point[i] - corner[0][i];
  }
  cross_of(edge[0], edge[1], normal);
  const double square = dot(normal, normal);
  if (!(square > DBL_MIN)) return nearest_of_edges(corner, point, nearest);
  for (int k = 0; k < 3; k++) { /* whether the foot of the perpendicular lies within */
    double side[3], inwards[3];
    for (int i = 0; i < 3; i++) side[i] = point[i] - corner[k][i];
    cross_of(edge[k], side, inwards);
    if (dot(inwards, normal) < 0) return nearest_of_edges(corner, point, nearest);
  }
  const double height = dot(off, normal);
  for (int i = 0; i < 3; i++) nearest[i] = point[i] - height / square * normal[i];
  return height * height / square;
}
