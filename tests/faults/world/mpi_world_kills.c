/* SPDX-License-Identifier: Apache-2.0 */
/* Processes die by SIGKILL at chosen places, one scenario after another, until one is left: the survivors always agree
 * on the members, the epoch and the number of committed steps, and continue.
 *
 * mpi_world_kills               all scenarios in turn mpi_world_kills NAME [SEED]   one of them, repeatedly */
/* gabion-test: np=1,2,3,4,8 quick=4 timeout=120 needs=ulfm */
/* gabion-test: np=2,4 env=GABION_SHARES_CORES=0 */
/* gabion-test: np=2,4 env=GABION_SHARES_CORES=1 */
#include "core/messages/collective.h"
#include "core/messages/port.h"
#include "tests/mpi_test.h"

#include <mpi-ext.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

/* Places of death of the first and the second victim of a scenario. */
typedef enum place {
  NOWHERE,
  BEFORE_SEND,
  MID_EXCHANGE,
  IN_REDUCTION,
  BEFORE_AGREE,
  AFTER_AGREE,
  IN_APPLICATION,
  ENTER_REPAIR,
  AGREE_IN_REPAIR, /* before one of the agreements of a repair, which one is random */
  BEFORE_SHRINK,
  INSIDE_SHRINK, /* a random time after its beginning */
  AFTER_SHRINK,
  ANY_TIME /* a random time after the scenario began */
} place;

typedef struct scenario {
  const char *name;
  place first, second;
  int victims; /* number of victims at the first place; 0: all but one */
} scenario;

static const scenario scenarios[] = {
    {"receive", BEFORE_SEND, NOWHERE, 1},
    {"exchange", MID_EXCHANGE, NOWHERE, 1},
    {"reduction", IN_REDUCTION, NOWHERE, 1},
    {"agree", BEFORE_AGREE, NOWHERE, 1},
    {"after-agree", AFTER_AGREE, NOWHERE, 1},
    {"application", IN_APPLICATION, NOWHERE, 1},
    {"two", BEFORE_SEND, NOWHERE, 2},
    {"two-places", MID_EXCHANGE, BEFORE_AGREE, 1},
    {"three", IN_REDUCTION, NOWHERE, 3},
    {"repair", BEFORE_SEND, ENTER_REPAIR, 1},
    {"repair-agree", MID_EXCHANGE, AGREE_IN_REPAIR, 1},
    {"before-shrink", BEFORE_SEND, BEFORE_SHRINK, 1},
    {"inside-shrink", BEFORE_SEND, INSIDE_SHRINK, 1},
    {"after-shrink", BEFORE_SEND, AFTER_SHRINK, 1},
    {"any-time", ANY_TIME, ANY_TIME, 1},
    {"all-but-one", BEFORE_SEND, NOWHERE, 0},
};
enum { SCENARIOS = sizeof scenarios / sizeof *scenarios, PAYLOAD = 1500000 };

static gab_world *world;
static gab_port *port;
static gab_comm *everyone, *parity;
static gab_buffer out[2], in[2];
static uint64_t committed, seed;
static place my_place; /* place of death of this process */
static unsigned my_delay, agreements;

static void die(void) { kill(getpid(), SIGKILL); }

static void pass(place here)
{
  if (my_place == here) die();
}

static void on_alarm(int signal_number)
{
  (void)signal_number;
  die();
}

static void die_in(unsigned microseconds)
{
  const struct itimerval timer = {.it_value = {.tv_usec = microseconds + 1}};
  setitimer(ITIMER_REAL, &timer, NULL);
}

/* ------------------------------------------------------------------------------------ between library and
 * MPI */

int MPIX_Comm_shrink(MPI_Comm comm, MPI_Comm *fresh)
{
  pass(BEFORE_SHRINK);
  if (my_place == INSIDE_SHRINK) die_in(my_delay % 2000);
  const int code = PMPIX_Comm_shrink(comm, fresh);
  pass(AFTER_SHRINK);
  return code;
}

int MPIX_Comm_agree(MPI_Comm comm, int *flag)
{
  if (world && gab_world_fault_point(world) == GAB_FAULT_POINT_REPAIR && agreements++ == my_delay % 3)
    pass(AGREE_IN_REPAIR);
  return PMPIX_Comm_agree(comm, flag);
}

