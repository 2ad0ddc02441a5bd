/* SPDX-License-Identifier: Apache-2.0 */
/* Redundancy schemes as pure functions: one test for all schemes, over process counts, placements on nodes and
 * islands, and earlier deaths. Their results are compared with the data that would really be left. */
#include "resilience/schemes/placement_impl.h"

#include "core/base/hash.h"
#include "resilience/schemes/domains_impl.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 16, IMAGE = 720720 }; /* bytes of an image, which all groups divide */

/* User-defined schemes: the copy at the previous member; and an arbitrary function that stores the copies of all
 * members at the first two. */
static int one(int32_t count) { return count > 1; }
static int32_t all_the_way_back(const gab_scheme_places *places, int copy, int copies)
{
  (void)copy, (void)copies;
  return places->count - 1;
}
static int32_t at_the_first(const gab_scheme_places *places, int32_t place, int copy, int copies)
{
  (void)places, (void)copy, (void)copies;
  return place == 0;
}
static int three_at_most(int losses) { return losses < 3 ? losses : 3; }
static const gab_scheme before = {
    .name = "before", .doc = "the member before", .most_copies = one, .shift = all_the_way_back};
static const gab_scheme servers = {
    .name = "servers", .doc = "everything at the first members", .most_copies = one, .holder = at_the_first};
static const gab_scheme triple = {
    .name = "triple", .doc = "groups", .kind = GAB_SCHEME_GROUPS, .parities = three_at_most};

/* The real distribution, from the queries of the holders only. */
typedef struct truth {
  const gab_placement *placement;
  int32_t ranks;
  bool keeps[MOST][MOST]; /* holder, rank */
  int kept[MOST];         /* number of images at a holder */
  gab_group groups[MOST]; /* count 0: none */
} truth;

static gab_status note_kept(void *user, gab_rank rank, int copy)
{
  struct {
    truth *t;
    gab_rank keeper;
  } *note = user;
  assert_int_equal(gab_placement_holder(note->t->placement, rank, copy), note->keeper);
  assert_false(note->t->keeps[note->keeper][rank]);
  assert_int_not_equal(rank, note->keeper);
  note->t->keeps[note->keeper][rank] = true;
  note->t->kept[note->keeper]++;
  return GAB_OK;
}

static void find_truth(truth *t, const gab_placement *placement)
{
  *t = (truth){.placement = placement, .ranks = placement->members.ranks};
  int given = 0, kept = 0;
  for (gab_rank rank = 0; rank < t->ranks; rank++) {
    struct {
      truth *t;
      gab_rank keeper;
    } note = {t, rank};
    assert_int_equal(gab_placement_each_kept(placement, rank, note_kept, &note), GAB_OK);
    if (!gab_members_has(&placement->members, rank)) assert_int_equal(t->kept[rank], 0);
    kept += t->kept[rank];
    for (int k = 0; k < gab_placement_copies(placement); k++)
      given += gab_placement_holder(placement, rank, k) != GAB_NO_RANK;
    gab_placement_group(placement, rank, &t->groups[rank]);
  }
  assert_int_equal(given, kept); /* each sent copy is stored, by the same holders as above */
}

static bool left_in_group(const gab_group *group, const bool *dead)
{
  for (int stripe = 0; stripe < group->count; stripe++) {
    int missing = 0;
    for (int i = 0; i < group->count; i++) missing += dead[group->ranks[i]];
    if (missing > group->parities) return false;
  }
  return true;
}

static bool is_left(const truth *t, const bool *dead, gab_rank rank)
{
  if (!dead[rank]) return true;
  if (t->groups[rank].count) return left_in_group(&t->groups[rank], dead);
  for (gab_rank keeper = 0; keeper < t->ranks; keeper++)
    if (t->keeps[keeper][rank] && !dead[keeper]) return true;
  return false;
}

