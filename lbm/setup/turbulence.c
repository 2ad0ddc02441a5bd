/* SPDX-License-Identifier: Apache-2.0 */
#include "lbm/setup/turbulence.h"

#include "core/base/hash.h"
#include "core/memory/memory.h"

#include <math.h>
#include <string.h>

#define PI 3.14159265358979323846

/* Modes with n_x >= 0, half of all, since the velocity is real; both halves where n_x = 0 are cut in the middle, too. */
struct gab_turbulence {
  gab_turbulence_options options;
  int most[3];           /* largest wave number along each axis, in units of 2 pi / length */
  double complex *modes; /* [z][y][x][component] */
  double complex *plane; /* sum over z: [y][x][component] */
  double complex *row;   /* sum over y: [x][component] */
  double at[2];          /* y, z of these sums; NaN: none */
  double inverse_length; /* sum of E / k over that of E */
  int64_t count;
};

static size_t count_along(const gab_turbulence *it, int axis)
{
  return axis == 0 ? (size_t)it->most[0] + 1 : 2 * (size_t)it->most[axis] + 1;
}

static double complex *mode_of(const gab_turbulence *it, const int n[3])
{
  const size_t y = (size_t)(n[1] + it->most[1]), z = (size_t)(n[2] + it->most[2]);
  return it->modes + 3 * ((z * count_along(it, 1) + y) * count_along(it, 0) + (size_t)n[0]);
}

static bool is_in_half(const int n[3])
{
  if (n[0] != 0) return n[0] > 0;
  return n[1] != 0 ? n[1] > 0 : n[2] > 0;
}

/* ------------------------------------------------------------------------------------------ spectrum */

static double spectrum_at(const gab_turbulence_options *given, double k)
{
  const double peak = 2 * PI / given->peak, share = k / peak;
  if (given->spectrum == GAB_SPECTRUM_PASSOT_POUQUET) return pow(share, 4) * exp(-2 * share * share);
  const double to_e = share * sqrt(12. / 5);
  return pow(to_e, 4) / pow(1 + to_e * to_e, 17. / 6);
}

static double unit_of(const gab_turbulence_options *given)
{
  double longest = 0;
  for (int axis = 0; axis < given->dimension; axis++) longest = fmax(longest, given->length[axis]);
  return 2 * PI / longest;
}

/* The spectrum over a shell, by the midpoint rule. */
static double energy_of_shell(const gab_turbulence_options *given, int shell)
{
  enum { POINTS = 64 };
  const double unit = unit_of(given);
  double sum = 0;
  for (int i = 0; i < POINTS; i++) {
    const double k = (shell - 0.5 + (i + 0.5) / POINTS) * unit;
    sum += k > 0 ? spectrum_at(given, k) * unit / POINTS : 0;
  }
  return sum;
}

/* ------------------------------------------------------------------------------------------ modes */

typedef void visit_fn(gab_turbulence *it, const int n[3], double k, int shell, void *user);

static void visit_modes(gab_turbulence *it, visit_fn *visit, void *user)
{
  const gab_turbulence_options *given = &it->options;
  const double unit = unit_of(given), most = 2 * PI / given->shortest * (1 + 1e-12);
  int n[3];
  for (n[2] = -it->most[2]; n[2] <= it->most[2]; n[2]++)
    for (n[1] = -it->most[1]; n[1] <= it->most[1]; n[1]++)
      for (n[0] = 0; n[0] <= it->most[0]; n[0]++) {
        double square = 0;
        for (int axis = 0; axis < given->dimension; axis++)
          square += (n[axis] / given->length[axis]) * (n[axis] / given->length[axis]);
        const double k = 2 * PI * sqrt(square);
        if (is_in_half(n) && k <= most) visit(it, n, k, (int)lround(k / unit), user);
      }
}

typedef struct shells {
  int64_t *count;
  double *energy;
  double sum, inverse;
} shells;

static void count_mode(gab_turbulence *it, const int n[3], double k, int shell, void *user)
{
  shells *all = user;
  (void)n, (void)k;
  all->count[shell]++;
  it->count++;
}

