/* SPDX-License-Identifier: Apache-2.0 */
/** @file device_flow.h
 *  @brief A periodic box of fluid in the memory of a device, in place, blocks of one allocation.
 *
 *  Populations stay on the device; a step is one kernel for all blocks. The arithmetic of a cell is kernel_cell.inc, compiled for the
 *  device from the lines that the kernels of the processor are made of, so results are the same to the last bit where
 *  gab_lbm_check_device() passes. Blocks have no ghosts: a table names the 26 neighbours of each. Solid cells reflect half-way; they
 *  are flags, chosen before the first step. Flows of gab_lbm do not use this yet (doc/devices.md).
 *
 *  Values are exchanged in one order, independent of blocks and of the number of steps: what each cell has sent, `[direction][z][y][x]`
 *  over the whole box, as deviations from the weights, in double or float as stored. Solid cells have zeros.
 *
 *  Stability: internal.
 */
#ifndef GABION_LBM_DEVICE_FLOW_H
#define GABION_LBM_DEVICE_FLOW_H

#include "core/device/device.h"
#include "lbm/kernels/kernel_family.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gab_device_flow gab_device_flow;

/** Those of the library: gab_collision_trt (and gab_collision_srt, which has its kernels), ... */
typedef enum gab_device_collision {
  GAB_DEVICE_TRT,
  GAB_DEVICE_MRT, /**< not on D3Q27 */
  GAB_DEVICE_RR,
  GAB_DEVICE_SMAGORINSKY,
  GAB_DEVICE_COLLISIONS
} gab_device_collision;

typedef struct gab_device_flow_options {
  int cells[3];               /**< of a block */
  int blocks[3];              /**< of the box, which is periodic along all axes */
  const gab_lattice *lattice; /**< D2Q9 (one cell along z), D3Q19 or D3Q27; NULL: D3Q19 */
  gab_device_collision collision;
  gab_kernel_reals reals; /**< precision of storage and computation */
  gab_collision_rates rates;
  /** not 0: solid; for each cell of the box, x fastest; borrowed by the call. NULL: none is */
  const uint8_t *solid;
  int group; /**< cells of a work group; 0: 128 */
} gab_device_flow_options;

/** Bytes of all populations. */
size_t gab_device_flow_bytes(const gab_device_flow_options *box);
/** Directions of its lattice. */
int gab_device_flow_directions(const gab_device_flow_options *box);

/** Allocates and compiles. The state is undefined before the first gab_device_flow_put(). Local.
 *  @param[out] flow  owned by the caller, before its device is closed; NULL on failure
 *  @return ::GAB_ERR_ARGUMENT for an empty box or 2^32 populations of a block or more, ::GAB_ERR_INPUT if the device lacks double precision that is
 *  asked for, ::GAB_ERR_MEMORY, ::GAB_ERR_SUSPECT */
gab_status gab_device_flow_create(gab_device *device, const gab_device_flow_options *box,
                                  gab_device_flow **flow);
void gab_device_flow_destroy(gab_device_flow **flow);
/** Bytes of one population. */
size_t gab_device_flow_real(const gab_device_flow_options *box);
/** Cells of the whole box. */
size_t gab_device_flow_cells(const gab_device_flow_options *box);

/** Replaces the state. @param[in] sent  see above; values of solid cells have no effect */
gab_status gab_device_flow_put(gab_device_flow *flow, const void *sent);
/** @param[out] sent  see above, gab_device_flow_cells() values for each direction */
gab_status gab_device_flow_get(gab_device_flow *flow, void *sent);
/** Starts the kernels of some steps, without waiting (gab_device_wait()). */
gab_status gab_device_flow_step(gab_device_flow *flow, int steps);
/** Changes the number of cells of a work group. */
void gab_device_flow_set_group(gab_device_flow *flow, int group);
/** Steps so far since the last put. */
int64_t gab_device_flow_steps(const gab_device_flow *flow);

/** The same on the processor, by a plain loop from one array into another, for D3Q19 and TRT: reference for
 *  comparisons.
 *  @param[in] from,to  as `sent`, not the same array */
void gab_device_flow_reference(const gab_device_flow_options *box, const void *from, void *to);

/** Fills a state with a wave and noise of a seed, for tests and measurements. */
void gab_device_flow_wave(const gab_device_flow_options *box, uint64_t seed, void *sent);

/** Compares some steps of a small box with walls with gab_device_flow_reference(), in double and mixed precision where the device has
 *  double, and in float. Local. @return ::GAB_ERR_SUSPECT with the first cell that differs */
gab_status gab_lbm_check_device(gab_device *device);

#ifdef __cplusplus
}
#endif
#endif
