/* SPDX-License-Identifier: Apache-2.0 */
/* A generation of local recovery: the state machine and the reliable channel of this process, and their interaction. */
#include "resilience/local/local_run_impl.h"

#include "core/base/log.h"
#include "resilience/reports/events_impl.h"

#include <stdio.h>
#include <string.h>

enum { COPY_BELOW = 4096 }; /* bytes; longer messages change their owner instead of being copied */
#define COMMIT_SHARE                                                                                         \
  0.01 /* usual bound of the wait for a commit, as a share of the time since the last checkpoint */

/* ---------------------------------------------------------------- places */

static gab_rank rank_at(const gab_local_run *run, gab_rank place)
{
  return gab_members_rank(&run->members, place);
}

static gab_rank holder(void *user, gab_rank place)
{
  const gab_local_run *run = user;
  const gab_rank keeper = gab_placement_holder(&run->placement, rank_at(run, place), 0);
  return keeper == GAB_NO_RANK ? GAB_NO_RANK : gab_local_place(run, keeper);
}

static gab_rank cluster(void *user, gab_rank place) { return gab_local_cluster_at(user, place); }

gab_rank gab_local_cluster_at(const gab_local_run *run, gab_rank place)
{
  return gab_division_cluster(&run->division, &run->members, run->loop->protection->checkpoint->domains,
                              place);
}

/* ---------------------------------------------------------------- the machine's transport */

static gab_status send(void *user, gab_process target, uint32_t lane, const gab_buffer *head,
                       const void *payload, size_t bytes, gab_msglog_entry *entry)
{
  gab_local_run *run = user;
  if (entry) gab_msglog_hold(gab_local_msglog(run->machine), entry);
  return gab_reliable_channel_send(run->channel, target, lane, head, payload, bytes, entry);
}

static void sent(void *user, void *entry)
{
  gab_local_run *run = user;
  gab_msglog_let_go(gab_local_msglog(run->machine), entry);
}

static void hand_over(void *user, gab_local_reason reason, gab_rank place)
{
  gab_local_run *run = user;
  snprintf(run->why_over, sizeof run->why_over, "rank %" GAB_PRI_RANK ": %s", rank_at(run, place),
           gab_local_reason_name(reason));
  gab_log_all(GAB_LOG_WARNING, "local recovery ends: the next strategy continues (%s)", run->why_over);
  gab_json *event = gab_event_begin(run->loop->events, "local handed over");
  gab_json_int(event, "of", rank_at(run, place));
  gab_json_text(event, "reason", gab_local_reason_name(reason));
  gab_event_end(run->loop->events, &event);
  if (gab_world_check(run->world) == GAB_OK) gab_world_call_repair(run->world);
}

/* Keeps the image; it is restored when no operation of the application is in progress. */
static gab_status restore(void *user, gab_rank place, gab_step checkpoint, gab_reader image)
{
  gab_local_run *run = user;
  (void)place;
  run->restart.has_image = true;
  run->restart.checkpoint = checkpoint;
  gab_buffer_clear(&run->restart.image);
  return gab_put_bytes(&run->restart.image, image.at, gab_reader_left(&image));
}

/* Possible causes: a memory error in either process of the rank, or input that differs between processes (a clock). */
static gab_status differs(void *user, const gab_local_difference *what)
{
  gab_local_run *run = user;
  const gab_rank from = rank_at(run, what->from);
  const char *port = gab_world_logged_name(run->world, what->context);
  gab_json *event = gab_event_begin(run->loop->events, "made otherwise");
  gab_json_int(event, "of", from);
  gab_json_text(event, "port", port);
  gab_json_uint(event, "context", what->context);
  gab_json_uint(event, "pattern", what->label.pattern);
  gab_json_uint(event, "iteration", what->label.iteration);
  gab_json_uint(event, "number", what->number);
  gab_json_int(event, "of_step", what->label.step);
  gab_event_end(run->loop->events, &event);
  GAB_FAIL(
      GAB_ERR_CORRUPT,
      "rank %" GAB_PRI_RANK
      " was restored and computes other results than before its death: its message to rank %" GAB_PRI_RANK
      " in step %" GAB_PRI_STEP " through port %s (number %" PRIu64 " of context %" PRIu32
      ", pattern %" PRIu32 ", iteration %" PRIu64 ") differs from the one received in step %" GAB_PRI_STEP
      ". Either the program depends on data outside of its state and its messages (a clock, the process, "
      "uninitialised memory; use gab_world_decide()), or memory was damaged",
      from, rank_at(run, what->to), what->label.step, port, what->number, what->context, what->label.pattern,
      what->label.iteration, what->first_step);
}

