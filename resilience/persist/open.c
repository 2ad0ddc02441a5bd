/* SPDX-License-Identifier: Apache-2.0 */
#include "resilience/persist/persist_impl.h"

#include "core/base/hash.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

enum { LOCK_SECONDS = 3, HOLDER_BITS = 24 };

/* Data of all processes, known to all while a key is opened: arrays by rank. */
typedef struct overview {
  uint64_t *own;     /* newest epoch of the process itself, plus 1; 0: none */
  uint64_t *replica; /* the same of its best copy on another process, with the holder: see offer() */
  bool *survives;    /* its state is in memory */
  bool fresh;        /* no process has a stored state */
  uint64_t epoch;    /* persist_commit = together: the epoch to which all roll back */
} overview;

static gab_status overview_make(int size, overview *all)
{
  void *memory[3] = {NULL};
  const size_t n = (size_t)size, bytes[3] = {n * sizeof *all->own, n * sizeof *all->replica, n};
  for (int i = 0; i < 3; i++) {
    const gab_status status = gab_alloc(bytes[i], GAB_MEMORY_OTHER, &memory[i]);
    if (status == GAB_OK) continue;
    while (i-- > 0) gab_free(&memory[i]);
    return status;
  }
  *all = (overview){.own = memory[0], .replica = memory[1], .survives = memory[2]};
  return GAB_OK;
}

static void overview_release(overview *all)
{
  gab_free(&all->own);
  gab_free(&all->replica);
  gab_free(&all->survives);
}

/* ------------------------------------------------------------------------------------ 1. the same everywhere */

static gab_status compare(persist_session *session)
{
  const uint64_t mine =
      gab_hash64(session->key, strlen(session->key), gab_persist_settings_hash(&session->set));
  uint64_t ends[2] = {mine, ~mine}, most[2];
  GAB_TRY(gab_persist_mpi(session, PMPI_Allreduce(ends, most, 2, MPI_UINT64_T, MPI_MAX, session->inner),
                          "MPI_Allreduce"));
  if (most[0] == ~most[1]) return GAB_OK;
  GAB_FAIL(GAB_ERR_INPUT, "key or info are not the same on all processes (here: key `%s')", session->key);
}

/* ------------------------------------------------------------------------------------ 2. what this process has */

/* Moves the state of a broken session of this process into the new one. */
static gab_status adopt(persist_session *session)
{
  persist_session *old = gab_persist_find_key(session->key);
  if (!old) return GAB_OK;
  if (gab_persist_check(old) == GAB_OK)
    GAB_FAIL(GAB_ERR_STATE, "the key `%s' is in use: this process has it open", session->key);
  if (old->size != session->size)
    GAB_FAIL(GAB_ERR_INPUT, "the key `%s' is of %d processes, these are %d: the number must be the same",
             session->key, old->size, session->size);
  if (old->rank != session->rank)
    GAB_FAIL(GAB_ERR_INPUT,
             "this process was rank %d of the key `%s', and is rank %d now: the order must be the "
             "same",
             old->rank, session->key, session->rank);
  if (gab_persist_settings_hash(&old->set) != gab_persist_settings_hash(&session->set))
    GAB_FAIL(GAB_ERR_INPUT, "the key `%s' was opened with other info before", session->key);
  gab_persist_msglog_swap(&session->msglog, &old->msglog);
  memcpy(session->files, old->files, sizeof old->files);
  session->file_count = old->file_count;
  old->file_count = 0;
  session->replicas = old->replicas;
  session->replica_count = old->replica_count;
  old->replicas = NULL;
  old->replica_count = 0;
  session->lives = old->lives;
  session->live_count = old->live_count;
  old->lives = NULL;
  old->live_count = 0;
  session->run = old->run;
  session->survivor = session->opened = old->opened;
  session->complete = true;
  gab_persist_leave(old);
  gab_persist_free_comms(old);
  gab_persist_destroy(old);
  return gab_persist_lives_forget(session);
}

