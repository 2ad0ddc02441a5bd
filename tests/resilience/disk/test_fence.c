/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: timeout=120 labels=quick */
/* Fencing tokens: of several parts of a run that claim at the same time, in separate processes, one continues. A part that
 * claims late, was cut off before the last token, belongs to an earlier job, or finds the folder cleared, does not
 * continue. */
#include "resilience/recovery/fence_impl.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { RACES = 1000, MOST_PARTS = 8, PROCESSES = 16, JOB = 77 };

static char folder[64];

static int set_up(void **state)
{
  (void)state;
  snprintf(folder, sizeof folder, "/tmp/gabion-fence-%ld", (long)getpid());
  return mkdir(folder, 0700);
}

static int tear_down(void **state)
{
  char command[96];
  (void)state;
  snprintf(command, sizeof command, "rm -rf %s", folder);
  return system(command);
}

/* Processes first … last of a job of PROCESSES. */
static gab_members processes_between(gab_process first, gab_process last)
{
  gab_members processes;
  gab_members_init(&processes, PROCESSES);
  for (gab_process process = 0; process < PROCESSES; process++)
    if (process < first || process > last) assert_int_equal(gab_members_remove(&processes, process), GAB_OK);
  return processes;
}

static gab_claimant claimant(const gab_members *processes, uint64_t job)
{
  return (gab_claimant){.folder = folder,
                        .job = job,
                        .process = gab_members_rank(processes, 0),
                        .processes = processes,
                        .members = gab_members_count(processes)};
}

static uint64_t begin(uint64_t job)
{
  gab_members all = processes_between(0, PROCESSES - 1);
  const gab_claimant self = claimant(&all, job);
  uint64_t token;
  assert_int_equal(gab_token_begin(&self, &token), GAB_OK);
  gab_members_release(&all);
  return token;
}

/* @return whether processes first … last, which know `token`, continue; then with the new one */
static bool goes_on(gab_process first, gab_process last, uint64_t job, uint64_t *token)
{
  gab_members processes = processes_between(first, last);
  const gab_claimant self = claimant(&processes, job);
  gab_verdict what;
  const gab_status status = gab_token_ask(&self, token, true, &what);
  gab_members_release(&processes);
  assert_int_equal(status, GAB_OK);
  return what == GAB_VERDICT_OURS;
}

/* ---------------------------------------------------------------- races */

/* In a separate process: waits for the start signal. */
static void run_part(int gun, gab_process first, gab_process last, uint64_t token)
{
  char shot;
  gab_members processes = processes_between(first, last);
  const gab_claimant self = claimant(&processes, JOB);
  gab_verdict what;
  if (read(gun, &shot, 1) != 0) _exit(3); /* closing the pipe is the signal, which all get at once */
  if (gab_token_ask(&self, &token, true, &what) != GAB_OK) _exit(2);
  _exit(what == GAB_VERDICT_OURS ? 0 : 1);
}

static void test_races(void **state)
{
  (void)state;
  srand(1);
  for (int race = 0; race < RACES; race++) {
    const int parts = 2 + rand() % (MOST_PARTS - 1);
    const uint64_t token = begin(JOB);
    pid_t children[MOST_PARTS];
    int gun[2], winners = 0;
    assert_int_equal(pipe(gun), 0);
    for (int part = 0; part < parts; part++) {
      children[part] = fork();
      assert_true(children[part] >= 0);
      if (children[part] == 0) {
        close(gun[1]);
        run_part(gun[0], PROCESSES * part / parts, PROCESSES * (part + 1) / parts - 1, token);
      }
    }
    close(gun[1]);
    for (int part = 0; part < parts; part++) {
      int how;
      assert_int_equal(waitpid(children[part], &how, 0), children[part]);
      assert_true(WIFEXITED(how) && WEXITSTATUS(how) <= 1);
      winners += WEXITSTATUS(how) == 0;
    }
    close(gun[0]);
    assert_int_equal(winners, 1);
  }
}

/* ---------------------------------------------------------------- late ones */

static void test_late(void **state)
{
  (void)state;
  const uint64_t token = begin(JOB);
  uint64_t mine = token, theirs = token;
  assert_true(goes_on(0, 3, JOB, &mine));
  assert_int_equal(mine, token + 1);
  assert_false(goes_on(4, 15, JOB, &theirs));
  assert_false(goes_on(4, 15, JOB, &theirs)); /* nor later */
  assert_true(goes_on(0, 2, JOB, &mine));     /* the part that continued loses more processes */
  assert_false(goes_on(4, 15, JOB, &theirs));
}

/* A part created its token and its creator died before the others knew of it: they find the token with their names. */
static void test_broken_off(void **state)
{
  (void)state;
  uint64_t dead = begin(JOB), rest = dead, other = dead;
  assert_true(goes_on(0, 7, JOB, &dead));
  assert_true(goes_on(1, 7, JOB, &rest));
  assert_int_equal(rest, dead + 1);
  assert_false(goes_on(8, 15, JOB, &other));
}

/* The part that created the token splits again before all knew: both parts know of it, one gets the next token. */
static void test_parted_again(void **state)
{
  (void)state;
  uint64_t first = begin(JOB), left = first, right = first;
  assert_true(goes_on(0, 7, JOB, &first));
  assert_true(goes_on(4, 7, JOB, &right));
  assert_false(goes_on(0, 3, JOB, &left));
}

