/* SPDX-License-Identifier: Apache-2.0 */
#include "blockforest/pictures/stack.h"

#include "blockforest/pictures/png_rows.h"
#include "core/system/file.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MOST_DIGITS = 9 };

/* ------------------------------------------------------------------------------------------ names */

/* The files of a path, one by one: "a_08..11.png" is a_08.png to a_11.png. */
typedef struct names {
  const char *path, *rest; /* what is behind the numbers */
  int before;              /* characters before them; all if there is one file */
  int digits;              /* at least, with zeros */
  int64_t first, last;
} names;

static bool ends_in(const char *path, const char *ending)
{
  const size_t length = strlen(path), count = strlen(ending);
  return length > count && strcasecmp(path + length - count, ending) == 0;
}

static bool is_png(const char *path) { return ends_in(path, ".png"); }

bool gab_stack_is_picture(const char *path)
{
  return is_png(path) || ends_in(path, ".tif") || ends_in(path, ".tiff");
}

static size_t digits_at(const char *text) { return strspn(text, "0123456789"); }

static names names_of(const char *path)
{
  names all = {.path = path, .rest = "", .before = (int)strlen(path)};
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dots = name;
  while ((dots = strstr(dots, "..")) != NULL) {
    const char *from = dots;
    while (from > name && isdigit((unsigned char)from[-1])) from--;
    const size_t first = (size_t)(dots - from), last = digits_at(dots + 2);
    if (first >= 1 && first <= MOST_DIGITS && last >= 1 && last <= MOST_DIGITS) {
      all.before = (int)(from - path);
      all.digits = (int)(first < last ? first : last);
      all.first = strtol(from, NULL, 10);
      all.last = strtol(dots + 2, NULL, 10);
      all.rest = dots + 2 + last;
      return all;
    }
    dots += 2;
  }
  return all;
}

static int64_t count_of(const names *all) { return llabs(all->last - all->first) + 1; }

/* @param[out] file  of PATH_MAX */
static gab_status name_of(const names *all, int64_t index, char *file)
{
  char number[24] = "";
  if (all->digits > 0)
    snprintf(number, sizeof number, "%0*lld", all->digits,
             (long long)(all->first < all->last ? all->first + index : all->first - index));
  const int length = snprintf(file, PATH_MAX, "%.*s%s%s", all->before, all->path, number, all->rest);
  if (length < 0 || length >= PATH_MAX) GAB_FAIL(GAB_ERR_INPUT, "the path %.60s... is too long", all->path);
  return GAB_OK;
}

