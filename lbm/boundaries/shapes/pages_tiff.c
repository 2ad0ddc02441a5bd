/* SPDX-License-Identifier: Apache-2.0 */
/* Pages of a TIFF file by libtiff: by rows or by tiles, any compression that it knows, one grayscale sample per pixel. */
#include "lbm/boundaries/shapes/pages_impl.h"

#include "core/memory/memory.h"
#include "core/system/file.h"

#include <string.h>

static bool begins(const unsigned char head[8])
{
  return memcmp(head, "II*\0", 4) == 0 || memcmp(head, "MM\0*", 4) == 0 || memcmp(head, "II+\0", 4) == 0 ||
         memcmp(head, "MM\0+", 4) == 0;
}

#ifdef GAB_HAVE_TIFF
#include <tiffio.h>

/* Messages of libtiff come by a function of the whole program. */
static _Thread_local char message[256];

static void on_error(const char *module, const char *format, va_list arguments)
{
  (void)module;
  vsnprintf(message, sizeof message, format, arguments);
}

static gab_status open_file(const char *path, TIFF **tiff)
{
  GAB_TRY(gab_file_check(path));
  TIFFSetWarningHandler(NULL);
  TIFFSetErrorHandler(on_error);
  message[0] = '\0';
  *tiff = TIFFOpen(path, "rm"); /* m: without a map of the file, which may be truncated meanwhile */
  if (!*tiff) GAB_FAIL(GAB_ERR_INPUT, "%s is damaged: %s", path, message);
  return GAB_OK;
}

typedef struct page {
  uint32_t width, height;
  uint16_t bits, kind, samples;
} page;

static gab_status look_at_page(TIFF *tiff, const char *path, long long number, page *it)
{
  *it = (page){0};
  TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &it->width);
  TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &it->height);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_BITSPERSAMPLE, &it->bits);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLESPERPIXEL, &it->samples);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLEFORMAT, &it->kind);
  if (it->width == 0 || it->height == 0) GAB_FAIL(GAB_ERR_INPUT, "%s: page %lld has no pixels", path, number);
  if (it->samples != 1)
    GAB_FAIL(GAB_ERR_INPUT, "%s: page %lld has %d numbers per pixel; only grayscale pages are read", path,
             number, it->samples);
  const bool is_float = it->kind == SAMPLEFORMAT_IEEEFP;
  const bool is_whole = it->kind == SAMPLEFORMAT_UINT || it->kind == SAMPLEFORMAT_INT;
  if ((is_float && it->bits != 32 && it->bits != 64) || (!is_float && !is_whole) ||
      (is_whole && it->bits != 1 && it->bits != 8 && it->bits != 16 && it->bits != 32))
    GAB_FAIL(GAB_ERR_INPUT,
             "%s: page %lld has numbers of %d bits; 1, 8, 16, 32 bits and floating point are read", path,
             number, it->bits);
  return GAB_OK;
}

static gab_status tiff_size(const char *path, int64_t size[3])
{
  TIFF *tiff;
  page first, it;
  long long count = 0;
  GAB_TRY(open_file(path, &tiff));
  gab_status status = look_at_page(tiff, path, 0, &first);
  do {
    if (status == GAB_OK && count > 0) status = look_at_page(tiff, path, count, &it);
    if (status == GAB_OK && count > 0 && (it.width != first.width || it.height != first.height))
      status = gab_error_set(GAB_ERR_INPUT, __FILE__, __LINE__,
                             "%s: page %lld has %u x %u pixels, the first %u x %u", path, count, it.width,
                             it.height, first.width, first.height);
    count++;
  } while (status == GAB_OK && TIFFReadDirectory(tiff));
  if (status == GAB_OK && message[0])
    status = gab_error_set(GAB_ERR_INPUT, __FILE__, __LINE__, "%s is damaged behind page %lld: %s", path,
                           count - 1, message);
  TIFFClose(tiff);
  size[0] = first.width;
  size[1] = first.height;
  size[2] = count;
  return status;
}

/* libtiff gives numbers in the order of bytes of this machine. */
static double number_at(const page *it, const unsigned char *row, size_t x)
{
  switch (it->bits) {
  case 1:
    return row[x / 8] >> (7 - x % 8) & 1;
  case 8:
    return it->kind == SAMPLEFORMAT_INT ? (double)(int8_t)row[x] : (double)row[x];
  case 16: {
    uint16_t value;
    memcpy(&value, row + 2 * x, sizeof value);
    return it->kind == SAMPLEFORMAT_INT ? (double)(int16_t)value : (double)value;
  }
  case 32: {
    uint32_t value;
    float real;
    memcpy(&value, row + 4 * x, sizeof value);
    memcpy(&real, &value, sizeof real);
    return it->kind == SAMPLEFORMAT_IEEEFP ? (double)real
           : it->kind == SAMPLEFORMAT_INT  ? (double)(int32_t)value
                                           : (double)value;
  }
  default: {
    double value;
    memcpy(&value, row + 8 * x, sizeof value);
    return value;
  }
  }
}

