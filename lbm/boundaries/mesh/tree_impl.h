/* SPDX-License-Identifier: Apache-2.0 */
/** @file tree_impl.h
 *  @brief The tree over triangles, inside of lbm/boundaries/mesh/.
 *
 *  Stability: internal.
 */
#ifndef GABION_LBM_MESH_TREE_IMPL_H
#define GABION_LBM_MESH_TREE_IMPL_H

#include "lbm/boundaries/mesh/mesh.h"

#include <math.h>

enum { GAB_MESH_STACK = 64 }; /* entries of a walk; the tree has 27 levels at most */

gab_status gab_mesh_tree_build(gab_mesh *mesh);

/* What rounding of coordinates near the mesh may add, with a margin. */
static inline double gab_mesh_slack(const gab_mesh *mesh)
{
  double largest = 0;
  for (int axis = 0; axis < 3; axis++)
    largest = fmax(largest, fmax(fabs(mesh->lo[axis]), fabs(mesh->hi[axis])));
  return 1e-10 * largest;
}

static inline void gab_mesh_corners(const gab_mesh *mesh, size_t triangle, double corner[3][3])
{
  for (size_t k = 0; k < 3; k++)
    for (size_t axis = 0; axis < 3; axis++)
      corner[k][axis] = mesh->vertex[(size_t)3 * mesh->corner[3 * triangle + k] + axis];
}

/* A walk through the tree: nodes that its user does not leave out, leaves in the order of triangles. */
typedef struct gab_mesh_walk {
  const gab_mesh *mesh;
  uint32_t stack[GAB_MESH_STACK];
  int depth;
} gab_mesh_walk;

static inline gab_mesh_walk gab_mesh_walk_of(const gab_mesh *mesh)
{
  gab_mesh_walk walk;
  walk.mesh = mesh;
  walk.stack[0] = 0;
  walk.depth = mesh->node_count > 0 ? 1 : 0;
  return walk;
}

/* The next leaf whose ancestors and itself the box lo … hi meets. @return NULL behind the last */
static inline const gab_mesh_node *gab_mesh_next_leaf(gab_mesh_walk *walk, const double lo[3],
                                                      const double hi[3])
{
  while (walk->depth > 0) {
    const uint32_t index = walk->stack[--walk->depth];
    const gab_mesh_node *node = &walk->mesh->node[index];
    if (node->lo[0] > hi[0] || node->hi[0] < lo[0] || node->lo[1] > hi[1] || node->hi[1] < lo[1] ||
        node->lo[2] > hi[2] || node->hi[2] < lo[2])
      continue;
    if (node->count > 0) return node;
    walk->stack[walk->depth++] = node->next;
    walk->stack[walk->depth++] = index + 1;
  }
  return NULL;
}

#endif
