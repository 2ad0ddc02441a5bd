/* SPDX-License-Identifier: Apache-2.0 */
/* The tree over triangles: halves of equal number along the longest axis, so its depth is log2(n). */
#include "lbm/boundaries/mesh/tree_impl.h"

#include "core/memory/memory.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { LEAF_TRIANGLES = 4 };

/* A triangle to be sorted: twice the middle of its bounding box. */
typedef struct item {
  double middle[3];
  uint32_t triangle;
} item;

static bool is_before(const item *a, const item *b, int axis)
{
  if (a->middle[axis] != b->middle[axis]) return a->middle[axis] < b->middle[axis];
  return a->triangle < b->triangle;
}

static void swap(item *a, item *b)
{
  const item other = *a;
  *a = *b;
  *b = other;
}

/* Puts the items that come first along an axis into the first `half' places (Hoare 1961, FIND; all keys differ). */
static void select_half(item *list, size_t count, size_t half, int axis)
{
  int64_t begin = 0, end = (int64_t)count - 1;
  const int64_t place = (int64_t)half;
  while (begin < end) {
    const item pivot = list[place];
    int64_t i = begin, k = end;
    do {
      while (is_before(&list[i], &pivot, axis)) i++;
      while (is_before(&pivot, &list[k], axis)) k--;
      if (i <= k) swap(&list[i++], &list[k--]);
    } while (i <= k);
    if (k < place) begin = i;
    if (place < i) end = k;
  }
}

static float below(double value)
{
  const float rounded = (float)value;
  return (double)rounded <= value ? rounded : nextafterf(rounded, -INFINITY);
}

static float above(double value)
{
  const float rounded = (float)value;
  return (double)rounded >= value ? rounded : nextafterf(rounded, INFINITY);
}

static void bound_leaf(const gab_mesh *mesh, const item *list, size_t count, gab_mesh_node *node)
{
  for (size_t axis = 0; axis < 3; axis++) {
    double lo = INFINITY, hi = -INFINITY;
    for (size_t i = 0; i < 3 * count; i++) {
      const uint32_t vertex = mesh->corner[(size_t)3 * list[i / 3].triangle + i % 3];
      const double value = mesh->vertex[(size_t)3 * vertex + axis];
      lo = fmin(lo, value);
      hi = fmax(hi, value);
    }
    node->lo[axis] = below(lo);
    node->hi[axis] = above(hi);
  }
}

static int longest_axis(const item *list, size_t count)
{
  double lo[3], hi[3];
  int longest = 0;
  for (int axis = 0; axis < 3; axis++) {
    lo[axis] = INFINITY;
    hi[axis] = -INFINITY;
    for (size_t i = 0; i < count; i++) {
      lo[axis] = fmin(lo[axis], list[i].middle[axis]);
      hi[axis] = fmax(hi[axis], list[i].middle[axis]);
    }
    if (hi[axis] - lo[axis] > hi[longest] - lo[longest]) longest = axis;
  }
  return longest;
}

/* Depth first by a stack of ranges whose parent waits for its second child. */
static void build(gab_mesh *mesh, item *list)
{
  struct {
    size_t begin, end, parent;
  } stack[GAB_MESH_STACK];
  const size_t nobody = SIZE_MAX;
  int depth = 0;
  stack[depth].begin = 0;
  stack[depth].end = mesh->triangle_count;
  stack[depth++].parent = nobody;
  mesh->node_count = 0;
  while (depth > 0) {
    const size_t begin = stack[--depth].begin, end = stack[depth].end, parent = stack[depth].parent;
    const size_t index = mesh->node_count++;
    gab_mesh_node *node = &mesh->node[index];
    if (parent != nobody) mesh->node[parent].next = (uint32_t)index;
    if (end - begin <= LEAF_TRIANGLES) {
      *node = (gab_mesh_node){.next = (uint32_t)begin, .count = (uint32_t)(end - begin)};
      bound_leaf(mesh, list + begin, end - begin, node);
      continue;
    }
    const size_t half = (end - begin) / 2;
    select_half(list + begin, end - begin, half, longest_axis(list + begin, end - begin));
    *node = (gab_mesh_node){0};
    stack[depth].begin = begin + half;
    stack[depth].end = end;
    stack[depth++].parent = index;
    stack[depth].begin = begin;
    stack[depth].end = begin + half;
    stack[depth++].parent = nobody;
  }
}

