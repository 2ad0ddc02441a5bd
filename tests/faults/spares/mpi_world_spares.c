/* SPDX-License-Identifier: Apache-2.0 */
/* Active processes and spares die by SIGKILL, one or several, at any place: while there are spares the run remains at full
 * size, every dead rank returns in its next incarnation, and all processes agree on the state.
 *
 *   mpi_world_spares SPARES [SEED] */
/* gabion-test: np=3,5,8 quick=5 timeout=120 needs=ulfm args=2 */
#include "core/messages/logged/message_logger.h"
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

/* The last two occur only after another death. */
typedef enum place {
  NOWHERE,
  IN_STEP,
  IN_REDUCTION,
  BEFORE_AGREE,
  ANY_TIME,
  ENTER_REPAIR,
  AFTER_SHRINK
} place;
enum { STEPS = 3 };

static gab_world *world;
static gab_port *port;
static gab_comm *everyone;
static gab_buffer out, in;
static uint64_t seed;
static place my_place;

/* Equal on all active processes; sent to a replacement process. */
static struct {
  uint64_t committed, round, deaths; /* deaths: of active processes, ordered so far */
  uint64_t doomed;                   /* bits: processes that had to die */
} play;

static void die(int signal_number)
{
  (void)signal_number;
  kill(getpid(), SIGKILL);
}

static void die_in(unsigned microseconds)
{
  const struct itimerval timer = {.it_value = {.tv_usec = microseconds + 1}};
  setitimer(ITIMER_REAL, &timer, NULL);
}

static void pass(place here)
{
  if (my_place == here) die(0);
}

int MPIX_Comm_shrink(MPI_Comm comm, MPI_Comm *fresh)
{
  const int code = PMPIX_Comm_shrink(comm, fresh);
  pass(AFTER_SHRINK);
  return code;
}

static void on_phase(void *user, gab_world *w, gab_fault_point phase)
{
  (void)user, (void)w;
  if (phase == GAB_FAULT_POINT_REDUCTION) pass(IN_REDUCTION);
  if (phase == GAB_FAULT_POINT_REPAIR) pass(ENTER_REPAIR);
}

static uint64_t draw(uint64_t key)
{
  uint64_t x = (seed * 1000003u + play.round) * 7919u + key * 0x9e3779b97f4a7c15u;
  x ^= x >> 31;
  x *= 0xbf58476d1ce4e5b9u;
  return x ^ x >> 29;
}

/* Every death of an active process either left its rank vacant or increased its incarnation. */
static uint64_t deaths_seen(void)
{
  const gab_members *members = gab_world_members(world);
  uint64_t deaths = (uint64_t)members->gone_count;
  for (int32_t i = 0; i < members->return_count; i++) deaths += members->returns[i].incarnation;
  return deaths;
}

/* ------------------------------------------------------------------------------------ computation of active processes */

static gab_status step(void)
{
  const gab_members *members = gab_world_members(world);
  const int32_t count = gab_members_count(members), index = gab_members_index(members, gab_world_rank(world));
  const gab_rank up = gab_members_rank(members, (index + 1) % count);
  const gab_rank down = gab_members_rank(members, (index + count - 1) % count);
  gab_world_set_step(world, (gab_step)play.committed);
  GAB_TRY(gab_port_receive(port, down, &in, 12));
  pass(IN_STEP);
  GAB_TRY(gab_message_begin(&out));
  GAB_TRY(gab_put_u64(&out, play.committed));
  GAB_TRY(gab_put_i32(&out, gab_world_rank(world)));
  GAB_TRY(gab_port_send(port, up, &out));
  GAB_TRY(gab_port_finish(port));
  gab_reader reader = gab_message_reader(&in);
  gab_envelope envelope;
  uint64_t number;
  gab_rank from;
  REQUIRE(gab_get_u64(&reader, &number) == GAB_OK && number == play.committed);
  REQUIRE(gab_get_i32(&reader, &from) == GAB_OK && from == down);
  REQUIRE(gab_message_envelope(&in, &envelope) == GAB_OK);
  REQUIRE(envelope.source_incarnation == gab_world_incarnation(world, down));
  int comm_rank = -1;
  MPI_Comm_rank(gab_comm_mpi(everyone), &comm_rank); /* in the order of ranks, not of processes */
  REQUIRE(comm_rank == index);
  uint64_t one = 1;
  GAB_TRY(gab_world_sum_u64(world, &one, 1));
  REQUIRE(one == (uint64_t)count); /* idle spares are not counted */
  uint32_t flags = 1;
  pass(BEFORE_AGREE);
  GAB_TRY(gab_world_agree(world, &flags));
  play.committed++;
  return GAB_OK;
}

/* State that a replacement process needs, and on which all must agree. */
static gab_status compare(void)
{
  const gab_members *members = gab_world_members(world);
  GAB_TRY(gab_world_max_u64(world, (uint64_t *)&play, sizeof play / sizeof(uint64_t)));
  uint64_t mine[4] = {gab_world_epoch(world), (uint64_t)gab_members_count(members),
                      (uint64_t)gab_world_spares(world), 0};
  for (gab_rank rank = 0; rank < members->ranks; rank++)
    mine[3] = mine[3] * 1000003u + (uint64_t)(gab_members_process(members, rank) + 1) * 101u +
              gab_members_incarnation(members, rank);
  uint64_t low[4], high[4];
  memcpy(low, mine, sizeof mine);
  memcpy(high, mine, sizeof mine);
  GAB_TRY(gab_world_min_u64(world, low, 4));
  GAB_TRY(gab_world_max_u64(world, high, 4));
  REQUIRE(memcmp(low, high, sizeof low) == 0);
  REQUIRE(gab_members_count(members) == members->ranks || gab_world_spares(world) == 0);
  int size;
  MPI_Comm_size(gab_comm_mpi(everyone), &size);
  REQUIRE(size == gab_members_count(members));
  return GAB_OK;
}

