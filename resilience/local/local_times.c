/* Checkpoints that clusters take at times of their own, in the steps of a time loop (doc/clusters.md): when, and what everybody does there. */
#include "resilience/local/local_run_impl.h"

void gab_local_set_own_every(gab_local_run *run, gab_step every) { run->own_every = every; }

gab_status gab_local_begin_own_times(gab_local_run *run)
{
  const gab_slot count = (gab_slot)gab_members_count(&run->members);
  if (run->own_every == 0) return GAB_OK;
  if (gab_world_has_mailbox(run->world))
    GAB_FAIL(
        GAB_ERR_INPUT,
        "resilience.local.own_every does not go with a program that has a mailbox: what that has received by some step "
        "depends on the wire");
  run->clusters = 1;
  for (gab_slot place = 0; place < count; place++) {
    const gab_slot cluster = gab_local_cluster_at(run, place);
    if (cluster >= run->clusters) run->clusters = cluster + 1;
  }
  return GAB_OK;
}

/* Clusters are spread over the interval, so that images do not travel all at once. */
static gab_step shift_of(const gab_local_run *run, int64_t cluster)
{
  return (gab_step)(cluster * run->own_every / run->clusters);
}

/* Whether a cluster of any number below theirs takes one then. */
static bool is_somebodys(const gab_local_run *run, gab_step step)
{
  const gab_step shift = step % run->own_every;
  const int64_t first = (shift * run->clusters + run->own_every - 1) / run->own_every;
  return first < run->clusters && shift_of(run, first) == shift;
}

static void note_event(const gab_local_run *run, uint64_t image_bytes)
{
  const gab_slot me = gab_local_place(run, gab_world_slot(run->world)), mine = gab_local_cluster_at(run, me);
  for (gab_slot place = 0; place < me; place++)
    if (gab_local_cluster_at(run, place) == mine) return; /* the first of a cluster says so */
  gab_json *event = gab_event_begin(run->loop->events, "cluster checkpoint");
  gab_json_int(event, "of_step", run->loop->step);
  gab_json_int(event, "cluster", mine);
  gab_json_uint(event, "image_bytes", image_bytes);
  gab_json_uint(event, "journal_bytes", gab_journal_statistics(gab_local_journal(run->machine)).bytes);
  gab_event_end(run->loop->events, &event);
}

static gab_status take(gab_local_run *run)
{
  gab_timeloop *loop = run->loop;
  gab_buffer image;
  gab_buffer_init(&image, GAB_MEMORY_SNAPSHOT);
  gab_timer_start(loop->timers, loop->checkpoint_timer);
  gab_status status = gab_local_pack_own(run, &image);
  if (status == GAB_OK) status = gab_local_hand_in(run, &image, true);
  gab_timer_stop(loop->timers, loop->checkpoint_timer);
  if (status == GAB_OK) note_event(run, image.size);
  gab_buffer_release(&image);
  GAB_TRY(status);
  loop->guard->barren = 0;
  gab_world_enter(run->world, GAB_PHASE_SWAP);
  return GAB_OK;
}

/* What is made from the state by messages is made anew by everybody behind a checkpoint of anybody: who goes on from there alone
 * asks others for it. */
gab_status gab_local_own_times_due(gab_local_run *run)
{
  gab_timeloop *loop = run->loop;
  if (run->own_every == 0 || !is_somebodys(run, loop->step)) return GAB_OK;
  const gab_slot place = gab_local_place(run, gab_world_slot(run->world));
  if (shift_of(run, gab_local_cluster_at(run, place)) == loop->step % run->own_every) GAB_TRY(take(run));
  if (loop->on_checkpoint) loop->on_checkpoint(loop->on_checkpoint_user, loop->step);
  return GAB_OK;
}
