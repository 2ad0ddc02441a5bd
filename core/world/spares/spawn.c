/* SPDX-License-Identifier: Apache-2.0 */
/** @file spawn.c
 *  @brief Starts replacement processes, node by node, and connects them with the spawning process.
 *
 *  One MPI_Comm_spawn for each node: one for several nodes at once hung in half of the trials (doc/ulfm.md).
 *
 *      the one that starts them         group 0              group 1               ...
 *      MPI_Comm_spawn, merge            MPI_Init, merge
 *      "group 0 of n"                   "group 0 of n"
 *      MPI_Comm_spawn, merge                                 MPI_Init, merge
 *      "group 1 of n"                                        "group 1 of n"
 *      ---- MPI_Intercomm_create over what there is and the next group, merge: all are on the bridge ---- */
#include "core/world/spares/respawn_impl.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

/* Marks a spawned process before MPI is initialised. */
#define SPAWNED "GABION_SPAWNED"

/* The folder in which later processes must start, since arguments may be relative to it. */
gab_status gab_world_note_folder(gab_world *world)
{
  char folder[PATH_MAX];
  void *memory;
  if (!getcwd(folder, sizeof folder))
    return GAB_OK; /* it then starts in the folder of the daemon of its node */
  GAB_TRY(gab_alloc(strlen(folder) + 1, GAB_MEMORY_OTHER, &memory));
  gab_free(&world->folder);
  world->folder = strcpy(memory, folder);
  return GAB_OK;
}

bool gab_world_was_spawned(void)
{
  const char *said = getenv(SPAWNED);
  return said && strcmp(said, "1") == 0;
}

#ifdef GAB_HAVE_ULFM

/* ------------------------------------------------------------------------------------ limits */

enum { SPAWN_SECONDS = 30, ARRIVE_SECONDS = 120 };

static timer_t limit;
static bool limit_is_set;

void gab_spawn_limit_end(void)
{
  if (limit_is_set) timer_delete(limit);
  limit_is_set = false;
}

/* A timer of the kernel, since the process may hang anywhere in MPI. */
static bool set_limit(double seconds)
{
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
  const struct itimerspec time = {
      .it_value = {(time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds))}};
  if (timer_create(CLOCK_MONOTONIC, &event, &limit) != 0) return false;
  limit_is_set = true;
  if (timer_settime(limit, 0, &time, NULL) == 0) return true;
  gab_spawn_limit_end();
  return false;
}

static double spawn_seconds(void)
{
  const char *told = getenv("GABION_SPAWN_WITHIN");
  const double seconds = told ? strtod(told, NULL) : 0;
  return seconds > 0 ? seconds : SPAWN_SECONDS;
}

void gab_spawn_limit_set(void)
{
  if (!set_limit(ARRIVE_SECONDS)) kill(getpid(), SIGKILL);
}

/* ------------------------------------------------------------------------------------ communicators */

bool gab_spawn_widen(MPI_Comm mine, MPI_Comm bridge, int other_leader, bool is_new, MPI_Comm *wide)
{
  MPI_Comm both;
  *wide = MPI_COMM_NULL;
  if (MPI_Intercomm_create(mine, 0, bridge, other_leader, GAB_CONTEXT_REPAIR, &both) != MPI_SUCCESS)
    return false;
  MPI_Comm_set_errhandler(both, MPI_ERRORS_RETURN);
  if (MPI_Intercomm_merge(both, is_new, wide) != MPI_SUCCESS)
    return false; /* it is not freed: see dismiss_bridge() */
  gab_comm_retire(both);
  MPI_Comm_set_errhandler(*wide, MPI_ERRORS_RETURN);
  return true;
}

bool gab_spawn_spread(MPI_Comm bridge, gab_buffer *bytes)
{
  uint64_t size = bytes->size;
  void *place = bytes->data;
  int comm_rank;
  MPI_Comm_rank(bridge, &comm_rank);
  if (MPI_Bcast(&size, 1, MPI_UINT64_T, 0, bridge) != MPI_SUCCESS || size > INT_MAX) return false;
  if (comm_rank > 0 && gab_buffer_extend(bytes, (size_t)size, &place) != GAB_OK) return false;
  return MPI_Bcast(place, (int)size, MPI_BYTE, 0, bridge) == MPI_SUCCESS;
}

/* ------------------------------------------------------------------------------------ starting a process */

