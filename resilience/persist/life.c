/* SPDX-License-Identifier: Apache-2.0 */
#include "resilience/persist/persist_impl.h"

#include <stdio.h>
#include <string.h>

const char gab_persist_calls_life = 0;

/* Forces all files with interposed calls to be linked with this one; a static library would otherwise omit some. */
static const char *const linked[] = {&gab_persist_calls_messages,     &gab_persist_calls_requests,
                                     &gab_persist_calls_collectives,  &gab_persist_calls_refused,
                                     &gab_persist_calls_refused_more, &gab_persist_calls_life};

/* ------------------------------------------------------------------------------------ opening */

static void watch_codes(MPI_Comm comm) { PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN); }

static int make_comms(persist_session *session, MPI_Comm comm)
{
  int code = PMPI_Comm_dup(comm, &session->comm);
  if (code != MPI_SUCCESS) return code;
  MPI_Errhandler handler;
  PMPI_Comm_get_errhandler(session->comm, &handler);
  watch_codes(session->comm); /* the caller reports errors once */
  code = PMPI_Comm_dup(session->comm, &session->inner);
  if (code == MPI_SUCCESS) watch_codes(session->inner);
  if (code == MPI_SUCCESS) code = PMPI_Comm_dup(session->inner, &session->live);
  if (code == MPI_SUCCESS) watch_codes(session->live);
  PMPI_Comm_set_errhandler(session->comm, handler);
  if (handler != MPI_ERRHANDLER_NULL) PMPI_Errhandler_free(&handler);
  return code;
}

static gab_status begin(persist_session *session, const char *key, MPI_Info info)
{
  const size_t length = key ? strnlen(key, PERSIST_KEY_MOST + 1) : 0;
  if (length == 0 || length > PERSIST_KEY_MOST)
    GAB_FAIL(GAB_ERR_INPUT, "the key of a persistent communicator has 1 to %d characters", PERSIST_KEY_MOST);
  snprintf(session->key, sizeof session->key, "%s", key);
  GAB_TRY(gab_persist_settings_read(info, session->size, &session->set));
  gab_persist_msglog_init(&session->msglog, session->set.depth,
                          session->set.commit == PERSIST_COMMIT_TOGETHER);
  return GAB_OK;
}

/* Keeps a state in memory for the next attempt. */
static void put_aside(persist_session *session, bool fault)
{
  if (fault) gab_persist_break(session, session->code);
  session->broken = true;
  gab_persist_free_comms(session);
  if (session->opened || (session->complete && fault)) gab_persist_enter(session);
  else gab_persist_destroy(session);
}

static int refuse_open(MPI_Comm comm, const char *why)
{
  gab_error_set(GAB_ERR_INPUT, __FILE__, __LINE__, "MPIX_Comm_persist: %s", why);
  const int code = gab_persist_code_of(GAB_PERSIST_REFUSED);
  PMPI_Comm_call_errhandler(comm == MPI_COMM_NULL ? MPI_COMM_WORLD : comm, code);
  return code;
}

int MPIX_Comm_persist(MPI_Comm comm, const char *key, MPI_Info info, MPI_Comm *persistent)
{
  int is_inter = 0;
  *persistent = MPI_COMM_NULL;
  if (!linked[0] || comm == MPI_COMM_NULL) return refuse_open(comm, "there is no communicator");
  if (persist_of(comm)) return refuse_open(comm, "the communicator is persistent itself");
  PMPI_Comm_test_inter(comm, &is_inter);
  if (is_inter) return refuse_open(comm, "it takes an intracommunicator");
  persist_session *session;
  if (GAB_NEW(&session, GAB_MEMORY_OTHER) != GAB_OK) return MPI_ERR_NO_MEM;
  session->comm = session->inner = session->live = MPI_COMM_NULL;
  session->parent = comm;
  PMPI_Comm_rank(comm, &session->rank);
  PMPI_Comm_size(comm, &session->size);
  int code = make_comms(session, comm);
  if (code != MPI_SUCCESS) {
    if (session->comm != MPI_COMM_NULL)
      (void)gab_persist_raise(session, code); /* else MPI has called the handler */
    gab_persist_break(session, code);
    gab_persist_free_comms(session);
    gab_persist_destroy(session);
    return code;
  }
  gab_status status = gab_persist_all(session, begin(session, key, info));
  if (status == GAB_OK) status = gab_persist_open(session);
  if (status == GAB_OK) {
    session->opened = true;
    gab_persist_enter(session);
    *persistent = session->comm;
    return MPI_SUCCESS;
  }
  code = gab_persist_return(session, status);
  put_aside(session, gab_persist_is_fault(code));
  return code;
}

