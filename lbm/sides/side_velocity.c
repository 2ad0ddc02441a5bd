/* SPDX-License-Identifier: Apache-2.0 */
/* The velocity or pressure that a side gives, over the side: profiles and formulas; what follows from the domain. */
#include "core/base/hash.h"
#include "core/base/text/text_impl.h"
#include "lbm/boundaries/geometry.h"
#include "lbm/sides/profiles_impl.h"
#include "lbm/sides/side_impl.h"
#include "lbm/sides/side_plane_impl.h"
#include "lbm/sides/side_turbulence_impl.h"

#include <math.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

/* ------------------------------------------------------------------------------------------ over the side */

/* Whether a profile vanishes at both ends along an axis. */
static bool is_bounded(const gab_side *side, const gab_domain *domain, int axis)
{
  return side->part.has_frame ? side->part.is_bounded[axis] : !domain->periodic[axis];
}

/* A share of the domain as one of the part that profiles refer to. */
static double share_of(const gab_side *side, const double share[3], int axis)
{
  const gab_side_part *part = &side->part;
  if (!part->has_frame) return share[axis];
  return (share[axis] - part->lo[axis]) / (part->hi[axis] - part->lo[axis]);
}

static double parabola(const gab_side *side, int index, const gab_domain *domain, const double share[3])
{
  double factor = 1;
  for (int axis = 0; axis < domain->dimension; axis++) {
    const double at = share_of(side, share, axis);
    if (axis != index / 2 && is_bounded(side, domain, axis)) factor *= fmax(0, 4 * at * (1 - at));
  }
  return factor;
}

static void place_of(int index, const gab_domain *domain, const double share[3], double place[3])
{
  for (int axis = 0; axis < 3; axis++) {
    const double at = axis == index / 2 ? index % 2 : share[axis];
    place[axis] = domain->origin[axis] + at * (double)domain->cells[axis] * domain->dx;
  }
}

/* Half of the part that profiles refer to, along an axis; and its middle. */
static double half_of(const gab_side *side, const gab_domain *domain, int axis)
{
  const double part = side->part.has_frame ? side->part.hi[axis] - side->part.lo[axis] : 1;
  return part * ((double)domain->cells[axis] * domain->dx / 2);
}

static double middle_of(const gab_side *side, const gab_domain *domain, int axis)
{
  const double start =
      side->part.has_frame ? side->part.lo[axis] * (double)domain->cells[axis] * domain->dx : 0;
  return domain->origin[axis] + start + half_of(side, domain, axis);
}

/* The axes along the side at whose ends the profile vanishes. @return their number */
static int bounded_axes(const gab_side *side, int index, const gab_domain *domain, int axes[2])
{
  int count = 0;
  for (int axis = 0; axis < domain->dimension; axis++)
    if (axis != index / 2 && is_bounded(side, domain, axis)) axes[count++] = axis;
  return count;
}

static double duct(const gab_side *side, int index, const gab_domain *domain, const double share[3])
{
  int axes[2];
  double half[2], from_middle[2];
  if (bounded_axes(side, index, domain, axes) < 2) return parabola(side, index, domain, share);
  for (int i = 0; i < 2; i++) {
    half[i] = half_of(side, domain, axes[i]);
    from_middle[i] = (2 * share_of(side, share, axes[i]) - 1) * half[i];
    if (fabs(from_middle[i]) > half[i]) return 0;
  }
  return gab_profile_duct(from_middle[0], from_middle[1], half[0], half[1]);
}

/* Distance from the centre of a tube over its radius. */
static double off_centre(const gab_side *side, int index, const gab_domain *domain, const double share[3])
{
  double place[3], square = 0;
  place_of(index, domain, share, place);
  for (int axis = 0; axis < domain->dimension; axis++)
    if (axis != index / 2) square += pow(place[axis] - side->of_profile.centre[axis], 2);
  return sqrt(square) / side->of_profile.radius;
}

static void womersley(const gab_side *side, int index, const gab_domain *domain, const double share[3],
                      double shape[2])
{
  int axes[2];
  const bool tube = side->of_profile.radius > 0;
  if (!tube && bounded_axes(side, index, domain, axes) == 0) return;
  const double place = tube ? off_centre(side, index, domain, share) : 2 * share_of(side, share, axes[0]) - 1;
  const double _Complex value = gab_profile_womersley(tube, side->of_profile.alpha, place);
  shape[0] = creal(value);
  shape[1] = -cimag(value);
}

