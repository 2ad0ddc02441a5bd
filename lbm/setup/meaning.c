/* SPDX-License-Identifier: Apache-2.0 */
/* Cases that can be computed but cannot be meant. */
#include "core/base/log.h"
#include "lbm/sides/side_impl.h"
#include "lbm/setup/bodies_impl.h"
#include "lbm/setup/lbm_config.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

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

/* The flow rate is the same everywhere only if sound crosses the domain in a small part of a period. */
static void check_oscillation(const gab_config *config, const gab_domain *domain, const gab_lbm_setup *setup,
                              int condition)
{
  const gab_side *about = gab_lbm_condition(&setup->options, condition);
  const int side = gab_lbm_condition_side(&setup->options, condition);
  const double pi = 3.14159265358979323846, usual = 0.3;
  char where[GAB_PATH_LENGTH], path[GAB_CONFIG_PATH_CAPACITY];
  if (about->profile != GAB_PROFILE_WOMERSLEY) return;
  const double steps = about->of_profile.period / setup->units.dt;
  const double angle = 2 * pi * sqrt(3) * (double)domain->cells[side / 2] / steps;
  if (angle <= usual) return;
  gab_config_path(path, "%s.period", gab_condition_path(setup->options.patches, condition));
  gab_log(
      GAB_LOG_WARNING,
      "%s: %s: sound on the lattice crosses the domain in %.2g of a period: the flow rate differs along it; "
      "lower units.dt by a factor of %.2g",
      WHERE(config, path, where), path, angle / (2 * pi), angle / usual);
}

static void check_keys(const gab_config *config, const gab_domain *domain, const gab_lbm_setup *setup)
{
  check_keys_of_collisions(config, domain, setup->options.collision);
  for (int k = 0; k < gab_lbm_condition_count(&setup->options); k++) {
    char path[GAB_CONFIG_PATH_CAPACITY];
    const gab_side *about = gab_lbm_condition(&setup->options, k);
    const int axis = gab_lbm_condition_side(&setup->options, k) / 2;
    if (gab_side_moves(about)) check_oscillation(config, domain, setup, k);
    if (!gab_side_moves(about) || about->profile != GAB_PROFILE_PARABOLIC) continue;
    bool falls = false; /* somewhere to zero */
    for (int other = 0; other < domain->dimension; other++)
      falls = falls || (other != axis &&
                        (about->part.has_frame ? about->part.is_bounded[other] : !domain->periodic[other]));
    if (!falls)
      warn_without_effect(config,
                          gab_config_path(path, "%s.profile", gab_condition_path(setup->options.patches, k)),
                          "all sides beside this one are periodic");
  }
}

/* What differs in time does not balance. @return the first condition that varies as this one */
static int group_in_time(const gab_lbm_options *options, const gab_side *about)
{
  int group = 0;
  while (!gab_side_moves(gab_lbm_condition(options, group)) ||
         !gab_side_vary_in_time_alike(gab_lbm_condition(options, group), about))
    group++;
  return group;
}

/* ------------------------------------------------------------------------------------------ closed boxes */

/* Fluid that enters a box through its sides. */
typedef struct box_flux {
  bool open;         /* a side sets the pressure or lets fluid out */
  bool is_unknown;   /* the grid has to say what patches of bodies let in: gab_lbm_setup_check_patches() */
  double net, gross; /* cells of fluid in a step, inwards */
  double cells;      /* of the box */
  double most;       /* the largest part, and where it comes from */
  int condition;
  size_t body;
} box_flux;

