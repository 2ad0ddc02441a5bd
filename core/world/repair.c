/* SPDX-License-Identifier: Apache-2.0 */
/** @file repair.c
 *  @brief Repair of a broken world: revoke, meet, shrink, exchange notes, agree; repeated from the start if a step
 *  fails.
 *
 *  This order of steps has survived hundreds of real kills. Two rules keep processes synchronised. First, MPI counts
 *  the agreements on a communicator, so all processes must take part in the same number of them before it is shrunk.
 *  A repair therefore begins with agreements until all processes are in the repair; processes in a step learn of it
 *  from the same agreement (gab_world_agree()). While spares idle, active processes agree on their own communicator,
 *  so a repair meets on that one first, and then with the spares on the common one. Second, a process may have
 *  finished a repair that another one has to repeat: it has the newer communicator too, finds it revoked, and
 *  returns to the repair. */
#include "core/messages/logged/message_logger.h"
#include "core/base/log.h"
#include "core/world/world_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Limit of failed attempts without a death. */
enum { SPARE_ATTEMPTS = 16 };

/* Returns the abort request with its message to the caller and clears it. */
static void deliver_abort_request(gab_world *world, gab_status *abort_request)
{
  *abort_request = world->abort_request;
  if (world->abort_request != GAB_OK) {
    char file[256];
    snprintf(file, sizeof file, "%s", world->abort_where ? world->abort_where : "?:0");
    char *colon = strrchr(file, ':');
    const int line = colon ? atoi(colon + 1) : 0;
    if (colon) *colon = '\0';
    gab_error_set(world->abort_request, file, line, "%s", world->abort_message ? world->abort_message : "");
  }
  gab_world_forget_abort_request(world);
}

static void make_whole(gab_world *world)
{
  world->epoch++;
  world->broken = false;
  world->has_claim = false; /* all know it now */
  world->earlier_count = 0;
  world->meets_on_active = true;
  gab_comm_world_watch(world);
  gab_log_set_identity(world->rank, gab_world_is_root(world));
}

#ifdef GAB_HAVE_ULFM

/* Notes that survivors exchange; small enough for the eager protocol. */
typedef struct notes {
  uint64_t epoch;        /* the highest */
  uint32_t next_context; /* the highest: processes may have opened different ports before the fault */
  int32_t abort_request; /* the highest, of the lowest rank */
  gab_rank abort_rank;
  uint32_t awake; /* some process knows that spares no longer idle */
  uint32_t over;  /* some process knows that spares are dismissed */
  int32_t spawns; /* the maximum of attempts, so that all stop trying together */
  double waited;  /* the longest wait for the last process */
  int32_t claim_count;
  gab_claim claims[GAB_MOST_CLAIMS]; /* claims of spares that took ranks without a repair */
  char where[128];
  char message[2304];
} notes;

/* More claims than GAB_MOST_CLAIMS cannot occur: at that number the pool of spares counts as empty. */
static void merge_claims(notes *into, const notes *from)
{
  for (int32_t i = 0; i < from->claim_count && into->claim_count < GAB_MOST_CLAIMS; i++)
    into->claims[into->claim_count++] = from->claims[i];
}

static void merge_notes(notes *into, const notes *from)
{
  const uint64_t epoch = into->epoch > from->epoch ? into->epoch : from->epoch;
  const uint32_t context = into->next_context > from->next_context ? into->next_context : from->next_context;
  const uint32_t awake = into->awake | from->awake, over = into->over | from->over;
  const int32_t spawns = into->spawns > from->spawns ? into->spawns : from->spawns;
  const double waited = into->waited > from->waited ? into->waited : from->waited;
  const notes before = *into;
  if (from->abort_request > into->abort_request ||
      (from->abort_request == into->abort_request && from->abort_rank < into->abort_rank)) {
    *into = *from;
    merge_claims(into, &before);
  } else {
    merge_claims(into, from);
  }
  into->epoch = epoch;
  into->next_context = context;
  into->awake = awake;
  into->over = over;
  into->spawns = spawns;
  into->waited = waited;
}

static notes my_notes(const gab_world *world)
{
  notes mine = {.epoch = world->epoch,
                .next_context = world->next_context,
                .abort_request = (int32_t)world->abort_request};
  mine.abort_rank = world->abort_rank;
  mine.awake = !world->resting;
  mine.over = world->dismissing;
  mine.spawns = world->spawns;
  mine.waited = world->times.revoke;
  for (int i = 0; world->has_claim && i < world->earlier_count; i++)
    mine.claims[mine.claim_count++] = world->earlier[i];
  if (world->has_claim) mine.claims[mine.claim_count++] = world->claim;
  snprintf(mine.where, sizeof mine.where, "%s", world->abort_where ? world->abort_where : "?:0");
  snprintf(mine.message, sizeof mine.message, "%s", world->abort_message ? world->abort_message : "");
  return mine;
}

