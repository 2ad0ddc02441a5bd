/* SPDX-License-Identifier: Apache-2.0 */
/* Deaths in a communicator without repair, while the others continue with named messages, and messages in transit to or from
 * the dead. A job has many trials, one after the other, each in a communicator of GROUP processes made before the first death:
 * RING of them exchange messages with both neighbours in each step, the others are spares. Survivors of a trial take part in the
 * next one, and idle processes replace the dead. All processes know in advance which ones die, when, and their replacements;
 * each detects the deaths by itself.
 *
 *   local ROW BYTES    adjacent | spare | send | receive; the number of trials follows from the number of processes: GROUP,
 *                      and for each further trial its deaths; each survivor prints "trial N right" or the fault */
#include <mpi.h>
#include <mpi-ext.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { GROUP = 8, RING = 5, STEPS = 12, DEATH = 4, MOST_TRIALS = 64 };

static MPI_Comm group;
static int me, trial, bytes;
static bool row_spare;
static int rank_of[RING]; /* process at a position of the ring, as far as this process knows */

static void end(const char *what)
{
  printf("trial %d rank %d %s\n", trial, me, what);
  fflush(stdout);
}

static void wrong(const char *what)
{
  end(what);
  _exit(1); /* not MPI_Abort: the other trials go on */
}

static bool is_death(int code)
{
  int class = MPI_SUCCESS;
  MPI_Error_class(code, &class);
  return class == MPIX_ERR_PROC_FAILED;
}

static void fill(unsigned char *message, int position, int step)
{
  for (int i = 0; i < bytes; i++) message[i] = (unsigned char)(position * 31 + step * 7 + i);
}

static bool holds(const unsigned char *message, int position, int step)
{
  for (int i = 0; i < bytes; i++)
    if (message[i] != (unsigned char)(position * 31 + step * 7 + i)) return false;
  return true;
}

/* One by one, since MPI_Waitall does not return the failed request. */
static int finish(MPI_Request *request)
{
  int done = 0, code = MPI_SUCCESS;
  while (!done && code == MPI_SUCCESS) code = MPI_Test(request, &done, MPI_STATUS_IGNORE);
  return code;
}

/* Replacement of a position after the death of its active process. */
static int successor(int position)
{
  if (row_spare) return rank_of[position] == position ? RING : RING + 1;
  return RING + position - 1;
}

typedef struct link {
  unsigned char *out, *in;
  MPI_Request send, receive;
} link_state;

static void send_step(int mine, int peer, int step, link_state *link)
{
  fill(link->out, mine, step);
  if (MPI_Isend(link->out, bytes, MPI_BYTE, rank_of[peer], step, group, &link->send) != MPI_SUCCESS)
    link->send = MPI_REQUEST_NULL; /* dead: the receive reports it, too */
}

static int open_link(int mine, int peer, int step, link_state *link)
{
  link->send = MPI_REQUEST_NULL;
  const int code = MPI_Irecv(link->in, bytes, MPI_BYTE, rank_of[peer], step, group, &link->receive);
  if (code == MPI_SUCCESS) send_step(mine, peer, step, link);
  return code;
}

/* The peer is dead: its replacement starts with the step of the death, and needs the messages from that step on. */
static void replay(int mine, int peer, int step, link_state *link)
{
  rank_of[peer] = successor(peer);
  for (int past = DEATH; past < step; past++) {
    send_step(mine, peer, past, link);
    if (finish(&link->send) != MPI_SUCCESS) return;
  }
}

static void close_link(int mine, int peer, int step, link_state *link, int code)
{
  for (int deaths = 0;; deaths++) {
    if (code == MPI_SUCCESS) code = finish(&link->receive);
    if (code == MPI_SUCCESS) break;
    if (!is_death(code)) wrong("an error that is no death");
    if (peer != 1 && (row_spare || peer != 2)) wrong("one that lives is said to be dead");
    if (deaths == 2) wrong("more deaths than there were");
    if (link->send != MPI_REQUEST_NULL && finish(&link->send) != MPI_SUCCESS) link->send = MPI_REQUEST_NULL;
    replay(mine, peer, step, link);
    code = open_link(mine, peer, step, link);
  }
  if (!holds(link->in, peer, step)) wrong("wrong data");
}

static void play(int mine, int first, bool dies_on_the_way)
{
  link_state links[2];
  const int peers[2] = {(mine + RING - 1) % RING, (mine + 1) % RING};
  for (int i = 0; i < 2; i++)
    links[i] = (link_state){.out = malloc((size_t)bytes), .in = malloc((size_t)bytes)};
  for (int step = first; step < STEPS; step++) {
    int codes[2];
    for (int i = 0; i < 2; i++) {
      codes[i] = open_link(mine, peers[i], step, &links[i]);
      if (dies_on_the_way) finish(&links[i].send);
      if (dies_on_the_way) kill(getpid(), SIGKILL); /* one neighbour has its message, the other does not */
    }
    for (int i = 0; i < 2; i++) close_link(mine, peers[i], step, &links[i], codes[i]);
    for (int i = 0; i < 2; i++)
      if (links[i].send !=
          MPI_REQUEST_NULL) { /* to one that died behind its own message: replayed in the next step */
        const int code = finish(&links[i].send);
        if (code != MPI_SUCCESS && !is_death(code)) wrong("an error of a send that is no death");
      }
    if (step + 1 == DEATH && (mine == 1 || (mine == 2 && !row_spare))) kill(getpid(), SIGKILL);
  }
}

