/* SPDX-License-Identifier: Apache-2.0 */
#include "lbm/setup/initial_flows_impl.h"
#include "lbm/setup/lbm_config.h"

#include "core/base/log.h"
#include "core/memory/memory.h"
#include "lbm/setup/turbulence.h"
#include "lbm/setup/vectors_impl.h"

#include <math.h>
#include <string.h>

#define COUNT(table) (sizeof(table) / sizeof(table)[0])
#define PI           3.14159265358979323846

/* ------------------------------------------------------------------------------------------ parameters */

#define LENGTH(its_name, its_default, its_doc)                                                               \
  {                                                                                                          \
    .name = its_name, .type = GAB_CONFIG_REAL, .min = 0, .max = INFINITY, .min_excluded = true, .unit = "m", \
    .default_text = its_default, .doc = its_doc                                                              \
  }
#define MEAN                                                                                                 \
  {                                                                                                          \
    .name = "velocity", .type = GAB_CONFIG_REAL, .length_min = 2, .length_max = 3, .unit = "m/s",            \
    .default_text = "[0, 0, 0]", .doc = "Uniform velocity that is added."                                    \
  }

static const gab_config_key turbulence_keys[] = {
    {.name = "spectrum",
     .type = GAB_CONFIG_CHOICE,
     .choices = "von_karman|passot_pouquet",
     .default_text = "von_karman",
     .doc = "von_karman: falls with k^(-5/3); passot_pouquet: k^4 exp(-2 (k/k_0)^2)."},
    {.name = "rms",
     .type = GAB_CONFIG_REAL,
     .min = 0,
     .max = INFINITY,
     .min_excluded = true,
     .unit = "m/s",
     .doc = "Root mean square of a component of the velocity."},
    LENGTH("length", NULL, "Wave length at the maximum of the spectrum."),
    LENGTH("shortest", GAB_CONFIG_OPTIONAL,
           "Shortest wave length, at least 4 cells; default 4 cells, or a 64th of the longest side."),
    {.name = "seed",
     .type = GAB_CONFIG_INT,
     .min = 0,
     .max = 9e15,
     .default_text = "1",
     .doc = "Seed of the random numbers."},
    MEAN,
    GAB_CONSISTENT_KEY("true"),
};
static const gab_config_key shear_keys[] = {
    {.name = "speed",
     .type = GAB_CONFIG_REAL,
     .min = 0,
     .max = INFINITY,
     .min_excluded = true,
     .unit = "m/s",
     .doc = "Half of the difference of the velocities along x on both sides of a layer."},
    LENGTH("thickness", NULL, "d of the profile tanh((y - y_0) / d)."),
    {.name = "at",
     .type = GAB_CONFIG_REAL,
     .length_min = 1,
     .length_max = 2,
     .unit = "m",
     .doc = "y_0 of a layer, or of two, between which the fluid moves upwards along x."},
    {.name = "perturbation",
     .type = GAB_CONFIG_REAL,
     .min = 0,
     .max = 1,
     .default_text = "0.05",
     .doc = "Largest velocity along y as a part of `speed`: a sine along x."},
    {.name = "waves",
     .type = GAB_CONFIG_INT,
     .min = 1,
     .max = 1000,
     .default_text = "1",
     .doc = "Waves of this sine along the domain."},
    MEAN,
    GAB_PROJECT_KEY,
    GAB_CONSISTENT_KEY("true"),
};
static const gab_config_key vortices_keys[] = {MEAN, GAB_PROJECT_KEY, GAB_CONSISTENT_KEY("true")};
static const gab_config_key vortex_keys[] = {
    {.name = "profile",
     .type = GAB_CONFIG_CHOICE,
     .choices = "lamb_oseen|taylor",
     .default_text = "taylor",
     .doc =
         "lamb_oseen: circulation, by velocity 0.638 G / (2 pi a) at 1.12 a; taylor: none beyond a few a, u = U (r/a) exp((1 - r^2/a^2)/2)."},
    {.name = "centre",
     .type = GAB_CONFIG_REAL,
     .length_min = 2,
     .length_max = 2,
     .unit = "m",
     .doc = "x and y of the axis, which is along z."},
    LENGTH("radius", NULL, "a of the profile."),
    {.name = "speed",
     .type = GAB_CONFIG_REAL,
     .unit = "m/s",
     .doc = "Largest velocity; negative: clockwise."},
};

