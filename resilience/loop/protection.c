/* How a time loop is protected: checkpoints when they are due, recovery when the world broke. */
#include "resilience/reports/completion.h"
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

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---------------------------------------------------------------- the loop's own entity */

static gab_status pack_position(void *user, gab_buffer *out)
{
  const gab_timeloop *loop = user;
  GAB_TRY(gab_put_i64(out, loop->step));
  GAB_TRY(gab_put_u8(out, loop->duties_pending));
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
  loop->duties_pending = pending != 0;
  loop->approximated = (gab_approximated){.blocks = 0};
  if (gab_reader_left(in) == 0) return GAB_OK; /* an exact state, which is all but always */
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

/* Unless told otherwise: spares where there are any, then the survivors, then the disk where it is used. */
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
  unsigned seating = GAB_SEATING_NONE;
  for (int i = 0; i < GAB_MOST_STRATEGIES; i++)
    if (options->strategies[i]) protection->strategies[protection->strategy_count++] = options->strategies[i];
  if (protection->strategy_count == 0) usual_strategies(loop, protection);
  GAB_TRY(gab_strategies_check(protection->strategies, protection->strategy_count));
  for (int i = 0; i < protection->strategy_count; i++) seating |= protection->strategies[i]->seating;
  const char *why_not = seating & GAB_SEATING_RESPAWN ? gab_world_why_no_respawn(loop->world) : NULL;
  if (why_not) GAB_FAIL(GAB_ERR_INPUT, "strategy 'respawn' is not possible: %s", why_not);
  gab_world_set_seating(loop->world, (gab_seating)seating);
  const bool seats = seating != GAB_SEATING_NONE;
  const int32_t spares = gab_world_spares(loop->world);
  if (seating == GAB_SEATING_SPARES && spares == 0)
    gab_log(GAB_LOG_WARNING, "strategy '%s': this job has no spare processes (gabion-launch --spares)",
            protection->strategies[0]->name);
  if (!seats && spares > 0)
    gab_log(GAB_LOG_WARNING,
            "%" PRId32 " spare process%s will never be called: no strategy of this run uses them", spares,
            spares == 1 ? "" : "es");
  return GAB_OK;
}

/* What was asked for has to be possible for the data that there is: found when a run starts, not when it dies. */
static gab_status prepare_reconstruction(const gab_timeloop *loop, gab_protection_state *protection)
{
  const char *name = gab_forest_irreplaceable(loop->forest);
  bool wanted = false;
  for (int i = 0; i < protection->strategy_count; i++)
    wanted = wanted || protection->strategies[i]->approximates;
  if (!wanted) return GAB_OK;
  if (name)
    GAB_FAIL(
        GAB_ERR_INPUT,
        "recovery strategy 'reconstruct': lost data of the kind '%s' cannot be approximated from what is around it",
        name);
  gab_checkpoint_keep_metadata_images(protection->checkpoint);
  return GAB_OK;
}

static gab_status prepare_local(gab_timeloop *loop, gab_protection_state *protection,
                                const gab_protection *options)
{
  if (!protection->strategies[0]->is_local) return GAB_OK;
  GAB_TRY(gab_local_check(options));
  if (gab_world_spares(loop->world) == 0) return GAB_OK; /* of which the run is warned */
  GAB_TRY(gab_local_run_create(loop, &protection->local));
  gab_local_set_log_limit(protection->local, options->log_limit);
  gab_local_set_verify(protection->local, options->verify);
  gab_local_set_own_every(protection->local, options->own_every);
  gab_local_set_commit(protection->local, options->commit_wait, options->commit_children);
  GAB_TRY(gab_local_set_clusters(protection->local, options->local_clusters));
  protection->recovery.local = protection->local;
  return GAB_OK;
}

/* Only the root can fail here. Nobody may write to the file before it was emptied. */
static gab_status open_events(gab_timeloop *loop, const char *folder)
{
  GAB_TRY(gab_events_create(loop->world, folder, &loop->events));
  const bool anew = !loop->restart && gab_launch_attempt() == 0; /* started again a run goes on */
  return gab_world_is_root(loop->world) && anew ? gab_events_clear(loop->events) : GAB_OK;
}