static box_flux flux_of_sides(const gab_domain *domain, const gab_lbm_setup *setup)
{
  box_flux found = {.cells = 1};
  double net[GAB_MOST_CONDITIONS] = {0};
  const gab_lbm_options *options = &setup->options;
  for (int axis = 0; axis < domain->dimension; axis++) found.cells *= (double)domain->cells[axis];
  for (int k = 0; k < gab_lbm_condition_count(options); k++) {
    const gab_side *about = gab_lbm_condition(options, k);
    const int side = gab_lbm_condition_side(options, k);
    found.open = found.open || gab_side_is_open(about);
    if (!gab_side_moves(about) || about->on_body == GAB_BODY_VELOCITY_ALONG) continue;
    if (side == GAB_PATCH_ON_BODY && about->flow_rate == 0) found.is_unknown = true;
    double flux = about->flow_rate;
    if (flux == 0 && side != GAB_PATCH_ON_BODY) {
      flux = about->velocity[side / 2] * (side % 2 ? -1 : 1) * found.cells / (double)domain->cells[side / 2];
      flux *= gab_side_mean_shape(about, side, domain);
    }
    net[group_in_time(options, about)] += flux;
    found.gross += fabs(flux);
    if (fabs(flux) <= found.most) continue;
    found.most = fabs(flux);
    found.condition = k;
  }
  for (int group = 0; group < GAB_MOST_CONDITIONS; group++)
    if (fabs(net[group]) > fabs(found.net)) found.net = net[group];
  return found;
}

static bool is_balanced(const box_flux *flux)
{
  const double tolerance = 0.01;
  return flux->open || flux->is_unknown || fabs(flux->net) <= tolerance * flux->gross;
}

/* "pressure or outflow" */
static const char *list_open_kinds(char text[128])
{
  size_t used = 0;
  for (int kind = 0; kind < GAB_SIDE_OWN; kind++)
    if (gab_side_kind_is_open((gab_side_kind)kind) && used < 128)
      used +=
          (size_t)snprintf(text + used, 128 - used, "%s%s", used ? " or " : "", gab_side_kinds[kind]->name);
  return text;
}

/* Fluid that enters a box has to leave it. */
static gab_status check_fluxes(const gab_config *config, const gab_domain *domain, const gab_lbm_setup *setup)
{
  const box_flux flux = flux_of_sides(domain, setup);
  char open[128];
  if (is_balanced(&flux)) return GAB_OK;
  return gab_config_fail(config, gab_condition_path(setup->options.patches, flux.condition),
                         "fluid %s through sides of type velocity and there is no side of type %s: "
                         "the mass of the box would change by %.3g %% in 1000 steps",
                         flux.net > 0 ? "enters" : "leaves", list_open_kinds(open),
                         1e5 * flux.net / flux.cells);
}

