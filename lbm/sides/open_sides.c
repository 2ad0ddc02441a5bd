/* SPDX-License-Identifier: Apache-2.0 */
/* Open sides without a given velocity: keys, arithmetic, descriptors. */
#include "lbm/sides/side_impl.h"
#include "lbm/lbm_impl.h"
#include "lbm/setup/units.h"

#include <math.h>

/* Open sides. The population that arrives in the next cell across the side (`next`) was sent in the same row as the missing one, and in
 * this row Poiseuille flow changes only its pressure. It is taken from populations, so viscous stress along the side is correct at any
 * rate, also at rate 1, after which a cell contains no stress.
 *
 * A pressure side has the density rho_w half-way between the two: the boundary cell has 2 rho_w - rho. The velocity across
 * has the gradient that keeps the flow free of divergence, with the rates of strain along the side
 *   du_a/dx_a = spread_a / (3 w_a),  spread_a = (populations sent along axis a, both ways - populations arriving along it) / 2,
 * which is the even part of TRT's recurrence equations (Ginzburg, Verhaeghe & d'Humieres 2008) at any rate. So
 *   f_q = next + 2 (e_w - e) + sum over axes a along the side with c_a = 0 of (w_q / w_a) spread_a,
 * e being the part of the equilibrium that is even across and along the side, e_w with density and velocity at the side.
 *
 * Short waves grow if cells are too coarse. Above a limit of the cell Reynolds number, |u| / viscosity, the kept share falls with its
 * square; the rest is the equilibrium of the density of the side and the velocity of the cell. The largest eigenvalue of small boxes is
 * then below 1 (SRT at 100: 1.0003); without the limit it is 1.017 with SRT from 20 on, and 1.02 with TRT at 10. In 3D the terms of the
 * two axes along a pressure side add up, so the limit is 2 (at 3 to 8 waves grow slowly, in some 10^4 steps). */
static double kept_share(const gab_level_model *at, double most_reynolds, const double u[3])
{
  const double bound = most_reynolds * (1 / at->rates.even - 0.5) / 3;
  const double square = u[0] * u[0] + u[1] * u[1] + u[2] * u[2];
  return square <= bound * bound ? 1 : bound * bound / square;
}

/* The velocity of inflow is not given. The velocity of the cell would amplify itself, so leaving vortices or a
 * reversed mean flow would diverge. Inflow is therefore prevented. */
static void stop_backflow(const gab_open_link *link, double u[3])
{
  for (int side = 0; side < GAB_SIDE_COUNT; side++)
    if (link->sides >> side & 1) u[side / 2] = side % 2 == 1 ? fmax(u[side / 2], 0) : fmin(u[side / 2], 0);
}

/* Mean over the sides of the link. */
static double mean_of(const gab_open_link *link, const double numbers[GAB_SIDE_COUNT])
{
  double sum = 0;
  int count = 0;
  for (int side = 0; side < GAB_SIDE_COUNT; side++) {
    if (!(link->sides >> side & 1)) continue;
    sum += numbers[side];
    count++;
  }
  return sum / count;
}

/* Density minus 1 and velocity of the fluid cell. */
static double moments_of(const gab_lbm_model *model, const gab_level_model *at, const gab_open_view *seen,
                         double u[3])
{
  double drho;
  gab_lbm_moments(model, at, seen->sent, &drho, u);
  for (int axis = 0; axis < 3; axis++) u[axis] -= seen->lag[axis];
  return drho;
}

static double state_of(const gab_lbm_model *model, const gab_level_model *at, const gab_open_link *link,
                       const gab_open_view *seen, double u[3], double *given)
{
  double all[GAB_SIDE_COUNT];
  for (int side = 0; side < GAB_SIDE_COUNT; side++)
    all[side] = link->given[side / 2] * seen->ramp[link->conditions[side / 2]];
  *given = mean_of(link, all);
  return moments_of(model, at, seen, u);
}