/* What became of the jobs before this one, as the root reads it: anybody may be the root later on. */
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

/* Of the run, whose id only the launcher hands out, and of the case: its file may have changed before the same command
 * goes on from what an earlier launcher has left. */
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

/* Each node has its own: several may share a file system, and emulated ones share a machine. */
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

/* What a relaunch finds in the memory of nodes has to be read without those who wrote it: as it is. */
static gab_compression compression_of(const gab_protection_state *protection, const gab_protection *options)
{
  if (options->compression == GAB_COMPRESSION_NONE || !protection->node_memory[0])
    return options->compression;
  gab_log(GAB_LOG_INFO, "copies in the memory of nodes are not compressed");
  return GAB_COMPRESSION_NONE;
}

/* Where a process can count as dead that lives: on another node, or by its silence. */
static bool may_be_cut_off(const gab_protection_state *protection)
{
  const gab_domains *domains = protection->checkpoint->domains;
  return (domains && gab_domains_number(domains, GAB_DOMAIN_NODE) > 1) || getenv("GABION_DEAD_AFTER") ||
         gab_quarantine_is_watched();
}

/* Of two parts that were parted at one instant the one may notice it so much later than the other. */
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

static gab_status build_guard(gab_timeloop *loop, const gab_protection *options,
                              gab_protection_state *protection)
{
  /* First of all, since the ports of those that go on have to be the same. */
  GAB_TRY(gab_output_settle(loop->world, open_events(loop, options->folder)));
  protection->killed = gab_system_memory_look().killed;
  GAB_TRY(read_past(loop, protection, options->folder));
  if (options->node_memory) GAB_TRY(gab_output_settle(loop->world, open_node_memory(protection, options)));
  GAB_TRY(gab_checkpoint_create(loop->forest, &options->redundancy, &protection->checkpoint));
  GAB_TRY(add_entities(loop, protection->checkpoint));
  if (options->disk.folder)
    GAB_TRY(gab_disk_create(protection->checkpoint, loop->events, &options->disk, &protection->disk));
  GAB_TRY(begin_fence(loop, protection, options));
  if (options->drill_count)
    GAB_TRY(gab_drills_create(loop->world, options->drills, options->drill_count, loop->events,
                              &protection->drills));
  if (protection->drills) gab_drills_set_forest(protection->drills, loop->forest);
  GAB_TRY(gab_stop_create(loop->world, options->deadline, &protection->stop));
  loop->lock = options->lock;
  if (options->folder) snprintf(loop->folder, sizeof loop->folder, "%s", options->folder);
  GAB_TRY(gab_checkpoint_set_buffers(protection->checkpoint, options->buffers ? options->buffers : 2));
  GAB_TRY(gab_checkpoint_set_compression(protection->checkpoint, compression_of(protection, options)));
  gab_checkpoint_set_events(protection->checkpoint, loop->events);
  protection->buffers = options->buffers;
  protection->scrub = options->scrub;
  protection->memory = (gab_clock){.every = options->every, .next = -1};
  protection->overlap =
      (gab_overlap){.wanted = options->overlap && options->buffers != 1, .from = -1, .there = -1};
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
                                        .fence = protection->fence,
                                        .approximated = &loop->approximated,
                                        .rebalance = options->rebalance,
                                        .rebalance_user = options->rebalance_user,
                                        .pack_history = gab_protection_pack_history,
                                        .unpack_history = gab_protection_unpack_history,
                                        .history_user = loop};
  GAB_TRY(choose_strategies(loop, protection, options));
  GAB_TRY(prepare_local(loop, protection, options));
  return prepare_reconstruction(loop, protection);
}

