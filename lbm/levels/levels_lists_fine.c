/* What a block has beside coarser ones: what it takes from them, and what it sends to them. */
#include "lbm/levels/levels_lists_impl.h"

static const int8_t here[3] = {0, 0, 0};

static int child_at(const gab_level_maker *by, const int32_t cell[3])
{
  int child = 0;
  for (int axis = 0; axis < by->model->lattice->dimension; ++axis) child |= (cell[axis] & 1) << axis;
  return child;
}

/* By what a fine cell sends in s1, if it is thrown back in s2. */
static gab_status add_push_of_pick(gab_level_maker *by, const gab_path_state *start)
{
  gab_path_state middle, turned;
  gab_path_step step;
  (void)gab_path_forth(&by->paths, start, &middle);
  turned = middle;
  turned.q = gab_lattice_opposite(middle.q);
  gab_path_back(&by->paths, &turned, &step);
  if (!step.bounced) return GAB_OK;
  const gab_level_interface_push made = {.kind = GAB_PUSH_SENT,
                                         .when = GAB_LEVEL_IN_FIRST,
                                         .at = gab_level_index_of(by, start->cell),
                                         .q = (int8_t)middle.q,
                                         .sent_q = (int8_t)start->q,
                                         .share = 1};
  return gab_level_add_push(by, made, step.wall, true);
}

static gab_status draft_pull(void *user, const gab_child_pull *pull)
{
  gab_level_maker *by = user;
  const gab_path_step *second = &pull->second;
  int32_t parent[3], source[3];
  gab_level_parent_of(by, pull->at.cell, parent);
  gab_level_parent_of(by, second->from.cell, source);
  gab_level_pull_draft made = {.pull = {.cell = gab_level_index_of(by, pull->at.cell), .q = pull->at.q}};
  made.first = gab_level_key_of(gab_level_seen_from(by, parent, here), parent, child_at(by, pull->at.cell),
                                pull->at.q);
  made.second = gab_level_key_of(gab_level_seen_from(by, source, here), source,
                                 child_at(by, second->from.cell), second->from.q);
  if (second->kind == GAB_PATH_OPEN)
    made.second =
        gab_level_key_of(gab_level_seen_from(by, parent, here), parent, GAB_LEVEL_KEY_ARRIVES, pull->at.q);
  if (second->kind == GAB_PATH_FINE) {
    int offset[3];
    for (int axis = 0; axis < 3; ++axis)
      offset[axis] = second->from.cell[axis] < 0                         ? 1
                     : second->from.cell[axis] >= by->model->cells[axis] ? -1
                                                                         : 0;
    made.second = gab_level_key_of(GAB_LEVEL_ACROSS + gab_direction_of(offset[0], offset[1], offset[2]),
                                   second->from.cell, GAB_LEVEL_KEY_ACROSS, second->from.q);
  }
  GAB_TRY(gab_level_keys_add(&by->keys, made.first));
  GAB_TRY(gab_level_keys_add(&by->keys, made.second));
  void *items = by->pulls;
  gab_level_interface *interface = by->interface;
  GAB_TRY(gab_level_list_grow(&items, interface->pull_count, &by->pull_capacity, sizeof made));
  by->pulls = items;
  if (second->bounced)
    GAB_TRY(gab_level_add_term(by, &interface->pull_terms, &interface->pull_term_count,
                               (uint32_t)interface->pull_count, second->wall, pull->at.q, 1));
  const gab_level_interface_push push = {.kind = GAB_PUSH_PULLED,
                                         .when = GAB_LEVEL_IN_SECOND,
                                         .at = (uint32_t)interface->pull_count,
                                         .q = (int8_t)gab_lattice_opposite(pull->at.q),
                                         .share = 1};
  if (second->bounced) GAB_TRY(gab_level_add_push(by, push, second->wall, true));
  by->pulls[interface->pull_count++] = made;
  return GAB_OK;
}

static gab_status draft_pick(gab_level_maker *by, const gab_path_state *start, bool second)
{
  gab_path_state end, on_the_way;
  int32_t parent[3];
  gab_level_interface *interface = by->interface;
  if (gab_child_leaves(&by->paths, start, second, &end)) {
    if (!second) GAB_TRY(add_push_of_pick(by, start));
    gab_level_parent_of(by, end.cell, parent);
    gab_level_pick_draft made = {
        .pick = {.cell = gab_level_index_of(by, start->cell), .q = start->q},
        .sum = gab_level_key_of(gab_level_seen_from(by, parent, here), parent, GAB_LEVEL_KEY_SUM, end.q)};
    GAB_TRY(gab_level_keys_add(&by->keys, made.sum));
    void *items = by->picks[second];
    GAB_TRY(
        gab_level_list_grow(&items, interface->pick_count[second], &by->pick_capacity[second], sizeof made));
    by->picks[second] = items;
    by->picks[second][interface->pick_count[second]++] = made;
    return GAB_OK;
  }
  if (second || gab_path_forth(&by->paths, start, &on_the_way) != GAB_PATH_COARSE ||
      gab_path_forth(&by->paths, &on_the_way, &end) != GAB_PATH_FINE)
    return GAB_OK;
  int offset[3];
  for (int axis = 0; axis < 3; ++axis)
    offset[axis] = end.cell[axis] < 0 ? -1 : end.cell[axis] >= by->model->cells[axis] ? 1 : 0;
  return gab_level_keys_add(&by->gives, gab_level_key_of(gab_direction_of(offset[0], offset[1], offset[2]),
                                                         start->cell, GAB_LEVEL_KEY_ACROSS, start->q));
}

