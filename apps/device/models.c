/* SPDX-License-Identifier: Apache-2.0 */
/* Checksums of small boxes on all lattices, with all collisions: to be compared between devices. */
#include "apps/device/device_bench.h"

#include "core/base/hash.h"
#include "core/memory/memory.h"

#include <stdio.h>

enum { CELLS = 16, BLOCK = 8, STEPS = 5 };

static gab_device_flow_options box_of(const gab_lattice *lattice, int collision, int reals)
{
  const bool forced = (collision + reals) % 2;
  const int z = lattice->dimension == 3 ? BLOCK : 1;
  return (gab_device_flow_options){.cells = {BLOCK, BLOCK, z},
                                   .blocks = {CELLS / BLOCK, CELLS / BLOCK, z > 1 ? CELLS / BLOCK : 1},
                                   .lattice = lattice,
                                   .collision = (gab_device_collision)collision,
                                   .reals = (gab_kernel_reals)reals,
                                   .rates = {.even = 1.8,
                                             .odd = 1.1,
                                             .force = {forced ? 1e-4 : 0, forced ? -2e-4 : 0, 0},
                                             .energy = -0.013,
                                             .energy_square = 0.0021,
                                             .stress = -0.017,
                                             .third = 0.031,
                                             .eddies = 0.18}};
}

static gab_status run(gab_device *device, const gab_device_flow_options *box, void *state)
{
  gab_device_flow *flow = NULL;
  gab_device_flow_wave(box, 11, state);
  GAB_TRY(gab_device_flow_create(device, box, &flow));
  gab_status status = gab_device_flow_put(flow, state);
  if (status == GAB_OK) status = gab_device_flow_step(flow, STEPS);
  if (status == GAB_OK) status = gab_device_flow_get(flow, state);
  gab_device_flow_destroy(&flow);
  return status;
}

static gab_status print_one(gab_device *device, const gab_lattice *lattice, int collision, int reals)
{
  static const char *const names[] = {"TRT", "MRT", "RR", "Smagorinsky"};
  gab_device_flow_options box = box_of(lattice, collision, reals);
  uint8_t *solid = NULL;
  void *state = NULL;
  gab_status status = GAB_NEW_ARRAY(&solid, gab_device_flow_cells(&box), GAB_MEMORY_OTHER);
  if (status == GAB_OK) status = gab_alloc(gab_device_flow_bytes(&box), GAB_MEMORY_OTHER, &state);
  if (status == GAB_OK) {
    for (size_t i = 0; i < gab_device_flow_cells(&box); i += 29) solid[i] = 1;
    box.solid = solid;
    status = run(device, &box, state);
  }
  if (status == GAB_OK)
    printf("| %s | %s | %s | %s | %016" PRIx64 " |\n", lattice->name, names[collision],
           bench_reals_name((gab_kernel_reals)reals), box.rates.force[0] != 0 ? "yes" : "no",
           gab_hash64(state, gab_device_flow_bytes(&box), 0));
  fflush(stdout);
  gab_free(&solid);
  gab_free(&state);
  return status;
}

gab_status bench_models(gab_device *device)
{
  const gab_lattice *const lattices[] = {&gab_lattice_d2q9, &gab_lattice_d3q19, &gab_lattice_d3q27};
  printf("| lattice | collision | reals | force | checksum |\n|---|---|---|---|---|\n");
  for (int i = 0; i < 3; i++)
    for (int collision = 0; collision < GAB_DEVICE_COLLISIONS; collision++)
      for (int reals = 0; reals < GAB_REALS_COUNT; reals++)
        if (collision != GAB_DEVICE_MRT || lattices[i] != &gab_lattice_d3q27)
          GAB_TRY(print_one(device, lattices[i], collision, reals));
  return GAB_OK;
}
