/* SPDX-License-Identifier: Apache-2.0 */
#include "lbm/lbm_impl.h"

gab_status gab_lbm_time_parts(gab_lbm *lbm, bool on)
{
  lbm->clocks = 0;
  gab_free(&lbm->clock);
  if (!on) return GAB_OK;
  const size_t threads = gab_thread_count();
  GAB_TRY(GAB_NEW_ARRAY(&lbm->clock, threads, GAB_MEMORY_OTHER));
  lbm->clocks = threads;
  return GAB_OK;
}

void gab_lbm_clock_messages(gab_lbm *lbm, double start)
{
  if (lbm->clocks == 0) return;
  const double taken = (double)lbm->clocks * (gab_seconds() - start);
  lbm->clock->messages += taken;
  lbm->clock->all += taken;
}

gab_lbm_times gab_lbm_get_times(const gab_lbm *lbm)
{
  gab_lbm_times sum = {0};
  for (size_t i = 0; i < lbm->clocks; i++) {
    const gab_lbm_clock *clock = &lbm->clock[i];
    sum.ghosts += clock->ghosts;
    sum.links += clock->links;
    sum.sweep += clock->sweep;
    sum.interfaces += clock->interfaces;
    sum.messages += clock->messages;
    sum.other +=
        clock->all - clock->ghosts - clock->links - clock->sweep - clock->interfaces - clock->messages;
  }
  return sum;
}

void gab_lbm_time_blocks(gab_lbm *lbm, bool on) { lbm->model.times_blocks = on; }

uint64_t gab_lbm_block_work(void *user, void *data, bool forget)
{
  (void)user;
  gab_lbm_block *block = data;
  const uint64_t work = block->work;
  if (forget) block->work = 0;
  return work;
}
