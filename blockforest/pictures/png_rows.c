/* SPDX-License-Identifier: Apache-2.0 */
#include "blockforest/pictures/png_rows.h"

#include "core/memory/memory.h"
#include "core/system/file.h"

#ifdef GAB_HAVE_PNG
#include <png.h>
#include <setjmp.h>

enum { WHITE = 255, PASSES = 7 };

typedef struct png_reading {
  const gab_png_reader *to;
  gab_png_picture picture;
  png_structp png;
  png_infop info;
  void *row;
  gab_status status; /* of everything but libpng */
  char message[256];
} png_reading;

static PNG_NORETURN void on_error(png_structp png, png_const_charp message)
{
  png_reading *reading = png_get_error_ptr(png);
  snprintf(reading->message, sizeof reading->message, "%s", message);
  png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp message)
{
  (void)png;
  (void)message;
}

/* ---------------------------------------------------------------- what libpng does */

/* What libpng is asked to do with colours, gamma and transparency is what its own png_image_finish_read() asks for with
 * PNG_FORMAT_GRAY on white. It cannot do both, colours to grey and a background. */
static void convert_to_seen(png_reading *reading)
{
  const png_structp png = reading->png;
  const int type = png_get_color_type(png, reading->info), depth = png_get_bit_depth(png, reading->info);
  const bool colour = (type & PNG_COLOR_MASK_COLOR) != 0;
  const bool alpha =
      (type & PNG_COLOR_MASK_ALPHA) != 0 || png_get_valid(png, reading->info, PNG_INFO_tRNS) != 0;
  png_set_expand(png);
  if (colour)
    png_set_rgb_to_gray_fixed(png, PNG_ERROR_ACTION_NONE, PNG_RGB_TO_GRAY_DEFAULT, PNG_RGB_TO_GRAY_DEFAULT);
  png_set_alpha_mode_fixed(png, PNG_ALPHA_PNG, depth == 16 ? PNG_GAMMA_LINEAR : PNG_DEFAULT_sRGB);
  png_set_alpha_mode_fixed(png, PNG_ALPHA_PNG, PNG_DEFAULT_sRGB);
  if (depth == 16) png_set_scale_16(png);
  reading->picture.bytes = colour && alpha ? 2 : 1;
  if (alpha && !colour) {
    const png_color_16 white = {0, WHITE, WHITE, WHITE, WHITE};
    png_set_background_fixed(png, &white, PNG_BACKGROUND_GAMMA_SCREEN, 0, 0);
  }
}

static gab_status convert_to_stored(png_reading *reading)
{
  const int type = png_get_color_type(reading->png, reading->info);
  const char *what = type & PNG_COLOR_MASK_COLOR ? "colours" : "transparency";
  if (type != PNG_COLOR_TYPE_GRAY)
    GAB_FAIL(GAB_ERR_INPUT, "picture %s has %s: its pixels are not numbers; save it as greyscale",
             reading->picture.path, what);
  png_set_packing(reading->png); /* a byte for each pixel, with the value of the file */
  reading->picture.bytes = png_get_bit_depth(reading->png, reading->info) == 16 ? 2 : 1;
  return GAB_OK;
}

static gab_status begin(png_reading *reading)
{
  const gab_png_reader *to = reading->to;
  reading->picture.width = png_get_image_width(reading->png, reading->info);
  reading->picture.height = png_get_image_height(reading->png, reading->info);
  reading->picture.bits = png_get_bit_depth(reading->png, reading->info);
  if (to->form == GAB_PNG_AS_SEEN) convert_to_seen(reading);
  else GAB_TRY(convert_to_stored(reading));
  return to->begin(to->user, &reading->picture);
}

static void put_row(const png_reading *reading, png_uint_32 row, png_uint_32 first, png_uint_32 every,
                    png_uint_32 count)
{
  const gab_png_reader *to = reading->to;
  const size_t bytes = (size_t)reading->picture.bytes;
  const unsigned char *pixels = reading->row;
  for (png_uint_32 x = 0; x < count; x++) to->pixel(to->user, first + x * every, row, pixels + x * bytes);
}

/* Interlaced pictures come in seven passes, each with some of the pixels. */
static void read_rows(const png_reading *reading)
{
  const bool interlaced = png_get_interlace_type(reading->png, reading->info) != PNG_INTERLACE_NONE;
  const png_uint_32 width = (png_uint_32)reading->picture.width,
                    height = (png_uint_32)reading->picture.height;
  for (int pass = 0; pass < (interlaced ? PASSES : 1); pass++) {
    const png_uint_32 columns = interlaced ? PNG_PASS_COLS(width, pass) : width,
                      rows = interlaced ? PNG_PASS_ROWS(height, pass) : height,
                      first = interlaced ? PNG_PASS_START_COL(pass) : 0,
                      every = interlaced ? 1U << PNG_PASS_COL_SHIFT(pass) : 1;
    for (png_uint_32 y = 0; columns > 0 && y < rows; y++) {
      png_read_row(reading->png, reading->row, NULL);
      put_row(reading, interlaced ? PNG_ROW_FROM_PASS_ROW(y, pass) : y, first, every, columns);
    }
  }
}

/* libpng comes back here when something is wrong. */
static bool read_picture(png_reading *reading, FILE *file)
{
  if (setjmp(png_jmpbuf(reading->png))) return false;
  png_set_benign_errors(reading->png, 1);
  png_init_io(reading->png, file);
  png_read_info(reading->png, reading->info);
  reading->status = begin(reading);
  if (reading->status != GAB_OK || !reading->to->pixel) return true;
  png_read_update_info(reading->png, reading->info);
  reading->status = gab_alloc(png_get_rowbytes(reading->png, reading->info), GAB_MEMORY_OTHER, &reading->row);
  if (reading->status == GAB_OK) read_rows(reading);
  return true;
}

static gab_status read_open(png_reading *reading, FILE *file)
{
  unsigned char signature[8];
  const char *path = reading->picture.path;
  if (fread(signature, 1, sizeof signature, file) != sizeof signature ||
      png_sig_cmp(signature, 0, sizeof signature) != 0)
    GAB_FAIL(GAB_ERR_INPUT, "picture %s cannot be read: not a PNG file", path);
  rewind(file);
  reading->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, reading, on_error, on_warning);
  if (reading->png) reading->info = png_create_info_struct(reading->png);
  if (!reading->info) {
    png_destroy_read_struct(&reading->png, NULL, NULL);
    GAB_FAIL(GAB_ERR_MEMORY, "libpng has no memory");
  }
  const bool fine = read_picture(reading, file);
  png_destroy_read_struct(&reading->png, &reading->info, NULL);
  if (!fine) GAB_FAIL(GAB_ERR_INPUT, "picture %s is damaged: %s", path, reading->message);
  return reading->status;
}

gab_status gab_png_read(const char *path, const gab_png_reader *reader)
{
  FILE *file;
  png_reading reading = {.to = reader, .picture = {.path = path}};
  if (gab_file_open(path, &file) != GAB_OK) {
    snprintf(reading.message, sizeof reading.message, "%s", gab_error_message());
    GAB_FAIL(GAB_ERR_INPUT, "picture %s", reading.message);
  }
  const gab_status status = read_open(&reading, file);
  fclose(file);
  gab_free(&reading.row);
  return status;
}
#else
gab_status gab_png_read(const char *path, const gab_png_reader *reader)
{
  (void)reader;
  GAB_FAIL(GAB_ERR_INPUT, "picture %s cannot be read: Gabion was built without libpng", path);
}
#endif
