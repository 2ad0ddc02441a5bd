/** @file respawn.c
 *  @brief Processes that are started in a repair to take the slots of the dead: how they come, and how they
 * are received.
 *
 *      the one of the lowest seat            the other survivors       a newcomer
 *      MPI_Comm_spawn over MPI_COMM_SELF                               MPI_Init
 *      merge: the bridge                                               merge
 *      what it has to know, over the bridge
 *      ---------- agreement on `comm` ---------
 *      MPI_Intercomm_create over `comm` and the bridge, merge: the new communicator of everybody
 *      ---------- agreement on `comm` ---------
 *      "you are received", over the bridge                             its set-up, alone (replay.c)
 *      communicators of the players and the application; the last agreement of the repair, by all
 *
 *  Open MPI 5.0 notices the death of a spawned process once it shares an intracommunicator with somebody, not
 * before: who waits for it until then waits for ever (doc/ulfm.md). So one process alone waits there, under a
 * limit of the kernel at which it is ended: the others find it dead, and begin again. A spawn over the
 * communicator of all survivors, which would do with fewer steps, left all of them hanging now and then. */
#include "core/log.h"
#include "core/world_impl.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

/* The only way to tell before MPI is initialised. */
#define SPAWNED "GABION_SPAWNED"

bool gab_world_was_spawned(void)
{
  const char *said = getenv(SPAWNED);
  return said && strcmp(said, "1") == 0;
}

const char *gab_world_why_no_respawn(const gab_world *world)
{
#ifdef GAB_HAVE_ULFM
  if (!getenv("PRTE_LAUNCHED"))
    return "the program was not started by gabion-launch or mpirun, and nobody else can start processes "
           "later";
  if (world->replay.state == GAB_REPLAY_NONE)
    return "the program was started by mpirun without gabion-launch, and GABION_RESPAWN=1 was not set for it";
  return world->replay.state == GAB_REPLAY_LOST ? world->replay.why_lost : NULL;
#else
  (void)world;
  return "this MPI has no fault tolerance (ULFM)";
#endif
}

/* ------------------------------------------------------------------------------------ arrivals */

struct gab_arrival {
  gab_members seats, members, whole;
  uint32_t next_context;
  gab_epoch epoch;
};

void gab_arrival_destroy(gab_arrival **arrival_pointer)
{
  gab_arrival *arrival = *arrival_pointer;
  if (!arrival) return;
  gab_members_release(&arrival->seats);
  gab_members_release(&arrival->members);
  gab_members_release(&arrival->whole);
  gab_free(arrival_pointer);
}

void gab_world_leave(void)
{
  gab_log_all(GAB_LOG_ERROR, "a process that was respawned gives up before it has come to play: %s",
              gab_error_message());
  kill(getpid(), SIGKILL);
}

#ifdef GAB_HAVE_ULFM

/* ------------------------------------------------------------------------------------ limits */

enum { SPAWN_SECONDS = 30, ARRIVE_SECONDS = 120, MOST_SPAWNS = 3 };

static timer_t limit;
static bool limit_is_set;

static void end_limit(void)
{
  if (limit_is_set) timer_delete(limit);
  limit_is_set = false;
}

/* By the kernel, since the process may hang anywhere in MPI. */
static bool set_limit(double seconds)
{
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
  const struct itimerspec time = {
      .it_value = {(time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds))}};
  if (timer_create(CLOCK_MONOTONIC, &event, &limit) != 0) return false;
  limit_is_set = true;
  if (timer_settime(limit, 0, &time, NULL) == 0) return true;
  end_limit();
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

/* ------------------------------------------------------------------------------------ starting a process */

static bool is_ours(const char *variable)
{
  return (strncmp(variable, "GABION_", 7) == 0 || strncmp(variable, "OMP_", 4) == 0) &&
         strncmp(variable, SPAWNED, sizeof SPAWNED - 1) != 0;
}

/* What counts before main(). Values of an MPI_Info are short: everything else is told later. */
static void first_environment(char text[static MPI_MAX_INFO_VAL])
{
  const char *threads = getenv("OMP_NUM_THREADS");
  snprintf(text, MPI_MAX_INFO_VAL,
           threads && threads[0] ? SPAWNED "=1\nOMP_NUM_THREADS=%.100s" : SPAWNED "=1", threads);
}