/* ---------------------------------------------------------------- the reliable channel's events */

static gab_status on_message(void *user, gab_process place, uint32_t lane, const void *bytes, size_t count,
                             gab_buffer *payload)
{
  gab_local_run *run = user;
  if (!run->machine) return GAB_OK; /* a spare outside of the pool */
  const bool was_spare = gab_local_state_of(run->machine) == GAB_LOCAL_SPARE;
  if (gab_local_is_followed(run->machine, lane, bytes, count))
    GAB_TRY(gab_reliable_channel_add_near(run->channel, place));
  const gab_status status = gab_local_deliver(run->machine, place, lane, bytes, count, payload);
  if (was_spare && gab_local_state_of(run->machine) != GAB_LOCAL_SPARE) run->offered_at = gab_seconds();
  return status;
}

static gab_status on_down(void *user, gab_process place)
{
  gab_local_run *run = user;
  if (place < (gab_process)gab_members_count(&run->members) && !gab_world_is_spare(run->world)) {
    gab_json *event = gab_event_begin(run->loop->events, "down");
    gab_json_int(event, "process", gab_members_process(&run->members, rank_at(run, (gab_rank)place)));
    gab_event_end(run->loop->events, &event);
  }
  return run->machine ? gab_local_peer_down(run->machine, place) : GAB_OK;
}

/* ---------------------------------------------------------------- the message logger of the world */

static gab_status unwind(void) { GAB_FAIL(GAB_ERR_FAULT, "this rank resumes from another checkpoint"); }

/* The image may be outdated: the machine may have asked the holder for another one, or have handed over to the next
 * strategy, which restores all ranks from another checkpoint. */
bool gab_local_has_to_restart(const gab_local_run *run)
{
  return run->restart.has_image && gab_local_state_of(run->machine) == GAB_LOCAL_ACTIVE;
}

/* A rank that waits for another image runs nothing meanwhile. */
static gab_status serve(void *user)
{
  gab_local_run *run = user;
  for (int looks = 0;; gab_world_pause(run->world, &looks)) {
    if (gab_local_has_to_restart(run)) return unwind();
    GAB_TRY(gab_reliable_channel_serve(run->channel));
    run->checked_at = gab_seconds();
    if (gab_local_has_to_restart(run)) return unwind();
    if (gab_local_state_of(run->machine) != GAB_LOCAL_RESTORING) return gab_world_check(run->world);
  }
}

/* The rank has caught up: it has sent again all messages of its predecessor, which died in this step or right after
 * it. */
static void look_whether_behind(gab_local_run *run)
{
  if (!run->is_behind || gab_local_is_behind(run->machine)) return;
  gab_claim *claim = gab_world_claim(run->world);
  run->is_behind = false;
  if (claim && claim->lost_step < 0) claim->lost_step = run->loop->step;
  gab_json *event = gab_event_begin(run->loop->events, "caught up");
  gab_json_rounded(event, "seconds", gab_seconds() - run->offered_at, 6);
  gab_event_end(run->loop->events, &event);
}

static gab_status carry_send(void *user, gab_rank target, uint32_t context, const gab_msglog_label *label,
                             gab_buffer *message)
{
  gab_local_run *run = user;
  if (gab_local_has_to_restart(run)) return unwind();
  GAB_TRY(gab_local_send(run->machine, gab_local_place(run, target), context, label, message));
  look_whether_behind(run);
  return GAB_OK;
}

static gab_status carry_receive(void *user, gab_rank source, uint32_t context, gab_buffer *message,
                                bool *there)
{
  gab_local_run *run = user;
  if (gab_local_has_to_restart(run)) return unwind();
  return gab_local_receive(run->machine, gab_local_place(run, source), context, message, NULL, there);
}

static bool reaches(void *user, gab_rank rank)
{
  const gab_local_run *run = user;
  return gab_local_is_partner(run->machine, gab_local_place(run, rank));
}