static bool is_ours(const char *variable)
{
  return (strncmp(variable, "GABION_", 7) == 0 || strncmp(variable, "OMP_", 4) == 0) &&
         strncmp(variable, SPAWNED, sizeof SPAWNED - 1) != 0;
}

/* Variables needed before main(). Values of an MPI_Info are short, so all others are sent later. */
static void first_environment(char text[static MPI_MAX_INFO_VAL])
{
  const char *threads = getenv("OMP_NUM_THREADS");
  snprintf(text, MPI_MAX_INFO_VAL,
           threads && threads[0] ? SPAWNED "=1\nOMP_NUM_THREADS=%.100s" : SPAWNED "=1", threads);
}

gab_status gab_spawn_put_environment(gab_buffer *out)
{
  uint32_t count = 0;
  for (char **variable = environ; *variable; variable++) count += is_ours(*variable);
  GAB_TRY(gab_put_u32(out, count));
  for (char **variable = environ; *variable; variable++)
    if (is_ours(*variable)) GAB_TRY(gab_put_string(out, *variable));
  return GAB_OK;
}

/* Variables that exist already are specific to this node. */
gab_status gab_spawn_take_environment(gab_reader *in)
{
  char text[4096];
  uint32_t count;
  GAB_TRY(gab_get_u32(in, &count));
  for (uint32_t i = 0; i < count; i++) {
    GAB_TRY(gab_get_string(in, text, sizeof text));
    char *value = strchr(text, '=');
    if (!value) continue;
    *value++ = '\0';
    setenv(text, value, 0);
  }
  return GAB_OK;
}

/* Reads the words of the command line, each with its terminating zero. */
static gab_status read_arguments(gab_buffer *words)
{
  FILE *file = fopen("/proc/self/cmdline", "r");
  gab_status status = GAB_OK;
  if (!file) GAB_FAIL(GAB_ERR_INPUT, "the arguments of this program cannot be read from /proc/self/cmdline");
  for (int c; status == GAB_OK && (c = getc(file)) != EOF;) status = gab_put_u8(words, (uint8_t)c);
  fclose(file);
  return status;
}

/* Lists the arguments after the program name. @param[out] list to be released by gab_free(); ends with NULL */
static gab_status list_arguments(const gab_buffer *words, char ***list)
{
  size_t count = 0, next = 0;
  for (size_t i = 0; i < words->size; i++) count += words->data[i] == '\0';
  GAB_TRY(GAB_NEW_ARRAY(list, count + 1, GAB_MEMORY_OTHER));
  for (size_t at = 0; at < words->size; at += strlen((char *)words->data + at) + 1)
    if (at > 0) (*list)[next++] = (char *)words->data + at;
  (*list)[next] = NULL;
  return GAB_OK;
}