/* All that the outermost cells send. */
static gab_status draft_picks(gab_level_maker *by)
{
  const int32_t *cells = by->model->cells;
  const bool deep = by->model->lattice->dimension == 3;
  gab_path_state start;
  for (int32_t z = 0; z < cells[2]; ++z)
    for (int32_t y = 0; y < cells[1]; ++y)
      for (int32_t x = 0; x < cells[0]; ++x) {
        bool inner = y > 0 && y + 1 < cells[1] && (!deep || (z > 0 && z + 1 < cells[2]));
        if (inner && x == 1 && cells[0] > 2) x = cells[0] - 1;
        start = (gab_path_state){.cell = {x, y, z}};
        if (gab_level_view_look(&by->view, start.cell).kind != GAB_PATH_FINE) continue;
        for (start.q = 1; start.q < by->model->lattice->q; ++start.q) {
          const int8_t *c = by->model->lattice->c[start.q];
          const int32_t next[3] = {x + c[0], y + c[1], z + c[2]};
          if (gab_level_view_look(&by->view, next).kind == GAB_PATH_FINE) continue; /* goes nowhere else */
          for (int second = 0; second < 2; ++second) GAB_TRY(draft_pick(by, &start, second));
        }
      }
  return GAB_OK;
}

static gab_status keep_pulls(gab_level_maker *by)
{
  gab_level_interface *interface = by->interface;
  void *memory;
  gab_level_keys_sort(&by->keys);
  GAB_TRY(gab_level_keys_parts(&by->keys, 0, GAB_LEVEL_ACROSS, &interface->down_in));
  GAB_TRY(gab_level_keys_parts(&by->keys, GAB_LEVEL_ACROSS, INT32_MAX, &interface->across_in));
  interface->value_count = by->keys.count;
  GAB_TRY(gab_alloc(interface->pull_count * sizeof(gab_level_interface_pull), GAB_MEMORY_OTHER, &memory));
  interface->pulls = memory;
  for (size_t i = 0; i < interface->pull_count; ++i) {
    interface->pulls[i] = by->pulls[i].pull;
    interface->pulls[i].first = gab_level_keys_index(&by->keys, &by->pulls[i].first);
    interface->pulls[i].second = gab_level_keys_index(&by->keys, &by->pulls[i].second);
  }
  return GAB_OK;
}

static gab_status keep_across(gab_level_maker *by)
{
  gab_level_interface *interface = by->interface;
  void *memory;
  gab_level_keys_sort(&by->gives);
  GAB_TRY(gab_level_keys_parts(&by->gives, 0, INT32_MAX, &interface->across_out));
  interface->across_count = by->gives.count;
  GAB_TRY(gab_alloc(interface->across_count * sizeof *interface->across, GAB_MEMORY_OTHER, &memory));
  interface->across = memory;
  for (size_t i = 0; i < interface->across_count; ++i) {
    const gab_level_key *from = &by->gives.item[i];
    const int32_t cell[3] = {from->x, from->y, from->z};
    interface->across[i] =
        (gab_level_interface_give){.cell = gab_level_index_of(by, cell), .q = (int16_t)from->q};
  }
  return GAB_OK;
}

static gab_status keep_picks(gab_level_maker *by)
{
  gab_level_interface *interface = by->interface;
  gab_level_keys_sort(&by->keys);
  GAB_TRY(gab_level_keys_parts(&by->keys, 0, INT32_MAX, &interface->up_out));
  interface->sum_count = by->keys.count;
  for (int sub = 0; sub < 2; ++sub) {
    void *memory;
    GAB_TRY(
        gab_alloc(interface->pick_count[sub] * sizeof(gab_level_interface_pick), GAB_MEMORY_OTHER, &memory));
    interface->picks[sub] = memory;
    for (size_t i = 0; i < interface->pick_count[sub]; ++i) {
      interface->picks[sub][i] = by->picks[sub][i].pick;
      interface->picks[sub][i].sum = gab_level_keys_index(&by->keys, &by->picks[sub][i].sum);
    }
  }
  return keep_across(by);
}

gab_status gab_level_make_finer_side(gab_level_maker *by)
{
  const int32_t lo[3] = {0, 0, 0};
  GAB_TRY(gab_child_pulls(&by->paths, lo, by->model->cells, draft_pull, by));
  GAB_TRY(keep_pulls(by));
  by->keys.count = 0;
  GAB_TRY(draft_picks(by));
  return keep_picks(by);
}
