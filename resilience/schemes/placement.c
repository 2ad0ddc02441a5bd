/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/lower_bound_impl.h"
#include "resilience/schemes/placement_impl.h"
#include "resilience/schemes/domains_impl.h"

#include <stdlib.h>
#include <string.h>

/* The ring of a place: the places that share redundancy with it, and its first place; vacant places are left
 * out. */
typedef struct arena {
  int32_t first;
  gab_scheme_places places;
} arena;

/* ---------------------------------------------------------------- places */

static int32_t place_of(const gab_placement *placement, gab_rank rank)
{
  const gab_process process = gab_members_process(&placement->members, rank);
  if (!placement->domains) return gab_members_index(&placement->places, rank);
  return process == GAB_NO_PROCESS
             ? -1
             : gab_members_index(&placement->places, gab_domains_place(placement->domains, process));
}

static gab_rank rank_at(const gab_placement *placement, int32_t index)
{
  int32_t place = gab_members_rank(&placement->places, index);
  if (!placement->domains) return place;
  return gab_members_rank_of_process(&placement->members, gab_domains_rank(placement->domains, place));
}

/* Number of vacant places before a place. */
static int32_t gone_before(const gab_placement *placement, int32_t place)
{
  const gab_members *places = &placement->places;
  int32_t at = 0;
  GAB_LOWER_BOUND(int32_t, at, places->gone_count, i, places->gone[i] < place);
  return at;
}

static int by_value(const void *a, const void *b)
{
  int32_t left = *(const int32_t *)a, right = *(const int32_t *)b;
  return (left > right) - (left < right);
}

static void leave_out(gab_placement *placement, gab_process process)
{
  gab_members *places = &placement->places;
  if (gab_members_rank_of_process(&placement->members, process) == GAB_NO_RANK)
    places->gone[places->gone_count++] = gab_domains_place(placement->domains, process);
}

/* A place belongs to a process. Places of failed and of waiting processes are omitted. The place of the first process of a
 * rank is vacant only if the rank is lost, or now has another process. */
static gab_status find_places(gab_placement *placement)
{
  const gab_members *members = &placement->members;
  gab_members *places = &placement->places;
  if (!placement->domains) return gab_members_copy(places, members);
  gab_members_release(places);
  gab_members_init(places, gab_domains_ranks(placement->domains));
  const int32_t vacant = places->ranks - gab_members_count(members);
  if (vacant == 0) return GAB_OK;
  GAB_TRY(GAB_NEW_ARRAY(&places->gone, (size_t)vacant, GAB_MEMORY_OTHER));
  for (int32_t i = 0; i < members->gone_count; i++) leave_out(placement, members->gone[i]);
  for (int32_t i = 0; i < members->return_count; i++)
    if (gab_members_has(members, members->returns[i].rank)) leave_out(placement, members->returns[i].rank);
  for (gab_process process = members->ranks; process < places->ranks; process++)
    leave_out(placement, process);
  qsort(places->gone, (size_t)places->gone_count, sizeof(int32_t), by_value);
  return GAB_OK;
}

/* ---------------------------------------------------------------- the largest domain in a range of places */

typedef struct search {
  const gab_placement *placement;
  gab_places range;
  int32_t largest, at; /* members of the largest domain so far, and its first place */
} search;

static void consider(search *find, int32_t size, int32_t at)
{
  if (size <= find->largest) return;
  find->largest = size;
  find->at = at;
}

/* Domains without vacant places are as large as at the start, so the first represents all. Those with vacant places are
 * examined one by one; the time grows with the number of deaths. */
static void look_at_run(void *user, int32_t first, int32_t size, int32_t count)
{
  search *find = user;
  const gab_members *places = &find->placement->places;
  int32_t lo = find->range.first, hi = lo + find->range.count, end = first + size * count;
  if (first < lo) first += (lo - first) / size * size;
  if (end > hi) end = hi;
  int32_t untouched = first; /* the first domain that may have no vacant place */
  for (int32_t i = gone_before(find->placement, first); i < places->gone_count && places->gone[i] < end;) {
    int32_t domain = first + (places->gone[i] - first) / size * size, gone = 0;
    for (; i < places->gone_count && places->gone[i] < domain + size; i++) gone++;
    consider(find, size - gone, domain);
    if (domain == untouched) untouched += size;
  }
  if (untouched < end) consider(find, size, untouched);
}

