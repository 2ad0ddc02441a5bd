/* SPDX-License-Identifier: Apache-2.0 */
/** @file pages_impl.h
 *  @brief Stacks of grayscale pages: PNG files, or the pages of TIFF files.
 *
 *  A stack is the name of a file, or a pattern with `*` or `?` that stands for several files, in natural order of their names
 *  (page_2 before page_10). Each page is one layer of voxels; all have the same size. A page is seen from above: its first row has the
 *  largest y. Numbers are those of the file: 0 to 255 or 65535, signed numbers and floating-point numbers of TIFF; bits of one page
 *  with fewer than 8 are not scaled in TIFF, and are in PNG. Colours and palettes of PNG become gray, those of TIFF are refused.
 *
 *  Local. One thread at a time.
 *
 *  Stability: internal.
 */
#ifndef GABION_LBM_PAGES_IMPL_H
#define GABION_LBM_PAGES_IMPL_H

#include "core/config/config.h"

#include <stdio.h>

/** Takes a row along x. */
typedef void gab_pages_row_fn(void *user, int64_t y, int64_t z, const double *values);

/** Whether a file is a stack: its name is a pattern, or it begins as PNG or TIFF files do. False for a file that cannot be read. */
bool gab_pages_are(const char *path);
/** Size of a stack, from the heads of its files. @param[in] dimension  2: one page @param[in] most  along an axis
 *  @return ::GAB_ERR_INPUT with the file and the reason */
gab_status gab_pages_size(const char *path, int dimension, int64_t most, int64_t size[3]);
/** Reads all pages. @param[in] size  as gab_pages_size() says @return ::GAB_ERR_INPUT with the file and the reason, also for
 *  pages of different sizes */
gab_status gab_pages_read(const char *path, const int64_t size[3], gab_pages_row_fn *row, void *user);
/** Adds the content of all files of a stack, or of one file of any kind, to a hash (gab_config_content). @param[in] config  not used */
gab_status gab_pages_hash(const gab_config *config, const char *path, gab_hash64_stream *hash);

/** @name One kind of file
 *  @{ */
/** Pages of a file, one after the other. Size: @param[out] size  x, y, number of pages. */
typedef struct gab_page_format {
  bool (*begins)(const unsigned char head[8]);
  gab_status (*size)(const char *path, int64_t size[3]);
  /** @param[in] first  number of its first page in the stack */
  gab_status (*read)(const char *path, const int64_t size[3], int64_t first, gab_pages_row_fn *row,
                     void *user);
} gab_page_format;
extern const gab_page_format gab_page_png, gab_page_tiff;
/** @} */

#endif
