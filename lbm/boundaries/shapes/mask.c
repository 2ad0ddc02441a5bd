/* SPDX-License-Identifier: Apache-2.0 */
#include "lbm/boundaries/shapes/shapes_impl.h"

#include "blockforest/pictures/png_rows.h"
#include "core/memory/memory.h"

#include <math.h>

enum { DARKER_THAN = 128, MOST_PIXELS_PER_SIDE = 65536 };

/* A large picture takes a bit for each pixel and no more. */
typedef struct mask_reader {
  gab_mask *mask;
  bool composes; /* pixels are grey and alpha */
} mask_reader;

static double to_linear(int encoded)
{
  const double value = encoded / 255.0;
  return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4);
}

/* On white, in linear light (sRGB). */
static bool is_dark_over_white(int gray, int alpha)
{
  const double share = alpha / 255.0;
  if (alpha == 0) return false;
  if (alpha == 255) return gray < DARKER_THAN;
  return to_linear(gray) * share + (1 - share) <
         to_linear(DARKER_THAN) - 0.5 * (to_linear(DARKER_THAN) - to_linear(DARKER_THAN - 1));
}

static void put_pixel(void *user, int64_t column, int64_t row, const unsigned char *pixel)
{
  const mask_reader *reader = user;
  const bool dark = reader->composes ? is_dark_over_white(pixel[0], pixel[1]) : pixel[0] < DARKER_THAN;
  if (dark)
    reader->mask->dark[(size_t)row * reader->mask->stride + (size_t)column / 8] |=
        (unsigned char)(1U << column % 8);
}

static gab_status begin(void *user, const gab_png_picture *picture)
{
  mask_reader *reader = user;
  gab_mask *mask = reader->mask;
  void *memory;
  if (picture->width > MOST_PIXELS_PER_SIDE || picture->height > MOST_PIXELS_PER_SIDE)
    GAB_FAIL(GAB_ERR_INPUT, "picture %s has %lld x %lld pixels, more than %d along a side", picture->path,
             (long long)picture->width, (long long)picture->height, MOST_PIXELS_PER_SIDE);
  mask->width = (int)picture->width;
  mask->height = (int)picture->height;
  mask->stride = ((size_t)picture->width + 7) / 8;
  reader->composes = picture->bytes == 2;
  GAB_TRY(gab_alloc(mask->stride * (size_t)picture->height, GAB_MEMORY_OTHER, &memory));
  mask->dark = memory;
  return GAB_OK;
}

gab_status gab_mask_read(const char *path, gab_mask *mask)
{
  mask_reader reader = {.mask = mask};
  *mask = (gab_mask){0};
  const gab_status status =
      gab_png_read(path, &(gab_png_reader){.begin = begin, .pixel = put_pixel, .user = &reader});
  if (status != GAB_OK) gab_mask_release(mask);
  return status;
}

void gab_mask_release(gab_mask *mask)
{
  gab_free(&mask->dark);
  *mask = (gab_mask){0};
}