/* The variables that the launcher has set, which the daemon of another node does not know. */
static gab_status put_environment(gab_buffer *out)
{
  uint32_t count = 0;
  for (char **variable = environ; *variable; variable++) count += is_ours(*variable);
  GAB_TRY(gab_put_u32(out, count));
  for (char **variable = environ; *variable; variable++)
    if (is_ours(*variable)) GAB_TRY(gab_put_string(out, *variable));
  return GAB_OK;
}

/* What is set already was set for this node. */
static gab_status take_environment(gab_reader *in)
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

/* The words of the command line, each with its zero. */
static gab_status read_arguments(gab_buffer *words)
{
  FILE *file = fopen("/proc/self/cmdline", "r");
  gab_status status = GAB_OK;
  if (!file) GAB_FAIL(GAB_ERR_INPUT, "the arguments of this program cannot be read from /proc/self/cmdline");
  for (int c; status == GAB_OK && (c = getc(file)) != EOF;) status = gab_put_u8(words, (uint8_t)c);
  fclose(file);
  return status;
}

/* Behind the program's own name. @param[out] list  to be released by gab_free(); ends with NULL */
static gab_status list_arguments(const gab_buffer *words, char ***list)
{
  size_t count = 0, next = 0;
  void *memory;
  for (size_t i = 0; i < words->size; i++) count += words->data[i] == '\0';
  GAB_TRY(gab_alloc((count + 1) * sizeof **list, GAB_MEMORY_OTHER, &memory));
  *list = memory;
  for (size_t at = 0; at < words->size; at += strlen((char *)words->data + at) + 1)
    if (at > 0) (*list)[next++] = (char *)words->data + at;
  (*list)[next] = NULL;
  return GAB_OK;
}

static gab_status call_spawn(int count, char **arguments, MPI_Comm *bridge)
{
  char program[PATH_MAX], environment[MPI_MAX_INFO_VAL];
  const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
  if (length < 0) GAB_FAIL(GAB_ERR_INPUT, "the file of this program cannot be found in /proc/self/exe");
  program[length] = '\0';
  MPI_Info info;
  MPI_Comm newcomers;
  first_environment(environment);
  MPI_Info_create(&info);
  MPI_Info_set(info, "PMIX_ENVAR", environment);
  MPI_Info_set(info, "bind_to", "none");
  MPI_Info_set(info, "map_by", "slot:oversubscribe"); /* the places of the dead are still counted as taken */
  int code =
      MPI_Comm_spawn(program, arguments, count, info, 0, MPI_COMM_SELF, &newcomers, MPI_ERRCODES_IGNORE);
  MPI_Info_free(&info);
  if (code == MPI_SUCCESS) {
    MPI_Comm_set_errhandler(newcomers, MPI_ERRORS_RETURN);
    code = MPI_Intercomm_merge(newcomers, 0, bridge);
    if (code == MPI_SUCCESS) MPI_Comm_free(&newcomers); /* else see dismiss_bridge() */
  }
  if (code != MPI_SUCCESS)
    GAB_FAIL(GAB_ERR_MPI, "%d process%s could not be started", count, count == 1 ? "" : "es");
  MPI_Comm_set_errhandler(*bridge, MPI_ERRORS_RETURN);
  return GAB_OK;
}

static gab_status spawn(int count, MPI_Comm *bridge)
{
  gab_buffer words;
  char **arguments = NULL;
  gab_buffer_init(&words, GAB_MEMORY_OTHER);
  gab_status status = read_arguments(&words);
  if (status == GAB_OK) status = list_arguments(&words, &arguments);
  if (status == GAB_OK && !set_limit(spawn_seconds()))
    status = gab_error_set(GAB_ERR_MEMORY, __FILE__, __LINE__, "there is no timer left");
  else if (status == GAB_OK) {
    status = call_spawn(count, arguments, bridge);
    end_limit();
  }
  gab_free(&arguments);
  gab_buffer_release(&words);
  return status;
}

/* ------------------------------------------------------------------------------------ what a newcomer is
 * told */