static gab_status check_space(const persist_session *session, const char *folder)
{
  struct statvfs about;
  if (session->set.bytes == 0 || statvfs(folder, &about) != 0) return GAB_OK;
  const uint64_t left = (uint64_t)about.f_bavail * about.f_frsize;
  if (left < session->set.bytes)
    GAB_FAIL(GAB_ERR_IO, "%s has space for %" PRIu64 " bytes, info persist_bytes asks for %" PRIu64, folder,
             left, session->set.bytes);
  return GAB_OK;
}

static gab_status load(persist_session *session, const char *parent, const char *name)
{
  const persist_file_id id = {session->key, gab_persist_settings_of_file(&session->set), session->rank,
                              session->size};
  persist_file *file = &session->files[session->file_count];
  persist_msglog msglog;
  bool found = false;
  GAB_TRY(gab_persist_file_open(file, parent, name, &id, session->set.sync, LOCK_SECONDS));
  session->file_count++;
  GAB_TRY(check_space(session, file->path));
  gab_persist_msglog_init(&msglog, session->set.depth, session->set.commit == PERSIST_COMMIT_TOGETHER);
  gab_status status = gab_persist_file_load(file, &id, &msglog, &found);
  if (status == GAB_OK && found && session->complete && file->run != session->run)
    status =
        gab_error_set(GAB_ERR_INPUT, __FILE__, __LINE__, "%s and %s are of different runs under the key `%s'",
                      session->files[0].path, file->path, session->key);
  if (status == GAB_OK && found) session->run = file->run;
  if (status == GAB_OK && found && (!session->complete || msglog.epoch > session->msglog.epoch)) {
    gab_persist_msglog_swap(&msglog, &session->msglog);
    session->complete = true;
  }
  gab_persist_msglog_release(&msglog);
  return status;
}

/* Sets ->complete if there is a state. A session whose opening was interrupted by a death does not count as a survivor's,
 * but its state is as good as a file. */
static gab_status find_own(persist_session *session)
{
  char name[80];
  const uint64_t hash = gab_hash64(session->key, strlen(session->key), 0);
  GAB_TRY(adopt(session));
  if (session->complete) return GAB_OK;
  if (session->set.in_file) {
    snprintf(name, sizeof name, "persist-%016" PRIx64, hash);
    GAB_TRY(load(session, session->set.folder, name));
  }
  if (session->set.in_node) {
    snprintf(name, sizeof name, "gabion-persist-%ld-%016" PRIx64, (long)geteuid(), hash);
    GAB_TRY(load(session, session->set.node_folder, name));
  }
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------ 3. what all have */

/* The larger number is the newer epoch; of several holders the lowest rank. */
static uint64_t offer(uint64_t epoch, int rank)
{
  return (epoch + 1) << HOLDER_BITS | (uint64_t)((1 << HOLDER_BITS) - 1 - rank);
}
static uint64_t epoch_of_offer(uint64_t word) { return word >> HOLDER_BITS; } /* plus 1 */
static int rank_of_offer(uint64_t word)
{
  return (1 << HOLDER_BITS) - 1 - (int)(word & ((1u << HOLDER_BITS) - 1));
}

static gab_status learn(persist_session *session, overview *all)
{
  const int n = session->size;
  for (int i = 0; i < session->replica_count; i++) {
    uint64_t *best = &all->replica[session->replicas[i].rank];
    *best = offer(session->replicas[i].msglog.epoch, session->rank);
  }
  all->own[session->rank] = session->complete ? session->msglog.epoch + 1 : 0;
  all->survives[session->rank] = session->survivor;
  GAB_TRY(gab_persist_mpi(
      session, PMPI_Allreduce(MPI_IN_PLACE, all->replica, n, MPI_UINT64_T, MPI_MAX, session->inner),
      "MPI_Allreduce"));
  GAB_TRY(gab_persist_mpi(session,
                          PMPI_Allreduce(MPI_IN_PLACE, all->own, n, MPI_UINT64_T, MPI_MAX, session->inner),
                          "MPI_Allreduce"));
  return gab_persist_mpi(session,
                         PMPI_Allreduce(MPI_IN_PLACE, all->survives, n, MPI_BYTE, MPI_BOR, session->inner),
                         "MPI_Allreduce");
}

/* Files of different runs under one key, e.g. in the memory of other nodes than before, are not a valid state. A fresh
 * start is a new run. */
static gab_status agree_on_run(persist_session *session, const overview *all)
{
  const bool has = session->complete && !all->fresh;
  uint64_t ends[2] = {has ? session->run : 0, has ? ~session->run : 0}, most[2];
  GAB_TRY(gab_persist_mpi(session, PMPI_Allreduce(ends, most, 2, MPI_UINT64_T, MPI_MAX, session->inner),
                          "MPI_Allreduce"));
  if (!all->fresh && most[0] != ~most[1])
    GAB_FAIL(GAB_ERR_INPUT,
             "what is stored under the key `%s' is of different runs: rank %d %s of run %016" PRIx64
             "; remove what does not belong to the present one",
             session->key, session->rank, has && session->run == most[0] ? "is" : "is not", most[0]);
  uint64_t run = most[0];
  if (all->fresh) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    run = gab_hash_counter((uint64_t)now.tv_sec, (uint64_t)now.tv_nsec, (uint64_t)getpid());
    GAB_TRY(gab_persist_mpi(session, PMPI_Bcast(&run, 1, MPI_UINT64_T, 0, session->inner), "MPI_Bcast"));
  }
  session->run = run;
  for (int i = 0; i < session->file_count; i++) session->files[i].run = run;
  return GAB_OK;
}

