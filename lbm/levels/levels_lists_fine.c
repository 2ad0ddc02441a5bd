/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of a block next to coarser ones: values received from them, and values sent to them. */
#include "lbm/levels/levels_lists_impl.h"

static const int8_t here[3] = {0, 0, 0};

static int child_at(const gab_level_maker *by, const int32_t cell[3])
{
  int child = 0;
  for (int axis = 0; axis < by->model->lattice->dimension; axis++) child |= (cell[axis] & 1) << axis;
  return child;
}

/* Impulse of a population that a fine cell sends in s1 and that is bounced back in s2. */
static gab_status add_impulse_of_coalescence(gab_level_maker *by, const gab_path_state *start)
{
  gab_path_state middle, turned;
  gab_path_step step;
  (void)gab_path_forth(&by->paths, start, &middle);
  turned = middle;
  turned.q = gab_lattice_opposite(middle.q);
  gab_path_back(&by->paths, &turned, &step);
  if (!step.bounced) return GAB_OK;
  const gab_level_interface_impulse made = {.kind = GAB_IMPULSE_SENT,
                                            .when = GAB_LEVEL_IN_FIRST,
                                            .at = gab_level_index_of(by, start->cell),
                                            .q = (int8_t)middle.q,
                                            .sent_q = (int8_t)start->q,
                                            .share = 1};
  return gab_level_add_impulse(by, made, step.wall, NULL, true);
}

static gab_status draft_explosion(void *user, const gab_child_explosion *explosion)
{
  gab_level_maker *by = user;
  const gab_path_step *second = &explosion->second;
  int32_t parent[3], source[3];
  gab_level_parent_of(by, explosion->at.cell, parent);
  gab_level_parent_of(by, second->from.cell, source);
  gab_level_explosion_draft made = {.explosion = {.cell = gab_level_index_of(by, explosion->at.cell),
                                                  .q = explosion->at.q,
                                                  .instead_of_link = UINT32_MAX}};
  made.first = gab_level_key_of(gab_level_seen_from(by, parent, here), parent,
                                child_at(by, explosion->at.cell), explosion->at.q);
  made.second = gab_level_key_of(gab_level_seen_from(by, source, here), source,
                                 child_at(by, second->from.cell), second->from.q);
  if (second->kind == GAB_PATH_OPEN)
    made.second = gab_level_key_of(gab_level_seen_from(by, parent, here), parent, GAB_LEVEL_KEY_ARRIVES,
                                   explosion->at.q);
  if (second->kind == GAB_PATH_FINE) {
    int offset[3];
    for (int axis = 0; axis < 3; axis++)
      offset[axis] = second->from.cell[axis] < 0                         ? 1
                     : second->from.cell[axis] >= by->model->cells[axis] ? -1
                                                                         : 0;
    made.second = gab_level_key_of(GAB_LEVEL_ACROSS + gab_direction_of(offset[0], offset[1], offset[2]),
                                   second->from.cell, GAB_LEVEL_KEY_ACROSS, second->from.q);
  }
  made.extended = made.first;
  made.explosion.extended = gab_level_is_extended(by, &explosion->at) ? 0 : UINT32_MAX;
  if (made.explosion.extended == 0) {
    made.explosion.body = gab_level_body_near(by, parent);
    if (made.explosion.body < 0) made.explosion.body = gab_level_body_near(by, source);
    made.extended.what += GAB_LEVEL_KEY_EXTENDED;
    GAB_TRY(gab_level_keys_add(&by->keys, made.extended));
  }
  GAB_TRY(gab_level_keys_add(&by->keys, made.first));
  GAB_TRY(gab_level_keys_add(&by->keys, made.second));
  gab_level_interface *interface = by->interface;
  if (second->bounced)
    GAB_TRY(gab_level_add_term(by, &interface->explosion_terms, &interface->explosion_term_count,
                               (uint32_t)interface->explosion_count, second->wall, explosion->at.q, 1));
  const gab_level_interface_impulse impulse = {.kind = GAB_IMPULSE_EXPLODED,
                                               .when = GAB_LEVEL_IN_SECOND,
                                               .at = (uint32_t)interface->explosion_count,
                                               .q = (int8_t)gab_lattice_opposite(explosion->at.q),
                                               .share = 1};
  if (second->bounced) GAB_TRY(gab_level_add_impulse(by, impulse, second->wall, NULL, true));
  return gab_level_add_explosion(by, &made);
}

static gab_status draft_coalescence(gab_level_maker *by, const gab_path_state *start, bool second)
{
  gab_path_state end, on_the_way;
  int32_t parent[3];
  gab_level_interface *interface = by->interface;
  if (gab_child_leaves(&by->paths, start, second, &end)) {
    if (!second) GAB_TRY(add_impulse_of_coalescence(by, start));
    gab_level_parent_of(by, end.cell, parent);
    gab_level_coalescence_draft made = {
        .coalescence = {.cell = gab_level_index_of(by, start->cell), .q = start->q},
        .sum = gab_level_key_of(gab_level_seen_from(by, parent, here), parent, GAB_LEVEL_KEY_SUM, end.q)};
    GAB_TRY(gab_level_keys_add(&by->keys, made.sum));
    void *items = by->coalescences[second];
    GAB_TRY(gab_level_list_grow(&items, interface->coalescence_count[second],
                                &by->coalescence_capacity[second], sizeof made));
    by->coalescences[second] = items;
    by->coalescences[second][interface->coalescence_count[second]++] = made;
    return GAB_OK;
  }
  if (second || gab_path_forth(&by->paths, start, &on_the_way) != GAB_PATH_COARSE ||
      gab_path_forth(&by->paths, &on_the_way, &end) != GAB_PATH_FINE)
    return GAB_OK;
  int offset[3];
  for (int axis = 0; axis < 3; axis++)
    offset[axis] = end.cell[axis] < 0 ? -1 : end.cell[axis] >= by->model->cells[axis] ? 1 : 0;
  return gab_level_keys_add(&by->outgoing_list,
                            gab_level_key_of(gab_direction_of(offset[0], offset[1], offset[2]), start->cell,
                                             GAB_LEVEL_KEY_ACROSS, start->q));
}