/* After these deaths the functions return the real result, and dead members of a group have different restorers. */
static bool check_deaths(const truth *t, const bool *dies)
{
  gab_members now;
  bool dead[MOST], all = true;
  gab_members_init(&now, t->ranks);
  for (gab_rank rank = 0; rank < t->ranks; rank++) {
    dead[rank] = dies[rank] || !gab_members_has(&t->placement->members, rank);
    if (dead[rank]) assert_int_equal(gab_members_remove(&now, rank), GAB_OK);
  }
  int restores[MOST] = {0};
  for (gab_rank rank = 0; rank < t->ranks; rank++) {
    if (!gab_members_has(&t->placement->members, rank)) continue;
    gab_rank restorer = gab_placement_restorer(t->placement, &now, rank);
    assert_int_equal(restorer != GAB_NO_RANK, is_left(t, dead, rank));
    all = all && restorer != GAB_NO_RANK;
    if (restorer == GAB_NO_RANK) continue;
    assert_false(dead[restorer]);
    if (!dead[rank]) assert_int_equal(restorer, rank);
    else if (!t->groups[rank].count) assert_true(t->keeps[restorer][rank]);
    restores[restorer] += dead[rank];
    const gab_group *group = &t->groups[rank];
    if (group->count && dead[rank] && 2 * group->parities <= group->count)
      assert_int_equal(restores[restorer], 1);
  }
  assert_int_equal(gab_placement_survives(t->placement, &now), all);
  gab_members_release(&now);
  return all;
}

static void check_group(const truth *t, gab_rank rank)
{
  const gab_group *group = &t->groups[rank];
  int pieces = gab_group_pieces(group);
  assert_int_equal(group->ranks[group->index], rank);
  assert_in_range(group->parities, 0, group->count - 1);
  for (int i = 0; i < group->count; i++) { /* the group is equal on all members */
    assert_memory_equal(t->groups[group->ranks[i]].ranks, group->ranks, sizeof group->ranks);
    assert_int_equal(t->groups[group->ranks[i]].index, i);
    for (int k = 0; k < group->parities; k++)
      assert_int_equal(gab_group_piece(group, i, gab_group_parity_stripe(group, i, k)), -1 - k);
    for (int p = 0; p < pieces; p++)
      assert_int_equal(gab_group_piece(group, i, gab_group_piece_stripe(group, i, p)), p);
  }
  for (int stripe = 0; stripe < group->count; stripe++) { /* each piece and parity is at exactly one member */
    uint64_t seen = 0;
    for (int i = 0; i < group->count; i++) seen |= UINT64_C(1) << (gab_group_piece(group, i, stripe) + 16);
    uint64_t due = ((UINT64_C(1) << pieces) - 1) << 16 | ((UINT64_C(1) << group->parities) - 1)
                                                             << (16 - group->parities);
    assert_true(seen == due);
  }
}

/* Whether the loss of each single domain of a kind is survived. */
static bool survives_domains(const truth *t, const gab_domains *domains, gab_domain_kind kind)
{
  bool all = true;
  for (gab_rank first = 0; first < t->ranks; first++) {
    bool dies[MOST] = {false};
    for (gab_rank rank = 0; rank < t->ranks; rank++)
      dies[rank] = gab_domains_together(domains, kind, first, rank);
    if (gab_members_has(&t->placement->members, first)) all = check_deaths(t, dies) && all;
  }
  return all;
}

static void check_losses(const truth *t, int promised)
{
  for (gab_rank a = 0; a < t->ranks; a++)
    for (gab_rank b = a; b < t->ranks; b++)
      for (gab_rank c = b; c < (t->ranks <= 6 ? t->ranks : b + 1); c++) {
        bool dies[MOST] = {false};
        dies[a] = dies[b] = dies[c] = true;
        int dead = 0;
        for (gab_rank rank = 0; rank < t->ranks; rank++)
          dead += dies[rank] && gab_members_has(&t->placement->members, rank);
        bool survived = check_deaths(t, dies);
        if (dead <= promised) assert_true(survived);
      }
}

static int32_t members_together(const gab_placement *p, const gab_domains *domains, gab_domain_kind kind,
                                gab_rank rank)
{
  int32_t count = 0;
  for (gab_rank other = 0; other < p->members.ranks; other++)
    count += gab_members_has(&p->members, other) && gab_domains_together(domains, kind, rank, other);
  return count;
}

/* Copies with separation: never in the domain of the own image if another one exists; all in different domains if
 * these are small enough. */
