/* SPDX-License-Identifier: Apache-2.0 */
/* The two ternary eutectics that everything is tried on: a symmetric one without dimensions, and Al-Ag-Cu
 * (Hötzer et al., Acta Materialia 2015). Include after cmocka or without it. */
#ifndef GABION_TESTS_PHASEFIELD_SYSTEMS_H
#define GABION_TESTS_PHASEFIELD_SYSTEMS_H

#include "phasefield/model/thermo.h"

#include <string.h>

static inline gab_of_temperature fixed(double value) { return (gab_of_temperature){.value = value}; }
static inline gab_of_temperature sloped(double value, double slope)
{
  return (gab_of_temperature){.value = value, .slope = slope};
}

static inline void name_phase(gab_phase_energy *phase, const char *name)
{
  strncpy(phase->name, name, sizeof phase->name - 1);
}

/* chi = 1/3 [[2, -1], [-1, 2]], T_E = 1, mu_E = (1, 1), D = 1 in the melt. */
static inline gab_thermo symmetric_eutectic(void)
{
  static const double solids[3][2] = {{.70691, .146545}, {.146545, .70691}, {.146545, .146545}};
  static const double slopes[3][2] = {{.45, 0}, {0, .45}, {-.45, -.45}};
  static const double melt[2] = {1. / 3, 1. / 3};
  static const char *const names[] = {"alpha", "beta", "gamma", "melt"};
  gab_thermo made = {.phases = 4, .independents = 2};
  for (int a = 0; a < 4; a++) {
    name_phase(&made.phase[a], names[a]);
    made.phase[a].curvature[0][0] = made.phase[a].curvature[1][1] = 1;
    made.phase[a].curvature[0][1] = made.phase[a].curvature[1][0] = 0.5;
  }
  made.phase[3].diffusivity = 1;
  for (int a = 0; a < 3; a++) (void)gab_thermo_linear_solid(&made, a, 1, solids[a], melt, slopes[a]);
  return made;
}

static inline gab_thermo al_ag_cu(bool calphad)
{
  static const char *const names[] = {"Al", "Ag2Al", "Al2Cu", "melt"};
  static const double xi[4][2] = {{-2.25, -3.486}, {-3.104, -2.710}, {-1.395, -2.709}, {-2.140, -3.140}};
  static const double constant[3] = {1.561866, 1.427846, 0.9176};
  gab_thermo made = {.phases = 4, .independents = 2};
  for (int a = 0; a < 4; a++) {
    gab_phase_energy *phase = &made.phase[a];
    name_phase(phase, names[a]);
    phase->curvature[0][0] = phase->curvature[1][1] = 2;
    phase->curvature[0][1] = phase->curvature[1][0] = 1;
    for (int i = 0; i < 2; i++) phase->linear[i] = fixed(xi[a][i]);
    if (a < 3) phase->constant = fixed(constant[a]);
  }
  made.phase[3].constant = sloped(calphad ? 3.9532 : 3.8655, -8. / 3);
  if (!calphad) {
    made.phase[3].linear[0] = fixed(-2.220);
    made.phase[3].linear[1] = fixed(-2.980);
  }
  made.phase[3].diffusivity = 5;
  return made;
}

#endif
