/* SPDX-License-Identifier: Apache-2.0 */
/* A polygon, drawn out along an axis in 3D. */
#include "lbm/boundaries/body_shape_impl.h"

#include "core/memory/memory.h"

#include <math.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

typedef struct polygon {
  int across[2]; /* the axes of its plane, ascending */
  size_t count;
  double corner[][2];
} polygon;

static const gab_config_key polygon_keys[] = {
    {.name = "points",
     .type = GAB_CONFIG_REAL,
     .length_min = 6,
     .length_max = GAB_CONFIG_ANY_LENGTH,
     .unit = "m",
     .doc =
         "Corners, one after the other, each by its two coordinates across the axis in the order x, y, z."},
    {.name = "axis",
     .type = GAB_CONFIG_CHOICE,
     .choices = "x|y|z",
     .default_text = "z",
     .doc = "Direction in which it is drawn out; z in 2D."},
    {.name = "range",
     .type = GAB_CONFIG_REAL,
     .length_min = 2,
     .length_max = 2,
     .unit = "m",
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "Its ends along the axis; default: endless."},
};

static double turn_of(const double a[2], const double b[2], const double c[2])
{
  return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

static bool do_cross(const double a[2], const double b[2], const double c[2], const double d[2])
{
  return turn_of(a, b, c) * turn_of(a, b, d) < 0 && turn_of(c, d, a) * turn_of(c, d, b) < 0;
}

static gab_status check(const gab_config *config, const char *path, const polygon *made)
{
  const size_t n = made->count;
  double twice = 0;
  for (size_t i = 0; i < n; i++) {
    const double *a = made->corner[i], *b = made->corner[(i + 1) % n];
    twice += a[0] * b[1] - a[1] * b[0];
    if (a[0] == b[0] && a[1] == b[1])
      return gab_config_fail(config, path, "corners %zu and %zu are the same point", i + 1, (i + 1) % n + 1);
    for (size_t k = i + 2; k < n; k++)
      if (!(i == 0 && k == n - 1) && do_cross(a, b, made->corner[k], made->corner[(k + 1) % n]))
        return gab_config_fail(config, path, "the edges that begin at corners %zu and %zu cross", i + 1,
                               k + 1);
  }
  return twice == 0 ? gab_config_fail(config, path, "the polygon has no area") : GAB_OK;
}

static gab_status read_polygon(const gab_config *config, const char *path, int dimension, gab_body *body)
{
  char key[GAB_CONFIG_PATH_CAPACITY];
  size_t count;
  void *memory;
  body->axis = gab_config_choice_index(config, gab_config_path(key, "%s.axis", path));
  if (dimension == 2 && body->axis != 2) return gab_config_fail(config, key, "must be z in 2D");
  if (gab_config_is_set(config, gab_config_path(key, "%s.range", path))) {
    const double *range = gab_config_reals(config, key, &count);
    if (dimension == 2) return gab_config_fail(config, key, "has no effect in 2D");
    if (!(range[0] < range[1])) return gab_config_fail(config, key, "needs the lower end first");
    body->lo[body->axis] = range[0];
    body->hi[body->axis] = range[1];
  }
  const double *points = gab_config_reals(config, gab_config_path(key, "%s.points", path), &count);
  if (count % 2 != 0) return gab_config_fail(config, key, "has an odd number of coordinates: %zu", count);
  GAB_TRY(gab_alloc(sizeof(polygon) + count * sizeof(double), GAB_MEMORY_OTHER, &memory));
  polygon *made = body->data = memory;
  made->across[0] = body->axis == 0 ? 1 : 0;
  made->across[1] = body->axis == 2 ? 1 : 2;
  made->count = count / 2;
  for (size_t i = 0; i < made->count; i++)
    for (int k = 0; k < 2; k++) {
      const int axis = made->across[k];
      made->corner[i][k] = points[2 * i + (size_t)k];
      body->lo[axis] = i == 0 ? made->corner[i][k] : fmin(body->lo[axis], made->corner[i][k]);
      body->hi[axis] = i == 0 ? made->corner[i][k] : fmax(body->hi[axis], made->corner[i][k]);
    }
  return check(config, key, made);
}

/* Distance to the nearest edge; inside by the number of edges that a ray passes. The ends are those of the body. */
static double polygon_distance(const gab_body *body, const double point[3])
{
  const polygon *of = body->data;
  const double x = point[of->across[0]], y = point[of->across[1]];
  double least = INFINITY;
  bool is_inside = false;
  for (size_t i = 0; i < of->count; i++) {
    const double *a = of->corner[i], *b = of->corner[i + 1 < of->count ? i + 1 : 0];
    const double along[2] = {b[0] - a[0], b[1] - a[1]}, to[2] = {x - a[0], y - a[1]};
    double share = (to[0] * along[0] + to[1] * along[1]) / (along[0] * along[0] + along[1] * along[1]);
    share = fmin(1, fmax(0, share));
    const double away[2] = {to[0] - share * along[0], to[1] - share * along[1]};
    least = fmin(least, away[0] * away[0] + away[1] * away[1]);
    if ((a[1] > y) != (b[1] > y) && x < a[0] + along[0] * (y - a[1]) / along[1]) is_inside = !is_inside;
  }
  return is_inside ? -sqrt(least) : sqrt(least);
}

static void release_polygon(void *data) { gab_free(&data); }

const gab_body_shape gab_shape_polygon = {.name = "polygon",
                                          .doc = "A polygon, drawn out along an axis in 3D.",
                                          .keys = polygon_keys,
                                          .key_count = COUNT(polygon_keys),
                                          .read = read_polygon,
                                          .distance = polygon_distance,
                                          .release = release_polygon};
