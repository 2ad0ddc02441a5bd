/* SPDX-License-Identifier: Apache-2.0 */
/* The collision models that can be chosen. */
#include "lbm/collision/collision.h"

#include <stdio.h>
#include <string.h>

enum { MOST_MODELS = 32 };
/* The first is the default. */
static const gab_collision *models[MOST_MODELS] = {&gab_collision_trt, &gab_collision_srt, &gab_collision_mrt,
                                                   &gab_collision_rr, &gab_collision_smagorinsky};

const gab_collision *gab_collision_at(int index)
{
  return index >= 0 && index < MOST_MODELS ? models[index] : NULL;
}

gab_status gab_collision_register(const gab_collision *model)
{
  if (!model->name || !model->title || !model->doc || !model->kernels || !model->magic)
    GAB_FAIL(GAB_ERR_ARGUMENT, "collision model '%s' lacks a name, a title, a text, kernels or its magic",
             model->name ? model->name : "?");
  if ((model->kernels == &gab_collision_kernels_of_cell) != (model->cell != NULL))
    GAB_FAIL(GAB_ERR_ARGUMENT,
             "collision model '%s': a function of one cell goes with the kernels of cells, and they with it",
             model->name);
  if (strpbrk(model->name, "|/ ") || strpbrk(model->title, "/, "))
    GAB_FAIL(GAB_ERR_ARGUMENT, "'%s', '%s' cannot be the name of a collision model", model->name,
             model->title);
  for (int i = 0; i < MOST_MODELS; i++) {
    if (!models[i]) {
      models[i] = model;
      return GAB_OK;
    }
    /* The title tells the arithmetic of a state from that of others. */
    if (strcmp(models[i]->name, model->name) == 0 || strcmp(models[i]->title, model->title) == 0)
      GAB_FAIL(GAB_ERR_ARGUMENT, "there is already a collision model '%s', %s", models[i]->name,
               models[i]->title);
  }
  GAB_FAIL(GAB_ERR_ARGUMENT, "cannot add collision model '%s': there are %d already", model->name,
           MOST_MODELS);
}

const gab_collision *gab_collision_by_name(const char *name)
{
  char known[512] = "";
  for (int i = 0; gab_collision_at(i); i++) {
    if (strcmp(models[i]->name, name) == 0) return models[i];
    size_t used = strlen(known);
    snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", models[i]->name);
  }
  gab_error_set(GAB_ERR_INPUT, __FILE__, __LINE__, "no collision model '%s' (there are: %s)", name, known);
  return NULL;
}