gab_status gab_timeloop_protect(gab_timeloop *loop, const gab_protection *options)
{
  if (loop->protection) GAB_FAIL(GAB_ERR_STATE, "the time loop is protected already");
  if (loop->is_running) GAB_FAIL(GAB_ERR_STATE, "the time loop runs already: it has to be protected before");
  void *memory;
  GAB_TRY(gab_alloc(sizeof(gab_protection_state), GAB_MEMORY_OTHER, &memory));
  gab_protection_state *protection = memory;
  gab_status status = build_guard(loop, options, protection);
  if (status != GAB_OK) {
    gab_protection_destroy(&protection);
    gab_events_destroy(&loop->events);
    return status;
  }
  loop->protection = protection;
  return GAB_OK;
}

void gab_protection_destroy(gab_protection_state **protection)
{
  if (!*protection) return;
  gab_local_run_destroy(&(*protection)->local);
  gab_drills_destroy(&(*protection)->drills);
  gab_stop_destroy(&(*protection)->stop);
  gab_disk_destroy(&(*protection)->disk);
  gab_run_lock_set_fence((*protection)->fenced_lock, NULL);
  gab_fence_release(&(*protection)->fence);
  gab_checkpoint_destroy(&(*protection)->checkpoint);
  gab_node_restart_destroy(&(*protection)->node_restart, false);
  if ((*protection)->node_memory[0]) gab_node_memory_close((*protection)->spent);
  gab_free(protection);
}

/* ---------------------------------------------------------------- checkpoints */

static int32_t seats_taken(const gab_members *members)
{
  int32_t taken = 0;
  for (int32_t i = 0; i < members->return_count; i++) taken += (int32_t)members->returns[i].incarnation;
  return taken;
}

static void tell_redundancy(const gab_protection_state *protection, const gab_placement *placement)
{
  char text[1024];
  gab_log(GAB_LOG_INFO, "redundancy: %s", gab_placement_describe(placement, text, sizeof text));
  if (gab_placement_warning(placement, gab_checkpoint_redundancy(protection->checkpoint), text, sizeof text))
    gab_log(GAB_LOG_WARNING, "%s", text);
}

static const char *newest_kind(const gab_world *world)
{
  const gab_members *members = gab_world_members(world);
  for (int32_t i = 0; i < members->return_count; i++)
    if (members->returns[i].seat >= gab_world_first_seats(world)) return "new process";
  return "spare";
}

/* Who took over may sit in another domain than the one before: the copies were placed anew by that. */
static void tell_separation(const gab_timeloop *loop, const gab_placement *placement, bool separate)
{
  const char *kind = gab_domain_name(placement->separate);
  if (!placement->domains)
    gab_log(
        GAB_LOG_WARNING,
        "where respawned processes sit is not known: copies are placed without a look at failure domains");
  else if (separate)
    gab_log(GAB_LOG_INFO, "no image lies in one %s with all of its copies any more: any one %s can be lost",
            kind, kind);
  else
    gab_log(
        GAB_LOG_WARNING,
        "a %s sits in another %s than the process whose seat it took, and however copies are placed, some images lie in "
        "one %s with all of theirs: the loss of a %s may be more than they cover",
        newest_kind(loop->world), kind, kind, kind);
  if (!gab_world_is_root(loop->world)) return;
  gab_json *event = gab_event_begin(loop->events, "failure domains");
  gab_json_text(event, "kind", kind);
  gab_json_bool(event, "separate", separate);
  gab_event_end(loop->events, &event);
}

void gab_protection_tell(gab_timeloop *loop)
{
  gab_protection_state *protection = loop->protection;
  const gab_members *members = gab_world_members(loop->world);
  const int32_t count = gab_members_count(members), seated = seats_taken(members);
  const gab_placement *placement = gab_checkpoint_placement(protection->checkpoint);
  if (!placement || count < 2 || (count == protection->told && seated == protection->seated)) return;
  const bool separate = gab_placement_get_costs(placement, 1).any_domain;
  if (count != protection->told) tell_redundancy(protection, placement);
  else if (separate != protection->separate) tell_separation(loop, placement, separate);
  protection->told = count;
  protection->seated = seated;
  protection->separate = separate;
}