/* @param[in] range  of places, including vacant ones, that divides no domain */
static arena arena_of(const gab_placement *placement, gab_places range)
{
  int32_t first = range.first - gone_before(placement, range.first);
  int32_t end = range.first + range.count;
  arena made = {first, {.count = end - gone_before(placement, end) - first, .largest = 1}};
  if (!placement->domains || placement->separate <= GAB_DOMAIN_NONE) return made;
  search find = {.placement = placement, .range = range};
  gab_domains_each_size(placement->domains, placement->separate, look_at_run, &find);
  made.places.largest = find.largest;
  made.places.big = find.at - gone_before(placement, find.at) - first;
  return made;
}

/* The range of places that share redundancy with `place`, including vacant ones. */
static gab_places range_at(const gab_placement *placement, int32_t place)
{
  if (placement->domains && placement->within > GAB_DOMAIN_NONE)
    return gab_domains_range(placement->domains, placement->within, place);
  return (gab_places){0, placement->places.ranks};
}

static arena arena_around(const gab_placement *placement, int32_t index)
{
  return arena_of(placement, range_at(placement, gab_members_rank(&placement->places, index)));
}

/* ---------------------------------------------------------------- copies */

static int copies_in(const gab_placement *placement, const gab_scheme_places *places)
{
  if (placement->scheme->kind != GAB_SCHEME_COPIES) return 0;
  int most = placement->scheme->most_copies(places->count);
  return placement->copies < most ? placement->copies : most;
}

/* One domain has more than half of the places, so shifts cannot leave it. */
static bool is_dominated(const gab_scheme_places *places)
{
  return places->largest > places->count - places->largest;
}
static bool is_alone(const gab_scheme_places *places) { return places->largest == places->count; }

/* The ring for the scheme: without domains if these cannot be separated, or if separation must not cost memory. */
static gab_scheme_places places_for_copies(const gab_placement *placement, const gab_scheme_places *places)
{
  gab_scheme_places seen = *places;
  if (is_dominated(&seen) && (!placement->strict || is_alone(&seen))) seen.largest = 1;
  return seen;
}

static int32_t outside(const gab_scheme_places *places, int32_t number)
{
  return number < places->big ? number : number + places->largest;
}

/* First copy: members of the large domain distribute theirs over the others, whose copies go to the large domain. */
static int32_t dealt_out(const gab_scheme_places *places, int32_t place)
{
  int32_t rank = place - places->big, others = places->count - places->largest;
  if (rank >= 0 && rank < places->largest) return outside(places, rank % others);
  return places->big + (rank < 0 ? place : place - places->largest);
}

/* Further copies: at the next places, without the holder of the first copy. */
static int32_t behind(const gab_scheme_places *places, int32_t place, int copy)
{
  int32_t first = (dealt_out(places, place) - place + places->count) % places->count;
  return (int32_t)(((int64_t)place + copy + (first <= copy)) % places->count);
}

static int32_t copy_place(const gab_scheme *scheme, const gab_scheme_places *places, int32_t place, int copy,
                          int copies)
{
  if (scheme->holder) return scheme->holder(places, place, copy, copies);
  if (is_dominated(places) && places->largest > 1)
    return copy == 0 ? dealt_out(places, place) : behind(places, place, copy);
  return (int32_t)(((int64_t)place + scheme->shift(places, copy, copies)) % places->count);
}

/* Place of the next copy. A scheme may name a place twice, or the place itself; one copy per place is enough, and the own
 * image exists anyway. @return -1 if there is no new place */
static int32_t new_copy_place(const gab_scheme *scheme, const gab_scheme_places *places, int32_t place,
                              int copy, int copies)
{
  int32_t holder = copy_place(scheme, places, place, copy, copies);
  bool is_new = holder != place && holder >= 0 && holder < places->count;
  for (int k = 0; k < copy && is_new; k++) is_new = copy_place(scheme, places, place, k, copies) != holder;
  return is_new ? holder : -1;
}

int gab_placement_copies(const gab_placement *placement)
{
  gab_scheme_places all = {.count = gab_members_count(&placement->members), .largest = 1};
  return copies_in(placement, &all);
}

