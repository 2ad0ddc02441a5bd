/* SPDX-License-Identifier: Apache-2.0 */
/* The lists of a block, built from the paths of children: keys, and functions for both sides. Entry point: levels_storage.c. */
#include "lbm/levels/levels_lists_impl.h"

#include <math.h>
#include <stdlib.h>

static int in_order(const void *a, const void *b)
{
  const int32_t *left = a, *right = b;
  for (size_t i = 0; i < sizeof(gab_level_key) / sizeof(int32_t); i++)
    if (left[i] != right[i]) return left[i] < right[i] ? -1 : 1;
  return 0;
}

gab_status gab_level_list_grow(void **items, size_t count, size_t *capacity, size_t bytes_each)
{
  if (count < *capacity) return GAB_OK;
  size_t wanted = *capacity ? 2 * *capacity : 64;
  GAB_TRY(gab_realloc(wanted * bytes_each, GAB_MEMORY_OTHER, items));
  *capacity = wanted;
  return GAB_OK;
}

gab_status gab_level_keys_add(gab_level_keys *list, gab_level_key made)
{
  void *items = list->item;
  GAB_TRY(gab_level_list_grow(&items, list->count, &list->capacity, sizeof made));
  list->item = items;
  list->item[list->count++] = made;
  return GAB_OK;
}

void gab_level_keys_sort(gab_level_keys *list)
{
  if (list->count > 1) qsort(list->item, list->count, sizeof(gab_level_key), in_order);
  size_t kept = 0;
  for (size_t i = 0; i < list->count; i++)
    if (kept == 0 || in_order(&list->item[kept - 1], &list->item[i]) != 0) list->item[kept++] = list->item[i];
  list->count = kept;
}

uint32_t gab_level_keys_index(const gab_level_keys *list, const gab_level_key *wanted)
{
  const gab_level_key *found = bsearch(wanted, list->item, list->count, sizeof *wanted, in_order);
  return (uint32_t)(found - list->item);
}

gab_status gab_level_keys_parts(const gab_level_keys *list, int32_t first_group, int32_t end,
                                gab_level_interface_parts *parts)
{
  size_t groups = 0;
  for (size_t i = 0; i < list->count; i++) groups += i == 0 || list->item[i].group != list->item[i - 1].group;
  GAB_TRY(GAB_NEW_ARRAY(&parts->item, groups, GAB_MEMORY_OTHER));
  for (size_t i = 0; i < list->count; i++) {
    int32_t group = list->item[i].group;
    if (group < first_group || group >= end) continue;
    gab_level_interface_part *last = parts->count > 0 ? &parts->item[parts->count - 1] : NULL;
    if (last && last->group == group - first_group) last->last++;
    else
      parts->item[parts->count++] = (gab_level_interface_part){
          .group = group - first_group, .first = (uint32_t)i, .last = (uint32_t)i + 1};
  }
  return GAB_OK;
}

void gab_level_place_of(const gab_level_maker *by, const int32_t cell[3], int8_t place[3])
{
  for (int axis = 0; axis < 3; axis++) {
    int32_t n = by->model->cells[axis];
    place[axis] = (int8_t)((cell[axis] + 2 * n) / n - 2);
  }
}

int gab_level_seen_from(const gab_level_maker *by, const int32_t coarse[3], const int8_t place[3])
{
  int offset[3] = {0, 0, 0};
  for (int axis = 0; axis < by->model->lattice->dimension; axis++) {
    int32_t at = 2 * coarse[axis] - place[axis] * by->model->cells[axis];
    offset[axis] = at < 0 ? -1 : at >= by->model->cells[axis] ? 1 : 0;
  }
  return gab_direction_of(offset[0], offset[1], offset[2]);
}

gab_level_key gab_level_coarse_key(const gab_level_maker *by, const int32_t fine[3], const int32_t coarse[3],
                                   int what, int q)
{
  int8_t place[3];
  gab_level_place_of(by, fine, place);
  return gab_level_key_of(gab_level_interface_group(place, gab_level_seen_from(by, coarse, place)), coarse,
                          what, q);
}

