/* SPDX-License-Identifier: Apache-2.0 */
/* Undercooling of lamellae of three solids, for the symmetric ternary eutectic: from the formula of Jackson and Hunt,
 * with a plane front, and from the same sharp interfaces on the actual curved front. Lengths and times as in the
 * phase field (D = 1). */
#ifndef GABION_TESTS_PHASEFIELD_CURVED_FRONT_H
#define GABION_TESTS_PHASEFIELD_CURVED_FRONT_H

#include <math.h>
#include <string.h>

/* K1 = .021181 / D times the mean of k_n / q_n, weighted as the modes are; K2 = 2.40914 gamma.
 * q_n = v/2D + sqrt((v/2D)^2 + k_n^2) is k_n of diffusion ahead of a moving front. */
static inline double plane_front_undercooling(double lambda, double v)
{
  double weights = 0, sum = 0;
  for (int n = 1; n <= 50; n++) {
    const double k = 2 * 3.14159265358979323846 * n / lambda, q = 0.5 * v + sqrt(0.25 * v * v + k * k);
    const double third = sin(3.14159265358979323846 * n / 3), weight = third * third / (n * (double)n * n);
    weights += weight;
    sum += weight * k / q;
  }
  return .021181 * sum / weights * lambda * v + 2.40914 / lambda;
}

enum { FRONT_MODES = 17, FRONT_POINTS = 40 };

/* Half a lamella, from its middle to the junction: heights and slopes. */
typedef struct front_shape {
  double lambda, v;
  double height[FRONT_POINTS + 1], slope[FRONT_POINTS + 1];
} front_shape;

static inline double front_wave(const front_shape *front, int n, double *decay)
{
  const double k = 2 * 3.14159265358979323846 * n / front->lambda;
  *decay = 0.5 * front->v + sqrt(0.25 * front->v * front->v + k * k);
  return k;
}

static inline double front_between(const double *values, double at)
{
  int below = (int)at;
  if (below > FRONT_POINTS - 1) below = FRONT_POINTS - 1;
  return values[below] + (at - below) * (values[below + 1] - values[below]);
}

/* Gauss without pivots for a positive definite system. */
static inline void front_solve(double a[FRONT_MODES][FRONT_MODES], double *b)
{
  for (int k = 0; k < FRONT_MODES; k++)
    for (int i = k + 1; i < FRONT_MODES; i++) {
      const double factor = a[i][k] / a[k][k];
      for (int j = k; j < FRONT_MODES; j++) a[i][j] -= factor * a[k][j];
      b[i] -= factor * b[k];
    }
  for (int i = FRONT_MODES - 1; i >= 0; i--) {
    for (int j = i + 1; j < FRONT_MODES; j++) b[i] -= a[i][j] * b[j];
    b[i] /= a[i][i];
  }
}

/* u = sum_n B_n cos(k_n x) exp(-q_n y), the deviation of the one concentration on whose liquidus the lamella
 * around x = 0 is, with -D du/dn = v n_y (c_melt - c_solid) on the front: least squares over half a period.
 */
static inline void front_diffusion(const front_shape *front, double *modes)
{
  enum { SAMPLES = 3 * FRONT_POINTS };
  const double half = front->lambda / 6, gap_here = 1. / 3 - .70691, gap_there = 1. / 3 - .146545;
  double matrix[FRONT_MODES][FRONT_MODES] = {{0}};
  memset(modes, 0, FRONT_MODES * sizeof *modes);
  for (int j = 0; j < SAMPLES; j++) {
    const double x = (j + 0.5) * 3 * half / SAMPLES, from = x < half ? x : x - 2 * half;
    const double at = fabs(from) / half * FRONT_POINTS, y = front_between(front->height, at);
    const double slope = copysign(1, from) * front_between(front->slope, at);
    double row[FRONT_MODES];
    for (int n = 0; n < FRONT_MODES; n++) {
      double q, k = front_wave(front, n, &q);
      row[n] = exp(-q * y) * (q * cos(k * x) - slope * k * sin(k * x));
    }
    for (int a = 0; a < FRONT_MODES; a++) {
      modes[a] += row[a] * front->v * (x < half ? gap_here : gap_there);
      for (int b = 0; b < FRONT_MODES; b++) matrix[a][b] += row[a] * row[b];
    }
  }
  front_solve(matrix, modes);
}

/* Gibbs and Thomson: Gamma kappa = dT + m u along the front, whose ends have the angle of the junction, 30 degrees;
 * this determines dT, and bends the front. */
static inline double front_bend(front_shape *front, const double *modes)
{
  const double capillarity = .80305, liquidus = .45, step = front->lambda / 6 / FRONT_POINTS;
  double u[FRONT_POINTS + 1], mean = 0, sine = 0, area = 0;
  for (int i = 0; i <= FRONT_POINTS; i++) {
    u[i] = 0;
    for (int n = 0; n < FRONT_MODES; n++) {
      double q, k = front_wave(front, n, &q);
      u[i] += modes[n] * cos(k * i * step) * exp(-q * front->height[i]);
    }
    mean += u[i] / FRONT_POINTS * (i == 0 || i == FRONT_POINTS ? 0.5 : 1);
  }
  const double undercooling = capillarity * 0.5 / (step * FRONT_POINTS) - liquidus * mean;
  front->height[0] = front->slope[0] = 0;
  for (int i = 1; i <= FRONT_POINTS; i++) {
    sine += step * (undercooling + liquidus * 0.5 * (u[i - 1] + u[i])) / capillarity;
    front->slope[i] = -sine / sqrt(1 - sine * sine);
    front->height[i] = front->height[i - 1] + 0.5 * step * (front->slope[i - 1] + front->slope[i]);
    area += 0.5 * (front->height[i - 1] + front->height[i]) / FRONT_POINTS;
  }
  for (int i = 0; i <= FRONT_POINTS; i++) front->height[i] -= area;
  return undercooling;
}

static inline double curved_front_undercooling(double lambda, double v)
{
  front_shape front = {.lambda = lambda, .v = v};
  double modes[FRONT_MODES], undercooling = 0;
  for (int round = 0; round < 12; round++) {
    front_diffusion(&front, modes);
    undercooling = front_bend(&front, modes);
  }
  return undercooling;
}

#endif
