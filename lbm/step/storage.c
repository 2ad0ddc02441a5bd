/* SPDX-License-Identifier: Apache-2.0 */
#include "lbm/step/storage_impl.h"

static ptrdiff_t distance(const gab_field_map *map, int component, const int8_t shift[3])
{
  return component * map->component_stride + shift[0] * map->stride[0] + shift[1] * map->stride[1] +
         shift[2] * map->stride[2];
}

static void fill_state(const gab_lattice *lattice, const gab_field_map *map, gab_storage *state)
{
  for (int q = 0; q < lattice->q; q++) {
    const int8_t *c = lattice->c[q];
    state->sent[q] = distance(map, state->component[q], state->shift[q]);
    state->arriving[q] = state->sent[q] - distance(map, 0, c);
  }
}

void gab_storage_fill(const gab_lattice *lattice, const gab_field_map *map, bool in_place,
                      gab_storage states[2])
{
  gab_storage *even = &states[0], *odd = &states[1];
  *even = *odd = (gab_storage){0};
  for (int q = 0; q < lattice->q; q++) {
    even->component[q] = in_place ? gab_lattice_opposite(q) : q;
    odd->component[q] = q;
    for (int axis = 0; axis < 3; axis++) odd->shift[q][axis] = lattice->c[q][axis];
  }
  fill_state(lattice, map, even);
  fill_state(lattice, map, odd);
  even->next = in_place ? odd : even;
  odd->next = even;
}
