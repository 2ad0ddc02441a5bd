/* SPDX-License-Identifier: Apache-2.0 */
/* The small checkpoint (resilience/recovery/state.h) in a program of its own, for script_state.sh: helper_state STEPS HOW
 * DEATHS. Each rank has a value, a list that grows by one entry in each step, and a number equal on all. Prints "from N"
 * when the loop begins, sums over all at its end, and errors. HOW: full; shrinks (all parts can be adopted); stuck (it may
 * shrink, but not all can); short (a part of another size). A death is RANK@STEP; with suffix c, within the save of that
 * step; with suffix l, within the load of that call (0, 1, ...). */
#include "core/messages/collective.h"
#include "resilience/reports/completion.h"
#include "resilience/recovery/state.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST_STEPS = 64 };

static int steps, me, calls;
static const char *how, *deaths;
static bool loading;

static bool is(const char *word) { return strcmp(how, word) == 0; }

typedef struct part {
  double value;
  uint64_t entries[4 * MOST_STEPS]; /* in use: count */
  size_t count;
} part;
static part own;
static uint64_t shared;

static gab_status pack_list(void *user, gab_buffer *out)
{
  const part *p = user;
  GAB_TRY(gab_put_u64(out, p->count));
  return gab_put_bytes(out, p->entries, p->count * sizeof *p->entries);
}

static gab_status unpack_list(void *user, gab_reader *in)
{
  part *p = user;
  GAB_TRY(gab_get_count(in, sizeof *p->entries, &p->count));
  return gab_get_bytes(in, p->entries, p->count * sizeof *p->entries);
}

static gab_status adopt_list(void *user, gab_rank dead, gab_reader *in)
{
  part *p = user;
  size_t more;
  (void)dead;
  GAB_TRY(gab_get_count(in, sizeof *p->entries, &more));
  GAB_TRY(gab_get_bytes(in, p->entries + p->count, more * sizeof *p->entries));
  p->count += more;
  return GAB_OK;
}

static gab_status pack_shared(void *user, gab_buffer *out) { return gab_put_u64(out, *(uint64_t *)user); }
static gab_status unpack_shared(void *user, gab_reader *in) { return gab_get_u64(in, user); }

static void die_if_told(int64_t step, char where)
{
  for (const char *at = deaths; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
    int victim, when, read = 0;
    if (sscanf(at, "%d@%d%n", &victim, &when, &read) < 2 || victim != me || when != step) continue;
    const char kind = at[read] == 'c' || at[read] == 'l' ? at[read] : 'i';
    if (kind == where) kill(getpid(), SIGKILL);
  }
}

/* During a save: the image has been sent, nothing is agreed on. The root delays writing the files of steps 3 and 4: a rank
 * that waits for them must not continue before. */
static void watch(void *user, gab_world *world, gab_fault_point phase)
{
  const struct timespec nap = {.tv_nsec = 100 * 1000 * 1000};
  const gab_step step = gab_world_step(world);
  (void)user;
  if (phase == GAB_FAULT_POINT_DISK_WRITE && gab_world_is_root(world) && (step == 3 || step == 4))
    nanosleep(&nap, NULL);
  if (phase == GAB_FAULT_POINT_COMMIT) die_if_told(gab_world_step(world), 'c');
  if (phase == GAB_FAULT_POINT_REDUCTION && loading) die_if_told(calls - 1, 'l');
}

static gab_status create_nothing(void *user) { return (void)user, GAB_OK; }
static gab_status restore_nothing(void *user) { return (void)user, GAB_OK; }
static void swap_nothing(void *user) { (void)user; }

/* A part with separate buffers, even with only one of the three callbacks, is refused. */
static gab_status offer_own_buffers(gab_state *state)
{
  const gab_entity plain = {
      .name = "buffers", .kind = GAB_ENTITY_PER_RANK, .user = &own, .pack = pack_list, .unpack = unpack_list};
  gab_entity offers[] = {plain, plain, plain};
  offers[0].create = create_nothing;
  offers[1].restore = restore_nothing;
  offers[2].swap = swap_nothing;
  for (int i = 0; i < 3; i++)
    if (gab_state_add_entity(state, &offers[i]) != GAB_ERR_ARGUMENT)
      GAB_FAIL(GAB_ERR_STATE, "a part with buffers of its own was taken");
  return GAB_OK;
}

