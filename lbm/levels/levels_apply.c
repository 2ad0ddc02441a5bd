/* SPDX-License-Identifier: Apache-2.0 */
/* Executes the lists of a block in a step. */
#include "lbm/levels/level_interface_impl.h"
#include "core/base/lower_bound_impl.h"

#include <string.h>

static double sent(const gab_lbm_block *block, uint32_t cell, int q)
{
  return gab_value_at(block->src, gab_place(cell, block->now->sent[q]));
}

static double factor(const gab_level_interface_term *term, const double ramp[GAB_SIDE_FACTORS])
{
  return term->factor < 0 ? 1 : ramp[term->factor];
}

/* ------------------------------------------------------------------------------------------ messages */

/* The part of one contact; empty if there is none. */
static gab_level_interface_part part_of(const gab_level_interface_parts *parts, int32_t group)
{
  size_t at = 0;
  GAB_LOWER_BOUND(size_t, at, parts->count, i, parts->item[i].group < group);
  if (at < parts->count && parts->item[at].group == group) return parts->item[at];
  return (gab_level_interface_part){0};
}

static gab_level_interface_part part(const gab_lbm_block *block, gab_coupling_way way,
                                     const gab_contact *contact, bool sends)
{
  const gab_level_interface *interface = block->interface;
  if (!interface) return (gab_level_interface_part){0};
  if (way == GAB_COUPLING_ACROSS)
    return part_of(sends ? &interface->across_out : &interface->across_in, contact->direction);
  bool is_down = way == GAB_COUPLING_DOWN;
  if (is_down != sends) /* the finer side */
    return part_of(sends ? &interface->up_out : &interface->down_in, contact->direction);
  return part_of(sends ? &interface->down_out : &interface->up_in,
                 gab_level_interface_group(contact->place, contact->direction));
}

static size_t interface_size(void *user, const void *data, gab_coupling_way way, const gab_contact *contact,
                             bool sends)
{
  (void)user;
  gab_level_interface_part found = part(data, way, contact, sends);
  return (found.last - found.first) * sizeof(double);
}

/* Population that a coarse cell sends in a direction, and its slopes along the axes, if any: differences and their factors. */
typedef struct source {
  double value, factor[3], difference[3];
} source;

static ptrdiff_t offset_of(const gab_field *field, int direction)
{
  int offset[3];
  gab_direction_offset(direction, offset);
  ptrdiff_t sum = 0;
  for (int axis = 0; axis < 3; axis++) sum += offset[axis] * field->map.stride[axis];
  return sum;
}

static source source_at(const gab_field *field, size_t place, uint8_t befores, uint8_t behinds,
                        const uint8_t via[3])
{
  source found = {.value = gab_value_at(field, place)};
  for (int axis = 0; axis < 3; axis++) {
    const ptrdiff_t stride = field->map.stride[axis];
    const bool before = befores >> axis & 1, behind = behinds >> axis & 1;
    if (!before && !behind) continue;
    const size_t middle = via && via[axis] > 0 && via[axis] != GAB_SLOPE_BY_WALL
                              ? gab_place(place, offset_of(field, via[axis] - 1))
                              : place;
    const double low = gab_value_at(field, before ? gab_place(middle, -stride) : middle);
    const double high = gab_value_at(field, behind ? gab_place(middle, stride) : middle);
    found.factor[axis] = before && behind ? 0.125 : 0.25;
    found.difference[axis] = high - low;
  }
  return found;
}

