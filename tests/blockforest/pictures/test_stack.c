/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: needs=png timeout=60 labels=quick */
/* Stacks of pictures: each form of PNG and TIFF gives the numbers that were written, and files that do not fit are refused by name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <png.h>

#include "blockforest/pictures/stack.h"
#include "core/memory/memory.h"

enum { NX = 13, NY = 7, NZ = 5, PIXELS = NX * NY * NZ };

static char folder[64];

static int make_folder(void **state)
{
  (void)state;
  strcpy(folder, "/tmp/gabion-stack-XXXXXX");
  return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int remove_folder(void **state)
{
  char command[128];
  (void)state;
  snprintf(command, sizeof command, "rm -rf %s", folder);
  return chdir("/") == 0 && system(command) == 0 ? 0 : -1;
}

/* ------------------------------------------------------------------------------------------ writing */

/* How a TIFF file is written. */
typedef struct form {
  bool big_endian, is_big, packed, is_of_imagej;
  int bits, format, rows_per_strip;
  int photometric, samples, compression; /* 0: greyscale; 1; as `packed` says */
  int orientation;                       /* 0: not written */
} form;

static uint64_t bits_of(const form *is, int x, int y, int z)
{
  const int number = 40 * z + 7 * y + x + (x > 5 ? 100 : 0) - (is->format == 1 ? 0 : 60);
  const float real = (float)number / 4;
  const double wide = number / 4.0;
  uint32_t low;
  uint64_t all;
  if (is->format != 3) return (uint64_t)(int64_t)(is->bits == 8 ? number / 2 : number * 11);
  memcpy(&low, &real, sizeof low);
  memcpy(&all, &wide, sizeof all);
  return is->bits == 32 ? low : all;
}

static double expected_of(const form *is, int x, int y, int z)
{
  const uint64_t bits = bits_of(is, x, y, z);
  const int number = 40 * z + 7 * y + x + (x > 5 ? 100 : 0) - (is->format == 1 ? 0 : 60);
  return is->format == 3 ? number / 4.0 : (double)(int64_t)bits;
}

typedef struct bytes {
  unsigned char at[16384];
  size_t count;
} bytes;

static void put(const form *is, bytes *to, uint64_t number, int count)
{
  for (int i = 0; i < count; i++)
    to->at[to->count++] = (unsigned char)(number >> 8 * (is->big_endian ? count - 1 - i : i));
}

static void put_at(const form *is, bytes *to, size_t at, uint64_t number)
{
  bytes other = {.count = at};
  put(is, &other, number, is->is_big ? 8 : 4);
  memcpy(to->at + at, other.at + at, is->is_big ? 8 : 4);
}

/* Runs of equal bytes, and bytes as they are, in turn; with a 128 that means nothing. */
static void put_row(const form *is, bytes *to, int y, int z)
{
  bytes row = {.count = 0};
  for (int x = 0; x < NX; x++) put(is, &row, bits_of(is, x, y, z), is->bits / 8);
  if (!is->packed) {
    memcpy(to->at + to->count, row.at, row.count);
    to->count += row.count;
    return;
  }
  to->at[to->count++] = 128;
  for (size_t i = 0; i < row.count;) {
    size_t run = 1;
    while (i + run < row.count && row.at[i + run] == row.at[i]) run++;
    to->at[to->count++] = (unsigned char)(run > 1 ? 257 - run : 0);
    to->at[to->count++] = row.at[i];
    i += run;
  }
}

static void put_entry(const form *is, bytes *to, int tag, int type, uint64_t count, uint64_t value)
{
  const int wide = is->is_big ? 8 : 4, width = count > 1 ? wide : type == 3 ? 2 : type == 4 ? 4 : 8;
  put(is, to, (uint64_t)tag, 2);
  put(is, to, (uint64_t)type, 2);
  put(is, to, count, wide);
  put(is, to, value, width);
  put(is, to, 0, wide - width);
}

