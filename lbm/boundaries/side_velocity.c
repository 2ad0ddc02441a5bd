/* SPDX-License-Identifier: Apache-2.0 */
/* The velocity that a side gives, over the side and in time: profile, ramp, formulas, series. */
#include "core/base/hash.h"
#include "lbm/boundaries/geometry.h"
#include "lbm/boundaries/side_impl.h"

#include <math.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------ in time */

double gab_side_factor_at(const gab_side *side, double steps)
{
  const double pi = 3.14159265358979323846, time = steps * side->dt;
  double factor = steps >= side->ramp_steps ? 1 : (1 - cos(pi * steps / side->ramp_steps)) / 2;
  if (side->factor) factor *= gab_expression_at(side->factor, &time);
  if (side->series) factor *= gab_time_series_at(side->series, time);
  return factor;
}

bool gab_side_varies(const gab_side *side) { return side->ramp_steps > 0 || side->factor || side->series; }

static bool same_formula(const gab_expression *a, const gab_expression *b)
{
  return a == b || (a && b && strcmp(gab_expression_text(a), gab_expression_text(b)) == 0);
}

bool gab_side_vary_alike(const gab_side *a, const gab_side *b)
{
  return a->ramp_steps == b->ramp_steps && a->dt == b->dt && same_formula(a->factor, b->factor) &&
         gab_time_series_equal(a->series, b->series);
}

/* ------------------------------------------------------------------------------------------ over the side */

static double parabola(int index, const gab_domain *domain, const double share[3])
{
  double factor = 1;
  for (int axis = 0; axis < domain->dimension; axis++)
    if (axis != index / 2 && !domain->periodic[axis]) factor *= fmax(0, 4 * share[axis] * (1 - share[axis]));
  return factor;
}

static void place_of(int index, const gab_domain *domain, const double share[3], double place[3])
{
  for (int axis = 0; axis < 3; axis++) {
    const double at = axis == index / 2 ? index % 2 : share[axis];
    place[axis] = domain->origin[axis] + at * (double)domain->cells[axis] * domain->dx;
  }
}

double gab_side_shape_at(const gab_side *side, int index, const gab_domain *domain, const double share[3])
{
  double place[3];
  if (side->profile == GAB_PROFILE_CONSTANT) return 1;
  if (side->profile == GAB_PROFILE_PARABOLIC) return parabola(index, domain, share);
  place_of(index, domain, share, place);
  return gab_expression_at(side->shape, place);
}

/* Sees the centres of the cells of a side, of at most 512 along each axis. */
static double visit(const gab_side *side, int index, const gab_domain *domain, double *most, double place[3])
{
  enum { MOST_CELLS = 512 };
  int count[3];
  double sum = 0;
  *most = 0;
  for (int axis = 0; axis < 3; axis++)
    count[axis] = axis == index / 2 || axis >= domain->dimension ? 1
                  : domain->cells[axis] < MOST_CELLS             ? (int)domain->cells[axis]
                                                                 : MOST_CELLS;
  for (int z = 0; z < count[2]; z++)
    for (int y = 0; y < count[1]; y++)
      for (int x = 0; x < count[0]; x++) {
        const double share[3] = {(x + 0.5) / count[0], (y + 0.5) / count[1], (z + 0.5) / count[2]};
        const double value = gab_side_shape_at(side, index, domain, share);
        sum += value;
        if (fabs(value) <= *most) continue;
        *most = fabs(value); /* NaN, too */
        place_of(index, domain, share, place);
        if (!isfinite(value)) return value;
      }
  return sum / ((double)count[0] * count[1] * count[2]);
}

double gab_side_mean_shape(const gab_side *side, int index, const gab_domain *domain)
{
  double most, place[3];
  return visit(side, index, domain, &most, place);
}

/* ------------------------------------------------------------------------------------------ peaks */

/* One of so many instants of a run: each even one is equidistant, each odd one at random between its neighbours, since no period of
 * a formula can divide the distances of these. */
static double instant(double duration, int i, int count)
{
  const double share = (double)(gab_hash_counter(1, 0, (uint64_t)i) >> 11) * 0x1p-53;
  return duration * (i % 2 ? i - 1 + 2 * share : i) / count;
}

static gab_status find_peak_in_time(const gab_config *config, int index, double duration, gab_side *side)
{
  enum { SAMPLES = 2000 };
  char path[GAB_CONFIG_PATH_CAPACITY];
  double most = side->series ? gab_time_series_largest(side->series) : 1;
  for (int i = 0; side->factor && i <= SAMPLES; i++) {
    const double time = instant(duration, i, SAMPLES), value = gab_expression_at(side->factor, &time);
    if (!isfinite(value))
      return gab_config_fail(config, gab_config_path(path, "%s.factor", gab_side_paths[index]),
                             "the formula '%s' is %g at time %g", gab_expression_text(side->factor), value,
                             time);
    const double all = fabs(value * (side->series ? gab_time_series_at(side->series, time) : 1));
    if (i == 0 || all > most) most = all;
  }
  side->peak = most;
  return GAB_OK;
}

gab_status gab_side_find_peak(const gab_config *config, int index, const gab_domain *domain, double duration,
                              gab_side *side)
{
  char path[GAB_CONFIG_PATH_CAPACITY];
  double most = 1, place[3];
  if (!side->shape && !side->factor && !side->series) return GAB_OK;
  GAB_TRY(find_peak_in_time(config, index, duration, side));
  if (!side->shape) return GAB_OK;
  const double mean = visit(side, index, domain, &most, place);
  gab_config_path(path, "%s.shape", gab_side_paths[index]);
  if (!isfinite(mean))
    return gab_config_fail(config, path, "the formula '%s' is %g at (%g, %g, %g)",
                           gab_expression_text(side->shape), mean, place[0], place[1], place[2]);
  side->peak *= most;
  return GAB_OK;
}
