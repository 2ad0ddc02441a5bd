/* SPDX-License-Identifier: Apache-2.0 */
/* Two relaxation times (TRT); a single one (SRT) is the case of equal rates. The arithmetic:
 * kernel_cell_impl.h. */
#include "lbm/kernels/kernel_cell_impl.h"
#include "lbm/kernels/lattice_list_impl.h"
#include "lbm/lbm_impl.h"

#include <math.h>

#define MODEL          trt
#define MODEL_PATH     ""
#define MRT            0
#define CELL           "lbm/kernels/source/kernel_cell.inc"
#define CELL_RATES     "lbm/kernels/source/kernel_cell_rates.inc"
#define REFERENCE_CELL "lbm/kernels/source/kernel_reference_body.inc"
#define CELL_OF_ANY    gab_collide_two_rates
#include "lbm/kernels/source/kernel_families.inc"

static const double usual_magic = 3.0 / 16;

static gab_status read_magic(const gab_config *config, const struct gab_units *units,
                             gab_lbm_options *options)
{
  (void)units;
  options->magic = gab_config_real(config, "lbm.magic");
  return GAB_OK;
}

static void fill_magic(gab_lbm_options *options)
{
  if (options->magic == 0) options->magic = usual_magic;
}

static gab_status check_magic(const gab_config *config, const struct gab_units *units,
                              const gab_lbm_options *options)
{
  (void)units;
  if (!(options->magic > 0 && isfinite(options->magic)))
    return gab_config_fail(config, "lbm.magic", "the magic parameter must be positive, not %g",
                           options->magic);
  return GAB_OK;
}

static double magic_of_options(const gab_lbm_options *options, double even)
{
  (void)even;
  return options->magic > 0 ? options->magic : usual_magic;
}

static bool always(const gab_lbm_options *options)
{
  (void)options;
  return true;
}

static double magic_of_equal_rates(const gab_lbm_options *options, double even)
{
  (void)options;
  return even * even;
}

static const char *const keys[] = {"lbm.magic", NULL};

const gab_collision gab_collision_trt = {
    .name = "trt",
    .title = "TRT",
    .doc = "two relaxation times",
    .revision = 2, /* 2: products and sums are fused */
    .kernels = &gab_kernels_trt,
    .keys = keys,
    .read = read_magic,
    .fill = fill_magic,
    .check = check_magic,
    .magic = magic_of_options,
    .has_odd_rate = true,
    .has_magic = always,
    .wave_reynolds = 15,
    .calmer = (const char *const[]){"srt", "mrt", NULL},
};

const gab_collision gab_collision_srt = {
    .name = "srt",
    .title = "SRT",
    .doc = "a single relaxation time (BGK)",
    .revision = 2,
    .kernels = &gab_kernels_trt,
    .read = read_magic,
    .fill = fill_magic,
    .check = check_magic,
    .magic = magic_of_equal_rates,
    .border_reynolds_of_space = 50,
};
