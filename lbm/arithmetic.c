/* What the bits of a result depend on besides the parameters' numbers: recorded with a state, so that nothing
 * goes on from it that would give other bits without anybody noticing. */
#include "lbm/lbm_impl.h"

#include <stdio.h>
#include <string.h>

enum { CAPACITY = 64 };

/* Kernels of all families, with and without force, give the bits of one of these. */
static void describe(const gab_lbm *lbm, char text[CAPACITY])
{
  const gab_lbm_options *options = &lbm->model.options;
  const char *reals = options->precision == GAB_PRECISION_DOUBLE ? "double"
                      : options->mixed                           ? "mixed"
                                                                 : "float";
  snprintf(text, CAPACITY, "%s/%s/%s, revision %d", lbm->model.lattice->name, reals,
           options->collision->title, options->collision->revision);
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

gab_status gab_lbm_pack_state(void *lbm, gab_buffer *out)
{
  GAB_TRY(gab_lbm_put_arithmetic(lbm, out));
  return gab_put_i64(out, gab_lbm_get_step(lbm));
}

gab_status gab_lbm_unpack_state(void *lbm, gab_reader *in)
{
  int64_t step;
  GAB_TRY(gab_lbm_check_arithmetic(lbm, in));
  GAB_TRY(gab_get_i64(in, &step));
  gab_lbm_set_step(lbm, step);
  return GAB_OK;
}