/* Profiles over a ground. */
static double boundary_layer(const gab_side *side, const gab_domain *domain, const double share[3])
{
  const gab_profile_numbers *of = &side->of_profile;
  const int axis = of->ground / 2;
  const double up = of->ground % 2 ? 1 - share[axis] : share[axis];
  const double height = up * (double)domain->cells[axis] * domain->dx - of->displacement;
  if (!(height > 0)) return 0;
  if (side->profile == GAB_PROFILE_POWER_LAW) return pow(height / of->height, of->exponent);
  return log1p(height / of->roughness) / log1p((of->height - of->displacement) / of->roughness);
}

void gab_side_shape_at(const gab_side *side, int index, const gab_domain *domain, const double share[3],
                       double shape[2])
{
  double place[3];
  shape[0] = 1;
  shape[1] = 0;
  switch (side->profile) {
  case GAB_PROFILE_CONSTANT:
    return;
  case GAB_PROFILE_PARABOLIC:
    shape[0] = parabola(side, index, domain, share);
    return;
  case GAB_PROFILE_DUCT:
    shape[0] = duct(side, index, domain, share);
    return;
  case GAB_PROFILE_PIPE:
    shape[0] = fmax(0, 1 - pow(off_centre(side, index, domain, share), 2));
    return;
  case GAB_PROFILE_POWER_LAW:
  case GAB_PROFILE_LOGARITHMIC:
    shape[0] = boundary_layer(side, domain, share);
    return;
  case GAB_PROFILE_WOMERSLEY:
    womersley(side, index, domain, share, shape);
    return;
  case GAB_PROFILE_PLANE:
    place_of(index, domain, share, place);
    shape[0] = gab_side_plane_shape(side->plane, place);
    return;
  case GAB_PROFILE_FORMULA:
    place_of(index, domain, share, place);
    shape[0] = gab_expression_at(side->shape, place);
  }
}

/* Whether a condition has the face of level 0 in which a point of its side lies. */
static bool has_face(const gab_side *side, int index, const gab_domain *domain, const double share[3])
{
  const gab_side_part *part = &side->part;
  int64_t face[3];
  if (!part->patches) return true;
  for (int axis = 0; axis < 3; axis++) face[axis] = (int64_t)(share[axis] * (double)domain->cells[axis]);
  return gab_patches_condition_at(part->patches, domain, index, face) == part->condition;
}

