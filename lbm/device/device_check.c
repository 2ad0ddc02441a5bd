/* SPDX-License-Identifier: Apache-2.0 */
/* gab_lbm_check_device(): a small box on the device and on the processor. */
#include "lbm/device/device_flow.h"

#include "core/memory/memory.h"

#include <stdio.h>
#include <string.h>

enum { CELLS = 8, STEPS = 3 };

static gab_status compare(const gab_device *device, const gab_device_flow_options *box, const void *found,
                          const void *expected)
{
  static const char *const names[] = {"double", "float", "mixed precision"};
  const size_t real = gab_device_flow_real(box), all = gab_device_flow_cells(box);
  for (size_t i = 0; i < gab_device_flow_bytes(box) / real; i++)
    if (memcmp((const char *)found + i * real, (const char *)expected + i * real, real) != 0) {
      const bool is_double = real == sizeof(double);
      GAB_FAIL(
          GAB_ERR_SUSPECT,
          "%s: D3Q19 TRT in %s differs from the processor's: direction %zu of cell %zu after %d steps is %a, not %a: results "
          "would not be the same to the last bit",
          gab_device_of(device)->name, names[box->reals], i / all, i % all, STEPS,
          is_double ? ((const double *)found)[i] : (double)((const float *)found)[i],
          is_double ? ((const double *)expected)[i] : (double)((const float *)expected)[i]);
    }
  return GAB_OK;
}

static gab_status run(gab_device *device, const gab_device_flow_options *box, void *states[3])
{
  gab_device_flow *flow = NULL;
  gab_status status = gab_device_flow_create(device, box, &flow);
  gab_device_flow_wave(box, 1, states[0]);
  if (status == GAB_OK) status = gab_device_flow_put(flow, states[0]);
  if (status == GAB_OK) status = gab_device_flow_step(flow, STEPS);
  if (status == GAB_OK) status = gab_device_flow_get(flow, states[2]);
  gab_device_flow_destroy(&flow);
  for (int i = 0; i < STEPS; i++) gab_device_flow_reference(box, states[i % 2], states[1 - i % 2]);
  if (status == GAB_OK) status = compare(device, box, states[2], states[STEPS % 2]);
  return status;
}

static gab_status check(gab_device *device, gab_kernel_reals reals, bool forced)
{
  const gab_device_flow_options empty = {
      .cells = {CELLS, CELLS, CELLS},
      .blocks = {2, 1, 3},
      .reals = reals,
      .rates = {.even = 1.7, .odd = 0.9, .force = {forced ? 1e-5 : 0, 0, forced ? 2e-6 : 0}}};
  gab_device_flow_options box = empty;
  const size_t all = gab_device_flow_cells(&box), bytes = gab_device_flow_bytes(&box);
  uint8_t *solid = NULL;
  void *states[3] = {NULL, NULL, NULL};
  gab_status status = GAB_NEW_ARRAY(&solid, all, GAB_MEMORY_OTHER);
  for (int i = 0; i < 3 && status == GAB_OK; i++) status = gab_alloc(bytes, GAB_MEMORY_OTHER, &states[i]);
  if (status == GAB_OK) {
    for (size_t i = 0; i < all; i += 37) solid[i] = 1;
    box.solid = solid;
    status = run(device, &box, states);
  }
  for (int i = 0; i < 3; i++) gab_free(&states[i]);
  gab_free(&solid);
  return status;
}

gab_status gab_lbm_check_device(gab_device *device)
{
  const bool has_double = gab_device_of(device)->has_double;
  for (int reals = 0; reals < GAB_REALS_COUNT; reals++)
    if (has_double || reals == GAB_REALS_FLOAT)
      GAB_TRY(check(device, (gab_kernel_reals)reals, reals == GAB_REALS_DOUBLE));
  return GAB_OK;
}