static bool read_lines(TIFF *tiff, const page *it, unsigned char *all, size_t stride)
{
  for (uint32_t y = 0; y < it->height; y++)
    if (TIFFReadScanline(tiff, all + y * stride, y, 0) != 1) return false;
  return true;
}

static bool read_tiles(TIFF *tiff, const page *it, unsigned char *all, size_t stride)
{
  uint32_t wide = 0, high = 0;
  void *memory = NULL;
  TIFFGetField(tiff, TIFFTAG_TILEWIDTH, &wide);
  TIFFGetField(tiff, TIFFTAG_TILELENGTH, &high);
  const size_t row = (size_t)TIFFTileRowSize(tiff);
  bool is_fine =
      wide > 0 && high > 0 && gab_alloc((size_t)TIFFTileSize(tiff), GAB_MEMORY_OTHER, &memory) == GAB_OK;
  unsigned char *tile = memory;
  for (uint32_t y = 0; y < it->height && is_fine; y += high)
    for (uint32_t x = 0; x < it->width && is_fine; x += wide) {
      is_fine = TIFFReadTile(tiff, tile, x, y, 0, 0) > 0;
      const size_t at = (size_t)x * it->bits / 8, bytes = row < stride - at ? row : stride - at;
      for (uint32_t j = 0; j < high && y + j < it->height && is_fine; j++)
        memcpy(all + (y + j) * stride + at, tile + j * row, bytes);
    }
  gab_free(&memory);
  return is_fine;
}

static gab_status read_page(TIFF *tiff, const char *path, const page *it, unsigned char *all, size_t stride,
                            double *values, int64_t z, gab_pages_row_fn *row, void *user)
{
  message[0] = '\0';
  const bool is_fine =
      TIFFIsTiled(tiff) ? read_tiles(tiff, it, all, stride) : read_lines(tiff, it, all, stride);
  if (!is_fine) GAB_FAIL(GAB_ERR_INPUT, "%s: layer %lld cannot be read: %s", path, (long long)z, message);
  for (uint32_t y = 0; y < it->height; y++) {
    for (uint32_t x = 0; x < it->width; x++) values[x] = number_at(it, all + y * stride, x);
    row(user, (int64_t)it->height - 1 - y, z, values);
  }
  return GAB_OK;
}

static gab_status tiff_read(const char *path, const int64_t size[3], int64_t first, gab_pages_row_fn *row,
                            void *user)
{
  TIFF *tiff;
  double *values = NULL;
  GAB_TRY(open_file(path, &tiff));
  gab_status status = GAB_NEW_ARRAY(&values, (size_t)size[0], GAB_MEMORY_OTHER);
  for (int64_t z = 0; z < size[2] && status == GAB_OK; z++) {
    page it;
    void *all = NULL;
    if (z > 0 && !TIFFReadDirectory(tiff)) {
      status = gab_error_set(GAB_ERR_INPUT, __FILE__, __LINE__, "%s: %lld pages only", path, (long long)z);
      break;
    }
    status = look_at_page(tiff, path, (long long)z, &it);
    if (status == GAB_OK && (it.width != size[0] || it.height != size[1]))
      status = gab_error_set(GAB_ERR_INPUT, __FILE__, __LINE__, "%s has changed while it was read", path);
    const size_t stride = (size_t)TIFFScanlineSize(tiff);
    if (status == GAB_OK) status = gab_alloc(stride * it.height, GAB_MEMORY_OTHER, &all);
    if (status == GAB_OK) status = read_page(tiff, path, &it, all, stride, values, first + z, row, user);
    gab_free(&all);
  }
  gab_free(&values);
  TIFFClose(tiff);
  return status;
}
#else
static gab_status tiff_size(const char *path, int64_t size[3])
{
  (void)size;
  GAB_FAIL(GAB_ERR_INPUT, "%s: Gabion was built without libtiff", path);
}

static gab_status tiff_read(const char *path, const int64_t size[3], int64_t first, gab_pages_row_fn *row,
                            void *user)
{
  (void)first;
  (void)row;
  (void)user;
  return tiff_size(path, (int64_t *)size);
}
#endif

const gab_page_format gab_page_tiff = {.begins = begins, .size = tiff_size, .read = tiff_read};