/* The same with slopes from neighbouring cells or from the wall, where it is the slope of the odd part of the equilibrium. */
static source extended_source(const gab_lbm_model *model, const gab_lbm_block *block, uint32_t cell, int q,
                              uint8_t befores, uint8_t behinds, const uint8_t via[3])
{
  const gab_level_interface *interface = block->interface;
  const gab_lattice *lattice = model->lattice;
  source found = source_at(block->src, gab_place(cell, block->now->sent[q]), befores, behinds, via);
  for (int axis = 0; axis < 3; axis++) {
    if (via[axis] != GAB_SLOPE_BY_WALL) continue;
    size_t k = 0;
    while (interface->walls[k].cell != cell) k++;
    const gab_level_interface_wall *wall = &interface->walls[k];
    double along = 0;
    for (int other = 1; other < lattice->q; other++) {
      const double product = lattice->c[q][0] * lattice->c[other][0] +
                             lattice->c[q][1] * lattice->c[other][1] +
                             lattice->c[q][2] * lattice->c[other][2];
      if (product != 0) along += product * sent(block, cell, other);
    }
    for (int k2 = 0; k2 < 3; k2++) along -= lattice->c[q][k2] * wall->velocity[k2];
    found.factor[axis] = 0.25;
    found.difference[axis] = 3 * lattice->weight[q] * along * wall->normal[axis];
  }
  return found;
}

/* The population at `weight` / 4 cells from the centre, minus that in the centre. */
static double beyond(const source *from, const int8_t weight[3])
{
  double more = 0;
  for (int axis = 0; axis < 3; axis++)
    if (weight[axis] != 0) more += weight[axis] * from->factor[axis] * from->difference[axis];
  return more;
}

static bool have_one_source(const gab_level_interface_outgoing *a, const gab_level_interface_outgoing *b)
{
  return a->cell == b->cell && a->q == b->q && a->kind == GAB_OUTGOING_SENT && b->kind == GAB_OUTGOING_SENT &&
         a->before == b->before && a->behind == b->behind && memcmp(a->via, b->via, sizeof a->via) == 0;
}

/* Arrival in a cell by its link, or the population in s2 of a child that entered through an open side. */
static double arriving(const gab_lbm_block *block, const gab_level_interface_outgoing *it)
{
  const gab_field *field = block->src;
  const double by_link = gab_value_at(field, gab_place(it->cell, block->now->arriving[it->q]));
  if (it->kind == GAB_OUTGOING_ARRIVING) return by_link;
  const size_t self = gab_place(it->cell, block->now->sent[it->q]);
  ptrdiff_t offset = 0;
  for (int axis = 0; axis < 3; axis++) offset += it->weight[axis] * field->map.stride[axis];
  return gab_value_at(field, self) + 0.5 * (by_link - gab_value_at(field, gab_place(self, offset)));
}

/* Sends the values of cells, and for children their slopes; those of one cell and direction are adjacent. Next to a border
 * across x each value lies in a cache line of its own: these are prefetched some items ahead, and those of the neighbours,
 * which are read earlier. */
static void give(const gab_lbm_model *model, const gab_lbm_block *block,
                 const gab_level_interface_outgoing *list, size_t count, unsigned char *bytes)
{
  enum { ITEMS_AHEAD = 64 };
  const gab_field *field = block->src;
  const ptrdiff_t *stride = field->map.stride, each = (ptrdiff_t)gab_precision_bytes(field->shape.precision);
  source from = {0};
  for (size_t i = 0; i < count; i++) {
    const gab_level_interface_outgoing *it = &list[i];
    double value;
    if (i + ITEMS_AHEAD < count) {
      const gab_level_interface_outgoing *next = &list[i + ITEMS_AHEAD];
      const unsigned char *there = (const unsigned char *)field->data +
                                   gab_place(next->cell, block->now->sent[next->q]) * (size_t)each;
      __builtin_prefetch(there);
      if (next->behind >> 1 & 1) __builtin_prefetch(there + stride[1] * each);
      if (next->behind >> 2 & 1) __builtin_prefetch(there + stride[2] * each);
    }
    if (it->kind != GAB_OUTGOING_SENT) value = arriving(block, it);
    else {
      if (i == 0 || !have_one_source(&list[i - 1], it))
        from = extended_source(model, block, it->cell, it->q, it->before, it->behind, it->via);
      value = from.value + beyond(&from, it->weight);
    }
    memcpy(bytes + i * sizeof value, &value, sizeof value);
  }
}

/* Sum that the children of the cell were given beyond its value: reads the same cells as give(), unchanged until all
 * arrivals are found. */
