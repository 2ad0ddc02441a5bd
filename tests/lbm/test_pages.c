/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: labels=quick needs=png */
/* Stacks of grayscale pages: all numbers of all pixels, in place; files that do not fit are refused. The files are written by libpng
 * and libtiff. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <glob.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if GAB_HAVE_TIFF
#include <tiffio.h>
#endif

#include "lbm/boundaries/shapes/pages_impl.h"

enum { WIDTH = 37, HEIGHT = 21, PAGES = 12 };

static double found[PAGES][HEIGHT][WIDTH];

static char folder[] = "/tmp/gabion-pages-XXXXXX";

static int make_folder(void **state)
{
  (void)state;
  return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int remove_folder(void **state)
{
  (void)state;
  glob_t list;
  if (glob("*", 0, NULL, &list) == 0) {
    for (size_t i = 0; i < list.gl_pathc; i++) unlink(list.gl_pathv[i]);
    globfree(&list);
  }
  return chdir("/") == 0 ? rmdir(folder) : -1;
}

/* A different number at each place; y upwards. */
static int number(int x, int y, int z, int most) { return (x * 7 + y * 41 + z * 97 + 1) % (most + 1); }

static void take_row(void *user, int64_t y, int64_t z, const double *values)
{
  const int *pages = user;
  assert_true(z >= 0 && z < *pages && y >= 0 && y < HEIGHT);
  memcpy(found[z][y], values, sizeof found[z][y]);
}

static void read_stack(const char *path, int pages)
{
  int64_t size[3];
  memset(found, 0xff, sizeof found);
  assert_true(gab_pages_are(path));
  assert_int_equal(gab_pages_size(path, 3, 1000, size), GAB_OK);
  assert_int_equal(size[0], WIDTH);
  assert_int_equal(size[1], HEIGHT);
  assert_int_equal(size[2], pages);
  assert_int_equal(gab_pages_read(path, size, take_row, &pages), GAB_OK);
}

static void refused(const char *path, int dimension, const char *why)
{
  int64_t size[3];
  int pages = PAGES;
  gab_status status = gab_pages_size(path, dimension, 1000, size);
  if (status == GAB_OK) status = gab_pages_read(path, size, take_row, &pages);
  assert_int_equal(status, GAB_ERR_INPUT);
  if (!strstr(gab_error_message(), why)) fail_msg("expected: %s\nsaid: %s", why, gab_error_message());
  gab_error_clear();
}

/* ---------------------------------------------------------------- PNG */

static void write_png(const char *path, int width, int z, int depth, int type, int interlace)
{
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
  png_infop info = png_create_info_struct(png);
  png_init_io(png, file);
  png_set_IHDR(png, info, (png_uint_32)width, HEIGHT, depth, type, interlace, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  png_write_info(png, info);
  static unsigned char pixels[HEIGHT][WIDTH * 8];
  png_bytep rows[HEIGHT];
  for (int j = 0; j < HEIGHT; j++) {
    rows[j] = pixels[j];
    for (int x = 0; x < width; x++) {
      const int value = number(x, HEIGHT - 1 - j, z, (1 << depth) - 1);
      if (type == PNG_COLOR_TYPE_RGB) memset(&pixels[j][3 * x], value, 3);
      else if (type == PNG_COLOR_TYPE_GRAY_ALPHA)
        pixels[j][2 * x] = (unsigned char)value, pixels[j][2 * x + 1] = 9;
      else if (depth == 16)
        pixels[j][2 * x] = (unsigned char)(value >> 8), pixels[j][2 * x + 1] = (unsigned char)value;
      else pixels[j][x] = (unsigned char)value;
    }
  }
  png_write_image(png, rows);
  png_write_end(png, NULL);
  png_destroy_write_struct(&png, &info);
  fclose(file);
}

static void check_numbers(int pages, int most)
{
  for (int z = 0; z < pages; z++)
    for (int y = 0; y < HEIGHT; y++)
      for (int x = 0; x < WIDTH; x++) assert_true(found[z][y][x] == number(x, y, z, most));
}

static void png_files_are_layers_in_natural_order(void **state)
{
  (void)state;
  char name[32];
  for (int z = 0; z < PAGES; z++) { /* page_9 before page_10 */
    snprintf(name, sizeof name, "page_%d.png", z + 1);
    write_png(name, WIDTH, z, 8, PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE);
  }
  read_stack("page_*.png", PAGES);
  check_numbers(PAGES, 255);
  gab_hash64_stream one, other;
  gab_hash64_begin(&one, 0);
  gab_hash64_begin(&other, 0);
  assert_int_equal(gab_pages_hash(NULL, "page_*.png", &one), GAB_OK);
  write_png("page_7.png", WIDTH, 3, 8, PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE);
  assert_int_equal(gab_pages_hash(NULL, "page_*.png", &other), GAB_OK);
  assert_true(gab_hash64_of(&one) != gab_hash64_of(&other));
  write_png("page_7.png", WIDTH - 1, 3, 8, PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE);
  refused("page_*.png", 3, "page_7.png has 36 x 21 pixels, but page_1.png has 37 x 21");
  assert_int_equal(truncate("page_7.png", 60), 0);
  refused("page_7.png", 2, "page_7.png is damaged: ");
  refused("page_*.png", 2, "page_7.png");
  refused("sheet_*.png", 3, "sheet_*.png: no file matches");
  refused("page_[12].png", 2, "has 2 pages; a case in 2D takes one");
}

static void png_of_each_kind_has_its_numbers(void **state)
{
  (void)state;
  static const struct {
    int depth, type, interlace;
  } kinds[] = {{8, PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_ADAM7},
               {16, PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE},
               {8, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_INTERLACE_NONE},
               {8, PNG_COLOR_TYPE_RGB, PNG_INTERLACE_ADAM7}};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    write_png("kind.png", WIDTH, 0, kinds[i].depth, kinds[i].type, kinds[i].interlace);
    read_stack("kind.png", 1);
    check_numbers(1, (1 << kinds[i].depth) - 1);
  }
}

