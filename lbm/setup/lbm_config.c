/* SPDX-License-Identifier: Apache-2.0 */
#include "lbm/setup/lbm_config.h"

#include "lbm/sides/side_impl.h"
#include "lbm/sides/side_plane_impl.h"
#include "lbm/collision/rheology.h"
#include "lbm/setup/bodies_impl.h"
#include "lbm/setup/patches_impl.h"
#include "lbm/setup/porous_keys_impl.h"
#include "lbm/setup/rheology_keys.h"
#include "lbm/setup/statistics_keys.h"
#include "lbm/setup/vectors_impl.h"

#include "lbm/kernels/kernel_family.h"

#include "core/memory/memory.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void scale(double vector[3], double factor)
{
  for (int axis = 0; axis < 3; axis++) vector[axis] *= factor;
}

static double length_of(const double vector[3]) { return hypot(hypot(vector[0], vector[1]), vector[2]); }

/* ------------------------------------------------------------------------------------------ sides */

static bool is_periodic(const gab_config *config, int side)
{
  return gab_side_kinds[gab_side_kind_from_config(config, gab_side_paths[side])]->arrival ==
         GAB_ARRIVAL_WRAPPED;
}

gab_status gab_lbm_periodic_from_config(const gab_config *config, int dimension, bool periodic[3])
{
  for (int axis = 0; axis < 3; axis++) {
    int low = 2 * axis, high = low + 1;
    bool here = is_periodic(config, low), there = is_periodic(config, high);
    int other = here ? high : low;
    if (here != there && axis < dimension)
      return gab_config_fail(config, gab_side_paths[other],
                             "the opposite side is periodic: both are or none");
    if (axis >= dimension && !(here && there))
      return gab_config_fail(config, gab_side_paths[other], "a domain in 2D has no sides along z");
    periodic[axis] = here;
  }
  return GAB_OK;
}

static gab_status read_side(const gab_config *config, int side, int dimension, const gab_units *units,
                            gab_side *made)
{
  *made = (gab_side){.kind = gab_side_kind_from_config(config, gab_side_paths[side]), .density = 1};
  const gab_side_descriptor *kind = gab_side_of(made);
  return kind->read ? kind->read(config, gab_side_paths[side], dimension, units, made) : GAB_OK;
}

/* ------------------------------------------------------------------------------------------ units */

static gab_status read_viscosity(const gab_config *config, double *viscosity)
{
  bool given = gab_config_is_set(config, "fluid.viscosity"),
       reynolds = gab_config_is_set(config, "fluid.reynolds");
  *viscosity = 0;
  GAB_TRY(gab_rheology_read_viscosity(config, viscosity));
  if (given) *viscosity = gab_config_real(config, "fluid.viscosity");
  if (!reynolds) return GAB_OK;
  if (!gab_config_is_set(config, "fluid.velocity") || !gab_config_is_set(config, "fluid.length"))
    return gab_config_fail(config, "fluid.reynolds", "needs fluid.velocity and fluid.length");
  return gab_viscosity_from_reynolds(gab_config_real(config, "fluid.reynolds"),
                                     gab_config_real(config, "fluid.velocity"),
                                     gab_config_real(config, "fluid.length"), viscosity);
}

static gab_status read_time_step(const gab_config *config, double dx, double *dt)
{
  bool given = gab_config_is_set(config, "units.dt"),
       velocity = gab_config_is_set(config, "units.lattice_velocity");
  *dt = 0;
  if (given) *dt = gab_config_real(config, "units.dt");
  if (!velocity) return GAB_OK;
  if (!gab_config_is_set(config, "fluid.velocity"))
    return gab_config_fail(config, "units.lattice_velocity", "needs fluid.velocity");
  *dt = dx * gab_config_real(config, "units.lattice_velocity") / gab_config_real(config, "fluid.velocity");
  return GAB_OK;
}