/* Reduces the notes along a binomial tree in plain MPI, since ports need an intact world. */
static bool compare_notes(MPI_Comm comm, notes *mine)
{
  int comm_rank = 0, size = 1, mask = 1;
  MPI_Comm_rank(comm, &comm_rank);
  MPI_Comm_size(comm, &size);
  for (; mask < size; mask <<= 1) {
    if (comm_rank & mask) {
      if (MPI_Send(mine, sizeof *mine, MPI_BYTE, comm_rank - mask, GAB_CONTEXT_REPAIR, comm) != MPI_SUCCESS)
        return false;
      if (MPI_Recv(mine, sizeof *mine, MPI_BYTE, comm_rank - mask, GAB_CONTEXT_REPAIR, comm,
                   MPI_STATUS_IGNORE) != MPI_SUCCESS)
        return false;
      break;
    }
    if (comm_rank + mask >= size) continue;
    notes other;
    if (MPI_Recv(&other, sizeof other, MPI_BYTE, comm_rank + mask, GAB_CONTEXT_REPAIR, comm,
                 MPI_STATUS_IGNORE) != MPI_SUCCESS)
      return false;
    merge_notes(mine, &other);
  }
  for (mask >>= 1; mask > 0; mask >>= 1)
    if (comm_rank + mask < size &&
        MPI_Send(mine, sizeof *mine, MPI_BYTE, comm_rank + mask, GAB_CONTEXT_REPAIR, comm) != MPI_SUCCESS)
      return false;
  return true;
}

/* Afterwards all have the same epoch, context counter and pending abort request. All keep the request until the
 * repair has succeeded, so it outlives the rank that raised it. */
static bool take_notes(gab_world *world)
{
  notes all = my_notes(world);
  if (!compare_notes(world->comm, &all)) return false;
  all.where[sizeof all.where - 1] = all.message[sizeof all.message - 1] = '\0';
  world->epoch = all.epoch;
  world->next_context = all.next_context;
  world->resting = !all.awake;
  world->calls_nobody = all.over;
  world->spawns = all.spawns;
  world->times.waited = all.waited;
  world->claim_count = all.claim_count;
  memcpy(world->claims, all.claims, sizeof world->claims);
  gab_world_forget_abort_request(world);
  if (all.abort_request != GAB_OK)
    gab_world_keep_abort_request(world, (gab_status)all.abort_request, all.abort_rank, all.message,
                                 all.where);
  return true;
}

/* ------------------------------------------------------------------------------------ steps */

/* Returns when all live processes of the communicator are in the repair. */
static gab_status meet(MPI_Comm comm)
{
  int bits;
  do {
    bits = GAB_AGREE_REPAIR;
    GAB_TRY(gab_comm_agree(comm, &bits, NULL));
  } while (!(bits & GAB_AGREE_REPAIR));
  return GAB_OK;
}

/* @param[out] fresh the new communicator on all, or MPI_COMM_NULL on all */
static gab_status shrink(MPI_Comm comm, MPI_Comm *fresh)
{
  *fresh = MPI_COMM_NULL;
  const int code = MPIX_Comm_shrink(comm, fresh);
  int bits = code == MPI_SUCCESS ? GAB_AGREE_SHRUNK : 0;
  const gab_status status = gab_comm_agree(comm, &bits, NULL);
  if ((status != GAB_OK || !(bits & GAB_AGREE_SHRUNK)) && *fresh != MPI_COMM_NULL) MPI_Comm_free(fresh);
  return status;
}

/* Determines the ranks of the old communicator that are not in the new one. @param[out] comm_ranks owned by the
 * caller */
static gab_status find_lost(MPI_Comm old, MPI_Comm fresh, int **comm_ranks, int *count)
{
  MPI_Group before, after, lost;
  MPI_Comm_group(old, &before);
  MPI_Comm_group(fresh, &after);
  MPI_Group_difference(before, after, &lost);
  MPI_Group_size(lost, count);
  void *memory = NULL;
  const gab_status status = gab_alloc(2 * (size_t)*count * sizeof **comm_ranks, GAB_MEMORY_OTHER, &memory);
  if (status == GAB_OK) {
    *comm_ranks = memory;
    int *in_lost = *comm_ranks + *count;
    for (int i = 0; i < *count; i++) in_lost[i] = i;
    MPI_Group_translate_ranks(lost, *count, in_lost, before, *comm_ranks);
  }
  MPI_Group_free(&lost);
  MPI_Group_free(&after);
  MPI_Group_free(&before);
  return status;
}