static void check_separation(const truth *t, const gab_domains *domains, gab_domain_kind kind)
{
  int32_t members = gab_members_count(&t->placement->members), largest = 0;
  int copies = gab_placement_copies(t->placement);
  for (gab_rank rank = 0; rank < t->ranks; rank++) {
    int32_t size = members_together(t->placement, domains, kind, rank);
    if (gab_members_has(&t->placement->members, rank) && size > largest) largest = size;
  }
  bool heeds = t->placement->scheme == &gab_scheme_pairwise || t->placement->scheme == &gab_scheme_ring;
  if (heeds) assert_int_equal(t->placement->given_up_separate, largest == members);
  for (gab_rank rank = 0; rank < t->ranks && !t->placement->given_up_separate; rank++) {
    gab_rank first = gab_placement_holder(t->placement, rank, 0);
    if (first == GAB_NO_RANK) continue;
    assert_false(gab_domains_together(domains, kind, rank, first));
    if ((copies + 1) * largest > members || !heeds) continue;
    for (int a = 1; a < copies; a++)
      for (int b = -1; b < a; b++)
        assert_false(gab_domains_together(domains, kind, gab_placement_holder(t->placement, rank, a),
                                          b < 0 ? rank : gab_placement_holder(t->placement, rank, b)));
  }
}

static void check_within(const truth *t, const gab_domains *domains, gab_domain_kind kind)
{
  for (gab_rank rank = 0; rank < t->ranks; rank++) {
    for (gab_rank keeper = 0; keeper < t->ranks; keeper++)
      if (t->keeps[keeper][rank]) assert_true(gab_domains_together(domains, kind, keeper, rank));
    for (int i = 0; i < t->groups[rank].count; i++)
      assert_true(gab_domains_together(domains, kind, rank, t->groups[rank].ranks[i]));
  }
}

static void check_costs(const truth *t, const gab_domains *domains, const gab_redundancy *asked)
{
  gab_placement_costs costs = gab_placement_get_costs(t->placement, IMAGE);
  double kept = 0;
  for (gab_rank rank = 0; rank < t->ranks; rank++) {
    double here = (double)t->kept[rank] * IMAGE;
    const gab_group *group = &t->groups[rank];
    if (group->count > 1) here = (double)IMAGE * group->parities / gab_group_pieces(group);
    if (here > kept) kept = here;
  }
  if (gab_placement_copies(t->placement) > 1) assert_true(costs.kept >= kept);
  else if (!asked->scheme->holder) assert_true(costs.kept == kept);
  check_losses(t, costs.any_losses);
  if (!domains) return;
  bool all = survives_domains(t, domains, GAB_DOMAIN_NODE);
  if (asked->scheme->holder || t->placement->separate != GAB_DOMAIN_NODE) return;
  if (costs.any_domain) assert_true(all); /* groups may survive more in their last domains */
  else if (gab_placement_copies(t->placement) == 1) assert_false(all);
}

static void check_placement(const gab_redundancy *asked, const gab_members *members,
                            const gab_domains *domains)
{
  static truth t;
  char text[1024];
  gab_placement placement;
  gab_placement_init(&placement);
  assert_int_equal(gab_placement_make(&placement, asked, members, domains), GAB_OK);
  find_truth(&t, &placement);
  for (gab_rank rank = 0; rank < t.ranks; rank++)
    if (t.groups[rank].count) check_group(&t, rank);
  check_costs(&t, domains, asked);
  if (domains && asked->separate > GAB_DOMAIN_NONE && asked->within <= GAB_DOMAIN_NONE &&
      asked->scheme->kind == GAB_SCHEME_COPIES && !asked->scheme->holder &&
      gab_placement_copies(&placement) > 0)
    check_separation(&t, domains, asked->separate);
  if (domains && asked->within > GAB_DOMAIN_NONE && !placement.given_up_within)
    check_within(&t, domains, asked->within);
  assert_true(strlen(gab_placement_describe(&placement, text, sizeof text)) > 10);
  bool warns = gab_placement_warning(&placement, asked, text, sizeof text) != NULL;
  if (placement.given_up_separate || placement.given_up_within) assert_true(warns);
  gab_placement_release(&placement);
}

/* ---------------------------------------------------------------- what is tried */

static const gab_redundancy tried[] = {
    {.scheme = &gab_scheme_none},
    {.scheme = &gab_scheme_pairwise},
    {.scheme = &gab_scheme_pairwise, .copies = 2},
    {.scheme = &gab_scheme_pairwise, .copies = 5},
    {.scheme = &gab_scheme_ring},
    {.scheme = &gab_scheme_ring, .copies = 2},
    {.scheme = &gab_scheme_ring, .copies = 3},
    {.scheme = &gab_scheme_parity, .group = 8},
    {.scheme = &gab_scheme_parity, .group = 4},
    {.scheme = &gab_scheme_parity, .group = 3},
    {.scheme = &gab_scheme_parity, .group = 2},
    {.scheme = &gab_scheme_reed_solomon, .group = 8, .losses = 2},
    {.scheme = &gab_scheme_reed_solomon, .group = 5, .losses = 2},
    {.scheme = &gab_scheme_reed_solomon, .group = 4, .losses = 3},
    {.scheme = &before},
    {.scheme = &servers},
    {.scheme = &triple, .group = 7, .losses = 4},
};
enum { TRIED = sizeof tried / sizeof tried[0] };

