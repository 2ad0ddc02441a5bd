/* SPDX-License-Identifier: Apache-2.0 */
#include "blockforest/output/own_quantity.h"

#include <string.h>

/* In the order of registration. */
static struct {
  const char *solver;
  gab_quantity quantity;
} all[GAB_MOST_OWN_QUANTITIES];
static int all_count;

const gab_quantity *gab_own_quantity_at(const char *solver, int index)
{
  for (int i = 0; i < all_count && index >= 0; i++)
    if (strcmp(all[i].solver, solver) == 0 && index-- == 0) return &all[i].quantity;
  return NULL;
}

gab_config_choice gab_own_quantity_choice(const char *solver, int index)
{
  const gab_quantity *own = gab_own_quantity_at(solver, index);
  return own ? (gab_config_choice){.name = own->name, .doc = own->doc} : (gab_config_choice){0};
}

size_t gab_own_quantities_append(const char *solver, void *of, gab_own_quantity own[GAB_MOST_OWN_QUANTITIES],
                                 gab_quantity *items, size_t count)
{
  const gab_quantity *registered;
  for (int i = 0; (registered = gab_own_quantity_at(solver, i)); i++) {
    if (own) own[i] = (gab_own_quantity){of, registered->user};
    items[count] = *registered;
    items[count++].user = own ? &own[i] : NULL;
  }
  return count;
}

gab_status gab_own_quantity_register(const char *solver, const gab_quantity *quantity,
                                     gab_quantity_list taken)
{
  const gab_quantity *other;
  GAB_TRY(gab_quantity_check(quantity));
  if (!quantity->doc) GAB_FAIL(GAB_ERR_ARGUMENT, "quantity '%s' lacks a text", quantity->name);
  for (size_t i = 0; i < taken.count; i++)
    if (strcmp(taken.items[i].name, quantity->name) == 0)
      GAB_FAIL(GAB_ERR_ARGUMENT, "there is already a quantity '%s'", quantity->name);
  for (int i = 0; (other = gab_own_quantity_at(solver, i)); i++)
    if (strcmp(other->name, quantity->name) == 0)
      GAB_FAIL(GAB_ERR_ARGUMENT, "there is already a quantity '%s'", quantity->name);
  if (all_count == GAB_MOST_OWN_QUANTITIES)
    GAB_FAIL(GAB_ERR_ARGUMENT, "cannot add quantity '%s': there are %d already", quantity->name, all_count);
  all[all_count].solver = solver;
  all[all_count++].quantity = *quantity;
  return GAB_OK;
}
