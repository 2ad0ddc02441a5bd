/* SPDX-License-Identifier: Apache-2.0 */
/* Protection of a time loop: due checkpoints, recovery after a fault. */
#include "resilience/reports/completion.h"
#include "blockforest/output/output_retry.h"
#include "resilience/reports/history.h"
#include "resilience/checkpoint/checkpoint_impl.h"
#include "resilience/loop/timeloop_impl.h"

#include "blockforest/output/output.h"
#include "blockforest/migration/reconstruct.h"
#include "core/messages/collective.h"
#include "core/base/hash.h"
#include "core/base/log.h"
#include "core/memory/node_memory.h"
#include "core/world/quarantine.h"
#include "core/memory/system_memory.h"
#include "resilience/reports/events_impl.h"
#include "resilience/recovery/fence_impl.h"
#include "resilience/disk/disk_impl.h"
#include "resilience/loop/fault_injection_impl.h"
#include "resilience/recovery/recovery_impl.h"
#include "resilience/run_folder/run_lock_impl.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---------------------------------------------------------------- the loop's own entity */

static gab_status pack_position(void *user, gab_buffer *out)
{
  const gab_timeloop *loop = user;
  GAB_TRY(gab_put_i64(out, loop->step));
  GAB_TRY(gab_put_u8(out, loop->actions_pending ? (uint8_t)(1 + loop->next_action) : 0));
  if (loop->approximated.blocks == 0) return GAB_OK;
  GAB_TRY(gab_put_u64(out, loop->approximated.blocks));
  return gab_put_i64(out, loop->approximated.since);
}

static gab_status unpack_position(void *user, gab_reader *in)
{
  gab_timeloop *loop = user;
  int64_t step;
  uint8_t pending;
  GAB_TRY(gab_get_i64(in, &step));
  GAB_TRY(gab_get_u8(in, &pending));
  loop->step = step;
  loop->actions_pending = pending != 0;
  loop->next_action = pending > 1 ? pending - 1 : 0;
  loop->approximated = (gab_approximated){.blocks = 0};
  if (gab_reader_left(in) == 0) return GAB_OK; /* an exact state, the usual case */
  int64_t since;
  GAB_TRY(gab_get_u64(in, &loop->approximated.blocks));
  GAB_TRY(gab_get_i64(in, &since));
  loop->approximated.since = since;
  return GAB_OK;
}

/* ---------------------------------------------------------------- turning it on */

static gab_status add_entities(gab_timeloop *loop, gab_checkpoint *checkpoint)
{
  gab_entity position = {.name = "time loop",
                         .kind = GAB_ENTITY_REPLICATED,
                         .user = loop,
                         .pack = pack_position,
                         .unpack = unpack_position};
  GAB_TRY(gab_checkpoint_add_entity(checkpoint, &position));
  for (int i = 0; i < loop->entity_count; i++)
    GAB_TRY(gab_checkpoint_add_entity(checkpoint, &loop->entities[i]));
  return GAB_OK;
}

/* Default strategies: spares if there are any, then the survivors, then the disk if it is used. */
static void usual_strategies(const gab_timeloop *loop, gab_protection_state *protection)
{
  if (gab_world_spares(loop->world) > 0)
    protection->strategies[protection->strategy_count++] = &gab_strategy_spare;
  protection->strategies[protection->strategy_count++] = &gab_strategy_shrink;
  if (gab_protection_uses_disk(protection))
    protection->strategies[protection->strategy_count++] = &gab_strategy_disk;
}

