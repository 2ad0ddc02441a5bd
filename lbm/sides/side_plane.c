/* SPDX-License-Identifier: Apache-2.0 */
/* Inflow from a plane of another run: side_plane_impl.h. */
#include "lbm/sides/side_plane_impl.h"
#include "lbm/boundaries/geometry.h"
#include "lbm/setup/units.h"
#include "lbm/setup/vectors_impl.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------ keys */

static gab_status refuse_without(const gab_config *config, const char *path, const char *from)
{
  static const char *const others[] = {"from_time", "from_repeats", "from_scale", "from_offset"};
  char key[GAB_CONFIG_PATH_CAPACITY];
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (gab_config_is_set(config, gab_config_path(key, "%s.%s", path, others[i])))
      return gab_config_fail(config, key, "has no effect without %s", from);
  return GAB_OK;
}

static gab_status refuse_with(const gab_config *config, const char *path)
{
  static const char *const others[] = {"profile", "shape", "turbulence_intensity", "turbulence_stresses",
                                       "sponge_thickness"};
  char key[GAB_CONFIG_PATH_CAPACITY];
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (gab_config_is_set(config, gab_config_path(key, "%s.%s", path, others[i])))
      return gab_config_fail(config, key, "and from exclude each other");
  return GAB_OK;
}

gab_status gab_side_read_plane(const gab_config *config, const char *path, int dimension,
                               const gab_units *units, gab_side *side)
{
  char from[GAB_CONFIG_PATH_CAPACITY], key[GAB_CONFIG_PATH_CAPACITY], file[PATH_MAX], why[1024];
  gab_config_path(from, "%s.from", path);
  if (!gab_config_is_set(config, from)) return refuse_without(config, path, from);
  GAB_TRY(refuse_with(config, path));
  GAB_TRY(gab_config_file_of(config, from, file));
  GAB_TRY(GAB_NEW(&side->plane, GAB_MEMORY_OTHER));
  gab_side_plane *made = side->plane;
  made->held[0] = made->held[1] = -1;
  made->steps = NAN;
  made->dt = units->dt;
  made->from_time = gab_config_real(config, gab_config_path(key, "%s.from_time", path));
  made->repeats = gab_config_bool(config, gab_config_path(key, "%s.from_repeats", path));
  made->scale = gab_config_real(config, gab_config_path(key, "%s.from_scale", path)) * units->dt / units->dx;
  if (gab_config_is_set(config, gab_config_path(key, "%s.from_offset", path)))
    GAB_TRY(gab_lbm_read_vector(config, key, dimension, made->offset));
  side->profile = GAB_PROFILE_PLANE;
  const gab_status status = gab_plane_input_open(file, &made->input);
  if (status != GAB_ERR_INPUT && status != GAB_ERR_IO && status != GAB_ERR_CORRUPT) return status;
  snprintf(why, sizeof why, "%s", gab_error_message());
  return gab_config_fail(config, from, "%s", why);
}

void gab_side_plane_release(gab_side_plane **plane)
{
  if (!*plane) return;
  gab_plane_input_close(&(*plane)->input);
  gab_free(&(*plane)->shape);
  for (int k = 0; k < 2; k++) gab_free(&(*plane)->row[k]);
  gab_free(&(*plane)->now);
  gab_free(plane);
}

/* ------------------------------------------------------------------------------------------ in place */

/* Points and weights along one axis. */
typedef struct weights {
  int64_t point[4];
  double of[4];
  int count;
} weights;

/* Lagrange's polynomial through `count` points from `first` on. */
static weights polynomial(int64_t first, int count, double at)
{
  weights made = {.count = count};
  for (int i = 0; i < count; i++) {
    made.point[i] = first + i;
    made.of[i] = 1;
    for (int k = 0; k < count; k++)
      if (k != i) made.of[i] *= (at - (double)(first + k)) / (double)(i - k);
  }
  return made;
}

/* Of third degree between points, of second degree at the ends. */
static weights weights_at(const gab_side_plane *it, int k, double place)
{
  const int64_t points = it->input.points[k];
  const int axis = it->axes[k];
  const double at = (place - it->offset[axis] - it->input.origin[axis]) / it->input.spacing[k];
  const int64_t below = (int64_t)floor(at);
  if (it->is_periodic[k] && points >= 4) {
    weights made = polynomial(below - 1, 4, at);
    for (int i = 0; i < 4; i++) made.point[i] = (made.point[i] % points + points) % points;
    return made;
  }
  if (points < 4) return polynomial(0, (int)points, at);
  if (below < 1) return polynomial(0, 3, at);
  if (below > points - 3) return polynomial(points - 3, 3, at);
  return polynomial(below - 1, 4, at);
}

