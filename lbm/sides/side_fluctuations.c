/* SPDX-License-Identifier: Apache-2.0 */
/* Synthetic turbulence at sides of given velocity: side_turbulence_impl.h. */
#include "core/base/hash.h"
#include "lbm/lbm_impl.h"
#include "lbm/sides/side_plane_impl.h"
#include "lbm/setup/units.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

/* ------------------------------------------------------------------------------------------ keys */

/* The lower Cholesky factor of a symmetric matrix. @return false if the matrix is not positive definite */
static bool factor_of(int dimension, double matrix[3][3], double lower[3][3])
{
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) lower[i][j] = i == j ? 1 : 0;
  for (int i = 0; i < dimension; i++)
    for (int j = 0; j <= i; j++) {
      double rest = matrix[i][j];
      for (int k = 0; k < j; k++) rest -= lower[i][k] * lower[j][k];
      if (i == j && !(rest > 1e-12 * matrix[i][i])) return false;
      lower[i][j] = i == j ? sqrt(rest) : rest / lower[j][j];
    }
  return true;
}

/* In the order of those of output.means. */
static gab_status read_stresses(const gab_config *config, const char *key, int dimension, double unit,
                                gab_side_turbulence *it)
{
  const int count = dimension * (dimension + 1) / 2;
  double lower[3][3];
  size_t length;
  const double *given = gab_config_reals(config, key, &length);
  if (length != (size_t)count)
    return gab_config_fail(config, key, "has %zu numbers; in %dD it needs %s", length, dimension,
                           dimension == 2 ? "xx, yy, xy" : "xx, yy, zz, xy, xz, yz");
  for (int i = 0, next = dimension; i < dimension; i++) {
    it->stress[i][i] = given[i] * unit;
    for (int j = i + 1; j < dimension; j++) it->stress[i][j] = it->stress[j][i] = given[next++] * unit;
  }
  it->has_stresses = true;
  if (!factor_of(dimension, it->stress, lower))
    return gab_config_fail(
        config, key,
        "are not positive definite: no velocities have them; an off-diagonal one must be smaller than the "
        "root of the product of its two diagonal ones, and in 3D their determinant positive");
  /* No direction has more than the largest sum of a row (Gershgorin). */
  for (int i = 0; i < dimension; i++) {
    double sum = 0;
    for (int j = 0; j < dimension; j++) sum += fabs(it->stress[i][j]);
    it->rms = fmax(it->rms, sqrt(sum));
  }
  return GAB_OK;
}