/* Equilibrium of second order, the part even across and along the side. @param[in] normal -1: even only */
static double even_part(const gab_lattice *lattice, int q, int normal, double drho, const double u[3])
{
  const int8_t *c = lattice->c[q];
  double along = 0, square = 0;
  for (int axis = 0; axis < 3; axis++) {
    square += u[axis] * u[axis];
    along += axis == normal ? 0 : c[axis] * u[axis];
  }
  const double across = normal < 0 ? 0 : c[normal] * u[normal];
  return lattice->weight[q] * (drho + (1 + drho) * (4.5 * (across * across + along * along) - 1.5 * square));
}

/* ------------------------------------------------------------------------------------------ pressure */

/* Keys of all sides with a given pressure. */
#define OPEN_KEYS                                                                                            \
  {.name = "pressure",                                                                                       \
   .type = GAB_CONFIG_REAL,                                                                                  \
   .unit = "Pa",                                                                                             \
   .default_text = "0",                                                                                      \
   .doc = "Difference to the reference pressure."},                                                          \
      {.name = "shape",                                                                                      \
       .type = GAB_CONFIG_EXPRESSION,                                                                        \
       .variables = "x|y|z",                                                                                 \
       .min = -INFINITY,                                                                                     \
       .max = INFINITY,                                                                                      \
       .default_text = GAB_CONFIG_OPTIONAL,                                                                  \
       .doc = "Formula by which the pressure is multiplied, at points of the side in m."},                   \
      GAB_SIDE_TIME_KEYS("pressure"), GAB_SIDE_SPONGE_KEYS,                                                  \
  {                                                                                                          \
    .name = "sponge_velocity", .type = GAB_CONFIG_REAL, .length_min = 2, .length_max = 3, .unit = "m/s",     \
    .default_text = GAB_CONFIG_OPTIONAL,                                                                     \
    .doc = "Velocity to which the sponge draws the flow; left out: it draws the pressure only."              \
  }

static const gab_config_key pressure_keys[] = {OPEN_KEYS};
enum { PRESSURE_KEYS = sizeof pressure_keys / sizeof *pressure_keys };

static gab_status read_pressure(const gab_config *config, const char *path, int dimension,
                                const gab_units *units, gab_side *side)
{
  char key[GAB_CONFIG_PATH_CAPACITY], shape[GAB_CONFIG_PATH_CAPACITY];
  gab_config_path(key, "%s.pressure", path);
  side->density = gab_units_pressure_to_density(units, gab_config_real(config, key));
  side->shape = gab_config_expression(config, gab_config_path(shape, "%s.shape", path));
  if (side->shape) side->profile = GAB_PROFILE_FORMULA;
  GAB_TRY(gab_side_read_time(config, path, units, side));
  GAB_TRY(gab_side_read_sponge(config, path, dimension, units, false, side));
  if (side->density == 1 && (side->shape || gab_side_varies(side)))
    return gab_config_fail(config, key, "is 0: shape, factor, series and ramp_time have no effect");
  if (side->is_measured ? !(side->density > 0) : !(side->density > 0.5 && side->density < 2))
    return gab_config_fail(config, key,
                           "gives the density %g on the lattice, outside (0.5, 2): shorten the time step",
                           side->density);
  return GAB_OK;
}

