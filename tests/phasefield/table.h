/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of got against expected: silent when all is well, unless the program is called with the word `table'.
 */
#ifndef GABION_TESTS_PHASEFIELD_TABLE_H
#define GABION_TESTS_PHASEFIELD_TABLE_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool table_wanted;
static int table_failures;

static inline void table_begin(int argc, char **argv)
{
  table_wanted = argc > 1 && strcmp(argv[1], "table") == 0;
  if (table_wanted) printf("%-66s %14s %14s %10s\n", "", "got", "expected", "tolerance");
}

/* |got - expected| <= tolerance */
static inline void table_row(const char *what, double got, double expected, double tolerance)
{
  const bool fine = fabs(got - expected) <= tolerance;
  if (!fine) table_failures++;
  if (table_wanted || !fine)
    printf("%-66s %14.8g %14.8g %10.2g%s\n", what, got, expected, tolerance, fine ? "" : "   OUTSIDE");
  fflush(stdout);
}

#endif
