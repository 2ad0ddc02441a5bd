/* SPDX-License-Identifier: Apache-2.0 */
/* Shapes of the library with a descriptor: half space, ellipsoid, cone, torus, and a distance by formula. Distances are exact. */
#include "lbm/boundaries/body_shape_impl.h"
#include "lbm/setup/vectors_impl.h"

#include <math.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

#define POINT_KEY(key, text)                                                                                 \
  {                                                                                                          \
    .name = key, .type = GAB_CONFIG_REAL, .length_min = 2, .length_max = 3, .unit = "m", .doc = text         \
  }

static double dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static gab_status read_vector(const gab_config *config, const char *path, const char *name, int dimension,
                              double vector[3])
{
  char key[GAB_CONFIG_PATH_CAPACITY];
  vector[2] = 0;
  return gab_lbm_read_vector(config, gab_config_path(key, "%s.%s", path, name), dimension, vector);
}

/* ------------------------------------------------------------------------------------------ half space */

static const gab_config_key half_space_keys[] = {
    POINT_KEY("point", "A point of its surface."),
    {.name = "normal",
     .type = GAB_CONFIG_REAL,
     .length_min = 2,
     .length_max = 3,
     .doc = "Direction out of the body, of any length but 0."},
};

static gab_status read_half_space(const gab_config *config, const char *path, int dimension, gab_body *body)
{
  double *normal = body->numbers + 3;
  char key[GAB_CONFIG_PATH_CAPACITY];
  GAB_TRY(read_vector(config, path, "point", dimension, body->numbers));
  GAB_TRY(read_vector(config, path, "normal", dimension, normal));
  const double length = sqrt(dot(normal, normal));
  if (!(length > 0 && isfinite(length)))
    return gab_config_fail(config, gab_config_path(key, "%s.normal", path), "must not be 0");
  int along = -1;
  for (int axis = 0; axis < dimension; axis++) {
    normal[axis] /= length;
    if (fabs(normal[axis]) == 1) along = axis;
  }
  /* Of one along an axis the corners are known, which bounds its cells. */
  if (along >= 0) (normal[along] > 0 ? body->hi : body->lo)[along] = body->numbers[along];
  return GAB_OK;
}

static double half_space_distance(const gab_body *body, const double point[3])
{
  const double *normal = body->numbers + 3;
  double from[3];
  for (int axis = 0; axis < 3; axis++) from[axis] = point[axis] - body->numbers[axis];
  return dot(normal, from);
}

const gab_body_shape gab_shape_half_space = {.name = "half_space",
                                             .doc = "All that lies behind a plane.",
                                             .keys = half_space_keys,
                                             .key_count = COUNT(half_space_keys),
                                             .read = read_half_space,
                                             .distance = half_space_distance};

/* ------------------------------------------------------------------------------------------ ellipsoid */

static const gab_config_key ellipsoid_keys[] = {
    POINT_KEY("centre", "Centre of the body."),
    {.name = "radii",
     .type = GAB_CONFIG_REAL,
     .length_min = 2,
     .length_max = 3,
     .min = 0,
     .max = INFINITY,
     .min_excluded = true,
     .unit = "m",
     .doc = "Half axes along x, y, z."},
};

static gab_status read_ellipsoid(const gab_config *config, const char *path, int dimension, gab_body *body)
{
  double *radii = body->numbers + 3;
  GAB_TRY(read_vector(config, path, "centre", dimension, body->numbers));
  GAB_TRY(read_vector(config, path, "radii", dimension, radii));
  body->numbers[6] = dimension;
  for (int axis = 0; axis < dimension; axis++) {
    body->lo[axis] = body->numbers[axis] - radii[axis];
    body->hi[axis] = body->numbers[axis] + radii[axis];
  }
  return GAB_OK;
}

/* The nearest point of the surface is e_i^2 y_i / (t + e_i^2), for the t where that lies on it: Eberly, Distance from a Point to an
 * Ellipse, an Ellipsoid, or a Hyperellipsoid, 2013. By halving, which is as robust as slow; with e_0 >= e_1 >= e_2, y_i >= 0. */
static double root_of(int count, const double r[3], const double z[3], double g)
{
  double below = z[count - 1] - 1, square = 0;
  for (int i = 0; i < count; i++) square += r[i] * r[i] * z[i] * z[i];
  double above = g < 0 ? 0 : sqrt(square) - 1, middle = 0;
  for (int i = 0; i < 1074; i++) {
    middle = 0.5 * (below + above);
    if (middle == below || middle == above) break;
    double sum = -1;
    for (int k = 0; k < count; k++) {
      const double ratio = r[k] * z[k] / (middle + r[k]);
      sum += ratio * ratio;
    }
    if (sum > 0) below = middle;
    else if (sum < 0) above = middle;
    else break;
  }
  return middle;
}

