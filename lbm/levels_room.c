/* The lists of a block, its own or lent, and the room for values that go with them. */
#include "lbm/levels_impl.h"

gab_status gab_joint_make_room(gab_joint *joint)
{
  void *memory;
  const size_t all = joint->value_count + joint->sum_count + joint->partial_count + joint->arrival_count;
  GAB_TRY(gab_alloc(all * sizeof(double), GAB_MEMORY_OTHER, &memory));
  joint->room = memory;
  joint->values = joint->room;
  joint->sums = joint->values + joint->value_count;
  joint->partials = joint->sums + joint->sum_count;
  joint->fresh = joint->partials + joint->partial_count;
  return GAB_OK;
}

gab_status gab_joint_borrow(const gab_joint *lender, gab_joint **joint)
{
  void *memory;
  *joint = NULL;
  GAB_TRY(gab_alloc(sizeof **joint, GAB_MEMORY_OTHER, &memory));
  gab_joint *made = memory;
  *made = *lender;
  made->borrows = true;
  made->room = NULL;
  gab_status status = gab_joint_make_room(made);
  if (status != GAB_OK) gab_joint_destroy(&made);
  *joint = made;
  return status;
}

static void drop_lists(gab_joint *gone)
{
  gab_free(&gone->pulls);
  gab_free(&gone->pull_terms);
  gab_free(&gone->across);
  gab_free(&gone->picks[0]);
  gab_free(&gone->picks[1]);
  gab_free(&gone->gives);
  gab_free(&gone->arrivals);
  gab_free(&gone->arrival_terms);
  gab_free(&gone->order);
  gab_free(&gone->pushes);
  gab_joint_parts *parts[] = {&gone->down_in, &gone->across_in, &gone->across_out,
                              &gone->up_out,  &gone->down_out,  &gone->up_in};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i) gab_free(&parts[i]->item);
}

void gab_joint_destroy(gab_joint **joint)
{
  gab_joint *gone = *joint;
  if (!gone) return;
  gab_free(&gone->room);
  if (!gone->borrows) drop_lists(gone);
  gab_free(joint);
}