/* Removes the processes at these communicator ranks from processes and members. */
static gab_status strike(const gab_world *world, const int *lost, int count, gab_members *processes,
                         gab_members *members)
{
  GAB_TRY(gab_members_copy(processes, &world->processes));
  GAB_TRY(gab_members_copy(members, &world->members));
  for (int i = 0; i < count; i++) {
    const gab_process process = gab_world_process_of_comm_rank(world, lost[i]);
    GAB_TRY(gab_members_remove(members, gab_members_rank_of_process(&world->members, process)));
    GAB_TRY(gab_members_remove(processes, process));
  }
  return GAB_OK;
}

/* Moves the world to the new communicator, also if the repair fails later: communicator, processes and members
 * always match. */
static gab_status move_to(gab_world *world, MPI_Comm fresh, MPI_Comm *old)
{
  int *lost = NULL, count = 0;
  GAB_TRY(find_lost(world->comm, fresh, &lost, &count));
  gab_members processes = {0}, members = {0};
  const gab_status status = strike(world, lost, count, &processes, &members);
  gab_free(&lost);
  if (status != GAB_OK) {
    gab_members_release(&processes);
    gab_members_release(&members);
    return status;
  }
  gab_members_release(&world->processes);
  gab_members_release(&world->members);
  world->processes = processes;
  world->members = members;
  *old = world->comm;
  if (world->active_comm == *old) world->active_comm = MPI_COMM_NULL;
  world->comm = fresh;
  world->meets_on_active = false;
  gab_world_watch_comm(fresh);
  return GAB_OK;
}

/* Meets active processes on the communicator of their agreements, idle spares on the common one. */
static gab_status meet_all(gab_world *world)
{
  const bool on_active = world->resting && world->meets_on_active && world->active_comm != world->comm;
  if (on_active && world->active_comm != MPI_COMM_NULL) GAB_TRY(meet(world->active_comm));
  return meet(world->comm);
}

/* Ranks are assigned only after all have the same information: idle spares, and whether replacements are enabled. */
static gab_status call_spares(gab_world *world, bool *good)
{
  /* Known to all from the start, unlike the replacement, which some learn only at the end of their set-up. */
  if (!gab_world_has_benches(world) && world->replay.state == GAB_REPLAY_NONE) return GAB_OK;
  int bits = *good ? GAB_AGREE_NOTED : 0;
  GAB_TRY(gab_comm_agree(world->comm, &bits, NULL));
  *good = (bits & GAB_AGREE_NOTED) != 0;
  if (*good) GAB_TRY(gab_world_settle_claims(world));
  if (!*good || !world->resting || world->calls_nobody || world->replacement == GAB_REPLACEMENT_NONE)
    return GAB_OK;
  GAB_TRY(gab_world_call_spares(world));
  return gab_world_respawn(world, good);
}

/* The last part of a repair, which includes replacement processes. @param[out] repaired false: repeat the attempt */
static gab_status finish(gab_world *world, bool good, bool *repaired)
{
  bool deaths;
  good = good && gab_world_remake_comms(world) == GAB_OK && gab_world_connect_root(world) == GAB_OK;
  if (world->resting && (world->replacement & GAB_REPLACEMENT_RESPAWN))
    good = good && gab_nodes_find(world) == GAB_OK;
  if (!good) gab_world_revoke(world);
  int bits = good ? GAB_AGREE_REPAIRED : 0;
  const gab_status status = gab_comm_agree(world->comm, &bits, &deaths);
  *repaired = (bits & GAB_AGREE_REPAIRED) && !deaths;
  return status;
}

/* Rebuilds the world on the new communicator. @param[out] repaired false: repeat the attempt */
static gab_status rebuild(gab_world *world, bool *repaired)
{
  gab_world_reset_ports(world);
  gab_world_free_deferred(world);
  gab_world_retire_comms(world);
  bool good = take_notes(world);
  if (!good) gab_world_revoke(world); /* others may wait for the notes */
  GAB_TRY(call_spares(world, &good));
  return finish(world, good, repaired);
}

/* Waits for the report of a death if only the revocation has arrived: a hundred polls with naps of 0.1 ms, in
 * practice 15 ms, or more on shared cores. Open MPI 5.0.7 sometimes crashes if a death is reported while it still
 * answers for an agreement that was decided without it. */
static void await_news(gab_world *world)
{
  enum { LOOKS = 100 };
  const struct timespec pause = {0, 100000};
  for (int i = 0; i < LOOKS; i++) {
    int processes = 0;
    int32_t members;
    gab_mpi_progress();
    if (gab_world_count_deaths(world, &processes, &members) == GAB_OK && processes > 0) return;
    nanosleep(&pause, NULL);
  }
}

