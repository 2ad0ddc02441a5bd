/* SPDX-License-Identifier: Apache-2.0 */
/* What an MPI test claims, and how each of its processes says that all of it held. Every mpi_*.c uses this.
 *
 *   int main(int argc, char **argv)
 *   {
 *     gab_world *world;
 *     REQUIRE_OK(gab_world_create(&argc, &argv, &world));
 *     ...                       REQUIRE(claim): the process ends here if it does not hold
 *                               CHECK(claim): noted, and the test goes on: for claims after which others wait
 *     return test_end(&world);
 *   }
 *
 * A failing process looks to the others like a death, which they survive. So no process speaks for another:
 * each writes down for itself that it has passed, or that a claim does not hold, and tests/judge.c, which
 * started them, looks at how each of them really ended. A process that a test kills is declared by all that
 * live on, test_doom() or test_kill(); the dead have to be exactly the declared ones.
 *
 * GABION_TEST_BREAK="RANK WHEN [HOW]" makes one process fail, to see whether the test notices
 * (scripts/harness/test-of-tests.sh). WHEN: `start' (before there is MPI), the number of a claim (1 is the first),
 * `end' (the world still lives), `after' (it has ended). HOW: `claim' (does not hold), `kill', `crash',
 * `exit' (with 1, without a word), `quit' (with 0, too early). */
#ifndef GABION_TESTS_MPI_TEST_H
#define GABION_TESTS_MPI_TEST_H

#include "core/world/world.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEST_MOST_RANKS = 64 };

static struct {
  uint64_t claims, break_at; /* claims so far; the one that is made false, 0: none */
  const char *when, *how;    /* to break; NULL: not here */
  int failures;              /* of CHECK */
  bool doomed[TEST_MOST_RANKS];
} test_state;

/* The rank of this process, from the launcher: there may be no world yet, or no longer. -1: no launcher */
static inline int test_rank(void)
{
  static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (getenv(names[i])) return atoi(getenv(names[i]));
  return -1;
}

static inline void test_say(const char *file, int line, const char *claim)
{
  fflush(stdout);
  if (test_rank() >= 0) fprintf(stderr, "rank %d: ", test_rank());
  fprintf(stderr, "%s:%d: not so: %s", file, line, claim);
  if (*gab_error_message())
    fprintf(stderr, " (last message: %s, %s)", gab_error_message(), gab_error_where());
  fputc('\n', stderr);
  fflush(stderr);
}

/* Not exit: the others would wait for a process that has not died. */
_Noreturn static inline void test_give_up(const char *file, int line, const char *claim)
{
  test_say(file, line, claim);
  abort();
}

/* A word of this process for the judge, if there is one. */
static inline FILE *test_word(const char *what)
{
  char path[512];
  snprintf(path, sizeof path, "%s/%s.%d", getenv("GABION_TEST_FOLDER"), what, test_rank());
  return fopen(path, "w");
}

/* ------------------------------------------------------------------------------------ broken on purpose */

static inline bool test_break(void)
{
  fprintf(stderr, "rank %d: broken on purpose (%s %s)\n", test_rank(), test_state.when, test_state.how);
  test_state.break_at = 0;
  if (strcmp(test_state.how, "kill") == 0) raise(SIGKILL);
  if (strcmp(test_state.how, "crash") == 0) raise(SIGSEGV);
  if (strcmp(test_state.how, "exit") == 0) _Exit(1);
  if (strcmp(test_state.how, "quit") == 0) _Exit(0);
  test_state.when = NULL;
  return true;
}

static inline bool test_breaks_at(const char *when)
{
  return test_state.when && strcmp(test_state.when, when) == 0 && test_break();
}

__attribute__((constructor)) static void test_read_break(void)
{
  static char when[16], how[16] = "claim";
  const char *text = getenv("GABION_TEST_BREAK");
  int rank = 0;
  if (!text || sscanf(text, "%d %15s %15s", &rank, when, how) < 2 || rank != test_rank()) return;
  test_state.when = when;
  test_state.how = how;
  test_state.break_at = strtoull(when, NULL, 10);
  if (test_breaks_at("start")) test_give_up(__FILE__, __LINE__, "the process starts");
}

