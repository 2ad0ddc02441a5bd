/* SPDX-License-Identifier: Apache-2.0 */
#include "core/world/told.h"

#include <stdlib.h>

/* @return otherwise if none is there, or if it is below `least` or too large */
static int32_t number(const char *const *names, int32_t least, int32_t otherwise)
{
  for (int i = 0; names[i]; i++)
    if (getenv(names[i])) {
      const long told = strtol(getenv(names[i]), NULL, 10);
      return told >= least && told <= INT32_MAX ? (int32_t)told : otherwise;
    }
  return otherwise;
}

int32_t gab_world_processes_told(void)
{
  static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", NULL};
  return number(names, 1, 1);
}

int32_t gab_world_processes_told_of_node(void)
{
  static const char *const names[] = {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", NULL};
  return number(names, 1, 0);
}

int32_t gab_told_rank(void)
{
  static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", NULL};
  return number(names, 0, -1);
}