/* ---------------------------------------------------------------- TIFF */

#if GAB_HAVE_TIFF
typedef struct layout {
  const char *mode;
  uint16_t bits, kind, compression;
  bool is_tiled;
} layout;

static double value_of(const layout *how, int x, int y, int z)
{
  if (how->kind == SAMPLEFORMAT_IEEEFP) return 0.25 * number(x, y, z, 4000) - 300;
  if (how->kind == SAMPLEFORMAT_INT) return number(x, y, z, 200) - 100;
  return number(x, y, z, how->bits == 1 ? 1 : how->bits == 8 ? 255 : 60000);
}

static void put_value(const layout *how, unsigned char *row, int x, double value)
{
  switch (how->bits) {
  case 1:
    if (value != 0) row[x / 8] |= (unsigned char)(0x80 >> x % 8);
    return;
  case 8:
    row[x] = how->kind == SAMPLEFORMAT_INT ? (unsigned char)(int8_t)value : (unsigned char)value;
    return;
  case 16: {
    const uint16_t number = how->kind == SAMPLEFORMAT_INT ? (uint16_t)(int16_t)value : (uint16_t)value;
    memcpy(row + 2 * x, &number, sizeof number);
    return;
  }
  case 32: {
    const float real = (float)value;
    const uint32_t number = how->kind == SAMPLEFORMAT_INT ? (uint32_t)(int32_t)value : (uint32_t)value;
    memcpy(row + 4 * x, how->kind == SAMPLEFORMAT_IEEEFP ? (const void *)&real : &number, 4);
    return;
  }
  default:
    memcpy(row + 8 * x, &value, sizeof value);
  }
}

static void write_tiff(const char *path, const layout *how, int pages, int samples, int odd_page)
{
  enum { TILE = 16 };
  TIFF *tiff = TIFFOpen(path, how->mode);
  assert_non_null(tiff);
  for (int z = 0; z < pages; z++) {
    static unsigned char tile[TILE * TILE * 8], row[WIDTH * 8 * 3];
    const int height = z == odd_page ? HEIGHT - 1 : HEIGHT;
    TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, WIDTH);
    TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, height);
    TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, how->bits);
    TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT, how->kind);
    TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, samples);
    TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
    TIFFSetField(tiff, TIFFTAG_COMPRESSION, how->compression);
    TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, samples == 3 ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK);
    if (how->is_tiled) {
      TIFFSetField(tiff, TIFFTAG_TILEWIDTH, TILE);
      TIFFSetField(tiff, TIFFTAG_TILELENGTH, TILE);
    } else TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, 5);
    const size_t stride = (size_t)TILE * how->bits / 8;
    for (int top = 0; top < height && how->is_tiled; top += TILE)
      for (int left = 0; left < WIDTH; left += TILE) {
        memset(tile, 0, sizeof tile);
        for (int j = 0; j < TILE && top + j < height; j++)
          for (int i = 0; i < TILE && left + i < WIDTH; i++)
            put_value(how, tile + (size_t)j * stride, i, value_of(how, left + i, height - 1 - top - j, z));
        assert_true(TIFFWriteTile(tiff, tile, (uint32_t)left, (uint32_t)top, 0, 0) > 0);
      }
    for (int j = 0; j < height && !how->is_tiled; j++) {
      memset(row, 0, sizeof row);
      for (int x = 0; x < WIDTH && samples == 1; x++)
        put_value(how, row, x, value_of(how, x, height - 1 - j, z));
      assert_int_equal(TIFFWriteScanline(tiff, row, (uint32_t)j, 0), 1);
    }
    assert_true(TIFFWriteDirectory(tiff));
  }
  TIFFClose(tiff);
}

