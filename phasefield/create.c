/* SPDX-License-Identifier: Apache-2.0 */
#include "phasefield/levels/levels_impl.h"

#include <math.h>
#include <string.h>

static const char *const side_names[6] = {"x-", "x+", "y-", "y+", "z-", "z+"};

/* ------------------------------------------------------------------------------------------ derived options
 */

/* Two phases diffuse into each other with gamma / tau. Inside a third phase, with a fraction x of each, their difference
 * diffuses faster by 2 ((1 - 2x)^2 + 2 x^2): up to 2, and 1.5 at x = 7 %. Below 7 % the projection onto the simplex limits
 * growing modes; above 7 % junctions move wrongly long before the solution diverges. */
static const double at_junctions = 1.5;

double gab_phasefield_stable_dt(const gab_phasefield_options *options, int dimension, double dx)
{
  double fastest = gab_thermo_fastest_diffusion(&options->thermo);
  for (int a = 0; a < options->thermo.phases; a++)
    for (int b = 0; b < a; b++) {
      const double delta = fabs(options->anisotropy[a][b]);
      const double least_tau = options->tau[a][b] * (1 - 5. / 3 * fabs(options->kinetic_anisotropy[a][b]));
      const double crowd = options->thermo.phases > 2 ? at_junctions : 1;
      fastest = fmax(fastest, crowd * options->gamma[a][b] * (1 + delta) * (1 + 15 * delta) / least_tau);
    }
  return dx * dx / (2 * dimension * fastest);
}

