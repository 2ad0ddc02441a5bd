/* SPDX-License-Identifier: Apache-2.0 */
/* Stability of a collision, known before anything is computed: from von Neumann analysis
 * (tests/lbm/collision/test_von_neumann.c) and from boxes with open sides (tests/lbm/walls/mpi_open_sides.c). */
#include "lbm/lbm_impl.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Whether the odd moments relax as a magic parameter says. */
static bool has_magic(const gab_lbm_options *options)
{
  const gab_collision *collision = gab_lbm_collision(options);
  return collision->has_magic && collision->has_magic(options);
}

static double cell_reynolds(const gab_lbm_options *options, double speed, int level)
{
  return 3 * speed / ldexp(1 / options->omega - 0.5, level);
}

static bool amplifies_waves(const gab_side *side, int index)
{
  if (index == GAB_PATCH_ON_BODY) return gab_side_of(side)->amplifies_waves;
  return gab_side_of(side)->amplifies_waves && (!gab_side_moves(side) || side->velocity[index / 2] != 0);
}

double gab_lbm_open_speed(const gab_lbm_options *options, double speed)
{
  const double most_reynolds = 10, most_speed = 0.25;
  bool any = false;
  for (int k = 0; k < gab_lbm_condition_count(options); k++)
    any = any || amplifies_waves(gab_lbm_condition(options, k), gab_lbm_condition_side(options, k));
  if (!any || !has_magic(options) || cell_reynolds(options, speed, 0) <= most_reynolds) return 0;
  return fmin(2 * speed, most_speed);
}

double gab_lbm_border_speed(double speed, double given)
{
  const double usual = 0.1, most = 0.25;
  if (given >= 0) return given;
  return speed > 0 ? fmin(2 * speed, most) : usual;
}

int gab_lbm_describe_bounds(const gab_lbm_options *options, int levels, char *text, size_t capacity)
{
  int last = levels - 1;
  while (last >= 0 && !gab_lbm_magic_is_bounded(options, last)) last--;
  text[0] = '\0';
  for (int level = 0; level <= last; level++) {
    const size_t used = strlen(text);
    snprintf(text + used, capacity - used, "%s%.3g", level ? ", " : "", gab_lbm_magic_on(options, level));
  }
  return last;
}

/* ------------------------------------------------------------------------------------------ other collisions */

static void append(char *text, size_t capacity, const char *words)
{
  const size_t used = strlen(text);
  snprintf(text + used, capacity - used, "%s", words);
}

/* Of some models, each with words behind its name or none, those that the flow could have: "srt or mrt". */
static void list_accepted(const gab_lbm_options *options, const char *const *models, char *text,
                          size_t capacity)
{
  text[0] = '\0';
  for (; *models; models++)
    for (int i = 0; gab_collision_at(i); i++) {
      const gab_collision *model = gab_collision_at(i);
      const size_t letters = strcspn(*models, " ");
      if (strlen(model->name) != letters || strncmp(model->name, *models, letters) != 0) continue;
      if (!gab_lbm_accepts(options, model)) continue;
      if (text[0]) append(text, capacity, " or ");
      append(text, capacity, *models);
    }
}

/* "lbm.magic, lbm.rate_*" @return whether there are any */
static bool list_keys(const gab_collision *model, char *text, size_t capacity)
{
  static const char rate[] = "lbm.rate_";
  bool has_rates = false;
  text[0] = '\0';
  for (const char *const *key = model->keys; key && *key; key++) {
    const bool is_rate = strncmp(*key, rate, sizeof rate - 1) == 0;
    if (is_rate && has_rates) continue;
    if (text[0]) append(text, capacity, ", ");
    append(text, capacity, is_rate ? "lbm.rate_*" : *key);
    has_rates = has_rates || is_rate;
  }
  return text[0] != '\0';
}

void gab_lbm_advise_diverged(const gab_lbm_options *options, char *text, size_t capacity)
{
  const gab_collision *now = gab_lbm_collision(options);
  char keys[160];
  bool any = false;
  text[0] = '\0';
  for (int i = 0; gab_collision_at(i); i++) {
    const gab_collision *model = gab_collision_at(i);
    if (model == now || !gab_lbm_accepts(options, model)) continue;
    append(text, capacity, any ? ", " : "another collision model (lbm.collision: ");
    append(text, capacity, model->name);
    if (list_keys(model, keys, sizeof keys)) {
      append(text, capacity, " with ");
      append(text, capacity, keys);
    }
    any = true;
  }
  const size_t used = strlen(text);
  if (any) snprintf(text + used, capacity - used, "; now %s); ", now->name);
  if (!list_keys(now, keys, sizeof keys)) return;
  append(text, capacity, "other values of ");
  append(text, capacity, keys);
  append(text, capacity, "; ");
}

/* ------------------------------------------------------------------------------------------ waves */

