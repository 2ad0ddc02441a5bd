/* SPDX-License-Identifier: Apache-2.0 */
/* Meshes as text: ASCII STL and OBJ, line by line. */
#include "lbm/boundaries/mesh/builder_impl.h"

#include "core/base/text/text_impl.h"
#include "core/memory/memory.h"

#include <stdio.h>
#include <string.h>

enum { WORD_CAPACITY = 64, MOST_CORNERS = 4096 };

typedef struct lines {
  const char *name, *at, *end;
  size_t line; /* of `at', from 1 */
} lines;

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

/* The next word of the line. @return its length, 0 at the end of the line or of the text */
static size_t next_word(lines *text, const char **word)
{
  while (text->at < text->end && is_blank(*text->at)) text->at++;
  *word = text->at;
  while (text->at < text->end && *text->at != '\n' && !is_blank(*text->at)) text->at++;
  return (size_t)(text->at - *word);
}

static bool next_line(lines *text)
{
  while (text->at < text->end && *text->at != '\n') text->at++;
  if (text->at == text->end) return false;
  text->at++;
  text->line++;
  return true;
}

static bool is_word(const char *word, size_t length, const char *expected)
{
  return length == strlen(expected) && memcmp(word, expected, length) == 0;
}

static gab_status read_point(lines *text, double point[3])
{
  for (int axis = 0; axis < 3; axis++) {
    const char *word;
    char number[WORD_CAPACITY];
    const size_t length = next_word(text, &word);
    if (length == 0)
      GAB_FAIL(GAB_ERR_INPUT, "%s:%zu: expected 3 coordinates, got %d", text->name, text->line, axis);
    snprintf(number, sizeof number, "%.*s", (int)(length < WORD_CAPACITY ? length : WORD_CAPACITY), word);
    if (length >= sizeof number || !gab_text_parse_real(number, &point[axis]))
      GAB_FAIL(GAB_ERR_INPUT, "%s:%zu: expected a finite coordinate, got '%.40s'", text->name, text->line,
               number);
  }
  if (!gab_mesh_is_point(point))
    GAB_FAIL(GAB_ERR_INPUT, "%s:%zu: point (%g, %g, %g) is not in the range of a float", text->name,
             text->line, point[0], point[1], point[2]);
  return GAB_OK;
}

/* The rest of the line, without blanks around it, names the triangles that come. */
static gab_status read_name(lines *text, gab_mesh_builder *builder, gab_mesh_naming naming)
{
  while (text->at < text->end && is_blank(*text->at)) text->at++;
  const char *name = text->at;
  while (text->at < text->end && *text->at != '\n') text->at++;
  size_t length = (size_t)(text->at - name);
  while (length > 0 && is_blank(name[length - 1])) length--;
  return gab_mesh_builder_name(builder, naming, name, length);
}

/* ---------------------------------------------------------------- ASCII STL */

/* The words `facet', `outer', `endloop' only repeat what three lines `vertex' say. */
static gab_status read_stl_line(lines *text, gab_mesh_builder *builder, uint32_t corner[3], int *corners)
{
  static const char *const others[] = {"facet", "outer", "endloop", "endsolid", "color"};
  const char *word;
  const size_t length = next_word(text, &word);
  if (length == 0) return GAB_OK;
  if (is_word(word, length, "vertex")) {
    double point[3];
    GAB_TRY(read_point(text, point));
    if (*corners == 3)
      GAB_FAIL(GAB_ERR_INPUT, "%s:%zu: triangle %zu has more than 3 corners", text->name, text->line,
               builder->mesh->triangle_count + 1);
    return gab_mesh_builder_vertex(builder, point, &corner[(*corners)++]);
  }
  if (is_word(word, length, "solid")) return read_name(text, builder, GAB_MESH_OBJECT);
  if (is_word(word, length, "endfacet")) {
    if (*corners != 3)
      GAB_FAIL(GAB_ERR_INPUT, "%s:%zu: triangle %zu has %d corners", text->name, text->line,
               builder->mesh->triangle_count + 1, *corners);
    *corners = 0;
    return gab_mesh_builder_triangle(builder, corner);
  }
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (is_word(word, length, others[i])) return GAB_OK;
  GAB_FAIL(GAB_ERR_INPUT, "%s:%zu: not a line of an STL file: '%.*s'", text->name, text->line,
           (int)(length < 40 ? length : 40), word);
}