gab_rank gab_placement_holder(const gab_placement *placement, gab_rank rank, int copy)
{
  int32_t index = place_of(placement, rank);
  if (index < 0 || placement->scheme->kind != GAB_SCHEME_COPIES) return GAB_NO_RANK;
  arena here = arena_around(placement, index);
  gab_scheme_places places = places_for_copies(placement, &here.places);
  int copies = copies_in(placement, &places);
  if (copy < 0 || copy >= copies) return GAB_NO_RANK;
  int32_t holder = new_copy_place(placement->scheme, &places, index - here.first, copy, copies);
  return holder < 0 ? GAB_NO_RANK : rank_at(placement, here.first + holder);
}

/* ---------------------------------------------------------------- copies, seen from the holder */

typedef struct keeping {
  const gab_placement *placement;
  arena here;
  gab_scheme_places places;
  int32_t keeper;
  int copies;
  gab_kept_fn call;
  void *user;
} keeping;

/* Verifies that the place from the inverse formula holds that copy of `place`. */
static gab_status offer(const keeping *k, int64_t place, int copy)
{
  int32_t wrapped = (int32_t)((place + 2 * (int64_t)k->places.count) % k->places.count);
  if (new_copy_place(k->placement->scheme, &k->places, wrapped, copy, k->copies) != k->keeper) return GAB_OK;
  return k->call(k->user, rank_at(k->placement, k->here.first + wrapped), copy);
}

static gab_status offer_all(const keeping *k, int copy)
{
  for (int32_t place = 0; place < k->places.count; place++) GAB_TRY(offer(k, place, copy));
  return GAB_OK;
}

static gab_status offer_dealt_out(const keeping *k, int copy)
{
  const gab_scheme_places *places = &k->places;
  int32_t rank = k->keeper - places->big, others = places->count - places->largest;
  if (copy > 0) {
    GAB_TRY(offer(k, (int64_t)k->keeper - copy, copy));
    return places->count > 1 ? offer(k, (int64_t)k->keeper - copy - 1, copy) : GAB_OK;
  }
  if (rank >= 0 && rank < places->largest) return rank < others ? offer(k, outside(places, rank), 0) : GAB_OK;
  for (int32_t dealt = rank < 0 ? k->keeper : k->keeper - places->largest; dealt < places->largest;
       dealt += others)
    GAB_TRY(offer(k, places->big + dealt, 0));
  return GAB_OK;
}

gab_status gab_placement_each_kept(const gab_placement *placement, gab_rank keeper, gab_kept_fn call,
                                   void *user)
{
  int32_t index = place_of(placement, keeper);
  if (index < 0 || placement->scheme->kind != GAB_SCHEME_COPIES) return GAB_OK;
  keeping k = {.placement = placement, .here = arena_around(placement, index), .call = call, .user = user};
  k.places = places_for_copies(placement, &k.here.places);
  k.keeper = index - k.here.first;
  k.copies = copies_in(placement, &k.places);
  for (int copy = 0; copy < k.copies; copy++) {
    if (placement->scheme->holder) GAB_TRY(offer_all(&k, copy));
    else if (is_dominated(&k.places) && k.places.largest > 1) GAB_TRY(offer_dealt_out(&k, copy));
    else GAB_TRY(offer(&k, (int64_t)k.keeper - placement->scheme->shift(&k.places, copy, k.copies), copy));
  }
  return GAB_OK;
}

/* ---------------------------------------------------------------- groups */

static int parities_of(const gab_placement *placement)
{
  return placement->scheme->parities(placement->losses);
}

static int32_t divided(int32_t a, int32_t b) { return (a + b - 1) / b; }

/* Number of groups of a ring. Members of a group are this many places apart, so that a domain of m places
 * has at most ceil(m / groups) members in each. */
static int32_t groups_in(const gab_placement *placement, const gab_scheme_places *places)
{
  int32_t parities = parities_of(placement), most = places->count / (parities + 1);
  int32_t groups = divided(places->count, placement->group);
  if (placement->strict && divided(places->largest, groups) > parities) {
    int32_t apart = divided(places->largest, parities);
    if (apart <= most) groups = apart;
  }
  if (groups > most) groups = most;
  return groups < 1 ? 1 : groups;
}

