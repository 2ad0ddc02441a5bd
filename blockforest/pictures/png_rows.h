/* SPDX-License-Identifier: Apache-2.0 */
/** @file png_rows.h
 *  @brief The pixels of a PNG file, one by one, without a picture in memory.
 *
 *  Local.
 *
 *  Stability: internal.
 */
#ifndef GABION_BLOCKFOREST_PNG_ROWS_H
#define GABION_BLOCKFOREST_PNG_ROWS_H

#include "core/base/status.h"

/** What the bytes of a pixel are. */
typedef enum gab_png_form {
  GAB_PNG_AS_SEEN, /**< 8 bits of grey on white (sRGB); of colours with transparency grey and alpha, not composed */
  GAB_PNG_AS_STORED /**< the grey value of the file in 1 or 2 bytes, the high one first; colours are refused */
} gab_png_form;

typedef struct gab_png_picture {
  const char *path;
  int64_t width, height;
  int bytes; /**< of a pixel */
  int bits;  /**< of a grey value in the file */
} gab_png_picture;

typedef struct gab_png_reader {
  gab_png_form form;
  /** Called once, before the pixels. Another status than ::GAB_OK ends the reading and is returned. */
  gab_status (*begin)(void *user, const gab_png_picture *picture);
  /** Called for each pixel once, row 0 at the top; in the order of the file, which is not that of rows if it is interlaced. NULL:
   *  only begin() is called. */
  void (*pixel)(void *user, int64_t column, int64_t row, const unsigned char *bytes);
  void *user;
} gab_png_reader;

/** Reads a picture. @return ::GAB_ERR_INPUT with path and cause if it cannot be read or Gabion was built without libpng */
gab_status gab_png_read(const char *path, const gab_png_reader *reader);

#endif