/* Placement number `which` of `ranks` ranks on nodes; false after the last. */
static bool place_ranks(int which, int32_t ranks, gab_domains **domains)
{
  char texts[MOST][32];
  const char *names[MOST];
  *domains = NULL;
  if (which == 0) return true; /* nothing is known */
  for (int32_t i = 0; i < ranks; i++) {
    unsigned random = (unsigned)(gab_hash_counter(5, (uint64_t)which, (uint64_t)i) % 1000);
    unsigned node = 0, island = 0, s = (unsigned)i;
    if (which <= 4) node = s / (unsigned)which; /* in blocks of 1 to 4 */
    else if (which == 5) node = s / 8;
    else if (which == 6) node = 0;
    else if (which <= 9) node = s % (unsigned)(which - 4);            /* round robin over 3, 4, 5 nodes */
    else if (which == 10) node = s % 3 == 2;                          /* one node has most ranks */
    else if (which == 11) node = s < 2 ? s : 2;                       /* nearly all */
    else if (which <= 14) node = random % 5, island = random % 5 % 2; /* at random */
    else if (which == 15) node = s / 2, island = s / 6;
    else if (which == 16) node = s % 4, island = s % 4 / 2;
    else return false;
    snprintf(texts[i], sizeof texts[i], "i%u/c/n%u", island, node);
    names[i] = texts[i];
  }
  assert_int_equal(gab_domains_from_names(names, ranks, domains), GAB_OK);
  return true;
}

static void with_choices(const gab_redundancy *scheme, const gab_members *members, const gab_domains *domains)
{
  static const gab_domain_kind separate[] = {GAB_DOMAIN_UNSET, GAB_DOMAIN_NONE, GAB_DOMAIN_NODE,
                                             GAB_DOMAIN_ISLAND};
  for (int s = 0; s < 4; s++)
    for (int w = 0; w < 2; w++) {
      gab_redundancy asked = *scheme;
      asked.separate = separate[s];
      asked.within = w ? GAB_DOMAIN_ISLAND : GAB_DOMAIN_NONE;
      if (!domains && (s > 1 || w)) continue;
      check_placement(&asked, members, domains);
    }
}

static void each_case(int first, int last)
{
  for (int32_t ranks = 1; ranks <= MOST; ranks++)
    for (int which = 0; which < 17; which++) {
      gab_domains *domains;
      assert_true(place_ranks(which, ranks, &domains));
      for (int deaths = 0; deaths < 4 && deaths < ranks; deaths += deaths + 1) {
        gab_members members;
        gab_members_init(&members, ranks);
        for (int d = 0; d < deaths; d++) {
          gab_rank gone =
              (gab_rank)(gab_hash_counter(7, (uint64_t)(ranks * 20 + which), (uint64_t)d) % (uint64_t)ranks);
          if (gab_members_count(&members) > 1) assert_int_equal(gab_members_remove(&members, gone), GAB_OK);
        }
        for (int i = first; i < last; i++) with_choices(&tried[i], &members, domains);
        gab_members_release(&members);
      }
      gab_domains_destroy(&domains);
    }
}

static void schemes_that_copy_tell_the_truth_about_every_loss(void **state)
{
  (void)state;
  each_case(0, 7);
}
static void groups_tell_the_truth_about_every_loss(void **state)
{
  (void)state;
  each_case(7, 14);
}
static void schemes_of_a_user_do_too(void **state)
{
  (void)state;
  each_case(14, TRIED);
}

/* ---------------------------------------------------------------- single claims */

static gab_placement make(const gab_redundancy *asked, int32_t ranks, const gab_domains *domains)
{
  gab_placement placement;
  gab_members all;
  gab_members_init(&all, ranks);
  gab_placement_init(&placement);
  assert_int_equal(gab_placement_make(&placement, asked, &all, domains), GAB_OK);
  return placement;
}