/* Rank 1 dies with a message to, or a receive from, rank 0 in transit; the others continue to communicate. */
static void one_request(bool sends)
{
  unsigned char *buffer = calloc((size_t)bytes, 1);
  MPI_Request request = MPI_REQUEST_NULL;
  if (me == 1) usleep(20000);
  if (me == 1) kill(getpid(), SIGKILL);
  int code = MPI_SUCCESS;
  if (me == 0 && sends) code = MPI_Isend(buffer, bytes, MPI_BYTE, 1, 0, group, &request);
  if (me == 0 && !sends) code = MPI_Irecv(buffer, bytes, MPI_BYTE, 1, 0, group, &request);
  if (me == 0 && code == MPI_SUCCESS) code = finish(&request);
  if (me == 0 && !is_death(code))
    wrong(code == MPI_SUCCESS ? "the request has succeeded" : "an error that is no death");
  int partner = me % 2 == 0 ? me + 1 : me - 1;
  if (me == 0 || me == GROUP - 1) partner = GROUP - 1 - me;
  if (me == GROUP - 2) partner = MPI_PROC_NULL;
  for (int step = 1; step < 20; step++)
    if (MPI_Sendrecv_replace(buffer, bytes < 480000 ? bytes : 480000, MPI_BYTE, partner, step, partner, step,
                             group, MPI_STATUS_IGNORE) != MPI_SUCCESS)
      wrong("the living cannot talk");
}

/* Place of this process in a trial in which the places of `dying` die; -1: none. */
static int place_in(int number, int world_rank, const int *dying, int deaths)
{
  const bool common = world_rank < GROUP;
  if (!common) {
    const int late = world_rank - GROUP;
    return late / deaths == number - 1 ? dying[late % deaths] : -1;
  }
  for (int i = 0; i < deaths; i++)
    if (dying[i] == world_rank && number > 0) return -1;
  return world_rank;
}

/* Waits until all processes of a trial are present and messages of earlier trials have arrived. By named messages to
 * and from the first process, which never dies: a barrier would fail if a process left it and died before others were
 * through. */
static void gather(void)
{
  enum { HERE = 1000, GO };
  char nothing = 0;
  MPI_Request requests[2 * GROUP];
  int count = 0;
  for (int i = 1; i < GROUP && me == 0; i++)
    MPI_Irecv(&nothing, 0, MPI_BYTE, i, HERE, group, &requests[count++]);
  if (me > 0) MPI_Irecv(&nothing, 0, MPI_BYTE, 0, GO, group, &requests[count++]);
  if (me > 0) MPI_Isend(&nothing, 0, MPI_BYTE, 0, HERE, group, &requests[count++]);
  for (int i = 0; i < count; i++)
    for (int done = 0; !done; usleep(done ? 0 : 500))
      if (MPI_Test(&requests[i], &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) wrong("the living cannot gather");
  for (int i = 1; i < GROUP && me == 0; i++) MPI_Send(&nothing, 0, MPI_BYTE, i, GO, group);
}

static void try_once(const char *row)
{
  for (int i = 0; i < RING; i++) rank_of[i] = i;
  if (strcmp(row, "send") == 0 || strcmp(row, "receive") == 0) one_request(row[0] == 's');
  else if (me < RING) play(me, 0, false);
  else if (row_spare && me == RING) rank_of[1] = me, play(1, DEATH, true);
  else if (row_spare && me == RING + 1) rank_of[1] = me, play(1, DEATH, false);
  else if (!row_spare && me < RING + 2)
    rank_of[1] = RING, rank_of[2] = RING + 1, play(me - RING + 1, DEATH, false);
  end("right");
}

int main(int argc, char **argv)
{
  int rank, size;
  MPI_Comm groups[MOST_TRIALS];
  signal(SIGPIPE, SIG_IGN);
  MPI_Init(&argc, &argv);
  if (argc < 3) MPI_Abort(MPI_COMM_WORLD, 2);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  bytes = atoi(argv[2]);
  row_spare = strcmp(argv[1], "spare") == 0;
  const bool ring = row_spare || strncmp(argv[1], "adjacent", 8) == 0;
  const int dying[2] = {1, row_spare ? RING : 2}, deaths = ring ? 2 : 1;
  int trials = 1 + (size - GROUP) / deaths;
  if (size < GROUP || trials > MOST_TRIALS) MPI_Abort(MPI_COMM_WORLD, 2);
  for (int i = 0; i < trials; i++) {
    const int place = place_in(i, rank, dying, deaths);
    MPI_Comm_split(MPI_COMM_WORLD, place < 0 ? MPI_UNDEFINED : 0, place, &groups[i]);
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (trial = 0; trial < trials; trial++) {
    if (groups[trial] == MPI_COMM_NULL) continue;
    group = groups[trial];
    MPI_Comm_set_errhandler(group, MPI_ERRORS_RETURN);
    MPI_Comm_rank(group, &me);
    gather();
    try_once(argv[1]);
  }
  for (int i = 0; i < 1000; i++) { /* what is still under way to others; they may be slower */
    int flag;
    MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
    usleep(1000);
  }
  _exit(0);
}