static gab_status choose_strategies(const gab_timeloop *loop, gab_protection_state *protection,
                                    const gab_protection *options)
{
  unsigned replacement = GAB_REPLACEMENT_NONE;
  for (int i = 0; i < GAB_MOST_STRATEGIES; i++)
    if (options->strategies[i]) protection->strategies[protection->strategy_count++] = options->strategies[i];
  if (protection->strategy_count == 0) usual_strategies(loop, protection);
  GAB_TRY(gab_strategies_check(protection->strategies, protection->strategy_count));
  for (int i = 0; i < protection->strategy_count; i++) replacement |= protection->strategies[i]->replacement;
  const char *why_not = replacement & GAB_REPLACEMENT_RESPAWN ? gab_world_why_no_respawn(loop->world) : NULL;
  if (why_not) GAB_FAIL(GAB_ERR_INPUT, "strategy 'respawn' is not possible: %s", why_not);
  gab_world_set_replacement(loop->world, (gab_replacement)replacement);
  const bool replaces = replacement != GAB_REPLACEMENT_NONE;
  const int32_t spares = gab_world_spares(loop->world);
  if (replacement == GAB_REPLACEMENT_SPARES && spares == 0)
    gab_log(GAB_LOG_WARNING, "strategy '%s': this job has no spare processes (gabion-launch --spares)",
            protection->strategies[0]->name);
  if (!replaces && spares > 0)
    gab_log(GAB_LOG_WARNING,
            "%" PRId32 " spare process%s will never be called: no strategy of this run uses them", spares,
            spares == 1 ? "" : "es");
  return GAB_OK;
}

/* Checks at the start of the run whether all data supports the requested approximation. */
static gab_status prepare_reconstruction(const gab_timeloop *loop, gab_protection_state *protection)
{
  const char *name = gab_forest_irreplaceable(loop->forest);
  bool wanted = false;
  for (int i = 0; i < protection->strategy_count; i++)
    wanted = wanted || protection->strategies[i]->approximates;
  if (!wanted) return GAB_OK;
  if (name)
    GAB_FAIL(GAB_ERR_INPUT,
             "recovery strategy 'reconstruct': lost data of the kind '%s' cannot be approximated "
             "from its neighbours",
             name);
  gab_checkpoint_keep_metadata_images(protection->checkpoint);
  return GAB_OK;
}

static gab_status prepare_local(gab_timeloop *loop, gab_protection_state *protection,
                                const gab_protection *options)
{
  const gab_local_recovery *local = protection->strategies[0]->local;
  if (!local) return GAB_OK;
  GAB_TRY(local->check(options));
  if (gab_world_spares(loop->world) == 0) return GAB_OK; /* the run has been warned */
  GAB_TRY(local->create(loop, options, &protection->local));
  protection->recovery.local = protection->local;
  return GAB_OK;
}

/* Only the root can fail here. No process may write to the file before it is truncated. */
static gab_status open_events(gab_timeloop *loop, const char *folder)
{
  GAB_TRY(gab_events_create(loop->world, folder, &loop->events));
  const bool anew = !loop->restart && gab_launch_attempt() == 0; /* a restarted run appends to the file */
  return gab_world_is_root(loop->world) && anew ? gab_events_clear(loop->events) : GAB_OK;
}

/* The history of earlier jobs, read by the root and sent to all, since any rank may become the root. */
static gab_status read_past(gab_timeloop *loop, gab_protection_state *protection, const char *folder)
{
  gab_history past = {.from = -1};
  if (folder && gab_world_is_root(loop->world)) gab_history_read(folder, &past);
  uint64_t facts[2] = {past.losses, (uint64_t)(1e3 * past.seconds)};
  GAB_TRY(gab_world_max_u64(loop->world, facts, 2));
  protection->past_losses = facts[0] < INT32_MAX ? (int)facts[0] : INT32_MAX - 1;
  protection->past_seconds = 1e-3 * (double)facts[1];
  if (facts[0] > 0)
    gab_log(GAB_LOG_INFO,
            "the jobs before this one met %" PRIu64 " loss%s that memory does not survive, in %.0f s",
            facts[0], facts[0] == 1 ? "" : "es", protection->past_seconds);
  return GAB_OK;
}

/* The key of snapshots: id of the run, from the launcher, and hash of the case, whose file may have changed since an
 * earlier launcher. */
static gab_status find_key(const gab_protection *options, gab_memory_key *key)
{
  const char *run = getenv("GABION_RUN");
  const char *state = options->disk.state ? options->disk.state : "";
  if (!run || strlen(run) < 32)
    GAB_FAIL(GAB_ERR_INPUT,
             "snapshots in the memory of nodes (GABION_NODE_MEMORY) need the id of the run (GABION_RUN): "
             "`gabion-launch --relaunch' hands out both");
  for (uint64_t i = 0; i < 2; i++)
    key->word[i] = gab_hash64(state, strlen(state), gab_hash64(run, strlen(run), i + 1));
  return GAB_OK;
}