/* In [0, 1), by the mode alone. */
static double random_of(const gab_turbulence *it, const int n[3], uint64_t stream)
{
  const uint64_t place = (((uint64_t)(n[2] + 1024) << 11 | (uint64_t)(n[1] + 1024)) << 11) | (uint64_t)n[0];
  return gab_hash_uniform(it->options.seed, stream, place);
}

static void cross(const double a[3], const double b[3], double c[3])
{
  for (int i = 0; i < 3; i++) c[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
  const double length = sqrt(c[0] * c[0] + c[1] * c[1] + c[2] * c[2]);
  for (int i = 0; i < 3; i++) c[i] /= length;
}

static void make_mode(gab_turbulence *it, const int n[3], double k, int shell, void *user)
{
  const gab_turbulence_options *given = &it->options;
  shells *all = user;
  const double energy = all->energy[shell] / (double)all->count[shell];
  double across[3] = {0, 0, 0}, first[3], second[3] = {0, 0, 0}, normal[3] = {0, 0, 1};
  for (int axis = 0; axis < given->dimension; axis++)
    across[axis] = sin(2 * PI * n[axis] * given->dx / given->length[axis]);
  if (given->dimension == 3) { /* the axis that it is least along */
    int least = 0;
    for (int axis = 1; axis < 3; axis++)
      if (fabs(across[axis]) < fabs(across[least])) least = axis;
    for (int axis = 0; axis < 3; axis++) normal[axis] = axis == least;
  }
  cross(normal, across, first);
  if (given->dimension == 3) cross(across, first, second);
  const double angle = given->dimension == 3 ? 2 * PI * random_of(it, n, 0) : 0;
  const double phases[2] = {2 * PI * random_of(it, n, 1), 2 * PI * random_of(it, n, 2)};
  const double complex a = sqrt(energy) * cos(angle) * (cos(phases[0]) + I * sin(phases[0]));
  const double complex b = sqrt(energy) * sin(angle) * (cos(phases[1]) + I * sin(phases[1]));
  double complex *mode = mode_of(it, n);
  for (int i = 0; i < 3; i++) mode[i] = a * first[i] + b * second[i];
  all->inverse += energy / k;
}

static gab_status make_modes(gab_turbulence *it)
{
  const int most = (int)(2 * PI / it->options.shortest / unit_of(&it->options)) + 2;
  shells all = {.sum = 0};
  gab_status status = GAB_NEW_ARRAY(&all.count, (size_t)most + 1, GAB_MEMORY_OTHER);
  if (status == GAB_OK) status = GAB_NEW_ARRAY(&all.energy, (size_t)most + 1, GAB_MEMORY_OTHER);
  if (status == GAB_OK) {
    visit_modes(it, count_mode, &all);
    for (int shell = 0; shell <= most; shell++)
      if (all.count[shell] > 0) all.sum += all.energy[shell] = energy_of_shell(&it->options, shell);
    /* The energy of a mode is the mean of u^2 / 2 of its real part, doubled for the other half. */
    const double energy = 0.5 * it->options.dimension * it->options.rms * it->options.rms;
    for (int shell = 0; shell <= most; shell++) all.energy[shell] *= energy / all.sum;
    visit_modes(it, make_mode, &all);
    it->inverse_length = all.inverse / energy;
  }
  gab_free(&all.count);
  gab_free(&all.energy);
  return status;
}

gab_status gab_turbulence_create(const gab_turbulence_options *options, gab_turbulence **turbulence)
{
  gab_turbulence *made;
  *turbulence = NULL;
  GAB_TRY(GAB_NEW(&made, GAB_MEMORY_OTHER));
  *made = (gab_turbulence){.options = *options, .at = {NAN, NAN}};
  gab_status status = GAB_OK;
  int most = 0;
  for (int axis = 0; axis < options->dimension; axis++) {
    made->most[axis] = (int)(options->length[axis] / options->shortest * (1 + 1e-12));
    if (made->most[axis] > most) most = made->most[axis];
  }
  if (most < 1 || most > GAB_TURBULENCE_MOST_WAVES)
    status = gab_error_set(GAB_ERR_ARGUMENT, __FILE__, __LINE__,
                           "%d waves of the shortest length along a side of the box: 1 to %d are possible",
                           most, (int)GAB_TURBULENCE_MOST_WAVES);
  const size_t x = count_along(made, 0), y = count_along(made, 1), z = count_along(made, 2);
  if (status == GAB_OK) status = GAB_NEW_ARRAY(&made->modes, 3 * x * y * z, GAB_MEMORY_OTHER);
  if (status == GAB_OK) status = GAB_NEW_ARRAY(&made->plane, 3 * x * y, GAB_MEMORY_OTHER);
  if (status == GAB_OK) status = GAB_NEW_ARRAY(&made->row, 3 * x, GAB_MEMORY_OTHER);
  if (status == GAB_OK) status = make_modes(made);
  *turbulence = made;
  if (status != GAB_OK) gab_turbulence_destroy(turbulence);
  return status;
}

void gab_turbulence_destroy(gab_turbulence **turbulence)
{
  if (!*turbulence) return;
  gab_free(&(*turbulence)->modes);
  gab_free(&(*turbulence)->plane);
  gab_free(&(*turbulence)->row);
  gab_free(turbulence);
}

/* ------------------------------------------------------------------------------------------ velocity */

static double complex wave(const gab_turbulence *it, int axis, int n, double at)
{
  const double angle = 2 * PI * n * ((at - it->options.origin[axis]) / it->options.length[axis]);
  return cos(angle) + I * sin(angle);
}

/* Adds `from`, which holds `count` values, times a factor. By parts: the product of complex numbers checks for infinities. */
static void add(double complex *to, const double complex *from, size_t count, double complex factor)
{
  const double re = creal(factor), im = cimag(factor);
  double *sums = (double *)to;
  const double *values = (const double *)from;
  for (size_t i = 0; i < count; i++) {
    sums[2 * i] += values[2 * i] * re - values[2 * i + 1] * im;
    sums[2 * i + 1] += values[2 * i] * im + values[2 * i + 1] * re;
  }
}

static void sum_along_z(gab_turbulence *it, double z)
{
  const size_t count = 3 * count_along(it, 0) * count_along(it, 1);
  memset(it->plane, 0, count * sizeof *it->plane);
  for (int n = -it->most[2]; n <= it->most[2]; n++)
    add(it->plane, it->modes + (size_t)(n + it->most[2]) * count, count,
        it->options.dimension == 3 ? wave(it, 2, n, z) : 1);
}

static void sum_along_y(gab_turbulence *it, double y)
{
  const size_t count = 3 * count_along(it, 0);
  memset(it->row, 0, count * sizeof *it->row);
  for (int n = -it->most[1]; n <= it->most[1]; n++)
    add(it->row, it->plane + (size_t)(n + it->most[1]) * count, count, wave(it, 1, n, y));
}

void gab_turbulence_velocity(void *user, const double centre[3], double velocity[3])
{
  gab_turbulence *it = user;
  const bool is_flat = it->options.dimension == 2;
  double complex sum[3] = {0, 0, 0};
  const bool same_plane = is_flat ? !isnan(it->at[1]) : it->at[1] == centre[2];
  if (!same_plane) sum_along_z(it, centre[2]);
  if (!same_plane || it->at[0] != centre[1]) sum_along_y(it, centre[1]);
  it->at[0] = centre[1];
  it->at[1] = centre[2];
  for (int n = 0; n <= it->most[0]; n++) add(sum, it->row + 3 * n, 3, wave(it, 0, n, centre[0]));
  for (int i = 0; i < it->options.dimension; i++) velocity[i] = it->options.mean[i] + 2 * creal(sum[i]);
}

double gab_turbulence_integral_length(const gab_turbulence *it)
{
  /* In 3D pi / (2 u'^2) times the integral of E / k, where that of E is 3/2 u'^2; in 2D 2 / u'^2 times it, where that is u'^2. */
  return it->inverse_length * (it->options.dimension == 3 ? 0.75 * PI : 2);
}

int64_t gab_turbulence_modes(const gab_turbulence *it) { return it->count; }