static bool groups_survive_a_domain(const gab_placement *placement, const gab_scheme_places *places)
{
  int32_t groups = groups_in(placement, places), smallest = places->count / groups,
          parities = parities_of(placement);
  return divided(places->largest, groups) <= (parities < smallest ? parities : smallest - 1);
}

bool gab_placement_group(const gab_placement *placement, gab_rank rank, gab_group *group)
{
  int32_t index = place_of(placement, rank);
  if (index < 0 || placement->scheme->kind != GAB_SCHEME_GROUPS) return false;
  arena here = arena_around(placement, index);
  int32_t groups = groups_in(placement, &here.places), place = index - here.first;
  *group = (gab_group){.index = place / groups, .parities = parities_of(placement)};
  for (int32_t at = place % groups; at < here.places.count && group->count < GAB_MOST_GROUP; at += groups)
    group->ranks[group->count++] = rank_at(placement, here.first + at);
  if (group->parities > group->count - 1) group->parities = group->count - 1;
  return true;
}

int gab_group_pieces(const gab_group *group) { return group->count - group->parities; }

int gab_group_piece(const gab_group *group, int index, int stripe)
{
  int after = (index - stripe + group->count) % group->count;
  return after < group->parities ? -1 - after : after - group->parities;
}

int gab_group_parity_stripe(const gab_group *group, int index, int parity)
{
  return (index - parity + group->count) % group->count;
}

int gab_group_piece_stripe(const gab_group *group, int index, int piece)
{
  return (index - piece - group->parities + 2 * group->count) % group->count;
}

int gab_group_restorer(const gab_group *group, const bool *living, int index)
{
  int alive[GAB_MOST_GROUP], alive_count = 0, dead_before = 0, first_dead = group->count, start = 0;
  for (int i = 0; i < group->count; i++) {
    if (living[i]) {
      if (i < first_dead) start++; /* the first live one after the first failed one */
      alive[alive_count++] = i;
    } else {
      if (first_dead == group->count) first_dead = i;
      dead_before += i < index;
    }
  }
  if (group->count - alive_count > group->parities || alive_count == 0) return -1;
  return alive[(start + dead_before) % alive_count];
}

static gab_rank restorer_in_group(const gab_placement *placement, const gab_members *now, gab_rank rank)
{
  gab_group group;
  bool living[GAB_MOST_GROUP];
  if (!gab_placement_group(placement, rank, &group)) return GAB_NO_RANK;
  for (int i = 0; i < group.count; i++) living[i] = gab_members_has(now, group.ranks[i]);
  int restorer = gab_group_restorer(&group, living, group.index);
  return restorer < 0 ? GAB_NO_RANK : group.ranks[restorer];
}

/* ---------------------------------------------------------------- after deaths */

gab_rank gab_placement_restorer(const gab_placement *placement, const gab_members *now, gab_rank rank)
{
  if (gab_members_has(now, rank)) return rank;
  if (!gab_members_has(&placement->members, rank)) return GAB_NO_RANK;
  if (placement->scheme->kind == GAB_SCHEME_GROUPS) return restorer_in_group(placement, now, rank);
  for (int k = 0; k < gab_placement_copies(placement); k++) {
    gab_rank holder = gab_placement_holder(placement, rank, k);
    if (holder != GAB_NO_RANK && gab_members_has(now, holder)) return holder;
  }
  return GAB_NO_RANK;
}

bool gab_placement_survives(const gab_placement *placement, const gab_members *now)
{
  for (int32_t i = 0; i < now->gone_count; i++)
    if (gab_members_has(&placement->members, now->gone[i]) &&
        gab_placement_restorer(placement, now, now->gone[i]) == GAB_NO_RANK)
      return false;
  return true;
}

/* ---------------------------------------------------------------- what is possible */

/* Minimum number of members for the redundancy. */
static int32_t least_members(const gab_placement *placement)
{
  if (placement->scheme->kind == GAB_SCHEME_GROUPS) return parities_of(placement) + 1;
  return placement->scheme->most_copies(2) > 0 ? 2 : 1;
}

/* Whether a copy of each image is outside its domain; false for a scheme with a holder function, for which this is
 * not known. */
