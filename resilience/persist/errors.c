/* SPDX-License-Identifier: Apache-2.0 */
#include "resilience/persist/persist_impl.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const texts[GAB_PERSIST_ERRORS] = {
    [GAB_PERSIST_OK] = "no error",
    [GAB_PERSIST_NOTHING] = "persistent communicator: nothing is stored that would match",
    [GAB_PERSIST_UNSUPPORTED] = "persistent communicator: this call is not supported",
    [GAB_PERSIST_REFUSED] = "persistent communicator: refused",
    [GAB_PERSIST_IN_USE] = "persistent communicator: the key is in use",
    [GAB_PERSIST_LOST] = "persistent communicator: no copy is left",
    [GAB_PERSIST_DAMAGED] = "persistent communicator: what is stored is damaged",
    [GAB_PERSIST_IO] = "persistent communicator: a file cannot be written or read"};
static int codes[GAB_PERSIST_ERRORS];

static void make_codes(void)
{
  if (codes[GAB_PERSIST_NOTHING] != 0) return;
  for (int i = GAB_PERSIST_NOTHING; i < GAB_PERSIST_ERRORS; i++) {
    int class = MPI_ERR_OTHER;
    PMPI_Add_error_class(&class);
    PMPI_Add_error_string(class, texts[i]);
    codes[i] = class;
  }
}

int gab_persist_code_of(gab_persist_error error)
{
  make_codes();
  return error == GAB_PERSIST_OK ? MPI_SUCCESS : codes[error];
}

gab_persist_error gab_persist_error_of(int code)
{
  if (code == MPI_SUCCESS) return GAB_PERSIST_OK;
  make_codes();
  for (int i = GAB_PERSIST_NOTHING; i < GAB_PERSIST_ERRORS; i++)
    if (codes[i] == code) return (gab_persist_error)i;
  return GAB_PERSIST_OTHER;
}

const char *gab_persist_message(void) { return gab_error_message(); }

int gab_persist_code(const persist_session *session, gab_status status)
{
  switch (status) {
  case GAB_OK:
    return MPI_SUCCESS;
  case GAB_ERR_FAULT:
  case GAB_ERR_MPI:
    return session && session->code != MPI_SUCCESS ? session->code : MPI_ERR_OTHER;
  case GAB_ERR_MEMORY:
    return MPI_ERR_NO_MEM;
  case GAB_ERR_CORRUPT:
    return gab_persist_code_of(GAB_PERSIST_DAMAGED);
  case GAB_ERR_LOST:
    return gab_persist_code_of(GAB_PERSIST_LOST);
  case GAB_ERR_STATE:
    return gab_persist_code_of(GAB_PERSIST_IN_USE);
  case GAB_ERR_IO:
    return gab_persist_code_of(GAB_PERSIST_IO);
  default:
    return gab_persist_code_of(GAB_PERSIST_REFUSED);
  }
}

/* The communicator whose handler is called for a fault: the parent, if both have the same handler, since the owner of the
 * parent (a gab_world) does not know this one. */
static MPI_Comm who_is_told(const persist_session *session, int code, MPI_Errhandler *handler)
{
  const MPI_Comm own = session->comm != MPI_COMM_NULL ? session->comm : session->parent;
  PMPI_Comm_get_errhandler(own, handler);
  if (!gab_persist_is_fault(code) || session->parent == MPI_COMM_NULL) return own;
  MPI_Errhandler above = MPI_ERRHANDLER_NULL;
  PMPI_Comm_get_errhandler(session->parent, &above);
  const bool same = above == *handler;
  if (above != MPI_ERRHANDLER_NULL) PMPI_Errhandler_free(&above);
  return same ? session->parent : own;
}

int gab_persist_raise(persist_session *session, int code)
{
  if (code == MPI_SUCCESS) return code;
  if (!session || (session->comm == MPI_COMM_NULL && session->parent == MPI_COMM_NULL)) return code;
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  const MPI_Comm comm = who_is_told(session, code, &handler);
  if (handler == MPI_ERRORS_ARE_FATAL) {
    fprintf(stderr, "persistent communicator `%s', rank %d: %s\n", session->key, session->rank,
            gab_error_message());
    fflush(stderr);
  }
  if (handler != MPI_ERRHANDLER_NULL) PMPI_Errhandler_free(&handler);
  PMPI_Comm_call_errhandler(comm, code);
  return code;
}

int gab_persist_return(persist_session *session, gab_status status)
{
  return status == GAB_OK ? MPI_SUCCESS : gab_persist_raise(session, gab_persist_code(session, status));
}

int gab_persist_refuse(persist_session *session, gab_persist_error error, const char *format, ...)
{
  char text[400];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  gab_error_set(GAB_ERR_ARGUMENT, __FILE__, __LINE__, "%s", text);
  return gab_persist_raise(session, gab_persist_code_of(error));
}

int gab_persist_unsupported(persist_session *session, const char *call)
{
  return gab_persist_refuse(
      session, GAB_PERSIST_UNSUPPORTED,
      "%s is not supported on a persistent communicator (key `%s'): doc/persist.md lists the calls that "
      "are",
      call, session->key);
}
