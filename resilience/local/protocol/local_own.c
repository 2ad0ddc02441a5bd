/* SPDX-License-Identifier: Apache-2.0 */
/* Checkpoints of a single cluster (doc/clusters.md, "Checkpoints at times of a cluster's own"): their commit,
 * freeing of logs of other clusters, and the log in an image (Ropars et al. 2013, algorithm 1, line 15). */
#include "resilience/local/protocol/local_impl.h"

/* ---------------------------------------------------------------- freeing of logs */

static gab_status tell_received(void *user, gab_rank rank, gab_reader numbers)
{
  gab_local *local = user;
  const gab_local_partner *partner = gab_local_find(local, rank);
  if (!partner || !partner->is_up || partner->is_inner) return GAB_OK;
  gab_buffer body;
  gab_buffer_init(&body, GAB_MEMORY_OTHER);
  gab_status status = gab_put_bytes(&body, numbers.at, gab_reader_left(&numbers));
  if (status == GAB_OK)
    status =
        gab_local_tell(local, gab_local_process(local, rank), (gab_local_note){.kind = NOTE_RECEIVED}, &body);
  gab_buffer_release(&body);
  return status;
}

/* Otherwise it would free log entries that are not compared yet with recomputed messages. */
gab_status gab_local_on_received(gab_local *local, gab_process source, const gab_local_note *note,
                                 gab_reader *in)
{
  const gab_local_partner *partner = gab_local_current(local, source, note);
  if (!partner || !partner->is_up || partner->is_inner) return GAB_OK;
  for (uint32_t c = 0; c < local->setup.contexts; c++) {
    uint64_t delivered;
    GAB_TRY(gab_get_u64(in, &delivered));
    gab_msglog_free_below(local->msglog, partner->rank, c, delivered);
  }
  return GAB_OK;
}

/* ---------------------------------------------------------------- commits */

/* Holders that know this checkpoint or the next know that the previous one is committed: no rank rolls back further. */
gab_status gab_local_learn_cluster_committed(gab_local *local, gab_step checkpoint)
{
  if (!local->setup.own_times || checkpoint <= local->cluster_committed) return GAB_OK;
  const gab_local_image *before = gab_local_newest(&local->images, local->cluster_committed);
  local->cluster_committed = checkpoint;
  if (before)
    GAB_TRY(gab_local_each_delivered(local, gab_reader_of_buffer(&before->bytes), tell_received, local));
  gab_local_prune(local);
  for (size_t i = 0; i < local->partner_count; i++) {
    gab_local_partner *partner = &local->partners[i];
    if (!partner->is_inner) continue;
    gab_local_prune_protected(local, partner);
    if (partner->rank > local->rank) GAB_TRY(gab_local_tell_cluster_values(local, partner));
  }
  return GAB_OK;
}

gab_status gab_local_learn_of_protected(gab_local *local, gab_local_partner *protected, gab_step checkpoint)
{
  if (!local->setup.own_times) return gab_local_learn_committed(local, checkpoint);
  if (protected->is_inner) return gab_local_learn_cluster_committed(local, checkpoint);
  if (checkpoint > protected->cluster_committed) protected->cluster_committed = checkpoint;
  return GAB_OK;
}

gab_status gab_local_learn_from(gab_local *local, const gab_local_note *note)
{
  gab_local_partner *partner = gab_local_find(local, note->from);
  if (!local->setup.own_times || !partner) return GAB_OK;
  if (note->cluster_committed > partner->cluster_committed) {
    partner->cluster_committed = note->cluster_committed;
    gab_local_prune_protected(local, partner);
  }
  if (partner->is_inner) GAB_TRY(gab_local_learn_cluster_committed(local, note->cluster_committed));
  return gab_local_learn_committed(local, note->committed);
}

/* In the tree of members a parent has a lower index than its children. */
gab_status gab_local_tell_cluster_values(gab_local *local, const gab_local_partner *partner)
{
  if (!local->setup.own_times || !partner->is_up || !(partner->roles & ROLE_MEMBER)) return GAB_OK;
  const bool is_parent = partner->rank < local->rank;
  const gab_local_note note = {.kind = is_parent ? NOTE_CLUSTER_HAVE : NOTE_CLUSTER_COMMITTED,
                               .checkpoint = local->reported_cluster_have};
  return gab_local_tell(local, gab_local_process(local, partner->rank), note, NULL);
}

gab_status gab_local_update_cluster(gab_local *local)
{
  gab_step have = local->acknowledged;
  const gab_local_partner *parent = NULL;
  if (!local->setup.own_times) return GAB_OK;
  for (size_t i = 0; i < local->partner_count; i++) {
    const gab_local_partner *partner = &local->partners[i];
    if (!(partner->roles & ROLE_MEMBER)) continue;
    if (partner->rank < local->rank) parent = partner;
    else if (partner->cluster_have < have) have = partner->cluster_have;
  }
  if (have <= local->reported_cluster_have) return GAB_OK;
  local->reported_cluster_have = have;
  return parent ? gab_local_tell_cluster_values(local, parent)
                : gab_local_learn_cluster_committed(local, have);
}

