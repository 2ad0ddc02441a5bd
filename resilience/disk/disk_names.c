/* SPDX-License-Identifier: Apache-2.0 */
#include "resilience/disk/disk_names_impl.h"

#include "core/base/checkpoint_format.h"

static const gab_disk_names names_of_format[2] = {
    [0] = {.ranks = "slots", .failed = "gone", .rank = "slot", .what = "format", .format = "version"},
    [1] = {.ranks = "ranks", .failed = "failed", .rank = "rank", .what = "what", .format = "format"},
};

_Static_assert(GAB_CHECKPOINT_FORMAT_BEFORE == 1,
               "drop the names of format 1 and add those of the new format");

const gab_disk_names *gab_disk_names_of(int format)
{
  return &names_of_format[format - GAB_CHECKPOINT_FORMAT_BEFORE];
}
