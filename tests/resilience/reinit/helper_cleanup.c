/* SPDX-License-Identifier: Apache-2.0 */
/* A cleanup handler releases a buffer that a peer has not read yet: rank 0 has sent a long message that rank 1 has not
 * received, notices the death of rank 2, and its handler releases the buffer; only then rank 1 receives. For
 * script_reinit.sh:
 *
 *   helper_cleanup FILE     signals the release to rank 1
 *
 * Rank 1 gets the whole message or the fault, and no process crashes or hangs. */
#include "core/messages/port.h"
#include "resilience/recovery/reinit.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define REQUIRE(condition)                                                                                   \
  do {                                                                                                       \
    if (!(condition)) give_up(#condition, __LINE__);                                                         \
  } while (0)

enum { BYTES = 16 << 20, PATTERN = 0x5a, RANKS = 3 };

static gab_world *world;
static const char *file;
static gab_port *port;
static gab_buffer message, answer;

static void give_up(const char *what, int line)
{
  printf("helper_cleanup, rank %d, line %d: wrong: %s (%s)\n", (int)gab_world_rank(world), line, what,
         gab_error_message());
  fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void give_back(void *user)
{
  (void)user;
  gab_buffer_release(&message);
  const int made = open(file, O_CREAT | O_WRONLY, 0600);
  if (made >= 0) close(made);
}

static gab_status send_long(void)
{
  void *place;
  gab_buffer_init(&message, GAB_MEMORY_MESSAGE);
  gab_buffer_init(&answer, GAB_MEMORY_MESSAGE);
  GAB_TRY(gab_message_begin(&message));
  GAB_TRY(gab_buffer_extend(&message, BYTES, &place));
  memset(place, PATTERN, BYTES);
  GAB_TRY(gab_reinit_add_cleanup(world, give_back, NULL));
  GAB_TRY(gab_port_send(port, 1, &message));
  GAB_TRY(gab_port_receive(port, 2, &answer, GAB_SIZE_UNKNOWN)); /* from the rank that dies */
  return gab_port_finish(port);                                  /* returns with the fault */
}

static bool is_whole(const gab_buffer *in)
{
  gab_reader reader = gab_message_reader(in);
  if (gab_reader_left(&reader) != BYTES) return false;
  for (size_t i = 0; i < BYTES; i++)
    if (((const unsigned char *)reader.at)[i] != PATTERN) return false;
  return true;
}

/* Does not call MPI until the buffer is released. */
static gab_status receive_late(void)
{
  gab_buffer in;
  gab_buffer_init(&in, GAB_MEMORY_MESSAGE);
  while (access(file, F_OK) != 0) nanosleep(&(struct timespec){0, 2000000}, NULL);
  gab_status status = gab_port_receive(port, 0, &in, GAB_SIZE_UNKNOWN);
  if (status == GAB_OK) status = gab_port_finish(port);
  REQUIRE(status == GAB_ERR_FAULT || (status == GAB_OK && is_whole(&in)));
  gab_buffer_release(&in);
  while (gab_reinit_test(world) == GAB_OK) nanosleep(&(struct timespec){0, 1000000}, NULL);
  return GAB_ERR_FAULT;
}

static gab_status die(void)
{
  nanosleep(&(struct timespec){0, 100000000}, NULL); /* until the first part of the message is in transit */
  kill(getpid(), SIGKILL);
  return GAB_OK;
}

static gab_status point(gab_world *of, int argc, char **argv, gab_reinit_state state, void *user)
{
  (void)of, (void)argc, (void)argv;
  ++*(int *)user;
  if (state != GAB_REINIT_NEW) return GAB_OK;
  const gab_rank rank = gab_world_rank(world);
  return rank == 0 ? send_long() : rank == 1 ? receive_late() : die();
}

int main(int argc, char **argv)
{
  int calls = 0;
  REQUIRE(argc > 1);
  file = argv[1];
  REQUIRE(gab_world_create(&argc, &argv, &world) == GAB_OK);
  REQUIRE(gab_world_members(world)->ranks == RANKS && gab_world_spares(world) == 1);
  REQUIRE(gab_port_create(world, "long", &port) == GAB_OK);
  REQUIRE(gab_reinit(world, argc, argv, point, &calls) == GAB_OK);
  REQUIRE(gab_world_members(world)->gone_count == 0);
  REQUIRE(calls == (gab_world_process(world) < RANKS ? 2 : 1));
  if (gab_world_is_root(world)) printf("gabion-test: passed\n");
  gab_port_destroy(&port);
  gab_world_destroy(&world);
  return 0;
}