static const gab_config_section sections[] = {
    {.path = "initial",
     .doc = "Isotropic turbulence with a given spectrum, in a domain that is periodic along all axes.",
     .keys = turbulence_keys,
     .count = COUNT(turbulence_keys),
     .optional = true,
     .variant = "turbulence"},
    {.path = "initial",
     .doc = "Layers of shear with normal y.",
     .keys = shear_keys,
     .count = COUNT(shear_keys),
     .optional = true,
     .variant = "shear_layer"},
    {.path = "initial",
     .doc = "The vortices of a list.",
     .keys = vortices_keys,
     .count = COUNT(vortices_keys),
     .optional = true,
     .variant = "vortices"},
    {.path = "initial.vortices",
     .doc = "Vortices of `initial: {type: vortices}`; along periodic axes the nearest image counts.",
     .keys = vortex_keys,
     .count = COUNT(vortex_keys),
     .is_list = true},
};

gab_status gab_initial_flows_declare(gab_config *config)
{
  for (size_t i = 0; i < COUNT(sections); i++) GAB_TRY(gab_config_declare(config, &sections[i]));
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------------ velocities */

enum { MOST_IMAGES = 2 }; /* on either side along a periodic axis */

static void shear_velocity(void *user, const double centre[3], double velocity[3])
{
  const gab_initial_flow *it = user;
  const double along = (centre[0] - it->low[0]) / it->length[0];
  const int images = it->layer_count == 2 && it->periodic[1] ? MOST_IMAGES : 0;
  double profile = it->layer_count == 2 ? -1 : tanh((centre[1] - it->at[0]) / it->thickness);
  for (int i = -images; it->layer_count == 2 && i <= images; i++) {
    const double y = centre[1] - i * it->length[1];
    profile += tanh((y - it->at[0]) / it->thickness) - tanh((y - it->at[1]) / it->thickness);
  }
  memcpy(velocity, it->mean, sizeof it->mean);
  velocity[0] += it->layer_speed * profile;
  velocity[1] += it->layer_speed * it->perturbation * sin(2 * PI * (double)it->waves * along);
}

/* The maximum of (1 - exp(-s^2)) / s, at s = 1.1209. */
static const double lamb_oseen_most = 0.6381726863389515;

static double swirl_over_distance(const gab_initial_vortex *vortex, double square)
{
  const double s = square / (vortex->radius * vortex->radius);
  if (!vortex->has_circulation) return vortex->speed / vortex->radius * exp(0.5 * (1 - s));
  const double shape = s < 1e-12 ? 1 - 0.5 * s : -expm1(-s) / s;
  return vortex->speed / (lamb_oseen_most * vortex->radius) * shape;
}

static void add_vortex(const gab_initial_vortex *vortex, double x, double y, double velocity[3])
{
  const double swirl = swirl_over_distance(vortex, x * x + y * y);
  velocity[0] -= swirl * y;
  velocity[1] += swirl * x;
}

/* Vortices with circulation reach too far for a sum over images: the nearest one counts. */
static void vortex_velocity(void *user, const double centre[3], double velocity[3])
{
  const gab_initial_flow *it = user;
  memcpy(velocity, it->mean, sizeof it->mean);
  for (size_t i = 0; i < it->vortex_count; i++) {
    const gab_initial_vortex *vortex = &it->vortices[i];
    double off[2];
    int images[2];
    for (int axis = 0; axis < 2; axis++) {
      off[axis] = centre[axis] - vortex->centre[axis];
      if (it->periodic[axis]) off[axis] -= it->length[axis] * nearbyint(off[axis] / it->length[axis]);
      images[axis] = it->periodic[axis] && !vortex->has_circulation ? MOST_IMAGES : 0;
    }
    for (int y = -images[1]; y <= images[1]; y++)
      for (int x = -images[0]; x <= images[0]; x++)
        add_vortex(vortex, off[0] + x * it->length[0], off[1] + y * it->length[1], velocity);
  }
}

/* ------------------------------------------------------------------------------------------ reading */

static gab_status read_turbulence(const gab_config *config, const gab_domain *domain, gab_initial_flow *flow)
{
  gab_turbulence_options options = {.dimension = domain->dimension,
                                    .dx = domain->dx,
                                    .spectrum =
                                        (gab_spectrum)gab_config_choice_index(config, "initial.spectrum"),
                                    .rms = gab_config_real(config, "initial.rms"),
                                    .peak = gab_config_real(config, "initial.length"),
                                    .seed = (uint64_t)gab_config_int(config, "initial.seed")};
  double longest = 0;
  memcpy(options.mean, flow->mean, sizeof options.mean);
  memcpy(options.origin, flow->low, sizeof options.origin);
  memcpy(options.length, flow->length, sizeof options.length);
  for (int axis = 0; axis < domain->dimension; axis++) {
    longest = fmax(longest, flow->length[axis]);
    if (!domain->periodic[axis])
      return gab_config_fail(config, "initial.type",
                             "turbulence needs a periodic domain, and it is not along %c", (int)"xyz"[axis]);
  }
  options.shortest = fmax(4 * domain->dx, longest / GAB_TURBULENCE_MOST_WAVES);
  if (gab_config_is_set(config, "initial.shortest")) {
    const double least = options.shortest;
    options.shortest = gab_config_real(config, "initial.shortest");
    if (options.shortest < least * (1 - 1e-12))
      return gab_config_fail(config, "initial.shortest",
                             "is %g, shorter than %g (4 cells, a 64th of the longest side)", options.shortest,
                             least);
  }
  if (options.peak > longest || options.peak < options.shortest)
    return gab_config_fail(config, "initial.length",
                           "is %g: it has to lie between the shortest wave %g and the longest side %g",
                           options.peak, options.shortest, longest);
  for (int axis = 0; axis < domain->dimension; axis++)
    if (options.peak > flow->length[axis] * (1 + 1e-12))
      gab_log(
          GAB_LOG_WARNING,
          "initial.length: the waves with most energy, of %g m, do not fit along %c, of %g m: longer ones have directions along "
          "the other axes only, so that the components differ, and rms is that of their mean",
          options.peak, (int)"xyz"[axis], flow -> length[axis]);
  flow->speed = 3 * options.rms;
  flow->velocity = gab_turbulence_velocity;
  GAB_TRY(gab_turbulence_create(&options, &flow->turbulence));
  flow->user = flow->turbulence;
  return GAB_OK;
}

static gab_status read_shear(const gab_config *config, const gab_domain *domain, gab_initial_flow *flow)
{
  const double *at = gab_config_reals(config, "initial.at", &flow->layer_count);
  flow->speed = flow->layer_speed = gab_config_real(config, "initial.speed");
  flow->thickness = gab_config_real(config, "initial.thickness");
  flow->perturbation = gab_config_real(config, "initial.perturbation");
  flow->waves = gab_config_int(config, "initial.waves");
  for (size_t i = 0; i < flow->layer_count; i++) {
    flow->at[i] = at[i];
    if (at[i] <= flow->low[1] || at[i] >= flow->low[1] + flow->length[1])
      return gab_config_fail(config, "initial.at", "y = %g is outside of the domain, from %g to %g", at[i],
                             flow->low[1], flow->low[1] + flow->length[1]);
  }
  if (flow->layer_count == 2 && at[1] <= at[0])
    return gab_config_fail(config, "initial.at", "the second layer has to lie above the first one");
  if (flow->layer_count == 1 && domain->periodic[1])
    return gab_config_fail(config, "initial.at",
                           "one layer does not fit a domain that is periodic along y: give two, or walls");
  flow->velocity = shear_velocity;
  flow->user = flow;
  return GAB_OK;
}

static gab_status read_vortices(const gab_config *config, gab_initial_flow *flow)
{
  char path[GAB_CONFIG_PATH_CAPACITY];
  flow->vortex_count = gab_config_count(config, "initial.vortices");
  if (flow->vortex_count == 0)
    return gab_config_fail(config, "initial.type", "vortices: the list initial.vortices is empty");
  GAB_TRY(GAB_NEW_ARRAY(&flow->vortices, flow->vortex_count, GAB_MEMORY_OTHER));
  for (size_t i = 0; i < flow->vortex_count; i++) {
    gab_initial_vortex *vortex = &flow->vortices[i];
    size_t count;
    const double *centre =
        gab_config_reals(config, gab_config_path(path, "initial.vortices.%zu.centre", i), &count);
    memcpy(vortex->centre, centre, sizeof vortex->centre);
    vortex->radius = gab_config_real(config, gab_config_path(path, "initial.vortices.%zu.radius", i));
    vortex->speed = gab_config_real(config, gab_config_path(path, "initial.vortices.%zu.speed", i));
    vortex->has_circulation =
        gab_config_choice_index(config, gab_config_path(path, "initial.vortices.%zu.profile", i)) == 0;
    flow->speed = fmax(flow->speed, fabs(vortex->speed));
    for (int axis = 0; axis < 2; axis++) {
      const double half = 0.5 * flow->length[axis],
                   jump = 2 * swirl_over_distance(vortex, half * half) * half;
      if (flow->periodic[axis] && vortex->has_circulation && fabs(jump) > 0.05 * fabs(vortex->speed))
        gab_log(
            GAB_LOG_WARNING,
            "initial.vortices.%zu: %c is periodic, and half a period from the vortex the velocity along %c jumps by %.3g m/s: "
            "the profile 'taylor' or a longer domain has no such sheet of vorticity",
            i, (int)"xy"[axis], (int)"yx"[axis], fabs(jump));
      const double low = flow->low[axis], high = low + flow->length[axis];
      if (centre[axis] < low || centre[axis] > high)
        return gab_config_fail(config, gab_config_path(path, "initial.vortices.%zu.centre", i),
                               "%c = %g is outside of the domain, from %g to %g", (int)"xy"[axis],
                               centre[axis], low, high);
    }
  }
  flow->velocity = vortex_velocity;
  flow->user = flow;
  return GAB_OK;
}

gab_status gab_initial_flows_read(const gab_config *config, const gab_domain *domain, gab_initial_flow *flow)
{
  const char *type = gab_config_string(config, "initial.type");
  const bool is_turbulence = strcmp(type, "turbulence") == 0, is_shear = strcmp(type, "shear_layer") == 0,
             is_vortices = strcmp(type, "vortices") == 0;
  *flow = (gab_initial_flow){.is_used = is_turbulence || is_shear || is_vortices};
  if (!is_vortices && gab_config_count(config, "initial.vortices") > 0)
    return gab_config_fail(config, "initial.vortices", "is for initial.type = vortices, not %s", type);
  if (!flow->is_used) return GAB_OK;
  for (int axis = 0; axis < 3; axis++) {
    flow->low[axis] = domain->origin[axis];
    flow->length[axis] = (double)domain->cells[axis] * domain->dx;
    flow->periodic[axis] = domain->periodic[axis];
  }
  flow->solves = gab_config_bool(config, "initial.consistent_pressure");
  flow->projects = !is_turbulence && gab_config_bool(config, "initial.project");
  GAB_TRY(gab_lbm_read_plane_vector(config, "initial.velocity", domain->dimension, flow->mean));
  if (is_turbulence) GAB_TRY(read_turbulence(config, domain, flow));
  else GAB_TRY(is_shear ? read_shear(config, domain, flow) : read_vortices(config, flow));
  flow->speed +=
      sqrt(flow->mean[0] * flow->mean[0] + flow->mean[1] * flow->mean[1] + flow->mean[2] * flow->mean[2]);
  return GAB_OK;
}

void gab_initial_flows_release(gab_initial_flow *flow)
{
  gab_turbulence_destroy(&flow->turbulence);
  gab_free(&flow->vortices);
}