static double pressure_arrives(const gab_lbm_model *model, const gab_level_model *at,
                               const gab_open_link *link, const gab_open_view *seen)
{
  const gab_lattice *lattice = model->lattice;
  const bool in_edge = link->sides != 1U << link->side;
  const int normal = in_edge ? -1 : link->side / 2, out = link->side % 2 == 1 ? 1 : -1;
  double given, u[3], spread = 0, strain = 0;
  const double drho = state_of(model, at, link, seen, u, &given);
  for (int axis = 0; axis < lattice->dimension; axis++) {
    if (!(link->axes >> axis & 1)) continue;
    const double weight = lattice->weight[model->along[axis]];
    strain += seen->spread[axis] / (3 * weight);
    if (lattice->c[link->q][axis] == 0) spread += lattice->weight[link->q] / weight * seen->spread[axis];
  }
  double at_side[3] = {u[0], u[1], u[2]};
  if (!in_edge) at_side[normal] -= 0.5 * out * strain;
  const double change =
      even_part(lattice, link->q, normal, given, at_side) - even_part(lattice, link->q, normal, drho, u);
  const bool deep = lattice->dimension == 3;
  if (deep) spread *= kept_share(at, 2, u);
  const double wanted = seen->next + 2 * change + spread, kept = kept_share(at, deep ? 5 : 6, u);
  return kept == 1 ? wanted : kept * wanted + (1 - kept) * gab_lbm_equilibrium(model, link->q, given, u);
}

/* A patch of a body: the surface has any angle, so that nothing but the cell is known, as in edges of sides. The density at the surface is
 * taken to the middle of the link (gab_body_patch_reach()). */
double gab_side_pressure_on_body(const gab_lbm_model *model, const gab_level_model *at,
                                 const gab_open_link *link, const gab_open_view *seen)
{
  double u[3];
  const double drho = moments_of(model, at, seen, u);
  const double given = link->given[0] * seen->ramp[link->conditions[0]];
  const double half_way = drho + link->given[1] * (given - drho);
  const double change =
      even_part(model->lattice, link->q, -1, half_way, u) - even_part(model->lattice, link->q, -1, drho, u);
  const double wanted = seen->next + 2 * change,
               kept = kept_share(at, model->lattice->dimension == 3 ? 5 : 6, u);
  return kept == 1 ? wanted : kept * wanted + (1 - kept) * gab_lbm_equilibrium(model, link->q, half_way, u);
}

/* Given density half-way to the first cells. Velocities along the side have no gradient across it; the velocity
 * across the side has the gradient of a divergence-free flow, with the rates of strain of TRT's recurrence equations
 * (Ginzburg et al. 2008). */
const gab_side_descriptor gab_side_pressure = GAB_SIDE_DESCRIPTOR(
    name = "pressure", doc = "Given pressure; the fluid may flow in or out.", keys = pressure_keys,
    key_count = PRESSURE_KEYS, read = read_pressure, relaxation = 0, keeps_state = false,
    arrival = GAB_ARRIVAL_COMPUTED, has_velocity = false, reads_next_density = false, refuses_porous = false,
    precedence = 6, amplifies_waves = true, reynolds_along = 12, arrives = pressure_arrives);

/* ------------------------------------------------------------------------------------------ outflow */

/* Key of outlets that draw their pressure to the given one. */
#define RELAXATION_KEY(usual, positive, text)                                                                          \
  {                                                                                                                    \
    .name = "relaxation", .type = GAB_CONFIG_REAL, .min = 0, .max = 10, .min_excluded = (positive),                    \
    .default_text = (usual),                                                                                           \
    .doc =                                                                                                             \
        "Coefficient sigma with which the pressure is drawn to the given one, sigma c_s / length per time (Poinsot & " \
        "Lele 1992)" text                                                                                              \
  }

static const gab_config_key outflow_keys[] = {OPEN_KEYS, RELAXATION_KEY("2", true, ".")};

static gab_status read_drawn(const gab_config *config, const char *path, int dimension,
                             const gab_units *units, gab_side *side)
{
  char key[GAB_CONFIG_PATH_CAPACITY];
  side->relaxation = gab_config_real(config, gab_config_path(key, "%s.relaxation", path));
  return read_pressure(config, path, dimension, units, side);
}

