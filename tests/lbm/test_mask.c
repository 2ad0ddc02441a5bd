/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: needs=png timeout=60 labels=quick */
/* Pictures as bodies: all kinds of PNG give the pixels of libpng's own conversion to gray on white, and a large
 * picture needs one bit per pixel. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <png.h>

#include "core/memory/memory.h"
#include "lbm/boundaries/shapes/shapes_impl.h"

static char folder[64], path[80];

static int make_folder(void **state)
{
  (void)state;
  strcpy(folder, "/tmp/gabion-mask-XXXXXX");
  if (!mkdtemp(folder)) return -1;
  snprintf(path, sizeof path, "%s/picture.png", folder);
  return 0;
}

static int remove_folder(void **state)
{
  (void)state;
  unlink(path);
  return rmdir(folder);
}

typedef struct kind {
  int type, depth, interlace;
  double gamma; /* 0: no such chunk */
  bool clear;   /* a transparent palette entry or colour */
} kind;

static uint32_t draw(uint32_t *seed) { return *seed = *seed * 1664525U + 1013904223U; }

static void set_palette(png_structp png, png_infop info, const kind *is, uint32_t *seed)
{
  png_color colours[16];
  png_byte alpha[16];
  for (int i = 0; i < 16; i++) {
    colours[i] =
        (png_color){(png_byte)(draw(seed) >> 24), (png_byte)(draw(seed) >> 24), (png_byte)(draw(seed) >> 24)};
    alpha[i] = (png_byte)(draw(seed) >> 24);
  }
  png_set_PLTE(png, info, colours, 1 << is->depth > 16 ? 16 : 1 << is->depth);
  if (is->clear) png_set_tRNS(png, info, alpha, 2, NULL);
}

