/* SPDX-License-Identifier: Apache-2.0 */
/* Shapes of bodies by name: those of the library and registered ones. */
#include "lbm/boundaries/body_shape.h"

#include <string.h>

static const gab_body_shape *registered[GAB_MOST_BODY_SHAPES];

/* By gab_shape. */
static const char *const shape_names[GAB_SHAPE_OWN] = {"box", "sphere", "cylinder", "mask"};

const gab_body_shape *gab_body_shape_at(int index)
{
  return index >= 0 && index < GAB_MOST_BODY_SHAPES ? registered[index] : NULL;
}

const char *gab_body_shape_name(int index)
{
  if (index >= 0 && index < GAB_SHAPE_OWN) return shape_names[index];
  const gab_body_shape *own = gab_body_shape_at(index - GAB_SHAPE_OWN);
  return own ? own->name : NULL;
}

gab_status gab_body_shape_register(const gab_body_shape *shape)
{
  if (!shape->name || !shape->doc || !shape->keys || shape->key_count == 0 || !shape->read ||
      !shape->distance)
    GAB_FAIL(GAB_ERR_ARGUMENT, "shape '%s' lacks a name, a text, keys, what reads them or its distance",
             shape->name ? shape->name : "?");
  if (!shape->name[0] || strpbrk(shape->name, "|/ "))
    GAB_FAIL(GAB_ERR_ARGUMENT, "'%s' cannot be the name of a shape", shape->name);
  if (shape->key_count > GAB_MOST_BODY_SHAPE_KEYS)
    GAB_FAIL(GAB_ERR_ARGUMENT, "shape '%s' has %zu keys, more than %d", shape->name, shape->key_count,
             (int)GAB_MOST_BODY_SHAPE_KEYS);
  for (int i = 0; gab_body_shape_name(i); i++)
    if (strcmp(gab_body_shape_name(i), shape->name) == 0)
      GAB_FAIL(GAB_ERR_ARGUMENT, "there is already a shape '%s'", shape->name);
  for (int i = 0; i < GAB_MOST_BODY_SHAPES; i++)
    if (!registered[i]) {
      registered[i] = shape;
      return GAB_OK;
    }
  GAB_FAIL(GAB_ERR_ARGUMENT, "cannot add shape '%s': there are %d already", shape->name,
           (int)GAB_MOST_BODY_SHAPES);
}