/* @param[in] next  place of the number that has the place of this page; afterwards of the next page */
static void put_page(const form *is, bytes *to, int z, int height, size_t *next)
{
  const int rows = is->rows_per_strip ? is->rows_per_strip : height, strips = (height + rows - 1) / rows;
  const int number = is->is_big ? 16 : 4, wide = is->is_big ? 8 : 4, pages = is->is_of_imagej ? NZ : 1;
  size_t at[NY], count[NY];
  for (int strip = 0; strip < strips; strip++) {
    at[strip] = to->count;
    for (int k = 0; k < pages; k++)
      for (int y = strip * rows; y < (strip + 1) * rows && y < height; y++) put_row(is, to, y, z + k);
    count[strip] = (to->count - at[strip]) / (size_t)pages;
  }
  const size_t places = to->count;
  for (int strip = 0; strip < strips; strip++) put(is, to, at[strip], wide);
  for (int strip = 0; strip < strips; strip++) put(is, to, count[strip], wide);
  const size_t text = to->count;
  const size_t length =
      (size_t)sprintf((char *)to->at + to->count, "ImageJ=1.53t\nimages=%d\nslices=%d\n", NZ, NZ) + 1;
  to->count += length;
  put_at(is, to, *next, to->count);
  put(is, to, is->orientation ? 12 : 11, is->is_big ? 8 : 2);
  put_entry(is, to, 256, 4, 1, NX);
  put_entry(is, to, 257, 3, 1, (uint64_t)height);
  put_entry(is, to, 258, 3, 1, (uint64_t)is->bits);
  put_entry(is, to, 259, 3, 1, (uint64_t)(is->compression ? is->compression : is->packed ? 32773 : 1));
  put_entry(is, to, 262, 3, 1, (uint64_t)(is->photometric ? is->photometric - 1 : 1));
  put_entry(is, to, is->is_of_imagej ? 270 : 305, 2, length, text);
  put_entry(is, to, 273, number, (uint64_t)strips, strips == 1 ? at[0] : places);
  if (is->orientation) put_entry(is, to, 274, 3, 1, (uint64_t)is->orientation);
  put_entry(is, to, 277, 3, 1, (uint64_t)(is->samples ? is->samples : 1));
  put_entry(is, to, 278, 4, 1, (uint64_t)rows);
  put_entry(is, to, 279, number, (uint64_t)strips, strips == 1 ? count[0] : places + (size_t)(strips * wide));
  put_entry(is, to, 339, 3, 1, (uint64_t)is->format);
  *next = to->count;
  put(is, to, 0, wide);
}

static void make_tiff(const form *is, int first, int pages, int last_height, bytes *to)
{
  size_t next = is->is_big ? 8 : 4;
  to->count = 0;
  put(is, to, is->big_endian ? 0x4d4d : 0x4949, 2);
  put(is, to, is->is_big ? 43 : 42, 2);
  if (is->is_big) put(is, to, 8, 2), put(is, to, 0, 2);
  put(is, to, 0, is->is_big ? 8 : 4);
  for (int z = 0; z < pages; z++) put_page(is, to, first + z, z + 1 < pages ? NY : last_height, &next);
}

static void save(const char *path, const bytes *from)
{
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(from->at, 1, from->count, file), from->count);
  assert_int_equal(fclose(file), 0);
}

static void write_tiff(const char *path, const form *is, int first, int pages)
{
  static bytes made;
  make_tiff(is, first, pages, NY, &made);
  save(path, &made);
}