void gab_protection_warn(const gab_timeloop *loop)
{
  const gab_protection_state *protection = loop->protection;
  if (!gab_world_survives_deaths(loop->world))
    gab_log(GAB_LOG_WARNING,
            "this MPI has no fault tolerance (ULFM): the run will not survive the death of a process");
  else if (protection->checkpoint && gab_members_count(gab_world_members(loop->world)) == 1)
    gab_log(GAB_LOG_INFO, "one process only: there is nobody to keep a copy of its state");
}

gab_status gab_protection_scrub(gab_timeloop *loop)
{
  gab_protection_state *protection = loop->protection;
  bool beyond;
  if (protection->scrub == 0 || loop->step % protection->scrub != 0) return GAB_OK;
  gab_timer_start(loop->timers, loop->checkpoint_timer);
  gab_status status = gab_checkpoint_scrub(protection->checkpoint, &beyond);
  gab_timer_stop(loop->timers, loop->checkpoint_timer);
  GAB_TRY(status);
  if (!beyond) return GAB_OK;
  gab_log(GAB_LOG_WARNING, "%s: a new snapshot is taken", gab_error_message());
  return gab_protection_take(loop, false);
}

/* ---------------------------------------------------------------- stopping in time */

static double time_to_stop(const gab_protection_state *protection)
{
  double reserve = gab_checkpoint_get_stats(protection->checkpoint).last_seconds;
  if (protection->disk) reserve += gab_disk_get_stats(protection->disk).last_seconds;
  return reserve;
}

static gab_status stop(gab_timeloop *loop, gab_stop_reason reason)
{
  gab_log(GAB_LOG_INFO, "stopping at step %" GAB_PRI_STEP ": %s", loop->step, gab_stop_text(reason));
  if (gab_world_is_root(loop->world)) {
    gab_json *event = gab_event_begin(loop->events, "stop");
    gab_json_text(event, "reason", gab_stop_text(reason));
    gab_event_end(loop->events, &event);
  }
  bool safe;
  GAB_TRY(gab_protection_disk_now(loop, &safe));
  if (safe)
    GAB_FAIL(GAB_ERR_REQUEUE,
             "stopped at step %" GAB_PRI_STEP " because %s: the same command goes on from there", loop->step,
             gab_stop_text(reason));
  GAB_FAIL(GAB_ERR_ENDED,
           "stopped at step %" GAB_PRI_STEP
           " because %s, with nothing on disk to go on from: the same command starts "
           "at the beginning",
           loop->step, gab_stop_text(reason));
}

gab_status gab_protection_stop(gab_timeloop *loop)
{
  gab_protection_state *protection = loop->protection;
  if (!protection || loop->step >= loop->steps || gab_local_has_part(loop)) return GAB_OK;
  gab_stop_reason reason;
  GAB_TRY(gab_stop_ask(protection->stop, loop->step, gab_protection_step_seconds(loop),
                       time_to_stop(protection), &reason));
  return reason == GAB_STOP_NOT ? GAB_OK : stop(loop, reason);
}

/* What is not asked for now is answered at the next checkpoint and done at the one after. */
static double time_to_stop_later(const gab_timeloop *loop)
{
  return time_to_stop(loop->protection) +
         2 * (double)loop->protection->memory.every.steps * gab_protection_step_seconds(loop);
}

gab_status gab_protection_stop_at_checkpoint(gab_timeloop *loop)
{
  gab_protection_state *protection = loop->protection;
  gab_stop_reason reason = GAB_STOP_NOT;
  if (gab_local_is_on(loop)) {
    uint64_t why = gab_stop_look(protection->stop, time_to_stop_later(loop));
    GAB_TRY(gab_local_whether_to_stop(loop, &why));
    reason = (gab_stop_reason)why;
  } else GAB_TRY(gab_stop_look_together(protection->stop, time_to_stop_later(loop), &reason));
  if (reason == GAB_STOP_NOT) return GAB_OK;
  GAB_TRY(gab_local_enter(loop));
  return stop(loop, reason);
}

/* ---------------------------------------------------------------- recovery */