static double lent(const gab_lbm_block *block, const gab_level_interface_arrival *arrival)
{
  const size_t place = gab_place(arrival->cell, block->now->sent[gab_lattice_opposite(arrival->q)]);
  const source from = source_at(block->src, place, arrival->before, arrival->behind, NULL);
  return beyond(&from, arrival->lent);
}

static void interface_pack(void *user, const void *data, gab_coupling_way way, const gab_contact *contact,
                           void *bytes)
{
  const gab_lbm_block *block = data;
  const gab_level_interface *interface = block->interface;
  gab_level_interface_part found = part(block, way, contact, true);
  if (way == GAB_COUPLING_UP) {
    memcpy(bytes, interface->sums + found.first, (found.last - found.first) * sizeof(double));
    return;
  }
  const gab_level_interface_outgoing *list =
      way == GAB_COUPLING_DOWN ? interface->outgoing_list : interface->across;
  give(user, block, list + found.first, found.last - found.first, bytes);
}

static void interface_unpack(void *user, void *data, gab_coupling_way way, const gab_contact *contact,
                             const void *bytes)
{
  (void)user;
  gab_lbm_block *block = data;
  gab_level_interface_part found = part(block, way, contact, false);
  double *to = way == GAB_COUPLING_UP ? block->interface->partials : block->interface->values;
  memcpy(to + found.first, bytes, (found.last - found.first) * sizeof(double));
}

gab_coupling_kind gab_level_interface_kind(gab_lbm_model *model)
{
  return (gab_coupling_kind){.name = "lbm.levels",
                             .user = model,
                             .size = interface_size,
                             .pack = interface_pack,
                             .unpack = interface_unpack};
}

/* ------------------------------------------------------------------------------------------ cells */

static bool is_extended(const gab_level_interface_explosion *explosion)
{
  return explosion->extended != UINT32_MAX;
}

/* Contribution of moving bodies; sides are balanced separately (levels_balance.c). */
static double given_by_bodies(const gab_level_interface_term *terms, size_t count)
{
  double given = 0;
  for (size_t i = 0; i < count; i++)
    if (terms[i].factor < 0) given += terms[i].term;
  return given;
}

/* Value of an extended explosion minus the one that would conserve momentum: the population that meets the wall and comes
 * back. @param[in] terms  contribution of moving bodies */
static double replaced_by_extension(const gab_lbm_block *block, const gab_level_interface_explosion *it,
                                    int sub, double terms)
{
  const double *values = block->interface->values;
  if (it->instead_of_link != UINT32_MAX)
    return values[it->extended] + sent(block, it->instead_of_link, gab_lattice_opposite(it->q));
  return values[it->extended] - (values[sub == 0 ? it->first : it->second] + terms);
}

/* Mass that bodies create by moving and by extension past them. Each term is rounded like those of links, so that the sum
 * does not depend on the order of the lists, which differs with fused blocks. */
static double excess_of_explosions(const gab_lbm_block *block, int sub)
{
  const gab_level_interface *interface = block->interface;
  double excess = 0;
  for (size_t i = 0; i < interface->explosion_count; i++) {
    const gab_level_interface_explosion *it = &interface->explosions[i];
    if (!is_extended(it)) continue;
    const double instead = it->instead_of_link != UINT32_MAX
                               ? sent(block, it->instead_of_link, gab_lattice_opposite(it->q))
                               : interface->values[sub == 0 ? it->first : it->second];
    excess += gab_wall_excess_of(interface->values[it->extended] - instead);
  }
  for (size_t i = 0; i < interface->explosion_term_count && sub == 1; i++) {
    const gab_level_interface_term *term = &interface->explosion_terms[i];
    if (term->factor < 0 && !is_extended(&interface->explosions[term->at]))
      excess += gab_wall_excess_of(term->term);
  }
  return excess;
}