static gab_status put_facts(const gab_world *world, gab_buffer *out)
{
  GAB_TRY(gab_members_pack(&world->seats, out));
  GAB_TRY(gab_members_pack(&world->members, out));
  GAB_TRY(gab_members_pack(&world->whole, out));
  GAB_TRY(gab_put_i32(out, world->first_seats));
  GAB_TRY(gab_put_u64(out, world->epoch));
  GAB_TRY(gab_put_u32(out, world->next_context));
  GAB_TRY(gab_put_i32(out, world->spawns));
  GAB_TRY(gab_put_u8(
      out, world->shares_cores)); /* of a newcomer MPI counts those only that were started with it */
  GAB_TRY(gab_put_u32(out, (uint32_t)world->intent));
  GAB_TRY(gab_put_i32(out, world->intent_slot));
  GAB_TRY(gab_put_string(out, world->intent_message ? world->intent_message : ""));
  GAB_TRY(gab_put_string(out, world->intent_where ? world->intent_where : ""));
  GAB_TRY(put_environment(out));
  GAB_TRY(gab_put_string(out, world->folder ? world->folder : "."));
  return gab_put_bytes(out, world->replay.record.data, world->replay.record.size);
}

static gab_status take_intent(gab_world *world, gab_reader *in)
{
  char message[3072], where[256];
  uint32_t intent;
  int32_t slot;
  GAB_TRY(gab_get_u32(in, &intent));
  GAB_TRY(gab_get_i32(in, &slot));
  GAB_TRY(gab_get_string(in, message, sizeof message));
  GAB_TRY(gab_get_string(in, where, sizeof where));
  if (intent != GAB_OK) gab_world_keep_intent(world, (gab_status)intent, slot, message, where);
  return GAB_OK;
}

/* Arguments may be relative to where the run was started. */
static gab_status take_folder(gab_world *world, gab_reader *in)
{
  char folder[PATH_MAX];
  GAB_TRY(gab_get_string(in, folder, sizeof folder));
  if (chdir(folder) != 0)
    GAB_FAIL(GAB_ERR_INPUT, "the folder %s, where the run was started, is not there", folder);
  return gab_world_note_folder(world);
}

static gab_status take_facts(gab_world *world, gab_arrival *arrival, gab_reader in)
{
  uint8_t shares;
  GAB_TRY(gab_members_unpack(&arrival->seats, &in));
  GAB_TRY(gab_members_unpack(&arrival->members, &in));
  GAB_TRY(gab_members_unpack(&arrival->whole, &in));
  GAB_TRY(gab_get_i32(&in, &world->first_seats));
  GAB_TRY(gab_get_u64(&in, &arrival->epoch));
  GAB_TRY(gab_get_u32(&in, &arrival->next_context));
  GAB_TRY(gab_get_i32(&in, &world->spawns));
  GAB_TRY(gab_get_u8(&in, &shares));
  world->shares_cores = world->shares_cores || shares;
  GAB_TRY(take_intent(world, &in));
  GAB_TRY(take_environment(&in));
  GAB_TRY(take_folder(world, &in));
  world->replay.state = GAB_REPLAY_READS;
  return gab_put_bytes(&world->replay.record, in.at, gab_reader_left(&in));
}

/* Over the bridge, from its first process. @param[in,out] bytes  of that process; filled on the others */
static bool spread(MPI_Comm bridge, gab_buffer *bytes)
{
  uint64_t size = bytes->size;
  void *place = bytes->data;
  int rank;
  MPI_Comm_rank(bridge, &rank);
  if (MPI_Bcast(&size, 1, MPI_UINT64_T, 0, bridge) != MPI_SUCCESS || size > INT_MAX) return false;
  if (rank > 0 && gab_buffer_extend(bytes, (size_t)size, &place) != GAB_OK) return false;
  return MPI_Bcast(place, (int)size, MPI_BYTE, 0, bridge) == MPI_SUCCESS;
}

static bool welcome(const gab_world *world, MPI_Comm bridge)
{
  gab_buffer facts;
  gab_buffer_init(&facts, GAB_MEMORY_OTHER);
  const bool good = put_facts(world, &facts) == GAB_OK && spread(bridge, &facts);
  gab_buffer_release(&facts);
  return good;
}

/* ------------------------------------------------------------------------------------ one communicator for
 * all */