static bool copies_survive_a_domain(const gab_placement *placement, const gab_scheme_places *real)
{
  gab_scheme_places places = places_for_copies(placement, real);
  int copies = copies_in(placement, &places);
  if (placement->scheme->holder || copies == 0) return false;
  if (is_dominated(&places) && places.largest > 1) return true;
  for (int k = 0; k < copies; k++) {
    int32_t shift = placement->scheme->shift(&places, k, copies);
    if (shift >= real->largest && shift <= real->count - real->largest) return true;
  }
  return false;
}

static bool can_separate(const gab_placement *placement, const gab_scheme_places *places)
{
  if (is_alone(places)) return false;
  if (placement->scheme->kind == GAB_SCHEME_GROUPS) return groups_survive_a_domain(placement, places);
  return placement->scheme->most_copies(2) == 0 || copies_survive_a_domain(placement, places);
}

/* Calls `say` for every ring until a call returns false. With rings per island the time grows with the number of islands. */
static bool all_places(const gab_placement *placement,
                       bool (*say)(const gab_placement *, const gab_scheme_places *, void *), void *user)
{
  bool yes = true;
  for (int32_t place = 0; place < placement->places.ranks && yes;) {
    gab_places range = range_at(placement, place);
    arena here = arena_of(placement, range);
    if (here.places.count > 0) yes = say(placement, &here.places, user);
    place = range.first + range.count;
  }
  return yes;
}

static bool has_enough(const gab_placement *placement, const gab_scheme_places *places, void *user)
{
  (void)user;
  return places->count >= least_members(placement);
}
static bool separates(const gab_placement *placement, const gab_scheme_places *places, void *user)
{
  (void)user;
  return can_separate(placement, places);
}

/* Reduces the redundancy to what is possible; gab_placement_warning() reports it. */
static void settle(gab_placement *placement, const gab_redundancy *asked)
{
  bool has_domains = placement->domains != NULL;
  placement->within = has_domains ? asked->within : GAB_DOMAIN_NONE;
  placement->separate = GAB_DOMAIN_NONE;
  placement->given_up_within = !has_domains && asked->within > GAB_DOMAIN_NONE;
  if (has_domains)
    placement->given_up_within =
        placement->within > GAB_DOMAIN_NONE && !all_places(placement, has_enough, NULL);
  if (placement->given_up_within) placement->within = GAB_DOMAIN_NONE;
  placement->separate = asked->separate == GAB_DOMAIN_UNSET ? GAB_DOMAIN_NODE : asked->separate;
  if (!has_domains) placement->separate = GAB_DOMAIN_NONE;
  placement->strict = placement->separate > GAB_DOMAIN_NONE && asked->separate != GAB_DOMAIN_UNSET;
  placement->given_up_separate = !has_domains && asked->separate > GAB_DOMAIN_NONE;
  if (has_domains)
    placement->given_up_separate = placement->strict && !all_places(placement, separates, NULL);
}

static gab_status check(const gab_placement *placement)
{
  if (placement->copies < 0 || placement->copies > GAB_MOST_COPIES)
    GAB_FAIL(GAB_ERR_ARGUMENT, "%d copies of each image asked for; there can be 1 to %d", placement->copies,
             GAB_MOST_COPIES);
  if (placement->scheme->kind != GAB_SCHEME_GROUPS) return GAB_OK;
  int parities = parities_of(placement);
  if (parities < 1 || parities > GAB_MOST_LOSSES)
    GAB_FAIL(GAB_ERR_ARGUMENT, "%d losses per group asked for; there can be 1 to %d", parities,
             GAB_MOST_LOSSES);
  if (placement->group <= parities || placement->group > GAB_MOST_GROUP / 2)
    GAB_FAIL(GAB_ERR_ARGUMENT,
             "groups of %d members, which are to survive %d losses: %d to %d members it can be",
             placement->group, parities, parities + 1, GAB_MOST_GROUP / 2);
  return GAB_OK;
}

void gab_placement_init(gab_placement *placement)
{
  *placement = (gab_placement){.scheme = &gab_scheme_none};
}

void gab_placement_release(gab_placement *placement)
{
  gab_members_release(&placement->members);
  gab_members_release(&placement->places);
}