gab_status gab_mesh_parse_ascii_stl(gab_mesh_builder *builder, const char *text, size_t count)
{
  lines at = {.name = builder->name, .at = text, .end = text + count, .line = 1};
  uint32_t corner[3] = {0};
  int corners = 0;
  bool ended = false;
  do {
    const char *start = at.at, *word;
    const size_t length = next_word(&at, &word);
    ended = length > 0 ? is_word(word, length, "endsolid") : ended;
    at.at = start;
    GAB_TRY(read_stl_line(&at, builder, corner, &corners));
  } while (next_line(&at));
  if (!ended || corners > 0)
    GAB_FAIL(GAB_ERR_INPUT, "%s:%zu: cut off after triangle %zu: no `endsolid'", builder->name, at.line,
             builder->mesh->triangle_count);
  return GAB_OK;
}

/* ---------------------------------------------------------------- OBJ */

typedef struct obj_points {
  uint32_t *vertex; /* owned; of the points of the file, in its order */
  size_t count, capacity;
} obj_points;

static gab_status add_point(lines *text, gab_mesh_builder *builder, obj_points *points)
{
  double point[3];
  GAB_TRY(read_point(text, point));
  if (points->count == points->capacity) {
    const size_t larger = 2 * points->capacity + WORD_CAPACITY;
    GAB_TRY(GAB_RESIZE_ARRAY(&points->vertex, larger, GAB_MEMORY_OTHER));
    points->capacity = larger;
  }
  return gab_mesh_builder_vertex(builder, point, &points->vertex[points->count++]);
}

/* v, v/vt, v//vn or v/vt/vn: counted from 1, or from the last point if negative. */
static gab_status read_corner(const lines *text, const char *word, size_t length, const obj_points *points,
                              uint32_t *vertex)
{
  const char *slash = memchr(word, '/', length);
  const size_t digits = slash ? (size_t)(slash - word) : length;
  char number[WORD_CAPACITY];
  int64_t index = 0;
  snprintf(number, sizeof number, "%.*s", (int)(digits < WORD_CAPACITY ? digits : WORD_CAPACITY), word);
  if (digits >= sizeof number || !gab_text_parse_int(number, &index) || index == 0)
    GAB_FAIL(GAB_ERR_INPUT, "%s:%zu: expected the number of a point, got '%.40s'", text->name, text->line,
             number);
  const int64_t place = index > 0 ? index - 1 : (int64_t)points->count + index;
  if (place < 0 || (uint64_t)place >= points->count)
    GAB_FAIL(GAB_ERR_INPUT, "%s:%zu: point %" PRId64 " is not among the %zu points before it", text->name,
             text->line, index, points->count);
  *vertex = points->vertex[place];
  return GAB_OK;
}

/* A polygon becomes a fan around its first corner. */
static gab_status add_face(lines *text, gab_mesh_builder *builder, const obj_points *points)
{
  uint32_t corner[3] = {0};
  const char *word;
  size_t length;
  int corners = 0;
  while ((length = next_word(text, &word)) > 0 && *word != '#') {
    if (corners == MOST_CORNERS)
      GAB_FAIL(GAB_ERR_INPUT, "%s:%zu: a polygon of more than %d corners", text->name, text->line,
               MOST_CORNERS);
    uint32_t vertex = 0;
    GAB_TRY(read_corner(text, word, length, points, &vertex));
    if (corners < 3) corner[corners] = vertex;
    else {
      corner[1] = corner[2];
      corner[2] = vertex;
    }
    if (++corners >= 3) GAB_TRY(gab_mesh_builder_triangle(builder, corner));
  }
  if (corners < 3) GAB_FAIL(GAB_ERR_INPUT, "%s:%zu: a face of %d corners", text->name, text->line, corners);
  return GAB_OK;
}

static gab_status read_obj_lines(lines *text, gab_mesh_builder *builder, obj_points *points)
{
  do {
    const char *word;
    const size_t length = next_word(text, &word);
    if (is_word(word, length, "v")) GAB_TRY(add_point(text, builder, points));
    else if (is_word(word, length, "f")) GAB_TRY(add_face(text, builder, points));
    else if (is_word(word, length, "o")) GAB_TRY(read_name(text, builder, GAB_MESH_OBJECT));
    else if (is_word(word, length, "g")) GAB_TRY(read_name(text, builder, GAB_MESH_GROUP));
    else if (is_word(word, length, "usemtl")) GAB_TRY(read_name(text, builder, GAB_MESH_MATERIAL));
  } while (next_line(text));
  return GAB_OK;
}

gab_status gab_mesh_parse_obj(gab_mesh_builder *builder, const char *text, size_t count)
{
  lines at = {.name = builder->name, .at = text, .end = text + count, .line = 1};
  obj_points points = {0};
  const gab_status status = read_obj_lines(&at, builder, &points);
  gab_free(&points.vertex);
  return status;
}
