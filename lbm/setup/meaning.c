/* Cases that can be computed but cannot be meant. */
#include "core/base/log.h"
#include "lbm/setup/lbm_config.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const side_paths[GAB_SIDE_COUNT] = {"boundaries.x_min", "boundaries.x_max",
                                                       "boundaries.y_min", "boundaries.y_max",
                                                       "boundaries.z_min", "boundaries.z_max"};

/* What somebody wants to know of a key that was given: where it stands. */
#define WHERE(config, path, buffer) gab_config_where(config, path, buffer, sizeof(buffer))

/* ------------------------------------------------------------------------------------------ keys */

static void warn_without_effect(const gab_config *config, const char *key, const char *why)
{
  char where[GAB_PATH_LENGTH];
  if (gab_config_is_set(config, key))
    gab_log(GAB_LOG_WARNING, "%s: %s has no effect: %s", WHERE(config, key, where), key, why);
}

static bool has_key(const char *const *keys, const char *key)
{
  for (size_t i = 0; keys && keys[i]; i++)
    if (strcmp(keys[i], key) == 0) return true;
  return false;
}

/* "srt or mrt": the models that a key is one of. @return the index of the first one */
static int list_owners(const char *key, char *text, size_t capacity)
{
  int first = -1;
  text[0] = '\0';
  for (int i = 0; gab_collision_at(i); i++) {
    if (!has_key(gab_collision_at(i)->keys, key)) continue;
    const size_t used = strlen(text);
    snprintf(text + used, capacity - used, "%s%s", first < 0 ? "" : " or ", gab_collision_at(i)->name);
    if (first < 0) first = i;
  }
  return first;
}

/* Keys that belong to other models than the one that was chosen. */
static void check_keys_of_collisions(const gab_config *config, const gab_domain *domain,
                                     const gab_collision *chosen)
{
  for (int i = 0; gab_collision_at(i); i++) {
    const char *const *keys = gab_collision_at(i)->keys;
    for (size_t k = 0; keys && keys[k]; k++) {
      char owners[128], why[192];
      if (list_owners(keys[k], owners, sizeof owners) != i || has_key(chosen->keys, keys[k])) continue;
      snprintf(why, sizeof why, "lbm.collision is %s, not %s", chosen->name, owners);
      warn_without_effect(config, keys[k], why);
    }
  }
  for (size_t k = 0; domain->dimension == 2 && chosen->keys_of_space && chosen->keys_of_space[k]; k++)
    warn_without_effect(config, chosen->keys_of_space[k], "the domain has 2 dimensions");
}

static void check_keys(const gab_config *config, const gab_domain *domain, const gab_lbm_setup *setup)
{
  check_keys_of_collisions(config, domain, setup->options.collision);
  for (int side = 0; side < 2 * domain->dimension; side++) {
    char path[GAB_CONFIG_PATH_CAPACITY];
    const gab_side *about = &setup->options.sides[side];
    const int axis = side / 2;
    if (about->kind != GAB_SIDE_VELOCITY || about->profile == GAB_PROFILE_CONSTANT) continue;
    bool falls = false; /* somewhere to zero */
    for (int other = 0; other < domain->dimension; other++)
      falls = falls || (other != axis && !domain->periodic[other]);
    if (!falls)
      warn_without_effect(config, gab_config_path(path, "%s.profile", side_paths[side]),
                          "all sides beside this one are periodic");
  }
}

/* ------------------------------------------------------------------------------------------ closed boxes */

/* Mean of a parabolic profile over the centres of the cells of a side, for its maximum. */
static double mean_of_profile(const gab_domain *domain, int axis)
{
  double mean = 1;
  for (int other = 0; other < domain->dimension; other++) {
    const double cells = (double)domain->cells[other];
    if (other != axis && !domain->periodic[other]) mean *= 2.0 / 3 + 1 / (3 * cells * cells);
  }
  return mean;
}