static void write_picture(const kind *is, png_uint_32 width, png_uint_32 height, uint32_t first)
{
  FILE *file = fopen(path, "wb");
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
  png_infop info = png_create_info_struct(png);
  assert_non_null(file);
  if (setjmp(png_jmpbuf(png))) fail_msg("libpng cannot write this kind");
  uint32_t seed = first;
  png_init_io(png, file);
  png_set_compression_level(png, 1);
  png_set_IHDR(png, info, width, height, is->depth, is->type, is->interlace, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  if (is->gamma > 0) png_set_gAMA(png, info, is->gamma);
  if (is->type == PNG_COLOR_TYPE_PALETTE) set_palette(png, info, is, &seed);
  else if (is->clear && !(is->type & PNG_COLOR_MASK_ALPHA)) {
    const png_color_16 gone = {0, 1, 1, 1, 1};
    png_set_tRNS(png, info, NULL, 0, &gone);
  }
  png_write_info(png, info);
  const size_t bytes = png_get_rowbytes(png, info);
  png_bytepp rows = malloc(height * sizeof *rows);
  for (png_uint_32 y = 0; y < height; y++) {
    rows[y] = malloc(bytes);
    for (size_t i = 0; i < bytes; i++) {
      const png_byte any = (png_byte)(draw(&seed) >> 24);
      rows[y][i] = is->type == PNG_COLOR_TYPE_PALETTE && is->depth == 8 ? any % 16 : any;
    }
  }
  png_write_image(png, rows);
  png_write_end(png, NULL);
  for (png_uint_32 y = 0; y < height; y++) free(rows[y]);
  free(rows);
  png_destroy_write_struct(&png, &info);
  fclose(file);
}

/* libpng's simplified interface confuses the pixels of interlaced pictures of 16 bits (1.6.39); so those are compared
 * with the same picture without interlacing. */
static void compare_with_libpng(const kind *is, gab_mask *mask)
{
  png_image image = {.version = PNG_IMAGE_VERSION};
  const png_color white = {255, 255, 255};
  assert_true(png_image_begin_read_from_file(&image, path));
  image.format = PNG_FORMAT_GRAY;
  unsigned char *gray = malloc(PNG_IMAGE_SIZE(image));
  assert_true(png_image_finish_read(&image, &white, gray, 0, NULL));
  assert_int_equal(gab_mask_read(path, mask), GAB_OK);
  assert_int_equal(mask->width, image.width);
  assert_int_equal(mask->height, image.height);
  for (size_t y = 0; y < image.height; y++)
    for (size_t x = 0; x < image.width; x++) {
      const int expected = gray[y * image.width + x] < 128,
                got = mask->dark[y * mask->stride + x / 8] >> x % 8 & 1;
      if (got != expected)
        fail_msg("type %d, depth %d, gamma %g, clear %d: pixel %zu, %zu is %d, gray %d", is->type, is->depth,
                 is->gamma, is->clear, x, y, got, gray[y * image.width + x]);
    }
  free(gray);
}

static void read_both_ways(kind is, png_uint_32 width, png_uint_32 height, uint32_t seed)
{
  gab_mask plain, interlaced;
  write_picture(&is, width, height, seed);
  compare_with_libpng(&is, &plain);
  is.interlace = PNG_INTERLACE_ADAM7;
  write_picture(&is, width, height, seed);
  assert_int_equal(gab_mask_read(path, &interlaced), GAB_OK);
  assert_int_equal(plain.stride, interlaced.stride);
  assert_memory_equal(plain.dark, interlaced.dark, plain.stride * height);
  gab_mask_release(&plain);
  gab_mask_release(&interlaced);
}

static void every_kind_of_picture_has_the_pixels_of_libpng(void **state)
{
  (void)state;
  static const struct {
    int type, depths[6];
  } types[] = {{PNG_COLOR_TYPE_GRAY, {1, 2, 4, 8, 16, 0}},
               {PNG_COLOR_TYPE_PALETTE, {1, 2, 4, 8, 0}},
               {PNG_COLOR_TYPE_GRAY_ALPHA, {8, 16, 0}},
               {PNG_COLOR_TYPE_RGB, {8, 16, 0}},
               {PNG_COLOR_TYPE_RGB_ALPHA, {8, 16, 0}}};
  static const double gammas[] = {0, 0.45455, 1};
  uint32_t seed = 7;
  for (size_t t = 0; t < sizeof types / sizeof *types; t++)
    for (const int *depth = types[t].depths; *depth; depth++)
      for (int form = 0; form < 2 * 3; form++) {
        const kind is = {
            .type = types[t].type, .depth = *depth, .clear = form % 2, .gamma = gammas[form / 2]};
        read_both_ways(is, 37, 23, draw(&seed));
        read_both_ways(is, 1 + (png_uint_32)form, 3, draw(&seed)); /* passes without columns */
      }
}

static void a_large_picture_takes_a_bit_for_each_pixel(void **state)
{
  (void)state;
  const kind is = {.type = PNG_COLOR_TYPE_GRAY, .depth = 1};
  gab_mask mask;
  write_picture(&is, 9000, 8000, 3);
  const size_t before = gab_memory_now(GAB_MEMORY_USE_COUNT);
  gab_memory_reset_peak();
  assert_int_equal(gab_mask_read(path, &mask), GAB_OK);
  assert_in_range(gab_memory_peak(GAB_MEMORY_USE_COUNT) - before, 9000 * 8000 / 8, 9000 * 8000 / 8 + 100000);
  gab_mask_release(&mask);
}

static void what_is_no_picture_is_refused(void **state)
{
  (void)state;
  gab_mask mask;
  const kind is = {.type = PNG_COLOR_TYPE_GRAY, .depth = 8};
  write_picture(&is, 100, 100, 3);
  assert_int_equal(truncate(path, 3000), 0);
  assert_int_equal(gab_mask_read(path, &mask), GAB_ERR_INPUT);
  assert_non_null(strstr(gab_error_message(), "damaged"));
  assert_int_equal(truncate(path, 5), 0);
  assert_int_equal(gab_mask_read(path, &mask), GAB_ERR_INPUT);
  assert_non_null(strstr(gab_error_message(), "not a PNG file"));
  assert_int_equal(unlink(path), 0);
  assert_int_equal(mkfifo(path, 0600), 0);
  assert_int_equal(gab_mask_read(path, &mask), GAB_ERR_INPUT);
  assert_non_null(strstr(gab_error_message(), "it is a pipe"));
  assert_null(mask.dark);
  assert_int_equal(gab_memory_now(GAB_MEMORY_USE_COUNT), 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_kind_of_picture_has_the_pixels_of_libpng),
      cmocka_unit_test(a_large_picture_takes_a_bit_for_each_pixel),
      cmocka_unit_test(what_is_no_picture_is_refused),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
