/* SPDX-License-Identifier: Apache-2.0 */
/* No number of the file is believed: every place is compared with the length of the file before it is read. */
#include "blockforest/pictures/tiff_pages.h"

#include "core/memory/memory.h"

#include <stdlib.h>
#include <string.h>

enum {
  TAG_WIDTH = 256,
  TAG_HEIGHT = 257,
  TAG_BITS = 258,
  TAG_COMPRESSION = 259,
  TAG_PHOTOMETRIC = 262,
  TAG_DESCRIPTION = 270,
  TAG_STRIPS = 273,
  TAG_ORIENTATION = 274,
  TAG_SAMPLES = 277,
  TAG_ROWS_PER_STRIP = 278,
  TAG_STRIP_BYTES = 279,
  TAG_TILE_WIDTH = 322,
  TAG_FORMAT = 339
};
enum { FORMAT_UNSIGNED = 1, FORMAT_SIGNED, FORMAT_FLOAT };
/* Where the first row and the first column of the file lie; from SIDEWAYS on rows of the file are columns of the picture. */
enum { TOP_LEFT = 1, SIDEWAYS = 5, LAST_ORIENTATION = 8 };
enum { UNCOMPRESSED = 1, PACK_BITS = 32773, WHITE_IS_ZERO = 0, BLACK_IS_ZERO = 1 };
enum { MOST_EXPANSION = 64 }; /* PackBits makes 128 bytes of 2 */

typedef struct tiff {
  FILE *file;
  const char *path;
  uint64_t length, position;
  bool big_endian, is_big; /* is_big: BigTIFF */
} tiff;

/* Numbers of a directory. */
typedef struct numbers {
  uint64_t count, at;
  int bytes; /* of each; 0: they are not whole numbers */
} numbers;

typedef struct page {
  int64_t number; /* from 1 */
  uint64_t width, height, bits, compression, photometric, samples, rows_per_strip, format, orientation;
  uint64_t images; /* of a stack of ImageJ; 0: unknown */
  bool has_tiles;
  numbers strips, strip_bytes;
  uint64_t row_bytes, strip_count;
  uint64_t next; /* directory; 0: this was the last one */
} page;

#define FAIL_PAGE(t, p, format, ...)                                                                         \
  GAB_FAIL(GAB_ERR_INPUT, "%s: page %lld " format, (t)->path, (long long)(p)->number, __VA_ARGS__)

/* ------------------------------------------------------------------------------------------ bytes */

static gab_status read_bytes(tiff *t, uint64_t at, size_t count, void *bytes)
{
  if (at > t->length || count > t->length - at)
    GAB_FAIL(GAB_ERR_INPUT, "%s is cut off or damaged: it refers to byte %llu, and has %llu", t->path,
             (unsigned long long)at + count, (unsigned long long)t->length);
  if (at != t->position && fseeko(t->file, (off_t)at, SEEK_SET) != 0)
    GAB_FAIL(GAB_ERR_INPUT, "%s cannot be read", t->path);
  t->position = UINT64_MAX;
  if (fread(bytes, 1, count, t->file) != count) GAB_FAIL(GAB_ERR_INPUT, "%s cannot be read", t->path);
  t->position = at + count;
  return GAB_OK;
}

static uint64_t number_of(const tiff *t, const unsigned char *bytes, int count)
{
  uint64_t number = 0;
  for (int i = 0; i < count; i++) number = number << 8 | bytes[t->big_endian ? i : count - 1 - i];
  return number;
}

static gab_status read_number(tiff *t, uint64_t at, int bytes, uint64_t *number)
{
  unsigned char raw[8];
  GAB_TRY(read_bytes(t, at, (size_t)bytes, raw));
  *number = number_of(t, raw, bytes);
  return GAB_OK;
}

