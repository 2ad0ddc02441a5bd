/* SPDX-License-Identifier: Apache-2.0 */
/** @file stack.h
 *  @brief Grey values of stacks of pictures of other programs: PNG files and the pages of TIFF files.
 *
 *  A path may stand for numbered files: "slices/a_0001..0512.png" is a_0001.png to a_0512.png, with the zeros of the first name. Pages
 *  follow each other along z, rows along y from the top, pixels along x. Values are those of the files.
 *
 *  Local.
 *
 *  Stability: internal.
 */
#ifndef GABION_BLOCKFOREST_STACK_H
#define GABION_BLOCKFOREST_STACK_H

#include "blockforest/pictures/tiff_pages.h"
#include "core/base/hash.h"

/** Whether a path ends as pictures do: .png, .tif, .tiff in either case. */
bool gab_stack_is_picture(const char *path);

/** Pixels along x and y, and pages. Checks that all pages of TIFF files are complete; of PNG files it reads the heads.
 *  @return ::GAB_ERR_INPUT with file and cause: missing, of another size than the first page, colours, damaged, no page */
gab_status gab_stack_size(const char *path, int64_t size[3]);

/** Passes each pixel once, page after page. @param[in] size  as gab_stack_size() says
 *  @return ::GAB_ERR_INPUT with file and cause, also if a file has changed since then */
gab_status gab_stack_read(const char *path, const int64_t size[3], gab_page_pixel_fn *pixel, void *user);

/** Adds the bytes of all files to a hash. @return ::GAB_ERR_INPUT as gab_file_hash() */
gab_status gab_stack_hash(const char *path, gab_hash64_stream *hash);

#endif
