/* SPDX-License-Identifier: Apache-2.0 */
/* Local recovery as a strategy, and parameters that exclude it. */
#include "resilience/local/local_run_impl.h"

#include "core/messages/collective.h"

/* ---------------------------------------------------------------- what does not go with it */

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
             "strategy 'local' must be the first of the list, and does not go with 'respawn' and "
             "'reconstruct'");
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
        "checkpoints of a cluster (resilience.local.own_every) come more often than those of all (resilience.memory.every)");
  if (options->own_every > 0 && options->log_limit > 0)
    GAB_FAIL(
        GAB_ERR_INPUT,
        "resilience.local.own_every does not go with resilience.local.log_limit: logs are freed when clusters "
        "commit their own checkpoints");
  if (options->overlap != GAB_OVERLAP_NEVER)
    GAB_FAIL(GAB_ERR_INPUT,
             "resilience.memory.overlap has no meaning with strategy 'local': copies always travel "
             "behind the steps");
  if (options->buffers == 1 || options->compression != GAB_COMPRESSION_NONE || options->scrub != 0)
    GAB_FAIL(GAB_ERR_INPUT, "strategy 'local' does not go with resilience.memory.buffers: 1, "
                            "resilience.memory.compression and resilience.scrub");
  if (options->within_node == GAB_WITHIN_NODE_SHARE)
    GAB_FAIL(
        GAB_ERR_INPUT,
        "strategy 'local' does not go with resilience.memory.within_node: share, since it keeps images of its own");
  if (options->node_memory)
    GAB_FAIL(GAB_ERR_INPUT,
             "strategy 'local' does not go with snapshots in the memory of nodes (--relaunch)");
  return GAB_OK;
}

/* ---------------------------------------------------------------- the strategy */

/* What is left to all: nothing if they had gathered for it; else the next strategy goes on. The last checkpoint, which
 * is whole with all of them, is what a death before the next one leads back to: there is none of this moment, since post-step
 * actions may be pending, which work with what the last step has left behind. Collective. */
static gab_status restore(const gab_recovery *recovery, gab_fault *fault)
{
  gab_local_run *run = recovery->local;
  const gab_snapshot *valid = &recovery->checkpoint->snapshots[recovery->checkpoint->valid];
  const bool whole = run && run->gathers && fault->lost_count == 0 && !fault->suspect && valid->complete;
  uint64_t common[3] = {whole, valid->serial, UINT64_MAX - valid->serial};
  if (run) run->gathers = false;
  GAB_TRY(gab_world_min_u64(recovery->world, common, 3));
  if (!common[0] || common[1] != UINT64_MAX - common[2])
    GAB_FAIL(GAB_ERR_LOST, "local recovery was handed over");
  fault->restored_step = fault->noticed_step;
  run->gathered = true;
  /* Who took a rank has not counted the blocks: all do again. */
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
