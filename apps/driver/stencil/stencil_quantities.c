/* SPDX-License-Identifier: Apache-2.0 */
/* Output of a stencil: its fields, and the quantities of its program. */
#include "apps/driver/stencil/stencil_impl.h"

static gab_status evaluate_field(void *user, const gab_forest *forest, const gab_block *block, double *values)
{
  const stencil_view *view = user;
  const gab_field *now = gab_block_data(block, view->run->now);
  const gab_box box = gab_field_interior(now);
  (void)forest;
  gab_field_pack_box(now, &box, &view->field, 1, values);
  return GAB_OK;
}

static gab_status evaluate_own(void *user, const gab_forest *forest, const gab_block *block, double *values)
{
  const gab_own_quantity *own = user;
  const gab_stencil_quantity *quantity = own->descriptor;
  const stencil_run *it = own->of;
  const int32_t *cells = it->shape.shape.cells;
  if (it->updated != gab_forest_revision(forest) || it->updated_step != gab_world_step(it->base.world))
    GAB_FAIL(GAB_ERR_STATE, "quantity %s: the cells around blocks are not those of this step",
             quantity->name);
  gab_stencil_cell at = {.config = it->base.parameters->config,
                         .forest = forest,
                         .block = block,
                         .time = gab_app_stencil_time(it, it->updated_step),
                         .width = ldexp(1, it->parameters->finest - gab_block_level(forest, block)),
                         .now = gab_block_data(block, it->now)};
  for (at.z = 0; at.z < cells[2]; at.z++)
    for (at.y = 0; at.y < cells[1]; at.y++)
      for (at.x = 0; at.x < cells[0]; at.x++, values += quantity->components) quantity->evaluate(&at, values);
  return GAB_OK;
}

gab_status gab_app_stencil_register_quantities(void)
{
  gab_quantity fields[GAB_STENCIL_MOST_FIELDS];
  const int count = gab_app_stencil_field_count();
  for (int i = 0; i < count; i++) fields[i] = (gab_quantity){.name = gab_app_stencil->fields[i]};
  for (size_t i = 0; i < gab_app_stencil->quantity_count; i++) {
    const gab_stencil_quantity *one = &gab_app_stencil->quantities[i];
    const gab_quantity own = {.name = one->name,
                              .doc = one->doc,
                              .unit = one->unit,
                              .components = one->components,
                              .diverging = one->diverging,
                              .evaluate = one->evaluate ? evaluate_own : NULL,
                              .user = (void *)(uintptr_t)one}; /* only read */
    GAB_TRY(
        gab_own_quantity_register(gab_app_stencil->name, &own, (gab_quantity_list){fields, (size_t)count}));
  }
  return GAB_OK;
}

void gab_app_stencil_list_quantities(stencil_run *it)
{
  size_t count = 0;
  for (; gab_app_stencil->fields[count]; count++) {
    it->views[count] = (stencil_view){it, (int)count};
    it->quantities[count] = (gab_quantity){.name = gab_app_stencil->fields[count],
                                           .components = 1,
                                           .pointwise = true,
                                           .evaluate = evaluate_field,
                                           .user = &it->views[count]};
  }
  count = gab_own_quantities_append(gab_app_stencil->name, it, it->own, it->quantities, count);
  it->base.quantities = (gab_quantity_list){it->quantities, count};
}

/* Quantities may read ghosts. */
gab_status gab_app_stencil_update_quantities(gab_app_run *run)
{
  stencil_run *it = (stencil_run *)run;
  if (gab_app_stencil->quantity_count == 0) return GAB_OK;
  GAB_TRY(gab_app_stencil_exchange(it, gab_app_stencil_time(it, gab_world_step(run->world))));
  it->updated = gab_forest_revision(it->base.forest);
  it->updated_step = gab_world_step(it->base.world);
  return GAB_OK;
}

gab_config_choice gab_app_stencil_quantity_choice(int index)
{
  const int count = gab_app_stencil_field_count();
  return index < count ? (gab_config_choice){.name = gab_app_stencil->fields[index]}
                       : gab_own_quantity_choice(gab_app_stencil->name, index - count);
}