gab_status gab_level_add_outgoing(gab_level_maker *by, const int32_t fine[3], const int32_t coarse[3],
                                  int what, const gab_level_interface_outgoing *outgoing)
{
  const gab_level_key made = gab_level_coarse_key(by, fine, coarse, what, outgoing->q);
  void *items = by->drafts;
  GAB_TRY(gab_level_keys_add(&by->outgoing_list, made));
  GAB_TRY(gab_level_list_grow(&items, by->draft_count, &by->draft_capacity, sizeof *by->drafts));
  by->drafts = items;
  by->drafts[by->draft_count++] = (gab_level_outgoing_draft){.name = made, .outgoing = *outgoing};
  return GAB_OK;
}

gab_status gab_level_add_explosion(gab_level_maker *by, const gab_level_explosion_draft *made)
{
  gab_level_interface *interface = by->interface;
  void *items = by->explosions;
  GAB_TRY(gab_level_keys_add(&by->keys, made->first));
  GAB_TRY(gab_level_keys_add(&by->keys, made->second));
  if (made->explosion.extended == 0) GAB_TRY(gab_level_keys_add(&by->keys, made->extended));
  GAB_TRY(gab_level_list_grow(&items, interface->explosion_count, &by->explosion_capacity, sizeof *made));
  by->explosions = items;
  by->explosions[interface->explosion_count++] = *made;
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------------ walls */

gab_status gab_level_append_term(gab_level_interface_term **terms, size_t *count,
                                 gab_level_interface_term made)
{
  GAB_TRY(GAB_RESIZE_ARRAY(terms, *count + 1, GAB_MEMORY_OTHER));
  (*terms)[(*count)++] = made;
  return GAB_OK;
}

gab_status gab_level_add_term(gab_level_maker *by, gab_level_interface_term **terms, size_t *count,
                              uint32_t at, const int32_t wall[3], int q, double share)
{
  int64_t global[3];
  gab_wall_terms given;
  for (int axis = 0; axis < 3; axis++) global[axis] = by->view.origin[axis] + wall[axis];
  gab_links_wall_terms(by->model, by->view.level, global, q, &given);
  for (int k = 0; k <= given.count; k++) {
    const bool is_side = k < given.count;
    const gab_level_interface_term made = {.at = at,
                                           .factor = is_side ? given.of[k].factor : -1,
                                           .term = share * (is_side ? given.of[k].term : given.body)};
    if (made.term != 0) GAB_TRY(gab_level_append_term(terms, count, made));
  }
  return GAB_OK;
}

gab_status gab_level_add_impulse(gab_level_maker *by, gab_level_interface_impulse made, const int32_t wall[3],
                                 const double middle[3], bool moves)
{
  int64_t global[3];
  gab_wall_terms given;
  gab_level_interface *interface = by->interface;
  for (int axis = 0; axis < 3; axis++) global[axis] = by->view.origin[axis] + wall[axis];
  const int body = gab_lbm_body_at(by->model, by->view.level, global);
  if (body < 0) return GAB_OK;
  made.body = (uint32_t)body;
  for (int axis = 0; axis < 3; axis++) {
    const bool refines = axis < by->model->lattice->dimension;
    const double place = (double)by->view.origin[axis] + (middle ? middle[axis] : wall[axis] + 0.5);
    made.point[axis] =
        refines ? ldexp(place, by->block->at->level - by->view.level) : (double)global[axis] + 0.5;
  }
  if (moves) {
    gab_links_wall_terms(by->model, by->view.level, global, gab_lattice_opposite(made.q), &given);
    made.term = given.body;
  }
  GAB_TRY(GAB_RESIZE_ARRAY(&interface->impulses, interface->impulse_count + 1, GAB_MEMORY_OTHER));
  interface->impulses[interface->impulse_count++] = made;
  return GAB_OK;
}
