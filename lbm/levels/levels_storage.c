/* SPDX-License-Identifier: Apache-2.0 */
/* The lists of a block, its own or lent, and the storage of values that go with them. */
#include "lbm/levels/levels_lists_impl.h"

static bool has_beside(const gab_lbm_block *block, gab_beside_kind kind)
{
  for (int direction = 0; direction < GAB_DIRECTIONS; direction++)
    if (block->beside.kind[direction] == kind) return true;
  return false;
}

static gab_status make_side(gab_level_maker *by, bool as_coarse)
{
  GAB_TRY(gab_level_view_make(by->model, by->block, as_coarse, &by->view));
  by->paths = (gab_paths){.lattice = by->model->lattice, .what = gab_level_view_look, .user = &by->view};
  gab_status status = as_coarse ? gab_level_make_coarser_side(by) : gab_level_make_finer_side(by);
  gab_level_view_release(&by->view);
  return status;
}

gab_status gab_level_interface_list(const gab_lbm_model *model, const gab_lbm_block *block,
                                    gab_level_interface **interface)
{
  *interface = NULL;
  bool is_fine = has_beside(block, GAB_BESIDE_COARSER), is_coarse = has_beside(block, GAB_BESIDE_FINER);
  if (!is_fine && !is_coarse) return GAB_OK;
  gab_level_maker by = {.model = model, .block = block};
  GAB_TRY(GAB_NEW(&by.interface, GAB_MEMORY_OTHER));
  gab_status status = GAB_OK;
  if (is_fine) status = make_side(&by, false);
  if (is_coarse && status == GAB_OK) status = make_side(&by, true);
  gab_free(&by.keys.item);
  gab_free(&by.outgoing_list.item);
  gab_free(&by.explosions);
  gab_free(&by.coalescences[0]);
  gab_free(&by.coalescences[1]);
  gab_free(&by.carries);
  gab_free(&by.gains);
  gab_free(&by.order);
  gab_free(&by.drafts);
  if (status != GAB_OK) gab_level_interface_destroy(&by.interface);
  *interface = by.interface;
  return status;
}

gab_status gab_level_interface_allocate(gab_level_interface *interface)
{
  const size_t all = interface->value_count + interface->sum_count + interface->partial_count +
                     interface->arrival_count + interface->replacement_count;
  GAB_TRY(GAB_NEW_ARRAY(&interface->storage, all, GAB_MEMORY_OTHER));
  interface->values = interface->storage;
  interface->sums = interface->values + interface->value_count;
  interface->partials = interface->sums + interface->sum_count;
  interface->fresh = interface->partials + interface->partial_count;
  interface->charged = interface->fresh + interface->arrival_count;
  return GAB_OK;
}

gab_status gab_level_interface_borrow(const gab_level_interface *lender, gab_level_interface **interface)
{
  *interface = NULL;
  gab_level_interface *made;
  GAB_TRY(GAB_NEW(&made, GAB_MEMORY_OTHER));
  *made = *lender;
  made->borrows = true;
  made->storage = NULL;
  gab_status status = gab_level_interface_allocate(made);
  if (status != GAB_OK) gab_level_interface_destroy(&made);
  *interface = made;
  return status;
}

static void drop_lists(gab_level_interface *gone)
{
  gab_free(&gone->explosions);
  gab_free(&gone->explosion_terms);
  gab_free(&gone->across);
  gab_free(&gone->coalescences[0]);
  gab_free(&gone->coalescences[1]);
  gab_free(&gone->carries);
  gab_free(&gone->gains);
  gab_free(&gone->replacements);
  gab_free(&gone->walls);
  gab_free(&gone->outgoing_list);
  gab_free(&gone->arrivals);
  gab_free(&gone->arrival_terms);
  gab_free(&gone->order);
  gab_free(&gone->impulses);
  gab_level_interface_parts *parts[] = {&gone->down_in, &gone->across_in, &gone->across_out,
                                        &gone->up_out,  &gone->down_out,  &gone->up_in};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) gab_free(&parts[i]->item);
}

void gab_level_interface_destroy(gab_level_interface **interface)
{
  gab_level_interface *gone = *interface;
  if (!gone) return;
  gab_free(&gone->storage);
  if (!gone->borrows) drop_lists(gone);
  gab_free(interface);
}
