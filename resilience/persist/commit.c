/* SPDX-License-Identifier: Apache-2.0 */
#include "resilience/persist/persist_impl.h"

#include <stdio.h>

/* Rewrites a file that has grown far beyond its live content; without the present epoch, so that the commit itself is one
 * append. */
static gab_status reserve_capacity(persist_session *session)
{
  for (int i = 0; i < session->file_count; i++)
    if (gab_persist_file_is_stale(&session->files[i]))
      GAB_TRY(gab_persist_file_rewrite(&session->files[i], &session->msglog));
  return GAB_OK;
}

/* Holders send their copies also if this process could not write its own file, since others wait for them. */
static gab_status store(persist_session *session, const gab_buffer *group)
{
  gab_status status = GAB_OK;
  for (int i = 0; i < session->file_count && status == GAB_OK; i++)
    status = gab_persist_file_append(&session->files[i], group);
  if (!session->set.in_neighbour) return status;
  char text[400];
  snprintf(text, sizeof text, "%s", gab_error_message());
  const gab_status copied = gab_persist_copy(session, group, false);
  if (copied != GAB_OK || status == GAB_OK) return copied;
  GAB_FAIL(status, "%s", text);
}

gab_status gab_persist_commit_epoch(persist_session *session)
{
  gab_buffer group = {0};
  uint64_t sizes[PERSIST_FILES];
  gab_status status = gab_persist_check(session);
  if (status != GAB_OK) return status;
  if (session->live_count > 0)
    status = gab_error_set(
        GAB_ERR_ARGUMENT, __FILE__, __LINE__,
        "a commit while %zu receives have not completed: which side of it they are on is not known",
        session->live_count);
  if (status == GAB_OK) status = reserve_capacity(session);
  if (status == GAB_OK) status = gab_persist_msglog_close_epoch(&session->msglog, &group);
  const bool together = session->set.commit == PERSIST_COMMIT_TOGETHER;
  if (together) status = gab_persist_all(session, status);
  for (int i = 0; i < session->file_count; i++) sizes[i] = session->files[i].size;
  if (status == GAB_OK) {
    status = store(session, &group);
    if (together) status = gab_persist_all(session, status);
    if (status != GAB_OK) /* a repeated attempt must write to the same place */
      for (int i = 0; i < session->file_count; i++) session->files[i].size = sizes[i];
  }
  gab_buffer_release(&group);
  if (status == GAB_OK) status = gab_persist_msglog_complete(&session->msglog);
  if (status == GAB_OK) session->retrieves = false;
  return status;
}

int gab_persist_commit(MPI_Comm persistent)
{
  persist_session *session = persist_of(persistent);
  if (!session) {
    gab_error_set(GAB_ERR_ARGUMENT, __FILE__, __LINE__,
                  "gab_persist_commit: this is not a persistent communicator");
    return gab_persist_code_of(GAB_PERSIST_REFUSED);
  }
  /* Each message was committed when it was sent. */
  if (session->set.commit == PERSIST_COMMIT_EACH && gab_persist_msglog_pending(&session->msglog) == 0)
    return gab_persist_return(session, gab_persist_check(session));
  return gab_persist_return(session, gab_persist_commit_epoch(session));
}

int gab_persist_recovered(MPI_Comm persistent)
{
  persist_session *session = persist_of(persistent);
  if (!session) {
    gab_error_set(GAB_ERR_ARGUMENT, __FILE__, __LINE__,
                  "gab_persist_recovered: this is not a persistent communicator");
    return gab_persist_code_of(GAB_PERSIST_REFUSED);
  }
  session->retrieves = false;
  return gab_persist_return(session, gab_persist_check(session));
}