static gab_status add_parts(gab_state *state)
{
  const gab_entity list = {.name = "list",
                           .kind = GAB_ENTITY_PER_RANK,
                           .user = &own,
                           .pack = pack_list,
                           .unpack = unpack_list,
                           .adopt = adopt_list};
  const gab_entity number = {.name = "number",
                             .kind = GAB_ENTITY_REPLICATED,
                             .user = &shared,
                             .pack = pack_shared,
                             .unpack = unpack_shared};
  if (!is("shrinks")) GAB_TRY(gab_state_add(state, "value", &own.value, is("short") ? 4 : sizeof own.value));
  GAB_TRY(gab_state_add_entity(state, &list));
  GAB_TRY(offer_own_buffers(state));
  return gab_state_add_entity(state, &number);
}

static gab_status compute(gab_state *state, int64_t step)
{
  int comm_rank, size;
  double from = 0;
  MPI_Comm comm = gab_state_comm(state);
  MPI_Comm_rank(comm, &comm_rank);
  MPI_Comm_size(comm, &size);
  MPI_Sendrecv(&own.value, 1, MPI_DOUBLE, (comm_rank + 1) % size, 0, &from, 1, MPI_DOUBLE,
               (comm_rank + size - 1) % size, 0, comm, MPI_STATUS_IGNORE);
  own.value = 0.5 * own.value + 0.25 * from + (double)step;
  if (own.count < 4 * MOST_STEPS) own.entries[own.count++] = (uint64_t)step;
  shared = 3 * shared + (uint64_t)step;
  return gab_reinit_test(gab_state_world(state));
}

/* For a run that shrinks, only values that do not depend on the number of ranks. */
static gab_status report(gab_state *state)
{
  gab_world *world = gab_state_world(state);
  uint64_t entries = 0;
  gab_exact_sum sum;
  gab_exact_clear(&sum);
  gab_exact_add(&sum, is("shrinks") ? 0 : own.value);
  for (size_t i = 0; i < own.count; i++) entries += own.entries[i];
  GAB_TRY(gab_world_sum_exact(world, &sum, 1));
  GAB_TRY(gab_world_sum_u64(world, &entries, 1));
  if (gab_world_is_root(world))
    printf("sums %.17g %" PRIu64 " %" PRIu64 "\n", gab_exact_value(&sum), entries, shared);
  return GAB_OK;
}

static gab_status point(gab_world *world, int argc, char **argv, gab_reinit_state what, void *user)
{
  gab_state *state = user;
  gab_step step = 0;
  (void)argc, (void)argv, (void)what;
  calls++;
  own = (part){.value = gab_world_rank(world) + 1};
  shared = 1;
  GAB_TRY(add_parts(state));
  loading = true;
  GAB_TRY(gab_state_load(state, &step));
  loading = false;
  if (gab_world_is_root(world)) printf("from %d\n", (int)step);
  while (step < steps) {
    die_if_told(step, 'i');
    GAB_TRY(compute(state, step));
    GAB_TRY(gab_state_save(state, ++step));
    if (gab_state_add(state, "too late", &step, sizeof step) != GAB_ERR_ARGUMENT)
      GAB_FAIL(GAB_ERR_STATE, "a part came late, and was taken");
  }
  GAB_TRY(gab_state_finish(state));
  return report(state);
}

int main(int argc, char **argv)
{
  gab_world *world;
  gab_state *state = NULL;
  gab_state_options options;
  if (argc < 4 || gab_world_create(&argc, &argv, &world) != GAB_OK) return 1;
  me = (int)gab_world_process(world);
  steps = atoi(argv[1]);
  how = argv[2];
  deaths = argv[3];
  gab_status status = gab_state_options_read(&options);
  if (status == GAB_OK) status = gab_state_create(world, &options, &state);
  gab_world_set_fault_point_hook(world, watch, NULL);
  gab_reinit_allow_shrinking(world, is("shrinks") || is("stuck"));
  if (status == GAB_OK) status = gab_reinit(world, argc, argv, point, state);
  if (status != GAB_OK && gab_world_is_root(world))
    printf("%s: %s\n", gab_status_name(status), gab_error_message());
  gab_state_destroy(&state);
  const int code = gab_report_completion(world, gab_status_exit_code(status));
  gab_world_destroy(&world);
  return code;
}
