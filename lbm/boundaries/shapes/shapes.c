/* SPDX-License-Identifier: Apache-2.0 */
#include "lbm/boundaries/shapes/shapes_impl.h"

#include <math.h>

/* A disc or sphere around the centre: the axes that count for its distance. */
static bool counts(const gab_shape_data *shape, int axis)
{
  return shape->shape == GAB_SHAPE_SPHERE || axis != shape->axis;
}

static bool is_round(const gab_shape_data *shape)
{
  return shape->shape == GAB_SHAPE_SPHERE || shape->shape == GAB_SHAPE_CYLINDER;
}

/* One formula for all uses, so that rounding never tells a point from a box of one point. */
static bool is_within_radius(const gab_shape_data *shape, const double distance[3])
{
  double square = 0;
  for (int axis = 0; axis < 3; axis++)
    if (counts(shape, axis)) square += distance[axis] * distance[axis];
  return square <= shape->radius * shape->radius;
}

static bool is_within_ends(const gab_shape_data *shape, const double distance[3])
{
  return shape->shape != GAB_SHAPE_CYLINDER || distance[shape->axis] <= shape->half_length;
}

static bool mask_has(const gab_shape_data *shape, const double point[3])
{
  const gab_mask *mask = shape->mask;
  double column = (point[0] - shape->lo[0]) / (shape->hi[0] - shape->lo[0]) * mask->width;
  double row = (shape->hi[1] - point[1]) / (shape->hi[1] - shape->lo[1]) * mask->height;
  if (!(column >= 0 && column < mask->width && row >= 0 && row < mask->height)) return false;
  const size_t x = (size_t)column;
  return mask->dark[(size_t)row * mask->stride + x / 8] >> x % 8 & 1;
}

/* Whether a point is inside the shape (inverted or not), surface included. */
static bool has_point(const gab_shape_data *shape, const double point[3])
{
  if (shape->shape == GAB_SHAPE_MASK) return mask_has(shape, point);
  if (shape->shape == GAB_SHAPE_OWN) return gab_distance_has(shape, point);
  if (is_round(shape)) {
    double distance[3];
    for (int axis = 0; axis < 3; axis++) distance[axis] = fabs(point[axis] - shape->centre[axis]);
    return is_within_radius(shape, distance) && is_within_ends(shape, distance);
  }
  for (int axis = 0; axis < 3; axis++)
    if (!(point[axis] >= shape->lo[axis] && point[axis] <= shape->hi[axis])) return false;
  return true;
}

bool gab_shape_is_solid(const gab_shape_data *shape, const double point[3])
{
  return has_point(shape, point) != shape->inverted;
}

static gab_relation relation_of_round(const gab_shape_data *shape, const double lo[3], const double hi[3])
{
  double near[3], far[3];
  for (int axis = 0; axis < 3; axis++) {
    double below = lo[axis] - shape->centre[axis], above = hi[axis] - shape->centre[axis];
    far[axis] = fmax(fabs(below), fabs(above));
    near[axis] = below <= 0 && above >= 0 ? 0 : fmin(fabs(below), fabs(above));
  }
  if (!is_within_radius(shape, near) || !is_within_ends(shape, near)) return GAB_RELATION_APART;
  return is_within_radius(shape, far) && is_within_ends(shape, far) ? GAB_RELATION_COVERED
                                                                    : GAB_RELATION_MIXED;
}

static gab_relation relation_of_box(const gab_shape_data *shape, const double lo[3], const double hi[3])
{
  bool covered = shape->shape == GAB_SHAPE_BOX;
  for (int axis = 0; axis < 3; axis++) {
    if (hi[axis] < shape->lo[axis] || lo[axis] > shape->hi[axis]) return GAB_RELATION_APART;
    covered = covered && lo[axis] >= shape->lo[axis] && hi[axis] <= shape->hi[axis];
  }
  return covered ? GAB_RELATION_COVERED : GAB_RELATION_MIXED;
}

gab_relation gab_shape_relation(const gab_shape_data *shape, const double lo[3], const double hi[3])
{
  gab_relation relation = is_round(shape)                 ? relation_of_round(shape, lo, hi)
                          : shape->shape == GAB_SHAPE_OWN ? gab_distance_relation(shape, lo, hi)
                                                          : relation_of_box(shape, lo, hi);
  if (!shape->inverted || relation == GAB_RELATION_MIXED) return relation;
  return relation == GAB_RELATION_APART ? GAB_RELATION_COVERED : GAB_RELATION_APART;
}

