/* SPDX-License-Identifier: Apache-2.0 */
/* A boundary condition of a program's own, of own_boundary.c and own_entries.c: a wall along which the fluid slides (Navier).
 *
 * The velocity at the wall is b du/dn, b the slip length. Half-way between the last cell and the boundary cell that is
 * u b / (b + 1/2) with the velocity u of the cell. */
#ifndef GABION_TESTS_NAVIER_SLIP_H
#define GABION_TESTS_NAVIER_SLIP_H

#include "lbm/sides/boundary.h"
#include "lbm/setup/units.h"

#include <math.h>

static const gab_config_key slip_keys[] = {{.name = "length",
                                            .type = GAB_CONFIG_REAL,
                                            .min = 0,
                                            .max = INFINITY,
                                            .unit = "m",
                                            .doc = "Slip length."}};

static gab_status read_slip(const gab_config *config, const char *path, const gab_units *units,
                            double numbers[GAB_BOUNDARY_NUMBERS])
{
  char key[GAB_CONFIG_PATH_CAPACITY];
  numbers[0] = gab_config_real(config, gab_config_path(key, "%s.length", path)) / units->dx;
  return GAB_OK;
}

static double slip_arrives(const gab_boundary_link *at)
{
  const double length = ldexp(at->numbers[0], at->level), share = length / (length + 0.5);
  const int8_t *c = at->lattice->c[at->q];
  double along = 0;
  for (int axis = 0; axis < at->lattice->dimension; axis++)
    if (axis != at->side / 2) along += c[axis] * share * at->velocity[axis];
  return at->sent[gab_lattice_opposite(at->q)] + 6 * at->lattice->weight[at->q] * along;
}

static const gab_boundary slip = {.name = "navier_slip",
                                  .doc = "A wall along which the fluid slides by a slip length.",
                                  .keys = slip_keys,
                                  .key_count = 1,
                                  .read = read_slip,
                                  .arrives = slip_arrives};

#endif
