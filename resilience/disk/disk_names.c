/* SPDX-License-Identifier: Apache-2.0 */
#include "resilience/disk/disk_names_impl.h"

#include "core/base/checkpoint_format.h"

static const gab_disk_names names_of_format[] = {
    [1] = {.ranks = "slots", .failed = "gone", .rank = "slot", .what = "format", .format = "version"},
    [2] = {.ranks = "ranks", .failed = "failed", .rank = "rank", .what = "what", .format = "format"},
};

_Static_assert(sizeof names_of_format / sizeof names_of_format[0] == GAB_CHECKPOINT_FORMAT + 1,
               "each format that is read has its names; drop those that are read no longer");

const gab_disk_names *gab_disk_names_of(int format) { return &names_of_format[format]; }