static void on_phase(void *user, gab_world *w, gab_fault_point phase)
{
  (void)user;
  (void)w;
  if (phase == GAB_FAULT_POINT_REDUCTION) pass(IN_REDUCTION);
  if (phase == GAB_FAULT_POINT_REPAIR) pass(ENTER_REPAIR);
}

/* ------------------------------------------------------------------------------------ computation of all processes */

static gab_status fill(gab_buffer *message, int32_t index, size_t bytes)
{
  void *memory;
  GAB_TRY(gab_message_begin(message));
  GAB_TRY(gab_put_u64(message, committed));
  GAB_TRY(gab_buffer_extend(message, bytes, &memory));
  memset(memory, (int)(index + (int32_t)committed) & 255, bytes);
  return GAB_OK;
}

static void require_from(const gab_buffer *message, int32_t index, size_t bytes)
{
  gab_reader reader = gab_message_reader(message);
  uint64_t step = 0;
  REQUIRE(gab_get_u64(&reader, &step) == GAB_OK && step == committed && gab_reader_left(&reader) == bytes);
  for (; reader.at < reader.end; reader.at += 997)
    REQUIRE(*reader.at == (unsigned char)((index + (int32_t)committed) & 255));
}

/* Round the ring in both directions, one way with known size. */
static gab_status exchange(void)
{
  const gab_members *members = gab_world_members(world);
  const int32_t count = gab_members_count(members), index = gab_members_index(members, gab_world_rank(world));
  const int32_t up = (index + 1) % count, down = (index + count - 1) % count;
  pass(BEFORE_SEND);
  GAB_TRY(gab_port_receive(port, gab_members_rank(members, down), &in[0], PAYLOAD + 8));
  GAB_TRY(fill(&out[0], index, PAYLOAD));
  GAB_TRY(gab_port_send(port, gab_members_rank(members, up), &out[0]));
  pass(MID_EXCHANGE);
  GAB_TRY(gab_port_finish(port));
  require_from(&in[0], down, PAYLOAD);
  GAB_TRY(gab_port_receive(port, gab_members_rank(members, up), &in[1], GAB_SIZE_UNKNOWN));
  GAB_TRY(fill(&out[1], index, (size_t)index * 1000));
  GAB_TRY(gab_port_send(port, gab_members_rank(members, down), &out[1]));
  GAB_TRY(gab_port_finish(port));
  require_from(&in[1], up, (size_t)up * 1000);
  return GAB_OK;
}

/* MPI calls of an application that ignores return codes: a chain of messages in which each rank waits for the
 * previous one, and a reduction over the other ranks of the same parity. */
static void careless_application(void)
{
  int comm_rank, size, value = 0, sum = 0;
  MPI_Comm comm = gab_comm_mpi(everyone);
  MPI_Comm_rank(comm, &comm_rank);
  MPI_Comm_size(comm, &size);
  for (int i = 0; i < 20; i++) {
    if (i == 7) pass(IN_APPLICATION);
    if (comm_rank > 0 &&
        MPI_Recv(&value, 1, MPI_INT, comm_rank - 1, 5, comm, MPI_STATUS_IGNORE) != MPI_SUCCESS)
      return;
    if (comm_rank + 1 < size) MPI_Send(&i, 1, MPI_INT, comm_rank + 1, 5, comm);
    MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, gab_comm_mpi(parity));
  }
}

