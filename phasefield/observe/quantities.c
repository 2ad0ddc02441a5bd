/* SPDX-License-Identifier: Apache-2.0 */
/* Quantities to write out: those of the model, and those of a program's own. */
#include "phasefield/levels/levels_impl.h"

#include "blockforest/output/own_quantity.h"
#include "phasefield/observe/cell_quantity.h"

#include <math.h>
#include <string.h>

static const char own_quantities[] = "phase field";

/* ------------------------------------------------------------------------------------------ the model's */

typedef enum part_kind {
  PART_PHASE,
  PART_SOLID,
  PART_INTERFACE,
  PART_TEMPERATURE,
  PART_PHI,
  PART_MU,
  PART_C
} part_kind;

static double part_of_phi(const gab_phasefield_model *model, const gab_phasefield_part *part,
                          const gab_phasefield_block *block, const int32_t at[3])
{
  double best = -1, mixed = 0;
  int largest = 0;
  for (int a = 0; a < model->phases; a++) {
    double phi = gab_field_get(block->phi, at[0], at[1], at[2], a);
    mixed += phi * (1 - phi);
    if (phi > best) largest = a;
    best = fmax(best, phi);
  }
  if (part->kind == PART_PHASE) return largest;
  if (part->kind == PART_INTERFACE) return mixed;
  return 1 - gab_field_get(block->phi, at[0], at[1], at[2], model->melt);
}