/* Sees the centres of the cells of a condition, of at most 512 along each axis, of sides with patches 8192. @return mean over the side */
static double visit(const gab_side *side, int index, const gab_domain *domain, double *most, double place[3])
{
  const int64_t most_cells = side->part.patches ? 8192 : 512;
  int count[3];
  double sum = 0;
  *most = 0;
  for (int axis = 0; axis < 3; axis++)
    count[axis] = axis == index / 2 || axis >= domain->dimension ? 1
                  : domain->cells[axis] < most_cells             ? (int)domain->cells[axis]
                                                                 : most_cells;
  for (int z = 0; z < count[2]; z++)
    for (int y = 0; y < count[1]; y++)
      for (int x = 0; x < count[0]; x++) {
        const double share[3] = {(x + 0.5) / count[0], (y + 0.5) / count[1], (z + 0.5) / count[2]};
        double shape[2];
        if (!has_face(side, index, domain, share)) continue;
        gab_side_shape_at(side, index, domain, share, shape);
        sum += shape[0];
        const double value = shape[1] == 0 ? shape[0] : hypot(shape[0], shape[1]);
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

/* The i-th of `count' instants of a run. Even ones are equidistant. Odd ones lie at random between their neighbours, so that the
 * period of a formula cannot divide all distances. */
static double instant(double duration, int i, int count)
{
  const double share = gab_hash_uniform(1, 0, (uint64_t)i);
  return duration * (i % 2 ? i - 1 + 2 * share : i) / count;
}

/* Rounded up to one of four values between two powers of two. Speeds of sides enter the arithmetic (lbm.open_speed,
 * refinement.border_speed), which must not change if a run is continued to another end, where other instants are looked at. */
static double coarse_peak(double peak)
{
  int exponent;
  const double fraction = frexp(peak * (1 - 1e-9), &exponent); /* 1/2 <= fraction < 1 */
  return peak > 0 ? ldexp(ceil(8 * fraction) / 8, exponent) : peak;
}

static gab_status find_peak_in_time(const gab_config *config, const char *name, double duration,
                                    gab_side *side)
{
  enum { SAMPLES = 2000 };
  char path[GAB_CONFIG_PATH_CAPACITY];
  double most = side->series ? gab_time_series_largest(side->series) : 1;
  for (int i = 0; side->factor && i <= (side->is_measured ? 0 : SAMPLES); i++) {
    const double time = instant(duration, i, SAMPLES), value = gab_side_formula_at(side, time, NULL);
    if (!isfinite(value))
      return gab_config_fail(config, gab_config_path(path, "%s.factor", name),
                             "the formula '%s' is %g at time %g%s", gab_expression_text(side->factor), value,
                             time, side->is_measured ? ", where all statistics are 0" : "");
    const double all = fabs(value * (side->series ? gab_time_series_at(side->series, time) : 1));
    if (i == 0 || all > most) most = all;
  }
  if (side->is_measured)
    most = side->factor_limit * (side->series ? gab_time_series_largest(side->series) : 1);
  side->peak_in_time = most;
  side->peak = side->factor ? coarse_peak(most) : most;
  return GAB_OK;
}

static gab_status find_peak(const gab_config *config, const char *name, int index, const gab_domain *domain,
                            double duration, gab_side *side)
{
  char path[GAB_CONFIG_PATH_CAPACITY];
  double most = 1, place[3];
  const bool has_shape = side->profile == GAB_PROFILE_FORMULA || side->profile >= GAB_PROFILE_POWER_LAW;
  if (!has_shape && !side->factor && !side->series) return GAB_OK;
  GAB_TRY(find_peak_in_time(config, name, duration, side));
  if (!has_shape) return GAB_OK;
  const double mean = visit(side, index, domain, &most, place);
  gab_config_path(path, "%s.shape", name);
  if (!isfinite(mean)) {
    char text[GAB_TEXT_PLACE_CAPACITY];
    gab_text_format_place(place, domain->dimension, text);
    return gab_config_fail(config, path, "the formula '%s' is %g at %s",
                           side->shape ? gab_expression_text(side->shape) : "profile", mean, text);
  }
  side->peak *= side->plane ? fmax(most, side->plane->peak) : most;
  return GAB_OK;
}

double gab_side_fluctuation(const gab_side *side)
{
  const double in_time = side->peak_in_time > 0 ? side->peak_in_time : 1;
  if (!side->turbulence) return 0;
  return 3 * side->turbulence->rms * (side->factor ? coarse_peak(in_time) : in_time);
}

double gab_side_speed(const gab_side *side)
{
  const double *u = side->velocity;
  return gab_side_peak(side) * sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]) + gab_side_fluctuation(side);
}

/* ------------------------------------------------------------------------------------------ what follows from the domain */

static gab_status check_ground(const gab_config *config, const char *name, int index,
                               const gab_domain *domain, gab_side *side)
{
  char path[GAB_CONFIG_PATH_CAPACITY];
  gab_profile_numbers *of = &side->of_profile;
  if (of->ground < 0) of->ground = domain->dimension == 2 ? GAB_SIDE_Y_MIN : GAB_SIDE_Z_MIN;
  const int axis = of->ground / 2;
  gab_config_path(path, "%s.ground", name);
  if (axis == index / 2 || axis >= domain->dimension || domain->periodic[axis])
    return gab_config_fail(config, path, "must be a side next to this one that is not periodic, not %s",
                           gab_side_paths[of->ground] + strlen("boundaries."));
  gab_config_path(path, "%s.reference_height", name);
  if (!(of->height > of->displacement))
    return gab_config_fail(config, path, "must be above the displacement height %g, not %g", of->displacement,
                           of->height);
  return GAB_OK;
}

static gab_status complete_profile(const gab_config *config, const char *name, int index,
                                   const gab_domain *domain, double viscosity, gab_side *side)
{
  char path[GAB_CONFIG_PATH_CAPACITY];
  int axes[2];
  gab_profile_numbers *of = &side->of_profile;
  const double most_alpha = 500;
  if (side->profile == GAB_PROFILE_POWER_LAW || side->profile == GAB_PROFILE_LOGARITHMIC)
    return check_ground(config, name, index, domain, side);
  if (side->profile != GAB_PROFILE_PIPE && side->profile != GAB_PROFILE_WOMERSLEY) return GAB_OK;
  if (of->radius > 0 && domain->dimension == 2)
    return gab_config_fail(config, gab_config_path(path, "%s.radius", name), "in 2D there are no tubes; %s",
                           side->profile == GAB_PROFILE_PIPE ? "profile: parabolic is the flow in a channel"
                                                             : "without it the flow is that in a channel");
  if (!isfinite(of->centre[0]))
    for (int axis = 0; axis < 3; axis++) of->centre[axis] = middle_of(side, domain, axis);
  if (side->profile == GAB_PROFILE_PIPE) return GAB_OK;
  const int bounded = bounded_axes(side, index, domain, axes);
  gab_config_path(path, "%s.profile", name);
  if (of->radius == 0 && bounded != 1)
    return gab_config_fail(config, path, "womersley needs a radius: %s",
                           bounded == 0 ? "no sides bound this one"
                                        : "flow between two plates has one direction without walls");
  of->alpha = (of->radius > 0 ? of->radius : half_of(side, domain, axes[0])) *
              sqrt(2 * pi / (of->period * viscosity));
  if (!(of->alpha <= most_alpha))
    return gab_config_fail(
        config, path, "womersley: the Womersley number is %g, more than %g; raise period or fluid.viscosity",
        of->alpha, most_alpha);
  return GAB_OK;
}

