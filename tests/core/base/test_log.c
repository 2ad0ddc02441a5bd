/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: labels=quick */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700
#endif
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/log.h"

static char folder[] = "test_log_XXXXXX";
static char log_path[64];

/* Output to one stream meanwhile. */
typedef struct capture {
  int stream, saved;
  FILE *file;
} capture;

static capture capture_start(int stream)
{
  capture taken = {stream, dup(stream), tmpfile()};
  assert_true(taken.saved >= 0);
  assert_non_null(taken.file);
  fflush(NULL);
  assert_true(dup2(fileno(taken.file), stream) >= 0);
  return taken;
}

static void capture_end(capture *taken, char *text, size_t capacity)
{
  fflush(NULL);
  assert_true(dup2(taken->saved, taken->stream) >= 0);
  close(taken->saved);
  rewind(taken->file);
  text[fread(text, 1, capacity - 1, taken->file)] = '\0';
  fclose(taken->file);
}

static void read_log(char *text, size_t capacity)
{
  FILE *file = fopen(log_path, "rb");
  assert_non_null(file);
  text[fread(text, 1, capacity - 1, file)] = '\0';
  fclose(file);
}

static int fresh(void **state)
{
  (void)state;
  gab_log_open(NULL);
  remove(log_path);
  gab_log_set_identity(GAB_NO_RANK, true);
  gab_log_set_level(GAB_LOG_INFO, GAB_LOG_DEBUG);
  setenv("GABION_TERMINAL", "0", 1);
  return 0;
}

static void errors_and_warnings_go_to_stderr_the_rest_to_stdout(void **state)
{
  (void)state;
  char out[256], err[256];
  capture of_out = capture_start(STDOUT_FILENO), of_err = capture_start(STDERR_FILENO);
  gab_log(GAB_LOG_INFO, "step %d", 3);
  gab_log(GAB_LOG_WARNING, "hot");
  gab_log(GAB_LOG_ERROR, "lost");
  gab_log(GAB_LOG_DEBUG, "detail");
  capture_end(&of_err, err, sizeof err);
  capture_end(&of_out, out, sizeof out);
  assert_string_equal(out, "step 3\n");
  assert_string_equal(err, "warning: hot\nerror: lost\n");
}

static void only_the_root_speaks_unless_all_are_asked(void **state)
{
  (void)state;
  char out[256];
  gab_log_set_identity(5, false);
  capture of_out = capture_start(STDOUT_FILENO);
  gab_log(GAB_LOG_INFO, "nobody hears this");
  gab_log_progress("nor this");
  gab_log_all(GAB_LOG_INFO, "here");
  capture_end(&of_out, out, sizeof out);
  assert_string_equal(out, "[rank 5] here\n");
}

static void the_file_has_its_own_level_and_times(void **state)
{
  (void)state;
  char out[256], text[1024], message[64];
  double seconds;
  assert_int_equal(gab_log_open(log_path), GAB_OK);
  gab_log_set_level(GAB_LOG_ERROR, GAB_LOG_INFO);
  capture of_out = capture_start(STDOUT_FILENO);
  gab_log(GAB_LOG_INFO, "to the file");
  gab_log(GAB_LOG_DEBUG, "to nobody");
  capture_end(&of_out, out, sizeof out);
  assert_string_equal(out, "");
  read_log(text, sizeof text);
  assert_int_equal(sscanf(text, "[%lf] %63[^\n]", &seconds, message), 2);
  assert_string_equal(message, "to the file");
  assert_true(seconds >= 0 && seconds <= gab_seconds() + 1e-3);
  assert_null(strstr(text, "nobody"));
}

static void an_opened_file_is_continued(void **state)
{
  (void)state;
  char text[1024];
  gab_log_set_level(GAB_LOG_ERROR, GAB_LOG_INFO);
  for (int i = 0; i < 3; i++) {
    assert_int_equal(gab_log_open(log_path), GAB_OK);
    gab_log(GAB_LOG_INFO, "line %d", i);
    assert_int_equal(gab_log_open(NULL), GAB_OK);
    gab_log(GAB_LOG_INFO, "lost line");
  }
  read_log(text, sizeof text);
  assert_non_null(strstr(text, "line 0\n"));
  assert_non_null(strstr(text, "line 2\n"));
  assert_null(strstr(text, "lost"));
}