/* Starts one group of replacement processes. @param[out] bridge this process and the group */
static gab_status start_group(int count, const char *host, char **arguments, MPI_Comm *bridge)
{
  char program[PATH_MAX], environment[MPI_MAX_INFO_VAL];
  const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
  if (length < 0) GAB_FAIL(GAB_ERR_INPUT, "the file of this program cannot be found in /proc/self/exe");
  program[length] = '\0';
  MPI_Info info;
  MPI_Comm replacements;
  first_environment(environment);
  MPI_Info_create(&info);
  MPI_Info_set(info, "PMIX_ENVAR", environment);
  MPI_Info_set(info, "bind_to", "none");
  MPI_Info_set(info, "map_by",
               "slot:oversubscribe"); /* MPI still counts the slots of dead processes as used */
  if (host[0]) MPI_Info_set(info, "host", host);
  int code =
      MPI_Comm_spawn(program, arguments, count, info, 0, MPI_COMM_SELF, &replacements, MPI_ERRCODES_IGNORE);
  MPI_Info_free(&info);
  if (code == MPI_SUCCESS) {
    MPI_Comm_set_errhandler(replacements, MPI_ERRORS_RETURN);
    code = MPI_Intercomm_merge(replacements, 0, bridge);
    if (code == MPI_SUCCESS)
      gab_comm_retire(replacements); /* otherwise it is not freed: see dismiss_bridge() */
  }
  if (code != MPI_SUCCESS)
    GAB_FAIL(GAB_ERR_MPI, "%d process%s could not be started%s%s", count, count == 1 ? "" : "es",
             host[0] ? " on " : "", host);
  MPI_Comm_set_errhandler(*bridge, MPI_ERRORS_RETURN);
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------ the bridge */

/* Sends the number of the group and the number of groups to its members. */
static bool tell_group(MPI_Comm bridge, int32_t group[2])
{
  return MPI_Bcast(group, 2, MPI_INT32_T, 0, bridge) == MPI_SUCCESS;
}

/* Adds the next group to the bridge. Collective over both. @param[in] theirs bridge of the spawning process and the
 * next group */
static bool join_bridges(MPI_Comm *bridge, MPI_Comm *theirs)
{
  MPI_Comm wider;
  if (!gab_spawn_widen(*bridge, *theirs, 1, false, &wider)) return false;
  gab_comm_retire(*bridge);
  gab_comm_retire(*theirs);
  *bridge = wider;
  return true;
}

bool gab_spawn_meet(MPI_Comm parent, MPI_Comm *bridge, int32_t *group, int32_t *group_count)
{
  int32_t told[2];
  MPI_Comm one, nobody = MPI_COMM_NULL;
  MPI_Comm_set_errhandler(parent, MPI_ERRORS_RETURN);
  if (MPI_Intercomm_merge(parent, 1, &one) != MPI_SUCCESS) return false;
  MPI_Comm_set_errhandler(one, MPI_ERRORS_RETURN);
  if (!tell_group(one, told)) return false;
  *bridge = one;
  *group = told[0];
  *group_count = told[1];
  if (*group > 0) {
    if (!gab_spawn_widen(MPI_COMM_WORLD, one, 0, true, bridge)) return false;
    gab_comm_retire(one);
  }
  for (int32_t next = *group + 1; next < *group_count; next++)
    if (!join_bridges(bridge, &nobody)) return false;
  return true;
}

static int size_of_group(const gab_replacement_plan *plan, int32_t group)
{
  int size = 0;
  for (int32_t i = 0; i < plan->count; i++) size += plan->groups[i] == group;
  return size;
}

/* After an error the created communicators are revoked, which releases waiting processes. */
static gab_status start_groups(const gab_replacement_plan *plan, bool anywhere, char **arguments,
                               MPI_Comm *bridges)
{
  gab_status status = GAB_OK;
  int32_t made = 0;
  while (made < plan->group_count && status == GAB_OK) {
    int32_t group[2] = {made, plan->group_count};
    status =
        start_group(size_of_group(plan, made), anywhere ? "" : plan->hosts[made], arguments, &bridges[made]);
    if (status != GAB_OK) break;
    if (!tell_group(bridges[made++], group))
      status = gab_error_set(GAB_ERR_FAULT, __FILE__, __LINE__,
                             "a replacement process died before all had met it");
  }
  for (int32_t next = 1; next < plan->group_count && status == GAB_OK; next++)
    if (!join_bridges(&bridges[0], &bridges[next]))
      status = gab_error_set(GAB_ERR_FAULT, __FILE__, __LINE__,
                             "replacement processes on %d nodes could not be brought together",
                             (int)plan->group_count);
  for (int32_t i = 0; i < made && status != GAB_OK; i++) gab_comm_revoke(bridges[i]);
  return status;
}

static gab_status start_all(const gab_replacement_plan *plan, bool anywhere, char **arguments,
                            MPI_Comm *bridge)
{
  MPI_Comm *bridges;
  GAB_TRY(GAB_NEW_ARRAY(&bridges, (size_t)plan->group_count, GAB_MEMORY_OTHER));
  for (int32_t i = 0; i < plan->group_count; i++) bridges[i] = MPI_COMM_NULL;
  const gab_status status = start_groups(plan, anywhere, arguments, bridges);
  if (status == GAB_OK) *bridge = bridges[0];
  gab_free(&bridges);
  return status;
}

gab_status gab_spawn_replacements(const gab_replacement_plan *plan, bool anywhere, MPI_Comm *bridge)
{
  gab_buffer words;
  char **arguments = NULL;
  gab_buffer_init(&words, GAB_MEMORY_OTHER);
  gab_status status = read_arguments(&words);
  if (status == GAB_OK) status = list_arguments(&words, &arguments);
  if (status == GAB_OK && !set_limit(spawn_seconds()))
    status = gab_error_set(GAB_ERR_MEMORY, __FILE__, __LINE__, "there is no timer left");
  else if (status == GAB_OK) {
    status = start_all(plan, anywhere, arguments, bridge);
    gab_spawn_limit_end();
  }
  gab_free(&arguments);
  gab_buffer_release(&words);
  return status;
}

#else

void gab_spawn_limit_set(void) {}

#endif
