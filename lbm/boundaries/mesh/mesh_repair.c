/* SPDX-License-Identifier: Apache-2.0 */
/* Alike orientation of neighbours, and rims closed by cones, so that the winding number is an integer. */
#include "lbm/boundaries/mesh/edges_impl.h"

#include "core/memory/memory.h"

#include <stdlib.h>

/* ---------------------------------------------------------------- orientation */

/* Disjoint sets of triangles; turn[i]: whether triangle i has the other orientation than its parent. */
typedef struct orientation {
  uint32_t *parent;    /* owned */
  unsigned char *turn; /* owned */
} orientation;

/* @return the root of a triangle. @param[out] turned  whether it is oriented otherwise than the root */
static uint32_t root_of(const orientation *sets, uint32_t triangle, bool *turned)
{
  *turned = false;
  while (sets->parent[triangle] != triangle) {
    *turned ^= sets->turn[triangle];
    triangle = sets->parent[triangle];
  }
  return triangle;
}

/* Halves no paths: the lighter root is appended to the heavier one, which bounds them by log2(n). */
static void join_triangles(orientation *sets, uint32_t *weight, uint32_t a, uint32_t b, bool differ)
{
  bool a_turned, b_turned;
  uint32_t first = root_of(sets, a, &a_turned), second = root_of(sets, b, &b_turned);
  if (first == second) return; /* a surface with one side (Möbius) keeps a border */
  if (weight[first] < weight[second]) {
    const uint32_t other = first;
    first = second;
    second = other;
  }
  sets->parent[second] = first;
  sets->turn[second] = a_turned ^ b_turned ^ differ;
  weight[first] += weight[second];
}

/* Turns the triangles of each connected part that have the smaller area of both orientations. */
static void turn_minorities(gab_mesh *mesh, const orientation *sets, double *excess)
{
  double vector[3];
  bool turned;
  for (size_t i = 0; i < mesh->triangle_count; i++) {
    const uint32_t root = root_of(sets, (uint32_t)i, &turned);
    excess[root] += turned ? -gab_mesh_area_vector(mesh, i, vector) : gab_mesh_area_vector(mesh, i, vector);
  }
  for (size_t i = 0; i < mesh->triangle_count; i++) {
    const uint32_t root = root_of(sets, (uint32_t)i, &turned);
    if (turned == (excess[root] >= 0)) {
      const uint32_t other = mesh->corner[3 * i + 1];
      mesh->corner[3 * i + 1] = mesh->corner[3 * i + 2];
      mesh->corner[3 * i + 2] = other;
    }
  }
}

static gab_status orient(gab_mesh *mesh)
{
  gab_mesh_edges edges;
  orientation sets = {0};
  uint32_t *weight = NULL;
  double *excess = NULL;
  gab_mesh_edge edge = {0};
  GAB_TRY(gab_mesh_edges_of(mesh, &edges));
  gab_status status = gab_mesh_sets_create(mesh->triangle_count, &sets.parent);
  if (status == GAB_OK) status = GAB_NEW_ARRAY(&sets.turn, mesh->triangle_count, GAB_MEMORY_OTHER);
  if (status == GAB_OK) status = GAB_NEW_ARRAY(&weight, mesh->triangle_count, GAB_MEMORY_OTHER);
  if (status == GAB_OK) status = GAB_NEW_ARRAY(&excess, mesh->triangle_count, GAB_MEMORY_OTHER);
  if (status == GAB_OK) {
    for (size_t i = 0; i < mesh->triangle_count; i++) weight[i] = 1;
    while (gab_mesh_next_edge(mesh, &edges, &edge))
      if (edge.forward + edge.backward == 2)
        join_triangles(&sets, weight, edges.use[edge.begin].side / 3, edges.use[edge.begin + 1].side / 3,
                       edge.forward != 1);
    turn_minorities(mesh, &sets, excess);
  }
  gab_free(&sets.parent);
  gab_free(&sets.turn);
  gab_free(&weight);
  gab_free(&excess);
  gab_mesh_edges_release(&edges);
  return status;
}

/* ---------------------------------------------------------------- cones */

typedef struct rims {
  uint32_t *set;    /* owned; connected vertices of rims */
  uint32_t *uses;   /* owned; per root: ends of edges */
  double *sum;      /* owned; per root: of those ends */
  uint32_t *tip;    /* owned; per root: vertex at the middle */
  size_t triangles; /* that close them */
} rims;

