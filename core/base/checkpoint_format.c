/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/checkpoint_format.h"

#include <inttypes.h>
#include <stdbool.h>

gab_status gab_checkpoint_format_check(const char *subject, int64_t format, const char *writer)
{
  if (format >= GAB_CHECKPOINT_FORMAT_BEFORE && format <= GAB_CHECKPOINT_FORMAT) return GAB_OK;
  const bool is_known = writer && writer[0];
  const char *remedy = format > GAB_CHECKPOINT_FORMAT
                           ? "continue with the version that wrote it or a newer one"
                           : "continue with an older version, whose next checkpoint this one may read";
  GAB_FAIL(GAB_ERR_CORRUPT,
           "%s has checkpoint format %" PRId64 "%s%s; this program, Gabion " GAB_VERSION
           ", reads formats %d and %d: %s",
           subject, format, is_known ? ", written by Gabion " : "", is_known ? writer : "",
           GAB_CHECKPOINT_FORMAT_BEFORE, GAB_CHECKPOINT_FORMAT, remedy);
}