/* ------------------------------------------------------------------------------------ claims */

/* Counts a claim that holds. @return true if it is made false */
static inline bool test_broken_claim(void)
{
  return ++test_state.claims == test_state.break_at && test_break();
}

/* At once, since this rank may be one that the test kills later. */
static inline void test_note(const char *file, int line, const char *claim)
{
  test_say(file, line, claim);
  if (test_state.failures++ > 0 || !getenv("GABION_TEST_FOLDER")) return;
  FILE *word = test_word("failed");
  if (word) fclose(word);
}

/* Ends the process if the claim does not hold. */
#define REQUIRE(claim)                                                                                       \
  do {                                                                                                       \
    if (!(claim) || test_broken_claim()) test_give_up(__FILE__, __LINE__, #claim);                           \
  } while (0)
#define REQUIRE_OK(call) REQUIRE((call) == GAB_OK)

/* Says that the claim does not hold and goes on; the process ends with 1. */
#define CHECK(claim)                                                                                         \
  do {                                                                                                       \
    if (!(claim) || test_broken_claim()) test_note(__FILE__, __LINE__, #claim);                              \
  } while (0)

/* |a - b| <= tolerance, with the numbers if not. */
#define REQUIRE_NEAR(a, b, tolerance)                                                                        \
  do {                                                                                                       \
    const double a_ = (a), b_ = (b), d_ = a_ > b_ ? a_ - b_ : b_ - a_;                                       \
    if (!(d_ <= (tolerance)))                                                                                \
      fprintf(stderr, "%s is %.17g, %s is %.17g, apart by %g\n", #a, a_, #b, b_, d_);                        \
    REQUIRE(d_ <= (tolerance));                                                                              \
  } while (0)

/* ------------------------------------------------------------------------------------ deaths that are meant
 */

/* This test kills that rank. To be called alike by all that live on. */
static inline void test_doom(gab_rank rank)
{
  REQUIRE(rank >= 0 && rank < TEST_MOST_RANKS);
  test_state.doomed[rank] = true;
}

/* Kills this process if it is that rank. To be called by all that live on. */
static inline void test_kill(const gab_world *world, gab_rank rank)
{
  test_doom(rank);
  if (gab_world_rank(world) == rank) raise(SIGKILL);
}

/* Whether a test may break the world and still pass. Without fault tolerance a broken world stays broken and MPI is not finalised;
 * the launcher of MPICH then kills the other processes (SIGKILL), however the first one has ended. */
static inline bool test_may_break(const gab_world *world)
{
  return gab_world_survives_deaths(world) || gab_members_count(gab_world_members(world)) == 1;
}

/* ------------------------------------------------------------------------------------ the end */

/* Writes that this process has passed, how many claims it made, and who had to die. */
static inline bool test_mark(void)
{
  if (!getenv("GABION_TEST_FOLDER")) {
    printf("gabion-test: rank %d passed, %" PRIu64 " claims\n", test_rank(), test_state.claims);
    return fflush(stdout) == 0;
  }
  FILE *file = test_word("passed");
  if (!file) return false;
  fprintf(file, "%" PRIu64 "%s", test_state.claims, test_state.when ? " unbroken" : "");
  for (int rank = 0; rank < TEST_MOST_RANKS; rank++)
    if (test_state.doomed[rank]) fprintf(file, " %d", rank);
  fputc('\n', file);
  return fclose(file) == 0;
}

/* Ends the world, if it has not ended yet, and says that this process has passed if all held: the last deed
 * of a test. Collective over the living. @return the code of the process */
static inline int test_end(gab_world **world)
{
  if (test_breaks_at("end")) test_give_up(__FILE__, __LINE__, "the world ends");
  gab_world_destroy(world);
  if (test_breaks_at("after")) test_give_up(__FILE__, __LINE__, "the world has ended");
  if (test_state.failures > 0)
    fprintf(stderr, "rank %d: %d claims do not hold\n", test_rank(), test_state.failures);
  return test_state.failures > 0 || !test_mark();
}

#endif