/* Populations that the outermost cells send into the coarse region. */
static gab_status draft_coalescences(gab_level_maker *by)
{
  const int32_t *cells = by->model->cells;
  const bool deep = by->model->lattice->dimension == 3;
  gab_path_state start;
  for (int32_t z = 0; z < cells[2]; z++)
    for (int32_t y = 0; y < cells[1]; y++)
      for (int32_t x = 0; x < cells[0]; x++) {
        bool inner = y > 0 && y + 1 < cells[1] && (!deep || (z > 0 && z + 1 < cells[2]));
        if (inner && x == 1 && cells[0] > 2) x = cells[0] - 1;
        start = (gab_path_state){.cell = {x, y, z}};
        if (gab_level_view_look(&by->view, start.cell).kind != GAB_PATH_FINE) continue;
        for (start.q = 1; start.q < by->model->lattice->q; start.q++) {
          const int8_t *c = by->model->lattice->c[start.q];
          const int32_t next[3] = {x + c[0], y + c[1], z + c[2]};
          if (gab_level_view_look(&by->view, next).kind == GAB_PATH_FINE)
            continue; /* does not reach the coarse region */
          for (int second = 0; second < 2; second++) GAB_TRY(draft_coalescence(by, &start, second));
        }
      }
  return GAB_OK;
}

static gab_status keep_explosions(gab_level_maker *by)
{
  gab_level_interface *interface = by->interface;
  gab_level_keys_sort(&by->keys);
  GAB_TRY(gab_level_keys_parts(&by->keys, 0, GAB_LEVEL_ACROSS, &interface->down_in));
  GAB_TRY(gab_level_keys_parts(&by->keys, GAB_LEVEL_ACROSS, INT32_MAX, &interface->across_in));
  interface->value_count = by->keys.count;
  GAB_TRY(GAB_NEW_ARRAY(&interface->explosions, interface->explosion_count, GAB_MEMORY_OTHER));
  for (size_t i = 0; i < interface->explosion_count; i++) {
    interface->explosions[i] = by->explosions[i].explosion;
    interface->explosions[i].first = gab_level_keys_index(&by->keys, &by->explosions[i].first);
    interface->explosions[i].second = gab_level_keys_index(&by->keys, &by->explosions[i].second);
    if (interface->explosions[i].extended == 0)
      interface->explosions[i].extended = gab_level_keys_index(&by->keys, &by->explosions[i].extended);
  }
  return GAB_OK;
}

static gab_status keep_across(gab_level_maker *by)
{
  gab_level_interface *interface = by->interface;
  gab_level_keys_sort(&by->outgoing_list);
  GAB_TRY(gab_level_keys_parts(&by->outgoing_list, 0, INT32_MAX, &interface->across_out));
  interface->across_count = by->outgoing_list.count;
  GAB_TRY(GAB_NEW_ARRAY(&interface->across, interface->across_count, GAB_MEMORY_OTHER));
  for (size_t i = 0; i < interface->across_count; i++) {
    const gab_level_key *from = &by->outgoing_list.item[i];
    const int32_t cell[3] = {from->x, from->y, from->z};
    interface->across[i] =
        (gab_level_interface_outgoing){.cell = gab_level_index_of(by, cell), .q = (int16_t)from->q};
  }
  return GAB_OK;
}

static gab_status keep_coalescences(gab_level_maker *by)
{
  gab_level_interface *interface = by->interface;
  gab_level_keys_sort(&by->keys);
  GAB_TRY(gab_level_keys_parts(&by->keys, 0, INT32_MAX, &interface->up_out));
  interface->sum_count = by->keys.count;
  for (int sub = 0; sub < 2; sub++) {
    GAB_TRY(
        GAB_NEW_ARRAY(&interface->coalescences[sub], interface->coalescence_count[sub], GAB_MEMORY_OTHER));
    for (size_t i = 0; i < interface->coalescence_count[sub]; i++) {
      interface->coalescences[sub][i] = by->coalescences[sub][i].coalescence;
      interface->coalescences[sub][i].sum = gab_level_keys_index(&by->keys, &by->coalescences[sub][i].sum);
    }
  }
  GAB_TRY(GAB_NEW_ARRAY(&interface->carries, interface->carry_count, GAB_MEMORY_OTHER));
  for (size_t i = 0; i < interface->carry_count; i++) {
    interface->carries[i] = by->carries[i].carry;
    interface->carries[i].sum = gab_level_keys_index(&by->keys, &by->carries[i].sum);
  }
  return keep_across(by);
}

gab_status gab_level_make_finer_side(gab_level_maker *by)
{
  const int32_t lo[3] = {0, 0, 0};
  GAB_TRY(gab_child_explosions(&by->paths, lo, by->model->cells, draft_explosion, by));
  GAB_TRY(gab_level_draft_open_places(by));
  GAB_TRY(keep_explosions(by));
  by->keys.count = 0;
  GAB_TRY(draft_coalescences(by));
  GAB_TRY(gab_level_draft_carries(by));
  return keep_coalescences(by);
}