/* Share of its difference from the given density that an outlet draws in a step. */
static double drawn_share(const gab_lbm_model *model, const gab_level_model *at, const gab_open_link *link)
{
  double share[GAB_SIDE_COUNT] = {0};
  for (int side = 0; side < GAB_SIDE_COUNT; side++) {
    if (!(link->sides >> side & 1)) continue;
    const gab_side *of = gab_lbm_condition(&model->options, link->conditions[side / 2]);
    const double sigma = of->relaxation > 0 ? of->relaxation : gab_side_of(of)->relaxation;
    share[side] = fmin(1, sigma * at->softness[side]);
  }
  return mean_of(link, share);
}

/* Contribution of the normal stress across the side, in the populations sent by the fluid cell, to direction q: 9/2
 * w (c_n^2 - 1/3) Pi_nn (regularised; Latt, Chopard, Malaspinas, Deville & Michler 2008). */
static double normal_stress(const gab_lbm_model *model, const gab_open_link *link, const double *sent,
                            double drho, const double u[3])
{
  const gab_lattice *lattice = model->lattice;
  const int normal = link->side / 2;
  double sum = 0;
  for (int q = 0; q < lattice->q; q++)
    sum += (lattice->c[q][normal] * lattice->c[q][normal] - 1 / 3.0) *
           (sent[q] - gab_lbm_equilibrium(model, q, drho, u));
  return 3 * lattice->weight[link->q] * sum;
}

/* Shear part of the excess, over the equilibrium of the fluid cell, of the population that the next cell sends in
 * direction q: half the difference from its mirror image along the side. If a wall reflects the mirror, the value
 * that makes the two sum to their equilibria. At a border between levels, where one of the two is extrapolated, and
 * in edges: the whole excess. 0 if the mirror is unknown. */
static double shear_stress(const gab_lbm_model *model, const gab_open_link *link, const gab_open_view *seen,
                           double drho, const double u[3])
{
  const double stress = seen->next - gab_lbm_equilibrium(model, link->q, drho, u);
  const double mirrored = seen->mirrored - gab_lbm_equilibrium(model, link->mirror, drho, u);
  if (link->source[0] != GAB_OPEN_NEXT) return stress;
  switch ((gab_open_source)link->source[1]) {
  case GAB_OPEN_NEXT:
    return 0.5 * (stress - mirrored);
  case GAB_OPEN_CLOSED:
    return -mirrored;
  case GAB_OPEN_LINEAR:
    return stress;
  default:
    return 0;
  }
}

/* f_q = f_eq(rho_out, u_out) + shear stress - normal stress. The density is between that of the cell, which transmits
 * all sound waves but does not fix the pressure, and that of the side, which reflects them all.
 *
 * Leaving vortices must not emit sound. Beyond the side the fluxes of mass and momentum, mean(rho / 3 + u_n^2) +
 * stress, through a plane are constant. The returning populations are half the difference of the two, so their mean
 * must be constant, too. This holds if they carry the normal stress before collision. The stress after collision is
 * 1 - omega times as large: subtracting it leaves 2 - omega of the error without a division; the equilibrium alone
 * leaves 1, all of `next` leaves omega. A share that varies with the velocity of vortices emits sound, too (bound
 * 10: 15 times as much at rate 1.9), so the normal stress has a higher bound. */
static double outflow_arrives(const gab_lbm_model *model, const gab_level_model *at,
                              const gab_open_link *link, const gab_open_view *seen)
{
  double given, u[3], drho = state_of(model, at, link, seen, u, &given);
  double stress = kept_share(at, 10, u) * shear_stress(model, link, seen, drho, u);
  if (link->source[0] != GAB_OPEN_SELF)
    stress -= kept_share(at, 30, u) * normal_stress(model, link, seen->sent, drho, u);
  const double out = drho + drawn_share(model, at, link) * (given - drho);
  stop_backflow(link, u);
  return gab_lbm_equilibrium(model, link->q, out, u) + stress;
}

