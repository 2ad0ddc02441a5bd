/* SPDX-License-Identifier: Apache-2.0 */
/** @file edges_impl.h
 *  @brief The edges of a mesh, sorted, and disjoint sets over vertices or triangles.
 *
 *  Stability: internal.
 */
#ifndef GABION_LBM_MESH_EDGES_IMPL_H
#define GABION_LBM_MESH_EDGES_IMPL_H

#include "lbm/boundaries/mesh/mesh.h"

/* An edge as one triangle uses it; its lower vertex is that of its place in the list. */
typedef struct gab_mesh_use {
  uint32_t high; /* the other vertex */
  uint32_t side; /* 3 * triangle + number of its corner where the edge begins */
} gab_mesh_use;

/* All uses but those between equal vertices, sorted by lower vertex, higher vertex, and side. */
typedef struct gab_mesh_edges {
  gab_mesh_use *use; /* owned */
  size_t *first;     /* owned; per lower vertex, and at the end */
} gab_mesh_edges;

gab_status gab_mesh_edges_of(const gab_mesh *mesh, gab_mesh_edges *edges);
void gab_mesh_edges_release(gab_mesh_edges *edges);

/* One edge: uses [begin, end). */
typedef struct gab_mesh_edge {
  size_t vertex, begin, end;
  int forward, backward; /* uses from the lower to the higher vertex, and back */
} gab_mesh_edge;

/* The next edge after one of vertex 0 with end 0. @return false behind the last */
bool gab_mesh_next_edge(const gab_mesh *mesh, const gab_mesh_edges *edges, gab_mesh_edge *edge);

/* Disjoint sets: parent[i] begins as i. The root of a set is its smallest member. */
gab_status gab_mesh_sets_create(size_t count, uint32_t **parent);
uint32_t gab_mesh_set_of(uint32_t *parent, uint32_t member);
void gab_mesh_sets_join(uint32_t *parent, uint32_t a, uint32_t b);

/* Twice the area of a triangle as a vector, and six times the volume between it and a point. */
double gab_mesh_area_vector(const gab_mesh *mesh, size_t triangle, double vector[3]);
double gab_mesh_volume6(const gab_mesh *mesh, size_t triangle, const double point[3]);

#endif
