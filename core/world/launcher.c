/* SPDX-License-Identifier: Apache-2.0 */
#include "core/world/launcher.h"

#include <stdlib.h>

/* Returns the value of the first variable that is set; `otherwise` if none is, or its value is below `least` or too
 * large. */
static int32_t read_number(const char *const *names, int32_t least, int32_t otherwise)
{
  for (int i = 0; names[i]; i++)
    if (getenv(names[i])) {
      const long value = strtol(getenv(names[i]), NULL, 10);
      return value >= least && value <= INT32_MAX ? (int32_t)value : otherwise;
    }
  return otherwise;
}

int32_t gab_launcher_processes(void)
{
  static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", NULL};
  return read_number(names, 1, 1);
}

int32_t gab_launcher_local_processes(void)
{
  static const char *const names[] = {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", NULL};
  return read_number(names, 1, 0);
}

int32_t gab_launcher_rank(void)
{
  static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", NULL};
  return read_number(names, 0, -1);
}
