/* SPDX-License-Identifier: Apache-2.0 */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include "core/base/log.h"
#include "core/system/run_file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LINE_CAPACITY = 10240, PATH_CAPACITY = 4096 };
static const double progress_interval = 5.0; /* seconds between progress lines that are not overwritten */

/* One per process; protected by the mutex, since worker threads log too. */
static struct {
  gab_rank rank;
  bool is_root;
  gab_log_level terminal_level, file_level;
  char path[PATH_CAPACITY]; /* "" without a file */
  int file;                 /* -1 until the first line */
  bool progress_shown;      /* the cursor is in a progress line */
  double last_progress;     /* time of the last one that was not overwritten */
} state = {.rank = GAB_NO_RANK,
           .is_root = true,
           .terminal_level = GAB_LOG_INFO,
           .file_level = GAB_LOG_DEBUG,
           .file = -1,
           .last_progress = -1e300};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t clock_once = PTHREAD_ONCE_INIT;
static struct timespec clock_start;

static void start_clock(void) { clock_gettime(CLOCK_MONOTONIC, &clock_start); }

double gab_seconds(void)
{
  pthread_once(&clock_once, start_clock);
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)(now.tv_sec - clock_start.tv_sec) + 1e-9 * (double)(now.tv_nsec - clock_start.tv_nsec);
}

double gab_thread_seconds(void)
{
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static const char *prefix_of(gab_log_level level)
{
  switch (level) {
  case GAB_LOG_ERROR:
    return "error: ";
  case GAB_LOG_WARNING:
    return "warning: ";
  case GAB_LOG_DEBUG:
    return "debug: ";
  case GAB_LOG_INFO:
    break;
  }
  return "";
}

/* A launcher gives its processes pseudo-terminals even if its own output goes to a file, so GABION_TERMINAL=0 or 1 tells
 * whether there is a terminal. */
static bool is_terminal(void)
{
  const char *told = getenv("GABION_TERMINAL");
  if (told && (told[0] == '0' || told[0] == '1')) return told[0] == '1';
  return isatty(STDOUT_FILENO) == 1;
}

/* One write per line: lines of different processes in one file or terminal do not mix. A message that cannot be written is
 * dropped; a full disk must not end a run because of its log. */
static void write_all(int target, const char *text, size_t length)
{
  while (length > 0) {
    ssize_t written = write(target, text, length);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text += written;
    length -= (size_t)written;
  }
}

static int open_file(char why[GAB_RUN_FILE_WHY])
{
  if (state.file < 0 && state.path[0])
    state.file = gab_run_file_open(state.path, O_WRONLY | O_CREAT | O_APPEND, why);
  return state.file;
}

static void close_file(void)
{
  if (state.file >= 0) close(state.file);
  state.file = -1;
}

static void write_line(int target, const char *stamp, const char *speaker, const char *prefix,
                       const char *text)
{
  char line[LINE_CAPACITY];
  int length = snprintf(line, sizeof line - 1, "%s%s%s%s", stamp, speaker, prefix, text);
  if (length < 0) return;
  if (length > (int)sizeof line - 2) length = (int)sizeof line - 2;
  line[length] = '\n';
  write_all(target, line, (size_t)length + 1);
}

static void write_to_file(const char *speaker, const char *prefix, const char *text)
{
  char stamp[32], why[GAB_RUN_FILE_WHY];
  if (open_file(why) < 0) return;
  snprintf(stamp, sizeof stamp, "[%10.3f] ", gab_seconds());
  write_line(state.file, stamp, speaker, prefix, text);
}

static void end_progress_line(void)
{
  if (state.progress_shown) write_all(STDOUT_FILENO, "\r\033[K", 4);
  state.progress_shown = false;
}

static void speak(gab_log_level level, bool all, const char *format, va_list arguments)
{
  char text[LINE_CAPACITY], speaker[32] = "";
  if (vsnprintf(text, sizeof text, format, arguments) < 0) return;
  if (all && state.rank != GAB_NO_RANK)
    snprintf(speaker, sizeof speaker, "[rank %" GAB_PRI_RANK "] ", state.rank);
  if (level <= state.terminal_level) {
    fflush(stdout); /* output of the application comes first */
    end_progress_line();
    int target = level <= GAB_LOG_WARNING ? STDERR_FILENO : STDOUT_FILENO;
    write_line(target, "", speaker, prefix_of(level), text);
  }
  if (level <= state.file_level) write_to_file(speaker, prefix_of(level), text);
}

void gab_log_set_identity(gab_rank rank, bool is_root)
{
  pthread_mutex_lock(&mutex);
  state.rank = rank;
  state.is_root = is_root;
  pthread_mutex_unlock(&mutex);
}

void gab_log_set_level(gab_log_level terminal, gab_log_level file)
{
  pthread_mutex_lock(&mutex);
  state.terminal_level = terminal;
  state.file_level = file;
  pthread_mutex_unlock(&mutex);
}

static gab_status switch_file(const char *path)
{
  close_file();
  state.path[0] = '\0';
  if (!path) return GAB_OK;
  if (strlen(path) >= sizeof state.path) GAB_FAIL(GAB_ERR_INPUT, "%s: the path of the log is too long", path);
  strcpy(state.path, path);
  /* The root opens it now, so that an unwritable output folder is detected at the start. */
  char why[GAB_RUN_FILE_WHY];
  if (state.is_root && open_file(why) < 0) {
    const int cause = errno;
    state.path[0] = '\0';
    GAB_FAIL(GAB_ERR_INPUT, "%s: the log cannot be opened: %s", path, cause == EPERM ? why : strerror(cause));
  }
  return GAB_OK;
}

gab_status gab_log_open(const char *path)
{
  pthread_mutex_lock(&mutex);
  gab_status status = switch_file(path);
  pthread_mutex_unlock(&mutex);
  return status;
}

void gab_log(gab_log_level level, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  pthread_mutex_lock(&mutex);
  if (state.is_root) speak(level, false, format, arguments);
  pthread_mutex_unlock(&mutex);
  va_end(arguments);
}

void gab_log_all(gab_log_level level, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  pthread_mutex_lock(&mutex);
  speak(level, true, format, arguments);
  pthread_mutex_unlock(&mutex);
  va_end(arguments);
}

static void show_progress(const char *text)
{
  double now = gab_seconds();
  bool due = now - state.last_progress >= progress_interval;
  if (due) state.last_progress = now;
  if (GAB_LOG_INFO <= state.terminal_level) {
    fflush(stdout);
    if (is_terminal()) {
      char line[LINE_CAPACITY + 8];
      int length = snprintf(line, sizeof line, "\r%s\033[K", text);
      write_all(STDOUT_FILENO, line, (size_t)length);
      state.progress_shown = true;
    } else if (due) {
      write_line(STDOUT_FILENO, "", "", "", text);
    }
  }
  if (due && GAB_LOG_INFO <= state.file_level) write_to_file("", "", text);
}

void gab_log_progress(const char *format, ...)
{
  char text[LINE_CAPACITY];
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (length < 0) return;
  pthread_mutex_lock(&mutex);
  if (state.is_root) show_progress(text);
  pthread_mutex_unlock(&mutex);
}