/* Zero gradient across the side, of velocity and shear stress; nothing flows back in. With sigma = 2 the sound of a
 * starting inlet decays fastest; a much larger value reflects it, a much smaller one lets the mean density drift for
 * long. The normal stress conserves the mean momentum flux, so vortices leave without sound (doc/sides.md). */
const gab_side_descriptor gab_side_outflow = GAB_SIDE_DESCRIPTOR(
    name = "outflow", doc = "Pressure relaxes to the given one; no backflow; lets vortices and sound leave.",
    keys = outflow_keys, key_count = sizeof outflow_keys / sizeof *outflow_keys, read = read_drawn,
    relaxation = 2, keeps_state = false, arrival = GAB_ARRIVAL_COMPUTED, has_velocity = false,
    reads_next_density = false, refuses_porous = true, precedence = 2, amplifies_waves = true,
    reynolds_along = 25, arrives = outflow_arrives);

/* ------------------------------------------------------------------------------------------ characteristic */

static const gab_config_key characteristic_keys[] = {OPEN_KEYS,
                                                     RELAXATION_KEY("0.58", false, "; 0: not at all.")};

/* An outflow, and what keeps it from reflecting sound. Where a wave leaves, d rho / dt = -(u + c) d rho / dx and
 * d m / dt = (u + c) d rho / dt (LODI, Poinsot & Lele 1992; Izquierdo & Fueyo 2008). The populations that come back carry
 * (Pi - m) / 2 = A rho, A = (1/3 + u^2 + 2 u c - u - c) / 2, in the next step, and the stress of the wave before collision,
 * -tau c / 3 d rho / dx. An outflow gives them at the time of this step, with the stress after collision reversed. The difference is
 *   d rho / dx (-(u + c) A - 2 nu c), with tau and nu of a plane wave, of which the trace has its own rate.
 * The density of vortices varies with the square of their Mach number only, so that they hardly notice. */
static double wave_term(const gab_level_model *at, int dimension, double across, double slope)
{
  const double c = 0.57735026918962576, bulk = 1 / at->bulk_rate;
  const double nu = ((bulk + (dimension - 1) / at->rates.even) / dimension - 0.5) / 3;
  const double share = (1 / 3.0 + across * across + 2 * across * c - across - c) / 2;
  return slope * (-(across + c) * share - 2 * nu * c);
}

static double characteristic_arrives(const gab_lbm_model *model, const gab_level_model *at,
                                     const gab_open_link *link, const gab_open_view *seen)
{
  double given, u[3], drho = state_of(model, at, link, seen, u, &given);
  const int normal = link->side / 2;
  double extra = kept_share(at, 10, u) * shear_stress(model, link, seen, drho, u);
  if (link->source[0] != GAB_OPEN_SELF)
    extra -= kept_share(at, 30, u) * normal_stress(model, link, seen->sent, drho, u);
  if (link->source[0] == GAB_OPEN_NEXT)
    extra += 6 * model->lattice->weight[link->q] *
             wave_term(at, model->lattice->dimension, link->side % 2 ? u[normal] : -u[normal],
                       drho - seen->next_drho);
  const double out = drho + drawn_share(model, at, link) * (given - drho);
  stop_backflow(link, u);
  return gab_lbm_equilibrium(model, link->q, out, u) + extra;
}

/* Outflow whose populations follow the characteristics of the wave that leaves; nothing flows back in. */
const gab_side_descriptor gab_side_characteristic = GAB_SIDE_DESCRIPTOR(
    name = "characteristic",
    doc = "Outflow that reflects little sound; its pressure drifts to the given one slowly; no backflow.",
    keys = characteristic_keys, key_count = sizeof characteristic_keys / sizeof *characteristic_keys,
    read = read_drawn, relaxation = 0, keeps_state = false, arrival = GAB_ARRIVAL_COMPUTED,
    reads_next_density = true, has_velocity = false, refuses_porous = true, precedence = 4,
    amplifies_waves = true, reynolds_along = 25, arrives = characteristic_arrives);