/* Collective over `mine` and the newcomers. @param[in] bridge  of the leader of `mine` */
static bool widen(MPI_Comm mine, MPI_Comm bridge, int other_leader, bool is_new, MPI_Comm *wide)
{
  MPI_Comm both;
  *wide = MPI_COMM_NULL;
  if (MPI_Intercomm_create(mine, 0, bridge, other_leader, GAB_CONTEXT_REPAIR, &both) != MPI_SUCCESS)
    return false;
  MPI_Comm_set_errhandler(both, MPI_ERRORS_RETURN);
  if (MPI_Intercomm_merge(both, is_new, wide) != MPI_SUCCESS) return false; /* see dismiss_bridge() */
  MPI_Comm_free(&both);
  MPI_Comm_set_errhandler(*wide, MPI_ERRORS_RETURN);
  return true;
}

/* Among the survivors. @return true, for all alike, if all have said so and nobody has died */
static bool all_have(gab_world *world, bool mine)
{
  int bits = mine ? GAB_AGREE_SPAWNED : 0;
  bool deaths;
  return gab_comm_agree(world->comm, &bits, &deaths) == GAB_OK && !deaths && (bits & GAB_AGREE_SPAWNED);
}

static int32_t vacancies(const gab_world *world)
{
  int32_t count = 0;
  for (int32_t i = 0; i < world->members.gone_count; i++)
    count += gab_members_has(&world->whole, world->members.gone[i]);
  return count;
}

/* The world stands on the wider communicator from here on, which the newcomers join when their set-up is
 * done. */
static gab_status receive_newcomers(gab_world *world, MPI_Comm wide, int32_t count)
{
  MPI_Comm_free(&world->comm);
  world->comm = wide;
  gab_world_watch_comm(wide);
  world->seats.slots += count;
  return gab_world_seat_spares(world);
}

/* On the process that does so. What goes wrong is its alone to tell. */
static bool start_newcomers(gab_world *world, int32_t count, MPI_Comm *bridge)
{
  const char *why_not = gab_world_why_no_respawn(world);
  gab_status status = why_not ? gab_error_set(GAB_ERR_STATE, __FILE__, __LINE__, "%s", why_not) : GAB_OK;
  if (status == GAB_OK) status = spawn(count, bridge);
  if (status == GAB_OK && !welcome(world, *bridge))
    status = gab_error_set(GAB_ERR_FAULT, __FILE__, __LINE__, "a newcomer died before all had met it");
  if (status != GAB_OK) gab_log_all(GAB_LOG_WARNING, "respawning: %s", gab_error_message());
  return status == GAB_OK;
}

/* Newcomers of a try that has failed wait somewhere in it, and a message of theirs may still come: the revocation lets them
 * go, and what it was to come on is left as it is, since MPI would take the context of a communicator that was freed for the
 * next one, which then receives that message as its own. The same holds for what the try had made of it. */
static void dismiss_bridge(MPI_Comm *bridge, bool good)
{
  unsigned char received = 1;
  if (!good) {
    gab_comm_revoke(*bridge);
    return;
  }
  MPI_Bcast(&received, 1, MPI_BYTE, 0, *bridge);
  MPI_Comm_free(bridge);
}