/* False if a process was respawned and is not yet part of the domains. */
static bool knows_processes(const gab_domains *domains, const gab_members *members)
{
  for (int32_t i = 0; i < members->return_count; i++)
    if (gab_members_process(members, members->returns[i].rank) >= gab_domains_ranks(domains)) return false;
  return true;
}

gab_status gab_placement_make(gab_placement *placement, const gab_redundancy *asked,
                              const gab_members *members, const gab_domains *domains)
{
  placement->scheme = asked->scheme ? asked->scheme : &gab_scheme_pairwise;
  placement->copies = asked->copies ? asked->copies : 1;
  placement->group = asked->group ? asked->group : 8;
  placement->losses = asked->losses ? asked->losses : 2;
  GAB_TRY(check(placement));
  if (domains && gab_domains_ranks(domains) < members->ranks)
    GAB_FAIL(GAB_ERR_ARGUMENT, "domains of %" PRId32 " ranks for %" GAB_PRI_RANK, gab_domains_ranks(domains),
             members->ranks);
  bool matters = domains && knows_processes(domains, members) &&
                 (asked->separate != GAB_DOMAIN_NONE || asked->within > GAB_DOMAIN_NONE);
  placement->domains = matters ? domains : NULL;
  GAB_TRY(gab_members_copy(&placement->members, members));
  GAB_TRY(find_places(placement));
  settle(placement, asked);
  return GAB_OK;
}

/* ---------------------------------------------------------------- costs */

typedef struct pricing {
  gab_placement_costs costs;
  double image;
} pricing;

static bool price_copies(const gab_placement *placement, const gab_scheme_places *real, pricing *price)
{
  gab_placement_costs *costs = &price->costs;
  gab_scheme_places places = places_for_copies(placement, real);
  int copies = copies_in(placement, &places), kept = copies, distinct = copies;
  bool dealt = is_dominated(&places) && places.largest > 1;
  /* Copies after the distributed first one skip its holder, so that one holder may get two copies of the same number. */
  if (dealt && copies > 0) kept = divided(places.largest, places.count - places.largest) + 2 * (copies - 1);
  for (int32_t place = 0; placement->scheme->holder && place < places.count; place++) {
    int here = 0;
    for (int k = 0; k < copies; k++)
      here += new_copy_place(placement->scheme, &places, place, k, copies) >= 0;
    if (here < distinct) distinct = here;
  }
  bool domain = placement->separate > GAB_DOMAIN_NONE && copies_survive_a_domain(placement, real);
  if (kept * price->image > costs->kept) costs->kept = kept * price->image;
  if (copies * price->image > costs->sent) costs->sent = copies * price->image;
  if (distinct < costs->any_losses) costs->any_losses = distinct;
  costs->any_domain = costs->any_domain && domain;
  return true;
}

/* Pieces are rounded up to whole bytes; the rest is a few bytes per message. */
static bool price_groups(const gab_placement *placement, const gab_scheme_places *places, pricing *price)
{
  gab_placement_costs *costs = &price->costs;
  int32_t groups = groups_in(placement, places), smallest = places->count / groups;
  int parities = parities_of(placement) < smallest ? parities_of(placement) : smallest - 1;
  if (parities > 0) {
    double kept = price->image * parities / (smallest - parities);
    if (kept > costs->kept) costs->kept = kept;
    if (parities * price->image > costs->sent) costs->sent = parities * price->image;
  }
  if (parities < costs->any_losses) costs->any_losses = parities;
  costs->any_domain = costs->any_domain && placement->separate > GAB_DOMAIN_NONE && !is_alone(places) &&
                      groups_survive_a_domain(placement, places);
  return true;
}

static bool price_places(const gab_placement *placement, const gab_scheme_places *places, void *user)
{
  if (placement->scheme->kind == GAB_SCHEME_GROUPS) return price_groups(placement, places, user);
  return price_copies(placement, places, user);
}

gab_placement_costs gab_placement_get_costs(const gab_placement *placement, double image)
{
  pricing price = {.costs = {.any_losses = INT32_MAX, .any_domain = placement->domains != NULL},
                   .image = image};
  all_places(placement, price_places, &price);
  if (price.costs.any_losses == INT32_MAX) price.costs.any_losses = 0;
  return price.costs;
}