/* ------------------------------------------------------------------------------------------ convective */

static const gab_config_key convective_keys[] = {
    OPEN_KEYS,
    RELAXATION_KEY("1", true, "."),
    {.name = "advection_velocity",
     .type = GAB_CONFIG_REAL,
     .min = 0,
     .max = INFINITY,
     .min_excluded = true,
     .unit = "m/s",
     .doc = "Speed with which the flow is carried out through the side: its mean velocity across it."},
};

static gab_status read_convective(const gab_config *config, const char *path, int dimension,
                                  const gab_units *units, gab_side *side)
{
  char key[GAB_CONFIG_PATH_CAPACITY];
  side->advection =
      gab_config_real(config, gab_config_path(key, "%s.advection_velocity", path)) * units->dt / units->dx;
  if (!(side->advection < 0.5))
    return gab_config_fail(
        config, key, "is %g cells per step, which must be below 0.5: shorten the time step", side->advection);
  return read_drawn(config, path, dimension, units, side);
}

/* What the ghost cell sends, with the density drawn to the given one. */
static double convective_arrives(const gab_lbm_model *model, const gab_level_model *at,
                                 const gab_open_link *link, const gab_open_view *seen)
{
  double given, u[3];
  const double drho = state_of(model, at, link, seen, u, &given);
  const double out = drho + drawn_share(model, at, link) * (given - drho);
  return seen->ghost +
         (gab_lbm_equilibrium(model, link->q, out, u) - gab_lbm_equilibrium(model, link->q, drho, u));
}

/* Populations of a ghost cell that the mean flow carries out, dg/dt + U dg/dn = 0: side_state_impl.h. */
const gab_side_descriptor gab_side_convective = GAB_SIDE_DESCRIPTOR(
    name = "convective",
    doc = "Vortices leave with a given mean velocity; pressure relaxes to the given one.",
    keys = convective_keys, key_count = sizeof convective_keys / sizeof *convective_keys,
    read = read_convective, relaxation = 1, keeps_state = true, arrival = GAB_ARRIVAL_COMPUTED,
    has_velocity = false, reads_next_density = false, refuses_porous = true, precedence = 3,
    amplifies_waves = true, reynolds_along = 25, arrives = convective_arrives);

/* ------------------------------------------------------------------------------------------ user-defined */

static double own_arrives(const gab_lbm_model *model, const gab_level_model *at, const gab_open_link *link,
                          const gab_open_view *seen)
{
  const gab_side *side = gab_lbm_condition(&model->options, link->conditions[link->side / 2]);
  gab_boundary_link asked = {.lattice = model->lattice,
                             .q = link->q,
                             .side = link->side,
                             .level = at->level,
                             .omega = at->rates.even,
                             .sent = seen->sent,
                             .next = seen->next,
                             .spread = seen->spread,
                             .numbers = side->numbers};
  asked.density = 1 + moments_of(model, at, seen, asked.velocity);
  return side->own->arrives(&asked);
}

static gab_status read_own(const gab_config *config, const char *path, int dimension, const gab_units *units,
                           gab_side *side)
{
  char key[GAB_CONFIG_PATH_CAPACITY];
  (void)dimension;
  side->own = gab_boundary_by_name(gab_config_string(config, gab_config_path(key, "%s.type", path)));
  return side->own->read ? side->own->read(config, path, units, side->numbers) : GAB_OK;
}

/* A user-defined side: its stability is unknown. */
const gab_side_descriptor gab_side_own = GAB_SIDE_DESCRIPTOR(
    name = NULL, doc = NULL, keys = NULL, key_count = 0, read = read_own, relaxation = 0, keeps_state = false,
    arrival = GAB_ARRIVAL_COMPUTED, has_velocity = false, reads_next_density = false, refuses_porous = false,
    precedence = 5, amplifies_waves = false, reynolds_along = 0, arrives = own_arrives);