static gab_status step(void)
{
  const int32_t count = gab_members_count(gab_world_members(world));
  gab_world_set_step(world, (gab_step)committed);
  GAB_TRY(exchange());
  careless_application();
  uint64_t sum[2] = {1, committed};
  GAB_TRY(gab_world_sum_u64(world, sum, 2));
  REQUIRE(sum[0] == (uint64_t)count && sum[1] == (uint64_t)count * committed);
  uint32_t flags = 1;
  pass(BEFORE_AGREE);
  GAB_TRY(gab_world_agree(world, &flags));
  REQUIRE(flags == 1);
  committed++;
  pass(AFTER_AGREE);
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------ scenarios */

static gab_status compare(void)
{
  const gab_members *members = gab_world_members(world);
  uint64_t mine[4] = {committed, gab_world_epoch(world), (uint64_t)gab_members_count(members), 0};
  for (int32_t i = 0; i < members->gone_count; i++) mine[3] = mine[3] * 101 + (uint64_t)members->gone[i] + 1;
  uint64_t low[4], high[4];
  memcpy(low, mine, sizeof mine);
  memcpy(high, mine, sizeof mine);
  GAB_TRY(gab_world_min_u64(world, low, 4));
  GAB_TRY(gab_world_max_u64(world, high, 4));
  REQUIRE(memcmp(low, high, sizeof low) == 0);
  return GAB_OK;
}

static gab_status after_repair(void)
{
  int size;
  MPI_Comm_size(gab_comm_mpi(everyone), &size);
  REQUIRE(size == gab_members_count(gab_world_members(world)));
  return compare();
}

static void repair(void)
{
  do {
    gab_status abort_request;
    const gab_epoch before = gab_world_epoch(world);
    REQUIRE(gab_world_repair(world, &abort_request) == GAB_OK);
    REQUIRE(abort_request == GAB_OK && gab_world_epoch(world) > before);
  } while (after_repair() != GAB_OK);
}

static uint64_t draw(uint64_t key)
{
  uint64_t x = (seed * 1000003u + committed) * 7919u + key * 0x9e3779b97f4a7c15u;
  x ^= x >> 31;
  x *= 0xbf58476d1ce4e5b9u;
  return x ^ x >> 29;
}

/* Chooses the victims, equal on all, and removes them from `left`. */
static void arm(const scenario *play, gab_members *left)
{
  const int32_t count = gab_members_count(left);
  int victims = play->victims ? play->victims : count - 1, more = play->second != NOWHERE;
  for (int i = 0; i < victims + more && gab_members_count(left) > 1; i++) {
    const gab_rank victim =
        gab_members_rank(left, (int32_t)(draw((uint64_t)i + 1) % (uint64_t)gab_members_count(left)));
    REQUIRE(gab_members_remove(left, victim) == GAB_OK);
    test_doom(victim);
    if (victim != gab_world_rank(world)) continue;
    my_place = i < victims ? play->first : play->second;
    my_delay = (unsigned)(draw(100 + (uint64_t)i) >> 8);
    if (my_place == ANY_TIME) die_in(my_delay % 50000);
  }
}

static void run(const scenario *play)
{
  gab_members left = {0};
  REQUIRE(gab_members_copy(&left, gab_world_members(world)) == GAB_OK);
  agreements = 0;
  arm(play, &left);
  for (int i = 0; i < 3 || gab_members_count(gab_world_members(world)) > gab_members_count(&left); i++)
    if (step() != GAB_OK) repair();
  REQUIRE(gab_members_count(gab_world_members(world)) == gab_members_count(&left));
  for (gab_rank rank = 0; rank < left.ranks; rank++)
    REQUIRE(gab_members_has(&left, rank) == gab_members_has(gab_world_members(world), rank));
  gab_members_release(&left);
}

int main(int argc, char **argv)
{
  signal(SIGALRM, on_alarm);
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
  gab_world_set_fault_point_hook(world, on_phase, NULL);
  REQUIRE(gab_port_create(world, "ring", &port) == GAB_OK);
  REQUIRE(gab_world_dup(world, &everyone) == GAB_OK);
  REQUIRE(gab_world_split(world, gab_world_rank(world) % 2, &parity) == GAB_OK);
  int next = gab_members_count(gab_world_members(world)) % SCENARIOS;
  REQUIRE(step() == GAB_OK);
  while (gab_members_count(gab_world_members(world)) > 1) {
    const scenario *play = &scenarios[next++ % SCENARIOS];
    if (argc < 2 || strcmp(argv[1], play->name) == 0) run(play);
    REQUIRE(next < 1000);
  }
  while (step() != GAB_OK) repair();
  for (int i = 0; i < 2; i++) {
    gab_buffer_release(&in[i]);
    gab_buffer_release(&out[i]);
  }
  gab_port_destroy(&port);
  return test_end(&world);
}