gab_status gab_local_on_cluster_have(gab_local *local, gab_process source, const gab_local_note *note)
{
  gab_local_partner *child = gab_local_current(local, source, note);
  if (!child) return GAB_OK;
  if (note->checkpoint > child->cluster_have) child->cluster_have = note->checkpoint;
  return gab_local_update_cluster(local);
}

/* ---------------------------------------------------------------- in an image */

/* Within the cluster no message is in transit; messages that wait there for a lost rank are delivered in its image. */
static gab_status pack_outer(const gab_local *local, gab_buffer *out)
{
  uint64_t outer = 0;
  for (size_t i = 0; i < local->partner_count; i++) outer += !local->partners[i].is_inner;
  GAB_TRY(gab_put_u64(out, outer));
  for (size_t i = 0; i < local->partner_count; i++) {
    if (local->partners[i].is_inner) continue;
    GAB_TRY(gab_put_i32(out, local->partners[i].rank));
    GAB_TRY(gab_msglog_pack_messages(local->msglog, local->partners[i].rank, out));
  }
  return GAB_OK;
}

gab_status gab_local_pack_log(const gab_local *local, bool own, gab_step step, gab_buffer *out)
{
  if (!local->setup.own_times) return GAB_OK;
  gab_buffer log;
  gab_buffer_init(&log, GAB_MEMORY_SNAPSHOT);
  gab_status status = gab_put_i64(&log, own ? local->common : step);
  if (status == GAB_OK) status = pack_outer(local, &log);
  if (status == GAB_OK) status = gab_put_u64(out, log.size);
  if (status == GAB_OK) status = gab_put_bytes(out, log.data, log.size);
  gab_buffer_release(&log);
  return status;
}

gab_status gab_local_unpack_log(gab_local *local, gab_step checkpoint, gab_step *common, gab_reader *in)
{
  size_t bytes, outer;
  gab_reader log;
  *common = checkpoint;
  if (!local->setup.own_times) return GAB_OK;
  GAB_TRY(gab_get_count(in, 1, &bytes));
  GAB_TRY(gab_get_view(in, bytes, &log));
  GAB_TRY(gab_get_i64(&log, common));
  GAB_TRY(gab_get_count(&log, 4 + 8, &outer));
  for (size_t i = 0; i < outer; i++) {
    gab_rank rank;
    GAB_TRY(gab_get_i32(&log, &rank));
    GAB_TRY(gab_msglog_unpack_messages(local->msglog, rank, &log));
  }
  local->stats.restored_messages += gab_msglog_statistics(local->msglog).messages;
  return GAB_OK;
}

gab_status gab_local_skip_log(const gab_local *local, gab_reader *in)
{
  size_t bytes;
  gab_reader log;
  if (!local->setup.own_times) return GAB_OK;
  GAB_TRY(gab_get_count(in, 1, &bytes));
  return gab_get_view(in, bytes, &log);
}

/* ---------------------------------------------------------------- common images with an image */

static bool goes_with(const gab_local_image *image, const gab_local_image *beside)
{
  return !image->own && image->checkpoint < beside->checkpoint;
}

gab_status gab_local_pack_commons(const gab_local *local, const gab_local_images *images,
                                  const gab_local_image *beside, gab_buffer *out)
{
  uint64_t count = 0;
  if (!local->setup.own_times) return GAB_OK;
  for (int i = 0; i < images->count; i++) count += goes_with(&images->list[i], beside);
  GAB_TRY(gab_put_u64(out, count));
  for (int i = 0; i < images->count; i++) {
    const gab_local_image *image = &images->list[i];
    if (!goes_with(image, beside)) continue;
    GAB_TRY(gab_put_i64(out, image->checkpoint));
    GAB_TRY(gab_put_u64(out, image->decisions));
    GAB_TRY(gab_put_u64(out, image->bytes.size));
    GAB_TRY(gab_put_bytes(out, image->bytes.data, image->bytes.size));
  }
  return GAB_OK;
}

gab_status gab_local_unpack_commons(gab_local *local, gab_reader *in)
{
  size_t count;
  if (!local->setup.own_times) return GAB_OK;
  GAB_TRY(gab_get_count(in, 8 + 8 + 8, &count));
  for (size_t i = 0; i < count; i++) {
    gab_local_image what = {.own = false};
    size_t size;
    gab_reader view;
    GAB_TRY(gab_get_i64(in, &what.checkpoint));
    GAB_TRY(gab_get_u64(in, &what.decisions));
    GAB_TRY(gab_get_count(in, 1, &size));
    GAB_TRY(gab_get_view(in, size, &view));
    gab_buffer bytes = gab_buffer_over((void *)(uintptr_t)view.at, size);
    bytes.size = size;
    GAB_TRY(gab_local_keep_image(&local->images, &what, &bytes));
  }
  return GAB_OK;
}