static gab_status begin_file(FILE *file, const char *path, tiff *t, uint64_t *first)
{
  unsigned char head[4];
  *t = (tiff){.file = file, .path = path, .position = UINT64_MAX};
  const off_t length = fseeko(file, 0, SEEK_END) == 0 ? ftello(file) : -1;
  if (length < 0) GAB_FAIL(GAB_ERR_INPUT, "%s cannot be read", path);
  t->length = (uint64_t)length;
  if (t->length < 8)
    GAB_FAIL(GAB_ERR_INPUT, "%s is not a TIFF file: it has %lld bytes", path, (long long)length);
  GAB_TRY(read_bytes(t, 0, sizeof head, head));
  t->big_endian = head[0] == 'M';
  const uint64_t version = number_of(t, head + 2, 2);
  const bool is_tiff = head[0] == head[1] && (head[0] == 'I' || head[0] == 'M');
  if (!is_tiff || (version != 42 && version != 43)) GAB_FAIL(GAB_ERR_INPUT, "%s is not a TIFF file", path);
  t->is_big = version == 43;
  return t->is_big ? read_number(t, 8, 8, first) : read_number(t, 4, 4, first);
}

/* ------------------------------------------------------------------------------------------ directories */

/* Bytes of the types of numbers of a directory, by their code: BYTE, SHORT, LONG, IFD, LONG8, IFD8. */
static int bytes_of_type(uint64_t type)
{
  static const int bytes[] = {[1] = 1, [3] = 2, [4] = 4, [13] = 4, [16] = 8, [18] = 8};
  return type < sizeof bytes / sizeof *bytes ? bytes[type] : 0;
}

/* ImageJ writes stacks beyond 4 GB with the directory of the first picture only, and their number into its description. */
static gab_status read_description(tiff *t, const numbers *text, page *p)
{
  char words[256] = "";
  const size_t count = text->count < sizeof words - 1 ? (size_t)text->count : sizeof words - 1;
  GAB_TRY(read_bytes(t, text->at, count, words));
  const char *images = strstr(words, "\nimages=");
  if (strncmp(words, "ImageJ=", 7) == 0 && images) p->images = strtoull(images + 8, NULL, 10);
  return GAB_OK;
}

/* One entry: its tag, its type, how many values, and they or where they are. */
static gab_status read_entry(tiff *t, uint64_t at, page *p)
{
  const int wide = t->is_big ? 8 : 4;
  unsigned char raw[20];
  GAB_TRY(read_bytes(t, at, 4 + 2 * (size_t)wide, raw));
  const uint64_t tag = number_of(t, raw, 2), type = number_of(t, raw + 2, 2);
  const bool is_text = tag == TAG_DESCRIPTION;
  numbers found = {.count = number_of(t, raw + 4, wide), .bytes = bytes_of_type(type)};
  const uint64_t each = is_text ? 1 : (uint64_t)found.bytes;
  const bool is_here = each == 0 || found.count <= (uint64_t)wide / each;
  found.at = is_here ? at + 4 + (uint64_t)wide : number_of(t, raw + 4 + wide, wide);
  if (is_text) return read_description(t, &found, p);
  if (tag == TAG_TILE_WIDTH) p->has_tiles = true;
  if (tag == TAG_STRIPS) p->strips = found;
  if (tag == TAG_STRIP_BYTES) p->strip_bytes = found;
  const struct {
    uint64_t tag, *into;
  } plain[] = {{TAG_WIDTH, &p->width},
               {TAG_HEIGHT, &p->height},
               {TAG_BITS, &p->bits},
               {TAG_COMPRESSION, &p->compression},
               {TAG_PHOTOMETRIC, &p->photometric},
               {TAG_SAMPLES, &p->samples},
               {TAG_ROWS_PER_STRIP, &p->rows_per_strip},
               {TAG_FORMAT, &p->format},
               {TAG_ORIENTATION, &p->orientation}};
  for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
    if (plain[i].tag == tag && found.bytes > 0 && found.count > 0)
      GAB_TRY(read_number(t, found.at, found.bytes, plain[i].into));
  return GAB_OK;
}

