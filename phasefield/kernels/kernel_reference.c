/* SPDX-License-Identifier: Apache-2.0 */
/* The readable kernel: any number of phases and components, a cell at a time, every flux computed from both
 * of its cells. The equations are those of Choudhury & Nestler 2012 and Hötzer et al. 2015; see doc/phase-field.md, "The model".
 */
#include "phasefield/phasefield_impl.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

typedef const double *cell_pointer; /* of component 0 of a cell */

static cell_pointer cell_of(const gab_field *field, int32_t x, int32_t y, int32_t z)
{
  return (const double *)field->data + gab_field_index(&field->map, x, y, z, 0);
}

/* ------------------------------------------------------------------------------------------ phi */

/* phi of a cell and of its neighbours along the axes. */
typedef struct phi_stencil {
  const gab_field_map *map;
  cell_pointer cell;
  double at[GAB_MOST_PHASES], low[3][GAB_MOST_PHASES], high[3][GAB_MOST_PHASES];
} phi_stencil;

static void read_stencil(const gab_phasefield_model *model, const gab_field *field, cell_pointer cell,
                         phi_stencil *s)
{
  s->map = &field->map;
  s->cell = cell;
  for (int a = 0; a < model->phases; a++) {
    cell_pointer here = cell + a * field->map.component_stride;
    s->at[a] = here[0];
    for (int k = 0; k < model->dimension; k++) {
      s->low[k][a] = here[-field->map.stride[k]];
      s->high[k][a] = here[field->map.stride[k]];
    }
  }
}

/* Phases in the cell or across one of its faces. */
static unsigned active_phases(const gab_phasefield_model *model, const phi_stencil *s)
{
  unsigned active = 0;
  for (int a = 0; a < model->phases; a++) {
    bool there = s->at[a] > 0;
    for (int k = 0; k < model->dimension; k++) there = there || s->low[k][a] > 0 || s->high[k][a] > 0;
    active |= (unsigned)there << a;
  }
  return active;
}

/* da/d(grad phi_a) across a face, = -2 sum_b gamma_ab phi_b q_ab with phi_b the mean of both cells; q_ab of
 * mean and difference is (left_a right_b - left_b right_a) / dx. */
static double gradient_flux(const gab_phasefield_model *model, int a, const double *left, const double *right)
{
  double flux = 0;
  for (int b = 0; b < model->phases; b++) {
    if (b == a) continue;
    double q = left[a] * right[b] - left[b] * right[a];
    flux -= model->options.gamma[a][b] * (left[b] + right[b]) * q;
  }
  return flux / model->dx;
}

/* div da/d(grad phi_a) - da/dphi_a */
static double gradient_term(const gab_phasefield_model *model, int a, const phi_stencil *s)
{
  double divergence = 0, local = 0;
  for (int k = 0; k < model->dimension; k++)
    divergence += gradient_flux(model, a, s->at, s->high[k]) - gradient_flux(model, a, s->low[k], s->at);
  for (int b = 0; b < model->phases; b++) {
    double square = 0, product = 0; /* |grad phi_b|^2, grad phi_a . grad phi_b, times (2 dx)^2 */
    for (int k = 0; k < model->dimension; k++) {
      double slope_a = s->high[k][a] - s->low[k][a], slope_b = s->high[k][b] - s->low[k][b];
      square += slope_b * slope_b;
      product += slope_a * slope_b;
    }
    if (b != a) local += model->options.gamma[a][b] * (s->at[a] * square - s->at[b] * product);
  }
  return divergence / model->dx - 0.5 * local / (model->dx * model->dx);
}

/* The same for anisotropic pairs: q has all of its components on a face, and is not p / 2 any more. */
static double anisotropic_flux(const gab_phasefield_model *model, int a, const phi_stencil *s, int axis,
                               int side)
{
  cell_pointer left = s->cell + (side - 1) * s->map->stride[axis], right = left + s->map->stride[axis];
  double flux = 0;
  for (int b = 0; b < model->phases; b++) {
    if (b == a) continue;
    const ptrdiff_t at = b * s->map->component_stride;
    double q[3], factor[3];
    gab_phasefield_face_q(model, s->map, left, axis, a, b, q);
    (void)gab_phasefield_anisotropy(model->dimension, model->options.anisotropy[a][b], q, factor);
    flux -= model->options.gamma[a][b] * (left[at] + right[at]) * q[axis] * factor[axis];
  }
  return flux / model->dx;
}