gab_status gab_side_read_turbulence(const gab_config *config, const char *path, int dimension,
                                    const gab_units *units, gab_side *side)
{
  char intensity[GAB_CONFIG_PATH_CAPACITY], length[GAB_CONFIG_PATH_CAPACITY], seed[GAB_CONFIG_PATH_CAPACITY],
      stresses[GAB_CONFIG_PATH_CAPACITY];
  gab_config_path(intensity, "%s.turbulence_intensity", path);
  gab_config_path(stresses, "%s.turbulence_stresses", path);
  const bool has_stresses = gab_config_is_set(config, stresses);
  const char *strength = has_stresses ? stresses : intensity;
  gab_config_path(length, "%s.turbulence_length", path);
  gab_config_path(seed, "%s.turbulence_seed", path);
  if (!gab_config_is_set(config, strength)) {
    if (gab_config_is_set(config, length) || gab_config_is_set(config, seed))
      return gab_config_fail(config, gab_config_is_set(config, length) ? length : seed,
                             "has no effect without turbulence_intensity or turbulence_stresses");
    return GAB_OK;
  }
  if (!gab_config_is_set(config, length)) return gab_config_fail(config, strength, "needs turbulence_length");
  if (side->sponge.thickness > 0)
    return gab_config_fail(config, strength,
                           "and a sponge exclude each other: it would take the fluctuations away");
  GAB_TRY(GAB_NEW(&side->turbulence, GAB_MEMORY_OTHER));
  const double unit = units->dt / units->dx;
  if (has_stresses) GAB_TRY(read_stresses(config, stresses, dimension, unit * unit, side->turbulence));
  else side->turbulence->rms = gab_config_real(config, intensity); /* over the mean velocity: see draw() */
  side->turbulence->length = gab_config_real(config, length) / units->dx;
  side->turbulence->seed = (uint64_t)gab_config_int(config, seed);
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------------ waves */

/* Shape of the energy spectrum of von Karman (Pope, Turbulent Flows, 6.246 f., without dissipation). @param[in] k  over k_e */
static double von_karman(double k) { return k * k * k * k / pow(1 + k * k, 17 / 6.0); }

/* A direction for wave n: points of a lattice on the sphere, or the circle, that is moved at random. */
static void direction(const gab_side_turbulence *it, int dimension, int n, double d[3])
{
  const double golden = 0.61803398874989485, plastic = 0.75487766624669276, other = 0.56984029099805327;
  double whole;
  const double first =
      modf(gab_hash_uniform(it->seed, 1, 0) + n * (dimension == 3 ? plastic : golden), &whole);
  const double turn =
      2 * pi * (dimension == 3 ? modf(gab_hash_uniform(it->seed, 1, 1) + n * other, &whole) : first);
  d[2] = dimension == 3 ? 2 * first - 1 : 0;
  const double across = sqrt(1 - d[2] * d[2]);
  d[0] = across * cos(turn);
  d[1] = across * sin(turn);
}

/* A unit vector perpendicular to k. In 3D waves n and n + 1 have the same angle but for a right one. */
static void polarisation(const gab_side_turbulence *it, int dimension, int n, const double k[3], double a[3])
{
  const double size = sqrt(k[0] * k[0] + k[1] * k[1] + k[2] * k[2]), flat = hypot(k[0], k[1]);
  const double e[3] = {flat > 0 ? -k[1] / flat : 1, flat > 0 ? k[0] / flat : 0, 0};
  const double f[3] = {(k[1] * e[2] - k[2] * e[1]) / size, (k[2] * e[0] - k[0] * e[2]) / size,
                       (k[0] * e[1] - k[1] * e[0]) / size};
  const double angle =
      dimension == 3 ? 2 * pi * gab_hash_uniform(it->seed, 2, (uint64_t)(n / 2)) + (n % 2) * pi / 2 : 0;
  for (int axis = 0; axis < 3; axis++) a[axis] = cos(angle) * e[axis] + sin(angle) * f[axis];
}

/* Whole periods over the part of a side that the condition covers. */
static double whole_periods(double k, double length)
{
  return 2 * pi * nearbyint(k * length / (2 * pi)) / length;
}

static double extent_of(const gab_side *side, const gab_domain *domain, int axis)
{
  const gab_side_part *part = &side->part;
  return (double)domain->cells[axis] * (part->has_frame ? part->hi[axis] - part->lo[axis] : 1);
}

/* The covariance of the waves, in the mean over space and time. Waves 2 n and 2 n + 1 are one in place and time but for their phases. */
static void covariance_of(const gab_side_turbulence *it, double made[3][3])
{
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      double sum = 0;
      for (int n = 0; n < GAB_SIDE_TURBULENCE_WAVES; n += 2) {
        const double *a = &it->a[i][n], *b = &it->a[j][n];
        sum += 0.5 * (a[0] * b[0] + a[1] * b[1] +
                      cos(it->phase[n] - it->phase[n + 1]) * (a[0] * b[1] + a[1] * b[0]));
      }
      made[i][j] = sum;
    }
}

/* L_R L_C^-1 times the amplitude of each wave. */
static void give_stresses(int dimension, gab_side_turbulence *it)
{
  double covariance[3][3], wanted[3][3], has[3][3];
  covariance_of(it, covariance);
  factor_of(dimension, it->stress, wanted);
  factor_of(dimension, covariance, has);
  for (int n = 0; n < GAB_SIDE_TURBULENCE_WAVES; n++) {
    double unit[3] = {0}, a[3] = {0};
    for (int i = 0; i < dimension; i++) {
      unit[i] = it->a[i][n];
      for (int j = 0; j < i; j++) unit[i] -= has[i][j] * unit[j];
      unit[i] /= has[i][i];
      for (int j = 0; j <= i; j++) a[i] += wanted[i][j] * unit[j];
    }
    for (int i = 0; i < dimension; i++) it->a[i][n] = a[i];
  }
}

