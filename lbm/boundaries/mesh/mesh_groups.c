/* SPDX-License-Identifier: Apache-2.0 */
/* Named parts of a mesh: solids of an ASCII STL file; objects, groups and materials of an OBJ file. */
#include "lbm/boundaries/mesh/builder_impl.h"
#include "lbm/boundaries/mesh/tree_impl.h"

#include "core/memory/memory.h"

#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------- reading */

/* A part of them would leave out triangles of a name without a word. */
static gab_status forget_names(gab_mesh_groups *groups)
{
  groups->are_too_many = true;
  groups->name_count = groups->set_count = groups->of_count = 0;
  return GAB_OK;
}

/* The number of a name, from 1; it is added if it is new. 0: there is none, or it is too long to be asked for. */
static gab_status number_of_name(gab_mesh_builder *builder, const char *name, size_t length, uint16_t *number)
{
  gab_mesh_groups *groups = &builder->mesh->groups;
  char text[GAB_MESH_NAME] = "";
  *number = 0;
  if (length == 0 || length >= sizeof text) return GAB_OK;
  memcpy(text, name, length);
  for (size_t i = 0; i < groups->name_count; i++)
    if (strcmp(groups->name[i], text) == 0) *number = (uint16_t)(i + 1);
  if (*number > 0) return GAB_OK;
  if (groups->name_count == GAB_MESH_MOST_GROUPS) return forget_names(groups);
  GAB_TRY(gab_list_reserve(&groups->name, groups->name_count, sizeof *groups->name));
  memcpy(groups->name[groups->name_count++], text, sizeof text);
  *number = (uint16_t)groups->name_count;
  return GAB_OK;
}

/* The set of the names that hold now; it is added if it is new. */
static gab_status find_set(gab_mesh_builder *builder)
{
  gab_mesh_groups *groups = &builder->mesh->groups;
  for (size_t i = 0; i < groups->set_count; i++)
    if (memcmp(groups->set[i], builder->names, sizeof builder->names) == 0) {
      builder->set = (uint16_t)i;
      return GAB_OK;
    }
  if (groups->set_count == GAB_MESH_MOST_GROUPS) return forget_names(groups);
  GAB_TRY(gab_list_reserve(&groups->set, groups->set_count, sizeof *groups->set));
  builder->set = (uint16_t)groups->set_count;
  memcpy(groups->set[groups->set_count++], builder->names, sizeof builder->names);
  return GAB_OK;
}

gab_status gab_mesh_builder_name(gab_mesh_builder *builder, gab_mesh_naming naming, const char *name,
                                 size_t length)
{
  if (builder->mesh->groups.are_too_many) return GAB_OK;
  GAB_TRY(number_of_name(builder, name, length, &builder->names[naming]));
  return builder->mesh->groups.name_count > 0 ? find_set(builder) : GAB_OK;
}

/* Triangles before the first name have the set 0. */
gab_status gab_mesh_builder_note_group(gab_mesh_builder *builder)
{
  gab_mesh_groups *groups = &builder->mesh->groups;
  const size_t count = builder->mesh->triangle_count;
  if (groups->set_count == 0) return GAB_OK;
  if (count > builder->of_capacity) {
    const size_t larger = count + count / 2;
    GAB_TRY(GAB_RESIZE_ARRAY(&groups->of, larger, GAB_MEMORY_OTHER));
    builder->of_capacity = larger;
  }
  while (groups->of_count < count - 1) groups->of[groups->of_count++] = UINT16_MAX;
  groups->of[groups->of_count++] = builder->set;
  return GAB_OK;
}

/* ---------------------------------------------------------------- asking */

static uint16_t number_in(const gab_mesh_groups *groups, const char *group)
{
  for (size_t i = 0; i < groups->name_count; i++)
    if (strcmp(groups->name[i], group) == 0) return (uint16_t)(i + 1);
  return 0;
}

/* Triangles that a repair has added have no name. */
static bool has_number(const gab_mesh *mesh, size_t triangle, uint16_t number)
{
  const gab_mesh_groups *groups = &mesh->groups;
  const size_t in_file = mesh->number ? mesh->number[triangle] : triangle;
  if (number == 0 || in_file >= groups->of_count || groups->of[in_file] == UINT16_MAX) return false;
  const uint16_t *names = groups->set[groups->of[in_file]];
  bool has = false;
  for (int naming = 0; naming < GAB_MESH_NAMINGS; naming++) has = has || names[naming] == number;
  return has;
}

bool gab_mesh_is_in_group(const gab_mesh *mesh, size_t triangle, const char *group)
{
  return has_number(mesh, triangle, number_in(&mesh->groups, group));
}

double gab_mesh_group_area(const gab_mesh *mesh, const char *group, double lo[3], double hi[3])
{
  const uint16_t number = number_in(&mesh->groups, group);
  double sum = 0;
  for (int axis = 0; axis < 3; axis++) {
    lo[axis] = INFINITY;
    hi[axis] = -INFINITY;
  }
  for (size_t i = 0; i < mesh->triangle_count; i++) {
    double corner[3][3], square = 0;
    if (!has_number(mesh, i, number)) continue;
    gab_mesh_corners(mesh, i, corner);
    for (int axis = 0; axis < 3; axis++) {
      const int x = (axis + 1) % 3, y = (axis + 2) % 3;
      const double part = (corner[1][x] - corner[0][x]) * (corner[2][y] - corner[0][y]) -
                          (corner[1][y] - corner[0][y]) * (corner[2][x] - corner[0][x]);
      square += part * part;
      for (int k = 0; k < 3; k++) {
        lo[axis] = fmin(lo[axis], corner[k][axis]);
        hi[axis] = fmax(hi[axis], corner[k][axis]);
      }
    }
    sum += 0.5 * sqrt(square);
  }
  return sum;
}
