/* SPDX-License-Identifier: Apache-2.0 */
/* Local recovery as a strategy, and parameters that exclude it. */
#include "resilience/local/local_run_impl.h"

#include "core/messages/collective.h"

/* ---------------------------------------------------------------- excluded parameters */

static gab_status check(const gab_protection *options)
{
  const gab_redundancy *redundancy = &options->redundancy;
  const gab_scheme *scheme = redundancy->scheme ? redundancy->scheme : &gab_scheme_pairwise;
  bool others = false;
  for (int i = 0; i < GAB_MOST_STRATEGIES && options->strategies[i]; i++)
    others = others || (i > 0 && options->strategies[i]->local) || options->strategies[i]->approximates ||
             (options->strategies[i]->replacement & GAB_REPLACEMENT_RESPAWN);
  if (others)
    GAB_FAIL(GAB_ERR_INPUT,
             "strategy 'local' must be the first of the list, and excludes 'respawn' and 'reconstruct'");
  if (scheme->kind != GAB_SCHEME_COPIES || redundancy->copies > 1)
    GAB_FAIL(
        GAB_ERR_INPUT,
        "strategy 'local' needs one copy of each image (resilience.scheme: pairwise or ring, resilience.copies: 1)");
  if (options->every.mode != GAB_INTERVAL_STEPS || options->every.steps == 0)
    GAB_FAIL(GAB_ERR_INPUT, "strategy 'local' needs resilience.memory.every to be a number of steps");
  if (options->disk_every.mode != GAB_INTERVAL_STEPS)
    GAB_FAIL(GAB_ERR_INPUT, "strategy 'local' needs resilience.disk.every to be a number of steps, or never");
  if (options->own_every < 0 || (options->own_every > 0 && options->own_every >= options->every.steps))
    GAB_FAIL(
        GAB_ERR_INPUT,
        "resilience.local.own_every must be below resilience.memory.every: checkpoints of a cluster come more often than common ones");
  if (options->own_every > 0 && options->log_limit > 0)
    GAB_FAIL(GAB_ERR_INPUT,
             "resilience.local.own_every excludes resilience.local.log_limit: logs are freed when clusters "
             "commit their own checkpoints");
  if (options->overlap != GAB_OVERLAP_NEVER)
    GAB_FAIL(GAB_ERR_INPUT,
             "resilience.memory.overlap has no effect with strategy 'local': copies always travel during the "
             "next steps; remove it");
  if (options->buffers == 1 || options->compression != GAB_COMPRESSION_NONE || options->scrub != 0)
    GAB_FAIL(GAB_ERR_INPUT, "strategy 'local' excludes resilience.memory.buffers: 1, "
                            "resilience.memory.compression and resilience.scrub");
  if (options->within_node == GAB_WITHIN_NODE_SHARE)
    GAB_FAIL(
        GAB_ERR_INPUT,
        "strategy 'local' excludes resilience.memory.within_node: share, since each holder stores its images");
  if (options->node_memory)
    GAB_FAIL(GAB_ERR_INPUT, "strategy 'local' excludes snapshots in node memory (--relaunch)");
  return GAB_OK;
}

/* ---------------------------------------------------------------- the strategy */

/* Nothing needs to be restored if all ranks had gathered; otherwise the next strategy continues. A death before the
 * next checkpoint leads back to the last one, which all ranks have completely. No checkpoint is taken here, since
 * post-step actions that use data of the last step may be pending. Collective. */
static gab_status restore(const gab_recovery *recovery, gab_fault *fault)
{
  gab_local_run *run = recovery->local;
  const gab_snapshot *valid = &recovery->checkpoint->snapshots[recovery->checkpoint->valid];
  const bool whole = run && run->is_gathering && fault->lost_count == 0 && !fault->suspect && valid->complete;
  uint64_t common[3] = {whole, valid->serial, UINT64_MAX - valid->serial};
  if (run) run->is_gathering = false;
  GAB_TRY(gab_world_min_u64(recovery->world, common, 3));
  if (!common[0] || common[1] != UINT64_MAX - common[2])
    GAB_FAIL(GAB_ERR_LOST, "local recovery was handed over");
  fault->restored_step = fault->noticed_step;
  run->has_gathered = true;
  /* Replacement processes have not counted the blocks, so all count again. */
  run->loop->protection->checkpoint->counted = false;
  return GAB_OK;
}

static const gab_local_recovery recovery_of_ranks = {
    .check = check,
    .create = gab_local_run_create,
    .destroy = gab_local_run_destroy,
    .begin = gab_local_begin,
    .enter = gab_local_enter,
    .checkpoint = gab_local_checkpoint_due,
    .help = gab_local_help,
    .is_on = gab_local_is_on,
    .go_back = gab_local_go_back,
    .before_repair = gab_local_before_repair,
    .after_repair = gab_local_after_repair,
    .faults = gab_local_faults,
};

const gab_strategy gab_strategy_local = {
    .name = "local",
    .doc = "a spare process takes the rank of a dead one and rolls back alone; its neighbours replay"
           " their messages (doc/local-recovery.md)",
    .restore = restore,
    .replacement = GAB_REPLACEMENT_SPARES,
    .local = &recovery_of_ranks,
};
