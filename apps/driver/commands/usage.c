/* SPDX-License-Identifier: Apache-2.0 */
/* How this program is called, and texts of usage that say so. */
#include "apps/driver/driver.h"

#include <string.h>

static char program[64] = "gabion"; /* as this one was called */

void gab_app_program_note(const char *path)
{
  const char *slash = path ? strrchr(path, '/') : NULL;
  if (path && path[0]) snprintf(program, sizeof program, "%s", slash ? slash + 1 : path);
}

const char *gab_app_program(void) { return program; }

void gab_app_usage_put(const char *usage, FILE *out)
{
  static const char name[] = "gabion ";
  const char *word;
  for (; (word = strstr(usage, name)); usage = word + sizeof name - 1)
    fprintf(out, "%.*s%s ", (int)(word - usage), usage, program);
  fputs(usage, out);
}
