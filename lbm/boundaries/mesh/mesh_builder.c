/* SPDX-License-Identifier: Apache-2.0 */
#include "lbm/boundaries/mesh/builder_impl.h"

#include "core/base/hash.h"
#include "core/memory/memory.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { FIRST_TABLE = 64 };

bool gab_mesh_is_point(const double point[3])
{
  for (int axis = 0; axis < 3; axis++)
    if (!(fabs(point[axis]) <= FLT_MAX)) return false;
  return true;
}

static gab_status grow(size_t needed, size_t *capacity, size_t each, void *list)
{
  if (needed <= *capacity) return GAB_OK;
  const size_t larger = needed + needed / 2;
  GAB_TRY(gab_realloc_elements(larger, each, GAB_MEMORY_OTHER, list));
  *capacity = larger;
  return GAB_OK;
}

static size_t place_in_table(const gab_mesh_builder *builder, const double point[3])
{
  const size_t mask = builder->table_size - 1;
  size_t place = gab_hash64(point, 3 * sizeof *point, 0) & mask;
  while (builder->table[place] > 0 && memcmp(builder->mesh->vertex + (size_t)3 * (builder->table[place] - 1),
                                             point, 3 * sizeof *point) != 0)
    place = (place + 1) & mask;
  return place;
}

/* At most half of the table is used. */
static gab_status resize_table(gab_mesh_builder *builder, size_t vertices)
{
  size_t size = builder->table_size > 0 ? builder->table_size : FIRST_TABLE;
  while (size < 2 * vertices) size *= 2;
  if (size == builder->table_size) return GAB_OK;
  gab_free(&builder->table);
  builder->table_size = 0;
  GAB_TRY(GAB_NEW_ARRAY(&builder->table, size, GAB_MEMORY_OTHER));
  builder->table_size = size;
  for (size_t i = 0; i < builder->mesh->vertex_count; i++)
    builder->table[place_in_table(builder, builder->mesh->vertex + 3 * i)] = (uint32_t)i + 1;
  return GAB_OK;
}

gab_status gab_mesh_builder_reserve(gab_mesh_builder *builder, size_t triangles)
{
  gab_mesh *mesh = builder->mesh;
  const size_t vertices = triangles / 2 + 3; /* of a closed surface; others grow */
  GAB_TRY(grow(3 * triangles, &builder->triangle_capacity, sizeof *mesh->corner, &mesh->corner));
  GAB_TRY(grow(3 * vertices, &builder->vertex_capacity, sizeof *mesh->vertex, &mesh->vertex));
  return resize_table(builder, vertices);
}

gab_status gab_mesh_builder_vertex(gab_mesh_builder *builder, const double point[3], uint32_t *vertex)
{
  gab_mesh *mesh = builder->mesh;
  const double plain[3] = {point[0] + 0.0, point[1] + 0.0, point[2] + 0.0}; /* -0 is 0 */
  GAB_TRY(resize_table(builder, mesh->vertex_count + 1));
  const size_t place = place_in_table(builder, plain);
  if (builder->table[place] == 0) {
    GAB_TRY(
        grow(3 * (mesh->vertex_count + 1), &builder->vertex_capacity, sizeof *mesh->vertex, &mesh->vertex));
    memcpy(mesh->vertex + 3 * mesh->vertex_count, plain, sizeof plain);
    builder->table[place] = (uint32_t)++mesh->vertex_count;
  }
  *vertex = builder->table[place] - 1;
  return GAB_OK;
}

gab_status gab_mesh_builder_triangle(gab_mesh_builder *builder, const uint32_t corner[3])
{
  gab_mesh *mesh = builder->mesh;
  if (mesh->triangle_count >= GAB_MESH_MOST_TRIANGLES)
    GAB_FAIL(GAB_ERR_INPUT, "%s: more than %d triangles", builder->name, GAB_MESH_MOST_TRIANGLES);
  GAB_TRY(
      grow(3 * (mesh->triangle_count + 1), &builder->triangle_capacity, sizeof *mesh->corner, &mesh->corner));
  memcpy(mesh->corner + 3 * mesh->triangle_count++, corner, GAB_MESH_TRIANGLE_BYTES);
  return gab_mesh_builder_note_group(builder);
}

void gab_mesh_builder_end(gab_mesh_builder *builder) { gab_free(&builder->table); }
