/* What the bits of a result depend on besides the parameters' numbers: recorded with a state, so that nothing
 * goes on from it that would give other bits without anybody noticing. */
#include "lbm/lbm_impl.h"

#include <stdio.h>
#include <string.h>

/* To be raised whenever kernel_cell_impl.h rounds differently: 2 since products and sums are fused; or
 * whenever what is left out of the parameters means something else: MRT 3 since its default rates are the
 * published ones. */
enum { ARITHMETIC_REVISION = 2, MRT_REVISION = 3, CAPACITY = 64 };

/* Kernels of all families, with and without force, give the bits of one of these. */
static void describe(const gab_lbm *lbm, char text[CAPACITY])
{
  static const char *const collisions[] = {
      [GAB_COLLISION_TRT] = "TRT", [GAB_COLLISION_SRT] = "SRT", [GAB_COLLISION_MRT] = "MRT"};
  const gab_lbm_options *options = &lbm->model.options;
  const char *reals = options->precision == GAB_PRECISION_DOUBLE ? "double"
                      : options->mixed                           ? "mixed"
                                                                 : "float";
  snprintf(text, CAPACITY, "%s/%s/%s, revision %d", lbm->model.lattice->name, reals,
           collisions[options->collision],
           options->collision == GAB_COLLISION_MRT ? MRT_REVISION : ARITHMETIC_REVISION);
}

gab_status gab_lbm_put_arithmetic(const gab_lbm *lbm, gab_buffer *out)
{
  char mine[CAPACITY];
  describe(lbm, mine);
  return gab_put_string(out, mine);
}

gab_status gab_lbm_check_arithmetic(const gab_lbm *lbm, gab_reader *in)
{
  char mine[CAPACITY], theirs[CAPACITY];
  describe(lbm, mine);
  GAB_TRY(gab_get_string(in, theirs, sizeof theirs));
  if (strcmp(mine, theirs) != 0)
    GAB_FAIL(GAB_ERR_INPUT,
             "the state was computed with the arithmetic %s, this run computes with %s: going on would not "
             "give the result of either",
             theirs, mine);
  return GAB_OK;
}