/* Borders amplify waves where (speed / even part of the rates)^2 times the magic parameter is more than that. */
void gab_lbm_advise_borders(const gab_lbm_options *options, double speed, int level, char *text,
                            size_t capacity)
{
  const double harmless = 0.4;
  const double reynolds = cell_reynolds(options, speed, level), magic = gab_lbm_magic_on(options, level);
  text[0] = '\0';
  if (!gab_lbm_collision(options)->has_odd_rate || reynolds * reynolds / 9 * magic <= harmless) return;
  snprintf(text, capacity,
           "cells of level %d have a Reynolds number of %.1f: with a magic parameter above %.2g, here %.2g, "
           "borders between levels amplify waves; refinement.border_speed bounds it",
           level, reynolds, 9 * harmless / (reynolds * reynolds), magic);
}

/* With the further rates of MRT in 3D, seen at a cell Reynolds number of 100 but not at 30, whatever the magic parameter is; with
 * SRT in 3D slowly in front of an outflow, seen at 100 but not at 50 (tests/lbm/walls/mpi_open_sides.c). */
void gab_lbm_advise_borders_of_space(const gab_lbm_options *options, int dimension, double speed, int level,
                                     char *text, size_t capacity)
{
  const gab_collision *collision = gab_lbm_collision(options);
  const double most = collision->border_reynolds_of_space, reynolds = cell_reynolds(options, speed, level);
  const bool has_other = gab_lbm_accepts(options, &gab_collision_trt);
  text[0] = '\0';
  if (!(most > 0) || dimension != 3 || reynolds <= most) return;
  snprintf(
      text, capacity,
      "cells of level %d have a Reynolds number of %.1f: in 3D with %s borders between levels may amplify "
      "waves above about %g%s",
      level, reynolds, collision->title, most, has_other ? "; lbm.collision: trt does not" : "");
}

/* On D3Q15 waves grow at 15, where they do not on the lattices of the library, but not at 10. */
static double most_wave_reynolds(const gab_lbm_options *options)
{
  const double most = gab_lbm_collision(options)->wave_reynolds, most_on_own = 10;
  const bool is_own = options->lattice && gab_lattice_is_own(gab_lattice_number(options->lattice));
  return is_own ? fmin(most, most_on_own) : most;
}

void gab_lbm_advise(const gab_lbm_options *options, double speed, int level, char *text, size_t capacity)
{
  const gab_collision *collision = gab_lbm_collision(options);
  const double most_reynolds = most_wave_reynolds(options), harmless = 0.4;
  const double reynolds = cell_reynolds(options, speed, level), magic = gab_lbm_magic_on(options, level);
  char calmer[80];
  text[0] = '\0';
  if (!has_magic(options) || reynolds <= most_reynolds || magic * reynolds * reynolds / 9 <= harmless) return;
  list_accepted(options, collision->calmer, calmer, sizeof calmer);
  snprintf(text, capacity,
           "cells of level %d have a Reynolds number of %.1f: above %g, %s with a magic parameter of %.3g "
           "lets waves grow "
           "in a uniform flow; lbm.magic below %.2g%s%s does not",
           level, reynolds, most_reynolds, collision->title, magic, 9 * harmless / (reynolds * reynolds),
           calmer[0] ? ", lbm.collision: " : "", calmer);
}

/* Largest speed along a side, in cells per step, that is given somewhere. */
static double speed_along(const gab_lbm_options *options, int side)
{
  double most = 0;
  for (int from = -1; from < gab_lbm_condition_count(options); from++) {
    const gab_side *given = from < 0 ? NULL : gab_lbm_condition(options, from);
    const double *velocity = given ? given->velocity : options->velocity;
    const double peak = given ? gab_side_peak(given) : 1;
    double square = 0;
    if (given && !gab_side_moves(given)) continue;
    for (int axis = 0; axis < 3; axis++) square += axis == side / 2 ? 0 : velocity[axis] * velocity[axis];
    most = fmax(most, peak * sqrt(square));
  }
  return most;
}

void gab_lbm_advise_open(const gab_lbm_options *options, int level, char *text, size_t capacity)
{
  const gab_collision *collision = gab_lbm_collision(options);
  const bool has_other = gab_lbm_accepts(options, &gab_collision_rr);
  text[0] = '\0';
  if (collision == &gab_collision_rr || collision == &gab_collision_smagorinsky) return;
  for (int k = 0; k < gab_lbm_condition_count(options); k++) {
    const char *path = gab_condition_path(options->patches, k);
    const int side = gab_lbm_condition_side(options, k);
    if (side == GAB_PATCH_ON_BODY) continue;
    const double reynolds = cell_reynolds(options, speed_along(options, side), level),
                 most_reynolds = gab_side_of(gab_lbm_condition(options, k))->reynolds_along;
    if (most_reynolds == 0 || reynolds <= most_reynolds) continue;
    snprintf(
        text, capacity,
        "the flow runs along the open side %s, and cells of level %d have a Reynolds number of %.1f: above %g "
        "that does not stay uniform there or even diverges with trt, srt and mrt; %s%s: free_slip, "
        "or smaller cells",
        k < GAB_SIDE_COUNT ? path + strlen("boundaries.") : path, level, reynolds, most_reynolds,
        has_other ? "lbm.collision: rr or smagorinsky does, or " : "", path);
    return;
  }
}