/* Children come after their parents. */
static void bound_inner(gab_mesh *mesh)
{
  for (size_t i = mesh->node_count; i-- > 0;) {
    gab_mesh_node *node = &mesh->node[i];
    if (node->count > 0) continue;
    const gab_mesh_node *first = &mesh->node[i + 1], *second = &mesh->node[node->next];
    for (int axis = 0; axis < 3; axis++) {
      node->lo[axis] = fminf(first->lo[axis], second->lo[axis]);
      node->hi[axis] = fmaxf(first->hi[axis], second->hi[axis]);
    }
  }
}

static gab_status sort_triangles(gab_mesh *mesh, const item *list)
{
  uint32_t *corner;
  GAB_TRY(GAB_NEW_ARRAY(&corner, 3 * mesh->triangle_count, GAB_MEMORY_OTHER));
  for (size_t i = 0; i < mesh->triangle_count; i++) {
    memcpy(corner + 3 * i, mesh->corner + (size_t)3 * list[i].triangle, GAB_MESH_TRIANGLE_BYTES);
    mesh->number[i] = list[i].triangle;
  }
  gab_free(&mesh->corner);
  mesh->corner = corner;
  return GAB_OK;
}

/* Numbers vertices by the first triangle that has them, so that those of neighbours share pages. */
static gab_status sort_vertices(gab_mesh *mesh)
{
  uint32_t *place; /* + 1 */
  double *vertex;
  size_t count = 0;
  GAB_TRY(GAB_NEW_ARRAY(&place, mesh->vertex_count, GAB_MEMORY_OTHER));
  const gab_status status = GAB_NEW_ARRAY(&vertex, 3 * mesh->vertex_count, GAB_MEMORY_OTHER);
  if (status == GAB_OK) {
    for (size_t i = 0; i < 3 * mesh->triangle_count; i++) {
      uint32_t *corner = &mesh->corner[i];
      if (place[*corner] == 0) place[*corner] = (uint32_t)++count;
      *corner = place[*corner] - 1;
    }
    for (size_t i = 0; i < mesh->vertex_count; i++) { /* those without a triangle last */
      if (place[i] == 0) place[i] = (uint32_t)++count;
      memcpy(vertex + (size_t)3 * (place[i] - 1), mesh->vertex + 3 * i, 3 * sizeof *vertex);
    }
    gab_free(&mesh->vertex);
    mesh->vertex = vertex;
  }
  gab_free(&place);
  return status;
}

static gab_status list_items(const gab_mesh *mesh, item **list)
{
  GAB_TRY(GAB_NEW_ARRAY(list, mesh->triangle_count, GAB_MEMORY_OTHER));
  for (size_t i = 0; i < mesh->triangle_count; i++) {
    double corner[3][3];
    gab_mesh_corners(mesh, i, corner);
    (*list)[i].triangle = (uint32_t)i;
    for (int axis = 0; axis < 3; axis++)
      (*list)[i].middle[axis] = fmin(corner[0][axis], fmin(corner[1][axis], corner[2][axis])) +
                                fmax(corner[0][axis], fmax(corner[1][axis], corner[2][axis]));
  }
  return GAB_OK;
}

gab_status gab_mesh_tree_build(gab_mesh *mesh)
{
  item *list;
  const size_t most = mesh->triangle_count; /* leaves have 2 triangles at least, or there is one */
  GAB_TRY(list_items(mesh, &list));
  gab_status status = GAB_NEW_ARRAY(&mesh->number, mesh->triangle_count, GAB_MEMORY_OTHER);
  if (status == GAB_OK) status = GAB_NEW_ARRAY(&mesh->node, most, GAB_MEMORY_OTHER);
  if (status == GAB_OK) {
    build(mesh, list);
    bound_inner(mesh);
    status = sort_triangles(mesh, list);
  }
  if (status == GAB_OK) status = GAB_RESIZE_ARRAY(&mesh->node, mesh->node_count, GAB_MEMORY_OTHER);
  gab_free(&list);
  return status == GAB_OK ? sort_vertices(mesh) : status;
}
