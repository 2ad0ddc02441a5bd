/* SPDX-License-Identifier: Apache-2.0 */
#include "resilience/persist/persist_impl.h"

#include <stdio.h>
#include <string.h>

int gab_persist_open_count;
size_t gab_persist_live_count;
static persist_session *sessions;

persist_session *gab_persist_find(MPI_Comm comm)
{
  for (persist_session *session = sessions; session; session = session->next)
    if (session->comm == comm && comm != MPI_COMM_NULL) return session;
  return NULL;
}

persist_session *gab_persist_find_key(const char *key)
{
  for (persist_session *session = sessions; session; session = session->next)
    if (strcmp(session->key, key) == 0) return session;
  return NULL;
}

persist_session *gab_persist_child(MPI_Comm comm, const persist_session *last)
{
  for (persist_session *session = last ? last->next : sessions; session; session = session->next)
    if (comm != MPI_COMM_NULL && (session->parent == comm || session->comm == comm)) return session;
  return NULL;
}

persist_session *gab_persist_first(void) { return sessions; }

void gab_persist_enter(persist_session *session)
{
  session->next = sessions;
  sessions = session;
  gab_persist_open_count++;
}

void gab_persist_leave(persist_session *session)
{
  persist_session **place = &sessions;
  while (*place && *place != session) place = &(*place)->next;
  if (!*place) return;
  *place = session->next;
  gab_persist_open_count--;
}

int gab_failure(void)
{
  for (const persist_session *session = sessions; session; session = session->next)
    if (session->restored) return 1;
  return 0;
}

void gab_persist_say_pending_of(const persist_session *session)
{
  const uint64_t pending = gab_persist_msglog_pending(&session->msglog);
  if (pending > 0 && !session->broken)
    fprintf(stderr,
            "persistent communicator `%s', rank %d: %" PRIu64
            " messages were sent after the last commit, and are forgotten\n",
            session->key, session->rank, pending);
}

void gab_persist_say_pending(void)
{
  for (const persist_session *session = sessions; session; session = session->next)
    gab_persist_say_pending_of(session);
}

void gab_persist_free_comms(persist_session *session)
{
  MPI_Comm *const all[] = {&session->live, &session->inner, &session->comm};
  for (int i = 0; i < 3; i++)
    if (*all[i] != MPI_COMM_NULL) PMPI_Comm_free(all[i]);
  session->parent = MPI_COMM_NULL;
}

void gab_persist_inbox_release(persist_inbox *inbox)
{
  for (size_t i = 0; i < inbox->memory_count; i++) gab_buffer_release(&inbox->memory[i]);
  gab_free(&inbox->memory);
  gab_free(&inbox->letters);
  *inbox = (persist_inbox){0};
}

/* ------------------------------------------------------------------------------------ live receives */

gab_status gab_persist_live_add(persist_session *session, MPI_Request request, int source, int tag,
                                uint64_t number)
{
  GAB_TRY(GAB_RESIZE_ARRAY(&session->lives, session->live_count + 1, GAB_MEMORY_OTHER));
  session->lives[session->live_count++] = (persist_live){request, source, tag, number};
  gab_persist_live_count++;
  return GAB_OK;
}

gab_status gab_persist_lives_forget(persist_session *session)
{
  gab_status status = GAB_OK;
  for (size_t i = 0; i < session->live_count && status == GAB_OK; i++) {
    const persist_live *live = &session->lives[i];
    if (gab_persist_map_get(&session->msglog.received, live->source, live->tag) >= live->number)
      status = gab_persist_map_put(&session->msglog.received, live->source, live->tag, live->number - 1);
  }
  gab_persist_live_count -= session->live_count;
  session->live_count = 0;
  gab_free(&session->lives);
  return status;
}

void gab_persist_destroy(persist_session *session)
{
  (void)gab_persist_lives_forget(session);
  for (int i = 0; i < session->file_count; i++) gab_persist_file_close(&session->files[i]);
  for (int i = 0; i < session->replica_count; i++) gab_persist_msglog_release(&session->replicas[i].msglog);
  gab_free(&session->replicas);
  gab_persist_msglog_release(&session->msglog);
  gab_persist_inbox_release(&session->inbox);
  gab_persist_map_release(&session->before);
  gab_persist_map_release(&session->already);
  gab_free(&session->lives);
  gab_free(&session);
}
