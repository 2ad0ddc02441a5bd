/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: labels=quick timeout=30 */
/* Isotropic turbulence (lbm/setup/turbulence.h) on the cells of a cube: the kinetic energy to rounding, the energy of
 * each shell of the spectrum within 5 %, no divergence of central differences, the same bits for any order of the
 * cells, another field for another seed. */
#include "lbm/setup/turbulence.h"

#include <complex.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define PI 3.14159265358979323846

enum { N = 24 };

typedef struct cube {
  int dimension, depth;
  double u[N][N][N][3];
} cube;

static double place(int i) { return (i + 0.5) / N; }

static void fill(const gab_turbulence_options *given, cube *to)
{
  gab_turbulence *turbulence;
  assert_true(gab_turbulence_create(given, &turbulence) == GAB_OK);
  to->dimension = given->dimension;
  to->depth = given->dimension == 3 ? N : 1;
  for (int z = 0; z < to->depth; z++)
    for (int y = 0; y < N; y++)
      for (int x = 0; x < N; x++)
        gab_turbulence_velocity(turbulence, (const double[3]){place(x), place(y), place(z)}, to->u[z][y][x]);
  /* Out of order. */
  for (int i = 0; i < 50; i++) {
    const int x = 7 * i % N, y = 11 * i % N, z = 5 * i % to->depth;
    double u[3] = {0, 0, 0};
    gab_turbulence_velocity(turbulence, (const double[3]){place(x), place(y), place(z)}, u);
    assert_true(memcmp(u, to->u[z][y][x], (size_t)given->dimension * sizeof *u) == 0);
  }
  assert_true(gab_turbulence_modes(turbulence) > 0 && gab_turbulence_integral_length(turbulence) > 0);
  gab_turbulence_destroy(&turbulence);
}

static double energy_of(const cube *in, const double mean[3])
{
  double sum = 0;
  for (int z = 0; z < in->depth; z++)
    for (int y = 0; y < N; y++)
      for (int x = 0; x < N; x++)
        for (int i = 0; i < in->dimension; i++) sum += pow(in->u[z][y][x][i] - mean[i], 2) / 2;
  return sum / (N * N * in->depth);
}

static void has_no_divergence(const cube *in)
{
  double worst = 0;
  for (int z = 0; z < in->depth; z++)
    for (int y = 0; y < N; y++)
      for (int x = 0; x < N; x++) {
        double sum = in->u[z][y][(x + 1) % N][0] - in->u[z][y][(x + N - 1) % N][0] +
                     in->u[z][(y + 1) % N][x][1] - in->u[z][(y + N - 1) % N][x][1];
        if (in->dimension == 3) sum += in->u[(z + 1) % N][y][x][2] - in->u[(z + N - 1) % N][y][x][2];
        worst = fmax(worst, fabs(sum));
      }
  assert_true(worst < 1e-12);
}

/* Energy of the waves in a shell, by sums over all cells. */
static double energy_of_shell(const cube *in, int shell)
{
  double energy = 0;
  const int deep = in->dimension == 3 ? shell + 1 : 0;
  for (int c = -deep; c <= deep; c++)
    for (int b = -shell - 1; b <= shell + 1; b++)
      for (int a = -shell - 1; a <= shell + 1; a++) {
        if (lround(sqrt(a * a + b * b + c * c)) != shell) continue;
        double complex sum[3] = {0, 0, 0};
        for (int z = 0; z < in->depth; z++)
          for (int y = 0; y < N; y++)
            for (int x = 0; x < N; x++) {
              const double angle = 2 * PI * ((a * x + b * y + c * z) % N) / N;
              for (int i = 0; i < in->dimension; i++)
                sum[i] += in->u[z][y][x][i] * (cos(angle) - I * sin(angle));
            }
        for (int i = 0; i < in->dimension; i++) energy += 0.5 * pow(cabs(sum[i]) / (N * N * in->depth), 2);
      }
  return energy;
}

static double spectrum(gab_spectrum which, double share)
{
  if (which == GAB_SPECTRUM_PASSOT_POUQUET) return pow(share, 4) * exp(-2 * share * share);
  const double s = share * sqrt(12. / 5);
  return pow(s, 4) / pow(1 + s * s, 17. / 6);
}

static void is_as_asked(int dimension, gab_spectrum which)
{
  static cube it, other;
  gab_turbulence_options given = {.dimension = dimension,
                                  .length = {1, 1, 1},
                                  .dx = 1. / N,
                                  .spectrum = which,
                                  .rms = 0.3,
                                  .peak = 1. / 3,
                                  .shortest = 4. / N,
                                  .mean = {0.5, -0.25, 0},
                                  .seed = 5};
  fill(&given, &it);
  assert_true(fabs(energy_of(&it, given.mean) / (0.5 * dimension * 0.09) - 1) < 1e-12);
  has_no_divergence(&it);
  double asked[6] = {0}, sum = 0, found[6];
  for (int shell = 1; shell < 6; shell++) {
    for (int i = 0; i < 100; i++) asked[shell] += spectrum(which, (shell - 0.5 + (i + 0.5) / 100) / 3);
    found[shell] = energy_of_shell(&it, shell);
    sum += asked[shell];
  }
  double all = 0;
  for (int shell = 1; shell < 6; shell++) all += found[shell];
  for (int shell = 1; shell < 6; shell++) {
    printf("%dD shell %d: %.4f of %.4f\n", dimension, shell, found[shell] / all, asked[shell] / sum);
    assert_true(fabs(found[shell] / all - asked[shell] / sum) < 0.05 * asked[shell] / sum);
  }
  given.seed = 6;
  fill(&given, &other);
  assert_true(memcmp(&it.u, &other.u, sizeof it.u) != 0);
}

static void turbulence_is_as_asked(void **state)
{
  (void)state;
  is_as_asked(2, GAB_SPECTRUM_VON_KARMAN);
  is_as_asked(2, GAB_SPECTRUM_PASSOT_POUQUET);
  is_as_asked(3, GAB_SPECTRUM_PASSOT_POUQUET);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(turbulence_is_as_asked)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
