/* SPDX-License-Identifier: Apache-2.0 */
/* Local recovery of clusters: members, recovery line, rollback of this rank after a death in its cluster
 * (doc/clusters.md). */
#include "resilience/local/protocol/local_impl.h"

/* ---------------------------------------------------------------- members */

static gab_rank cluster_of(const gab_local *local, gab_rank rank)
{
  const gab_local_application *application = &local->application;
  return application->cluster ? application->cluster(application->user, rank) : rank;
}

bool gab_local_is_member(const gab_local *local, gab_rank rank)
{
  return rank != local->rank && cluster_of(local, rank) == cluster_of(local, local->rank);
}

static gab_status add_member(gab_local *local, gab_rank rank)
{
  GAB_TRY(gab_list_reserve(&local->members, local->member_count, sizeof *local->members));
  local->members[local->member_count++] = (gab_local_member){
      rank, rank == local->rank ? local->incarnation : gab_local_incarnation_of(local, rank)};
  return GAB_OK;
}

/* Connects all members, independent of other partners. */
static gab_status add_tree(gab_local *local)
{
  size_t me = 0;
  while (local->members[me].rank != local->rank) me++;
  if (me > 0) GAB_TRY(gab_local_add_partner(local, local->members[(me - 1) / 2].rank, ROLE_MEMBER));
  for (size_t child = 2 * me + 1; child <= 2 * me + 2 && child < local->member_count; child++)
    GAB_TRY(gab_local_add_partner(local, local->members[child].rank, ROLE_MEMBER));
  return GAB_OK;
}

gab_status gab_local_make_members(gab_local *local)
{
  if (local->member_count > 0) return GAB_OK;
  for (gab_rank rank = 0; rank < local->setup.ranks; rank++)
    if (rank == local->rank || gab_local_is_member(local, rank)) GAB_TRY(add_member(local, rank));
  return add_tree(local);
}

/* ---------------------------------------------------------------- recovery lines */

/* Includes the known progress of the partner: a partner without neighbours outside of the cluster would not know
 * when it has caught up. */
gab_status gab_local_pack_line(const gab_local *local, const gab_local_partner *to, gab_buffer *out)
{
  GAB_TRY(gab_put_i64(out, local->line));
  GAB_TRY(gab_put_u64(out, local->member_count));
  for (size_t i = 0; i < local->member_count; i++) GAB_TRY(gab_put_u32(out, local->members[i].incarnation));
  for (uint32_t c = 0; c < local->setup.contexts; c++) GAB_TRY(gab_put_u64(out, to->channels[c].reached));
  return GAB_OK;
}

static gab_status take_reached(const gab_local *local, gab_local_partner *partner, gab_reader *in)
{
  for (uint32_t c = 0; c < local->setup.contexts; c++) {
    uint64_t had;
    GAB_TRY(gab_get_u64(in, &had));
    if (had > partner->channels[c].had) partner->channels[c].had = had;
  }
  return GAB_OK;
}

/* Takes the maximum of both lines in each component. @param[out] grown the own line has changed @param[out] same the
 * lines were equal */
static gab_status join_lines(gab_local *local, gab_reader *in, bool *grown, bool *same)
{
  gab_step checkpoint;
  size_t count;
  *grown = *same = false;
  GAB_TRY(gab_get_i64(in, &checkpoint));
  GAB_TRY(gab_get_count(in, 4, &count));
  if (count != local->member_count)
    GAB_FAIL(GAB_ERR_CORRUPT, "received the recovery line of a cluster of %zu ranks, expected %zu", count,
             local->member_count);
  *grown = checkpoint > local->line;
  *same = checkpoint == local->line;
  if (*grown) local->line = checkpoint;
  for (size_t i = 0; i < count; i++) {
    gab_incarnation incarnation;
    GAB_TRY(gab_get_u32(in, &incarnation));
    *same = *same && incarnation == local->members[i].incarnation;
    if (incarnation <= local->members[i].incarnation) continue;
    local->members[i].incarnation = incarnation;
    *grown = true;
  }
  return GAB_OK;
}

gab_status gab_local_meet_line(gab_local *local, gab_local_partner *partner, const gab_local_note *note,
                               gab_reader *in, bool *same)
{
  bool grown = false;
  GAB_TRY(join_lines(local, in, &grown, same));
  GAB_TRY(take_reached(local, partner, in));
  if (*same) return GAB_OK;
  partner->is_up = partner->is_down = false;
  partner->was_met = true;
  partner->life = note->from_life;
  partner->asking = -1;
  /* After the rollback to the joined line it greets again. */
  return grown ? gab_local_retreat(local) : gab_local_greet(local, partner, true);
}

/* ---------------------------------------------------------------- going back */

gab_status gab_local_fetch(gab_local *local, gab_step checkpoint)
{
  const gab_local_partner *holder =
      gab_local_find(local, local->application.holder(local->application.user, local->rank));
  if (!holder || holder->is_down) return gab_local_hand_over(local, GAB_LOCAL_HOLDER_LOST, local->rank);
  local->state = GAB_LOCAL_RESTORING;
  local->image_from = gab_local_process(local, holder->rank);
  return gab_local_tell(local, local->image_from,
                        (gab_local_note){.kind = NOTE_FETCH, .checkpoint = checkpoint}, NULL);
}

gab_status gab_local_retreat(gab_local *local)
{
  if (gab_local_is_inside(local)) return gab_local_hand_over(local, GAB_LOCAL_GLOBAL_SECTION, local->rank);
  /* The checkpoint of a recovery line is committed. */
  if (local->setup.own_times) GAB_TRY(gab_local_learn_cluster_committed(local, local->line));
  else GAB_TRY(gab_local_learn_committed(local, local->line));
  const gab_local_image *image = gab_local_newest(&local->images, gab_local_may_go_back_to(local, NULL));
  if (!image || local->committed < 0) return gab_local_hand_over(local, GAB_LOCAL_NO_CHECKPOINT, local->rank);
  local->stats.rollbacks++;
  if (image->checkpoint < local->line) return gab_local_fetch(local, local->line);
  /* This rank may have dropped the image of the line. */
  local->line = image->checkpoint;
  return gab_local_restore(local, local->line, local->committed, gab_reader_of_buffer(&image->bytes));
}