static double distance_sorted(int count, const double e[3], const double y[3])
{
  const int last = count - 1;
  double x[3] = {0, 0, 0}, square = 0;
  if (y[last] > 0) {
    double z[3] = {0}, r[3] = {0}, g = -1;
    for (int i = 0; i < count; i++) {
      z[i] = y[i] / e[i];
      r[i] = e[i] / e[last] * (e[i] / e[last]);
      g += z[i] * z[i];
    }
    if (g == 0) return 0;
    const double t = root_of(count, r, z, g);
    for (int i = 0; i < count; i++) x[i] = r[i] * y[i] / (t + r[i]);
  } else {
    /* In the plane of the larger axes: below the surface where that is nearer than the rim. */
    double rest = 1;
    bool is_within = true;
    for (int i = 0; i < last && is_within; i++) {
      const double numerator = e[i] * y[i], denominator = e[i] * e[i] - e[last] * e[last];
      if (!(numerator < denominator)) is_within = numerator == 0 && denominator == 0;
      const double share = denominator > 0 ? numerator / denominator : 0;
      x[i] = e[i] * share;
      rest -= share * share;
    }
    if (!is_within || rest < 0) return distance_sorted(last, e, y);
    x[last] = e[last] * sqrt(rest);
  }
  for (int i = 0; i < count; i++) square += (x[i] - y[i]) * (x[i] - y[i]);
  return sqrt(square);
}

static double ellipsoid_distance(const gab_body *body, const double point[3])
{
  const int count = (int)body->numbers[6];
  double e[3] = {0}, y[3] = {0}, level = 0;
  for (int axis = 0; axis < count; axis++) {
    e[axis] = body->numbers[3 + axis];
    y[axis] = fabs(point[axis] - body->numbers[axis]);
    level += y[axis] / e[axis] * (y[axis] / e[axis]);
  }
  for (int i = 1; i < count; i++)
    for (int k = i; k > 0 && e[k] > e[k - 1]; k--) {
      const double size = e[k], place = y[k];
      e[k] = e[k - 1];
      y[k] = y[k - 1];
      e[k - 1] = size;
      y[k - 1] = place;
    }
  const double distance = count == 1 ? fabs(y[0] - e[0]) : distance_sorted(count, e, y);
  return level <= 1 ? -distance : distance;
}

const gab_body_shape gab_shape_ellipsoid = {.name = "ellipsoid",
                                            .doc = "An ellipsoid along the axes; an ellipse in 2D.",
                                            .keys = ellipsoid_keys,
                                            .key_count = COUNT(ellipsoid_keys),
                                            .read = read_ellipsoid,
                                            .distance = ellipsoid_distance};

/* ------------------------------------------------------------------------------------------ cone */

static const gab_config_key cone_keys[] = {
    POINT_KEY("from", "Centre of its first end."),
    POINT_KEY("to", "Centre of its other end."),
    {.name = "radii",
     .type = GAB_CONFIG_REAL,
     .length_min = 2,
     .length_max = 2,
     .min = 0,
     .max = INFINITY,
     .unit = "m",
     .doc = "Radii of both ends; equal ones give a cylinder in any direction."},
};

static gab_status read_cone(const gab_config *config, const char *path, int dimension, gab_body *body)
{
  char key[GAB_CONFIG_PATH_CAPACITY];
  size_t count;
  double *from = body->numbers, *to = body->numbers + 3, square = 0;
  GAB_TRY(read_vector(config, path, "from", dimension, from));
  GAB_TRY(read_vector(config, path, "to", dimension, to));
  const double *radii = gab_config_reals(config, gab_config_path(key, "%s.radii", path), &count);
  if (!(fmax(radii[0], radii[1]) > 0)) return gab_config_fail(config, key, "one of them must be above 0");
  for (int axis = 0; axis < dimension; axis++) square += (to[axis] - from[axis]) * (to[axis] - from[axis]);
  if (!(square > 0))
    return gab_config_fail(config, gab_config_path(key, "%s.to", path), "must be another point than from");
  body->numbers[6] = radii[0];
  body->numbers[7] = radii[1];
  for (int axis = 0; axis < dimension; axis++) {
    const double along = (to[axis] - from[axis]) / sqrt(square), across = sqrt(fmax(0, 1 - along * along));
    body->lo[axis] = fmin(from[axis] - across * radii[0], to[axis] - across * radii[1]);
    body->hi[axis] = fmax(from[axis] + across * radii[0], to[axis] + across * radii[1]);
    const double more = 1e-9 * (body->hi[axis] - body->lo[axis]);
    body->lo[axis] -= more;
    body->hi[axis] += more;
  }
  return GAB_OK;
}

/* In the plane of the axis and the point: nearest to an end, or to the mantle. */
static double cone_distance(const gab_body *body, const double point[3])
{
  const double *from = body->numbers, *to = body->numbers + 3, first = body->numbers[6],
               last = body->numbers[7];
  double axis[3], away[3];
  for (int k = 0; k < 3; k++) {
    axis[k] = to[k] - from[k];
    away[k] = point[k] - from[k];
  }
  const double length = sqrt(dot(axis, axis)), along = dot(away, axis) / length;
  const double across = sqrt(fmax(0, dot(away, away) - along * along));
  const double end = along < length / 2 ? first : last;
  const double beyond_end = fmax(-along, along - length), beyond_rim = fmax(0, across - end);
  const double slope = last - first;
  double share = ((across - first) * slope + along * length) / (slope * slope + length * length);
  share = fmin(1, fmax(0, share));
  const double mantle_across = across - (first + share * slope), mantle_along = along - share * length;
  const double to_end = hypot(beyond_end, beyond_rim), to_mantle = hypot(mantle_across, mantle_along);
  const bool is_inside = beyond_end <= 0 && (across - first) * length <= slope * along;
  return is_inside ? -fmin(to_end, to_mantle) : fmin(to_end, to_mantle);
}