const char *gab_fault_who(const gab_slot *lost, int32_t listed, int32_t count, char *text, size_t room)
{
  enum { SLOT = 13, MORE = 23 }; /* ", 2147483647", " and 2147483647 more" */
  size_t used = (size_t)snprintf(text, room, "%s", count == 0 ? "nobody" : count == 1 ? "slot " : "slots ");
  int32_t i = 0;
  for (; i < listed && i < count && used + SLOT + MORE < room; i++)
    used += (size_t)snprintf(text + used, room - used, "%s%" GAB_PRI_SLOT, i ? ", " : "", lost[i]);
  if (i < count) snprintf(text + used, room - used, " and %" PRId32 " more", count - i);
  return text;
}

static void remember(gab_timeloop *loop, const gab_fault *fault)
{
  gab_run_stats *stats = &loop->stats;
  if (stats->fault_count < GAB_MOST_FAULT_RECORDS) {
    gab_fault_record *record = &loop->records[stats->fault_count];
    record->fault = *fault;
    record->fault.lost = NULL;
    for (int32_t i = 0; i < fault->lost_count && i < GAB_MOST_LOST_RECORDS; i++)
      record->lost[i] = fault->lost[i];
  }
  stats->fault_count++;
  stats->lost_slots += fault->lost_count;
  stats->recovery_seconds += fault->seconds;
  stats->rolled_back += fault->noticed_step - fault->restored_step;
}

void gab_fault_to_json(gab_json *json, const gab_fault *fault, const gab_slot *lost, int32_t count)
{
  gab_json_list(json, "lost");
  for (int32_t i = 0; i < count; i++) gab_json_int(json, NULL, lost[i]);
  gab_json_close(json);
  gab_json_int(json, "lost_count", fault->lost_count);
  gab_json_text(json, "strategy", fault->strategy ? fault->strategy : "");
  gab_json_text(json, "scope", fault->is_local ? "local" : "global");
  gab_json_int(json, "returned", fault->returned);
  gab_json_uint(json, "incarnation", fault->incarnation);
  gab_json_int(json, "respawned", fault->respawned);
  gab_json_int(json, "noticed_step", fault->noticed_step);
  gab_json_int(json, "restored_step", fault->restored_step);
  gab_json_int(json, "rounds", fault->rounds);
  gab_json_rounded(json, "seconds", fault->seconds, 6);
  gab_json_rounded(json, "revoke", fault->revoke, 6);
  gab_json_rounded(json, "shrink", fault->shrink, 6);
  gab_json_rounded(json, "agree", fault->agree, 6);
  gab_json_rounded(json, "restore", fault->restore, 6);
  gab_json_rounded(json, "reprotect", fault->reprotect, 6);
  gab_json_rounded(json, "rebalance", fault->rebalance, 6);
  gab_json_uint(json, "reconstructed_blocks", fault->approximated);
}

static const char *who_took_over(const gab_fault *fault)
{
  if (fault->respawned == 0) return fault->returned == 1 ? "spare" : "spares";
  if (fault->respawned < fault->returned) return "spares and new processes";
  return fault->returned == 1 ? "new process" : "new processes";
}

static void log_recovery(gab_timeloop *loop, const gab_fault *fault)
{
  char lost[256], seated[96] = "";
  gab_fault_who(fault->lost, fault->lost_count, fault->lost_count, lost, sizeof lost);
  if (fault->returned > 0)
    snprintf(seated, sizeof seated, ", %s took over%s", who_took_over(fault),
             fault->returned < fault->lost_count ? " as far as there were any" : "");
  gab_log(GAB_LOG_WARNING,
          "%s%s%s; back from step %" GAB_PRI_STEP " to step %" GAB_PRI_STEP
          ", going on with %d of %d slots after %.3f s (%d round%s: revoke %.4f, shrink %.4f, agree %.4f, "
          "restore "
          "%.4f, protect again %.4f, rebalance %.4f s)",
          lost, fault->lost_count == 0 ? " died, but the world was broken" : " died", seated,
          fault->noticed_step, fault->restored_step, gab_members_count(gab_world_members(loop->world)),
          gab_world_members(loop->world)->slots, fault->seconds, fault->rounds, fault->rounds == 1 ? "" : "s",
          fault->revoke, fault->shrink, fault->agree, fault->restore, fault->reprotect, fault->rebalance);
  if (!gab_world_is_root(loop->world)) return;
  gab_json *event = gab_event_begin(loop->events, "recovery");
  gab_fault_to_json(event, fault, fault->lost, fault->lost_count);
  gab_event_end(loop->events, &event);
}

