/* SPDX-License-Identifier: Apache-2.0 */
/** @file respawn_facts.c
 *  @brief State sent to a respawned process: values equal on all other processes, and its placement. */
#include "core/world/quarantine.h"
#include "core/world/spares/respawn_impl.h"

#ifdef GAB_HAVE_ULFM

#include <limits.h>
#include <string.h>
#include <unistd.h>

/* Packs the nodes of the present and of earlier replacement processes. */
static gab_status put_plan(const gab_world *world, const gab_replacement_plan *plan, gab_buffer *out)
{
  GAB_TRY(gab_put_u8(out, world->has_nodes));
  GAB_TRY(gab_put_i32(out, world->origin_count));
  for (int32_t i = 0; i < world->origin_count; i++) GAB_TRY(gab_put_i32(out, world->origins[i]));
  GAB_TRY(gab_put_i32(out, plan->count));
  for (int32_t i = 0; i < plan->count; i++) {
    GAB_TRY(gab_put_i32(out, plan->origins[i]));
    GAB_TRY(gab_put_i32(out, plan->groups[i]));
    GAB_TRY(gab_put_string(out, plan->hosts[plan->groups[i]]));
  }
  return GAB_OK;
}

gab_status gab_facts_put(const gab_world *world, const gab_replacement_plan *plan, gab_buffer *out)
{
  GAB_TRY(gab_members_pack(&world->processes, out));
  GAB_TRY(gab_members_pack(&world->members, out));
  GAB_TRY(gab_members_pack(&world->whole, out));
  GAB_TRY(gab_put_i32(out, world->first_processes));
  GAB_TRY(gab_put_u64(out, world->epoch));
  GAB_TRY(gab_put_u32(out, world->next_context));
  GAB_TRY(gab_put_i32(out, world->spawns));
  GAB_TRY(gab_put_u8(
      out, world->shares_cores)); /* on a replacement process MPI counts only processes started with it */
  GAB_TRY(gab_put_u32(out, (uint32_t)world->abort_request));
  GAB_TRY(gab_put_i32(out, world->abort_rank));
  GAB_TRY(gab_put_string(out, world->abort_message ? world->abort_message : ""));
  GAB_TRY(gab_put_string(out, world->abort_where ? world->abort_where : ""));
  GAB_TRY(put_plan(world, plan, out));
  GAB_TRY(gab_spawn_put_environment(out));
  GAB_TRY(gab_put_string(out, world->folder ? world->folder : "."));
  return gab_put_bytes(out, world->replay.record.data, world->replay.record.size);
}

static gab_status take_abort_request(gab_world *world, gab_reader *in)
{
  char message[3072], where[256];
  uint32_t abort_request;
  int32_t rank;
  GAB_TRY(gab_get_u32(in, &abort_request));
  GAB_TRY(gab_get_i32(in, &rank));
  GAB_TRY(gab_get_string(in, message, sizeof message));
  GAB_TRY(gab_get_string(in, where, sizeof where));
  if (abort_request != GAB_OK)
    gab_world_keep_abort_request(world, (gab_status)abort_request, rank, message, where);
  return GAB_OK;
}

/* Arguments may be relative to the folder of the start. */
static gab_status take_folder(gab_world *world, gab_reader *in)
{
  char folder[PATH_MAX];
  GAB_TRY(gab_get_string(in, folder, sizeof folder));
  if (chdir(folder) != 0)
    GAB_FAIL(GAB_ERR_INPUT, "the folder %s, where the run was started, is not there", folder);
  return gab_world_note_folder(world);
}

/* Reads the part of the plan about replacement processes: the number of this one in its group. */
static gab_status take_replacements(gab_arrival *arrival, int32_t group, gab_process *origins, char *host,
                                    gab_reader *in)
{
  int comm_rank, seen = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &comm_rank);
  arrival->number = -1;
  for (int32_t i = 0; i < arrival->replacements; i++) {
    int32_t its;
    char name[MPI_MAX_PROCESSOR_NAME];
    GAB_TRY(gab_get_i32(in, &origins[i]));
    GAB_TRY(gab_get_i32(in, &its));
    GAB_TRY(gab_get_string(in, name, sizeof name));
    if (its != group || seen++ != comm_rank) continue;
    arrival->number = i;
    memcpy(host, name, sizeof name);
  }
  return arrival->number < 0
             ? gab_error_set(GAB_ERR_STATE, __FILE__, __LINE__, "nobody waits for this replacement process")
             : GAB_OK;
}

/* @param[out] host requested node of this process; "": any */
static gab_status take_plan(gab_world *world, gab_arrival *arrival, int32_t group, char *host, gab_reader *in)
{
  uint8_t has_nodes;
  GAB_TRY(gab_get_u8(in, &has_nodes));
  world->has_nodes = has_nodes;
  GAB_TRY(gab_get_i32(in, &world->origin_count));
  const int32_t before = world->origin_count;
  gab_reader ahead = *in;
  for (int32_t i = 0, skipped; i < before; i++) GAB_TRY(gab_get_i32(&ahead, &skipped));
  GAB_TRY(gab_get_i32(&ahead, &arrival->replacements));
  GAB_TRY(GAB_NEW_ARRAY(&arrival->origins, (size_t)(before + arrival->replacements), GAB_MEMORY_OTHER));
  for (int32_t i = 0; i < before; i++) GAB_TRY(gab_get_i32(in, &arrival->origins[i]));
  *in = ahead;
  return take_replacements(arrival, group, arrival->origins + before, host, in);
}

gab_status gab_facts_take(gab_world *world, gab_arrival *arrival, int32_t group, char *host, gab_reader in)
{
  uint8_t shares;
  GAB_TRY(gab_members_unpack(&arrival->processes, &in));
  GAB_TRY(gab_members_unpack(&arrival->members, &in));
  GAB_TRY(gab_members_unpack(&arrival->whole, &in));
  GAB_TRY(gab_get_i32(&in, &world->first_processes));
  GAB_TRY(gab_get_u64(&in, &arrival->epoch));
  GAB_TRY(gab_get_u32(&in, &arrival->next_context));
  GAB_TRY(gab_get_i32(&in, &world->spawns));
  GAB_TRY(gab_get_u8(&in, &shares));
  world->shares_cores = world->shares_cores || shares;
  GAB_TRY(take_abort_request(world, &in));
  GAB_TRY(take_plan(world, arrival, group, host, &in));
  GAB_TRY(gab_spawn_take_environment(&in));
  GAB_TRY(gab_quarantine_watch_as_told()); /* as on all others, which may wait for the root's message */
  GAB_TRY(take_folder(world, &in));
  world->replay.state = GAB_REPLAY_READS;
  return gab_put_bytes(&world->replay.record, in.at, gab_reader_left(&in));
}

#endif