/* Two of time step, viscosity and omega give the third; omega alone means a time step of 1. */
static gab_status read_units(const gab_config *config, double dx, gab_lbm_setup *setup)
{
  double viscosity, dt;
  GAB_TRY(read_viscosity(config, &viscosity));
  GAB_TRY(read_time_step(config, dx, &dt));
  const bool has_omega = gab_config_is_set(config, "fluid.omega"), are_given = dt > 0 || viscosity > 0;
  double omega = has_omega ? gab_config_real(config, "fluid.omega") : 0;
  if (has_omega && viscosity > 0 && dt > 0)
    return gab_config_fail(config, "fluid.omega", "viscosity and time step give omega already");
  if (!has_omega && viscosity == 0)
    return gab_config_fail(config, "fluid",
                           "needs viscosity, reynolds or omega, or the consistency of a fluid.model");
  if (!has_omega && dt == 0)
    return gab_config_fail(config, "units", "needs dt or lattice_velocity (or give fluid.omega)");
  if (dt == 0) dt = viscosity > 0 ? gab_viscosity_of_omega(omega) * dx * dx / viscosity : 1;
  if (viscosity == 0) viscosity = gab_viscosity_of_omega(omega) * dx * dx / dt;
  if (!(isfinite(viscosity) && viscosity > 0 && isfinite(dt) && dt > 0 && isfinite(dx / dt) && dx / dt > 0 &&
        isfinite(dt * dt / dx)))
    return gab_config_fail(
        config, "fluid",
        "viscosity %g, time step %g and width of cells %g are not usable: finite and positive"
        " numbers expected",
        viscosity, dt, dx);
  GAB_TRY(gab_units_from_dt(dx, dt, gab_config_real(config, "fluid.density"), &setup->units));
  setup->units.are_given = are_given;
  setup->viscosity = viscosity;
  setup->options.omega =
      has_omega ? omega : gab_omega_of_viscosity(gab_units_viscosity_to_lattice(&setup->units, viscosity));
  if (gab_config_is_set(config, "fluid.velocity"))
    setup->reference_velocity = gab_config_real(config, "fluid.velocity");
  if (gab_config_is_set(config, "fluid.length"))
    setup->reference_length = gab_config_real(config, "fluid.length");
  setup->reynolds = setup->reference_velocity * setup->reference_length / viscosity;
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------------ initial state */

void gab_taylor_green_initial(void *user, const double centre[3], gab_lbm_state *state)
{
  const gab_taylor_green *v = user;
  const double *k = v->wave_number;
  double sine[3] = {0, 0, 0}, cosine[3] = {1, 1, 1};
  for (int axis = 0; axis < v->dimension; axis++) {
    sine[axis] = sin(k[axis] * (centre[axis] - v->origin[axis]));
    cosine[axis] = cos(k[axis] * (centre[axis] - v->origin[axis]));
  }
  double u = v->velocity, w = v->velocity * k[0] / k[1], kx = k[0] * v->dx, ky = k[1] * v->dx,
         kz = v->dimension == 3 ? k[2] * v->dx : 0;
  state->velocity[0] = u * sine[0] * cosine[1] * cosine[2];
  state->velocity[1] = -w * cosine[0] * sine[1] * cosine[2];
  state->velocity[2] = 0;
  state->gradient[0][0] = u * kx * cosine[0] * cosine[1] * cosine[2];
  state->gradient[0][1] = -u * ky * sine[0] * sine[1] * cosine[2];
  state->gradient[0][2] = -u * kz * sine[0] * cosine[1] * sine[2];
  state->gradient[1][0] = w * kx * sine[0] * sine[1] * cosine[2];
  state->gradient[1][1] = -w * ky * cosine[0] * cosine[1] * cosine[2];
  state->gradient[1][2] = w * kz * cosine[0] * sine[1] * sine[2];
  double twice_x = 2 * cosine[0] * cosine[0] - 1, twice_y = 2 * cosine[1] * cosine[1] - 1;
  double pressure = (u * u * twice_x + w * w * twice_y) / 4;
  if (v->dimension == 3) pressure *= (2 * cosine[2] * cosine[2] + 1) / 4;
  state->density = v->density * (1 + 3 * pressure);
}

/* Formulas, and what is solved for them. */
static gab_status read_formulas(const gab_config *config, const gab_domain *domain, gab_lbm_setup *setup)
{
  gab_initial_flow *flow = &setup->initial_flow;
  setup->options.initial = gab_initial_formulas_at;
  setup->options.initial_user = &setup->formulas;
  *flow = (gab_initial_flow){.projects = gab_config_bool(config, "initial.project"),
                             .solves = gab_config_bool(config, "initial.consistent_pressure"),
                             .velocity = gab_initial_formulas_velocity,
                             .user = &setup->formulas};
  flow->is_used = flow->projects || flow->solves;
  if (flow->is_used && gab_config_is_set(config, "initial.pressure"))
    return gab_config_fail(config, "initial.pressure", "is not taken with %s",
                           flow->solves ? "consistent_pressure" : "project, which changes the velocity");
  return gab_initial_formulas_read(config, domain, &setup->units, &setup->formulas);
}

static gab_status read_initial(const gab_config *config, const gab_domain *domain, gab_lbm_setup *setup)
{
  const double pi = 3.14159265358979323846;
  double to_lattice = setup->units.dt / setup->units.dx;
  GAB_TRY(gab_initial_flows_read(config, domain, &setup->initial_flow));
  if (setup->initial_flow.is_used) return GAB_OK;
  if (strcmp(gab_config_string(config, "initial.type"), "formula") == 0)
    return read_formulas(config, domain, setup);
  if (strcmp(gab_config_string(config, "initial.type"), "taylor_green") != 0) {
    GAB_TRY(
        gab_lbm_read_plane_vector(config, "initial.velocity", domain->dimension, setup->options.velocity));
    scale(setup->options.velocity, to_lattice);
    return GAB_OK;
  }
  gab_taylor_green *vortices = &setup->vortices;
  *vortices = (gab_taylor_green){.dimension = domain->dimension,
                                 .velocity = gab_config_real(config, "initial.velocity") * to_lattice,
                                 .dx = domain->dx,
                                 .density = 1};
  for (int axis = 0; axis < domain->dimension; axis++) {
    vortices->origin[axis] = domain->origin[axis];
    vortices->wave_number[axis] = 2 * pi / ((double)domain->cells[axis] * domain->dx);
  }
  setup->options.initial = gab_taylor_green_initial;
  setup->options.initial_user = vortices;
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------------ all of it */

/* Blocks that share a field, and steps in one temporal block, are for populations that stream in place. */
static gab_status check_in_place(const gab_config *config, const char *key, const gab_lbm_options *options)
{
  if (gab_config_int(config, key) <= 1 || gab_lbm_fields(options) == 1) return GAB_OK;
  return gab_config_fail(
      config, key,
      "has no effect above 1: the kernel %s keeps two fields, and this is for those that stream "
      "in place (lbm.kernel: auto, in_place, sparse)",
      options->kernel);
}

static gab_status read_method(const gab_config *config, const gab_domain *domain, gab_lbm_options *options)
{
  const int chosen = gab_config_choice_index(config, "lbm.lattice"); /* 0: auto */
  options->lattice = chosen == 0 ? gab_lattice_usual(domain->dimension) : gab_lattice_at(chosen - 1);
  if (options->lattice->dimension != domain->dimension) {
    char fit[GAB_MOST_LATTICES * (GAB_LATTICE_MOST_LETTERS + 4) + 1] = "";
    for (int i = 0; gab_lattice_at(i); i++) {
      const size_t used = strlen(fit);
      if (gab_lattice_at(i)->dimension == domain->dimension)
        snprintf(fit + used, sizeof fit - used, "%s%s", used > 0 ? " or " : "", gab_lattice_at(i)->name);
    }
    return gab_config_fail(config, "lbm.lattice", "does not fit a domain of dimension %d: it must be %s",
                           domain->dimension, fit);
  }
  options->collision = gab_collision_at(gab_config_choice_index(config, "lbm.collision"));
  if (gab_collision_check_lattice(options->collision, options->lattice) != GAB_OK) {
    char why[512];
    snprintf(why, sizeof why, "%s", gab_error_message());
    return gab_config_fail(config, "lbm.collision", "cannot be: %s", why);
  }
  const int precision = gab_config_choice_index(config, "lbm.precision");
  options->precision = precision == 0 ? GAB_PRECISION_DOUBLE : GAB_PRECISION_FLOAT;
  options->mixed = precision == 2;
  options->kernel = gab_kernel_family_at(gab_config_choice_index(config, "lbm.kernel"))->name;
  options->fused_blocks = (int)gab_config_int(config, "lbm.fused_blocks");
  return check_in_place(config, "lbm.fused_blocks", options);
}

/* Its own parameters, once units are known. */
static gab_status read_collision(const gab_config *config, gab_lbm_setup *setup)
{
  const gab_collision *collision = setup->options.collision;
  if (collision->read) GAB_TRY(collision->read(config, &setup->units, &setup->options));
  if (!collision->check) return GAB_OK;
  gab_lbm_options filled = setup->options;
  if (collision->fill) collision->fill(&filled);
  return collision->check(config, &setup->units, &filled);
}

static gab_status read_temporal_blocking(const gab_config *config, gab_lbm_setup *setup)
{
  setup->temporal_steps = (int)gab_config_int(config, "lbm.temporal_blocking");
  return check_in_place(config, "lbm.temporal_blocking", &setup->options);
}

static gab_status read_mean_velocity(const gab_config *config, const gab_domain *domain, gab_lbm_setup *setup)
{
  GAB_TRY(gab_lbm_read_plane_vector(config, "fluid.mean_velocity", domain->dimension, setup->mean_velocity));
  scale(setup->mean_velocity, setup->units.dt / setup->units.dx);
  setup->mean_velocity_every = gab_config_int(config, "fluid.mean_velocity_every");
  for (int axis = 0; axis < domain->dimension; axis++) {
    if (setup->mean_velocity[axis] == 0) continue;
    setup->options.force_varies = true;
    if (!domain->periodic[axis])
      return gab_config_fail(
          config, "fluid.mean_velocity",
          "is %g along %c, where the domain is not periodic: give boundaries.%c_min a velocity or flow_rate",
          gab_units_velocity_to_physical(&setup->units, setup->mean_velocity[axis]), (int)"xyz"[axis],
          (int)"xyz"[axis]);
  }
  if (!setup->options.force_varies && gab_config_is_set(config, "fluid.mean_velocity_every"))
    return gab_config_fail(config, "fluid.mean_velocity_every", "has no effect without mean_velocity");
  return GAB_OK;
}

/* @param[out] condition  the side or patch that gives it; -1: none */
static double largest_speed(const gab_lbm_setup *setup, const gab_domain *domain, int *condition)
{
  double speed = gab_units_velocity_to_lattice(&setup->units, setup->reference_velocity);
  speed = fmax(speed, length_of(setup->options.velocity));
  speed = fmax(speed, fabs(setup->vortices.velocity));
  speed = fmax(speed, setup->formulas.speed);
  speed = fmax(speed, gab_units_velocity_to_lattice(&setup->units, setup->initial_flow.speed));
  speed = fmax(speed, length_of(setup->mean_velocity));
  for (size_t i = 0; i < setup->body_count; i++)
    speed = fmax(speed, gab_lbm_body_speed(&setup->bodies[i], domain));
  *condition = -1;
  for (int k = 0; k < gab_lbm_condition_count(&setup->options); k++) {
    const gab_side *given = gab_lbm_condition(&setup->options, k);
    const double here = fmax(gab_side_speed(given), length_of(given->sponge.velocity));
    if (!(here > 0 && here >= speed)) continue;
    speed = here;
    *condition = k;
  }
  return speed;
}

/* With D3Q27 links from the last cells before a free-slip side go to the ground along the edge: all of them bounce without slip, which is
 * many times the friction of a log law. */
static gab_status check_grounds(const gab_config *config, const gab_lbm_options *options)
{
  char path[GAB_CONFIG_PATH_CAPACITY];
  if (options->lattice->q != 27) return GAB_OK;
  for (int k = 0; k < gab_lbm_condition_count(options); k++) {
    if (!(gab_lbm_condition(options, k)->roughness > 0)) continue;
    for (int side = 0; side < GAB_SIDE_COUNT; side++)
      if (side / 2 != gab_lbm_condition_side(options, k) / 2 && gab_side_reflects(&options->sides[side]))
        return gab_config_fail(
            config, gab_config_path(path, "%s.roughness_length", gab_condition_path(options->patches, k)),
            "beside a free-slip side needs another lattice than D3Q27: the edge would bear many times "
            "the friction of the log law (lbm.lattice: d3q19)");
  }
  return GAB_OK;
}

/* @param[in] fastest  see largest_speed() */
static gab_status check_flow(const gab_config *config, const gab_lbm_setup *setup, int fastest)
{
  char path[GAB_CONFIG_PATH_CAPACITY], why[512];
  const gab_status status = gab_flow_check(&(gab_flow_scales){.omega = 1, .velocity = setup->speed});
  if (status == GAB_OK) return gab_flow_check(&(gab_flow_scales){.omega = setup->options.omega});
  if (fastest < 0) return status;
  snprintf(why, sizeof why, "%s", gab_error_message());
  const gab_side *given = gab_lbm_condition(&setup->options, fastest);
  gab_config_path(path, "%s.%s", gab_condition_path(setup->options.patches, fastest),
                  gab_side_is_open(given) ? "sponge_velocity"
                  : given->flow_rate != 0 ? "flow_rate"
                                          : "velocity");
  return gab_config_fail(config, path, "%s%s", why,
                         given->turbulence ? " or lower the turbulence, of which three rms values count"
                                           : "");
}

gab_status gab_lbm_setup_check_bodies(const gab_lbm_setup *setup, const gab_domain *domain,
                                      const gab_refinement_setup *refinement)
{
  gab_flow_scales scales = {.omega = 1};
  for (size_t i = 0; i < setup->body_count; i++) {
    const gab_body *body = &setup->bodies[i];
    if (body->shape != GAB_SHAPE_SPHERE && body->shape != GAB_SHAPE_CYLINDER) continue;
    const int level = refinement ? gab_refinement_level_at(refinement, domain, body) : 0;
    const double across = ldexp(2 * body->radius / domain->dx, level);
    if (scales.resolution > 0 && across >= scales.resolution) continue;
    scales.resolution = across;
    scales.what = body->name[0] ? body->name : NULL;
  }
  return gab_flow_check(&scales);
}

static gab_status read_open_speed(const gab_config *config, gab_lbm_setup *setup)
{
  const char *path = "lbm.open_speed";
  const double most = 0.5;
  setup->open_speed = gab_lbm_open_speed(&setup->options, setup->speed);
  if (!gab_config_is_set(config, path)) return GAB_OK;
  setup->open_speed = gab_units_velocity_to_lattice(&setup->units, gab_config_real(config, path));
  if (!(setup->open_speed < most))
    return gab_config_fail(config, path, "is %.3g cells per step: it must be below %g", setup->open_speed,
                           most);
  return GAB_OK;
}

/* Of the run, as far as the file says it. */
static double duration_of(const gab_config *config, const gab_units *units)
{
  if (gab_config_is_set(config, "run.time")) return gab_config_real(config, "run.time");
  return gab_config_is_set(config, "run.steps") ? (double)gab_config_int(config, "run.steps") * units->dt : 0;
}

static gab_status complete_sides(const gab_config *config, const gab_domain *domain, gab_lbm_setup *setup)
{
  const double duration = duration_of(config, &setup->units);
  for (int side = 0; side < 2 * domain->dimension; side++)
    GAB_TRY(gab_side_complete(config, gab_side_paths[side], side, domain, duration, setup->viscosity,
                              &setup->options.sides[side]));
  for (int i = 0; setup->patches && i < setup->patches->count; i++) {
    gab_patch *patch = &setup->patches->list[i];
    GAB_TRY(gab_side_complete(config, patch->path, patch->side, domain, duration, setup->viscosity,
                              &patch->condition));
  }
  return GAB_OK;
}

/* The equations of a start know the sides only. */
static gab_status check_start(const gab_config *config, const gab_lbm_setup *setup)
{
  const gab_patches *patches = setup->patches;
  const gab_initial_flow *flow = &setup->initial_flow;
  for (int i = 0; patches && (flow->projects || flow->solves) && i < patches->count; i++) {
    const gab_patch *patch = &patches->list[i];
    if (patch->side != GAB_PATCH_ON_BODY || !gab_side_kind_passes_fluid(patch->condition.kind) ||
        patch->condition.on_body == GAB_BODY_VELOCITY_ALONG)
      continue;
    return gab_config_fail(config, flow->projects ? "initial.project" : "initial.consistent_pressure",
                           "cannot be true where fluid passes a patch of a body: %s", patch->path);
  }
  return GAB_OK;
}

static gab_status read_all(const gab_config *config, const gab_domain *domain, const char *folder,
                           gab_lbm_setup *setup)
{
  bool periodic[3];
  double acceleration[3];
  int fastest;
  GAB_TRY(gab_lbm_periodic_from_config(config, domain->dimension, periodic));
  GAB_TRY(read_method(config, domain, &setup->options));
  GAB_TRY(read_temporal_blocking(config, setup));
  GAB_TRY(read_units(config, domain->dx, setup));
  GAB_TRY(gab_rheology_read(config, &setup->units, setup->viscosity, &setup->options));
  GAB_TRY(read_collision(config, setup));
  for (int side = 0; side < 2 * domain->dimension; side++)
    GAB_TRY(read_side(config, side, domain->dimension, &setup->units, &setup->options.sides[side]));
  GAB_TRY(gab_lbm_read_patches(config, domain, &setup->units, setup->options.sides, &setup->patches));
  setup->options.patches = setup->patches;
  GAB_TRY(complete_sides(config, domain, setup));
  GAB_TRY(gab_lbm_read_plane_vector(config, "fluid.acceleration", domain->dimension, acceleration));
  for (int axis = 0; axis < 3; axis++)
    setup->options.force[axis] = gab_units_acceleration_to_lattice(&setup->units, acceleration[axis]);
  GAB_TRY(read_mean_velocity(config, domain, setup));
  GAB_TRY(gab_lbm_read_bodies(config, "bodies", domain->dimension, folder, &setup->units, &setup->bodies,
                              &setup->body_count));
  GAB_TRY(gab_lbm_read_body_patches(config, domain, &setup->units, setup->bodies, setup->body_count,
                                    duration_of(config, &setup->units), &setup->patches));
  setup->options.patches = setup->patches;
  GAB_TRY(gab_statistics_read(config, domain, &setup->units, &setup->options, setup->patches,
                              &setup->statistics_every));
  GAB_TRY(read_initial(config, domain, setup));
  GAB_TRY(check_start(config, setup));
  setup->speed = largest_speed(setup, domain, &fastest);
  GAB_TRY(read_open_speed(config, setup));
  GAB_TRY(check_grounds(config, &setup->options));
  GAB_TRY(gab_rheology_check_sides(config, &setup->options));
  GAB_TRY(check_flow(config, setup, fastest));
  return gab_lbm_read_porous(config, domain->dimension, folder, &setup->units, setup->viscosity,
                             &setup->options, &setup->porous, &setup->porous_count);
}

gab_status gab_lbm_setup_from_config(const gab_config *config, const gab_domain *domain, const char *folder,
                                     gab_lbm_setup *setup)
{
  *setup = (gab_lbm_setup){0};
  gab_status status = read_all(config, domain, folder, setup);
  if (status != GAB_OK) gab_lbm_setup_release(setup);
  return status;
}

void gab_lbm_setup_release(gab_lbm_setup *setup)
{
  for (int side = 0; side < GAB_SIDE_COUNT; side++) {
    gab_time_series_destroy(&setup->options.sides[side].series);
    gab_free(&setup->options.sides[side].turbulence);
    gab_side_plane_release(&setup->options.sides[side].plane);
  }
  if (setup->patches) gab_patches_release(setup->patches);
  gab_free(&setup->patches);
  gab_initial_flows_release(&setup->initial_flow);
  gab_lbm_release_bodies(setup->bodies, setup->body_count);
  gab_free(&setup->bodies);
  setup->body_count = 0;
  gab_lbm_release_porous(setup->porous, setup->porous_count);
  gab_free(&setup->porous);
  setup->porous_count = 0;
}