/* Whoever asks for more memory than a node has is ended by its system, and nobody says so. At most two processes of a
 * node look: one may be the one that died. */
static void suspect_memory(const gab_protection_state *protection)
{
  const char *local = getenv("OMPI_COMM_WORLD_LOCAL_RANK");
  const gab_system_memory now = gab_system_memory_look();
  if (now.killed <= protection->killed || (local && strtol(local, NULL, 10) > 1)) return;
  gab_log_all(GAB_LOG_WARNING,
              "lack of memory is suspected: the system of this node has ended %" PRIu64
              " process%s for it since the run began; this process holds %.1f MB, %.1f MB are free",
              now.killed - protection->killed, now.killed - protection->killed == 1 ? "" : "es",
              1e-6 * (double)gab_memory_now(GAB_MEMORY_USE_COUNT), 1e-6 * (double)now.available);
}

/* Without protection nothing can be restored, but all have to end together. */
static gab_status end_unprotected(gab_timeloop *loop, gab_status why)
{
  gab_status intent;
  if (why != GAB_ERR_FAULT) gab_world_raise(loop->world, why);
  GAB_TRY(gab_world_repair(loop->world, &intent));
  if (intent == GAB_ERR_SUSPECT) {
    char words[1024];
    snprintf(words, sizeof words, "%s", gab_error_message());
    GAB_FAIL(GAB_ERR_DIVERGED, "%s; the time loop is not protected: there is nothing to go back to", words);
  }
  if (intent != GAB_OK) return intent;
  GAB_FAIL(GAB_ERR_LOST, "a process died, and the time loop is not protected");
}

static gab_status recover_once(gab_timeloop *loop, const gab_status *called, gab_fault *fault,
                               gab_slot **lost)
{
  gab_protection_state *protection = loop->protection;
  if (called) {
    gab_json *event = gab_event_begin(loop->events, "called");
    gab_json_int(event, "seat", gab_world_seat(loop->world));
    gab_event_end(loop->events, &event);
  } else if (!gab_local_gathers(loop)) {
    gab_note_fault(loop->events, loop->world);
  }
  if (protection->local) gab_local_note_claim(protection->local);
  const gab_status status = gab_recover(&protection->recovery, protection->strategies,
                                        protection->strategy_count, called, lost, fault);
  if (fault->lost_count > 0 || status == GAB_ERR_LOST) suspect_memory(protection);
  GAB_TRY(status);
  gab_run_lock_follow(loop->lock);
  gab_world_set_step(loop->world, loop->step);
  protection->past_losses += fault->from_disk;
  gab_timer_add(loop->timers, loop->recovery_timer, fault->seconds);
  loop->monitored = -1;
  const bool gathered = fault->is_local; /* each fault was told of by itself */
  if (fault->suspect && fault->lost_count == 0)
    loop->stats.rolled_back += fault->noticed_step - fault->restored_step;
  else if (!gathered) remember(loop, fault);
  if (gathered || (fault->suspect && fault->lost_count == 0)) loop->stats.recovery_seconds += fault->seconds;
  else log_recovery(loop, fault);
  loop->recent_step = loop->step;
  loop->recent_time = gab_seconds();
  if (loop->on_fault && !gathered) loop->on_fault(loop->on_fault_user, fault);
  return GAB_OK;
}

/* Deaths that come again and again before the next checkpoint are no accident; a task that claims a fault in
 * a whole world would be repeated for ever. */
