/* SPDX-License-Identifier: Apache-2.0 */
/** @file spares.c
 * @brief Spare processes: start of the idle state, polling, assignment of a rank, dismissal.
 *
 * States of a spare, and of the world as a whole:
 *
 *      awake --rest--> resting --called--> (a member)
 *                         |
 *                         +----recalled--> awake
 *
 * Invariants. (1) All live processes agree whether spares idle, except during rest and recall: both change it after an
 * agreement, which succeeds on all or on none; after a death in between, the next repair makes it equal ("awake" has
 * precedence). (2) Active processes agree on one communicator at a time: on the common one while spares are awake, on
 * their own while spares idle. (3) An idle spare sends nothing, and receives only the message that ends the idle state.
 * (4) All take part in a dismissal until it has succeeded on all: an abort request raised meanwhile comes from a
 * process that has left, and ends it for all.
 */
#include "core/messages/collective.h"
#include "core/world/world_impl.h"

#include <stdio.h>
#include <time.h>

/* The pause is long compared with a poll of the network and short compared with a recovery; deaths are checked every
 * LOOKS_PER_CHECK polls. */
enum { LOOK_EVERY_MS = 2, LOOKS_PER_CHECK = 32 };

static void doze(void)
{
  const struct timespec pause = {0, LOOK_EVERY_MS * 1000000L};
  nanosleep(&pause, NULL);
}

/* On all: no process can be respawned from now on. */
static void give_up_replacements(gab_world *world)
{
  gab_replay_give_up(
      world,
      "the program is past the end of its first time loop or gab_reinit(), where a replacement process would begin");
}

/* Active processes handle the death of one of them, unless none is left: MPI_Iprobe() does not report the death of
 * its source. Under local recovery a spare handles only the death of all active processes, in its idle callback,
 * which knows the takeovers. */
static gab_status look_for_dead_members(gab_world *world)
{
  int processes;
  int32_t active;
  if (world->policy == GAB_POLICY_REVOKE_ALL) return gab_world_look_for_deaths(world);
  if (world->rest) return gab_world_check(world);
  GAB_TRY(gab_world_count_deaths(world, &processes, &active));
  if (active == gab_members_count(&world->members)) gab_world_break(world);
  return gab_world_check(world);
}

/* Polls until the root ends the idle state. @param[out] took_rank it has taken a rank instead @return GAB_ERR_FAULT
 * after a fault */
static gab_status wait_for_word(gab_world *world, bool *took_rank)
{
  *took_rank = false;
  for (unsigned looks = 1;; looks++) {
    int there = 0;
    unsigned char word;
    GAB_TRY(gab_world_check(world));
    if (looks % LOOKS_PER_CHECK == 0) GAB_TRY(look_for_dead_members(world));
    const int root = gab_world_comm_rank(world, gab_world_root(world));
    const int code = MPI_Iprobe(root, GAB_CONTEXT_REST, world->comm, &there, MPI_STATUS_IGNORE);
    /* Under local recovery a spare ignores the death of the root. */
    const bool ignored = world->policy == GAB_POLICY_MARK_DOWN && gab_mpi_is_fault(code) && !world->broken;
    if (!ignored) GAB_TRY(gab_world_mpi(world, code, "MPI_Iprobe"));
    if (world->rest) {
      GAB_TRY(world->rest(world->rest_user, took_rank));
      if (*took_rank) return GAB_OK;
    }
    if (there && !ignored)
      return gab_world_mpi(
          world, MPI_Recv(&word, 1, MPI_BYTE, root, GAB_CONTEXT_REST, world->comm, MPI_STATUS_IGNORE),
          "MPI_Recv");
    doze();
  }
}

/* The idle state of a spare: repairs, each of which may assign a rank. */
static gab_status rest(gab_world *world, gab_status *abort_request)
{
  while (world->resting) {
    bool took_rank;
    gab_status status = wait_for_word(world, &took_rank);
    if (took_rank) return status;
    if (status == GAB_OK) {
      uint32_t flags = 0;
      world->resting = false;
      world->policy = GAB_POLICY_REVOKE_ALL; /* from now on it takes part in collective calls */
      status = gab_world_agree(world, &flags);
    }
    if (status == GAB_OK) give_up_replacements(world);
    if (status != GAB_ERR_FAULT) return status;
    GAB_TRY(gab_world_repair(world, abort_request));
    if (!gab_world_is_spare(world)) return GAB_OK;
    if (world->is_abandoned) return *abort_request;
    *abort_request = GAB_OK;
  }
  return GAB_OK;
}

/* Without spares this is needed if processes may be respawned: it ends their set-up. */
static bool needs_rest(const gab_world *world)
{
  return gab_world_spares(world) > 0 || (world->replacement & GAB_REPLACEMENT_RESPAWN);
}