gab_status gab_side_turbulence_draw(const gab_config *config, const char *path, int index,
                                    const gab_domain *domain, const double mean[3], gab_side *side)
{
  char key[GAB_CONFIG_PATH_CAPACITY];
  gab_side_turbulence *it = side->turbulence;
  const double speed = sqrt(mean[0] * mean[0] + mean[1] * mean[1] + mean[2] * mean[2]);
  /* Integral length 0.7468 / k_e; waves of four cells and more. */
  const double peak = 0.74683 / it->length, least = 0.1 * peak, most = 2 * pi / 4;
  const double ratio = pow(most / least, 1.0 / (GAB_SIDE_TURBULENCE_WAVES / 2));
  double energy[GAB_SIDE_TURBULENCE_WAVES], sum = 0;
  const double given = sqrt(side->velocity[0] * side->velocity[0] + side->velocity[1] * side->velocity[1] +
                            side->velocity[2] * side->velocity[2]);
  if (!(speed > 1e-6 * given))
    return gab_config_fail(
        config, gab_config_path(key, "%s.turbulence_%s", path, it->has_stresses ? "stresses" : "intensity"),
        it->has_stresses ? "need a mean velocity of the side, which carries them in: it is 0"
                         : "is a share of the mean velocity of the side, which is 0");
  gab_config_path(key, "%s.turbulence_length", path);
  if (it->length < 2)
    return gab_config_fail(config, key, "is %g cells, less than 2: the grid does not resolve it", it->length);
  for (int axis = 0; axis < domain->dimension; axis++)
    if (axis != index / 2 && extent_of(side, domain, axis) < 2 * it->length)
      return gab_config_fail(config, key, "is %g cells, more than half of the %g of the side along %c",
                             it->length, extent_of(side, domain, axis), (int)"xyz"[axis]);
  if (!it->has_stresses) it->rms *= speed;
  for (int n = 0; n < GAB_SIDE_TURBULENCE_WAVES; n++) {
    double d[3], k[3], a[3];
    /* Pairs share a wave vector. */
    const double size = least * pow(ratio, n / 2 + gab_hash_uniform(it->seed, 3, (uint64_t)(n / 2)));
    direction(it, domain->dimension, n / 2, d);
    for (int axis = 0; axis < 3; axis++) {
      k[axis] = size * d[axis];
      if (axis != index / 2 && axis < domain->dimension)
        k[axis] = whole_periods(k[axis], extent_of(side, domain, axis));
    }
    if (k[0] == 0 && k[1] == 0 && k[2] == 0) k[index / 2] = size;
    energy[n] = von_karman(size / peak) * size;
    sum += energy[n];
    polarisation(it, domain->dimension, n, k, a);
    it->phase[n] = 2 * pi * gab_hash_uniform(it->seed, 4, (uint64_t)n);
    it->rate[n] = 0;
    for (int axis = 0; axis < 3; axis++) {
      it->k[axis][n] = k[axis];
      it->a[axis][n] = a[axis];
      it->rate[n] += k[axis] * mean[axis];
    }
  }
  for (int n = 0; n < GAB_SIDE_TURBULENCE_WAVES; n++)
    for (int axis = 0; axis < 3; axis++)
      it->a[axis][n] *= it->rms * sqrt(2 * domain->dimension * energy[n] / sum);
  if (it->has_stresses) give_stresses(domain->dimension, it);
  return GAB_OK;
}

void gab_side_turbulence_at(const gab_side_turbulence *turbulence, const double place[3], double steps,
                            double u[3])
{
  u[0] = u[1] = u[2] = 0;
  for (int n = 0; n < GAB_SIDE_TURBULENCE_WAVES; n++) {
    double angle = turbulence->phase[n] - turbulence->rate[n] * steps;
    for (int axis = 0; axis < 3; axis++) angle += turbulence->k[axis][n] * place[axis];
    for (int axis = 0; axis < 3; axis++) u[axis] += turbulence->a[axis][n] * cos(angle);
  }
}

/* ------------------------------------------------------------------------------------------ net flux */

static void axes_of(int side, int axes[2])
{
  axes[0] = side / 2 == 0 ? 1 : 0;
  axes[1] = side / 2 == 2 ? 1 : 2;
}

/* The share of a wave that the links of a face let in: their middles lie at the face's centre, edges and corners. */
static double share_of_links(const gab_lbm_model *model, int side, const gab_side_turbulence *it, int n)
{
  const gab_lattice *lattice = model->lattice;
  double sum = 0;
  for (int q = 1; q < lattice->q; q++) {
    double angle = 0;
    if (lattice->c[q][side / 2] != (side % 2 ? -1 : 1)) continue;
    for (int axis = 0; axis < lattice->dimension; axis++)
      if (axis != side / 2) angle += it->k[axis][n] * lattice->c[q][axis] / 2;
    sum += 6 * lattice->weight[q] * cos(angle);
  }
  return sum;
}

