/* SPDX-License-Identifier: Apache-2.0 */
/** @file builder_impl.h
 *  @brief A mesh while its file is read: equal points become one vertex.
 *
 *  Stability: internal.
 */
#ifndef GABION_LBM_MESH_BUILDER_IMPL_H
#define GABION_LBM_MESH_BUILDER_IMPL_H

#include "lbm/boundaries/mesh/mesh.h"

typedef struct gab_mesh_builder {
  gab_mesh *mesh;
  const char *name; /* of the file */
  size_t vertex_capacity, triangle_capacity;
  uint32_t *table; /* open addressing: vertex + 1 */
  size_t table_size;
  uint16_t names[GAB_MESH_NAMINGS]; /* of the triangles that come, as in gab_mesh_groups.set */
  uint16_t set;
  size_t of_capacity;
} gab_mesh_builder;

/* Capacity for triangles whose number is known, after the size of the file was compared. */
gab_status gab_mesh_builder_reserve(gab_mesh_builder *builder, size_t triangles);
/* @return the vertex at a point, which is finite */
gab_status gab_mesh_builder_vertex(gab_mesh_builder *builder, const double point[3], uint32_t *vertex);
gab_status gab_mesh_builder_triangle(gab_mesh_builder *builder, const uint32_t corner[3]);
/* The triangles that come have a name. @param[in] name  not terminated; empty: none */
gab_status gab_mesh_builder_name(gab_mesh_builder *builder, gab_mesh_naming naming, const char *name,
                                 size_t length);
/* Notes the names of the triangle that is added. */
gab_status gab_mesh_builder_note_group(gab_mesh_builder *builder);
/* Releases what only reading needs. */
void gab_mesh_builder_end(gab_mesh_builder *builder);
/* Whether coordinates are finite and not beyond those of a float. */
bool gab_mesh_is_point(const double point[3]);

/* mesh_text.c: both append all triangles of a text. */
gab_status gab_mesh_parse_ascii_stl(gab_mesh_builder *builder, const char *text, size_t count);
gab_status gab_mesh_parse_obj(gab_mesh_builder *builder, const char *text, size_t count);

#endif