static void who_is_not_root_creates_no_file_until_it_speaks(void **state)
{
  (void)state;
  char text[256];
  gab_log_set_identity(1, false);
  gab_log_set_level(GAB_LOG_ERROR, GAB_LOG_INFO);
  assert_int_equal(gab_log_open(log_path), GAB_OK);
  gab_log(GAB_LOG_INFO, "silent");
  assert_int_not_equal(access(log_path, F_OK), 0);
  gab_log_set_identity(1, true); /* the root died, this process is the new one */
  gab_log(GAB_LOG_INFO, "taken over");
  read_log(text, sizeof text);
  assert_non_null(strstr(text, "] taken over\n"));
}

static void a_file_that_cannot_be_opened_is_bad_input(void **state)
{
  (void)state;
  assert_int_equal(gab_log_open("no/such/folder/log.txt"), GAB_ERR_INPUT);
  assert_string_equal(gab_error_message(),
                      "no/such/folder/log.txt: the log cannot be opened: No such file or directory");
}

static void progress_overwrites_one_line_on_a_terminal(void **state)
{
  (void)state;
  char out[256];
  setenv("GABION_TERMINAL", "1", 1);
  capture of_out = capture_start(STDOUT_FILENO);
  gab_log_progress("step %d", 1);
  gab_log_progress("step %d", 2);
  gab_log(GAB_LOG_INFO, "done");
  capture_end(&of_out, out, sizeof out);
  assert_string_equal(out, "\rstep 1\033[K\rstep 2\033[K\r\033[Kdone\n");
}

static void messages_of_any_length_are_cut_not_dropped(void **state)
{
  (void)state;
  static char text[30000], out[40000];
  memset(text, 'x', sizeof text - 1);
  capture of_out = capture_start(STDOUT_FILENO);
  gab_log(GAB_LOG_INFO, "%s", text);
  gab_log(GAB_LOG_INFO, "next");
  capture_end(&of_out, out, sizeof out);
  assert_non_null(strstr(out, "xxx\nnext\n"));
}

enum { THREADS = 4, LINES = 200 };

static void *speak(void *number)
{
  for (int i = 0; i < LINES; i++)
    gab_log_all(GAB_LOG_INFO, "thread %d says %d and no more", *(int *)number, i);
  return NULL;
}

static void lines_of_threads_do_not_mix(void **state)
{
  (void)state;
  pthread_t threads[THREADS];
  int numbers[THREADS], count[THREADS] = {0};
  gab_log_set_level(GAB_LOG_ERROR, GAB_LOG_INFO);
  assert_int_equal(gab_log_open(log_path), GAB_OK);
  for (int i = 0; i < THREADS; i++) {
    numbers[i] = i;
    assert_int_equal(pthread_create(&threads[i], NULL, speak, &numbers[i]), 0);
  }
  for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_join(threads[i], NULL), 0);
  FILE *file = fopen(log_path, "rb");
  assert_non_null(file);
  char line[256];
  while (fgets(line, sizeof line, file)) {
    int thread, number, end = 0;
    assert_int_equal(sscanf(line, "[%*f] thread %d says %d and no more%n", &thread, &number, &end), 2);
    assert_string_equal(line + end, "\n");
    assert_in_range(thread, 0, THREADS - 1);
    assert_int_equal(number, count[thread]++);
  }
  fclose(file);
  for (int i = 0; i < THREADS; i++) assert_int_equal(count[i], LINES);
}

static void time_does_not_run_backwards(void **state)
{
  (void)state;
  double last = gab_seconds();
  for (int i = 0; i < 1000; i++) {
    double now = gab_seconds();
    assert_true(now >= last);
    last = now;
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(errors_and_warnings_go_to_stderr_the_rest_to_stdout, fresh),
      cmocka_unit_test_setup(only_the_root_speaks_unless_all_are_asked, fresh),
      cmocka_unit_test_setup(the_file_has_its_own_level_and_times, fresh),
      cmocka_unit_test_setup(an_opened_file_is_continued, fresh),
      cmocka_unit_test_setup(who_is_not_root_creates_no_file_until_it_speaks, fresh),
      cmocka_unit_test_setup(a_file_that_cannot_be_opened_is_bad_input, fresh),
      cmocka_unit_test_setup(progress_overwrites_one_line_on_a_terminal, fresh),
      cmocka_unit_test_setup(messages_of_any_length_are_cut_not_dropped, fresh),
      cmocka_unit_test_setup(lines_of_threads_do_not_mix, fresh),
      cmocka_unit_test_setup(time_does_not_run_backwards, fresh),
  };
  if (!mkdtemp(folder)) return 1;
  snprintf(log_path, sizeof log_path, "%s/log.txt", folder);
  int failures = cmocka_run_group_tests(tests, NULL, NULL);
  gab_log_open(NULL);
  remove(log_path);
  remove(folder);
  return failures;
}