void gab_side_turbulence_balance(const gab_lbm_model *model, int condition)
{
  const gab_domain *domain = gab_geometry_domain(model->geometry);
  gab_side_turbulence *it = gab_lbm_condition(&model->options, condition)->turbulence;
  const int side = gab_lbm_condition_side(&model->options, condition), normal = side / 2;
  int64_t at[3], last[3], faces = 0;
  for (int part = 0; part < 2; part++)
    for (int n = 0; n < GAB_SIDE_TURBULENCE_WAVES; n++) it->net[part][n] = 0;
  for (int axis = 0; axis < 3; axis++) last[axis] = domain->cells[axis];
  at[normal] = side % 2 ? last[normal] - 1 : 0;
  last[normal] = at[normal] + 1;
  for (at[2] = normal == 2 ? at[2] : 0; at[2] < last[2]; at[2]++)
    for (at[1] = normal == 1 ? at[1] : 0; at[1] < last[1]; at[1]++)
      for (at[0] = normal == 0 ? last[0] - 1 : 0; at[0] < last[0]; at[0]++) {
        if (gab_condition_at(model, 0, at, side) != condition) continue;
        if (gab_geometry_cell(model->geometry, 0, at) != GAB_CELL_FLUID) continue;
        faces++;
        for (int n = 0; n < GAB_SIDE_TURBULENCE_WAVES; n++) {
          double angle = 0;
          for (int axis = 0; axis < domain->dimension; axis++)
            if (axis != normal) angle += it->k[axis][n] * ((double)at[axis] + 0.5);
          it->net[0][n] += cos(angle);
          it->net[1][n] += sin(angle);
        }
      }
  for (int n = 0; n < GAB_SIDE_TURBULENCE_WAVES && faces > 0; n++)
    for (int part = 0; part < 2; part++)
      it->net[part][n] *= it->a[normal][n] * share_of_links(model, side, it, n) / (double)faces;
}

void gab_side_turbulence_set_scales(gab_lbm *lbm)
{
  for (int k = 0; k < gab_lbm_condition_count(&lbm->model.options); k++) {
    gab_side_turbulence *it = gab_lbm_condition(&lbm->model.options, k)->turbulence;
    if (it) it->scale = lbm->scale[k];
  }
}

/* ------------------------------------------------------------------------------------------ links */

/* Of a plane, places alone. */
static void add_plane(const gab_lbm_model *model, const gab_lbm_block *block, int condition,
                      const int axes[2], gab_side_turbulence_table *made)
{
  const gab_domain *domain = gab_geometry_domain(model->geometry);
  gab_side_plane *plane = gab_lbm_condition(&model->options, condition)->plane;
  made->plane = plane;
  plane->is_wanted = true;
  made->step = ldexp(domain->dx, -block->at->level - 1);
  for (int k = 0; k < 2; k++)
    made->start[k] = domain->origin[axes[k]] + (double)(2 * block->first[axes[k]] - 2) * made->step;
}

static gab_status add_table(const gab_lbm_model *model, gab_lbm_block *block, int side, int condition)
{
  const gab_side_turbulence *it = gab_lbm_condition(&model->options, condition)->turbulence;
  gab_links *links = &block->links;
  int axes[2];
  GAB_TRY(gab_list_reserve(&links->tables, links->table_count, sizeof *links->tables));
  gab_side_turbulence_table *made = &links->tables[links->table_count++];
  *made = (gab_side_turbulence_table){.condition = condition, .side = side};
  axes_of(side, axes);
  if (!it) {
    add_plane(model, block, condition, axes, made);
    return GAB_OK;
  }
  for (int k = 0; k < 2; k++) {
    made->rows[k] = 2 * model->cells[axes[k]] + 5;
    GAB_TRY(GAB_NEW_ARRAY(&made->values[k], 2 * (size_t)made->rows[k] * GAB_SIDE_TURBULENCE_WAVES,
                          GAB_MEMORY_OTHER));
    for (int32_t row = 0; row < made->rows[k]; row++) {
      double *to = made->values[k] + 2 * (size_t)row * GAB_SIDE_TURBULENCE_WAVES;
      const double place = axes[k] < model->lattice->dimension
                               ? ldexp((double)(2 * block->first[axes[k]] - 2 + row), -block->at->level - 1)
                               : 0;
      for (int n = 0; n < GAB_SIDE_TURBULENCE_WAVES; n++) {
        to[n] = cos(it->k[axes[k]][n] * place);
        to[n + GAB_SIDE_TURBULENCE_WAVES] = sin(it->k[axes[k]][n] * place);
      }
    }
  }
  return GAB_OK;
}

