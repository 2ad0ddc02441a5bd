/* SPDX-License-Identifier: Apache-2.0 */
#include "lbm/boundaries/mesh/edges_impl.h"

#include "core/memory/memory.h"

#include <math.h>
#include <stdlib.h>

/* ---------------------------------------------------------------- edges */

static void side_of(const gab_mesh *mesh, size_t side, uint32_t *from, uint32_t *to)
{
  const size_t triangle = side / 3, k = side % 3;
  *from = mesh->corner[side];
  *to = mesh->corner[3 * triangle + (k + 1) % 3];
}

static int compare_uses(const void *left, const void *right)
{
  const gab_mesh_use *a = left, *b = right;
  if (a->high != b->high) return a->high < b->high ? -1 : 1;
  return (a->side > b->side) - (a->side < b->side);
}

/* Most vertices have a handful of uses. */
static void sort_uses(gab_mesh_use *use, size_t count)
{
  enum { FEW = 24 };
  if (count > FEW) {
    qsort(use, count, sizeof *use, compare_uses);
    return;
  }
  for (size_t i = 1; i < count; i++) {
    const gab_mesh_use moved = use[i];
    size_t k = i;
    for (; k > 0 && compare_uses(&moved, &use[k - 1]) < 0; k--) use[k] = use[k - 1];
    use[k] = moved;
  }
}

static void put_uses(const gab_mesh *mesh, gab_mesh_edges *edges)
{
  for (size_t side = 0; side < 3 * mesh->triangle_count; side++) {
    uint32_t from, to;
    side_of(mesh, side, &from, &to);
    if (from == to) continue;
    const uint32_t low = from < to ? from : to, high = from < to ? to : from;
    if (edges->use) edges->use[edges->first[low]] = (gab_mesh_use){.high = high, .side = (uint32_t)side};
    edges->first[low + (edges->use ? 0 : 1)]++;
  }
}

gab_status gab_mesh_edges_of(const gab_mesh *mesh, gab_mesh_edges *edges)
{
  const size_t vertices = mesh->vertex_count;
  *edges = (gab_mesh_edges){0};
  GAB_TRY(GAB_NEW_ARRAY(&edges->first, vertices + 1, GAB_MEMORY_OTHER));
  put_uses(mesh, edges); /* counts, one place further on */
  for (size_t i = 0; i < vertices; i++) edges->first[i + 1] += edges->first[i];
  const gab_status status = GAB_NEW_ARRAY(&edges->use, edges->first[vertices], GAB_MEMORY_OTHER);
  if (status != GAB_OK) {
    gab_mesh_edges_release(edges);
    return status;
  }
  put_uses(mesh, edges); /* afterwards each entry is where its uses end */
  for (size_t i = vertices; i > 0; i--) edges->first[i] = edges->first[i - 1];
  edges->first[0] = 0;
  for (size_t i = 0; i < vertices; i++)
    sort_uses(edges->use + edges->first[i], edges->first[i + 1] - edges->first[i]);
  return GAB_OK;
}

void gab_mesh_edges_release(gab_mesh_edges *edges)
{
  gab_free(&edges->use);
  gab_free(&edges->first);
}

bool gab_mesh_next_edge(const gab_mesh *mesh, const gab_mesh_edges *edges, gab_mesh_edge *edge)
{
  edge->begin = edge->end;
  while (edge->vertex < mesh->vertex_count && edge->begin == edges->first[edge->vertex + 1]) edge->vertex++;
  if (edge->vertex == mesh->vertex_count) return false;
  edge->forward = edge->backward = 0;
  while (edge->end < edges->first[edge->vertex + 1] &&
         edges->use[edge->end].high == edges->use[edge->begin].high) {
    const bool is_forward = mesh->corner[edges->use[edge->end++].side] == edge->vertex;
    edge->forward += is_forward;
    edge->backward += !is_forward;
  }
  return true;
}

/* ---------------------------------------------------------------- disjoint sets */

gab_status gab_mesh_sets_create(size_t count, uint32_t **parent)
{
  GAB_TRY(GAB_NEW_ARRAY(parent, count, GAB_MEMORY_OTHER));
  for (size_t i = 0; i < count; i++) (*parent)[i] = (uint32_t)i;
  return GAB_OK;
}

uint32_t gab_mesh_set_of(uint32_t *parent, uint32_t member)
{
  while (parent[member] != member) {
    parent[member] = parent[parent[member]];
    member = parent[member];
  }
  return member;
}

void gab_mesh_sets_join(uint32_t *parent, uint32_t a, uint32_t b)
{
  const uint32_t first = gab_mesh_set_of(parent, a), second = gab_mesh_set_of(parent, b);
  if (first < second) parent[second] = first;
  else parent[first] = second;
}

/* ---------------------------------------------------------------- area and volume */

double gab_mesh_area_vector(const gab_mesh *mesh, size_t triangle, double vector[3])
{
  const uint32_t *corner = mesh->corner + 3 * triangle;
  const double *a = mesh->vertex + (size_t)3 * corner[0], *b = mesh->vertex + (size_t)3 * corner[1],
               *c = mesh->vertex + (size_t)3 * corner[2];
  double square = 0;
  for (int axis = 0; axis < 3; axis++) {
    const int x = (axis + 1) % 3, y = (axis + 2) % 3;
    vector[axis] = (b[x] - a[x]) * (c[y] - a[y]) - (b[y] - a[y]) * (c[x] - a[x]);
    square += vector[axis] * vector[axis];
  }
  return sqrt(square);
}

double gab_mesh_volume6(const gab_mesh *mesh, size_t triangle, const double point[3])
{
  const double *a = mesh->vertex + (size_t)3 * mesh->corner[3 * triangle];
  double vector[3], volume = 0;
  gab_mesh_area_vector(mesh, triangle, vector);
  for (int axis = 0; axis < 3; axis++) volume += vector[axis] * (a[axis] - point[axis]);
  return volume;
}