/* @param[in] status  of the last call; returns when all processes are synchronised again */
static void repair_from(gab_status status)
{
  while (status != GAB_OK) {
    gab_status abort_request;
    REQUIRE(status == GAB_ERR_FAULT);
    REQUIRE(gab_world_repair(world, &abort_request) == GAB_OK && abort_request == GAB_OK);
    status = compare();
  }
}

/* ------------------------------------------------------------------------------------ deaths */

/* Chooses one to three active processes, and a place for each; known to all. */
static void arm(void)
{
  gab_members left = {0};
  REQUIRE(gab_members_copy(&left, gab_world_members(world)) == GAB_OK);
  const uint64_t victims = 1 + draw(0) % 3;
  my_place = NOWHERE;
  for (uint64_t i = 0; i < victims && gab_members_count(&left) > 1; i++) {
    const gab_rank victim =
        gab_members_rank(&left, (int32_t)(draw(2 * i + 1) % (uint64_t)gab_members_count(&left)));
    REQUIRE(gab_members_remove(&left, victim) == GAB_OK);
    play.deaths++;
    play.doomed |= (uint64_t)1 << gab_members_process(gab_world_members(world), victim);
    if (victim != gab_world_rank(world)) continue;
    my_place = 1 + (place)(draw(2 * i + 2) % (i == 0 ? ANY_TIME : AFTER_SHRINK));
    if (my_place == ANY_TIME) die_in((unsigned)(draw(100 + i) % 20000));
  }
  gab_members_release(&left);
}

static void play_on(void)
{
  while (gab_members_count(gab_world_members(world)) > 1 || deaths_seen() < play.deaths) {
    if (play.committed % STEPS == 0 && deaths_seen() == play.deaths && play.round <= play.committed / STEPS) {
      arm();
      play.round = play.committed / STEPS + 1;
    }
    repair_from(step());
    REQUIRE(play.committed <
            1000000); /* steps of two processes take microseconds, and a process may have 20 ms left */
  }
}

/* ------------------------------------------------------------------------------------ a spare dies at rest */

static char sign[64]; /* of an idle spare: a file, since it sends no messages */

static const char *sign_of(gab_process process, uint64_t number)
{
  snprintf(sign, sizeof sign, "/tmp/gabion-at-rest-%llu-%d", (unsigned long long)number, (int)process);
  return sign;
}

static gab_status leave_sign(void *user, bool *took_rank)
{
  (void)user;
  *took_rank = false;
  FILE *file = sign[0] ? fopen(sign, "w") : NULL;
  if (file) fclose(file);
  sign[0] = '\0';
  return GAB_OK;
}

/* The last of several spares dies while all of them idle; this is not detected before a repair counts the remaining ones.
 * The others know from the end of its process. */
static void lose_a_spare(void)
{
  const gab_process last = gab_world_processes(world) - 1;
  uint64_t pid = gab_world_process(world) == last ? (uint64_t)getpid() : 0;
  if (gab_world_spares(world) < 2) return;
  REQUIRE_OK(gab_world_max_u64(world, &pid, 1));
  play.doomed |= (uint64_t)1 << last;
  if (gab_world_is_spare(world)) {
    sign_of(gab_world_process(world), pid);
    gab_world_set_rest(world, leave_sign, NULL);
    return;
  }
  gab_status abort_request;
  REQUIRE_OK(gab_world_rest(world, &abort_request));
  if (gab_world_is_root(world)) {
    for (gab_process process = gab_world_members(world)->ranks; process <= last; process++)
      while (unlink(sign_of(process, pid)) != 0) usleep(1000);
    for (kill((pid_t)pid, SIGKILL); kill((pid_t)pid, 0) == 0;) usleep(1000);
    usleep(200000); /* the other idle spares poll meanwhile */
  }
  REQUIRE_OK(gab_world_barrier(world));
}

/* A spare waits until it gets a rank, and runs from then on, or is dismissed. */
static bool comes_to_play(void)
{
  gab_status abort_request;
  lose_a_spare();
  const bool was_spare = gab_world_is_spare(world);
  REQUIRE_OK(gab_world_rest(world, &abort_request));
  REQUIRE(abort_request == GAB_OK);
  if (gab_world_is_spare(world)) return false;
  if (was_spare) repair_from(compare());
  return true;
}

/* All processes need to know which ones had to die. */
static void declare_the_dead(void)
{
  REQUIRE_OK(gab_world_max_u64(world, &play.doomed, 1));
  for (int process = 0; process < 64; process++)
    if (play.doomed >> process & 1) test_doom(process);
}

int main(int argc, char **argv)
{
  signal(SIGALRM, die);
  if (argc > 1) setenv("GABION_SPARES", argv[1], 1);
  seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  gab_world_set_fault_point_hook(world, on_phase, NULL);
  REQUIRE_OK(gab_port_create(world, "ring", &port));
  REQUIRE_OK(gab_world_dup(world, &everyone));
  gab_world_set_replacement(world, GAB_REPLACEMENT_SPARES);
  uint64_t all = 1;
  REQUIRE_OK(gab_world_sum_u64(world, &all, 1)); /* in the set-up spares are counted */
  REQUIRE(all == (uint64_t)gab_world_members(world)->ranks + (uint64_t)gab_world_spares(world));
  if (comes_to_play()) play_on();
  REQUIRE_OK(gab_world_dismiss(world, GAB_OK));
  declare_the_dead();
  gab_buffer_release(&in);
  gab_buffer_release(&out);
  gab_port_destroy(&port);
  return test_end(&world);
}