static gab_status decide(void *user, uint64_t *value)
{
  gab_local_run *run = user;
  const uint64_t proposal = *value;
  for (int looks = 0;; gab_world_pause(run->world, &looks)) {
    bool decided;
    if (gab_local_has_to_restart(run)) return unwind();
    GAB_TRY(gab_local_decide(run->machine, proposal, value, &decided));
    if (decided) return GAB_OK;
    GAB_TRY(serve(run));
  }
}

gab_status gab_local_wait(gab_local_run *run, bool (*done)(const gab_local_run *run))
{
  for (int looks = 0;; gab_world_pause(run->world, &looks)) {
    GAB_TRY(serve(run));
    if (done(run)) return GAB_OK;
  }
}

void gab_local_carry(gab_local_run *run)
{
  run->logger = (gab_message_logger){.user = run,
                                     .send = carry_send,
                                     .receive = carry_receive,
                                     .reaches = reaches,
                                     .serve = serve,
                                     .decide = decide};
  gab_world_set_policy(run->world, GAB_POLICY_MARK_DOWN);
  gab_world_set_message_logger(run->world, &run->logger);
}

/* ---------------------------------------------------------------- making one */

static gab_process pool(const gab_local_run *run)
{
  const gab_process spares = gab_world_spares(run->world);
  return spares < GAB_MOST_CLAIMS ? spares : GAB_MOST_CLAIMS;
}

static gab_status make_machine(gab_local_run *run, const gab_local_ranks *neighbours,
                               const gab_local_ranks *protected_ranks)
{
  const gab_local_setup setup = {.ranks = (gab_rank)gab_members_count(&run->members),
                                 .spares = pool(run),
                                 .process = gab_reliable_channel_place(run->channel),
                                 .contexts = gab_world_logged_ports(run->world),
                                 .ahead = GAB_LOCAL_AHEAD,
                                 .children = run->commit_children,
                                 .copy_below = COPY_BELOW,
                                 .neighbours = neighbours->ranks,
                                 .neighbour_count = (int32_t)neighbours->count,
                                 .protected_ranks = protected_ranks->ranks,
                                 .protected_count = (int32_t)protected_ranks->count,
                                 .verify = run->verify,
                                 .own_times = run->own_every > 0,
                                 .unhashed = GAB_ENVELOPE_BYTES}; /* which names incarnations */
  const gab_local_transport transport = {.user = run, .send = send, .hand_over = hand_over};
  const gab_local_application application = {.user = run,
                                             .holder = holder,
                                             .cluster =
                                                 run->division.kind == GAB_DIVISION_RANK ? NULL : cluster,
                                             .restore = restore,
                                             .differs = differs};
  GAB_TRY(gab_local_look_near(run, neighbours));
  GAB_TRY(gab_local_look_near(run, protected_ranks));
  return gab_local_create(&setup, &transport, &application, &run->machine);
}

static gab_status make_active(gab_local_run *run)
{
  gab_local_ranks neighbours = {.run = run}, protected_ranks = {.run = run};
  gab_status status = GAB_OK;
  if (!gab_world_is_spare(run->world)) {
    status = gab_local_list_neighbours(&neighbours);
    if (status == GAB_OK) status = gab_local_list_protected(&protected_ranks);
  }
  if (status == GAB_OK) status = make_machine(run, &neighbours, &protected_ranks);
  gab_free(&neighbours.ranks);
  gab_free(&protected_ranks.ranks);
  return status;
}

gab_status gab_local_generation(gab_local_run *run)
{
  gab_checkpoint *checkpoint = run->loop->protection->checkpoint;
  const gab_reliable_channel_events events = {
      .user = run, .message = on_message, .down = on_down, .sent = sent};
  gab_local_discard(run);
  GAB_TRY(gab_members_copy(&run->members, gab_world_members(run->world)));
  GAB_TRY(gab_placement_make(&run->placement, &checkpoint->redundancy, &run->members, checkpoint->domains));
  GAB_TRY(gab_local_begin_own_times(run));
  GAB_TRY(gab_reliable_channel_create(run->world, &events, &run->channel));
  /* A spare outside of the pool receives no requests. */
  if (gab_reliable_channel_place(run->channel) < (gab_process)gab_members_count(&run->members) + pool(run))
    GAB_TRY(make_active(run));
  run->epoch = gab_world_epoch(run->world);
  run->revision = gab_forest_revision(run->loop->forest);
  run->meetings = gab_world_meetings(run->world);
  return GAB_OK;
}

