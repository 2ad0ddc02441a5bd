/* SPDX-License-Identifier: Apache-2.0 */
/** @file checkpoint_format.h
 *  @brief The version number of checkpoints on disk, one for all their parts.
 *
 *  It is in the manifest, in the files of groups, in the heads of images, and in the images of forests. This program writes
 *  ::GAB_CHECKPOINT_FORMAT and reads that and the one before. doc/checkpoint-format.md describes both, and what a change of
 *  the format needs.
 *
 *  Stability: internal.
 */
#ifndef GABION_CORE_CHECKPOINT_FORMAT_H
#define GABION_CORE_CHECKPOINT_FORMAT_H

#include "core/base/status.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  GAB_CHECKPOINT_FORMAT = 2,                               /**< written by this program */
  GAB_CHECKPOINT_FORMAT_BEFORE = GAB_CHECKPOINT_FORMAT - 1 /**< oldest format that it reads */
};

/** Refuses a format that this program does not read. @param[in] subject for the message: what has this format, for example
 * a path @param[in] writer   version of the program that wrote it; NULL or empty if it is not known @return
 * ::GAB_ERR_CORRUPT with a message that names both formats and the remedy */
gab_status gab_checkpoint_format_check(const char *subject, int64_t format, const char *writer);

#ifdef __cplusplus
}
#endif
#endif