static double interpolate(const gab_side_plane *it, const double *values, int stride, const weights along[2])
{
  double sum = 0;
  for (int j = 0; j < along[1].count; j++)
    for (int i = 0; i < along[0].count; i++)
      sum += along[1].of[j] * along[0].of[i] *
             values[(along[1].point[j] * it->input.points[0] + along[0].point[i]) * stride];
  return sum;
}

static void find_weights(const gab_side_plane *it, const double along[2], weights made[2])
{
  made[0] = weights_at(it, 0, along[0]);
  made[1] = it->input.dimension == 3 ? weights_at(it, 1, along[1]) : polynomial(0, 1, 0);
}

double gab_side_plane_shape(const gab_side_plane *it, const double place[3])
{
  weights along[2];
  find_weights(it, (const double[2]){place[it->axes[0]], place[it->axes[1]]}, along);
  return interpolate(it, it->shape, 1, along);
}

void gab_side_plane_at(const gab_side_plane *it, const double at[2], double u[3])
{
  weights along[2];
  find_weights(it, at, along);
  for (int k = 0; k < 3; k++) u[k] = interpolate(it, it->now + k, 3, along);
}

/* ------------------------------------------------------------------------------------------ rows */

static size_t points_of(const gab_side_plane *it)
{
  return (size_t)it->input.points[0] * (size_t)it->input.points[1];
}

/* Velocities of a row in cells per step; solid places rest. */
static gab_status read_row(const gab_side_plane *it, uint64_t row, double *values)
{
  GAB_TRY(gab_plane_input_read(&it->input, "velocity", 3, row, values));
  for (size_t i = 0; i < 3 * points_of(it); i++) values[i] = isfinite(values[i]) ? it->scale * values[i] : 0;
  return GAB_OK;
}

static gab_status find_means(gab_side_plane *it)
{
  const size_t points = points_of(it);
  const int normal = it->side / 2;
  double sum = 0, most = 0;
  GAB_TRY(GAB_NEW_ARRAY(&it->shape, points, GAB_MEMORY_OTHER));
  GAB_TRY(GAB_NEW_ARRAY(&it->now, 3 * points, GAB_MEMORY_OTHER));
  for (int k = 0; k < 2; k++) GAB_TRY(GAB_NEW_ARRAY(&it->row[k], 3 * points, GAB_MEMORY_OTHER));
  for (uint64_t row = 0; row < it->input.rows; row++) {
    GAB_TRY(read_row(it, row, it->now));
    for (size_t i = 0; i < points; i++) {
      const double *u = it->now + 3 * i;
      it->shape[i] += u[normal];
      most = fmax(most, sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]));
    }
  }
  for (size_t i = 0; i < points; i++) sum += it->shape[i];
  it->mean = sum / ((double)points * (double)it->input.rows);
  for (size_t i = 0; i < points; i++) it->shape[i] /= (double)it->input.rows * it->mean;
  it->peak = most / fabs(it->mean);
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------------ what follows from the domain */

/* The plane has to cover the side, or the part that a patch has. */
static gab_status check_place(const gab_config *config, const char *from, const gab_domain *domain,
                              const gab_side *side)
{
  gab_side_plane *it = side->plane;
  const gab_side_part *part = &side->part;
  int count = 0;
  for (int axis = 0; axis < domain->dimension; axis++) {
    if (axis == it->side / 2) continue;
    const double length = (double)domain->cells[axis] * domain->dx, spacing = it->input.spacing[count];
    const double lo = domain->origin[axis] + (part->has_frame ? part->lo[axis] * length : 0),
                 hi = domain->origin[axis] + (part->has_frame ? part->hi[axis] : 1) * length;
    const double first = it->input.origin[axis] + it->offset[axis] - 0.5 * spacing,
                 last = first + (double)it->input.points[count] * spacing;
    if (first > lo + 1e-6 * spacing || last < hi - 1e-6 * spacing)
      return gab_config_fail(
          config, from,
          "the plane ranges from %g to %g along %c, what it is for from %g to %g; see from_offset", first,
          last, (int)"xyz"[axis], lo, hi);
    it->is_periodic[count] = domain->periodic[axis] && fabs(last - first - length) < 1e-6 * spacing;
    it->axes[count++] = axis;
  }
  if (count == 1) it->axes[1] = 2;
  return GAB_OK;
}

