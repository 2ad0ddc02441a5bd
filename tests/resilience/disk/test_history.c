/* SPDX-License-Identifier: Apache-2.0 */
/* The history of earlier jobs in a folder: the number of jobs that resumed from the same checkpoint and failed. */
/* gabion-test: labels=quick */
#include "resilience/reports/history.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[32];

#define LINE(event, more)                                                                                    \
  "{\"time\": 1.000000, \"rank\": 0, \"epoch\": 0, \"step\": 7, \"event\": \"" event "\"" more "}\n"
#define START           LINE("start", ", \"at_step\": 0, \"steps\": 90, \"ranks\": 4, \"attempt\": 0")
#define AGAIN           LINE("start", ", \"at_step\": 0, \"steps\": 90, \"ranks\": 4, \"attempt\": 2")
#define CONTINUED(step) LINE("continued", ", \"of_step\": " step ", \"from\": \"on disk\", \"seconds\": 0.1")
#define ON_DISK(step)                                                                                        \
  LINE("disk checkpoint", ", \"of_step\": " step ", \"bytes\": 9, \"files\": 1, \"seconds\": 0.1")
#define STOP        LINE("stop", ", \"reason\": \"the wall time is used up\"")
#define END(status) LINE("end", ", \"at_step\": 7, \"status\": \"" status "\", \"message\": \"\"")

static gab_history of(const char *text)
{
  char path[64];
  gab_history history;
  snprintf(path, sizeof path, "%s/events.jsonl", folder);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
  gab_history_read(folder, &history);
  remove(path);
  return history;
}

static void no_file_is_an_empty_history(void **state)
{
  (void)state;
  gab_history history;
  gab_history_read("/nowhere/at/all", &history);
  assert_int_equal(history.starts, 0);
  assert_int_equal(history.deaths, 0);
  assert_int_equal(history.from, -1);
  assert_int_equal(history.disk_checkpoint, -1);
}

static void who_took_over_is_said(void **state)
{
  (void)state;
  assert_string_equal(gab_history_who_took_over(1, 0), "spare");
  assert_string_equal(gab_history_who_took_over(2, 0), "spares");
  assert_string_equal(gab_history_who_took_over(1, 1), "new process");
  assert_string_equal(gab_history_who_took_over(3, 3), "new processes");
  assert_string_equal(gab_history_who_took_over(3, 1), "spares and new processes");
}

static void jobs_that_died_on_the_way_from_one_step_are_counted(void **state)
{
  (void)state;
  gab_history history =
      of(START ON_DISK("40") START CONTINUED("40") AGAIN CONTINUED("40") START CONTINUED("40"));
  assert_int_equal(history.starts, 4);
  assert_int_equal(history.relaunches, 1);
  assert_int_equal(history.continuations, 3);
  assert_int_equal(history.from, 40);
  assert_int_equal(history.deaths, 3);
  assert_int_equal(history.disk_checkpoint, 40);
  assert_int_equal(of(START ON_DISK("40") START CONTINUED("40") END("data lost")).deaths, 1);
}

static void the_first_job_does_not_count(void **state)
{
  (void)state;
  assert_int_equal(of(START ON_DISK("40")).deaths, 0);
  assert_int_equal(of(START).deaths, 0);
}

static void a_checkpoint_makes_up_for_all_deaths_before(void **state)
{
  (void)state;
  gab_history history = of(START CONTINUED("40") START CONTINUED("40") ON_DISK("50"));
  assert_int_equal(history.deaths, 0);
  assert_int_equal(history.disk_checkpoint, 50);
  history = of(START CONTINUED("40") START CONTINUED("40") ON_DISK("50") START CONTINUED("50"));
  assert_int_equal(history.deaths, 1);
  assert_int_equal(history.from, 50);
}

#define AT(seconds, event) "{\"time\": " seconds ", \"rank\": 0, \"event\": \"" event "\""
static void jobs_that_were_lost_and_their_time_are_counted(void **state)
{
  (void)state;
  const char *lost = AT("100.5", "start") "}\n" AT("160.5", "checkpoint") "}\n";
  const char *told =
      AT("200.0", "start") "}\n" AT("210.0", "stop") "}\n" AT("230.0", "end") ", \"status\": \"requeue\"}\n";
  const char *ended = AT("300.0", "start") "}\n" AT("305.0", "end") ", \"status\": \"data lost\"}\n";
  const char *wild = AT("400.0", "start") "}\n" AT("401.0", "end") ", \"status\": \"diverged\"}\n";
  char all[1024];
  snprintf(all, sizeof all, "%s%s%s%s", lost, told, ended, wild);
  gab_history history = of(all);
  assert_int_equal(history.losses, 2);
  assert_true(history.seconds == 60 + 30 + 5 + 1);
  assert_int_equal(of(told).losses, 0);
  assert_int_equal(of(lost).losses, 1);
  const char *fell = AT("10.0", "start") "}\n" AT("20.0", "restored from disk") "}\n" AT(
      "30.0", "restored from disk") "}\n" AT("40.0", "end") ", \"status\": \"ok\"}\n";
  history = of(fell); /* the job survived these faults, but images in memory had been insufficient */
  assert_int_equal(history.losses, 2);
  assert_true(history.seconds == 30);
}

static void the_same_checkpoint_written_again_makes_up_for_nothing(void **state)
{
  (void)state;
  assert_int_equal(of(START CONTINUED("40") ON_DISK("40") START CONTINUED("40")).deaths, 2);
}

static void another_step_begins_a_new_count(void **state)
{
  (void)state;
  assert_int_equal(of(START CONTINUED("40") START CONTINUED("40") START CONTINUED("30")).deaths, 1);
}

static void who_was_told_to_stop_or_is_done_has_not_died(void **state)
{
  (void)state;
  assert_int_equal(of(START CONTINUED("40") STOP END("to be continued")).deaths, 0);
  assert_int_equal(of(START CONTINUED("40") START CONTINUED("40") STOP START CONTINUED("40")).deaths, 2);
  assert_int_equal(of(START CONTINUED("40") END("ok")).deaths, 0);
}

static void a_line_that_is_cut_counts_for_nothing(void **state)
{
  (void)state;
  gab_history history =
      of(START CONTINUED("40") "{\"time\": 1, \"event\": \"disk checkpoint\", \"of_step\": 50");
  assert_int_equal(history.deaths, 1);
  assert_int_equal(history.disk_checkpoint, -1);
}

int main(void)
{
  snprintf(folder, sizeof folder, "/tmp/history.XXXXXX");
  if (!mkdtemp(folder)) return 1;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(no_file_is_an_empty_history),
      cmocka_unit_test(who_took_over_is_said),
      cmocka_unit_test(jobs_that_died_on_the_way_from_one_step_are_counted),
      cmocka_unit_test(the_first_job_does_not_count),
      cmocka_unit_test(jobs_that_were_lost_and_their_time_are_counted),
      cmocka_unit_test(a_checkpoint_makes_up_for_all_deaths_before),
      cmocka_unit_test(the_same_checkpoint_written_again_makes_up_for_nothing),
      cmocka_unit_test(another_step_begins_a_new_count),
      cmocka_unit_test(who_was_told_to_stop_or_is_done_has_not_died),
      cmocka_unit_test(a_line_that_is_cut_counts_for_nothing),
  };
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  rmdir(folder);
  return failed;
}