/* Each node has a separate folder, since nodes may share a file system, and emulated nodes share a machine. */
static gab_status open_node_memory(gab_protection_state *protection, const gab_protection *options)
{
  char node[256] = "";
  const char *folder = options->node_memory, *told = getenv("GABION_NODE");
  if (told) snprintf(node, sizeof node, "%s", told);
  else gethostname(node, sizeof node - 1);
  GAB_TRY(find_key(options, &protection->node_key));
  if (snprintf(protection->node_memory, sizeof protection->node_memory, "%s/%s", folder, node) >=
      (int)sizeof protection->node_memory)
    GAB_FAIL(GAB_ERR_INPUT, "the name of folder %.60s... is too long", folder);
  const gab_status status = gab_node_memory_open(folder, node, protection->node_key);
  if (status != GAB_OK) protection->node_memory[0] = '\0'; /* nothing to close */
  return status;
}

/* Copies in node memory are not compressed, since a relaunch reads them without their writers. */
static gab_compression compression_of(const gab_protection_state *protection, const gab_protection *options)
{
  if (options->compression == GAB_COMPRESSION_NONE || !protection->node_memory[0])
    return options->compression;
  gab_log(GAB_LOG_INFO, "copies in the memory of nodes are not compressed");
  return GAB_COMPRESSION_NONE;
}

/* Whether a live process may count as dead: on another node, or after silence. */
static bool may_be_cut_off(const gab_protection_state *protection)
{
  const gab_domains *domains = protection->checkpoint->domains;
  return (domains && gab_domains_number(domains, GAB_DOMAIN_NODE) > 1) || getenv("GABION_DEAD_AFTER") ||
         gab_quarantine_is_watched();
}

/* The delay with which one of two parts may notice a cut after the other. */
static double patience_of(const gab_protection *options)
{
  const char *silence = getenv("GABION_CUT_AFTER");
  if (options->fence_wait > 0) return options->fence_wait;
  return fmax(GAB_USUAL_FENCE_WAIT, silence ? strtod(silence, NULL) : 0);
}

static gab_status begin_fence(gab_timeloop *loop, gab_protection_state *protection,
                              const gab_protection *options)
{
  uint64_t wanted = options->folder && options->lock && may_be_cut_off(protection);
  GAB_TRY(gab_world_max_u64(loop->world, &wanted, 1));
  if (!wanted) return GAB_OK;
  GAB_TRY(gab_fence_begin(loop->world, options->folder, patience_of(options), &protection->fence));
  if (protection->disk) gab_disk_set_fence(protection->disk, protection->fence);
  gab_run_lock_set_fence(options->lock, protection->fence);
  protection->fenced_lock = options->lock;
  return GAB_OK;
}

gab_status gab_protection_close_fence(gab_timeloop *loop)
{
  return loop->protection ? gab_fence_close(loop->protection->fence) : GAB_OK;
}

void gab_protection_check_fence(gab_timeloop *loop)
{
  gab_protection_state *protection = loop->protection;
  const double now = gab_seconds();
  if (!protection || !protection->fence || !gab_world_is_root(loop->world) ||
      now - protection->fence_looked < 1)
    return;
  protection->fence_looked = now;
  gab_fence_check(protection->fence);
}

/* After a wait for the disk, a part that was cut off meanwhile must not write. */
static void check_after_wait(const void *user)
{
  const gab_protection_state *protection = user;
  gab_fence_check(protection->fence);
}