void gab_level_interface_explode(const gab_lbm_block *block, int sub, const double ramp[GAB_SIDE_FACTORS])
{
  gab_level_interface *interface = block->interface;
  if (!interface) return;
  interface->excess_of_explosions = excess_of_explosions(block, sub);
  for (size_t i = 0; i < interface->explosion_count; i++) {
    const gab_level_interface_explosion *explosion = &interface->explosions[i];
    const uint32_t value = is_extended(explosion) ? explosion->extended
                           : sub == 0             ? explosion->first
                                                  : explosion->second;
    gab_value_set(block->src, gab_place(explosion->cell, block->now->sent[explosion->q]),
                  interface->values[value]);
  }
  for (size_t i = 0; i < interface->explosion_term_count && sub == 1; i++) {
    const gab_level_interface_term *term = &interface->explosion_terms[i];
    const gab_level_interface_explosion *explosion = &interface->explosions[term->at];
    const size_t place = gab_place(explosion->cell, block->now->sent[explosion->q]);
    const bool adds = i > 0 && term[-1].at == term->at; /* a further side, in an edge */
    if (is_extended(explosion)) continue;
    gab_value_set(block->src, place,
                  (adds ? gab_value_at(block->src, place) : interface->values[explosion->second]) +
                      term->term * factor(term, ramp));
  }
}

static void coalesce(const gab_level_interface *interface, int sub, const gab_field *from,
                     const gab_storage *storage)
{
  for (size_t i = 0; i < interface->coalescence_count[sub]; i++) {
    const gab_level_interface_coalescence *it = &interface->coalescences[sub][i];
    interface->sums[it->sum] += gab_value_at(from, gab_place(it->cell, storage->sent[it->q]));
  }
}

void gab_level_interface_coalesce_first(const gab_lbm_block *block)
{
  const gab_level_interface *interface = block->interface;
  if (!interface) return;
  for (size_t i = 0; i < interface->sum_count; i++) interface->sums[i] = 0;
  coalesce(interface, 0, block->src, block->now);
  for (size_t i = 0; i < interface->carry_count; i++) {
    const gab_level_interface_carry *it = &interface->carries[i];
    const int back = gab_lattice_opposite(it->q);
    const double upper = sent(block, it->upper, it->q) - sent(block, it->upper, back);
    const double lower = sent(block, it->lower, it->q) - sent(block, it->lower, back);
    interface->sums[it->sum] += it->weight * (upper - lower);
  }
}

void gab_level_interface_coalesce_second(const gab_lbm_block *block, const gab_field *sent_there,
                                         const gab_storage *storage)
{
  if (block->interface) coalesce(block->interface, 1, sent_there, storage);
}

/* An arrival keeps only a share of a link of a body, so only this share of the link's mass counts. */
static double excess_of_arrivals(const gab_lbm_block *block)
{
  const gab_level_interface *interface = block->interface;
  double excess = given_by_bodies(interface->arrival_terms, interface->arrival_term_count);
  for (size_t i = 0; i < interface->impulse_count; i++) {
    const gab_level_interface_impulse *it = &interface->impulses[i];
    if (it->kind != GAB_IMPULSE_LINK) continue;
    const size_t place = gab_place(it->at, block->now->arriving[gab_lattice_opposite(it->q)]);
    excess +=
        gab_wall_excess_of(it->share * (gab_value_at(block->src, place) - sent(block, it->at, it->sent_q)));
  }
  return excess;
}

/* Value that the link of an open side extrapolated along the side (::GAB_OPEN_LINEAR). */
static double extrapolated(const gab_lbm_block *block, const gab_level_interface_arrival *arrival)
{
  const size_t self = gab_place(arrival->cell, block->now->sent[arrival->q]);
  ptrdiff_t offset = 0;
  for (int axis = 0; axis < 3; axis++) offset += arrival->other[axis] * block->src->map.stride[axis];
  return 2 * gab_value_at(block->src, self) - gab_value_at(block->src, gab_place(self, offset));
}

/* Population that a cell sent, shifted by the weights of a replacement. */
static double shifted(const gab_lbm_model *model, const gab_lbm_block *block,
                      const gab_level_interface_replacement *it, uint32_t cell, int q)
{
  const source from = extended_source(model, block, cell, q, it->before, it->behind, it->via);
  return from.value + beyond(&from, it->weight);
}

