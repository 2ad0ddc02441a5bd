/* What is known of the stability of a collision before anything is computed. The numbers are those of von
 * Neumann's analysis (tests/lbm/test_von_neumann.c) and of boxes with open sides
 * (tests/lbm/mpi_open_sides.c). */
#include "lbm/lbm_impl.h"

#include <math.h>
#include <stdio.h>

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

static bool is_open(const gab_side *side, int index)
{
  if (side->kind == GAB_SIDE_VELOCITY) return side->velocity[index / 2] != 0;
  return side->kind == GAB_SIDE_PRESSURE || side->kind == GAB_SIDE_OUTFLOW;
}

double gab_lbm_open_speed(const gab_lbm_options *options, double speed)
{
  const double most_reynolds = 10, most_speed = 0.25;
  bool any = false;
  for (int side = 0; side < GAB_SIDE_COUNT; side++) any = any || is_open(&options->sides[side], side);
  if (!any || !has_magic(options) || cell_reynolds(options, speed, 0) <= most_reynolds) return 0;
  return fmin(2 * speed, most_speed);
}

void gab_lbm_advise(const gab_lbm_options *options, double speed, int level, char *text, size_t capacity)
{
  const gab_collision *collision = gab_lbm_collision(options);
  const double most_reynolds = collision->wave_reynolds, harmless = 0.4;
  const double reynolds = cell_reynolds(options, speed, level), magic = gab_lbm_magic_on(options, level);
  text[0] = '\0';
  if (!has_magic(options) || reynolds <= most_reynolds || magic * reynolds * reynolds / 9 <= harmless) return;
  snprintf(text, capacity,
           "cells of level %d have a Reynolds number of %.1f: above %g, %s with a magic parameter of %.3g "
           "lets waves grow "
           "in a uniform flow; lbm.magic below %.2g, lbm.collision: %s does not",
           level, reynolds, most_reynolds, collision->title, magic, 9 * harmless / (reynolds * reynolds),
           collision->calmer);
}

/* Largest speed along a side, in cells per step, that is given somewhere. */
static double speed_along(const gab_lbm_options *options, int side)
{
  double most = 0;
  for (int from = -1; from < GAB_SIDE_COUNT; from++) {
    const double *velocity = from < 0 ? options->velocity : options->sides[from].velocity;
    double square = 0;
    if (from >= 0 && options->sides[from].kind != GAB_SIDE_VELOCITY) continue;
    for (int axis = 0; axis < 3; axis++) square += axis == side / 2 ? 0 : velocity[axis] * velocity[axis];
    most = fmax(most, sqrt(square));
  }
  return most;
}

void gab_lbm_advise_open(const gab_lbm_options *options, int level, char *text, size_t capacity)
{
  static const char *const names[GAB_SIDE_COUNT] = {"x_min", "x_max", "y_min", "y_max", "z_min", "z_max"};
  const double most_reynolds = 12;
  text[0] = '\0';
  for (int side = 0; side < GAB_SIDE_COUNT; side++) {
    const gab_side_kind kind = options->sides[side].kind;
    const double reynolds = cell_reynolds(options, speed_along(options, side), level);
    if ((kind != GAB_SIDE_PRESSURE && kind != GAB_SIDE_OUTFLOW) || reynolds <= most_reynolds) continue;
    snprintf(
        text, capacity,
        "the flow runs along the open side %s, and cells of level %d have a Reynolds number of %.1f: above %g "
        "that does not stay uniform there or even diverges with trt, srt and mrt; lbm.collision: rr does, or "
        "boundaries.%s: free_slip, or smaller cells",
        names[side], level, reynolds, most_reynolds, names[side]);
    return;
  }
}