/* q_ab in the cell, times 2 dx. */
static void cell_q(const gab_phasefield_model *model, const phi_stencil *s, int a, int b, double q[3])
{
  for (int k = 0; k < model->dimension; k++)
    q[k] = s->at[a] * (s->high[k][b] - s->low[k][b]) - s->at[b] * (s->high[k][a] - s->low[k][a]);
}

static double anisotropic_gradient_term(const gab_phasefield_model *model, int a, const phi_stencil *s)
{
  double divergence = 0, local = 0;
  for (int k = 0; k < model->dimension; k++)
    divergence += anisotropic_flux(model, a, s, k, 1) - anisotropic_flux(model, a, s, k, 0);
  for (int b = 0; b < model->phases; b++) {
    if (b == a) continue;
    double q[3], factor[3], product = 0;
    cell_q(model, s, a, b, q);
    (void)gab_phasefield_anisotropy(model->dimension, model->options.anisotropy[a][b], q, factor);
    for (int k = 0; k < model->dimension; k++) product += q[k] * factor[k] * (s->high[k][b] - s->low[k][b]);
    local += model->options.gamma[a][b] * product;
  }
  return divergence / model->dx - 0.5 * local / (model->dx * model->dx);
}

/* dw/dphi_a */
static double potential_term(const gab_phasefield_model *model, int a, const double *phi)
{
  const bool obstacle = model->options.potential == GAB_POTENTIAL_OBSTACLE;
  double pairs = 0, triples = 0;
  for (int b = 0; b < model->phases; b++) {
    if (b == a) continue;
    pairs += model->options.gamma[a][b] * (obstacle ? phi[b] : phi[b] * phi[b]);
    for (int c = b + 1; c < model->phases; c++) triples += model->gamma3[a][b][c] * phi[b] * phi[c];
  }
  return (obstacle ? 16 / (pi * pi) : 18 * phi[a]) * pairs + triples;
}

/* sum_b psi_b dh_b/dphi_a */
static void driving_terms(const gab_phasefield_model *model, const double *phi, const double *psi,
                          double *terms)
{
  const int n = model->phases;
  if (model->options.interpolation == GAB_INTERPOLATION_MOELANS) {
    double h[GAB_MOST_PHASES], squares = 0, mean = 0;
    gab_phasefield_interpolate(model, phi, h);
    for (int a = 0; a < n; a++) {
      squares += phi[a] * phi[a];
      mean += h[a] * psi[a];
    }
    for (int a = 0; a < n; a++) terms[a] = 2 * phi[a] * (psi[a] - mean) / squares;
    return;
  }
  for (int a = 0; a < n; a++) {
    terms[a] = 6 * phi[a] * (1 - phi[a]) * psi[a];
    for (int b = 0; b < n; b++)
      for (int c = b + 1; c < n; c++)
        if (b != a && c != a) terms[a] += 2 * phi[b] * phi[c] * (psi[a] + psi[b] + psi[c]);
  }
}

static double pair_tau(const gab_phasefield_model *model, const phi_stencil *s, int a, int b)
{
  const double tau = model->options.tau[a][b], delta = model->options.kinetic_anisotropy[a][b];
  if (delta == 0) return tau;
  double q[3];
  cell_q(model, s, a, b, q);
  return tau * gab_phasefield_anisotropy(model->dimension, delta, q, NULL);
}

/* The mean of tau over the pairs of phases, weighted by phi_a phi_b, or, in a cell of a single phase, by the
 * phases around it. */