/* A part that was cut off wakes up after the run was restarted in the folder, or ended there: processes with the same
 * numbers belong to another job. */
static void test_earlier_job(void **state)
{
  (void)state;
  uint64_t old = begin(JOB);
  uint64_t now = begin(JOB + 1);
  assert_false(goes_on(0, 7, JOB, &old));
  assert_true(goes_on(0, 7, JOB + 1, &now));
  (void)begin(JOB + 2);
  (void)begin(JOB + 3);
  assert_false(goes_on(0, 7, JOB, &old)); /* the number after its own was removed */
  assert_false(goes_on(0, 7, JOB + 1, &now));
}

static void test_writer(void **state)
{
  (void)state;
  const uint64_t token = begin(JOB);
  uint64_t mine = token;
  gab_members left = processes_between(0, 7), right = processes_between(8, 15);
  const gab_claimant here = claimant(&left, JOB), there = claimant(&right, JOB);
  assert_false(gab_token_is_theirs(&there, token));
  assert_true(goes_on(0, 7, JOB, &mine));
  assert_true(gab_token_is_theirs(&there, token));
  assert_false(gab_token_is_theirs(&here, token)); /* its own token, not known to it yet */
  gab_members_release(&left);
  gab_members_release(&right);
}

/* An invalid token lets no part continue. */
static void test_damaged(void **state)
{
  (void)state;
  const uint64_t token = begin(JOB);
  uint64_t mine = token;
  char path[96];
  gab_members left = processes_between(0, 7);
  const gab_claimant self = claimant(&left, JOB);
  gab_verdict what;
  snprintf(path, sizeof path, "%s/%llu", folder, (unsigned long long)token + 1);
  const int file = open(path, O_WRONLY | O_CREAT, 0600);
  assert_true(file >= 0 && write(file, "seats 4\n", 8) == 8 && close(file) == 0);
  assert_int_not_equal(gab_token_ask(&self, &mine, true, &what), GAB_OK);
  unlink(path);
  gab_members_release(&left);
}

/* The smaller part, which claims first, and a part that cannot continue wait, and then find the token taken by the larger
 * part, which came later. */
static void test_larger_part_first(void **state)
{
  (void)state;
  for (int can_go_on = 0; can_go_on < 2; can_go_on++) {
    const uint64_t token = begin(JOB);
    int ready[2], status = 0;
    assert_int_equal(pipe(ready), 0);
    const pid_t smaller = fork();
    if (smaller == 0) {
      gab_members processes = can_go_on ? processes_between(10, 15) : processes_between(0, 15);
      gab_claimant self = claimant(&processes, JOB);
      uint64_t mine = token;
      gab_verdict what = GAB_VERDICT_OURS;
      self.patience = 20;
      if (write(ready[1], "", 1) != 1) _exit(3);
      _exit(gab_token_ask(&self, &mine, can_go_on, &what) == GAB_OK && what == GAB_VERDICT_THEIRS ? 0 : 1);
    }
    char byte;
    uint64_t mine = token;
    assert_int_equal(read(ready[0], &byte, 1), 1);
    usleep(300000); /* it has claimed, and waits: otherwise it would have the token by now */
    assert_true(goes_on(can_go_on ? 0 : 1, 9, JOB, &mine));
    assert_int_equal(waitpid(smaller, &status, 0), smaller);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    close(ready[0]);
    close(ready[1]);
  }
}

/* After the end of a run no other part continues, and each detects the end; the next job begins after that token. */
static void test_over(void **state)
{
  (void)state;
  uint64_t token = begin(JOB), late = token;
  const uint64_t over = token + 1;
  gab_members all = processes_between(0, PROCESSES - 1), nobody;
  gab_members_init(&nobody, 0);
  const gab_claimant known = claimant(&all, JOB);
  gab_claimant last = known;
  gab_verdict what;
  last.processes = &nobody;
  last.members = 0;
  assert_false(gab_token_is_last(&known, token));
  assert_int_equal(gab_token_ask(&last, &token, true, &what), GAB_OK);
  assert_int_equal(what, GAB_VERDICT_OURS);
  assert_int_equal(token, over);
  assert_true(gab_token_is_last(&known, over));
  assert_false(goes_on(1, 15, JOB, &late));
  assert_true(gab_token_is_theirs(&known, over - 1));
  assert_int_equal(begin(JOB + 1), over + 1);
  /* another part was first: the run is not over */
  uint64_t ours = begin(JOB), theirs = ours;
  assert_true(goes_on(1, 15, JOB, &theirs));
  assert_int_equal(gab_token_ask(&last, &ours, true, &what), GAB_OK);
  assert_int_equal(what, GAB_VERDICT_THEIRS);
  assert_false(gab_token_is_last(&known, theirs));
  gab_members_release(&all);
  gab_members_release(&nobody);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_over),
      cmocka_unit_test(test_races),
      cmocka_unit_test(test_late),
      cmocka_unit_test(test_broken_off),
      cmocka_unit_test(test_parted_again),
      cmocka_unit_test(test_earlier_job),
      cmocka_unit_test(test_writer),
      cmocka_unit_test(test_damaged),
      cmocka_unit_test(test_larger_part_first),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