/* What is pushed has to be held by something. */
static gab_status check_acceleration(const gab_config *config, const gab_domain *domain,
                                     const gab_lbm_setup *setup, int64_t steps)
{
  const double refused = 0.2; /* cells per step: gab_flow_check() refuses a Mach number above 0.35 */
  double push = 0;
  for (int k = 0; k < gab_lbm_condition_count(&setup->options); k++) {
    const gab_side *given = gab_lbm_condition(&setup->options, k);
    if (!gab_side_is_periodic(given) && !gab_side_reflects(given)) return GAB_OK;
  }
  for (int axis = 0; axis < domain->dimension; axis++) {
    if (domain->periodic[axis]) push = hypot(push, setup->options.force[axis]);
  }
  if (setup->body_count > 0 || setup->porous_count > 0 || push == 0) return GAB_OK;
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

static gab_status check_bodies(const gab_config *config, const gab_domain *domain, const gab_lbm_setup *setup)
{
  for (size_t i = 0; i < setup->body_count; i++) {
    char path[GAB_CONFIG_PATH_CAPACITY];
    const gab_body *body = &setup->bodies[i];
    if (body->inside_is_fluid) continue;
    double from[3], to[3];
    gab_body_extent(body, domain->dimension, from, to);
    for (int axis = 0; axis < domain->dimension; axis++) {
      const double lo = from[axis], hi = to[axis];
      const double first = domain->origin[axis], last = first + (double)domain->cells[axis] * domain->dx;
      if (domain->periodic[axis] || (hi >= first && lo <= last)) continue;
      return gab_config_fail(
          config, gab_config_path(path, "bodies.%zu", body->item),
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

/* ------------------------------------------------------------------------------------------ geometry */

/* Cells of level 0 along a side that belong to a body. */
static double cells_at_side(const gab_geometry *geometry, size_t body, int side)
{
  const gab_domain *domain = gab_geometry_domain(geometry);
  const int axis = side / 2, other = (axis + 1) % 3, third = (axis + 2) % 3;
  int64_t cell[3];
  double count = 0;
  cell[axis] = side % 2 ? domain->cells[axis] - 1 : 0;
  for (cell[other] = 0; cell[other] < domain->cells[other]; cell[other]++)
    for (cell[third] = 0; cell[third] < domain->cells[third]; cell[third]++)
      count += gab_geometry_cell(geometry, 0, cell) == (int)body;
  return count;
}

/* What a body that moves pushes on one end it takes in on the other, unless that end lies beyond a side. */
static void add_flux_of_bodies(const gab_geometry *geometry, const gab_lbm_setup *setup, box_flux *flux)
{
  const gab_domain *domain = gab_geometry_domain(geometry);
  for (size_t i = 0; i < setup->body_count; i++) {
    double net = 0;
    for (int axis = 0; axis < domain->dimension; axis++) {
      const double velocity = setup->bodies[i].velocity[axis];
      if (velocity == 0 || domain->periodic[axis]) continue;
      const double lower = velocity * cells_at_side(geometry, i, 2 * axis),
                   upper = velocity * cells_at_side(geometry, i, 2 * axis + 1);
      net += lower - upper;
      flux->gross += fabs(lower) + fabs(upper);
    }
    flux->net += net;
    if (fabs(net) <= flux->most) continue;
    flux->most = fabs(net);
    flux->body = i;
  }
}

static gab_status check_moving_bodies(const gab_config *config, const gab_geometry *geometry,
                                      const gab_lbm_setup *setup)
{
  char path[GAB_CONFIG_PATH_CAPACITY], open[128];
  box_flux flux = flux_of_sides(gab_geometry_domain(geometry), setup);
  flux.most = 0;
  if (flux.open || flux.is_unknown) return GAB_OK;
  add_flux_of_bodies(geometry, setup, &flux);
  if (is_balanced(&flux)) return GAB_OK;
  return gab_config_fail(
      config, gab_config_path(path, "bodies.%zu.velocity", setup->bodies[flux.body].item),
      "the body %s fluid at one end only, since a side of the domain cuts it, and no side is "
      "of type %s: the mass of the box would change by %.3g %% in 1000 "
      "steps",
      flux.net > 0 ? "pushes" : "takes in", list_open_kinds(open), 1e5 * flux.net / flux.cells);
}

static bool refines_near_bodies(const gab_config *config)
{
  char path[GAB_CONFIG_PATH_CAPACITY];
  for (size_t i = 0; i < gab_config_count(config, "refinement.criteria"); i++) {
    const char *type = gab_config_string(config, gab_config_path(path, "refinement.criteria.%zu.type", i));
    if (strcmp(type, "bodies") == 0 || strcmp(type, "curvature") == 0) return true;
  }
  return false;
}

/* A plate thinner than a cell, a white picture: computed, but not what was meant. */
static gab_status check_covers(const gab_config *config, const gab_geometry *geometry,
                               const gab_lbm_setup *setup, size_t index)
{
  const gab_domain *domain = gab_geometry_domain(geometry);
  char path[GAB_CONFIG_PATH_CAPACITY], size[96] = "", where[GAB_PATH_LENGTH];
  int level = 0;
  while (level <= domain->deepest && !gab_geometry_covers_cells(geometry, level, index)) level++;
  if (level == 0) return GAB_OK;
  gab_config_path(path, "bodies.%zu", setup->bodies[index].item);
  if (level <= domain->deepest) {
    if (!refines_near_bodies(config))
      gab_log(
          GAB_LOG_WARNING,
          "%s: %s covers no cell of level 0, only of level %d and finer: it exists only where the grid is as fine",
          WHERE(config, path, where), path, level);
    return GAB_OK;
  }
  double lo[3], hi[3];
  gab_body_extent(&setup->bodies[index], domain->dimension, lo, hi);
  for (int axis = 0; axis < domain->dimension; axis++) {
    const size_t used = strlen(size);
    snprintf(size + used, sizeof size - used, "%s%.3g", axis ? " x " : "",
             (hi[axis] - lo[axis]) / domain->dx * ldexp(1, domain->deepest));
  }
  return gab_config_fail(
      config, path,
      "the body covers no cell: its extent is %s cells of the finest level, and no centre of a "
      "cell lies in it; make it thicker, or the cells smaller",
      size);
}

/* The turbulent viscosity of a ground is that of cells whose centre lies below its height. */
static gab_status check_eddy_heights(const gab_config *config, const gab_domain *domain,
                                     const gab_lbm_setup *setup)
{
  for (int k = 0; k < gab_lbm_condition_count(&setup->options); k++) {
    const gab_sponge *of = &gab_lbm_condition(&setup->options, k)->sponge;
    const double cells = ldexp(of->thickness, domain->deepest), lowest = 0.5;
    char path[GAB_CONFIG_PATH_CAPACITY];
    if (of->roughness == 0 || cells > lowest) continue;
    gab_config_path(path, "%s.eddy_height", gab_condition_path(setup->options.patches, k));
    return gab_config_fail(
        config, path,
        "has no effect: it is %.3g cells of the finest level, and the lowest centre of a cell is at "
        "%g; make it larger, or leave it out",
        cells, lowest);
  }
  return GAB_OK;
}

gab_status gab_lbm_setup_check_geometry(const gab_config *config, const gab_geometry *geometry,
                                        const gab_lbm_setup *setup)
{
  for (size_t i = 0; i < setup->body_count; i++) GAB_TRY(check_covers(config, geometry, setup, i));
  GAB_TRY(check_eddy_heights(config, gab_geometry_domain(geometry), setup));
  return check_moving_bodies(config, geometry, setup);
}

/* ------------------------------------------------------------------------------------------ patches of bodies */

static gab_status check_links(const gab_config *config, const gab_lbm_setup *setup,
                              const gab_side_sums sums[GAB_MOST_CONDITIONS])
{
  const gab_patches *patches = setup->options.patches;
  for (int i = patches->count - patches->on_bodies; i < patches->count; i++) {
    const gab_patch *patch = &patches->list[i];
    if (gab_exact_value(&sums[GAB_SIDE_COUNT + i].area) > 0) continue;
    return gab_config_fail(
        config, patch->path,
        "patch '%s' has no link: no line between neighbouring cells crosses the surface of "
        "'%s' there, or earlier patches have them all; move or enlarge its region",
        patch->name, setup->bodies[patch->body].name);
  }
  return GAB_OK;
}

/* What bodies that move push into the fluid, without the parts of their surface that patches replace. Those that a side cuts are known to
 * check_moving_bodies() if the flow through patches is not needed. */
typedef struct rest_of_bodies {
  double net, gross; /* cells of fluid in a step, into the fluid */
  int patch;         /* condition that replaces most; -1: none does */
  size_t body;       /* that pushes most at one end, where none does */
} rest_of_bodies;

static rest_of_bodies find_rest(const gab_geometry *geometry, const gab_lbm_setup *setup,
                                const gab_side_sums sums[GAB_MOST_CONDITIONS], bool with_cut_bodies)
{
  const gab_patches *patches = setup->options.patches;
  const gab_domain *domain = gab_geometry_domain(geometry);
  box_flux cut = {.open = false};
  double most = 0;
  if (with_cut_bodies) add_flux_of_bodies(geometry, setup, &cut);
  rest_of_bodies rest = {.net = cut.net, .gross = cut.gross, .patch = -1, .body = cut.body};
  for (int k = GAB_SIDE_COUNT; k < gab_lbm_condition_count(&setup->options); k++) {
    const gab_patch *patch = &patches->list[k - GAB_SIDE_COUNT];
    if (patch->side != GAB_PATCH_ON_BODY) continue;
    const double replaced = gab_exact_value(&sums[k].replaced);
    rest.net -= replaced;
    rest.gross += gab_exact_value(&sums[k].area) * gab_lbm_body_speed(&setup->bodies[patch->body], domain);
    if (fabs(replaced) > most) rest.patch = k;
    most = fmax(most, fabs(replaced));
  }
  if (fabs(rest.net) <= 0.01 * rest.gross) rest.net = 0;
  if (cut.most > most) rest.patch = -1;
  return rest;
}

static gab_status refuse_rest(const gab_config *config, const gab_domain *domain, const gab_lbm_setup *setup,
                              const rest_of_bodies *rest)
{
  const double cells = (double)domain->cells[0] * (double)domain->cells[1] * (double)domain->cells[2],
               share = 1e5 * fabs(rest->net) / cells;
  const char *verb = rest->net > 0 ? "pushes" : "takes in";
  char open[128], path[GAB_CONFIG_PATH_CAPACITY];
  if (rest->patch < 0)
    return gab_config_fail(
        config, gab_config_path(path, "bodies.%zu.velocity", setup->bodies[rest->body].item),
        "the body %s fluid at one end only, since a side of the domain cuts it, and there is no side or patch of "
        "type %s: the mass of the box would change by %.3g %% in 1000 steps",
        verb, list_open_kinds(open), share);
  return gab_config_fail(
      config, gab_condition_path(setup->options.patches, rest->patch),
      "the body moves, and the patch replaces its velocity on a part of its surface: the rest %s fluid, and there is "
      "no side or patch of type %s: %.3g %% of the mass of the box in 1000 steps",
      verb, list_open_kinds(open), share);
}

/* What sides and patches of given velocity let in, by how they vary in time. */
typedef struct given_flux {
  double net[GAB_MOST_CONDITIONS], gross;
  int largest, constant; /* condition; group of those that do not vary; -1: none */
  bool has_patches;      /* of bodies */
} given_flux;

static given_flux find_given(const gab_lbm_options *options, const gab_side_sums sums[GAB_MOST_CONDITIONS])
{
  given_flux found = {.largest = -1, .constant = -1};
  double most = 0;
  for (int k = 0; k < gab_lbm_condition_count(options); k++) {
    const gab_side *about = gab_lbm_condition(options, k);
    if (!gab_side_moves(about) || about->on_body == GAB_BODY_VELOCITY_ALONG) continue;
    const double flux = about->flow_rate != 0 ? about->flow_rate : gab_exact_value(&sums[k].flow);
    const int group = group_in_time(options, about);
    const gab_side constant = {.dt = about->dt};
    found.has_patches |= gab_lbm_condition_side(options, k) == GAB_PATCH_ON_BODY;
    if (gab_side_vary_in_time_alike(about, &constant)) found.constant = group;
    found.net[group] += flux;
    found.gross += fabs(flux);
    if (fabs(flux) > most) found.largest = k;
    most = fmax(most, fabs(flux));
  }
  return found;
}

gab_status gab_lbm_setup_check_patches(const gab_config *config, const gab_geometry *geometry,
                                       const gab_lbm_setup *setup,
                                       const gab_side_sums sums[GAB_MOST_CONDITIONS])
{
  const gab_lbm_options *options = &setup->options;
  if (!options->patches || options->patches->on_bodies == 0) return GAB_OK;
  GAB_TRY(check_links(config, setup, sums));
  for (int k = 0; k < gab_lbm_condition_count(options); k++)
    if (gab_side_is_open(gab_lbm_condition(options, k))) return GAB_OK;
  given_flux given = find_given(options, sums);
  const rest_of_bodies rest = find_rest(geometry, setup, sums, given.has_patches);
  const bool joins =
      given.has_patches && given.constant >= 0; /* sides and patches can take what bodies push */
  if (joins) given.net[given.constant] += rest.net;
  if (joins) given.gross += fabs(rest.net);
  for (int group = 0; group < GAB_MOST_CONDITIONS; group++) {
    char open[128];
    if (!given.has_patches || fabs(given.net[group]) <= 0.01 * given.gross) continue;
    if (group == given.constant && fabs(rest.net) > 0.5 * given.gross)
      return refuse_rest(config, gab_geometry_domain(geometry), setup, &rest);
    return gab_config_fail(
        config, gab_condition_path(options->patches, given.largest),
        "fluid %s through sides and patches of type velocity and there is no one of type %s: "
        "the flow rates differ by %.3g %% of their sum",
        given.net[group] > 0 ? "enters" : "leaves", list_open_kinds(open),
        100 * fabs(given.net[group]) / given.gross);
  }
  return joins || rest.net == 0 ? GAB_OK : refuse_rest(config, gab_geometry_domain(geometry), setup, &rest);
}

/* "12 of level 0, 40 of level 1" @return levels that have links */
static int list_links(const gab_side_sums *sums, int deepest, char *text, size_t capacity)
{
  int levels = 0;
  text[0] = '\0';
  for (int level = 0; level <= deepest; level++) {
    const uint64_t links = gab_side_links(sums, level);
    const size_t used = strlen(text);
    if (links == 0) continue;
    snprintf(text + used, capacity - used, "%s%" PRIu64 " of level %d", levels ? ", " : "", links, level);
    levels++;
  }
  return levels;
}

/* Links across the border take such a wall as one at rest. */
static void warn_of_slip(const gab_config *config, const gab_lbm_options *options, int deepest,
                         uint32_t *warned)
{
  for (int k = 0; k < gab_lbm_condition_count(options) && deepest > 0; k++) {
    const gab_side *side = gab_lbm_condition(options, k);
    if ((side->slip_length == 0 && side->roughness == 0) || (*warned >> k & 1)) continue;
    *warned |= 1U << k;
    const char *path = gab_condition_path(options->patches, k);
    char where[GAB_PATH_LENGTH];
    gab_log(
        GAB_LOG_WARNING,
        "%s: %s: where a border between levels meets this wall, some links take it as a wall at rest, which slows the "
        "flow by per cents, on finer grids too: let a refinement criterion of type box hold all of the wall",
        WHERE(config, path, where), path);
  }
}

void gab_lbm_setup_warn_of_levels(const gab_config *config, const gab_geometry *geometry,
                                  const gab_lbm_setup *setup, const gab_side_sums sums[GAB_MOST_CONDITIONS],
                                  uint32_t *warned)
{
  warn_of_slip(config, &setup->options, gab_geometry_domain(geometry)->deepest, warned);
  for (int k = GAB_SIDE_COUNT; k < gab_lbm_condition_count(&setup->options); k++) {
    const gab_patch *patch = &setup->options.patches->list[k - GAB_SIDE_COUNT];
    char links[256], where[GAB_PATH_LENGTH];
    if (patch->side != GAB_PATCH_ON_BODY || !gab_side_is_open(&patch->condition) || (*warned >> k & 1))
      continue;
    if (list_links(&sums[k], gab_geometry_domain(geometry)->deepest, links, sizeof links) < 2) continue;
    *warned |= 1U << k;
    gab_log(
        GAB_LOG_WARNING,
        "%s: %s: patch '%s' has links of several levels (%s): those across the border between levels act as a "
        "wall; let a refinement criterion of type box hold all of the patch, or keep refinement away from it",
        WHERE(config, patch->path, where), patch->path, patch->name, links);
  }
}