static double mean_tau(const gab_phasefield_model *model, const phi_stencil *s)
{
  double weights = 0, sum = 0, around[GAB_MOST_PHASES];
  const double *phi = s->at;
  for (int round = 0; round < 2 && !(weights > 0); round++) {
    for (int a = 0; a < model->phases; a++)
      for (int b = a + 1; b < model->phases; b++) {
        weights += phi[a] * phi[b];
        sum += pair_tau(model, s, a, b) * phi[a] * phi[b];
      }
    for (int a = 0; a < model->phases; a++) {
      around[a] = 0; /* the same for mirrored and turned neighbours: the cell itself comes last */
      for (int k = 0; k < model->dimension; k++) around[a] += s->low[k][a] + s->high[k][a];
      around[a] += s->at[a];
    }
    phi = around;
  }
  return sum / weights;
}

static void grand_potentials(const gab_phasefield_model *model, const gab_phasefield_slice *slice,
                             const double *mu, double *psi)
{
  for (int a = 0; a < model->phases; a++) {
    psi[a] = slice->base[a];
    for (int i = 0; i < model->independents; i++) {
      double row = 0;
      for (int j = 0; j < model->independents; j++)
        row += model->options.thermo.susceptibility[a][i][j] * mu[j];
      psi[a] -= mu[i] * (slice->offset[a][i] + 0.5 * row);
    }
  }
}

static void phi_cell(const gab_phasefield_model *model, const gab_phasefield_slice *slice,
                     const phi_stencil *s, const double *mu, double *phi)
{
  const unsigned active = active_phases(model, s);
  for (int a = 0; a < model->phases; a++) phi[a] = s->at[a];
  if ((active & (active - 1)) == 0) return; /* one phase */
  double psi[GAB_MOST_PHASES], driving[GAB_MOST_PHASES];
  grand_potentials(model, slice, mu, psi);
  driving_terms(model, s->at, psi, driving);
  const double epsilon = model->options.epsilon, rate = model->options.dt / (mean_tau(model, s) * epsilon);
  for (int a = 0; a < model->phases; a++)
    if (active >> a & 1) {
      const double gradient =
          model->anisotropic ? anisotropic_gradient_term(model, a, s) : gradient_term(model, a, s);
      phi[a] += rate * (epsilon * gradient - potential_term(model, a, s->at) / epsilon - driving[a]);
    }
  gab_phasefield_project(model->phases, active, phi);
}