gab_status gab_stack_hash(const char *path, gab_hash64_stream *hash)
{
  const names all = names_of(path);
  for (int64_t i = 0; i < count_of(&all); i++) {
    char file[PATH_MAX];
    GAB_TRY(name_of(&all, i, file));
    GAB_TRY(gab_file_hash(file, hash));
  }
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------------ one file */

typedef struct png_page {
  int64_t size[2], z; /* size: 0 until it is known */
  int bytes, bits;    /* of a pixel; of its number */
  gab_page_pixel_fn *pixel;
  void *user;
} png_page;

static gab_status begin_page(void *user, const gab_png_picture *picture)
{
  png_page *page = user;
  const bool is_known = page->size[0] > 0;
  if (is_known && (picture->width != page->size[0] || picture->height != page->size[1]))
    GAB_FAIL(GAB_ERR_INPUT, "picture %s has changed its size to %lld x %lld", picture->path,
             (long long)picture->width, (long long)picture->height);
  page->size[0] = picture->width;
  page->size[1] = picture->height;
  page->bytes = picture->bytes;
  page->bits = picture->bits;
  return GAB_OK;
}

static void put_pixel(void *user, int64_t column, int64_t row, const unsigned char *bytes)
{
  const png_page *page = user;
  page->pixel(page->user, column, row, page->z, page->bytes == 2 ? bytes[0] << 8 | bytes[1] : bytes[0]);
}

static gab_status png_size(const char *path, int64_t size[3], gab_page_numbers *numbers)
{
  png_page page = {.bytes = 0};
  GAB_TRY(
      gab_png_read(path, &(gab_png_reader){.form = GAB_PNG_AS_STORED, .begin = begin_page, .user = &page}));
  for (int axis = 0; axis < 2; axis++) size[axis] = page.size[axis];
  size[2] = 1;
  *numbers = (gab_page_numbers){page.bits, 1};
  return GAB_OK;
}

static gab_status file_size(const char *path, int64_t size[3], gab_page_numbers *numbers)
{
  FILE *file;
  if (is_png(path)) return png_size(path, size, numbers);
  GAB_TRY(gab_file_open(path, &file));
  const gab_status status = gab_tiff_size(file, path, size, numbers);
  fclose(file);
  return status;
}

static gab_status read_file(const char *path, const int64_t size[3], int64_t z, gab_page_pixel_fn *pixel,
                            void *user)
{
  FILE *file;
  png_page page = {.size = {size[0], size[1]}, .z = z, .pixel = pixel, .user = user};
  if (is_png(path))
    return gab_png_read(
        path,
        &(gab_png_reader){.form = GAB_PNG_AS_STORED, .begin = begin_page, .pixel = put_pixel, .user = &page});
  GAB_TRY(gab_file_open(path, &file));
  const gab_status status = gab_tiff_read(file, path, size, z, pixel, user);
  fclose(file);
  return status;
}

/* ------------------------------------------------------------------------------------------ all files */

gab_status gab_stack_size(const char *path, int64_t size[3])
{
  const names all = names_of(path);
  char file[PATH_MAX];
  gab_page_numbers first = {0, 0}, numbers;
  if (count_of(&all) > GAB_MOST_PAGES)
    GAB_FAIL(GAB_ERR_INPUT, "%s: %lld files are more than %d", path, (long long)count_of(&all),
             GAB_MOST_PAGES);
  for (int64_t i = 0, pages = 0; i < count_of(&all); i++) {
    int64_t found[3];
    GAB_TRY(name_of(&all, i, file));
    GAB_TRY(file_size(file, found, &numbers));
    if (i == 0) first = numbers;
    if (numbers.bits != first.bits || numbers.format != first.format)
      GAB_FAIL(GAB_ERR_INPUT, "%s has numbers of %d bits (sample format %d), the first file of %d (%d)", file,
               numbers.bits, numbers.format, first.bits, first.format);
    if (i > 0 && (found[0] != size[0] || found[1] != size[1]))
      GAB_FAIL(GAB_ERR_INPUT, "%s has %lld x %lld pixels, the first file %lld x %lld", file,
               (long long)found[0], (long long)found[1], (long long)size[0], (long long)size[1]);
    pages += found[2];
    for (int axis = 0; axis < 3; axis++) size[axis] = axis < 2 ? found[axis] : pages;
    for (int axis = 0; axis < 3; axis++)
      if (size[axis] > GAB_MOST_PAGES)
        GAB_FAIL(GAB_ERR_INPUT, "%s: %lld x %lld pixels on %lld pages: must be at most %d along an axis",
                 file, (long long)size[0], (long long)size[1], (long long)size[2], GAB_MOST_PAGES);
  }
  return GAB_OK;
}

gab_status gab_stack_read(const char *path, const int64_t size[3], gab_page_pixel_fn *pixel, void *user)
{
  const names all = names_of(path);
  char file[PATH_MAX];
  gab_page_numbers numbers;
  int64_t z = 0;
  for (int64_t i = 0; i < count_of(&all); i++) {
    int64_t found[3];
    GAB_TRY(name_of(&all, i, file));
    GAB_TRY(file_size(file, found, &numbers));
    if (found[0] != size[0] || found[1] != size[1] || found[2] > size[2] - z)
      GAB_FAIL(GAB_ERR_INPUT, "%s has changed while it was read", file);
    GAB_TRY(read_file(file, found, z, pixel, user));
    z += found[2];
  }
  return z == size[2]
             ? GAB_OK
             : gab_error_set(GAB_ERR_INPUT, __FILE__, __LINE__, "%s has changed while it was read", path);
}
