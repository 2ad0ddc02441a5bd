/* The quantities of a flow that a program has registered. */
#include "lbm/observe/quantities.h"

#include <string.h>

static const gab_lbm_quantity *registered[GAB_LBM_MOST_OWN_QUANTITIES];

const gab_lbm_quantity *gab_lbm_quantity_at(int index)
{
  return index >= 0 && index < GAB_LBM_MOST_OWN_QUANTITIES ? registered[index] : NULL;
}

static gab_status unused(void *user, const gab_forest *forest, const gab_block *block, double *values)
{
  (void)user, (void)forest, (void)block, (void)values;
  return GAB_ERR_STATE;
}

gab_status gab_lbm_quantity_register(const gab_lbm_quantity *quantity)
{
  gab_quantity items[GAB_LBM_MOST_QUANTITIES];
  const gab_quantity_list taken = gab_lbm_quantities_list(NULL, 2, items);
  const gab_quantity as_written = {
      .name = quantity->name, .components = quantity->components, .evaluate = unused};
  if (!quantity->name || !quantity->doc || !quantity->evaluate)
    GAB_FAIL(GAB_ERR_ARGUMENT, "quantity '%s' lacks a name, a text or what evaluates it",
             quantity->name ? quantity->name : "?");
  GAB_TRY(gab_quantity_check(&as_written));
  for (size_t i = 0; i < taken.count; i++)
    if (strcmp(taken.items[i].name, quantity->name) == 0)
      GAB_FAIL(GAB_ERR_ARGUMENT, "there is already a quantity '%s'", quantity->name);
  for (int i = 0; i < GAB_LBM_MOST_OWN_QUANTITIES; i++)
    if (!registered[i]) {
      registered[i] = quantity;
      return GAB_OK;
    }
  GAB_FAIL(GAB_ERR_ARGUMENT, "no room for quantity '%s': there are %d already", quantity->name,
           (int)GAB_LBM_MOST_OWN_QUANTITIES);
}