gab_status gab_world_respawn(gab_world *world, bool *good)
{
  const int32_t count = vacancies(world);
  MPI_Comm bridge = MPI_COMM_NULL, wide = MPI_COMM_NULL;
  int rank;
  if (!*good || !world->resting || !(world->seating & GAB_SEATING_RESPAWN) || count == 0) return GAB_OK;
  if ((world->intent != GAB_OK && world->intent != GAB_ERR_SUSPECT) || world->spawns >= MOST_SPAWNS)
    return GAB_OK;
  world->spawns++;
  world->has_spawned = true;
  gab_world_enter(world, GAB_PHASE_RESPAWN);
  MPI_Comm_rank(world->comm, &rank);
  bool here = true;
  if (rank == 0) here = start_newcomers(world, count, &bridge);
  *good = all_have(world, here);
  if (*good) {
    here = widen(world->comm, bridge, 1, false, &wide);
    if (!here) gab_comm_revoke(world->comm); /* others may wait for this process in there */
    *good = all_have(world, here);
  }
  if (bridge != MPI_COMM_NULL) dismiss_bridge(&bridge, *good);
  if (*good) return receive_newcomers(world, wide, count);
  gab_log(GAB_LOG_WARNING, "%" PRId32 " process%s could not be respawned (attempt %" PRId32 " of %d)", count,
          count == 1 ? "" : "es", world->spawns, (int)MOST_SPAWNS);
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------ as a newcomer */

/* What it shows during the set-up: the world as it was then, with one spare more. */
static gab_status pose_as_spare(gab_world *world)
{
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  world->seat = world->arrival->seats.slots + rank;
  world->slot = (gab_slot)world->seat;
  gab_members_init(&world->seats, world->first_seats);
  gab_members_init(&world->members, world->arrival->members.slots);
  world->resting = true;
  return GAB_OK;
}

static bool is_received(gab_world *world, MPI_Comm parent, MPI_Comm *bridge)
{
  unsigned char received = 0;
  gab_buffer facts;
  MPI_Comm_set_errhandler(parent, MPI_ERRORS_RETURN);
  if (MPI_Intercomm_merge(parent, 1, bridge) != MPI_SUCCESS) return false;
  MPI_Comm_set_errhandler(*bridge, MPI_ERRORS_RETURN);
  gab_buffer_init(&facts, GAB_MEMORY_OTHER);
  const bool told =
      spread(*bridge, &facts) && take_facts(world, world->arrival, gab_reader_of_buffer(&facts)) == GAB_OK;
  gab_buffer_release(&facts);
  if (!told || !widen(MPI_COMM_WORLD, *bridge, 0, true, &world->comm)) return false;
  return MPI_Bcast(&received, 1, MPI_BYTE, 0, *bridge) == MPI_SUCCESS && received;
}

static void tell_where(const gab_world *world)
{
  char host[MPI_MAX_PROCESSOR_NAME] = "?";
  int length;
  MPI_Get_processor_name(host, &length);
  gab_log_all(GAB_LOG_INFO, "seat %" GAB_PRI_SEAT " was respawned on %s", world->seat, host);
}

gab_status gab_world_arrive(gab_world *world)
{
  void *memory;
  MPI_Comm parent, bridge = MPI_COMM_NULL;
  GAB_TRY(gab_alloc(sizeof *world->arrival, GAB_MEMORY_OTHER, &memory));
  world->arrival = memory;
  *world->arrival = (gab_arrival){.epoch = 0};
  MPI_Comm_get_parent(&parent);
  if (parent == MPI_COMM_NULL)
    GAB_FAIL(GAB_ERR_STATE, "%s is set, but nobody has spawned this process", SPAWNED);
  if (!is_received(world, parent, &bridge)) {
    (void)gab_error_set(GAB_ERR_FAULT, __FILE__, __LINE__,
                        "those who have started it do not wait for it any more");
    gab_world_leave();
  }
  MPI_Comm_free(&bridge);
  end_limit();
  GAB_TRY(pose_as_spare(world));
  tell_where(world);
  return GAB_OK;
}

gab_status gab_world_appear(gab_world *world)
{
  gab_arrival *arrival = world->arrival;
  int newcomers;
  MPI_Comm_size(MPI_COMM_WORLD, &newcomers);
  gab_members_release(&world->seats);
  gab_members_release(&world->members);
  gab_members_release(&world->whole);
  world->seats = arrival->seats;
  world->members = arrival->members;
  world->whole = arrival->whole;
  world->epoch = arrival->epoch;
  if (world->next_context < arrival->next_context) world->next_context = arrival->next_context;
  gab_free(&world->arrival);
  world->seats.slots += newcomers;
  world->meets_on_players = false;
  world->players = MPI_COMM_NULL;
  world->replay.state = GAB_REPLAY_OVER; /* the record stays: it may be asked for by a later newcomer */
  gab_world_watch_comm(world->comm);
  return gab_world_seat_spares(world);
}

#else

void gab_spawn_limit_set(void) {}

gab_status gab_world_arrive(gab_world *world)
{
  (void)world;
  GAB_FAIL(GAB_ERR_STATE, "without fault tolerance nobody is respawned");
}

gab_status gab_world_appear(gab_world *world) { return gab_world_arrive(world); }

#endif
