/* SPDX-License-Identifier: Apache-2.0 */
/* Mesh files: recognition of the format, binary STL, vertices. */
#include "lbm/boundaries/mesh/builder_impl.h"

#include "core/memory/memory_impl.h"
#include "core/system/file.h"

#include <string.h>
#include <strings.h>

enum { HEAD_BYTES = 84, COUNT_AT = 80, FACET_BYTES = 50, NORMAL_BYTES = 12 };

/* ---------------------------------------------------------------- binary STL */

static uint32_t little_endian(const unsigned char *bytes)
{
  return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static gab_status parse_binary_stl(gab_mesh_builder *builder, const unsigned char *bytes, size_t triangles)
{
  if (triangles > GAB_MESH_MOST_TRIANGLES)
    GAB_FAIL(GAB_ERR_INPUT, "%s: %zu triangles are more than %d", builder->name, triangles,
             GAB_MESH_MOST_TRIANGLES);
  GAB_TRY(gab_mesh_builder_reserve(builder, triangles));
  for (size_t i = 0; i < triangles; i++) {
    const unsigned char *at = bytes + HEAD_BYTES + i * FACET_BYTES + NORMAL_BYTES;
    uint32_t corner[3];
    for (int k = 0; k < 3; k++) {
      double point[3];
      for (int axis = 0; axis < 3; axis++, at += sizeof(float)) {
        const uint32_t bits = little_endian(at);
        float value;
        memcpy(&value, &bits, sizeof value);
        point[axis] = value;
      }
      if (!gab_mesh_is_point(point))
        GAB_FAIL(GAB_ERR_INPUT, "%s: triangle %zu: corner %d (%g, %g, %g) is not finite", builder->name,
                 i + 1, k + 1, point[0], point[1], point[2]);
      GAB_TRY(gab_mesh_builder_vertex(builder, point, &corner[k]));
    }
    GAB_TRY(gab_mesh_builder_triangle(builder, corner));
  }
  return GAB_OK;
}

/* A binary file may begin with "solid", so its size is checked first, and then whether it is text. */
static gab_status parse_stl(gab_mesh_builder *builder, const unsigned char *bytes, size_t count)
{
  const bool has_head = count >= HEAD_BYTES;
  const uint64_t triangles = has_head ? little_endian(bytes + COUNT_AT) : 0;
  const uint64_t expected = HEAD_BYTES + FACET_BYTES * triangles;
  size_t blank = 0;
  if (has_head && expected == count) return parse_binary_stl(builder, bytes, (size_t)triangles);
  while (blank < count && strchr(" \t\r\n", bytes[blank]) && bytes[blank]) blank++;
  const bool is_text =
      count - blank >= 5 && memcmp(bytes + blank, "solid", 5) == 0 && !memchr(bytes, 0, count);
  if (is_text) return gab_mesh_parse_ascii_stl(builder, (const char *)bytes, count);
  if (!has_head)
    GAB_FAIL(GAB_ERR_INPUT, "%s: not an STL file: %zu bytes, and no text that begins with `solid'",
             builder->name, count);
  GAB_FAIL(GAB_ERR_INPUT,
           "%s: its head says %" PRIu64 " triangles, which take %" PRIu64
           " bytes, but the file has %zu: cut off, or "
           "not an STL file",
           builder->name, triangles, expected, count);
}

/* ---------------------------------------------------------------- any file */

static bool ends_with(const char *name, const char *end)
{
  const size_t length = strlen(name), tail = strlen(end);
  return length > tail && strcasecmp(name + length - tail, end) == 0;
}

gab_status gab_mesh_parse(const unsigned char *bytes, size_t count, const char *name, gab_mesh *mesh)
{
  *mesh = (gab_mesh){0};
  gab_mesh_builder builder = {.mesh = mesh, .name = name};
  gab_status status;
  if (ends_with(name, ".stl")) status = parse_stl(&builder, bytes, count);
  else if (ends_with(name, ".obj")) status = gab_mesh_parse_obj(&builder, (const char *)bytes, count);
  else
    status = gab_error_set(GAB_ERR_INPUT, __FILE__, __LINE__,
                           "%s: unknown format of a mesh: its name must end with .stl or .obj", name);
  gab_mesh_builder_end(&builder);
  if (status == GAB_OK && mesh->triangle_count == 0)
    status = gab_error_set(GAB_ERR_INPUT, __FILE__, __LINE__, "%s: no triangles", name);
  if (status != GAB_OK) gab_mesh_release(mesh);
  return status;
}

gab_status gab_mesh_read(const char *path, gab_mesh *mesh)
{
  const size_t most = HEAD_BYTES + (size_t)FACET_BYTES * 4 * GAB_MESH_MOST_TRIANGLES;
  gab_buffer bytes = {0};
  *mesh = (gab_mesh){0};
  gab_status status = gab_file_read(path, most, &bytes);
  if (status == GAB_OK) status = gab_mesh_parse(bytes.data, bytes.size, path, mesh);
  gab_buffer_release(&bytes);
  return status;
}

void gab_mesh_release(gab_mesh *mesh)
{
  if (mesh->shared.bytes) {
    if (mesh->counted > 0) gab_memory_count(GAB_MEMORY_OTHER, mesh->counted, false);
    gab_shared_file_close(&mesh->shared);
    *mesh = (gab_mesh){0};
    return;
  }
  gab_free(&mesh->vertex);
  gab_free(&mesh->corner);
  gab_free(&mesh->number);
  gab_free(&mesh->node);
  gab_free(&mesh->grid.state);
  gab_free(&mesh->groups.name);
  gab_free(&mesh->groups.set);
  gab_free(&mesh->groups.of);
  *mesh = (gab_mesh){0};
}
