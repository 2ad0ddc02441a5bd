/* SPDX-License-Identifier: Apache-2.0 */
/* Internal declarations of gabion-device-bench. */
#ifndef GABION_APPS_DEVICE_BENCH_H
#define GABION_APPS_DEVICE_BENCH_H

#include "lbm/device/device_flow.h"

typedef struct bench_options {
  const char *backend;
  int number, cells, check_cells, steps, block, reals; /* block, reals: of a checksum */
  bool checksum, endless, quick, models;
} bench_options;

/* A cubic box of `cells` along each axis, in blocks of `block`. */
gab_device_flow_options bench_box(int cells, int block, gab_kernel_reals reals);
/* "double" */
const char *bench_reals_name(gab_kernel_reals reals);

/* Prints the verdicts of the self-tests. @return GAB_ERR_SUSPECT if one fails */
gab_status bench_self_test(gab_device *device);
/* Compares boxes with walls with a plain loop. Prints a table. @return GAB_ERR_SUSPECT if any bit differs */
gab_status bench_bits(gab_device *device, const bench_options *options);
/* Prints bandwidths of copies, then speeds. */
gab_status bench_speed(gab_device *device, const bench_options *options);
/* Prints a checksum for each lattice, collision and precision. */
gab_status bench_models(gab_device *device);
/* Prints the checksum of a state. */
gab_status bench_checksum(gab_device *device, const bench_options *options);

#endif