static gab_status phi_sweep(const gab_phasefield_model *model, const gab_phasefield_job *job)
{
  const gab_phasefield_block *block = job->block;
  const gab_field *phi = block->phi, *mu = block->mu;
  for (int64_t z = job->box.lo[2]; z < job->box.hi[2]; z++)
    for (int64_t y = job->box.lo[1]; y < job->box.hi[1]; y++) {
      const int64_t row = block->first[model->axis] + (model->axis == 2 ? z : y);
      const gab_phasefield_slice slice = gab_phasefield_slice_at(model, row, model->step);
      for (int64_t x = job->box.lo[0]; x < job->box.hi[0]; x++) {
        phi_stencil s;
        double potentials[GAB_MOST_INDEPENDENTS], made[GAB_MOST_PHASES];
        read_stencil(model, phi, cell_of(phi, (int32_t)x, (int32_t)y, (int32_t)z), &s);
        for (int i = 0; i < model->independents; i++)
          potentials[i] = gab_field_get(mu, (int32_t)x, (int32_t)y, (int32_t)z, i);
        phi_cell(model, &slice, &s, potentials, made);
        for (int a = 0; a < model->phases; a++)
          gab_field_set(block->phi_new, (int32_t)x, (int32_t)y, (int32_t)z, a, made[a]);
      }
    }
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------------ mu */

/* The face between a cell and the next one along an axis. */
typedef struct face {
  int axis;
  cell_pointer phi[2], phi_new[2], mu[2];
  double offset[GAB_MOST_PHASES][GAB_MOST_INDEPENDENTS]; /* c at mu = 0 and the temperature of the face */
} face;

static double face_mean(const cell_pointer pair[2], ptrdiff_t component)
{
  return 0.5 * (pair[0][component] + pair[1][component]);
}

/* grad phi_a on a face: across it from its two cells, along it from the mean of the central differences. */
static void face_gradient(const gab_phasefield_model *model, const gab_field_map *map, const face *f, int a,
                          double gradient[3])
{
  for (int k = 0; k < model->dimension; k++) {
    cell_pointer left = f->phi[0] + a * map->component_stride, right = f->phi[1] + a * map->component_stride;
    const ptrdiff_t next = map->stride[k];
    if (k == f->axis) gradient[k] = (right[0] - left[0]) / model->dx;
    else gradient[k] = 0.25 * ((left[next] - left[-next]) + (right[next] - right[-next])) / model->dx;
  }
}

static double dot(const double *u, const double *v, int n)
{
  double sum = 0;
  for (int k = 0; k < n; k++) sum += u[k] * v[k];
  return sum;
}

/* J_at across the face without the factor (c_melt - c_a), for a phase that grows from the melt:
 * (pi epsilon / 4) g_a h_melt / sqrt(phi_a phi_melt) dphi_a/dt (n_a . n_melt) n_a; the well has another
 * profile and so another factor. */
static double trapping_rate(const gab_phasefield_model *model, const gab_field_map *map, const face *f, int a,
                            double phi_a, double phi_melt, double h_melt, const double *grad_melt)
{
  const ptrdiff_t at = a * map->component_stride;
  const double rate = 0.5 * ((f->phi_new[0][at] - f->phi[0][at]) + (f->phi_new[1][at] - f->phi[1][at]));
  double grad[3];
  face_gradient(model, map, f, a, grad);
  const double square = dot(grad, grad, model->dimension);
  const double square_melt = dot(grad_melt, grad_melt, model->dimension);
  if (rate == 0 || !(square > 0) || !(square_melt > 0)) return 0;
  const double direction = dot(grad, grad_melt, model->dimension) * grad[f->axis] / square;
  double scale = model->options.epsilon * h_melt * rate / model->options.dt;
  if (model->anisotropic) /* the interface is wider by that */
    scale *=
        gab_phasefield_anisotropy(model->dimension, model->options.anisotropy[a][model->melt], grad, NULL);
  if (model->options.potential == GAB_POTENTIAL_OBSTACLE)
    return 0.25 * pi * scale * phi_a * direction / sqrt(phi_a * phi_melt * square_melt);
  return scale * direction / (3 * phi_melt * sqrt(square_melt));
}

/* M grad mu - J_at across a face, towards higher coordinates: minus the flux of the components. */
static void face_flux(const gab_phasefield_model *model, const gab_phasefield_block *block, const face *f,
                      double *flux)
{
  const int n = model->independents, melt = model->melt;
  const gab_field_map *phi_map = &block->phi->map, *mu_map = &block->mu->map;
  double phi[GAB_MOST_PHASES], mu[GAB_MOST_INDEPENDENTS], slope[GAB_MOST_INDEPENDENTS];
  for (int a = 0; a < model->phases; a++) phi[a] = face_mean(f->phi, a * phi_map->component_stride);
  for (int i = 0; i < n; i++) {
    const ptrdiff_t at = i * mu_map->component_stride;
    mu[i] = face_mean(f->mu, at);
    slope[i] = (f->mu[1][at] - f->mu[0][at]) / model->dx;
  }
  for (int i = 0; i < n; i++) {
    flux[i] = 0;
    for (int a = 0; a < model->phases; a++)
      flux[i] += phi[a] * model->options.thermo.phase[a].diffusivity *
                 dot(model->options.thermo.susceptibility[a][i], slope, n);
  }
  if (model->options.no_antitrapping || !(phi[melt] > 0)) return;
  double h[GAB_MOST_PHASES], grad_melt[3];
  gab_phasefield_interpolate(model, phi, h);
  face_gradient(model, phi_map, f, melt, grad_melt);
  for (int a = 0; a < melt; a++) {
    if (!(phi[a] > 0)) continue;
    const double rate = trapping_rate(model, phi_map, f, a, phi[a], phi[melt], h[melt], grad_melt);
    for (int i = 0; i < n; i++) {
      double gap = f->offset[melt][i] - f->offset[a][i];
      for (int j = 0; j < n; j++)
        gap += (model->options.thermo.susceptibility[melt][i][j] -
                model->options.thermo.susceptibility[a][i][j]) *
               mu[j];
      flux[i] -= rate * gap;
    }
  }
}

static void set_face(const gab_phasefield_model *model, const gab_phasefield_block *block,
                     const int32_t at[3], int axis, int side, const gab_phasefield_slice *slice, face *f)
{
  f->axis = axis;
  for (int end = 0; end < 2; end++) {
    int32_t cell[3] = {at[0], at[1], at[2]};
    cell[axis] += side - 1 + end;
    f->phi[end] = cell_of(block->phi, cell[0], cell[1], cell[2]);
    f->phi_new[end] = cell_of(block->phi_new, cell[0], cell[1], cell[2]);
    f->mu[end] = cell_of(block->mu, cell[0], cell[1], cell[2]);
  }
  const bool along = axis == model->axis; /* slice[0 ... 2]: the row below, this one, the one above */
  const gab_phasefield_slice *low = slice + (along ? side : 1), *high = slice + (along ? side + 1 : 1);
  for (int a = 0; a < model->phases; a++)
    for (int i = 0; i < model->independents; i++)
      f->offset[a][i] = 0.5 * (low->offset[a][i] + high->offset[a][i]);
}

static void mu_cell(const gab_phasefield_model *model, const gab_phasefield_block *block, const int32_t at[3],
                    const gab_phasefield_slice *slice, const gab_phasefield_slice *later)
{
  const int n = model->independents;
  double c[GAB_MOST_INDEPENDENTS], mu[GAB_MOST_INDEPENDENTS], phi[GAB_MOST_PHASES];
  double change[GAB_MOST_INDEPENDENTS] = {0};
  for (int axis = 0; axis < model->dimension; axis++) {
    double flux[2][GAB_MOST_INDEPENDENTS];
    face f;
    for (int side = 0; side < 2; side++) {
      set_face(model, block, at, axis, side, slice, &f);
      face_flux(model, block, &f, flux[side]);
    }
    for (int i = 0; i < n; i++) change[i] += flux[1][i] - flux[0][i];
  }
  for (int i = 0; i < n; i++) {
    c[i] = gab_field_get(block->c, at[0], at[1], at[2], i) + model->options.dt / model->dx * change[i];
    gab_field_set(block->c, at[0], at[1], at[2], i, c[i]);
  }
  for (int a = 0; a < model->phases; a++) phi[a] = gab_field_get(block->phi_new, at[0], at[1], at[2], a);
  gab_phasefield_mu_of_c(model, later, phi, c, mu);
  for (int i = 0; i < n; i++) gab_field_set(block->mu_new, at[0], at[1], at[2], i, mu[i]);
}

static gab_status mu_sweep(const gab_phasefield_model *model, const gab_phasefield_job *job)
{
  const gab_phasefield_block *block = job->block;
  for (int64_t z = job->box.lo[2]; z < job->box.hi[2]; z++)
    for (int64_t y = job->box.lo[1]; y < job->box.hi[1]; y++) {
      const int64_t row = block->first[model->axis] + (model->axis == 2 ? z : y);
      gab_phasefield_slice slice[3];
      for (int k = 0; k < 3; k++) slice[k] = gab_phasefield_slice_at(model, row + k - 1, model->step);
      const gab_phasefield_slice later = gab_phasefield_slice_at(model, row, model->step + 1);
      for (int64_t x = job->box.lo[0]; x < job->box.hi[0]; x++)
        mu_cell(model, block, (const int32_t[3]){(int32_t)x, (int32_t)y, (int32_t)z}, slice, &later);
    }
  return GAB_OK;
}

const gab_phasefield_kernel gab_phasefield_kernel_reference = {
    .name = "reference", .phi = phi_sweep, .mu = mu_sweep};
