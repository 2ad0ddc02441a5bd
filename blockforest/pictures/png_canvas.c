/* SPDX-License-Identifier: Apache-2.0 */
#include "blockforest/pictures/png_canvas_impl.h"
#include "blockforest/output/output_retry_impl.h"

#ifdef GAB_HAVE_PNG
#include <png.h>
#endif

gab_status gab_canvas_create(gab_canvas *canvas, int32_t width, int32_t height, gab_rgb background)
{
  canvas->pixels = NULL;
  canvas->width = width;
  canvas->height = height;
  GAB_TRY(GAB_NEW_ARRAY(&canvas->pixels, (size_t)width * (size_t)height, GAB_MEMORY_OTHER));
  gab_canvas_fill(canvas, 0, 0, width, height, background);
  return GAB_OK;
}

void gab_canvas_release(gab_canvas *canvas) { gab_free(&canvas->pixels); }

void gab_canvas_fill(gab_canvas *canvas, int32_t x, int32_t y, int32_t width, int32_t height, gab_rgb colour)
{
  int32_t x1 = x + width < canvas->width ? x + width : canvas->width;
  int32_t y1 = y + height < canvas->height ? y + height : canvas->height;
  for (int32_t j = y < 0 ? 0 : y; j < y1; j++) {
    gab_rgb *row = canvas->pixels + (size_t)j * (size_t)canvas->width;
    for (int32_t i = x < 0 ? 0 : x; i < x1; i++) row[i] = colour;
  }
}

void gab_canvas_frame(gab_canvas *canvas, int32_t x, int32_t y, int32_t width, int32_t height,
                      int32_t thickness, gab_rgb colour)
{
  gab_canvas_fill(canvas, x, y, width, thickness, colour);
  gab_canvas_fill(canvas, x, y + height - thickness, width, thickness, colour);
  gab_canvas_fill(canvas, x, y, thickness, height, colour);
  gab_canvas_fill(canvas, x + width - thickness, y, thickness, height, colour);
}

static unsigned char mix(unsigned char old, unsigned char new, double weight)
{
  return (unsigned char)(old + (new - old) * weight + 0.5);
}

void gab_canvas_blend(gab_canvas *canvas, int32_t x, int32_t y, gab_rgb colour, double weight)
{
  if (x < 0 || y < 0 || x >= canvas->width || y >= canvas->height) return;
  gab_rgb *at = canvas->pixels + (size_t)y * (size_t)canvas->width + x;
  *at = (gab_rgb){mix(at->r, colour.r, weight), mix(at->g, colour.g, weight), mix(at->b, colour.b, weight)};
}

#ifdef GAB_HAVE_PNG

bool gab_canvas_can_save(void) { return true; }

static void write_bytes(png_structp png, png_bytep bytes, png_size_t count)
{
  gab_output_file_write(png_get_io_ptr(png), bytes, count); /* failures are kept for the commit */
}

static void flush_bytes(png_structp png) { (void)png; }

/* libpng leaves by longjmp when it fails. */
static gab_status encode(const gab_canvas *canvas, gab_output_file *file, png_structp png, png_infop info)
{
  if (setjmp(png_jmpbuf(png))) GAB_FAIL(GAB_ERR_IO, "libpng cannot make %s", file->path);
  png_set_write_fn(png, file, write_bytes, flush_bytes);
  png_set_IHDR(png, info, (png_uint_32)canvas->width, (png_uint_32)canvas->height, 8, PNG_COLOR_TYPE_RGB,
               PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  /* Rows are made of the few colours of a map and repeat as they are: without filters, and by a quick level of deflate, they take
   * about a fifth of the time that libpng's own choices take (a filter chosen for each row, level 6). Files of some 50 kB grow to 100 kB,
   * larger ones hardly (doc/performance.md, "What output costs"). */
  png_set_filter(png, PNG_FILTER_TYPE_BASE, PNG_FILTER_NONE);
  png_set_compression_level(png, 3);
  png_write_info(png, info);
  for (int32_t y = 0; y < canvas->height; y++) {
    png_write_row(png, (png_const_bytep)(canvas->pixels + (size_t)y * (size_t)canvas->width));
  }
  png_write_end(png, info);
  return GAB_OK;
}

static gab_status save_once(const gab_canvas *canvas, const char *path, int *error)
{
  gab_output_file file;
  *error = 0;
  GAB_TRY(gab_output_file_open(&file, path));
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
  png_infop info = png ? png_create_info_struct(png) : NULL;
  gab_status status = info ? encode(canvas, &file, png, info)
                           : gab_error_set(GAB_ERR_MEMORY, __FILE__, __LINE__, "no memory for libpng");
  png_destroy_write_struct(&png, &info);
  status = gab_output_file_commit(&file, status);
  *error = file.error;
  return status;
}

/* Once more from the beginning where only the close reports that the disk refused. */
gab_status gab_canvas_save(const gab_canvas *canvas, const char *path)
{
  gab_status status;
  int error;
  do status = save_once(canvas, path, &error);
  while (status == GAB_ERR_IO && error && gab_output_may_retry(path, error));
  return status;
}

#else

bool gab_canvas_can_save(void) { return false; }

gab_status gab_canvas_save(const gab_canvas *canvas, const char *path)
{
  (void)canvas;
  GAB_FAIL(GAB_ERR_INPUT, "cannot write %s: this Gabion was built without libpng", path);
}

#endif
