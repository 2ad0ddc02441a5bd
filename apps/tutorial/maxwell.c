/* SPDX-License-Identifier: Apache-2.0 */
/* Light in a box of metal: Maxwell's equations on a staggered grid (Yee 1966), E on edges and H on faces of cells.
 *
 *   gabion-launch -n 4 build/bin/maxwell run apps/tutorial/maxwell.yaml
 *
 *   dE/dt = curl H, dH/dt = -curl E, in units in which the speed of light is 1. A step has three stages: half a step of H, one of E, half
 *   a step of H. On conducting walls E along them and H across them are 0: sides of type `value`. */
#include "gabion/stencil.h"

enum { E, H = 3 }; /* the first of three components */

/* The mode (1, 1, 1) of a cube of edge 1: E oscillates as cos(sqrt(3) pi t). */
static void start(const gab_config *config, const double centre[3], double *values)
{
  const double pi = 3.14159265358979323846, amplitude[3] = {1, 1, -2};
  for (int i = 0; i < 3; i++) {
    values[E + i] = amplitude[i];
    for (int axis = 0; axis < 3; axis++)
      values[E + i] *= axis == i ? cos(pi * centre[axis]) : sin(pi * centre[axis]);
  }
  (void)config;
}

/* curl H lies on edges: differences to the cell before; curl E lies on faces: differences to the next cell. */
static void propagate(const gab_stencil_block *at)
{
  const bool is_e = at->stage == 1;
  const double part = (is_e ? at->dt : -at->dt / 2) / gab_forest_dx(at->forest, 0), *now = at->now->data;
  const int from = is_e ? H : E, to = is_e ? E : H;
  const gab_field_map *map = &at->now->map;
  gab_field_copy(at->next, at->now);
  for (int i = 0; i < 3; i++) {
    const int a = (i + 1) % 3, b = (i + 2) % 3;
    const ptrdiff_t next_a = is_e ? 0 : map->stride[a], last_a = next_a - map->stride[a],
                    next_b = is_e ? 0 : map->stride[b], last_b = next_b - map->stride[b];
    for (int32_t z = 0; z < at->cells[2]; z++)
      for (int32_t y = 0; y < at->cells[1]; y++) {
        const double *u = now + gab_field_index(map, 0, y, z, from + a),
                     *v = now + gab_field_index(map, 0, y, z, from + b);
        double *result = (double *)at->next->data + gab_field_index(&at->next->map, 0, y, z, to + i);
        for (int32_t x = 0; x < at->cells[0]; x++)
          result[x] += part * (v[x + next_a] - v[x + last_a] - (u[x + next_b] - u[x + last_b]));
      }
  }
}

static double fastest(const gab_stencil_block *at) { return gab_forest_dx(at->forest, 0) / sqrt(3); }

static void energy(const double *values, double *terms)
{
  for (int i = 0; i < 2; i++) {
    const double *v = &values[i == 0 ? E : H];
    terms[i] = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
  }
}

static const char *const fields[] = {"ex", "ey", "ez", "hx", "hy", "hz", NULL}, *const sums[] = {"electric",
                                                                                                 "magnetic",
                                                                                                 NULL};
static const gab_stencil_centring centring[] = {GAB_STENCIL_X_EDGE, GAB_STENCIL_Y_EDGE, GAB_STENCIL_Z_EDGE,
                                                GAB_STENCIL_X_FACE, GAB_STENCIL_Y_FACE, GAB_STENCIL_Z_FACE};
static const gab_stencil light = {.name = "maxwell",
                                  .title = "light in a box",
                                  .dimension = 3,
                                  .fields = fields,
                                  .centring = centring,
                                  .start = start,
                                  .update = propagate,
                                  .stages = 3,
                                  .bound = fastest,
                                  .sums = sums,
                                  .add = energy};

int main(int argc, char **argv) { return gab_stencil_main(argc, argv, &light); }