static void write_png(const char *path, const form *is, int z, int type, int interlace, int width)
{
  FILE *file = fopen(path, "wb");
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
  png_infop info = png_create_info_struct(png);
  png_byte row[NY][8 * NX + 8] = {{0}};
  png_bytep rows[NY];
  assert_non_null(file);
  if (setjmp(png_jmpbuf(png))) fail_msg("libpng cannot write this kind");
  png_init_io(png, file);
  png_set_IHDR(png, info, (png_uint_32)width, NY, is->bits, type, interlace, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  png_set_gAMA(png, info, 1); /* is not applied: numbers are those of the file */
  if (type == PNG_COLOR_TYPE_PALETTE) png_set_PLTE(png, info, &(png_color){1, 2, 3}, 1);
  png_write_info(png, info);
  for (int y = 0; y < NY; y++) {
    rows[y] = row[y];
    for (int x = 0; x < width && type == PNG_COLOR_TYPE_GRAY; x++) {
      const uint64_t bits = bits_of(is, x, y, z);
      if (is->bits == 16) row[y][2 * x] = (png_byte)(bits >> 8), row[y][2 * x + 1] = (png_byte)bits;
      else
        row[y][x * is->bits / 8] |=
            (png_byte)((bits & ((1U << is->bits) - 1)) << (8 - is->bits - x * is->bits % 8));
    }
  }
  png_write_image(png, rows);
  png_write_end(png, NULL);
  png_destroy_write_struct(&png, &info);
  fclose(file);
}

/* ------------------------------------------------------------------------------------------ reading */

typedef struct seen {
  double value[NZ][NY][NX];
  int count, mask;
} seen;

static void note(void *user, int64_t x, int64_t y, int64_t z, double value)
{
  seen *found = user;
  assert_in_range(x, 0, NX - 1);
  assert_in_range(y, 0, NY - 1);
  assert_in_range(z, 0, NZ - 1);
  found->value[z][y][x] = value;
  found->count++;
}

static void expect(const char *path, const form *is, int mask)
{
  int64_t size[3];
  seen found = {.count = 0};
  if (gab_stack_size(path, size) != GAB_OK) fail_msg("%s", gab_error_message());
  assert_int_equal(size[0], NX);
  assert_int_equal(size[1], NY);
  assert_int_equal(size[2], NZ);
  if (gab_stack_read(path, size, note, &found) != GAB_OK) fail_msg("%s", gab_error_message());
  assert_int_equal(found.count, PIXELS);
  for (int z = 0; z < NZ; z++)
    for (int y = 0; y < NY; y++)
      for (int x = 0; x < NX; x++) {
        const double expected = mask ? (int)expected_of(is, x, y, z) & mask : expected_of(is, x, y, z);
        if (found.value[z][y][x] != expected)
          fail_msg(
              "%s: %d bits, format %d, big %d %d, packed %d, strips of %d: pixel %d %d %d is %g instead of %g",
              path, is->bits, is->format, is->big_endian, is->is_big, is->packed, is->rows_per_strip, x, y, z,
              found.value[z][y][x], expected);
      }
  assert_int_equal(gab_memory_now(GAB_MEMORY_USE_COUNT), 0);
}

static void refuses(const char *path, const char *message)
{
  int64_t size[3];
  const gab_status status = gab_stack_size(path, size);
  if (status != GAB_ERR_INPUT || !strstr(gab_error_message(), message))
    fail_msg("%s: status %d, message \"%s\" lacks \"%s\"", path, status, gab_error_message(), message);
  assert_int_equal(gab_memory_now(GAB_MEMORY_USE_COUNT), 0);
}

/* ------------------------------------------------------------------------------------------ claims */

static void every_form_of_tiff_gives_its_numbers(void **state)
{
  (void)state;
  static const int kinds[][2] = {{8, 1}, {8, 2}, {16, 1}, {16, 2}, {32, 1}, {32, 2}, {32, 3}, {64, 3}};
  static const int strips[] = {0, 1, 3, NY};
  for (int k = 0; k < 8; k++)
    for (int way = 0; way < 8; way++)
      for (int s = 0; s < 4; s++) {
        const form is = {.big_endian = way & 1,
                         .is_big = way & 2,
                         .packed = way & 4,
                         .bits = kinds[k][0],
                         .format = kinds[k][1],
                         .rows_per_strip = strips[s]};
        write_tiff("stack.tif", &is, 0, NZ);
        expect("stack.tif", &is, 0);
      }
}

/* A picture as it is looked at: rows from the top, each from the left. */
typedef struct upright {
  double value[NX][NX];
} upright;

static void note_upright(void *user, int64_t x, int64_t y, int64_t z, double value)
{
  (void)z;
  ((upright *)user)->value[y][x] = value;
}

/* TIFF 6.0, page 36: where the 0th row and the 0th column are. */
static void pictures_stand_as_their_orientation_says(void **state)
{
  static const struct {
    bool row_is_vertical, row_from_end,
        column_from_end; /* row 0: left or right; right or bottom; column 0: right or bottom */
  } known[] = {{0},
               {false, false, false},
               {false, false, true},
               {false, true, true},
               {false, true, false},
               {true, false, false},
               {true, true, false},
               {true, true, true},
               {true, false, true}};
  (void)state;
  for (int which = 1; which <= 8; which++)
    for (int packed = 0; packed < 2; packed++) {
      const form is = {.bits = 16, .format = 1, .orientation = which, .packed = packed, .rows_per_strip = 3};
      const bool turned = known[which].row_is_vertical;
      int64_t size[3];
      upright found = {{{0}}};
      write_tiff("turned.tif", &is, 2, 1);
      assert_int_equal(gab_stack_size("turned.tif", size), GAB_OK);
      assert_int_equal(size[0], turned ? NY : NX);
      assert_int_equal(size[1], turned ? NX : NY);
      assert_int_equal(gab_stack_read("turned.tif", size, note_upright, &found), GAB_OK);
      for (int y = 0; y < NY; y++)
        for (int x = 0; x < NX; x++) {
          const int row = known[which].row_from_end ? NY - 1 - y : y,
                    column = known[which].column_from_end ? NX - 1 - x : x;
          const double value = turned ? found.value[column][row] : found.value[row][column];
          if (value != expected_of(&is, x, y, 2))
            fail_msg("orientation %d: row %d, column %d is %g", which, y, x, value);
        }
    }
  const form wrong = {.bits = 8, .format = 1, .orientation = 9};
  write_tiff("turned.tif", &wrong, 0, 1);
  refuses("turned.tif", "page 1 has the orientation 9: must be 1 to 8");
}

static void files_with_numbers_follow_each_other(void **state)
{
  (void)state;
  const form is = {.bits = 8, .format = 1};
  const form low = {.bits = 4, .format = 1}, high = {.bits = 16, .format = 1};
  char name[32];
  for (int z = 0; z < NZ; z++) {
    snprintf(name, sizeof name, "a..b_%d.tiff", 8 + z); /* 8 to 12 */
    write_tiff(name, &is, z, 1);
    snprintf(name, sizeof name, "down_%02d_s.TIF", 12 - z);
    write_tiff(name, &is, z, 1);
    snprintf(name, sizeof name, "p%03d.png", 98 + z);
    write_png(name, &is, z, PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE, NX);
    snprintf(name, sizeof name, "i%03d.png", 98 + z);
    write_png(name, &high, z, PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_ADAM7, NX);
    snprintf(name, sizeof name, "l%03d.png", 98 + z);
    write_png(name, &low, z, PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE, NX);
  }
  expect("a..b_8..12.tiff", &is, 0);
  expect("down_12..08_s.TIF", &is, 0);
  expect("p098..102.png", &is, 0);
  expect("./i098..102.png", &high, 0);
  expect("l098..102.png", &low, 15);
  write_tiff("m_1.tif", &is, 0, 3);
  write_tiff("m_2.tif", &is, 3, 2);
  expect("m_1..2.tif", &is, 0);

  gab_hash64_stream before, after;
  gab_hash64_begin(&before, 0);
  gab_hash64_begin(&after, 0);
  assert_int_equal(gab_stack_hash("p098..102.png", &before), GAB_OK);
  write_png("p101.png", &is, 4, PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE, NX);
  assert_int_equal(gab_stack_hash("p098..102.png", &after), GAB_OK);
  assert_true(gab_hash64_of(&before) != gab_hash64_of(&after));

  refuses("p097..102.png", "p097.png");
  assert_int_equal(unlink("p100.png"), 0);
  refuses("p098..102.png", "p100.png");
  write_png("p100.png", &is, 2, PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE, NX - 1);
  refuses("p098..102.png", "p100.png has 12 x 7 pixels, the first file 13 x 7");
  write_png("p100.png", &is, 2, PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE, NX);
  refuses("p098..102.png", "p100.png has colours");
  write_png("p100.png", &is, 2, PNG_COLOR_TYPE_PALETTE, PNG_INTERLACE_NONE, NX);
  refuses("p098..102.png", "p100.png has colours");
  write_png("p100.png", &is, 2, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_INTERLACE_NONE, NX);
  refuses("p098..102.png", "p100.png has transparency");
  write_tiff("p100.png", &is, 2, 1);
  refuses("p098..102.png", "p100.png cannot be read: not a PNG file");
  refuses("p0..999999999.png", "1000000000 files are more than 1048576");
  refuses("m_1..3.tif", "m_3.tif");
  write_tiff("m_2.tif", &high, 3, 2);
  refuses("m_1..2.tif", "m_2.tif has numbers of 16 bits (sample format 1), the first file of 8 (1)");
  write_png("l100.png", &is, 2, PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE,
            NX); /* of numbers in a byte, as with 4 bits */
  refuses("l098..102.png", "l100.png has numbers of 8 bits (sample format 1), the first file of 4 (1)");
  write_tiff("p100.tif", &(form){.bits = 8, .format = 1, .rows_per_strip = 2}, 0, 1);
  assert_int_equal(rename("p098.png", "p100.tif"), 0);
  refuses("p100.tif", "not a TIFF file");
}

static void a_stack_of_imagej_has_its_pictures_behind_one_directory(void **state)
{
  (void)state;
  const form is = {.bits = 16, .format = 1, .big_endian = true, .is_of_imagej = true};
  static bytes made;
  make_tiff(&is, 0, 1, NY, &made);
  save("imagej.tif", &made);
  expect("imagej.tif", &is, 0);
  char *images = memmem(made.at, made.count, "images=5", 8);
  assert_non_null(images);
  images[7] = '9';
  save("imagej.tif", &made);
  refuses("imagej.tif", "is cut off: ImageJ wrote 9 pictures of 182 bytes");
}

static void pages_that_do_not_fit_are_refused_by_number(void **state)
{
  (void)state;
  static bytes made, other;
  form is = {.bits = 8, .format = 1, .rows_per_strip = 2};
  make_tiff(&is, 0, 3, NY - 1, &made);
  save("bad.tif", &made);
  refuses("bad.tif", "page 3 has 13 x 6 pixels, the first one 13 x 7");
  static const struct {
    form is;
    const char *message;
  } bad[] = {
      {{.bits = 8, .format = 1, .photometric = 3}, "page 1 has colours (photometric interpretation 2"},
      {{.bits = 8, .format = 1, .photometric = 4}, "page 1 has colours (photometric interpretation 3"},
      {{.bits = 8, .format = 1, .samples = 3}, "3 numbers per pixel"},
      {{.bits = 8, .format = 1, .photometric = 1}, "page 1 has white as 0 (photometric interpretation 0)"},
      {{.bits = 8, .format = 1, .compression = 5}, "page 1 is compressed by LZW (5)"},
      {{.bits = 8, .format = 1, .compression = 8}, "page 1 is compressed by Deflate (8)"},
      {{.bits = 8, .format = 1, .compression = 9}, "page 1 is compressed by an unknown method (9)"},
      {{.bits = 8, .format = 3}, "page 1 has pixels of 8 bits (sample format 3)"},
      {{.bits = 64, .format = 1}, "page 1 has pixels of 64 bits (sample format 1)"}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    write_tiff("bad.tif", &bad[i].is, 0, 2);
    refuses("bad.tif", bad[i].message);
  }

  make_tiff(&is, 0, 3, NY, &made);
  other = made;
  put_at(&is, &other, other.count - 4, 8 + 1000000);
  save("bad.tif", &other);
  refuses("bad.tif", "is cut off or damaged: it refers to byte 10000");
  memcpy(other.at + other.count - 4, made.at + 4, 4); /* the last page is followed by the first one */
  save("bad.tif", &other);
  refuses("bad.tif", "is damaged");
  make_tiff(&is, 0, 1, NY, &made);
  memcpy(made.at + made.count - 4, made.at + 4, 4);
  save("bad.tif", &made);
  refuses("bad.tif", "its pages follow each other in a circle");
  made = (bytes){.count = 8};
  memcpy(made.at, "II*", 4);
  save("bad.tif", &made);
  refuses("bad.tif", "has no page");

  is.packed = true;
  make_tiff(&is, 0, 1, NY, &made);
  memset(made.at + 8, 128, 13); /* nothing instead of the first runs */
  int64_t size[3];
  seen found;
  save("bad.tif", &made);
  assert_int_equal(gab_stack_size("bad.tif", size), GAB_OK);
  assert_int_equal(gab_stack_read("bad.tif", size, note, &found), GAB_ERR_INPUT);
  assert_non_null(strstr(gab_error_message(), "a strip ends before row 2"));
}

static void a_file_that_is_cut_off_is_refused_at_every_length(void **state)
{
  (void)state;
  static bytes made;
  for (int way = 0; way < 4; way++) {
    const form is = {.bits = 8, .format = 1, .rows_per_strip = 3, .is_big = way & 1, .packed = way & 2};
    make_tiff(&is, 0, 2, NY, &made);
    for (const size_t all = made.count; made.count-- > 0;) {
      int64_t size[3];
      save("cut.tif", &made);
      if (gab_stack_size("cut.tif", size) != GAB_ERR_INPUT)
        fail_msg("%zu of %zu bytes are accepted", made.count, all);
      assert_non_null(strstr(gab_error_message(), "cut.tif"));
    }
  }
}

/* Numbers of the file do not decide how much memory is taken. */
static void huge_sizes_take_no_memory(void **state)
{
  (void)state;
  static bytes made;
  const form is = {.bits = 8, .format = 1, .packed = true};
  make_tiff(&is, 0, 1, NY, &made);
  unsigned char *width = memmem(made.at, made.count, "\0\1\4\0\1\0\0\0\15", 9), *height;
  assert_non_null(width);
  memcpy(width + 8, "\0\0\x10\0", 4); /* 2^20 */
  height = width + 12;
  memcpy(height + 2, "\4\0\1\0\0\0\0\0\x10\0", 10);
  save("huge.tif", &made);
  refuses("huge.tif", "page 1 is damaged: ");
  memcpy(height + 8, "\0\0\x20\0", 4);
  save("huge.tif", &made);
  refuses("huge.tif", "has 1048576 x 2097152 pixels: must be 1 to 1048576");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pictures_stand_as_their_orientation_says),
      cmocka_unit_test(every_form_of_tiff_gives_its_numbers),
      cmocka_unit_test(files_with_numbers_follow_each_other),
      cmocka_unit_test(a_stack_of_imagej_has_its_pictures_behind_one_directory),
      cmocka_unit_test(pages_that_do_not_fit_are_refused_by_number),
      cmocka_unit_test(a_file_that_is_cut_off_is_refused_at_every_length),
      cmocka_unit_test(huge_sizes_take_no_memory),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