static gab_status read_directory(tiff *t, uint64_t at, int64_t number, page *p)
{
  const uint64_t entry_bytes = t->is_big ? 20 : 12, head = t->is_big ? 8 : 2;
  uint64_t count;
  *p = (page){.number = number,
              .bits = 1,
              .compression = UNCOMPRESSED,
              .photometric = BLACK_IS_ZERO,
              .samples = 1,
              .rows_per_strip = UINT32_MAX,
              .format = FORMAT_UNSIGNED,
              .orientation = TOP_LEFT};
  GAB_TRY(read_number(t, at, (int)head, &count));
  if (count == 0 || count > t->length / entry_bytes)
    FAIL_PAGE(t, p, "is damaged: its directory has %llu entries", (unsigned long long)count);
  for (uint64_t i = 0; i < count; i++) GAB_TRY(read_entry(t, at + head + i * entry_bytes, p));
  return read_number(t, at + head + count * entry_bytes, t->is_big ? 8 : 4, &p->next);
}

static const char *name_of_compression(uint64_t compression)
{
  static const struct {
    uint64_t code;
    const char *name;
  } known[] = {{2, "CCITT"}, {3, "CCITT"},   {4, "CCITT"},       {5, "LZW"},     {6, "JPEG"},
               {7, "JPEG"},  {8, "Deflate"}, {32946, "Deflate"}, {50000, "Zstd"}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (known[i].code == compression) return known[i].name;
  return "an unknown method";
}

/* What the numbers of a page say of themselves. */
static gab_status check_kind(const tiff *t, const page *p)
{
  const bool is_whole = p->format == FORMAT_UNSIGNED || p->format == FORMAT_SIGNED;
  if (p->samples != 1 || p->photometric > BLACK_IS_ZERO)
    FAIL_PAGE(t, p,
              "has colours (photometric interpretation %llu, %llu numbers per pixel); save it as greyscale",
              (unsigned long long)p->photometric, (unsigned long long)p->samples);
  if (p->photometric == WHITE_IS_ZERO)
    FAIL_PAGE(t, p, "has white as %d (photometric interpretation 0); save it with black as 0", 0);
  if (p->compression != UNCOMPRESSED && p->compression != PACK_BITS)
    FAIL_PAGE(t, p, "is compressed by %s (%llu); save it uncompressed or with PackBits, or as PNG files",
              name_of_compression(p->compression), (unsigned long long)p->compression);
  if (p->orientation < TOP_LEFT || p->orientation > LAST_ORIENTATION)
    FAIL_PAGE(t, p, "has the orientation %llu: must be 1 to %d; save it again",
              (unsigned long long)p->orientation, LAST_ORIENTATION);
  if (p->has_tiles) FAIL_PAGE(t, p, "has tiles%s; save it in strips", "");
  if (!(is_whole && (p->bits == 8 || p->bits == 16 || p->bits == 32)) &&
      !(p->format == FORMAT_FLOAT && (p->bits == 32 || p->bits == 64)))
    FAIL_PAGE(t, p, "has pixels of %llu bits (sample format %llu); save it with integers of 8, 16 or 32 bits",
              (unsigned long long)p->bits, (unsigned long long)p->format);
  return GAB_OK;
}

static uint64_t rows_of_strip(const page *p, uint64_t strip)
{
  const uint64_t first = strip * p->rows_per_strip;
  return p->rows_per_strip < p->height - first ? p->rows_per_strip : p->height - first;
}

static gab_status find_strip(tiff *t, const page *p, uint64_t strip, uint64_t *at, uint64_t *bytes)
{
  GAB_TRY(read_number(t, p->strips.at + strip * (uint64_t)p->strips.bytes, p->strips.bytes, at));
  return read_number(t, p->strip_bytes.at + strip * (uint64_t)p->strip_bytes.bytes, p->strip_bytes.bytes,
                     bytes);
}

/* Places and lengths of the strips. @param[in,out] sum  of their bytes */
static gab_status check_strips(tiff *t, const page *p, uint64_t *sum)
{
  for (uint64_t strip = 0; strip < p->strip_count; strip++) {
    uint64_t at, bytes;
    const uint64_t needed = rows_of_strip(p, strip) * p->row_bytes;
    GAB_TRY(find_strip(t, p, strip, &at, &bytes));
    if (at > t->length || bytes > t->length - at)
      FAIL_PAGE(t, p, "is cut off: its strip %llu would end at byte %.0f, the file has %llu",
                (unsigned long long)strip + 1, (double)at + (double)bytes, (unsigned long long)t->length);
    if (p->compression == PACK_BITS ? bytes < (needed - 1) / MOST_EXPANSION + 1 : bytes < needed)
      FAIL_PAGE(t, p, "is damaged: its strip %llu has %llu bytes for %llu rows of %llu",
                (unsigned long long)strip + 1, (unsigned long long)bytes,
                (unsigned long long)rows_of_strip(p, strip), (unsigned long long)p->row_bytes);
    *sum += bytes;
    if (*sum > t->length)
      FAIL_PAGE(t, p, "is damaged: the strips up to it have more bytes than the file%s", "");
  }
  return GAB_OK;
}

/* Only numbers that the file has are believed: a small file cannot ask for much memory or time. */
static gab_status check_page(tiff *t, page *p, uint64_t *sum)
{
  if (p->width < 1 || p->height < 1 || p->width > GAB_MOST_PAGES || p->height > GAB_MOST_PAGES)
    FAIL_PAGE(t, p, "has %llu x %llu pixels: must be 1 to %d along a side", (unsigned long long)p->width,
              (unsigned long long)p->height, GAB_MOST_PAGES);
  GAB_TRY(check_kind(t, p));
  if (p->rows_per_strip == 0) FAIL_PAGE(t, p, "is damaged: it has strips of %d rows", 0);
  if (p->rows_per_strip > p->height) p->rows_per_strip = p->height;
  p->row_bytes = p->width * (p->bits / 8);
  p->strip_count = (p->height - 1) / p->rows_per_strip + 1;
  if (p->strips.bytes == 0 || p->strip_bytes.bytes == 0 || p->strips.count != p->strip_count ||
      p->strip_bytes.count != p->strip_count)
    FAIL_PAGE(t, p, "is damaged: %llu strips with %llu lengths, %llu are expected",
              (unsigned long long)p->strips.count, (unsigned long long)p->strip_bytes.count,
              (unsigned long long)p->strip_count);
  return check_strips(t, p, sum);
}

/* Along an axis of the picture, as its orientation turns it. */
static uint64_t pixels_along(const page *p, int axis)
{
  return (p->orientation >= SIDEWAYS) == (axis == 0) ? p->height : p->width;
}

static gab_status check_alike(const tiff *t, const page *p, const page *first)
{
  if (pixels_along(p, 0) != pixels_along(first, 0) || pixels_along(p, 1) != pixels_along(first, 1))
    FAIL_PAGE(t, p, "has %llu x %llu pixels, the first one %llu x %llu",
              (unsigned long long)pixels_along(p, 0), (unsigned long long)pixels_along(p, 1),
              (unsigned long long)pixels_along(first, 0), (unsigned long long)pixels_along(first, 1));
  if (p->bits != first->bits || p->format != first->format)
    FAIL_PAGE(t, p, "has numbers of %llu bits (sample format %llu), the first one of %llu (%llu)",
              (unsigned long long)p->bits, (unsigned long long)p->format, (unsigned long long)first->bits,
              (unsigned long long)first->format);
  return GAB_OK;
}

/* A single directory of ImageJ with more pictures behind its own. @param[in,out] pages  directories, then pictures */
static gab_status count_images_behind(tiff *t, const page *p, int64_t *pages)
{
  uint64_t at, bytes;
  const uint64_t each = p->height * p->row_bytes;
  if (*pages > 1 || p->images <= 1 || p->compression != UNCOMPRESSED || p->strip_count > 1) return GAB_OK;
  GAB_TRY(find_strip(t, p, 0, &at, &bytes));
  if (p->images > GAB_MOST_PAGES || p->images > (t->length - at) / each)
    GAB_FAIL(GAB_ERR_INPUT, "%s is cut off: ImageJ wrote %llu pictures of %llu bytes, the file holds %llu",
             t->path, (unsigned long long)p->images, (unsigned long long)each,
             (unsigned long long)((t->length - at) / each));
  *pages = (int64_t)p->images;
  return GAB_OK;
}

gab_status gab_tiff_size(FILE *file, const char *path, int64_t size[3], gab_page_numbers *numbers)
{
  tiff t;
  page first = {0}, p;
  uint64_t at = 0, mark = 0, sum = 0;
  int64_t pages = 0;
  GAB_TRY(begin_file(file, path, &t, &at));
  if (at == 0) GAB_FAIL(GAB_ERR_INPUT, "%s has no page", path);
  for (; at != 0; at = p.next) {
    if (at == mark) GAB_FAIL(GAB_ERR_INPUT, "%s is damaged: its pages follow each other in a circle", path);
    if ((pages & (pages - 1)) == 0) mark = at; /* Brent: a circle comes back to one of the marks */
    if (++pages > GAB_MOST_PAGES) GAB_FAIL(GAB_ERR_INPUT, "%s has more than %d pages", path, GAB_MOST_PAGES);
    GAB_TRY(read_directory(&t, at, pages, &p));
    GAB_TRY(check_page(&t, &p, &sum));
    if (pages == 1) first = p;
    GAB_TRY(check_alike(&t, &p, &first));
  }
  GAB_TRY(count_images_behind(&t, &first, &pages));
  size[0] = (int64_t)pixels_along(&first, 0);
  size[1] = (int64_t)pixels_along(&first, 1);
  size[2] = pages;
  *numbers = (gab_page_numbers){(int)first.bits, (int)first.format};
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------------ pixels */

typedef struct pixels {
  gab_page_pixel_fn *pixel;
  void *user;
  unsigned char *row;
} pixels;

static double value_of(const tiff *t, const page *p, const unsigned char *bytes)
{
  const uint64_t number = number_of(t, bytes, (int)p->bits / 8);
  const uint32_t low = (uint32_t)number;
  float real;
  double wide;
  if (p->format == FORMAT_UNSIGNED) return (double)number;
  if (p->format == FORMAT_SIGNED)
    return p->bits == 8 ? (int8_t)low : p->bits == 16 ? (int16_t)low : (double)(int32_t)low;
  memcpy(&real, &low, sizeof real);
  memcpy(&wide, &number, sizeof wide);
  return p->bits == 32 ? real : wide;
}

static void put_row(const tiff *t, const page *p, const pixels *to, uint64_t y, int64_t z)
{
  /* by orientation, as the columns and the rows of the file run */
  static const bool columns_turn[] = {[2] = true, [3] = true, [7] = true, [8] = true},
                    rows_turn[] = {
                        [3] = true, [4] = true, [6] = true, [7] = true, [LAST_ORIENTATION] = false};
  const size_t bytes = p->bits / 8;
  const int64_t row = (int64_t)(rows_turn[p->orientation] ? p->height - 1 - y : y);
  for (uint64_t x = 0; x < p->width; x++) {
    const int64_t column = (int64_t)(columns_turn[p->orientation] ? p->width - 1 - x : x);
    const bool is_sideways = p->orientation >= SIDEWAYS;
    to->pixel(to->user, is_sideways ? row : column, is_sideways ? column : row, z,
              value_of(t, p, to->row + x * bytes));
  }
}

static gab_status put_plain(tiff *t, const page *p, const pixels *to, uint64_t at, uint64_t first,
                            uint64_t rows, int64_t z)
{
  for (uint64_t y = 0; y < rows; y++) {
    GAB_TRY(read_bytes(t, at + y * p->row_bytes, p->row_bytes, to->row));
    put_row(t, p, to, first + y, z);
  }
  return GAB_OK;
}

/* A byte n below 128 is followed by n + 1 bytes as they are, one above 128 by a byte that stands for 257 - n. */
static gab_status put_packed(const tiff *t, const page *p, const pixels *to, const unsigned char *packed,
                             uint64_t count, uint64_t first, uint64_t rows, int64_t z)
{
  uint64_t done = 0, in_row = 0;
  const uint64_t all = rows * p->row_bytes;
  for (uint64_t i = 0; done < all && i < count;) {
    const unsigned char n = packed[i++];
    const uint64_t run = n < 128 ? (uint64_t)n + 1 : n > 128 ? 257U - n : 0;
    for (uint64_t k = 0; k < run && done < all && i < count; k++, done++) {
      to->row[in_row++] = packed[i];
      if (n < 128 || k + 1 == run) i++;
      if (in_row < p->row_bytes) continue;
      in_row = 0;
      put_row(t, p, to, first + done / p->row_bytes, z);
    }
  }
  if (done < all)
    FAIL_PAGE(t, p, "is damaged: a strip ends before row %llu", (unsigned long long)first + rows);
  return GAB_OK;
}

static gab_status put_strip(tiff *t, const page *p, const pixels *to, uint64_t strip, int64_t z)
{
  uint64_t at, bytes;
  unsigned char *packed;
  const uint64_t first = strip * p->rows_per_strip, rows = rows_of_strip(p, strip);
  GAB_TRY(find_strip(t, p, strip, &at, &bytes));
  if (p->compression == UNCOMPRESSED) return put_plain(t, p, to, at, first, rows, z);
  GAB_TRY(GAB_NEW_ARRAY(&packed, bytes, GAB_MEMORY_OTHER));
  gab_status status = read_bytes(t, at, bytes, packed);
  if (status == GAB_OK) status = put_packed(t, p, to, packed, bytes, first, rows, z);
  gab_free(&packed);
  return status;
}

static gab_status put_images_behind(tiff *t, const page *p, const pixels *to, int64_t pages, int64_t z)
{
  uint64_t at, bytes;
  int64_t images = 1;
  GAB_TRY(count_images_behind(t, p, &images));
  if (images != pages)
    GAB_FAIL(GAB_ERR_INPUT, "%s has changed: it has %lld pages", t->path, (long long)images);
  GAB_TRY(find_strip(t, p, 0, &at, &bytes));
  for (int64_t image = 0; image < images; image++)
    GAB_TRY(put_plain(t, p, to, at + (uint64_t)image * p->height * p->row_bytes, 0, p->height, z + image));
  return GAB_OK;
}

static gab_status read_pages(tiff *t, uint64_t at, const int64_t size[3], int64_t z, pixels *to)
{
  uint64_t sum = 0;
  for (int64_t number = 0; number < size[2]; number++) {
    page p;
    if (at == 0) GAB_FAIL(GAB_ERR_INPUT, "%s has changed: page %lld is gone", t->path, (long long)number + 1);
    GAB_TRY(read_directory(t, at, number + 1, &p));
    GAB_TRY(check_page(t, &p, &sum));
    if ((int64_t)pixels_along(&p, 0) != size[0] || (int64_t)pixels_along(&p, 1) != size[1])
      FAIL_PAGE(t, &p, "has changed its size to %llu x %llu", (unsigned long long)pixels_along(&p, 0),
                (unsigned long long)pixels_along(&p, 1));
    const size_t most = (size_t)(size[0] > size[1] ? size[0] : size[1]); /* pages may be turned differently */
    if (!to->row) GAB_TRY(GAB_NEW_ARRAY(&to->row, most * 8, GAB_MEMORY_OTHER));
    if (number == 0 && p.next == 0 && size[2] > 1) return put_images_behind(t, &p, to, size[2], z);
    for (uint64_t strip = 0; strip < p.strip_count; strip++) GAB_TRY(put_strip(t, &p, to, strip, z + number));
    at = p.next;
  }
  return GAB_OK;
}

gab_status gab_tiff_read(FILE *file, const char *path, const int64_t size[3], int64_t z,
                         gab_page_pixel_fn *pixel, void *user)
{
  tiff t;
  uint64_t at = 0;
  pixels to = {pixel, user, NULL};
  GAB_TRY(begin_file(file, path, &t, &at));
  const gab_status status = read_pages(&t, at, size, z, &to);
  gab_free(&to.row);
  return status;
}
