/* SPDX-License-Identifier: Apache-2.0 */
/** @file tiff_pages.h
 *  @brief Grey values of the pages of a TIFF file (TIFF 6.0, BigTIFF).
 *
 *  Strips, uncompressed or PackBits, one number per pixel: integers of 8, 16 or 32 bits, floats of 32 or 64. Stacks of ImageJ beyond 4 GB,
 *  with many pictures behind one directory, are read, too.
 *
 *  Local.
 *
 *  Stability: internal.
 */
#ifndef GABION_BLOCKFOREST_TIFF_PAGES_H
#define GABION_BLOCKFOREST_TIFF_PAGES_H

#include "core/base/status.h"

#include <stdio.h>

/** Pages, and pixels along a side of a page, at most. */
enum { GAB_MOST_PAGES = 1 << 20 };

/** Takes a pixel. */
typedef void gab_page_pixel_fn(void *user, int64_t x, int64_t y, int64_t z, double value);

/** What the numbers of a page are. */
typedef struct gab_page_numbers {
  int bits;
  int format; /**< as in TIFF: 1 unsigned, 2 signed, 3 floating point */
} gab_page_numbers;

/** Pixels along x and y, and pages, after a check that all pages are complete and alike. @param[in] file  can seek
 *  @return ::GAB_ERR_INPUT with path, page (from 1) and cause */
gab_status gab_tiff_size(FILE *file, const char *path, int64_t size[3], gab_page_numbers *numbers);

/** Passes each pixel once, page after page. @param[in] size  as gab_tiff_size() says @param[in] z  of the first page
 *  @return ::GAB_ERR_INPUT as gab_tiff_size() */
gab_status gab_tiff_read(FILE *file, const char *path, const int64_t size[3], int64_t z,
                         gab_page_pixel_fn *pixel, void *user);

#endif
