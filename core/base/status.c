/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Capacity for a parameter file with many errors: they are reported together, one per line. */
enum { MESSAGE_CAPACITY = 8192, WHERE_CAPACITY = 256 };

static _Thread_local char error_message[MESSAGE_CAPACITY];
static _Thread_local char error_where[WHERE_CAPACITY];

const char *gab_status_name(gab_status status)
{
  switch (status) {
  case GAB_OK:
    return "ok";
  case GAB_ERR_FAULT:
    return "fault";
  case GAB_ERR_SUSPECT:
    return "suspect numbers";
  case GAB_ERR_INPUT:
    return "bad input";
  case GAB_ERR_LOST:
    return "data lost";
  case GAB_ERR_DIVERGED:
    return "diverged";
  case GAB_ERR_REQUEUE:
    return "to be continued";
  case GAB_ERR_AGAIN:
    return "to be started again";
  case GAB_ERR_ENDED:
    return "ended early";
  case GAB_ERR_MEMORY:
    return "out of memory";
  case GAB_ERR_IO:
    return "input or output failed";
  case GAB_ERR_CORRUPT:
    return "corrupt data";
  case GAB_ERR_MPI:
    return "MPI error";
  case GAB_ERR_ARGUMENT:
    return "wrong argument";
  case GAB_ERR_STATE:
    return "called at the wrong time";
  case GAB_STATUS_COUNT:
    break;
  }
  return "unknown status";
}

int gab_status_exit_code(gab_status status)
{
  switch (status) {
  case GAB_OK:
    return 0;
  case GAB_ERR_INPUT:
    return 2;
  case GAB_ERR_LOST:
    return 3;
  case GAB_ERR_DIVERGED:
    return 4;
  case GAB_ERR_REQUEUE:
    return 75;
  case GAB_ERR_AGAIN:
    return 76;
  default:
    return 1;
  }
}

gab_status gab_error_set(gab_status status, const char *file, int line, const char *format, ...)
{
  /* The arguments may contain the current message (as a part of the new one): format into a copy first. */
  char text[MESSAGE_CAPACITY];
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (length < 0) {
    length = snprintf(text, sizeof text, "(message could not be formatted)");
  } else if ((size_t)length >= sizeof text) {
    length = (int)sizeof text - 1;
    memcpy(text + length - 3, "...", 3);
  }
  memcpy(error_message, text, (size_t)length + 1);
  snprintf(error_where, sizeof error_where, "%s:%d", file, line);
  return status;
}

const char *gab_error_message(void) { return error_message; }

const char *gab_error_where(void) { return error_where; }

void gab_error_clear(void)
{
  error_message[0] = '\0';
  error_where[0] = '\0';
}
