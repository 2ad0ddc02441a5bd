/* SPDX-License-Identifier: Apache-2.0 */
/* The collision models that can be chosen. */
#include "lbm/collision/collision.h"

#include "core/base/registry_impl.h"

#include <string.h>

/* The first is the default. */
static gab_registry models = {.kind = "collision model",
                              .most = GAB_REGISTRY_MOST,
                              .entries = {&gab_collision_trt, &gab_collision_srt, &gab_collision_mrt,
                                          &gab_collision_rr, &gab_collision_smagorinsky}};

const gab_collision *gab_collision_at(int index) { return gab_registry_at(&models, index); }

gab_status gab_collision_register(const gab_collision *model)
{
  if (!model->name || !model->title || !model->doc || !model->kernels || !model->magic)
    GAB_FAIL(GAB_ERR_ARGUMENT, "collision model '%s' lacks a name, a title, a text, kernels or its magic",
             model->name ? model->name : "?");
  if ((model->kernels == &gab_collision_kernels_of_cell) != (model->cell != NULL))
    GAB_FAIL(GAB_ERR_ARGUMENT,
             "collision model '%s': a function of one cell goes with the kernels of cells, and they with it",
             model->name);
  if (strpbrk(model->title, "/, "))
    GAB_FAIL(GAB_ERR_ARGUMENT, "'%s' cannot be the title of a collision model", model->title);
  /* The title distinguishes the arithmetic of a state from others. */
  for (int i = 0; gab_collision_at(i); i++)
    if (strcmp(gab_collision_at(i)->title, model->title) == 0)
      GAB_FAIL(GAB_ERR_ARGUMENT, "there is already a collision model '%s', %s", gab_collision_at(i)->name,
               model->title);
  return gab_registry_add(&models, model);
}

const gab_collision *gab_collision_by_name(const char *name) { return gab_registry_require(&models, name); }