static void pairwise_with_an_even_number_makes_pairs(void **state)
{
  (void)state;
  for (int32_t count = 2; count <= 40; count += 2) {
    gab_placement p = make(&(gab_redundancy){.scheme = &gab_scheme_pairwise}, count, NULL);
    for (gab_rank i = 0; i < count; i++)
      assert_int_equal(gab_placement_holder(&p, gab_placement_holder(&p, i, 0), 0), i);
    gab_placement_release(&p);
  }
}

static void a_hundred_thousand_are_asked_at_once(void **state)
{
  (void)state;
  const int32_t ranks = 131072;
  gab_domains *domains;
  assert_int_equal(gab_domains_regular(ranks, 64, 128, &domains), GAB_OK);
  size_t held = gab_memory_now(GAB_MEMORY_USE_COUNT);
  gab_placement p =
      make(&(gab_redundancy){.scheme = &gab_scheme_pairwise, .separate = GAB_DOMAIN_ISLAND}, ranks, domains);
  gab_placement inside = make(&(gab_redundancy){.scheme = &gab_scheme_parity,
                                                .separate = GAB_DOMAIN_NODE,
                                                .within = GAB_DOMAIN_ISLAND},
                              ranks, domains);
  assert_in_range(gab_memory_now(GAB_MEMORY_USE_COUNT) - held, 0, 4096);
  for (gab_rank rank = 0; rank < ranks; rank += 101) {
    gab_group group;
    assert_false(gab_domains_together(domains, GAB_DOMAIN_ISLAND, rank, gab_placement_holder(&p, rank, 0)));
    assert_true(gab_placement_group(&inside, rank, &group));
    assert_int_equal(group.count, 8);
    for (int i = 0; i < 8; i++) {
      assert_true(gab_domains_together(domains, GAB_DOMAIN_ISLAND, rank, group.ranks[i]));
      if (i != group.index)
        assert_false(gab_domains_together(domains, GAB_DOMAIN_NODE, rank, group.ranks[i]));
    }
  }
  gab_placement_release(&inside);
  gab_placement_release(&p);
  gab_domains_destroy(&domains);
}

static void what_cannot_be_had_is_said_with_its_reason(void **state)
{
  (void)state;
  static const struct {
    gab_redundancy asked;
    int32_t ranks, per_node;
    const char *says;
  } cases[] = {
      {{.scheme = &gab_scheme_pairwise, .separate = GAB_DOMAIN_NODE}, 4, 4, "all processes are in one node"},
      {{.scheme = &gab_scheme_parity, .separate = GAB_DOMAIN_NODE}, 12, 7, "one node has too many"},
      {{.scheme = &gab_scheme_parity, .separate = GAB_DOMAIN_NODE}, 16, 8, "groups of 2 instead"},
      {{.scheme = &gab_scheme_reed_solomon, .within = GAB_DOMAIN_NODE}, 8, 2, "too few processes"},
      {{.scheme = &gab_scheme_pairwise, .separate = GAB_DOMAIN_NODE}, 8, 4, NULL},
      {{.scheme = &gab_scheme_parity, .separate = GAB_DOMAIN_NODE}, 16, 2, NULL},
      {{.scheme = &gab_scheme_pairwise}, 4, 4, NULL},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    gab_domains *domains;
    char text[1024];
    assert_int_equal(gab_domains_regular(cases[i].ranks, cases[i].per_node, 0, &domains), GAB_OK);
    gab_placement p = make(&cases[i].asked, cases[i].ranks, domains);
    const char *warning = gab_placement_warning(&p, &cases[i].asked, text, sizeof text);
    if (!cases[i].says) assert_null(warning);
    else if (!warning || !strstr(warning, cases[i].says))
      fail_msg("case %zu: %s", i, warning ? warning : "silent");
    gab_placement_release(&p);
    gab_domains_destroy(&domains);
  }
}

static void a_user_registers_a_scheme_under_a_new_name_only(void **state)
{
  (void)state;
  static const gab_scheme bare = {.name = "bare", .doc = "no callbacks"};
  assert_null(gab_scheme_by_name("before"));
  assert_non_null(strstr(gab_error_message(), "pairwise"));
  assert_int_equal(gab_scheme_register(&before), GAB_OK);
  assert_ptr_equal(gab_scheme_by_name("before"), &before);
  assert_int_equal(gab_scheme_register(&before), GAB_ERR_ARGUMENT);
  assert_int_equal(gab_scheme_register(&bare), GAB_ERR_ARGUMENT);
}