const gab_body_shape gab_shape_cone = {.name = "cone",
                                       .doc =
                                           "A cone, or a part of one, in any direction; a trapezium in 2D.",
                                       .keys = cone_keys,
                                       .key_count = COUNT(cone_keys),
                                       .read = read_cone,
                                       .distance = cone_distance};

/* ------------------------------------------------------------------------------------------ torus */

static const gab_config_key torus_keys[] = {
    POINT_KEY("centre", "Centre of the ring."),
    {.name = "axis",
     .type = GAB_CONFIG_CHOICE,
     .choices = "x|y|z",
     .default_text = "z",
     .doc = "Direction of its axis."},
    {.name = "radius",
     .type = GAB_CONFIG_REAL,
     .min = 0,
     .max = INFINITY,
     .min_excluded = true,
     .unit = "m",
     .doc = "Radius of the ring, from the centre to the middle of the tube."},
    {.name = "tube",
     .type = GAB_CONFIG_REAL,
     .min = 0,
     .max = INFINITY,
     .min_excluded = true,
     .unit = "m",
     .doc = "Radius of the tube."},
};

static gab_status read_torus(const gab_config *config, const char *path, int dimension, gab_body *body)
{
  char key[GAB_CONFIG_PATH_CAPACITY];
  if (dimension != 3) return gab_config_fail(config, path, "a torus needs a domain in 3D");
  GAB_TRY(read_vector(config, path, "centre", dimension, body->centre));
  body->axis = gab_config_choice_index(config, gab_config_path(key, "%s.axis", path));
  body->numbers[0] = gab_config_real(config, gab_config_path(key, "%s.radius", path));
  body->numbers[1] = gab_config_real(config, gab_config_path(key, "%s.tube", path));
  for (int axis = 0; axis < 3; axis++) {
    const double reach = body->numbers[1] + (axis == body->axis ? 0 : body->numbers[0]);
    body->lo[axis] = body->centre[axis] - reach;
    body->hi[axis] = body->centre[axis] + reach;
  }
  return GAB_OK;
}

static double torus_distance(const gab_body *body, const double point[3])
{
  double across = 0;
  const double along = point[body->axis] - body->centre[body->axis];
  for (int axis = 0; axis < 3; axis++)
    if (axis != body->axis) across += (point[axis] - body->centre[axis]) * (point[axis] - body->centre[axis]);
  return hypot(sqrt(across) - body->numbers[0], along) - body->numbers[1];
}

const gab_body_shape gab_shape_torus = {.name = "torus",
                                        .doc = "A ring with a round section, in 3D.",
                                        .keys = torus_keys,
                                        .key_count = COUNT(torus_keys),
                                        .read = read_torus,
                                        .distance = torus_distance};

/* ------------------------------------------------------------------------------------------ formula */

static const gab_config_key formula_keys[] = {
    {.name = "distance",
     .type = GAB_CONFIG_EXPRESSION,
     .variables = "x|y|z",
     .min = -INFINITY,
     .max = INFINITY,
     .unit = "m",
     .doc =
         "Signed distance from the surface, negative inside. May be less than the distance, not more: divide a "
         "formula by its largest slope."},
    {.name = "lo",
     .type = GAB_CONFIG_REAL,
     .length_min = 2,
     .length_max = 3,
     .unit = "m",
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "Lower corner of a box at which the body ends; default: endless."},
    {.name = "hi",
     .type = GAB_CONFIG_REAL,
     .length_min = 2,
     .length_max = 3,
     .unit = "m",
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "Upper corner of it."},
};

/* The formula belongs to the configuration. */
static gab_status read_formula(const gab_config *config, const char *path, int dimension, gab_body *body)
{
  char key[GAB_CONFIG_PATH_CAPACITY];
  for (int upper = 0; upper < 2; upper++) {
    double *corner = upper ? body->hi : body->lo;
    gab_config_path(key, "%s.%s", path, upper ? "hi" : "lo");
    if (!gab_config_is_set(config, key)) continue;
    GAB_TRY(gab_lbm_read_vector(config, key, dimension, corner));
  }
  body->data = (void *)gab_config_expression(config, gab_config_path(key, "%s.distance", path));
  return GAB_OK;
}

/* gab_distance_check() refuses a formula without a value at a point that it looks at; elsewhere such points are outside. */
static double formula_distance(const gab_body *body, const double point[3])
{
  return gab_expression_at(body->data, point);
}

const gab_body_shape gab_shape_formula = {.name = "formula",
                                          .doc = "A signed distance by a formula of the position.",
                                          .keys = formula_keys,
                                          .key_count = COUNT(formula_keys),
                                          .read = read_formula,
                                          .distance = formula_distance};