static gab_status check_time(const gab_config *config, const char *from, const gab_side_plane *it,
                             double duration)
{
  const double first = it->input.times[0], last = it->input.times[it->input.rows - 1];
  const double start = it->from_time, end = start + duration, slack = 1e-6 * it->dt;
  if (it->repeats || (start >= first - slack && end <= last + slack)) return GAB_OK;
  return gab_config_fail(
      config, from,
      "has the times from %g to %g s, the run needs those from %g to %g s; see from_time and "
      "from_repeats",
      first, last, start, end);
}

gab_status gab_side_plane_complete(const gab_config *config, const char *path, int index,
                                   const gab_domain *domain, double duration, gab_side *side)
{
  char from[GAB_CONFIG_PATH_CAPACITY], why[1024];
  gab_side_plane *it = side->plane;
  gab_config_path(from, "%s.from", path);
  it->side = index;
  if (it->input.dimension != domain->dimension)
    return gab_config_fail(config, from, "is of a run in %dD", it->input.dimension);
  if (it->input.axis != index / 2)
    return gab_config_fail(config, from, "is a plane across %c; the side is across %c",
                           (int)"xyz"[it->input.axis], (int)"xyz"[index / 2]);
  GAB_TRY(check_place(config, from, domain, side));
  GAB_TRY(check_time(config, from, it, duration));
  const gab_status status = find_means(it);
  if (status != GAB_OK) {
    snprintf(why, sizeof why, "%s", gab_error_message());
    return gab_config_fail(config, from, "%s", why);
  }
  if (!(it->peak < 1e6))
    return gab_config_fail(config, from, "the mean velocity across the side is 0 or nearly so");
  side->velocity[index / 2] = it->mean;
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------------ in time */

/* The row before a time in the file, and the share of the next one. */
static uint64_t row_before(const gab_side_plane *it, double time, double *share)
{
  const double *times = it->input.times;
  const uint64_t rows = it->input.rows;
  uint64_t low = 0, high = rows - 1;
  *share = 0;
  if (it->repeats && rows > 1) {
    const double period = times[rows - 1] - times[0], since = fmod(time - times[0], period);
    time = times[0] + (since < 0 ? since + period : since);
  }
  if (rows == 1 || time <= times[0]) return 0;
  if (time >= times[rows - 1]) {
    *share = 1;
    return rows - 2;
  }
  while (high - low > 1) {
    const uint64_t middle = low + (high - low) / 2;
    if (times[middle] <= time) low = middle;
    else high = middle;
  }
  *share = (time - times[low]) / (times[high] - times[low]);
  return low;
}

static void swap_rows(gab_side_plane *it)
{
  double *const other = it->row[0];
  const int64_t number = it->held[0];
  it->row[0] = it->row[1];
  it->held[0] = it->held[1];
  it->row[1] = other;
  it->held[1] = number;
}

gab_status gab_side_plane_set_time(gab_side_plane *it, double steps)
{
  double share;
  if (it->steps == steps) return GAB_OK;
  const uint64_t before = row_before(it, it->from_time + steps * it->dt, &share);
  if (it->held[1] == (int64_t)before || it->held[0] == (int64_t)before + 1) swap_rows(it);
  for (int k = 0; k < 2; k++) {
    const uint64_t row = before + (uint64_t)k < it->input.rows ? before + (uint64_t)k : before;
    if (it->held[k] == (int64_t)row) continue;
    it->held[k] = -1;
    it->steps = NAN;
    GAB_TRY(read_row(it, row, it->row[k]));
    it->held[k] = (int64_t)row;
  }
  const int normal = it->side / 2;
  for (size_t i = 0; i < points_of(it); i++)
    for (int k = 0; k < 3; k++)
      it->now[3 * i + (size_t)k] = (1 - share) * it->row[0][3 * i + (size_t)k] +
                                   share * it->row[1][3 * i + (size_t)k] -
                                   (k == normal ? it->mean * it->shape[i] : 0);
  it->steps = steps;
  return GAB_OK;
}
