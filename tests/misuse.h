/* SPDX-License-Identifier: Apache-2.0 */
/* A table of misuses of a module: calls that have to be refused with a certain status, and by words that say what is wrong.
 * Whoever includes this defines struct subject, what the calls are tried on. */
#ifndef GABION_TESTS_MISUSE_H
#define GABION_TESTS_MISUSE_H

#include "tests/mpi_test.h"

#include <stdio.h>
#include <string.h>

typedef struct subject subject;

typedef struct misuse {
  const char *what;
  gab_status (*call)(subject *it);
  gab_status expected;
  const char *says; /* part of the message; NULL: any */
} misuse;

/* MISUSE(call, STATE, "words") */
#define MISUSE(call, expected, says)                                                                         \
  {                                                                                                          \
#call, call, GAB_ERR_##expected, says                                                                    \
  }

static void are_refused(subject *it, const misuse *rows, size_t count)
{
  for (const misuse *one = rows; one < rows + count; one++) {
    gab_error_clear();
    const gab_status status = one->call(it);
    const bool refused = status == one->expected && (!one->says || strstr(gab_error_message(), one->says));
    if (!refused) fprintf(stderr, "%s: %s (%s)\n", one->what, gab_status_name(status), gab_error_message());
    CHECK(refused);
  }
}

#endif