gab_status gab_side_turbulence_add_link(const gab_lbm_model *model, gab_lbm_block *block, int side,
                                        int condition, const int64_t at[3], gab_turbulent_link made)
{
  gab_links *links = &block->links;
  int axes[2];
  axes_of(side, axes);
  size_t t = 0;
  while (t < links->table_count && links->tables[t].condition != condition) t++;
  if (t == links->table_count) GAB_TRY(add_table(model, block, side, condition));
  made.table = (int8_t)t;
  for (int k = 0; k < 2; k++) {
    const int axis = axes[k], c = axis < model->lattice->dimension ? model->lattice->c[made.q][axis] : 0;
    made.row[k] = (int32_t)(2 * (at[axis] - block->first[axis]) + c + 3);
  }
  GAB_TRY(gab_list_reserve(&links->turbulents, links->turbulent_count, sizeof *links->turbulents));
  links->turbulents[links->turbulent_count++] = made;
  return GAB_OK;
}

void gab_side_turbulence_set_time(const gab_lbm_model *model, int condition, double steps,
                                  gab_side_turbulence_now *now)
{
  const gab_side_turbulence *turbulence = gab_lbm_condition(&model->options, condition)->turbulence;
  now->net = 0;
  if (!turbulence) return;
  const double share = turbulence->has_stresses && turbulence->scale > 0 ? 1 / turbulence->scale : 1;
  for (int n = 0; n < GAB_SIDE_TURBULENCE_WAVES; n++) {
    const double angle = turbulence->phase[n] - turbulence->rate[n] * steps;
    now->cosine[n] = cos(angle) * share;
    now->sine[n] = sin(angle) * share;
  }
  for (int n = 0; n < GAB_SIDE_TURBULENCE_WAVES; n++)
    now->net += turbulence->net[0][n] * now->cosine[n] - turbulence->net[1][n] * now->sine[n];
}

static double of_plane(const gab_lbm_model *model, const gab_side_turbulence_table *table,
                       const gab_turbulent_link *link)
{
  const int8_t *c = model->lattice->c[link->q];
  const double along[2] = {table->start[0] + link->row[0] * table->step,
                           table->start[1] + link->row[1] * table->step};
  double u[3], sum = 0;
  gab_side_plane_at(table->plane, along, u);
  for (int axis = 0; axis < 3; axis++)
    if (axis == table->side / 2 || !link->across_only) sum += c[axis] * u[axis];
  return 6 * model->lattice->weight[link->q] * sum;
}

double gab_side_turbulence_of_link(const gab_lbm_model *model, const gab_side_turbulence_table *table,
                                   const gab_side_turbulence_now *now, const gab_turbulent_link *link)
{
  enum { LANES = GAB_SIDE_TURBULENCE_LANES, WAVES = GAB_SIDE_TURBULENCE_WAVES };
  const gab_side_turbulence *it = gab_lbm_condition(&model->options, table->condition)->turbulence;
  if (!it) return of_plane(model, table, link);
  const double *first = table->values[0] + 2 * (size_t)link->row[0] * WAVES,
               *second = table->values[1] + 2 * (size_t)link->row[1] * WAVES;
  const int8_t *c = model->lattice->c[link->q];
  const int normal = table->side / 2;
  double along[3], lanes[LANES] = {0};
  for (int axis = 0; axis < 3; axis++) along[axis] = axis == normal || !link->across_only ? c[axis] : 0;
  for (int n = 0; n < WAVES; n += LANES)
    for (int lane = 0; lane < LANES; lane++) {
      const int i = n + lane;
      const double cosine = first[i] * second[i] - first[i + WAVES] * second[i + WAVES],
                   sine = first[i] * second[i + WAVES] + first[i + WAVES] * second[i];
      lanes[lane] += (cosine * now->cosine[i] - sine * now->sine[i]) *
                     (along[0] * it->a[0][i] + along[1] * it->a[1][i] + along[2] * it->a[2][i]);
    }
  double sum = 0;
  for (int lane = 0; lane < LANES; lane++) sum += lanes[lane];
  return 6 * model->lattice->weight[link->q] * (sum - along[normal] * now->net);
}
