/* SPDX-License-Identifier: Apache-2.0 */
/* The law of Darcy and Forchheimer in a cell: drag along axis i over density and velocity, per sub-step, a_i = A_i + B_i h(s) with the speed s.
 * h(s) = s up to the knee s_0, where the slope A + 2 B s_0 of the drag reaches its limit; beyond it the drag is the straight
 * line of that slope, so h = s_0 (2 - s_0 / s). Without it, two speeds would belong to the same momentum after the drag. */
#include "lbm/porous/drag_impl.h"

#include <math.h>

double gab_porous_drag_on(const gab_porous_region *region, int level, double speed)
{
  double most = 0;
  for (int axis = 0; axis < 3; axis++)
    most = fmax(most, ldexp(region->linear[axis] + 2 * region->quadratic[axis] * speed, -level));
  return most;
}

gab_drag_law gab_drag_law_of(const gab_porous_region *region, int level)
{
  gab_drag_law law = {.knee = INFINITY, .is_uniform = true};
  for (int axis = 0; axis < 3; axis++) {
    const double a = ldexp(region->linear[axis], -level), b = ldexp(region->quadratic[axis], -level);
    law.linear[axis] = a;
    law.quadratic[axis] = b;
    law.is_uniform = law.is_uniform && a == law.linear[0] && b == law.quadratic[0];
    if (b > 0) law.knee = fmin(law.knee, fmax(0, (GAB_POROUS_MOST_DRAG - a) / (2 * b)));
  }
  return law;
}

static double length_of(const double v[3]) { return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

static double effective(const gab_drag_law *law, double speed)
{
  return speed <= law->knee ? speed : law->knee * (2 - law->knee / speed);
}

static bool is_linear(const gab_drag_law *law) { return law->knee == INFINITY; }

void gab_drag_at(const gab_drag_law *law, const double u[3], double drag[3])
{
  const double h = is_linear(law) ? 0 : effective(law, length_of(u));
  for (int axis = 0; axis < 3; axis++) drag[axis] = law->linear[axis] + law->quadratic[axis] * h;
}

/* The speed if all axes are alike: s p + sign b s h(s) / 2 = m with p = 1 + sign a / 2. */
static double uniform_speed(const gab_drag_law *law, double sign, double m)
{
  const double b = sign * law->quadratic[0], p = 1 + sign * law->linear[0] / 2, knee = law->knee;
  if (m <= knee * (p + b * knee / 2)) return 2 * m / (p + sqrt(p * p + 2 * b * m));
  return (m + b * knee * knee / 2) / (p + b * knee);
}

/* Speed that belongs to m if it is s, and its slope. */
static double speed_from(const gab_drag_law *law, double sign, const double m[3], double s, double *slope)
{
  const double h = effective(law, s), grows = s <= law->knee ? 1 : law->knee / s * (law->knee / s);
  double square = 0, change = 0;
  for (int axis = 0; axis < 3; axis++) {
    const double p = 1 + sign * (law->linear[axis] + law->quadratic[axis] * h) / 2, v = m[axis] / p;
    square += v * v;
    change -= v * v * sign * law->quadratic[axis] * grows / (2 * p);
  }
  const double speed = sqrt(square);
  *slope = speed > 0 ? change / speed : 0;
  return speed;
}

/* Newton's method inside a bracket. */
static double general_speed(const gab_drag_law *law, double sign, const double m[3])
{
  enum { MOST_ITERATIONS = 100 };
  double low = 0, high = sign > 0 ? length_of(m) : length_of(m) / (1 - GAB_POROUS_MOST_DRAG / 2), s = 0;
  for (int i = 0; i < MOST_ITERATIONS && high > low; i++) {
    double slope;
    const double beyond = s - speed_from(law, sign, m, s, &slope);
    if (beyond <= 0) low = s;
    else high = s;
    double next = s - beyond / (1 - slope);
    if (!(next >= low && next <= high)) next = 0.5 * (low + high);
    if (fabs(next - s) <= 1e-16 * high) break;
    s = next;
  }
  return s;
}

void gab_drag_solve(const gab_drag_law *law, double sign, const double m[3], double u[3])
{
  double h = 0;
  if (!is_linear(law))
    h = effective(law,
                  law->is_uniform ? uniform_speed(law, sign, length_of(m)) : general_speed(law, sign, m));
  for (int axis = 0; axis < 3; axis++)
    u[axis] = m[axis] / (1 + sign * (law->linear[axis] + law->quadratic[axis] * h) / 2);
}

void gab_drag_force(const gab_drag_law *law, double rho, const double u[3], double force[3])
{
  double drag[3];
  gab_drag_at(law, u, drag);
  for (int axis = 0; axis < 3; axis++) force[axis] = -rho * drag[axis] * u[axis];
}

void gab_drag_velocity(const gab_drag_law *law, double sign, double rho, const double half[3], double u[3])
{
  double m[3];
  for (int axis = 0; axis < 3; axis++) m[axis] = u[axis] - half[axis] / rho;
  gab_drag_solve(law, sign, m, u);
}