/* Determines the nodes while all processes take part. */
static gab_status look_round(gab_world *world)
{
  if (!(world->replacement & GAB_REPLACEMENT_RESPAWN)) return GAB_OK;
  GAB_TRY(gab_world_check(world));
  const gab_status status = gab_nodes_find(world);
  if (status == GAB_ERR_FAULT) gab_world_break(world); /* releases waiting processes */
  return status;
}

gab_status gab_world_rest(gab_world *world, gab_status *abort_request)
{
  uint32_t flags = 0;
  *abort_request = GAB_OK;
  world->is_abandoned = false;
  if (gab_world_replays(world)) {
    GAB_TRY(gab_world_join(world, abort_request));
    gab_comm_world_raise_late(world);
    return gab_world_is_spare(world) ? rest(world, abort_request) : GAB_OK;
  }
  if (world->replacement & GAB_REPLACEMENT_RESPAWN) gab_replay_close(world);
  else gab_replay_end(world);
  if (world->resting || !needs_rest(world))
    return GAB_OK; /* without a check for faults, which others may not have noticed yet */
  GAB_TRY(look_round(world));
  GAB_TRY(gab_world_agree(world, &flags));
  world->resting = true;
  return gab_world_is_spare(world) ? rest(world, abort_request) : GAB_OK;
}

static gab_status tell_spares(gab_world *world)
{
  const unsigned char word = 0;
  for (int32_t i = 0; i < gab_world_spares(world); i++) {
    const int comm_rank = gab_world_comm_rank(world, (gab_rank)gab_world_spare(world, i));
    GAB_TRY(gab_world_mpi(world, MPI_Send(&word, 1, MPI_BYTE, comm_rank, GAB_CONTEXT_REST, world->comm),
                          "MPI_Send"));
  }
  return GAB_OK;
}

/* Ends the idle state: spares leave gab_world_rest() and take part in collective calls. Collective over members and
 * idle spares; without idle spares no effect. @return ::GAB_ERR_FAULT: repair and call again */
static gab_status recall(gab_world *world)
{
  uint32_t flags = 0;
  GAB_TRY(gab_world_check(world));
  if (!world->resting) return GAB_OK;
  GAB_TRY(gab_world_agree(world, &flags)); /* the last agreement of active processes only */
  world->resting = false;
  give_up_replacements(world);
  if (gab_world_spares(world) == 0) return GAB_OK;
  if (gab_world_is_root(world)) GAB_TRY(tell_spares(world));
  return gab_world_agree(world, &flags);
}

/* ------------------------------------------------------------------------------------ the end */

/* Sends status and message of the end to the spares. Collective over all. */
static gab_status spread(gab_world *world, gab_status *end)
{
  gab_buffer words;
  uint32_t flags = 0, status = (uint32_t)*end;
  gab_buffer_init(&words, GAB_MEMORY_OTHER);
  gab_status sent = recall(world);
  if (sent == GAB_OK && gab_world_is_root(world)) sent = gab_put_u32(&words, status);
  if (sent == GAB_OK && gab_world_is_root(world))
    sent = gab_put_string(&words, status ? gab_error_message() : "");
  if (sent == GAB_OK) sent = gab_world_broadcast(world, gab_world_root(world), &words);
  if (sent == GAB_OK) sent = gab_world_agree(world, &flags);
  if (sent == GAB_OK && gab_world_is_spare(world)) {
    gab_reader in = gab_reader_of_buffer(&words);
    char message[1024];
    sent = gab_get_u32(&in, &status);
    if (sent == GAB_OK) sent = gab_get_string(&in, message, sizeof message);
    if (sent == GAB_OK) *end = (gab_status)status;
    if (sent == GAB_OK && *end != GAB_OK) gab_error_set(*end, __FILE__, __LINE__, "%s", message);
  }
  gab_buffer_release(&words);
  return sent;
}

gab_status gab_world_dismiss(gab_world *world, gab_status end)
{
  const bool knows = !gab_world_is_spare(world);
  char message[1024];
  gab_status sent = GAB_ERR_FAULT, abort_request;
  if ((world->processes.ranks == world->members.ranks && !world->resting) || world->lost ||
      world->is_abandoned)
    return end;
  snprintf(message, sizeof message, "%s", gab_error_message());
  world->dismissing = knows;
  while (sent == GAB_ERR_FAULT) {
    if (knows && end != GAB_OK) gab_error_set(end, __FILE__, __LINE__, "%s", message);
    sent = spread(world, &end);
    if (sent == GAB_ERR_FAULT && gab_world_repair(world, &abort_request) != GAB_OK) break;
    if (sent == GAB_ERR_FAULT && world->is_abandoned) sent = abort_request;
  }
  world->dismissing = false;
  if (knows && end != GAB_OK) gab_error_set(end, __FILE__, __LINE__, "%s", message);
  return end == GAB_OK ? sent : end;
}