/* One attempt. @param[out] repaired false: repeat. Any status other than GAB_OK ends the repair. */
static gab_status attempt(gab_world *world, bool *repaired)
{
  *repaired = false;
  gab_world_enter(world, GAB_FAULT_POINT_REPAIR);
  MPI_Comm fresh, old;
  const double start = MPI_Wtime();
  gab_world_revoke(world);
  /* A process that raised an abort request, or is alone, expects no report. */
  if (world->abort_request == GAB_OK && gab_members_count(&world->processes) > 1) await_news(world);
  GAB_TRY(meet_all(world));
  const double revoked = MPI_Wtime();
  world->times.revoke += revoked - start;
  GAB_TRY(shrink(world->comm, &fresh));
  if (fresh == MPI_COMM_NULL) return GAB_OK;
  const double shrunk = MPI_Wtime();
  world->times.shrink += shrunk - revoked;
  GAB_TRY(move_to(world, fresh, &old));
  const gab_status status = rebuild(world, repaired);
  gab_comm_free_retired();
  if (old != MPI_COMM_WORLD)
    MPI_Comm_free(&old); /* it may be MPI_COMM_WORLD in place of a failed duplicate (world.c) */
  world->times.agree += MPI_Wtime() - shrunk;
  return status;
}

static gab_status try_until_repaired(gab_world *world)
{
  const int limit = gab_members_count(&world->processes) + SPARE_ATTEMPTS;
  for (int attempts = 1; attempts <= limit; attempts++) {
    bool repaired;
    GAB_TRY(attempt(world, &repaired));
    world->times.attempts = attempts;
    if (repaired && gab_members_count(&world->members) == 0)
      GAB_FAIL(GAB_ERR_LOST, "all processes that ran a rank are dead");
    if (repaired) return GAB_OK;
  }
  GAB_FAIL(GAB_ERR_LOST, "the communicators could not be repaired in %d attempts", limit);
}

static gab_status mend(gab_world *world)
{
  world->spawns = 0;
  world->times = (gab_repair_times){0};
  /* Some processes may have completed a collective call of the set-up that others must repeat. */
  if (world->replay.state == GAB_REPLAY_WRITES)
    gab_replay_give_up(world, "a process died in the set-up, and the others went on");
  GAB_TRY(gab_members_copy(&world->whole, &world->members));
  world->claim_count = 0;
  return try_until_repaired(world);
}

static gab_status join(gab_world *world)
{
  bool repaired;
  GAB_TRY(gab_world_appear(world));
  const gab_status status = finish(world, true, &repaired);
  gab_comm_free_retired();
  GAB_TRY(status);
  world->times = (gab_repair_times){.attempts = 1};
  return repaired ? GAB_OK : try_until_repaired(world);
}

#else

static gab_status join(gab_world *world) { return gab_world_appear(world); }

/* Without fault tolerance only a single process, or one with an own abort request, can continue. */
static gab_status mend(gab_world *world)
{
  gab_world_reset_ports(world);
  gab_world_free_deferred(world);
  if (gab_members_count(&world->members) == 1) return GAB_OK;
  world->lost = true;
  if (world->abort_request != GAB_OK) return GAB_OK;
  GAB_FAIL(GAB_ERR_LOST, "a process died, and this MPI has no fault tolerance (ULFM) to continue without it");
}

#endif

/* For a world without MPI. */
static gab_status mend_alone(gab_world *world)
{
  gab_world_reset_ports(world);
  gab_world_free_deferred(world);
  return GAB_OK;
}

static gab_status repair(gab_world *world, gab_status (*way)(gab_world *world), gab_status *abort_request)
{
  world->repairing = true;
  const gab_status status = way(world);
  world->repairing = false;
  if (status != GAB_OK) {
    world->lost = true;
    return status;
  }
  if (!world->lost) make_whole(world);
  deliver_abort_request(world, abort_request);
  if (*abort_request != GAB_OK && world->calls_nobody) world->is_abandoned = true;
  return GAB_OK;
}

gab_status gab_world_repair(gab_world *world, gab_status *abort_request)
{
  *abort_request = GAB_OK;
  if (world->lost) GAB_FAIL(GAB_ERR_LOST, "an earlier repair has failed");
  if (gab_world_replays(world)) gab_world_leave();
  gab_world_break(world);
  (void)gab_world_fault(world);
  gab_world_set_message_logger(world, NULL);
  gab_world_set_policy(world, GAB_POLICY_REVOKE_ALL);
  world->meetings++;
  return repair(world, world->is_without_mpi ? mend_alone : mend, abort_request);
}

gab_status gab_world_join(gab_world *world, gab_status *abort_request)
{
  *abort_request = GAB_OK;
  return repair(world, join, abort_request);
}
