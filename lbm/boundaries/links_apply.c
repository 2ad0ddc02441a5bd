#include "lbm/lbm_impl.h"

#include <math.h>

/* Links read populations of fluid cells and write populations of boundary cells, so their order is free. */

/* How much of the non-equilibrium of a cell an open side hands back: all of it up to a Reynolds number of the
 * cell, |u| / viscosity, above that less with its square. Handed back in full it grows, in short waves along
 * the side: linear analysis of a box with SRT finds 1.0095 per step at 50 for the outflow, and from 20 in 2D,
 * 15 in 3D on; for the pressure side 1.033, and from 10 on. There nine tenths (outflow), four fifths
 * (pressure) are still stable. */
static double kept_share(const gab_level_model *at, double most_reynolds, const double u[3])
{
  const double bound = most_reynolds * (1 / at->rates.even - 0.5) / 3;
  const double square = u[0] * u[0] + u[1] * u[1] + u[2] * u[2];
  return square <= bound * bound ? 1 : bound * bound / square;
}

/* The non-equilibrium that an outflow sends in direction q, regularised (Latt, Chopard, Malaspinas, Deville &
 * Michler 2008): 9/2 w (c c - I/3) : P with the stress P of the fluid cell, so that what the lattice carries
 * besides density, velocity and stress, and hardly damps near omega 2, has no way back in.
 *
 * It has to be that of a zero normal gradient. Then the part of P across the side is left out. The rest is
 * due to gradients along the side: the diagonal link begins in another row than it ends, so that the velocity
 * differs by what a population gains in a step, and what has to arrive is the stress before collision. The
 * collision has multiplied that by 1 - omega. Near omega 1 too little of it is left to be restored: there the
 * factor goes to 0. Nor may all of it come back where little damps it: see kept_share(). */
static double outflow_strain(const gab_lbm_model *model, const gab_level_model *at, const gab_open_link *link,
                             const double *g, double drho, const double u[3])
{
  const gab_lattice *lattice = model->lattice;
  const int8_t *c = lattice->c[link->q];
  const int normal = link->side / 2;
  double sum = 0;
  for (int q = 1; q < lattice->q; q++) {
    const int8_t *v = lattice->c[q];
    int along = c[0] * v[0] + c[1] * v[1] + c[2] * v[2], square = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
    int across = v[normal] * v[normal];
    double part = along * along - c[normal] * c[normal] * across - (square - across) / 3.0;
    sum += part * (g[q] - gab_lbm_equilibrium(model, q, drho, u));
  }
  const double lost = at->rates.even - 1, softness = 0.01;
  return -4.5 * lattice->weight[link->q] * sum * lost / (lost * lost + softness);
}

/* Where the fluid would come in, nothing says with which velocity: left alone, that of the cell feeds itself,
 * and vortices that leave, or a mean flow that turns, blow up. So nothing comes in. */
static void stop_backflow(int side, double u[3])
{
  const int normal = side / 2;
  u[normal] = side % 2 == 1 ? fmax(u[normal], 0) : fmin(u[normal], 0);
}

static double state_of(const gab_lbm_model *model, const gab_level_model *at, const gab_open_link *link,
                       const double *g, double u[3], double *given)
{
  double drho;
  gab_lbm_moments(model, at, g, &drho, u);
  *given = model->options.sides[link->side].density - 1;
  return drho;
}

/* f_q = -f_opposite + 2 f_eq,even(density of the side, velocity of the fluid cell); where cells are too
 * coarse for that, mixed with f_eq,q of the same density and velocity. */
double gab_link_pressure(const gab_lbm_model *model, const gab_level_model *at, const gab_open_link *link,
                         const double g[GAB_LATTICE_MAX_Q])
{
  const int opposite = gab_lattice_opposite(link->q);
  double given, u[3];
  (void)state_of(model, at, link, g, u, &given);
  const double here = gab_lbm_equilibrium(model, link->q, given, u),
               even = here + gab_lbm_equilibrium(model, opposite, given, u), kept = kept_share(at, 8, u);
  return kept == 1 ? even - g[opposite] : here + kept * (even - g[opposite] - here);
}

/* A condition of a program's own. */
static double own_link(const gab_lbm_model *model, const gab_level_model *at, const gab_open_link *link,
                       const double g[GAB_LATTICE_MAX_Q])
{
  const gab_side *side = &model->options.sides[link->side];
  gab_boundary_link asked = {.lattice = model->lattice,
                             .q = link->q,
                             .side = link->side,
                             .level = at->level,
                             .omega = at->rates.even,
                             .sent = g,
                             .numbers = side->numbers};
  gab_lbm_moments(model, at, g, &asked.density, asked.velocity);
  asked.density += 1;
  return side->own->arrives(&asked);
}

/* f_q = f_eq(rho_out, u_out) + what outflow_strain() says, from the state of the fluid cell x. The density
 * lies between that of the cell, which would let every sound wave out but hold no pressure, and that of the
 * side, which would reflect them all. */
double gab_link_outflow(const gab_lbm_model *model, const gab_level_model *at, const gab_open_link *link,
                        const double g[GAB_LATTICE_MAX_Q])
{
  if (model->options.sides[link->side].kind == GAB_SIDE_OWN) return own_link(model, at, link, g);
  double given, u[3], drho = state_of(model, at, link, g, u, &given);
  double strain = kept_share(at, 10, u) * outflow_strain(model, at, link, g, drho, u);
  double out = drho + at->outflow_stiffness[link->side] * (given - drho);
  stop_backflow(link->side, u);
  return gab_lbm_equilibrium(model, link->q, out, u) + strain;
}

#define REAL       double
#define NAME(part) links_double##part
#include "lbm/boundaries/links_apply_body.inc"

#define REAL       float
#define NAME(part) links_float##part
#include "lbm/boundaries/links_apply_body.inc"

void gab_links_apply_dense(const gab_lbm_model *model, const gab_lbm_job *job,
                           const double ramp[GAB_SIDE_COUNT])
{
  if (model->options.precision == GAB_PRECISION_FLOAT) links_float_all(model, job, ramp);
  else links_double_all(model, job, ramp);
}
