/* SPDX-License-Identifier: Apache-2.0 */
#include "resilience/persist/persist_impl.h"

/* `spread' maximises the distance of copies: where ranks fill node after node, they are on other nodes. The distances
 * increase strictly, since there are fewer copies than processes. */
static int distance(const persist_session *session, int i)
{
  if (session->set.ring) return i + 1;
  return (int)((int64_t)(i + 1) * session->size / (session->set.copies + 1));
}

/* The i-th holder of the copies of a rank, i from 0. */
static int holder_of(const persist_session *session, int rank, int i)
{
  return (rank + distance(session, i)) % session->size;
}

/* The rank whose i-th copy is on this rank. */
static int protected_rank_of(const persist_session *session, int rank, int i)
{
  return (rank - distance(session, i) + session->size) % session->size;
}

static persist_replica *replica_of(persist_session *session, int rank)
{
  for (int i = 0; i < session->replica_count; i++)
    if (session->replicas[i].rank == rank) return &session->replicas[i];
  return NULL;
}

/* Keeps two epochs, since a failed commit is repeated. */
static gab_status replica_made(persist_session *session, int rank, persist_replica **replica)
{
  *replica = replica_of(session, rank);
  if (*replica) return GAB_OK;
  GAB_TRY(gab_list_reserve(&session->replicas, (size_t)session->replica_count, sizeof(persist_replica)));
  *replica = &session->replicas[session->replica_count++];
  (*replica)->rank = rank;
  gab_persist_msglog_init(&(*replica)->msglog, session->set.depth, true);
  return GAB_OK;
}

/* A whole message log is read into a new one; the present one is kept until then. */
static gab_status take(persist_session *session, int rank, const gab_buffer *bytes, bool whole)
{
  persist_replica *replica = NULL;
  gab_reader groups = gab_reader_of_buffer(bytes);
  if (!whole) {
    replica = replica_of(session, rank);
    if (!replica) GAB_FAIL(GAB_ERR_STATE, "no copy of rank %d is here", rank);
    return gab_persist_msglog_take(&replica->msglog, &groups);
  }
  persist_msglog read;
  gab_persist_msglog_init(&read, session->set.depth, true);
  gab_status status = GAB_OK;
  while (status == GAB_OK && gab_reader_left(&groups) > 0) status = gab_persist_msglog_take(&read, &groups);
  if (status == GAB_OK) status = replica_made(session, rank, &replica);
  if (status == GAB_OK) gab_persist_msglog_swap(&read, &replica->msglog);
  gab_persist_msglog_release(&read);
  return status;
}

/* Holders confirm that they have stored it. */
static gab_status acknowledge(persist_session *session, const persist_parcel *protected_ranks,
                              const persist_parcel *holders, gab_status taken)
{
  const int copies = session->set.copies;
  gab_buffer *words = NULL;
  persist_parcel *parcels = NULL;
  GAB_TRY(GAB_NEW_ARRAY(&words, 2 * (size_t)copies, GAB_MEMORY_OTHER));
  gab_status status = GAB_NEW_ARRAY(&parcels, 2 * (size_t)copies, GAB_MEMORY_OTHER);
  for (int i = 0; i < copies && status == GAB_OK; i++) {
    status = gab_put_u32(&words[i], (uint32_t)taken);
    parcels[i] = (persist_parcel){protected_ranks[i].peer, &words[i]};
    parcels[copies + i] = (persist_parcel){holders[i].peer, &words[copies + i]};
  }
  if (status == GAB_OK) status = gab_persist_trade(session, parcels, copies, parcels + copies, copies);
  for (int i = 0; i < copies && status == GAB_OK; i++) {
    uint32_t word = GAB_ERR_CORRUPT;
    gab_reader answer = gab_reader_of_buffer(&words[copies + i]);
    status = gab_get_u32(&answer, &word);
    if (status == GAB_OK && word != GAB_OK)
      status = gab_error_set((gab_status)word, __FILE__, __LINE__,
                             "rank %d, which holds a copy, could not take it: %s", holders[i].peer,
                             gab_status_name((gab_status)word));
  }
  for (int i = 0; i < 2 * copies; i++) gab_buffer_release(&words[i]);
  gab_free(&words);
  gab_free(&parcels);
  return status;
}

gab_status gab_persist_copy(persist_session *session, const gab_buffer *groups, bool whole)
{
  const int copies = session->set.copies;
  gab_buffer *taken = NULL, mine = *groups; /* only read */
  persist_parcel *parcels = NULL;
  GAB_TRY(GAB_NEW_ARRAY(&taken, (size_t)copies, GAB_MEMORY_OTHER));
  gab_status status = GAB_NEW_ARRAY(&parcels, 2 * (size_t)copies, GAB_MEMORY_OTHER);
  for (int i = 0; i < copies && status == GAB_OK; i++) {
    parcels[i] = (persist_parcel){holder_of(session, session->rank, i), &mine};
    parcels[copies + i] = (persist_parcel){protected_rank_of(session, session->rank, i), &taken[i]};
  }
  if (status == GAB_OK) status = gab_persist_trade(session, parcels, copies, parcels + copies, copies);
  if (status == GAB_OK) {
    gab_status all = GAB_OK;
    for (int i = 0; i < copies && all == GAB_OK; i++)
      all = take(session, parcels[copies + i].peer, &taken[i], whole);
    status = acknowledge(session, parcels + copies, parcels, all);
    if (status == GAB_OK) status = all;
  }
  for (int i = 0; i < copies; i++) gab_buffer_release(&taken[i]);
  gab_free(&taken);
  gab_free(&parcels);
  return status;
}