gab_status gab_phasefield_fill_tau(gab_phasefield_options *options, double temperature, const double *mu)
{
  const int melt = options->thermo.phases - 1;
  for (int a = 0; a < melt; a++) {
    if (options->tau[a][melt] != 0) continue;
    GAB_TRY(gab_thermo_kinetics_free_tau(&options->thermo, a, temperature, mu, options->epsilon,
                                         options->interpolation, options->potential, &options->tau[a][melt]));
    options->tau[melt][a] = options->tau[a][melt];
  }
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------------ checks */

static gab_status check_pair(const gab_phasefield_options *options, int a, int b)
{
  const char *first = options->thermo.phase[a].name, *second = options->thermo.phase[b].name;
  const double gamma = options->gamma[a][b], tau = options->tau[a][b];
  if (!(gamma > 0 && isfinite(gamma)))
    GAB_FAIL(GAB_ERR_INPUT, "gamma of %s and %s must be positive, not %g", first, second, gamma);
  if (!(tau > 0 && isfinite(tau)))
    GAB_FAIL(GAB_ERR_INPUT, "tau of %s and %s must be positive, not %g", first, second, tau);
  if (options->gamma[b][a] != gamma || options->tau[b][a] != tau ||
      options->anisotropy[b][a] != options->anisotropy[a][b] ||
      options->kinetic_anisotropy[b][a] != options->kinetic_anisotropy[a][b])
    GAB_FAIL(GAB_ERR_INPUT, "gamma, tau or anisotropy of %s and %s is not that of %s and %s", first, second,
             second, first);
  if (!(fabs(options->anisotropy[a][b]) < 1. / 15))
    GAB_FAIL(GAB_ERR_INPUT,
             "the anisotropy %g of gamma of %s and %s leaves some directions without a surface: between "
             "-1/15 and 1/15",
             options->anisotropy[a][b], first, second);
  if (!(fabs(options->kinetic_anisotropy[a][b]) < 0.6))
    GAB_FAIL(GAB_ERR_INPUT, "the anisotropy %g of tau of %s and %s makes tau negative: between -0.6 and 0.6",
             options->kinetic_anisotropy[a][b], first, second);
  return GAB_OK;
}

static gab_status check_side(const gab_phasefield_side *side, int index, const gab_forest_options *forest,
                             int independents)
{
  const bool periodic = forest->periodic[index / 2];
  if ((unsigned)side->kind >= GAB_PHASEFIELD_SIDE_KINDS)
    GAB_FAIL(GAB_ERR_INPUT, "side %s: unknown kind of boundary %d", side_names[index], (int)side->kind);
  if ((side->kind == GAB_PHASEFIELD_PERIODIC) != periodic)
    GAB_FAIL(GAB_ERR_INPUT, "side %s is %speriodic, but the domain is %speriodic along that axis",
             side_names[index], periodic ? "not " : "", periodic ? "" : "not ");
  for (int i = 0; i < independents; i++)
    if (!isfinite(side->mu[i])) GAB_FAIL(GAB_ERR_INPUT, "side %s: mu is not finite", side_names[index]);
  return GAB_OK;
}

static gab_status check_dt(const gab_phasefield_options *options, int dimension, double dx)
{
  if (!(options->dt > 0 && isfinite(options->dt)))
    GAB_FAIL(GAB_ERR_INPUT, "the time step must be positive, not %g", options->dt);
  const double most = gab_phasefield_stable_dt(options, dimension, dx);
  if (options->dt > most && !options->unchecked_dt)
    GAB_FAIL(GAB_ERR_INPUT,
             "the time step %g is not stable: it must be at most %g (dx = %g in %d dimensions)", options->dt,
             most, dx, dimension);
  return GAB_OK;
}

static gab_status check_options(const gab_phasefield_options *options, const gab_forest_options *forest)
{
  const gab_phasefield_temperature *t = &options->temperature;
  if (!options->initial) GAB_FAIL(GAB_ERR_ARGUMENT, "a phase field needs an initial state");
  if (!(options->epsilon > 0 && isfinite(options->epsilon)))
    GAB_FAIL(GAB_ERR_INPUT, "epsilon must be positive, not %g", options->epsilon);
  if (!(options->triple >= 0 && isfinite(options->triple)))
    GAB_FAIL(GAB_ERR_INPUT, "gamma of triples cannot be %g times those of pairs", options->triple);
  if (!isfinite(t->value) || !isfinite(t->gradient) || !isfinite(t->velocity))
    GAB_FAIL(GAB_ERR_INPUT, "temperature, its gradient and velocity must be finite");
  if (!(options->noise.amplitude >= 0 && isfinite(options->noise.amplitude)))
    GAB_FAIL(GAB_ERR_INPUT, "the amplitude of noise cannot be %g", options->noise.amplitude);
  for (int a = 0; a < options->thermo.phases; a++)
    for (int b = 0; b < a; b++) GAB_TRY(check_pair(options, b, a));
  for (int side = 0; side < 2 * forest->grid.dimension; side++)
    GAB_TRY(check_side(&options->sides[side], side, forest, options->thermo.independents));
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------------ life */

static void set_triples(gab_phasefield_model *model)
{
  const gab_phasefield_options *o = &model->options;
  for (int a = 0; a < model->phases; a++)
    for (int b = 0; b < model->phases; b++)
      for (int c = 0; c < model->phases; c++)
        model->gamma3[a][b][c] = a == b || b == c || a == c
                                     ? 0
                                     : o->triple * fmax(o->gamma[a][b], fmax(o->gamma[b][c], o->gamma[a][c]));
}

static gab_status set_model(gab_phasefield_model *model, const gab_forest_options *forest,
                            const gab_phasefield_options *options)
{
  model->options = *options;
  GAB_TRY(gab_thermo_prepare(&model->options.thermo));
  GAB_TRY(check_options(&model->options, forest));
  if (options->levels < 0) GAB_FAIL(GAB_ERR_ARGUMENT, "a phase field of %d levels", options->levels);
  model->dimension = forest->grid.dimension;
  model->axis = model->dimension - 1;
  model->phases = options->thermo.phases;
  model->melt = model->phases - 1;
  model->independents = options->thermo.independents;
  for (int axis = 0; axis < 3; axis++) {
    model->cells[axis] = forest->cells[axis];
    model->domain[axis] = (int64_t)forest->grid.roots[axis] * forest->cells[axis];
    if (axis < model->dimension) model->domain[axis] *= (int64_t)1 << options->levels;
  }
  model->dx = ldexp(forest->dx, -options->levels);
  GAB_TRY(check_dt(&model->options, model->dimension, model->dx));
  model->origin = forest->origin[model->axis];
  set_triples(model);
  for (int a = 0; a < model->phases; a++)
    for (int b = 0; b < a; b++)
      model->anisotropic |= options->anisotropy[a][b] != 0 || options->kinetic_anisotropy[a][b] != 0;
  model->kernel = gab_phasefield_kernel_find(options->kernel, model);
  return model->kernel ? GAB_OK : GAB_ERR_INPUT;
}

static gab_status make_exchange(gab_phasefield *made, gab_phasefield_ghosts *ghosts,
                                gab_phasefield_which which, const char *name, gab_exchange **exchange)
{
  *ghosts = (gab_phasefield_ghosts){.cells = made->model.cells,
                                    .which = which,
                                    .components =
                                        which == WHICH_PHI ? made->model.phases : made->model.independents,
                                    .edges = which == WHICH_PHI};
  gab_ghost_kind kind = gab_phasefield_ghost_kind(ghosts, name);
  kind.coupled = made->model.options.levels > 0; /* levels.c */
  if (which != WHICH_PHI) return gab_exchange_create(made->forest, made->data, &kind, exchange);
  return gab_exchange_create_on_level(made->forest, made->data, &kind, made->model.options.levels, exchange);
}

void gab_phasefield_get_ghosts(gab_phasefield *phasefield, gab_ghost_kind ghosts[2])
{
  ghosts[0] = gab_phasefield_ghost_kind(&phasefield->phi_ghosts, "phi");
  ghosts[1] = gab_phasefield_ghost_kind(&phasefield->mu_ghosts, "mu");
}

static gab_status set_up(gab_phasefield *made, gab_forest *forest, const gab_phasefield_options *options)
{
  made->forest = forest;
  GAB_TRY(set_model(&made->model, gab_forest_get_options(forest), options));
  made->model.slices = &made->slices[0];
  gab_block_data_kind kind = gab_phasefield_block_kind(made);
  GAB_TRY(gab_forest_add_data(forest, &kind, &made->data));
  GAB_TRY(make_exchange(made, &made->phi_ghosts, WHICH_PHI, "phi", &made->phi_exchange));
  GAB_TRY(make_exchange(made, &made->mu_ghosts, WHICH_MU, "mu", &made->mu_exchange));
  GAB_TRY(make_exchange(made, &made->c_ghosts, WHICH_C, "c", &made->c_exchange));
  return gab_phasefield_levels_create(made);
}

gab_status gab_phasefield_create(gab_forest *forest, const gab_phasefield_options *options,
                                 gab_phasefield **made)
{
  *made = NULL;
  gab_phasefield *model;
  GAB_TRY(GAB_NEW(&model, GAB_MEMORY_OTHER));
  gab_status status = set_up(model, forest, options);
  if (status != GAB_OK) gab_phasefield_destroy(&model);
  else *made = model;
  return status;
}

void gab_phasefield_destroy(gab_phasefield **phasefield)
{
  gab_phasefield *gone = *phasefield;
  if (!gone) return;
  if (gone->phi_exchange) gab_exchange_destroy(&gone->phi_exchange);
  if (gone->mu_exchange) gab_exchange_destroy(&gone->mu_exchange);
  if (gone->c_exchange) gab_exchange_destroy(&gone->c_exchange);
  gab_phasefield_levels_destroy(gone);
  gab_phasefield_recompute_release(gone);
  for (size_t k = 0; k < sizeof gone->slices / sizeof gone->slices[0]; k++)
    gab_phasefield_slices_release(&gone->slices[k]);
  gab_free(phasefield);
}
