/* SPDX-License-Identifier: Apache-2.0 */
#include "lbm/boundaries/shapes/shapes_impl.h"

#include "core/system/file.h"
#include "core/memory/memory.h"

#ifdef GAB_HAVE_PNG
#include <math.h>
#include <png.h>
#include <setjmp.h>
#include <string.h>

enum { DARKER_THAN = 128, MOST_PIXELS_PER_SIDE = 65536, WHITE = 255, PASSES = 7 };

/* Row by row, so that a large picture takes a bit for each pixel and no more. What libpng is asked to do with colours,
 * gamma and transparency is what its own png_image_finish_read() asks for with PNG_FORMAT_GRAY on white. */
typedef struct mask_reader {
  const char *path;
  png_structp png;
  png_infop info;
  bool composes; /* pixels are gray and alpha: libpng cannot do both, colours to gray and a background */
  void *row;
  gab_mask *mask;
  gab_status status; /* of what is no matter of libpng */
  char message[256];
} mask_reader;

static PNG_NORETURN void on_error(png_structp png, png_const_charp message)
{
  mask_reader *reader = png_get_error_ptr(png);
  snprintf(reader->message, sizeof reader->message, "%s", message);
  png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp message)
{
  (void)png;
  (void)message;
}

/* ---------------------------------------------------------------- pixels */

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

static void put_pixel(mask_reader *reader, png_uint_32 column, png_uint_32 row, const unsigned char *pixel)
{
  const bool dark = reader->composes ? is_dark_over_white(pixel[0], pixel[1]) : pixel[0] < DARKER_THAN;
  if (dark) reader->mask->dark[row * reader->mask->stride + column / 8] |= (unsigned char)(1U << column % 8);
}

/* ---------------------------------------------------------------- what libpng does */

static void set_transformations(mask_reader *reader)
{
  const png_structp png = reader->png;
  const int type = png_get_color_type(png, reader->info), depth = png_get_bit_depth(png, reader->info);
  const bool colour = (type & PNG_COLOR_MASK_COLOR) != 0;
  const bool alpha =
      (type & PNG_COLOR_MASK_ALPHA) != 0 || png_get_valid(png, reader->info, PNG_INFO_tRNS) != 0;
  png_set_expand(png);
  if (colour)
    png_set_rgb_to_gray_fixed(png, PNG_ERROR_ACTION_NONE, PNG_RGB_TO_GRAY_DEFAULT, PNG_RGB_TO_GRAY_DEFAULT);
  png_set_alpha_mode_fixed(png, PNG_ALPHA_PNG, depth == 16 ? PNG_GAMMA_LINEAR : PNG_DEFAULT_sRGB);
  png_set_alpha_mode_fixed(png, PNG_ALPHA_PNG, PNG_DEFAULT_sRGB);
  if (depth == 16) png_set_scale_16(png);
  reader->composes = colour && alpha;
  if (alpha && !colour) {
    const png_color_16 white = {0, WHITE, WHITE, WHITE, WHITE};
    png_set_background_fixed(png, &white, PNG_BACKGROUND_GAMMA_SCREEN, 0, 0);
  }
}

static gab_status reserve_capacity(mask_reader *reader)
{
  gab_mask *mask = reader->mask;
  const png_uint_32 width = png_get_image_width(reader->png, reader->info),
                    height = png_get_image_height(reader->png, reader->info);
  void *memory;
  if (width > MOST_PIXELS_PER_SIDE || height > MOST_PIXELS_PER_SIDE)
    GAB_FAIL(GAB_ERR_INPUT, "picture %s has %u x %u pixels, more than %d along a side", reader->path, width,
             height, MOST_PIXELS_PER_SIDE);
  mask->width = (int)width;
  mask->height = (int)height;
  mask->stride = (width + 7) / 8;
  GAB_TRY(gab_alloc(mask->stride * height, GAB_MEMORY_OTHER, &memory));
  mask->dark = memory;
  return gab_alloc(png_get_rowbytes(reader->png, reader->info), GAB_MEMORY_OTHER, &reader->row);
}

/* Interlaced pictures come in seven passes, each with some of the pixels. */
static void read_rows(mask_reader *reader)
{
  const size_t bytes = reader->composes ? 2 : 1;
  const bool interlaced = png_get_interlace_type(reader->png, reader->info) != PNG_INTERLACE_NONE;
  const png_uint_32 width = (png_uint_32)reader->mask->width, height = (png_uint_32)reader->mask->height;
  const unsigned char *pixels = reader->row;
  for (int pass = 0; pass < (interlaced ? PASSES : 1); pass++) {
    const png_uint_32 columns = interlaced ? PNG_PASS_COLS(width, pass) : width,
                      rows = interlaced ? PNG_PASS_ROWS(height, pass) : height;
    for (png_uint_32 y = 0; columns > 0 && y < rows; y++) {
      png_read_row(reader->png, reader->row, NULL);
      const png_uint_32 row = interlaced ? PNG_ROW_FROM_PASS_ROW(y, pass) : y;
      for (png_uint_32 x = 0; x < columns; x++)
        put_pixel(reader, interlaced ? PNG_COL_FROM_PASS_COL(x, pass) : x, row, pixels + x * bytes);
    }
  }
}

/* libpng comes back here when something is wrong. */
static bool read_picture(mask_reader *reader, FILE *file)
{
  if (setjmp(png_jmpbuf(reader->png))) return false;
  png_set_benign_errors(reader->png, 1);
  png_init_io(reader->png, file);
  png_read_info(reader->png, reader->info);
  set_transformations(reader);
  png_read_update_info(reader->png, reader->info);
  reader->status = reserve_capacity(reader);
  if (reader->status == GAB_OK) read_rows(reader);
  return true;
}

static gab_status read_open(mask_reader *reader, FILE *file)
{
  unsigned char signature[8];
  if (fread(signature, 1, sizeof signature, file) != sizeof signature ||
      png_sig_cmp(signature, 0, sizeof signature) != 0)
    GAB_FAIL(GAB_ERR_INPUT, "picture %s cannot be read: not a PNG file", reader->path);
  rewind(file);
  reader->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, reader, on_error, on_warning);
  if (reader->png) reader->info = png_create_info_struct(reader->png);
  if (!reader->info) {
    png_destroy_read_struct(&reader->png, NULL, NULL);
    GAB_FAIL(GAB_ERR_MEMORY, "libpng has no memory");
  }
  const bool fine = read_picture(reader, file);
  png_destroy_read_struct(&reader->png, &reader->info, NULL);
  if (!fine) GAB_FAIL(GAB_ERR_INPUT, "picture %s is damaged: %s", reader->path, reader->message);
  return reader->status;
}

gab_status gab_mask_read(const char *path, gab_mask *mask)
{
  FILE *file;
  mask_reader reader = {.path = path, .mask = mask};
  *mask = (gab_mask){0};
  if (gab_file_open(path, &file) != GAB_OK) {
    snprintf(reader.message, sizeof reader.message, "%s", gab_error_message());
    GAB_FAIL(GAB_ERR_INPUT, "picture %s", reader.message);
  }
  gab_status status = read_open(&reader, file);
  fclose(file);
  gab_free(&reader.row);
  if (status != GAB_OK) gab_mask_release(mask);
  return status;
}
#else
gab_status gab_mask_read(const char *path, gab_mask *mask)
{
  *mask = (gab_mask){0};
  GAB_FAIL(GAB_ERR_INPUT, "picture %s cannot be read: Gabion was built without libpng", path);
}
#endif

void gab_mask_release(gab_mask *mask)
{
  gab_free(&mask->dark);
  *mask = (gab_mask){0};
}