void gab_local_discard(gab_local_run *run)
{
  gab_reliable_channel_destroy(&run->channel);
  gab_local_destroy(&run->machine);
  gab_buffer_release(&run->restart.image);
  run->restart.has_image = false;
  run->took_part = run->is_inside = run->is_gathering = run->is_behind = false;
  run->counted = (gab_local_counted){0};
  run->first_own = -1;
  run->earlier_count = 0;
  run->alone_since = 0;
  run->taken_at = 0;
  run->log_steps = 0; /* a process that joins in the next generation does not know it */
  run->why_over[0] = '\0';
}

void gab_local_note_totals(gab_local_run *run)
{
  gab_local_totals *totals = &run->loop->stats.local;
  const gab_local_stats machine = gab_local_statistics(run->machine);
  const gab_msglog_stats msglog = gab_msglog_statistics(gab_local_msglog(run->machine));
  totals->replayed += machine.replayed - run->counted.replayed;
  totals->left_out += machine.left_out - run->counted.left_out;
  totals->compared += machine.compared - run->counted.compared;
  totals->jumps += machine.jumps - run->counted.jumps;
  totals->rollbacks += machine.rollbacks - run->counted.rollbacks;
  totals->logged_bytes += machine.logged_bytes - run->counted.logged_bytes;
  totals->own_checkpoints += machine.own_checkpoints - run->counted.own;
  totals->restored_messages += machine.restored_messages - run->counted.restored;
  totals->logged += msglog.handed_over - run->counted.handed_over;
  totals->copied += msglog.copied - run->counted.copied;
  if (msglog.peak_bytes > totals->msglog_peak) totals->msglog_peak = msglog.peak_bytes;
  if (msglog.largest_copied > totals->largest_copied) totals->largest_copied = msglog.largest_copied;
  run->counted = (gab_local_counted){
      machine.replayed,        machine.left_out,         machine.compared,   machine.jumps,
      machine.rollbacks,       machine.logged_bytes,     msglog.handed_over, msglog.copied,
      machine.own_checkpoints, machine.restored_messages};
}

/* ---------------------------------------------------------------- for the whole run */

static bool is_verified(gab_verify verify)
{
#ifdef NDEBUG
  return verify == GAB_VERIFY_ALWAYS;
#else
  return verify != GAB_VERIFY_NEVER;
#endif
}

gab_status gab_local_run_create(gab_timeloop *loop, const gab_protection *options, gab_local_run **run)
{
  const double share = options->commit_wait;
  gab_local_run *made;
  *run = NULL;
  GAB_TRY(GAB_NEW(&made, GAB_MEMORY_OTHER));
  made->loop = loop;
  made->world = loop->world;
  made->first_own = -1;
  made->log_limit = options->log_limit;
  made->own_every = options->own_every;
  made->verify = is_verified(options->verify);
  made->commit_share = share > 0 ? share : share < 0 ? 0 : COMMIT_SHARE;
  made->commit_children = options->commit_children > 0 ? options->commit_children : GAB_LOCAL_CHILDREN;
  gab_members_init(&made->members, 0);
  gab_placement_init(&made->placement);
  gab_buffer_init(&made->restart.image, GAB_MEMORY_SNAPSHOT);
  gab_buffer_init(&made->packed, GAB_MEMORY_SNAPSHOT);
  gab_world_set_rest(loop->world, gab_local_rest, made);
  const gab_status status = gab_division_make(made->world, options->local_clusters, &made->division);
  if (status != GAB_OK) gab_local_run_destroy(&made);
  *run = made;
  return status;
}

void gab_local_run_destroy(gab_local_run **run)
{
  gab_local_run *gone = *run;
  if (!gone) return;
  *run = NULL;
  if (gone->machine) gab_world_set_message_logger(gone->world, NULL);
  gab_world_set_rest(gone->world, NULL, NULL);
  gab_local_discard(gone);
  gab_buffer_release(&gone->packed);
  gab_members_release(&gone->members);
  gab_placement_release(&gone->placement);
  gab_division_release(&gone->division);
  gab_free(&gone);
}