/* Value that replaces an arrival. */
static double replacement_of(const gab_lbm_model *model, const gab_lbm_block *block,
                             const gab_level_interface_replacement *it)
{
  const gab_level_interface *interface = block->interface;
  const gab_level_interface_arrival *arrival = &interface->arrivals[it->arrival];
  double sum = 0;
  switch ((gab_replacement_kind)it->kind) {
  case GAB_REPLACED_BY_LINK:
    return gab_value_at(block->src, gab_place(arrival->cell, block->now->arriving[arrival->q]));
  case GAB_REPLACED_BY_WALL:
    return it->a * sent(block, it->near, it->near_q) + it->b * sent(block, it->far, it->far_q) + it->term;
  case GAB_REPLACED_BY_WALL_AND_ARRIVAL:
    return it->a * sent(block, it->near, it->near_q) + it->b * interface->fresh[it->far] + it->term;
  case GAB_REPLACED_BY_EXTENSION:
    return shifted(model, block, it, arrival->cell, arrival->q);
  default:
    break;
  }
  for (uint32_t k = arrival->first; k < arrival->last; k++) sum += interface->partials[interface->order[k]];
  const double own = sent(block, arrival->cell, arrival->q);
  return (sum + (shifted(model, block, it, arrival->cell, arrival->q) - own)) / it->count;
}

static void replace_arrivals(const gab_lbm_model *model, const gab_lbm_block *block)
{
  gab_level_interface *interface = block->interface;
  for (size_t i = 0; i < interface->replacement_count; i++) {
    const gab_level_interface_replacement *it = &interface->replacements[i];
    const double made = replacement_of(model, block, it);
    interface->excess_of_arrivals += gab_wall_excess_of(made - interface->fresh[it->arrival]);
    interface->charged[i] = made - (interface->fresh[it->arrival] + it->dropped);
    interface->fresh[it->arrival] = made;
  }
}

void gab_level_interface_find_arrivals(const gab_lbm_model *model, const gab_lbm_block *block)
{
  gab_level_interface *interface = block->interface;
  if (!interface) return;
  interface->excess_of_arrivals = model->walls.is_on ? excess_of_arrivals(block) : 0;
  const double share = 1.0 / (1 << model->lattice->dimension);
  for (size_t i = 0; i < interface->arrival_count; i++) {
    const gab_level_interface_arrival *arrival = &interface->arrivals[i];
    size_t place = gab_place(arrival->cell, block->now->arriving[arrival->q]);
    double sum = 0;
    for (uint32_t k = arrival->first; k < arrival->last; k++) sum += interface->partials[interface->order[k]];
    if (arrival->times > 1)
      sum = arrival->times * sum +
            arrival->keep * (gab_value_at(block->src, place) - extrapolated(block, arrival));
    else if (arrival->keep > 0) sum += arrival->keep * gab_value_at(block->src, place);
    if (arrival->back > 0)
      sum += arrival->back * sent(block, arrival->cell, gab_lattice_opposite(arrival->q));
    if (arrival->before | arrival->behind) sum -= lent(block, arrival);
    interface->fresh[i] = share * sum; /* another arrival may still read the place */
  }
  for (size_t i = 0; i < interface->gain_count; i++) {
    const gab_level_interface_gain *gain = &interface->gains[i];
    interface->fresh[gain->arrival] += gain->weight * interface->partials[gain->sum];
  }
  replace_arrivals(model, block);
}