static gab_status build_guard(gab_timeloop *loop, const gab_protection *options,
                              gab_protection_state *protection)
{
  /* First, since all processes must open the same ports. */
  GAB_TRY(gab_world_reduce_status(loop->world, open_events(loop, options->folder)));
  protection->killed = gab_system_memory_look().killed;
  GAB_TRY(read_past(loop, protection, options->folder));
  if (options->node_memory)
    GAB_TRY(gab_world_reduce_status(loop->world, open_node_memory(protection, options)));
  GAB_TRY(gab_checkpoint_create(loop->forest, &options->redundancy, &protection->checkpoint));
  GAB_TRY(add_entities(loop, protection->checkpoint));
  if (options->disk.folder)
    GAB_TRY(gab_disk_create(protection->checkpoint, loop->events, &options->disk, &protection->disk));
  GAB_TRY(begin_fence(loop, protection, options));
  if (options->injection_count)
    GAB_TRY(gab_fault_injector_create(loop->world, options->injections, options->injection_count,
                                      loop->events, &protection->injector));
  if (protection->injector) gab_fault_injector_set_forest(protection->injector, loop->forest);
  GAB_TRY(gab_stop_create(loop->world, options->deadline, &protection->stop));
  loop->lock = options->lock;
  if (options->folder) snprintf(loop->folder, sizeof loop->folder, "%s", options->folder);
  GAB_TRY(gab_checkpoint_set_buffers(protection->checkpoint, options->buffers ? options->buffers : 2));
  GAB_TRY(gab_checkpoint_set_compression(protection->checkpoint, compression_of(protection, options)));
  GAB_TRY(gab_checkpoint_set_within_node(protection->checkpoint, options->within_node));
  gab_checkpoint_set_events(protection->checkpoint, loop->events);
  protection->buffers = options->buffers;
  protection->scrub = options->scrub;
  protection->memory = (gab_clock){.every = options->every, .next = -1};
  protection->overlap = (gab_overlap){
      .wanted = options->buffers == 1 ? GAB_OVERLAP_NEVER : options->overlap, .from = -1, .there = -1};
  protection->on_disk = (gab_clock){.next = -1, .last = gab_seconds()};
  if (protection->disk) protection->on_disk.every = options->disk_every;
  protection->look = -1;
  loop->stats.disk_mtbf = options->disk_every.mtbf;
  protection->furthest = -1;
  protection->suspected = -1;
  protection->most_tries = options->tries > 0 ? options->tries : GAB_USUAL_TRIES;
  protection->recovery = (gab_recovery){.world = loop->world,
                                        .forest = loop->forest,
                                        .checkpoint = protection->checkpoint,
                                        .events = loop->events,
                                        .disk = protection->disk,
                                        .approximated = &loop->approximated};
  protection->rebalance = options->rebalance;
  protection->rebalance_user = options->rebalance_user;
  GAB_TRY(choose_strategies(loop, protection, options));
  GAB_TRY(prepare_local(loop, protection, options));
  return prepare_reconstruction(loop, protection);
}

gab_status gab_timeloop_protect(gab_timeloop *loop, const gab_protection *options)
{
  if (loop->protection) GAB_FAIL(GAB_ERR_STATE, "the time loop is protected already");
  if (loop->is_running) GAB_FAIL(GAB_ERR_STATE, "the time loop is already running: protect it before");
  gab_protection_state *protection;
  GAB_TRY(GAB_NEW(&protection, GAB_MEMORY_OTHER));
  gab_status status = build_guard(loop, options, protection);
  if (status != GAB_OK) {
    gab_protection_destroy(&protection);
    gab_events_destroy(&loop->events);
    return status;
  }
  loop->protection = protection;
  gab_output_on_wait(check_after_wait, protection);
  return GAB_OK;
}

const gab_local_recovery *gab_loop_local(const gab_timeloop *loop)
{
  const gab_protection_state *protection = loop->protection;
  return protection && protection->local ? protection->strategies[0]->local : NULL;
}

void gab_protection_destroy(gab_protection_state **protection)
{
  if (!*protection) return;
  gab_output_on_wait(NULL, NULL);
  if ((*protection)->local) (*protection)->strategies[0]->local->destroy(&(*protection)->local);
  gab_fault_injector_destroy(&(*protection)->injector);
  gab_stop_destroy(&(*protection)->stop);
  gab_disk_destroy(&(*protection)->disk);
  gab_run_lock_set_fence((*protection)->fenced_lock, NULL);
  gab_fence_release(&(*protection)->fence);
  gab_checkpoint_destroy(&(*protection)->checkpoint);
  gab_node_restart_destroy(&(*protection)->node_restart, false);
  if ((*protection)->node_memory[0]) gab_node_memory_close((*protection)->spent);
  gab_free(protection);
}