static gab_status check_progress(gab_protection_state *protection, const gab_fault *fault)
{
  if (fault->restored_step > protection->furthest) {
    protection->tries = 0;
    protection->furthest = fault->restored_step;
  }
  if (fault->lost_count > 0 && ++protection->tries > protection->most_tries)
    GAB_FAIL(GAB_ERR_ENDED,
             "processes died %d times in a row on the way from step %" GAB_PRI_STEP
             " to the next checkpoint: giving up (resilience.tries; a shorter resilience.memory.every helps "
             "if the "
             "deaths are independent)",
             protection->tries, fault->restored_step);
  protection->barren = fault->lost_count > 0 ? 0 : protection->barren + 1;
  if (protection->barren <= GAB_MOST_BARREN_RECOVERIES) return GAB_OK;
  GAB_FAIL(GAB_ERR_STATE, "%d recoveries in a row from step %" GAB_PRI_STEP ", and nobody had died",
           protection->barren, fault->noticed_step);
}

gab_status gab_timeloop_go_back(gab_timeloop *loop, gab_step *step)
{
  *step = -1;
  if (!loop->protection || gab_checkpoint_get_stats(loop->protection->checkpoint).last_step < 0)
    return GAB_OK;
  const gab_step end = loop->step;
  gab_restore_report restored;
  GAB_TRY(gab_checkpoint_restore(loop->protection->checkpoint, &restored));
  loop->step = end; /* the run has ended there */
  *step = restored.step;
  return GAB_OK;
}

/* Before the first snapshot of this job nothing has been computed that could be lost; what an earlier job left, the next
 * one will find again. Where only newcomers are left nobody knows whether there was a snapshot: there is nothing to go on from but
 * what the next job finds. Equal on all: whether somebody had a snapshot is what the recovery asked them. */
static bool may_start_again(const gab_protection_state *protection)
{
  return gab_checkpoint_get_stats(protection->checkpoint).taken == 0;
}

/* @return GAB_ERR_AGAIN, with what is lost by it */
static gab_status start_again(const gab_protection_state *protection)
{
  const bool in_memory = protection->node_memory[0] != '\0';
  if (protection->checkpoint->all_are_new)
    GAB_FAIL(
        GAB_ERR_AGAIN,
        "all processes died that may have held a checkpoint, and those that took over from them hold none: %s",
        in_memory ? "what lies in the memory of the nodes lies there still"
                  : "what was computed since the last checkpoint on disk, or since the beginning, is lost");
  if (in_memory)
    GAB_FAIL(GAB_ERR_AGAIN,
             "a process died before this job had a snapshot of its own: what lies in the memory of the "
             "nodes lies there still");
  GAB_FAIL(GAB_ERR_AGAIN, "a process died before the first checkpoint was complete: nothing is lost");
}

gab_status gab_protection_recover(gab_timeloop *loop, gab_status why, const gab_status *called)
{
  bool alone = false;
  if (!loop->protection) return end_unprotected(loop, why);
  if (!called && why == GAB_ERR_FAULT) GAB_TRY(gab_local_go_back(loop, &alone));
  if (alone) return GAB_OK;
  gab_slot *lost = NULL;
  gab_status status = why;
  bool interrupted = false;
  do {
    gab_fault fault = {.noticed_step = loop->step};
    const bool complained = status == GAB_ERR_SUSPECT;
    if (!called && status != GAB_ERR_FAULT) gab_world_raise(loop->world, status);
    if (loop->protection->disk && gab_disk_abandon(loop->protection->disk)) interrupted = true;
    loop->protection->overlap.from = -1; /* what was under way went with the fault */
    status = recover_once(loop, called, &fault, &lost);
    called = NULL;
    if (status != GAB_OK) break;
    gab_stop_restart(loop->protection->stop, loop->step);
    status = check_progress(loop->protection, &fault);
    if (status == GAB_OK && fault.suspect) status = gab_monitors_judge(loop, &fault, complained);
    if (status == GAB_OK) status = gab_protection_disk_again(loop, interrupted);
    if (status == GAB_OK) status = gab_protection_set_clocks(loop);
  } while (status != GAB_OK);
  gab_free(&lost);
  /* A recovery that went through ended with a snapshot of this job. */
  if (status == GAB_OK) gab_node_restart_destroy(&loop->protection->node_restart, true);
  if (status != GAB_ERR_LOST || !may_start_again(loop->protection)) return status;
  return start_again(loop->protection);
}
