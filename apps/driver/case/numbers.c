/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/driver/case/numbers.h"

#include <errno.h>
#include <stdlib.h>

gab_status gab_app_real_read(const char *name, const char *text, double least, double *number)
{
  char *end;
  errno = 0;
  *number = strtod(text, &end);
  if (end == text || *end || errno || !(*number >= least) || *number > 1e18)
    GAB_FAIL(GAB_ERR_INPUT, "%s %s: not a number of at least %g", name, text, least);
  return GAB_OK;
}

gab_status gab_app_count_read(const char *name, const char *text, int64_t least, int64_t most, int64_t *count)
{
  char *end;
  errno = 0;
  *count = strtoll(text, &end, 10);
  if (end == text || *end || errno || *count < least || *count > most)
    GAB_FAIL(GAB_ERR_INPUT, "%s %s: not a whole number from %" PRId64 " to %" PRId64, name, text, least,
             most);
  return GAB_OK;
}
