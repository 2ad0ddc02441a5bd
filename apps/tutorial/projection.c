/* SPDX-License-Identifier: Apache-2.0 */
/* The flow in a cavity under a sliding lid: Navier-Stokes equations by projection (Chorin 1968), the pressure by multigrid.
 *
 *   gabion-launch -n 4 build/bin/projection run apps/tutorial/projection.yaml
 *
 * Velocities lie on the lower faces of cells, pressures in their centres (Harlow & Welch 1965). A step has three stages:
 *   0  u* = u + dt (nu Laplace(u) - div(u u))
 *   1  Laplace(p) = div(u*) / dt, a linear equation for the whole grid
 *   2  u = u* - dt grad(p), so div(u) = 0 in each cell to the tolerance of the solver. */
#include "gabion/stencil.h"

enum { U, V, P };
static const gab_config_key keys[] = {{.name = "viscosity",
                                       .type = GAB_CONFIG_REAL,
                                       .min = 0,
                                       .min_excluded = true,
                                       .max = INFINITY,
                                       .default_text = "0.01",
                                       .doc = "Kinematic viscosity."}};
static const double lid = 1; /* its speed */

/* ---- 1. A block. If y is not periodic, its upper side is the lid. */
typedef struct part {
  const gab_field *now;
  bool is_at_lid;
  double width;
} part;

static part part_of(const gab_forest *forest, const gab_block *block, const gab_field *now)
{
  const bool is_top = gab_block_cells(forest, block).hi[1] == gab_forest_domain_cells(forest).hi[1];
  return (part){.now = now,
                .is_at_lid = is_top && !gab_forest_get_options(forest)->periodic[1],
                .width = gab_forest_dx(forest, 0)};
}

/* Walls are mirrors (projection.yaml): velocities across them are 0, others change their sign. Beyond the lid the mean with the cell
 * is the speed of the lid. */
static double value(const part *of, int field, int32_t x, int32_t y)
{
  if (field == U && of->is_at_lid && y == of->now->shape.cells[1])
    return 2 * lid - gab_field_get(of->now, x, y - 1, 0, U);
  return gab_field_get(of->now, x, y, 0, field);
}

/* ---- 2. The stages.
 * du/dt without pressure: second-order differences of the fluxes on the faces around a velocity. */
static double rate(const part *of, double viscosity, int field, int32_t x, int32_t y)
{
  const int32_t ax = field == U, ay = field == V; /* along the velocity; (ay, ax) is across */
  const double here = value(of, field, x, y), front = value(of, field, x + ax, y + ay),
               back = value(of, field, x - ax, y - ay), left = value(of, field, x + ay, y + ax),
               right = value(of, field, x - ay, y - ax);
  const double to_left =
                   value(of, 1 - field, x + ay, y + ax) + value(of, 1 - field, x + ay - ax, y + ax - ay),
               to_right = value(of, 1 - field, x, y) + value(of, 1 - field, x - ax, y - ay);
  const double leaves = (front + here) * (front + here) - (here + back) * (here + back) +
                        (left + here) * to_left - (here + right) * to_right;
  const double around = (front + back) + (left + right) - 4 * here;
  return viscosity * around / (of->width * of->width) - leaves / (4 * of->width);
}

static double divergence(const part *of, int32_t x, int32_t y)
{
  return (value(of, U, x + 1, y) - value(of, U, x, y) + value(of, V, x, y + 1) - value(of, V, x, y)) /
         of->width;
}

static void step(const gab_stencil_block *at)
{
  const part of = part_of(at->forest, at->block, at->now);
  const double viscosity = gab_config_real(at->config, "projection.viscosity"), h = of.width, dt = at->dt;
  for (int32_t y = 0; y < at->cells[1]; y++)
    for (int32_t x = 0; x < at->cells[0]; x++) {
      double next[] = {value(&of, U, x, y), value(&of, V, x, y), value(&of, P, x, y)};
      if (at->stage == 0) {
        next[U] += dt * rate(&of, viscosity, U, x, y);
        next[V] += dt * rate(&of, viscosity, V, x, y);
      } else if (at->stage == 1) {
        next[P] = -h * h * divergence(&of, x, y) / dt; /* of -Laplace(p), in units of cells */
      } else {
        next[U] -= dt * (next[P] - value(&of, P, x - 1, y)) / h;
        next[V] -= dt * (next[P] - value(&of, P, x, y - 1)) / h;
      }
      for (int field = U; field <= P; field++) gab_field_set(at->next, x, y, 0, field, next[field]);
    }
}

/* Explicit steps are limited by diffusion, and with central differences by advection over diffusion. */
static double longest(const gab_stencil_block *at)
{
  const double viscosity = gab_config_real(at->config, "projection.viscosity"),
               h = gab_forest_dx(at->forest, 0);
  double square = 0; /* of the speed */
  for (int32_t y = 0; y < at->cells[1]; y++)
    for (int32_t x = 0; x < at->cells[0]; x++)
      square = fmax(square,
                    pow(gab_field_get(at->now, x, y, 0, U), 2) + pow(gab_field_get(at->now, x, y, 0, V), 2));
  return fmin(h * h / (4 * viscosity), 2 * viscosity / square);
}

static void poisson(const gab_config *config, double *alpha, double *beta)
{
  (void)config;
  *alpha = 0;
  *beta = 1;
}

/* ---- 3. The table. */
static void add_energy(const double *all, double *terms)
{
  terms[0] = (all[U] * all[U] + all[V] * all[V]) / 2;
}

static const char *const fields[] = {"u", "v", "pressure", NULL}, *const sums[] = {"energy", NULL};
static const gab_stencil_centring centring[] = {GAB_STENCIL_X_FACE, GAB_STENCIL_Y_FACE, GAB_STENCIL_CELL};
static const gab_stencil_implicit implicit[] = {{.field = P, .stage = 1, .operation = poisson}};
static const gab_stencil cavity = {.name = "projection",
                                   .title = "an incompressible flow by projection",
                                   .dimension = 2,
                                   .keys = keys,
                                   .key_count = 1,
                                   .fields = fields,
                                   .centring = centring,
                                   .update = step,
                                   .stages = 3,
                                   .bound = longest,
                                   .implicit = implicit,
                                   .implicit_count = 1,
                                   .diagonals = true,
                                   .sums = sums,
                                   .add = add_energy};

int main(int argc, char **argv) { return gab_stencil_main(argc, argv, &cavity); }
