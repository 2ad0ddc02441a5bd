/* SPDX-License-Identifier: Apache-2.0 */
/* Initial state of a protected run: the state to resume from, and the first checkpoint. */
#include "resilience/disk/disk_impl.h"
#include "resilience/loop/timeloop_impl.h"
#include "resilience/reports/completion.h"

#include "core/base/log.h"
#include "core/messages/collective.h"
#include "resilience/reports/events_impl.h"
#include "resilience/disk/restart_impl.h"

static gab_status share_out(gab_timeloop *loop)
{
  const gab_protection_state *protection = loop->protection;
  return protection->rebalance ? protection->rebalance(protection->rebalance_user, loop->forest) : GAB_OK;
}

/* Refuses a start from step 0 if unusable checkpoints exist. */
static gab_status check_none(const gab_timeloop *loop)
{
  gab_restart *found;
  if (!loop->protection->disk) return GAB_OK;
  GAB_TRY(gab_restart_find(loop->world, gab_disk_folder(loop->protection->disk), false, &found));
  const gab_status status = gab_restart_check_none(found);
  gab_restart_destroy(&found);
  return status;
}

/* Loads the newer one of the checkpoints in node memory and on disk. */
static gab_status go_back(gab_timeloop *loop, gab_restart_report *loaded, const char **from)
{
  gab_protection_state *protection = loop->protection;
  *loaded = (gab_restart_report){.step = -1};
  if (protection->node_memory[0])
    GAB_TRY(gab_node_restart_find(loop->world, protection->node_memory, protection->node_key,
                                  &protection->node_restart));
  const gab_step in_memory = gab_node_restart_step(protection->node_restart);
  const gab_step on_disk =
      gab_restart_count(loop->restart) > 0 ? gab_restart_manifest(loop->restart, 0)->step : -1;
  if (in_memory >= 0 && in_memory >= on_disk) {
    *from = "in the memory of the nodes";
    return gab_node_restart_load(protection->node_restart, protection->checkpoint, loaded);
  }
  *from = "on disk";
  if (on_disk < 0) return gab_launch_attempt() > 0 ? check_none(loop) : GAB_OK;
  const gab_status status = gab_restart_load(loop->restart, protection->checkpoint, loaded);
  /* No process has died, so the next attempt must not start from step 0. */
  return status == GAB_ERR_LOST ? GAB_ERR_CORRUPT : status;
}

gab_status gab_protection_keep_untouched(gab_timeloop *loop)
{
  if (!loop->protection) return GAB_OK;
  gab_checkpoint *checkpoint = loop->protection->checkpoint;
  gab_buffer_clear(&checkpoint->untouched);
  const gab_status status = gab_entities_pack(checkpoint, GAB_ENTITY_PER_RANK, &checkpoint->untouched);
  checkpoint->untouched_unknown = status != GAB_OK && gab_world_is_spare(loop->world);
  if (!checkpoint->untouched_unknown) return status;
  /* A spare may never get a rank. */
  gab_buffer_clear(&checkpoint->untouched);
  return GAB_OK;
}

static bool starts_processes(const gab_protection_state *protection)
{
  for (int i = 0; i < protection->strategy_count; i++)
    if (protection->strategies[i]->replacement & GAB_REPLACEMENT_RESPAWN) return true;
  return false;
}

gab_status gab_protection_begin(gab_timeloop *loop)
{
  if (!loop->protection) return GAB_OK;
  gab_protection_state *protection = loop->protection;
  gab_protection_warn(loop);
  if (protection->disk || protection->node_memory[0])
    GAB_TRY(gab_entities_check_packed(protection->checkpoint, "restarts"));
  if (gab_world_spares(loop->world) > 0 || starts_processes(protection))
    GAB_TRY(gab_entities_check_packed(protection->checkpoint, "processes that take a rank"));
  gab_restart_report loaded;
  const char *from;
  GAB_TRY(go_back(loop, &loaded, &from));
  if (loaded.step < 0) {
    if (protection->node_restart && gab_launch_attempt() > 0)
      gab_log(GAB_LOG_WARNING, "nothing to resume from: starting from step 0");
    return GAB_OK;
  }
  gab_world_set_step(loop->world, loop->step);
  loop->stats.first_step = loop->recent_step = loop->step;
  if (protection->disk) gab_disk_went_back(protection->disk, loaded.step);
  gab_log(GAB_LOG_INFO,
          "resuming from step %" GAB_PRI_STEP ", a checkpoint %s of %" PRId32 " process%s, read in %.2f s",
          loaded.step, from, loaded.members, loaded.members == 1 ? "" : "es", loaded.seconds);
  if (gab_world_is_root(loop->world)) {
    gab_json *event = gab_event_begin(loop->events, "continued");
    gab_json_int(event, "of_step", loaded.step);
    gab_json_text(event, "from", from);
    gab_json_rounded(event, "seconds", loaded.seconds, 6);
    gab_event_end(loop->events, &event);
  }
  return share_out(loop);
}

/* The run time excludes this. */
static gab_status reserve(gab_timeloop *loop)
{
  const double start = gab_seconds();
  GAB_TRY(gab_checkpoint_reserve(loop->protection->checkpoint));
  const double seconds = gab_seconds() - start;
  loop->stats.reserve_seconds += seconds;
  loop->started += seconds;
  return GAB_OK;
}

static gab_status tell_memory(const gab_timeloop *loop)
{
  const gab_memory_use uses[] = {GAB_MEMORY_USE_COUNT, GAB_MEMORY_FIELD, GAB_MEMORY_SNAPSHOT};
  uint64_t most[3];
  for (int i = 0; i < 3; i++) most[i] = gab_memory_now(uses[i]);
  most[0] += gab_checkpoint_messages(loop->protection->checkpoint);
  GAB_TRY(gab_world_max_u64(loop->world, most, 3));
  gab_log(
      GAB_LOG_INFO,
      "memory of a process on this grid: %.1f MB at most, %.1f MB of them the state of blocks, %.1f MB checkpoints",
      1e-6 * (double)most[0], 1e-6 * (double)most[1], 1e-6 * (double)most[2]);
  return GAB_OK;
}

/* Reserves the second buffer after the node memory of the resumed checkpoint is free. Local recovery has other
 * buffers. */
gab_status gab_protection_start(gab_timeloop *loop)
{
  if (!loop->protection) return GAB_OK;
  GAB_TRY(gab_protection_choose_buffers(loop));
  GAB_TRY(reserve(loop));
  GAB_TRY(gab_protection_take(loop, false));
  gab_node_restart_destroy(&loop->protection->node_restart, true);
  if (!loop->protection->checkpoint->single && !loop->protection->local) GAB_TRY(reserve(loop));
  return tell_memory(loop);
}