void gab_level_interface_correct(const gab_lbm_block *block, const double ramp[GAB_SIDE_FACTORS],
                                 const double growth[GAB_SIDE_FACTORS], bool ghosts_only)
{
  const gab_level_interface *interface = block->interface;
  if (!interface) return;
  for (size_t i = 0; i < interface->arrival_count; i++) {
    const gab_level_interface_arrival *arrival = &interface->arrivals[i];
    if (ghosts_only && !arrival->from_finer) continue;
    gab_value_set(block->src, gab_place(arrival->cell, block->now->arriving[arrival->q]),
                  interface->fresh[i]);
  }
  for (size_t i = 0; i < interface->arrival_term_count && !ghosts_only; i++) {
    const gab_level_interface_term *term = &interface->arrival_terms[i];
    const gab_level_interface_arrival *arrival = &interface->arrivals[term->at];
    size_t place = gab_place(arrival->cell, block->now->arriving[arrival->q]);
    gab_value_set(block->src, place,
                  gab_value_at(block->src, place) + term->term * factor(term, term->grows ? growth : ramp));
  }
}

/* ------------------------------------------------------------------------------------------ forces */

/* Momentum to the wall and back, both along the direction to the wall. */
static double impulse_from(const gab_lbm_block *block, const gab_level_interface_impulse *impulse)
{
  const gab_level_interface *interface = block->interface;
  switch ((gab_impulse_kind)impulse->kind) {
  case GAB_IMPULSE_EXPLODED:
    return 2 * interface->values[interface->explosions[impulse->at].second];
  case GAB_IMPULSE_LINK:
    return sent(block, impulse->at, impulse->sent_q) +
           gab_value_at(block->src,
                        gab_place(impulse->at, block->now->arriving[gab_lattice_opposite(impulse->q)]));
  case GAB_IMPULSE_LENT:
    return -2 * lent(block, &interface->arrivals[impulse->at]);
  default:
    return 2 * sent(block, impulse->at, impulse->sent_q);
  }
}

/* Takes from the body the momentum that the flow gains beyond conservation. */
static void take_from_body(const gab_lbm_model *model, const gab_lbm_block *block, uint32_t cell, int q,
                           int body, double gained, gab_body_sums *forces)
{
  double point[3];
  if (body < 0) return;
  gab_centre_of_index(model, block, cell, point);
  gab_body_push(model, block->at->level, (size_t)body, point, model->lattice->c[q],
                -(block->at->volume * gained), forces);
}

static void add_extended(const gab_lbm_model *model, const gab_lbm_block *block, int sub,
                         gab_body_sums *forces)
{
  const gab_level_interface *interface = block->interface;
  size_t term = 0;
  for (size_t i = 0; i < interface->explosion_count; i++) {
    const gab_level_interface_explosion *it = &interface->explosions[i];
    double terms = 0; /* they are in the order of the explosions */
    for (; term < interface->explosion_term_count && interface->explosion_terms[term].at <= i; term++)
      if (sub == 1 && interface->explosion_terms[term].at == i && interface->explosion_terms[term].factor < 0)
        terms += interface->explosion_terms[term].term;
    if (is_extended(it))
      take_from_body(model, block, it->cell, it->q, it->body, replaced_by_extension(block, it, sub, terms),
                     forces);
  }
}

void gab_level_interface_add_forces(const gab_lbm_model *model, const gab_lbm_block *block, int sub,
                                    gab_body_sums *forces)
{
  const gab_level_interface *interface = block->interface;
  for (size_t i = 0; interface && i < interface->impulse_count; i++) {
    const gab_level_interface_impulse *impulse = &interface->impulses[i];
    if (!(impulse->when >> sub & 1)) continue;
    const double given = block->at->volume * impulse->share * (impulse_from(block, impulse) + impulse->term);
    gab_body_push(model, block->at->level, impulse->body, impulse->point, model->lattice->c[impulse->q],
                  given, forces);
  }
  if (interface) add_extended(model, block, sub, forces);
}

void gab_level_interface_add_replaced_forces(const gab_lbm_model *model, const gab_lbm_block *block,
                                             gab_body_sums *forces)
{
  const gab_level_interface *interface = block->interface;
  for (size_t i = 0; interface && i < interface->replacement_count; i++) {
    const gab_level_interface_replacement *it = &interface->replacements[i];
    const gab_level_interface_arrival *arrival = &interface->arrivals[it->arrival];
    take_from_body(model, block, arrival->cell, arrival->q, it->body, interface->charged[i], forces);
  }
}
