/* SPDX-License-Identifier: Apache-2.0 */
/* Checkpoints of single clusters in the time loop (doc/clusters.md): schedule and execution. */
#include "resilience/local/local_run_impl.h"
#include "resilience/reports/events_impl.h"

#include <string.h>

/* Index of the cluster of this process. Cluster numbers may have gaps, since a failure domain has the number of its first
 * rank. Each process temporarily allocates a byte per number. */
static gab_status count_clusters(gab_local_run *run)
{
  const gab_rank count = (gab_rank)gab_members_count(&run->members);
  const gab_rank rank = gab_world_rank(run->world),
                 mine = gab_local_cluster_at(run, gab_local_place(run, rank));
  gab_rank numbers = 0; /* upper bound of the numbers */
  for (gab_rank place = 0; place < count; place++)
    if (gab_local_cluster_at(run, place) >= numbers) numbers = gab_local_cluster_at(run, place) + 1;
  unsigned char *is_there;
  GAB_TRY(GAB_NEW_ARRAY(&is_there, (size_t)numbers, GAB_MEMORY_OTHER));
  memset(is_there, 0, (size_t)numbers);
  for (gab_rank place = 0; place < count; place++) is_there[gab_local_cluster_at(run, place)] = 1;
  run->clusters = run->my_cluster = 0;
  for (gab_rank number = 0; number < numbers; number++) {
    if (number == mine) run->my_cluster = run->clusters;
    run->clusters += is_there[number];
  }
  gab_free(&is_there);
  run->counted_for = rank;
  return GAB_OK;
}

gab_status gab_local_begin_own_times(gab_local_run *run)
{
  if (run->own_every == 0) return GAB_OK;
  if (gab_world_has_mailbox(run->world))
    GAB_FAIL(
        GAB_ERR_INPUT,
        "resilience.local.own_every excludes a program with a mailbox: the messages that it has received by some step "
        "depend on the network");
  run->counted_for = GAB_NO_RANK; /* a spare learns its rank later */
  return GAB_OK;
}

/* Clusters take their checkpoints at different steps of the interval, so that images are not sent all at once. */
static gab_step shift_of(const gab_local_run *run, int64_t cluster)
{
  return (gab_step)(cluster * run->own_every / run->clusters);
}

/* Whether a cluster takes a checkpoint at that step. */
static bool is_somebodys(const gab_local_run *run, gab_step step)
{
  const gab_step shift = step % run->own_every;
  const int64_t first = (shift * run->clusters + run->own_every - 1) / run->own_every;
  return first < run->clusters && shift_of(run, first) == shift;
}

static void note_event(const gab_local_run *run, uint64_t image_bytes)
{
  const gab_rank me = gab_local_place(run, gab_world_rank(run->world)), mine = gab_local_cluster_at(run, me);
  for (gab_rank place = 0; place < me; place++)
    if (gab_local_cluster_at(run, place) == mine) return; /* the first rank of a cluster reports it */
  gab_json *event = gab_event_begin(run->loop->events, "cluster checkpoint");
  gab_json_int(event, "of_step", run->loop->step);
  gab_json_int(event, "cluster", mine);
  gab_json_uint(event, "image_bytes", image_bytes);
  gab_json_uint(event, "message_log_bytes", gab_msglog_statistics(gab_local_msglog(run->machine)).bytes);
  gab_event_end(run->loop->events, &event);
}

static gab_status take(gab_local_run *run)
{
  gab_timeloop *loop = run->loop;
  gab_timer_start(loop->timers, loop->checkpoint_timer);
  gab_status status = gab_local_pack_own(run, &run->packed);
  if (status == GAB_OK) status = gab_local_hand_in(run, &run->packed, true);
  gab_timer_stop(loop->timers, loop->checkpoint_timer);
  if (status == GAB_OK) note_event(run, run->packed.size);
  GAB_TRY(status);
  gab_world_enter(run->world, GAB_FAULT_POINT_SWAP);
  return GAB_OK;
}

/* Data that is derived from the state by messages is rebuilt by all processes after a checkpoint of any cluster, because
 * a cluster that resumes from there alone needs messages of the others. */
gab_status gab_local_own_times_due(gab_local_run *run)
{
  gab_timeloop *loop = run->loop;
  if (run->own_every == 0) return GAB_OK;
  if (run->counted_for != gab_world_rank(run->world)) GAB_TRY(count_clusters(run));
  if (!is_somebodys(run, loop->step)) return GAB_OK;
  if (shift_of(run, run->my_cluster) == loop->step % run->own_every) GAB_TRY(take(run));
  if (loop->on_checkpoint) loop->on_checkpoint(loop->on_checkpoint_user, loop->step);
  return GAB_OK;
}