static void numbers_out_of_range_are_refused(void **state)
{
  (void)state;
  const gab_redundancy bad[] = {{.copies = 17},
                                {.copies = -1},
                                {.scheme = &gab_scheme_reed_solomon, .group = 3, .losses = 3},
                                {.scheme = &gab_scheme_parity, .group = 33},
                                {.scheme = &gab_scheme_reed_solomon, .group = 20, .losses = 9}};
  gab_members four;
  gab_members_init(&four, 4);
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    gab_placement p;
    gab_placement_init(&p);
    assert_int_equal(gab_placement_make(&p, &bad[i], &four, NULL), GAB_ERR_ARGUMENT);
    gab_placement_release(&p);
  }
}

/* After takeovers by spares the guarantees about nodes must hold for the present nodes of processes. */
static void check_where_they_sit(const gab_redundancy *asked, const gab_members *members,
                                 const gab_domains *domains, int *kept_apart)
{
  gab_placement placement;
  gab_placement_init(&placement);
  assert_int_equal(gab_placement_make(&placement, asked, members, domains), GAB_OK);
  for (gab_rank rank = 0; rank < members->ranks; rank++) /* waiting and dead processes store nothing */
    for (int k = 0; k < gab_placement_copies(&placement) && gab_members_has(members, rank); k++)
      assert_true(gab_members_has(members, gab_placement_holder(&placement, rank, k)));
  const bool promised = gab_placement_get_costs(&placement, IMAGE).any_domain;
  for (gab_process node = 0; node < gab_domains_ranks(domains) && promised;
       node++) { /* that of this process */
    gab_members left = {0};
    assert_int_equal(gab_members_copy(&left, members), GAB_OK);
    for (gab_rank rank = 0; rank < members->ranks; rank++)
      if (gab_members_has(members, rank) &&
          gab_domains_together(domains, GAB_DOMAIN_NODE, gab_members_process(members, rank), node))
        assert_int_equal(gab_members_remove(&left, rank), GAB_OK);
    assert_true(gab_members_count(&left) > 0 && gab_placement_survives(&placement, &left));
    gab_members_release(&left);
  }
  *kept_apart += promised;
  gab_placement_release(&placement);
}

static void copies_are_kept_apart_where_processes_sit_now(void **state)
{
  (void)state;
  static const char *const nodes[] = {"a", "b", "c", "d"};
  enum { DRAWS = 400 };
  int kept_apart = 0, looked_at = 0;
  for (uint64_t draw = 0; draw < DRAWS; draw++) {
    const char *names[MOST];
    const int32_t processes = 4 + (int32_t)(gab_hash_counter(7, draw, 0) % (MOST - 3));
    const gab_rank ranks =
        processes - 1 - (gab_rank)(gab_hash_counter(7, draw, 1) % (uint64_t)(processes / 2));
    for (int32_t process = 0; process < processes; process++)
      names[process] = nodes[gab_hash_counter(7, draw, 10 + (uint64_t)process) % 4];
    gab_domains *domains;
    gab_members members;
    assert_int_equal(gab_domains_from_names(names, processes, &domains), GAB_OK);
    gab_members_init(&members, ranks);
    gab_process spare = ranks;
    for (gab_rank rank = 0; rank < ranks; rank++) {
      if (gab_hash_counter(7, draw, 100 + (uint64_t)rank) % 3 || gab_members_count(&members) < 2) continue;
      assert_int_equal(gab_members_remove(&members, rank), GAB_OK);
      if (spare < processes) assert_int_equal(gab_members_return(&members, rank, spare++), GAB_OK);
    }
    for (size_t i = 0; i < TRIED; i++, looked_at++)
      if (!tried[i].scheme->holder) check_where_they_sit(&tried[i], &members, domains, &kept_apart);
    gab_members_release(&members);
    gab_domains_destroy(&domains);
  }
  assert_true(kept_apart > looked_at / 10); /* the check is not void */
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(copies_are_kept_apart_where_processes_sit_now),
      cmocka_unit_test(schemes_that_copy_tell_the_truth_about_every_loss),
      cmocka_unit_test(groups_tell_the_truth_about_every_loss),
      cmocka_unit_test(schemes_of_a_user_do_too),
      cmocka_unit_test(pairwise_with_an_even_number_makes_pairs),
      cmocka_unit_test(a_hundred_thousand_are_asked_at_once),
      cmocka_unit_test(what_cannot_be_had_is_said_with_its_reason),
      cmocka_unit_test(a_user_registers_a_scheme_under_a_new_name_only),
      cmocka_unit_test(numbers_out_of_range_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