static void collect_rims(const gab_mesh *mesh, const gab_mesh_edges *edges, rims *found)
{
  for (gab_mesh_edge edge = {0}; gab_mesh_next_edge(mesh, edges, &edge);) {
    if (edge.forward == edge.backward) continue;
    gab_mesh_sets_join(found->set, (uint32_t)edge.vertex, edges->use[edge.begin].high);
    found->triangles += (size_t)abs(edge.forward - edge.backward);
  }
  for (gab_mesh_edge edge = {0}; gab_mesh_next_edge(mesh, edges, &edge);) {
    if (edge.forward == edge.backward) continue;
    const uint32_t root = gab_mesh_set_of(found->set, (uint32_t)edge.vertex);
    const size_t ends[2] = {edge.vertex, edges->use[edge.begin].high};
    found->uses[root] += 2;
    for (size_t k = 0; k < 6; k++)
      found->sum[(size_t)3 * root + k % 3] += mesh->vertex[3 * ends[k / 3] + k % 3];
  }
}

static gab_status add_tips(gab_mesh *mesh, rims *found, size_t vertices)
{
  size_t tips = 0;
  for (size_t i = 0; i < vertices; i++) tips += found->uses[i] > 0;
  GAB_TRY(GAB_RESIZE_ARRAY(&mesh->vertex, 3 * (vertices + tips), GAB_MEMORY_OTHER));
  for (size_t i = 0; i < vertices; i++) {
    if (found->uses[i] == 0) continue;
    for (size_t axis = 0; axis < 3; axis++)
      mesh->vertex[3 * mesh->vertex_count + axis] = found->sum[3 * i + axis] / found->uses[i];
    found->tip[i] = (uint32_t)mesh->vertex_count++;
  }
  return GAB_OK;
}

static gab_status add_cones(gab_mesh *mesh, const gab_mesh_edges *edges, rims *found)
{
  const size_t vertices = mesh->vertex_count;
  collect_rims(mesh, edges, found);
  if (mesh->triangle_count + found->triangles > GAB_MESH_MOST_TRIANGLES)
    GAB_FAIL(GAB_ERR_INPUT, "%zu triangles to close holes are too many", found->triangles);
  GAB_TRY(GAB_RESIZE_ARRAY(&mesh->corner, 3 * (mesh->triangle_count + found->triangles), GAB_MEMORY_OTHER));
  const gab_mesh before = {.vertex_count = vertices, .corner = mesh->corner};
  GAB_TRY(add_tips(mesh, found, vertices));
  for (gab_mesh_edge edge = {0}; gab_mesh_next_edge(&before, edges, &edge);) {
    const uint32_t low = (uint32_t)edge.vertex, high = edges->use[edge.begin].high;
    for (int net = edge.forward - edge.backward; net != 0; net += net > 0 ? -1 : 1) {
      uint32_t *corner = mesh->corner + 3 * mesh->triangle_count++;
      corner[0] = net > 0 ? high : low;
      corner[1] = net > 0 ? low : high;
      corner[2] = found->tip[gab_mesh_set_of(found->set, low)];
    }
  }
  return GAB_OK;
}

static gab_status close_rims(gab_mesh *mesh)
{
  gab_mesh_edges edges;
  rims found = {0};
  const size_t vertices = mesh->vertex_count;
  GAB_TRY(gab_mesh_edges_of(mesh, &edges));
  gab_status status = gab_mesh_sets_create(vertices, &found.set);
  if (status == GAB_OK) status = GAB_NEW_ARRAY(&found.uses, vertices, GAB_MEMORY_OTHER);
  if (status == GAB_OK) status = GAB_NEW_ARRAY(&found.sum, 3 * vertices, GAB_MEMORY_OTHER);
  if (status == GAB_OK) status = GAB_NEW_ARRAY(&found.tip, vertices, GAB_MEMORY_OTHER);
  if (status == GAB_OK) status = add_cones(mesh, &edges, &found);
  gab_free(&found.set);
  gab_free(&found.uses);
  gab_free(&found.sum);
  gab_free(&found.tip);
  gab_mesh_edges_release(&edges);
  return status;
}

gab_status gab_mesh_repair(gab_mesh *mesh)
{
  GAB_TRY(orient(mesh));
  return close_rims(mesh);
}