/* Completes a discard that was interrupted by the end of the job. */
static gab_status forget_discarded(persist_session *session)
{
  int kept = session->survivor;
  for (int i = 0; i < session->file_count; i++)
    kept = kept || (session->files[i].file >= 0 && !session->files[i].done);
  GAB_TRY(gab_persist_mpi(session, PMPI_Allreduce(MPI_IN_PLACE, &kept, 1, MPI_INT, MPI_LOR, session->inner),
                          "MPI_Allreduce"));
  if (kept) return GAB_OK;
  gab_status status = GAB_OK;
  for (int i = 0; i < session->file_count && status == GAB_OK; i++)
    status = gab_persist_file_clear(&session->files[i]);
  gab_persist_msglog_release(&session->msglog);
  session->complete = false;
  return gab_persist_all(session, status);
}

/* Whether a copy is newer than the data of the process itself; a survivor has the newest data. */
static bool takes_copy(const overview *all, int rank)
{
  return !all->survives[rank] && epoch_of_offer(all->replica[rank]) > all->own[rank];
}

static uint64_t newest(const overview *all, int rank)
{
  return takes_copy(all, rank) ? epoch_of_offer(all->replica[rank]) : all->own[rank];
}

/* All processes get the same result. */
static gab_status decide(persist_session *session, overview *all)
{
  const bool together = session->set.commit == PERSIST_COMMIT_TOGETHER;
  uint64_t least = UINT64_MAX, most = 0;
  bool survivors = false;
  int poorest = 0;
  for (int i = 0; i < session->size; i++) {
    const uint64_t epoch = newest(all, i);
    if (epoch < least) poorest = i;
    least = epoch < least ? epoch : least;
    most = epoch > most ? epoch : most;
    survivors = survivors || all->survives[i];
  }
  all->fresh = most <= 1 && (together || !survivors);
  if (!all->fresh && least == 0)
    GAB_FAIL(
        GAB_ERR_LOST,
        "the state of rank %d under the key `%s' is lost: neither a file of it nor a copy with a living process is "
        "left",
        poorest, session->key);
  all->epoch = all->fresh ? 0 : least - 1;
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------ 4. states travel */

static gab_status read_msglog(persist_session *session, const gab_buffer *bytes)
{
  persist_msglog msglog;
  gab_reader groups = gab_reader_of_buffer(bytes);
  gab_persist_msglog_init(&msglog, session->set.depth, session->set.commit == PERSIST_COMMIT_TOGETHER);
  gab_status status = GAB_OK;
  while (status == GAB_OK && gab_reader_left(&groups) > 0) status = gab_persist_msglog_take(&msglog, &groups);
  if (status == GAB_OK) gab_persist_msglog_swap(&msglog, &session->msglog);
  gab_persist_msglog_release(&msglog);
  return status;
}

static gab_status send_states(persist_session *session, const overview *all)
{
  gab_buffer mine = {0}, *states = NULL;
  persist_parcel *parcels = NULL, from = {0, &mine};
  const size_t count = (size_t)session->replica_count;
  gab_status status = GAB_NEW_ARRAY(&states, count, GAB_MEMORY_OTHER);
  if (status == GAB_OK) status = GAB_NEW_ARRAY(&parcels, count, GAB_MEMORY_OTHER);
  int sent = 0;
  for (size_t i = 0; i < count && status == GAB_OK; i++) {
    const int rank = session->replicas[i].rank;
    if (!takes_copy(all, rank) || rank_of_offer(all->replica[rank]) != session->rank) continue;
    status = gab_persist_msglog_write(&session->replicas[i].msglog, &states[i]);
    parcels[sent++] = (persist_parcel){rank, &states[i]};
  }
  const bool takes = takes_copy(all, session->rank);
  from.peer = takes ? rank_of_offer(all->replica[session->rank]) : 0;
  status = gab_persist_all(session, status);
  if (status == GAB_OK) status = gab_persist_trade(session, parcels, sent, &from, takes ? 1 : 0);
  if (status == GAB_OK) status = gab_persist_all(session, takes ? read_msglog(session, &mine) : GAB_OK);
  for (size_t i = 0; states && i < count; i++) gab_buffer_release(&states[i]);
  gab_buffer_release(&mine);
  gab_free(&states);
  gab_free(&parcels);
  return status;
}

static gab_status settle(persist_session *session, const overview *all)
{
  session->restored = false;
  if (all->fresh) {
    gab_persist_msglog_release(&session->msglog);
  } else if (session->set.commit == PERSIST_COMMIT_TOGETHER) {
    GAB_TRY(gab_persist_msglog_go_back(&session->msglog, all->epoch));
    session->restored = all->epoch > 0;
  } else if (!session->survivor) {
    GAB_TRY(gab_persist_msglog_go_back(&session->msglog, session->msglog.epoch));
    session->restored = session->msglog.epoch > 0;
  }
  session->retrieves = session->restored;
  session->complete = true;
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------ 6. everything is stored again */

static gab_status store_again(persist_session *session)
{
  gab_buffer groups = {0};
  gab_status status = gab_persist_msglog_write(&session->msglog, &groups);
  for (int i = 0; i < session->file_count && status == GAB_OK; i++)
    status = gab_persist_file_rewrite(&session->files[i], &session->msglog);
  status = gab_persist_all(session, status);
  if (status == GAB_OK && session->set.in_neighbour)
    status = gab_persist_all(session, gab_persist_copy(session, &groups, true));
  gab_buffer_release(&groups);
  return status;
}

gab_status gab_persist_open(persist_session *session)
{
  overview all = {0};
  GAB_TRY(gab_persist_all(session, overview_make(session->size, &all)));
  gab_status status = compare(session);
  if (status == GAB_OK) status = gab_persist_all(session, find_own(session));
  if (status == GAB_OK && session->file_count > 0) status = forget_discarded(session);
  if (status == GAB_OK) status = learn(session, &all);
  if (status == GAB_OK) status = decide(session, &all);
  if (status == GAB_OK) status = agree_on_run(session, &all);
  if (status == GAB_OK && !all.fresh) status = send_states(session, &all);
  if (status == GAB_OK) status = gab_persist_all(session, settle(session, &all));
  if (status == GAB_OK && !all.fresh) status = gab_persist_fill_inbox(session);
  if (status == GAB_OK) status = store_again(session);
  overview_release(&all);
  return status;
}