/* Cuts [in, out] by low <= point + s * direction <= high. */
static bool cut_by_slab(double point, double direction, double low, double high, double *in, double *out)
{
  if (direction == 0) return point >= low && point <= high;
  double first = (low - point) / direction, second = (high - point) / direction;
  *in = fmax(*in, fmin(first, second));
  *out = fmin(*out, fmax(first, second));
  return *in <= *out;
}

/* |m + s d|^2 = r^2 with m = point - centre, by the stable form of the quadratic formula. */
static bool cut_by_radius(const gab_shape_data *shape, const double point[3], const double direction[3],
                          double *in, double *out)
{
  double a = 0, half_b = 0, c = -shape->radius * shape->radius;
  for (int axis = 0; axis < 3; axis++) {
    if (!counts(shape, axis)) continue;
    double m = point[axis] - shape->centre[axis];
    a += direction[axis] * direction[axis];
    half_b += m * direction[axis];
    c += m * m;
  }
  if (a == 0) return c <= 0;
  double discriminant = half_b * half_b - a * c;
  if (discriminant < 0) return false;
  double q = -(half_b + copysign(sqrt(discriminant), half_b));
  double first = q / a, second = q == 0 ? 0 : c / q;
  *in = fmax(*in, fmin(first, second));
  *out = fmin(*out, fmax(first, second));
  return *in <= *out;
}

/* How far beyond two bounds that meet at a right angle; negative: within both. */
static double beyond_corner(const double *beyond, int count)
{
  double square = 0, most = -INFINITY;
  for (int k = 0; k < count; k++) {
    square += beyond[k] > 0 ? beyond[k] * beyond[k] : 0;
    most = fmax(most, beyond[k]);
  }
  return square > 0 ? sqrt(square) : most;
}

double gab_shape_distance(const gab_shape_data *shape, const double point[3])
{
  double beyond[4], square = 0;
  int count = 0;
  for (int axis = 0; axis < 3 && is_round(shape); axis++)
    if (counts(shape, axis))
      square += (point[axis] - shape->centre[axis]) * (point[axis] - shape->centre[axis]);
  if (is_round(shape)) beyond[count++] = sqrt(square) - shape->radius;
  if (shape->shape == GAB_SHAPE_CYLINDER)
    beyond[count++] = fabs(point[shape->axis] - shape->centre[shape->axis]) - shape->half_length;
  for (int axis = 0; axis < 3 && !is_round(shape); axis++)
    beyond[count++] = fmax(shape->lo[axis] - point[axis], point[axis] - shape->hi[axis]);
  double distance = beyond_corner(beyond, count);
  if (shape->shape == GAB_SHAPE_OWN)
    distance = fmax(distance, gab_distance_at(shape, point)); /* cut off there */
  return shape->inverted ? -distance : distance;
}

bool gab_shape_normal(const gab_shape_data *shape, int dimension, const double point[3], double normal[3])
{
  const double step = 0x1p-10;
  double square = 0;
  for (int axis = 0; axis < 3; axis++) {
    double low[3] = {point[0], point[1], point[2]}, high[3] = {point[0], point[1], point[2]};
    low[axis] -= step;
    high[axis] += step;
    normal[axis] = axis < dimension ? gab_shape_distance(shape, high) - gab_shape_distance(shape, low) : 0;
    square += normal[axis] * normal[axis];
  }
  for (int axis = 0; axis < 3; axis++) normal[axis] /= square > 0 ? sqrt(square) : 1;
  return square > 0;
}

bool gab_shape_interval(const gab_shape_data *shape, const double point[3], const double direction[3],
                        double *in, double *out)
{
  *in = -INFINITY;
  *out = INFINITY;
  if (shape->shape == GAB_SHAPE_MASK) return false;
  if (shape->shape == GAB_SHAPE_OWN) return gab_distance_interval(shape, point, direction, in, out);
  if (is_round(shape)) {
    if (!cut_by_radius(shape, point, direction, in, out)) return false;
    int axis = shape->axis;
    return shape->shape == GAB_SHAPE_SPHERE ||
           cut_by_slab(point[axis], direction[axis], shape->centre[axis] - shape->half_length,
                       shape->centre[axis] + shape->half_length, in, out);
  }
  for (int axis = 0; axis < 3; axis++)
    if (!cut_by_slab(point[axis], direction[axis], shape->lo[axis], shape->hi[axis], in, out)) return false;
  return true;
}