/* Share of the faces of its side that a condition has. */
static double share_of_faces(const gab_side *side, int index, const gab_domain *domain)
{
  const gab_side_part *part = &side->part;
  double all = 1;
  if (!part->patches) return 1;
  for (int axis = 0; axis < domain->dimension; axis++)
    if (axis != index / 2) all *= (double)domain->cells[axis];
  return (double)(part->condition < GAB_SIDE_COUNT
                      ? part->patches->side_faces[index]
                      : part->patches->list[part->condition - GAB_SIDE_COUNT].faces) /
         all;
}

/* The velocity that a flow rate has without bodies; the grid scales it (gab_lbm_set_flow_rates()). */
static gab_status velocity_of_rate(const gab_config *config, const char *name, int index,
                                   const gab_domain *domain, gab_side *side)
{
  char path[GAB_CONFIG_PATH_CAPACITY];
  double area = 1;
  for (int axis = 0; axis < domain->dimension; axis++)
    if (axis != index / 2) area *= (double)domain->cells[axis];
  const double mean = gab_side_mean_shape(side, index, domain);
  if (!(fabs(mean) > 1e-6 * fmax(1, gab_side_peak(side)) * share_of_faces(side, index, domain)))
    return gab_config_fail(config, gab_config_path(path, "%s.flow_rate", name),
                           "the profile has the mean %g over the side: no velocity gives a flow rate", mean);
  side->velocity[index / 2] = (index % 2 ? -1 : 1) * side->flow_rate / (area * mean);
  return GAB_OK;
}

/* A density that stays within the range of the method. */
static gab_status check_density(const gab_config *config, const char *name, const gab_side *side)
{
  char path[GAB_CONFIG_PATH_CAPACITY];
  const double change = fabs(side->density - 1) * gab_side_peak(side);
  if (side->density == 1 || change < 0.5) return GAB_OK;
  return gab_config_fail(
      config, gab_config_path(path, "%s.pressure", name),
      "its largest value changes the density on the lattice by %g, more than 0.5: shorten the time step",
      change);
}

/* Fluctuations move with the mean velocity of the condition. */
static gab_status complete_turbulence(const gab_config *config, const char *name, int index,
                                      const gab_domain *domain, gab_side *side)
{
  double mean[3];
  const double shape = gab_side_mean_shape(side, index, domain) / share_of_faces(side, index, domain);
  for (int axis = 0; axis < 3; axis++) mean[axis] = side->velocity[axis] * shape;
  return gab_side_turbulence_draw(config, name, index, domain, mean, side);
}

gab_status gab_side_complete(const gab_config *config, const char *path, int index, const gab_domain *domain,
                             double duration, double viscosity, gab_side *side)
{
  GAB_TRY(complete_profile(config, path, index, domain, viscosity, side));
  if (side->plane) GAB_TRY(gab_side_plane_complete(config, path, index, domain, duration, side));
  GAB_TRY(find_peak(config, path, index, domain, duration, side));
  if (side->flow_rate != 0) GAB_TRY(velocity_of_rate(config, path, index, domain, side));
  if (side->turbulence) GAB_TRY(complete_turbulence(config, path, index, domain, side));
  return gab_side_is_open(side) && !gab_side_is_user_defined(side) ? check_density(config, path, side)
                                                                   : GAB_OK;
}

gab_status gab_side_complete_on_body(const gab_config *config, const char *path, double duration,
                                     gab_side *side)
{
  if (side->factor || side->series) GAB_TRY(find_peak_in_time(config, path, duration, side));
  return gab_side_is_open(side) ? check_density(config, path, side) : GAB_OK;
}
