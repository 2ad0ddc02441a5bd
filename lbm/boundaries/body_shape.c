/* SPDX-License-Identifier: Apache-2.0 */
/* Shapes of bodies by name: those of the library and registered ones. */
#include "lbm/boundaries/body_shape_impl.h"

#include "core/base/registry_impl.h"

/* By gab_shape. */
static const char *const shape_names[GAB_SHAPE_OWN] = {"box", "sphere", "cylinder", "mask"};

#define ROW(name) &gab_shape_##name,
static const gab_body_shape *const library[] = {GAB_LIBRARY_SHAPES(ROW)};
#undef ROW
enum { LIBRARY_COUNT = sizeof library / sizeof *library };

static const char *library_name(int index)
{
  if (index >= 0 && index < GAB_SHAPE_OWN) return shape_names[index];
  index -= GAB_SHAPE_OWN;
  return index >= 0 && index < LIBRARY_COUNT ? library[index]->name : NULL;
}
static gab_registry registered = {.kind = "shape", .most = GAB_MOST_BODY_SHAPES, .taken = library_name};

const gab_body_shape *gab_body_shape_at(int index)
{
  if (index >= 0 && index < LIBRARY_COUNT) return library[index];
  return gab_registry_at(&registered, index - LIBRARY_COUNT);
}

const char *gab_body_shape_name(int index)
{
  if (library_name(index)) return library_name(index);
  const gab_body_shape *own = gab_body_shape_at(index - GAB_SHAPE_OWN);
  return own ? own->name : NULL;
}

gab_status gab_body_shape_register(const gab_body_shape *shape)
{
  if (!shape->name || !shape->doc || !shape->keys || shape->key_count == 0 || !shape->read ||
      (!shape->distance && !shape->contains))
    GAB_FAIL(GAB_ERR_ARGUMENT, "shape '%s' lacks a name, a text, keys, what reads them or its distance",
             shape->name ? shape->name : "?");
  if (shape->key_count > GAB_MOST_BODY_SHAPE_KEYS)
    GAB_FAIL(GAB_ERR_ARGUMENT, "shape '%s' has %zu keys, more than %d", shape->name, shape->key_count,
             (int)GAB_MOST_BODY_SHAPE_KEYS);
  return gab_registry_add(&registered, shape);
}