/* ------------------------------------------------------------------------------------ state */

int gab_persist_status(MPI_Comm persistent, long long *epoch, int source, int tag, long long *waiting)
{
  persist_session *session = persist_of(persistent);
  if (!session) {
    gab_error_set(GAB_ERR_ARGUMENT, __FILE__, __LINE__,
                  "gab_persist_status: this is not a persistent communicator");
    return gab_persist_code_of(GAB_PERSIST_REFUSED);
  }
  if (epoch) *epoch = (long long)session->msglog.epoch;
  if (!waiting) return MPI_SUCCESS;
  *waiting = 0;
  for (size_t i = session->inbox.first; i < session->inbox.count; i++) {
    const persist_letter *letter = &session->inbox.letters[i];
    *waiting += !letter->taken && letter->tag >= 0 &&
                (source == MPI_ANY_SOURCE || letter->source == source) &&
                (tag == MPI_ANY_TAG || letter->tag == tag);
  }
  return MPI_SUCCESS;
}

/* ------------------------------------------------------------------------------------ the end */

static void close_session(persist_session *session)
{
  if (session->broken) { /* the state is kept, to be opened again with the repaired communicator */
    gab_persist_free_comms(session);
    return;
  }
  gab_persist_say_pending_of(session);
  gab_persist_leave(session);
  gab_persist_free_comms(session);
  gab_persist_destroy(session);
}

/* Forgets a communicator that is the parent of others: its handle may be reused. */
static void forget_parent(MPI_Comm comm)
{
  for (persist_session *child = gab_persist_child(comm, NULL); child; child = gab_persist_child(comm, child))
    if (child->parent == comm) child->parent = MPI_COMM_NULL;
}

int MPI_Comm_free(MPI_Comm *comm)
{
  persist_session *session = persist_of(*comm);
  if (session) {
    (void)gab_persist_check(session); /* marks a failed session as broken */
    close_session(session);
    *comm = MPI_COMM_NULL;
    return MPI_SUCCESS;
  }
  if (gab_persist_open_count > 0) forget_parent(*comm);
  return PMPI_Comm_free(comm);
}

int MPI_Comm_disconnect(MPI_Comm *comm)
{
  if (persist_of(*comm)) return MPI_Comm_free(comm);
  if (gab_persist_open_count > 0) forget_parent(*comm);
  return PMPI_Comm_disconnect(comm);
}

int gab_persist_discard(MPI_Comm *persistent)
{
  persist_session *session = persist_of(*persistent);
  if (!session) {
    gab_error_set(GAB_ERR_ARGUMENT, __FILE__, __LINE__,
                  "gab_persist_discard: this is not a persistent communicator");
    return gab_persist_code_of(GAB_PERSIST_REFUSED);
  }
  gab_status status = gab_persist_check(session);
  if (status == GAB_OK) status = gab_persist_all(session, GAB_OK);
  if (status != GAB_OK) return gab_persist_return(session, status);
  for (int i = 0; i < session->file_count && status == GAB_OK; i++)
    status = gab_persist_file_mark_done(&session->files[i]);
  status = gab_persist_all(session, status);
  if (status != GAB_OK) return gab_persist_return(session, status);
  for (int i = 0; i < session->file_count; i++) {
    const gab_status one = gab_persist_file_remove(&session->files[i]);
    status = status == GAB_OK ? one : status;
  }
  const int code = gab_persist_return(session, status);
  gab_persist_leave(session);
  gab_persist_free_comms(session);
  gab_persist_destroy(session);
  *persistent = MPI_COMM_NULL;
  return code;
}

#ifdef GAB_HAVE_ULFM
/* Processes that wait in a persistent communicator must leave it, too. */
int MPIX_Comm_revoke(MPI_Comm comm)
{
  for (persist_session *child = gab_persist_open_count > 0 ? gab_persist_child(comm, NULL) : NULL; child;
       child = gab_persist_child(comm, child))
    gab_persist_break(child, MPIX_ERR_REVOKED);
  return PMPIX_Comm_revoke(comm);
}
#endif

int MPI_Finalize(void)
{
  gab_persist_say_pending();
  return PMPI_Finalize();
}