static gab_status evaluate(void *user, const gab_forest *forest, const gab_block *place, double *values)
{
  (void)forest;
  const gab_phasefield_part *part = user;
  const gab_phasefield_view view = gab_phasefield_look(part->phasefield, place);
  const gab_phasefield_block *block = gab_block_data(place, part->phasefield->data);
  const gab_phasefield_model *model = block->model;
  const gab_field *fields[] = {[PART_PHI] = view.phi, [PART_MU] = view.mu, [PART_C] = view.c};
  int32_t at[3];
  for (at[2] = 0; at[2] < model->cells[2]; at[2]++)
    for (at[1] = 0; at[1] < model->cells[1]; at[1]++)
      for (at[0] = 0; at[0] < model->cells[0]; at[0]++)
        if (part->kind >= PART_PHI)
          *values++ = gab_field_get(fields[part->kind], at[0], at[1], at[2], part->index);
        else if (part->kind == PART_TEMPERATURE)
          *values++ =
              gab_phasefield_row_temperature(model, block->first[model->axis] + at[model->axis], model->step);
        else *values++ = part_of_phi(model, part, block, at);
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------------ own ones */

/* Along an axis of the domain; ghosts are there. */
static double difference(const gab_field *field, const int32_t at[3], int axis, int component)
{
  int32_t low[3] = {at[0], at[1], at[2]}, high[3] = {at[0], at[1], at[2]};
  low[axis]--;
  high[axis]++;
  return (gab_field_get(field, high[0], high[1], high[2], component) -
          gab_field_get(field, low[0], low[1], low[2], component)) /
         2;
}

static void fill_cell(const gab_phasefield_block *block, const gab_phasefield_view *view, const int32_t at[3],
                      bool gradient, gab_phasefield_cell *cell)
{
  for (int a = 0; a < cell->phases; a++) cell->phi[a] = gab_field_get(view->phi, at[0], at[1], at[2], a);
  for (int i = 0; i < cell->independents; i++) {
    cell->mu[i] = gab_field_get(view->mu, at[0], at[1], at[2], i);
    cell->c[i] = gab_field_get(view->c, at[0], at[1], at[2], i);
  }
  for (int axis = 0; gradient && axis < cell->dimension; axis++) {
    for (int a = 0; a < cell->phases; a++)
      cell->phi_gradient[a][axis] = difference(view->phi, at, axis, a) / cell->dx;
    for (int i = 0; i < cell->independents; i++)
      cell->mu_gradient[i][axis] = difference(view->mu, at, axis, i) / cell->dx;
  }
  const gab_phasefield_model *model = block->model;
  cell->temperature =
      gab_phasefield_row_temperature(model, block->first[model->axis] + at[model->axis], model->step);
}

static gab_status evaluate_own(void *user, const gab_forest *forest, const gab_block *place, double *values)
{
  const gab_own_quantity *own = user;
  const gab_phasefield_quantity *quantity = own->descriptor;
  const gab_phasefield *phasefield = own->of;
  const gab_phasefield_view view = gab_phasefield_look(phasefield, place);
  const gab_phasefield_block *block = gab_block_data(place, phasefield->data);
  const gab_phasefield_model *model = block->model;
  gab_phasefield_cell cell = {.dimension = model->dimension,
                              .level = gab_block_level(forest, place),
                              .phases = model->phases,
                              .independents = model->independents,
                              .dx = model->dx};
  if (quantity->gradient && (phasefield->ghosts_of != gab_forest_revision(forest) ||
                             phasefield->ghosts_step != gab_world_step(gab_forest_world(forest))))
    GAB_FAIL(GAB_ERR_STATE, "quantity %s without gab_phasefield_update_quantities()", quantity->name);
  int32_t at[3];
  for (at[2] = 0; at[2] < model->cells[2]; at[2]++)
    for (at[1] = 0; at[1] < model->cells[1]; at[1]++)
      for (at[0] = 0; at[0] < model->cells[0]; at[0]++, values += quantity->components) {
        gab_block_cell_centre(forest, place, at[0], at[1], at[2], cell.centre);
        if (cell.dimension == 2) cell.centre[2] = 0;
        fill_cell(block, &view, at, quantity->gradient, &cell);
        quantity->evaluate(&cell, values);
      }
  return GAB_OK;
}

static bool some_need_ghosts(void)
{
  const gab_quantity *own;
  for (int i = 0; (own = gab_own_quantity_at(own_quantities, i)); i++)
    if (((const gab_phasefield_quantity *)own->user)->gradient) return true;
  return false;
}

gab_status gab_phasefield_update_quantities(gab_phasefield *phasefield)
{
  if (!some_need_ghosts()) return GAB_OK;
  GAB_TRY(gab_phasefield_fill_ghosts(phasefield));
  phasefield->ghosts_of = gab_forest_revision(phasefield->forest);
  phasefield->ghosts_step = gab_world_step(gab_forest_world(phasefield->forest));
  return GAB_OK;
}

gab_status gab_phasefield_quantity_register(const gab_phasefield_quantity *quantity)
{
  static const char *const families[] = {"phi_", "mu_", "c_"};
  static const gab_quantity taken[] = {
      {.name = "phase"}, {.name = "solid"}, {.name = "interface"}, {.name = "temperature"}};
  for (int i = 0; i < 3 && quantity->name; i++)
    if (strncmp(quantity->name, families[i], strlen(families[i])) == 0)
      GAB_FAIL(GAB_ERR_ARGUMENT, "quantity '%s' has a name as those of a phase or a component",
               quantity->name);
  const gab_quantity own = {.name = quantity->name,
                            .doc = quantity->doc,
                            .unit = quantity->unit,
                            .components = quantity->components,
                            .diverging = quantity->diverging,
                            .pointwise = !quantity->gradient,
                            .evaluate = quantity->evaluate ? evaluate_own : NULL,
                            .user = (void *)(uintptr_t)quantity}; /* only read */
  return gab_own_quantity_register(own_quantities, &own,
                                   (gab_quantity_list){taken, sizeof taken / sizeof taken[0]});
}

gab_config_choice gab_phasefield_own_quantity_choice(int index)
{
  return gab_own_quantity_choice(own_quantities, index);
}

/* ------------------------------------------------------------------------------------------ all */

static void add_part(gab_phasefield *phasefield, gab_quantity *items, size_t *count, part_kind kind,
                     int index, const char *name)
{
  gab_phasefield_part *part = &phasefield->parts[*count];
  *part = (gab_phasefield_part){.phasefield = phasefield, .kind = kind, .index = index};
  snprintf(part->name, sizeof part->name, "%s", name);
  items[(*count)++] = (gab_quantity){
      .name = part->name, .components = 1, .pointwise = true, .evaluate = evaluate, .user = part};
}

gab_quantity_list gab_phasefield_quantities(gab_phasefield *phasefield,
                                            gab_quantity items[GAB_PHASEFIELD_MOST_QUANTITIES])
{
  const gab_phasefield_model *model = &phasefield->model;
  char name[GAB_PHASE_NAME_LENGTH + 8];
  size_t count = 0;
  add_part(phasefield, items, &count, PART_PHASE, 0, "phase");
  add_part(phasefield, items, &count, PART_SOLID, 0, "solid");
  add_part(phasefield, items, &count, PART_INTERFACE, 0, "interface");
  add_part(phasefield, items, &count, PART_TEMPERATURE, 0, "temperature");
  for (int a = 0; a < model->phases; a++) {
    snprintf(name, sizeof name, "phi_%s", model->options.thermo.phase[a].name);
    add_part(phasefield, items, &count, PART_PHI, a, name);
  }
  for (int i = 0; i < 2 * model->independents; i++) {
    snprintf(name, sizeof name, "%s_%d", i % 2 == 0 ? "mu" : "c", i / 2 + 1);
    add_part(phasefield, items, &count, i % 2 == 0 ? PART_MU : PART_C, i / 2, name);
  }
  count = gab_own_quantities_append(own_quantities, phasefield, phasefield->own, items, count);
  return (gab_quantity_list){.items = items, .count = count};
}