/* Fluid that enters a box has to leave it. */
static gab_status check_fluxes(const gab_config *config, const gab_domain *domain, const gab_lbm_setup *setup)
{
  const double tolerance = 0.01;
  double net = 0, gross = 0, cells = 1, most = 0;
  int largest = 0;
  for (int axis = 0; axis < domain->dimension; axis++) cells *= (double)domain->cells[axis];
  for (int side = 0; side < 2 * domain->dimension; side++) {
    const gab_side *about = &setup->options.sides[side];
    if (about->kind == GAB_SIDE_PRESSURE || about->kind == GAB_SIDE_OUTFLOW || about->kind == GAB_SIDE_OWN)
      return GAB_OK;
    if (about->kind != GAB_SIDE_VELOCITY) continue;
    double flux = about->velocity[side / 2] * (side % 2 ? -1 : 1) * cells / (double)domain->cells[side / 2];
    if (about->profile != GAB_PROFILE_CONSTANT) flux *= mean_of_profile(domain, side / 2);
    net += flux; /* cells of fluid in a step, inwards */
    gross += fabs(flux);
    if (fabs(flux) > most) {
      most = fabs(flux);
      largest = side;
    }
  }
  if (fabs(net) <= tolerance * gross) return GAB_OK;
  return gab_config_fail(
      config, side_paths[largest],
      "fluid %s through sides of type velocity and there is no side of type pressure or outflow: "
      "the mass of the box would change by %.3g %% in 1000 steps",
      net > 0 ? "enters" : "leaves", 1e5 * net / cells);
}

/* What is pushed has to be held by something. */
static gab_status check_acceleration(const gab_config *config, const gab_domain *domain,
                                     const gab_lbm_setup *setup, int64_t steps)
{
  const double refused = 0.2; /* cells per step: gab_flow_check() refuses a Mach number above 0.35 */
  double push = 0;
  for (int axis = 0; axis < domain->dimension; axis++) {
    const gab_side *sides = &setup->options.sides[2 * axis];
    for (int k = 0; k < 2; k++)
      if (sides[k].kind != GAB_SIDE_PERIODIC && sides[k].kind != GAB_SIDE_FREE_SLIP) return GAB_OK;
    if (domain->periodic[axis]) push = hypot(push, setup->options.force[axis]);
  }
  if (setup->body_count > 0 || push == 0) return GAB_OK;
  char where[GAB_PATH_LENGTH];
  const double speed = push * (double)steps;
  if (speed > refused)
    return gab_config_fail(
        config, "fluid.acceleration",
        "nothing holds the fluid (no walls, no bodies): at the end it would have %.3g m/s, %.3g cells "
        "per step, more than %.2g",
        gab_units_velocity_to_physical(&setup->units, speed), speed, refused);
  gab_log(GAB_LOG_WARNING,
          "%s: nothing holds the fluid (no walls, no bodies): fluid.acceleration gives all of it %.3g m/s in "
          "the end, "
          "%.3g cells per step",
          WHERE(config, "fluid.acceleration", where), gab_units_velocity_to_physical(&setup->units, speed),
          speed);
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------------ bodies */

/* Where a body can be at most along an axis. */
static void extent_of(const gab_body *body, int dimension, int axis, double *lo, double *hi)
{
  double reach = body->radius;
  if (body->shape == GAB_SHAPE_BOX || body->shape == GAB_SHAPE_MASK || body->shape == GAB_SHAPE_OWN) {
    *lo = body->lo[axis];
    *hi = body->hi[axis];
    return;
  }
  if (body->shape == GAB_SHAPE_CYLINDER && dimension == 3 && axis == body->axis)
    reach = body->length > 0 ? body->length / 2 : INFINITY;
  *lo = body->centre[axis] - reach;
  *hi = body->centre[axis] + reach;
}

static gab_status check_bodies(const gab_config *config, const gab_domain *domain, const gab_lbm_setup *setup)
{
  for (size_t i = 0; i < setup->body_count; i++) {
    char path[GAB_CONFIG_PATH_CAPACITY];
    const gab_body *body = &setup->bodies[i];
    if (body->inside_is_fluid) continue;
    for (int axis = 0; axis < domain->dimension; axis++) {
      double lo, hi;
      const double first = domain->origin[axis], last = first + (double)domain->cells[axis] * domain->dx;
      extent_of(body, domain->dimension, axis, &lo, &hi);
      if (domain->periodic[axis] || (hi >= first && lo <= last)) continue;
      return gab_config_fail(
          config, gab_config_path(path, "bodies.%zu", i),
          "the body lies outside of the domain: along %c it reaches from %g to %g, the domain from %g "
          "to %g",
          "xyz"[axis], lo, hi, first, last);
    }
  }
  return GAB_OK;
}

gab_status gab_lbm_setup_check_meaning(const gab_config *config, const gab_domain *domain,
                                       const gab_lbm_setup *setup, int64_t steps)
{
  check_keys(config, domain, setup);
  GAB_TRY(check_bodies(config, domain, setup));
  GAB_TRY(check_fluxes(config, domain, setup));
  return check_acceleration(config, domain, setup, steps);
}