static void tiff_pages_of_each_layout_have_their_numbers(void **state)
{
  (void)state;
  static const layout layouts[] = {{"w", 8, SAMPLEFORMAT_UINT, COMPRESSION_NONE, false},
                                   {"w", 8, SAMPLEFORMAT_INT, COMPRESSION_LZW, false},
                                   {"wb", 16, SAMPLEFORMAT_UINT, COMPRESSION_LZW, false}, /* big-endian */
                                   {"wl", 16, SAMPLEFORMAT_INT, COMPRESSION_NONE, true},
                                   {"wb8", 32, SAMPLEFORMAT_UINT, COMPRESSION_PACKBITS, false}, /* BigTIFF */
                                   {"wb", 32, SAMPLEFORMAT_IEEEFP, COMPRESSION_NONE, true},
                                   {"w", 64, SAMPLEFORMAT_IEEEFP, COMPRESSION_LZW, true},
                                   {"w", 1, SAMPLEFORMAT_UINT, COMPRESSION_PACKBITS, false},
                                   {"w", 1, SAMPLEFORMAT_UINT, COMPRESSION_NONE, true}};
  for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
    write_tiff("scan.tif", &layouts[i], 3, 1, -1);
    read_stack("scan.tif", 3);
    for (int z = 0; z < 3; z++)
      for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
          if (found[z][y][x] != value_of(&layouts[i], x, y, z))
            fail_msg("layout %zu: %g at %d %d %d, not %g", i, found[z][y][x], x, y, z,
                     value_of(&layouts[i], x, y, z));
  }
}

static void tiff_files_that_do_not_fit_are_refused(void **state)
{
  (void)state;
  static const layout plain = {"w", 8, SAMPLEFORMAT_UINT, COMPRESSION_NONE, false};
  write_tiff("good.tif", &plain, 3, 1, -1);
  refused("good.tif", 2, "good.tif has 3 pages; a case in 2D takes one");
  write_tiff("colour.tif", &plain, 1, 3, -1);
  refused("colour.tif", 3, "page 0 has 3 numbers per pixel; only grayscale pages are read");
  write_tiff("odd.tif", &plain, 3, 1, 2);
  refused("odd.tif", 3, "page 2 has 37 x 20 pixels, the first 37 x 21");
  for (int64_t bytes = 8; bytes < 2300; bytes += 90) { /* wherever it is cut off */
    write_tiff("cut.tif", &plain, 3, 1, -1);
    assert_int_equal(truncate("cut.tif", (off_t)bytes), 0);
    refused("cut.tif", 3, "cut.tif");
  }
}
#endif

static void other_files_are_no_stack(void **state)
{
  (void)state;
  FILE *file = fopen("raw[1].raw", "wb"); /* a name, not a pattern */
  for (int i = 0; i < 100; i++) fputc(i, file);
  fclose(file);
  assert_false(gab_pages_are("raw[1].raw"));
  assert_false(gab_pages_are("nothing.png"));
  refused("raw[1].raw", 3, "neither a PNG nor a TIFF file");
  refused("nothing.png", 3, "nothing.png");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(png_files_are_layers_in_natural_order),
    cmocka_unit_test(png_of_each_kind_has_its_numbers),
#if GAB_HAVE_TIFF
    cmocka_unit_test(tiff_pages_of_each_layout_have_their_numbers),
    cmocka_unit_test(tiff_files_that_do_not_fit_are_refused),
#endif
    cmocka_unit_test(other_files_are_no_stack),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
