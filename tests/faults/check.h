/* A check that says what is not so and goes on, for MPI tests in which all slots have to reach the end: an
 * assertion would leave the others waiting. The test passes if `failures`, summed over the slots, is 0. */
#ifndef GABION_TESTS_CHECK_H
#define GABION_TESTS_CHECK_H

#include <stdio.h>

static int failures;

#define CHECK(claim)                                                                                         \
  do {                                                                                                       \
    if (!(claim)) {                                                                                          \
      printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #claim);                                             \
      failures++;                                                                                            \
    }                                                                                                        \
  } while (0)

#endif
