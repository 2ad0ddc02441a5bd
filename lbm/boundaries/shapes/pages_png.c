/* SPDX-License-Identifier: Apache-2.0 */
/* A page as a PNG file, by libpng. */
#include "lbm/boundaries/shapes/pages_impl.h"

#include "core/memory/memory.h"
#include "core/system/file.h"

#include <string.h>

static bool begins(const unsigned char head[8]) { return memcmp(head, "\x89PNG\r\n\x1a\n", 8) == 0; }

#ifdef GAB_HAVE_PNG
#include <png.h>
#include <setjmp.h>

typedef struct png_page {
  png_structp png;
  png_infop info;
  unsigned char *pixels; /* all rows */
  size_t stride;
  bool is_wide; /* 16 bits */
  gab_status status;
  char message[256];
} png_page;

static PNG_NORETURN void on_error(png_structp png, png_const_charp message)
{
  png_page *it = png_get_error_ptr(png);
  snprintf(it->message, sizeof it->message, "%s", message);
  png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp message)
{
  (void)png;
  (void)message;
}

/* Grayscale without alpha, 8 or 16 bits, in the numbers of the file. */
static void set_transformations(png_page *it)
{
  const int type = png_get_color_type(it->png, it->info);
  it->is_wide = png_get_bit_depth(it->png, it->info) == 16;
  if (type == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(it->png);
  else if (!it->is_wide) png_set_expand_gray_1_2_4_to_8(it->png);
  if (type & PNG_COLOR_MASK_COLOR)
    png_set_rgb_to_gray_fixed(it->png, PNG_ERROR_ACTION_NONE, PNG_RGB_TO_GRAY_DEFAULT,
                              PNG_RGB_TO_GRAY_DEFAULT);
  png_set_strip_alpha(it->png);
  (void)png_set_interlace_handling(it->png);
}

/* libpng comes back here when something is wrong. */
static bool read_head(png_page *it, FILE *file)
{
  if (setjmp(png_jmpbuf(it->png))) return false;
  png_set_benign_errors(it->png, 1);
  png_init_io(it->png, file);
  png_read_info(it->png, it->info);
  set_transformations(it);
  png_read_update_info(it->png, it->info);
  return true;
}

static bool read_pixels(png_page *it)
{
  if (setjmp(png_jmpbuf(it->png))) return false;
  const png_uint_32 height = png_get_image_height(it->png, it->info);
  const int passes = png_get_interlace_type(it->png, it->info) == PNG_INTERLACE_NONE ? 1 : 7;
  for (int pass = 0; pass < passes; pass++)
    for (png_uint_32 y = 0; y < height; y++) png_read_row(it->png, it->pixels + y * it->stride, NULL);
  return true;
}

static gab_status start(const char *path, FILE *file, png_page *it)
{
  *it = (png_page){.status = GAB_OK};
  it->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, it, on_error, on_warning);
  if (it->png) it->info = png_create_info_struct(it->png);
  if (!it->info) GAB_FAIL(GAB_ERR_MEMORY, "libpng has no memory");
  if (!read_head(it, file)) GAB_FAIL(GAB_ERR_INPUT, "%s is damaged: %s", path, it->message);
  return GAB_OK;
}

static gab_status png_size(const char *path, int64_t size[3])
{
  FILE *file;
  png_page it;
  GAB_TRY(gab_file_open(path, &file));
  const gab_status status = start(path, file, &it);
  if (status == GAB_OK) {
    size[0] = png_get_image_width(it.png, it.info);
    size[1] = png_get_image_height(it.png, it.info);
    size[2] = 1;
  }
  png_destroy_read_struct(&it.png, &it.info, NULL);
  fclose(file);
  return status;
}

static gab_status read_page(const char *path, const int64_t size[3], png_page *it, double *values, int64_t z,
                            gab_pages_row_fn *row, void *user)
{
  if (!read_pixels(it)) GAB_FAIL(GAB_ERR_INPUT, "%s is damaged: %s", path, it->message);
  for (int64_t y = 0; y < size[1]; y++) {
    const unsigned char *pixels = it->pixels + (size_t)y * it->stride;
    for (int64_t x = 0; x < size[0]; x++)
      values[x] = it->is_wide ? 256 * pixels[2 * x] + pixels[2 * x + 1] : pixels[x];
    row(user, size[1] - 1 - y, z, values);
  }
  return GAB_OK;
}

static gab_status png_read(const char *path, const int64_t size[3], int64_t first, gab_pages_row_fn *row,
                           void *user)
{
  FILE *file;
  png_page it;
  double *values = NULL;
  void *pixels = NULL;
  GAB_TRY(gab_file_open(path, &file));
  gab_status status = start(path, file, &it);
  if (status == GAB_OK &&
      (png_get_image_width(it.png, it.info) != size[0] || png_get_image_height(it.png, it.info) != size[1]))
    status = gab_error_set(GAB_ERR_INPUT, __FILE__, __LINE__, "%s has changed while it was read", path);
  if (status == GAB_OK) {
    it.stride = png_get_rowbytes(it.png, it.info);
    status = gab_alloc(it.stride * (size_t)size[1], GAB_MEMORY_OTHER, &pixels);
    it.pixels = pixels;
  }
  if (status == GAB_OK) status = GAB_NEW_ARRAY(&values, (size_t)size[0], GAB_MEMORY_OTHER);
  if (status == GAB_OK) status = read_page(path, size, &it, values, first, row, user);
  gab_free(&values);
  gab_free(&pixels);
  png_destroy_read_struct(&it.png, &it.info, NULL);
  fclose(file);
  return status;
}
#else
static gab_status png_size(const char *path, int64_t size[3])
{
  (void)size;
  GAB_FAIL(GAB_ERR_INPUT, "%s: Gabion was built without libpng", path);
}

static gab_status png_read(const char *path, const int64_t size[3], int64_t first, gab_pages_row_fn *row,
                           void *user)
{
  (void)first;
  (void)row;
  (void)user;
  return png_size(path, (int64_t *)size);
}
#endif

const gab_page_format gab_page_png = {.begins = begins, .size = png_size, .read = png_read};
