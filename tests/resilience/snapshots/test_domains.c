/* SPDX-License-Identifier: Apache-2.0 */
/* Failure domains: an order of ranks in which each domain is one range, compressed. */
/* gabion-test: labels=quick */
#include "resilience/schemes/domains_impl.h"

#include "core/base/hash.h"
#include "resilience/schemes/placement.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64, NAME = 32 };

typedef char name_text[NAME];

/* Two names share a domain of a kind if they agree completely, up to the last slash, or up to the slash before. */
static bool same_domain(const char *a, const char *b, gab_domain_kind kind)
{
  size_t lengths[2] = {strlen(a), strlen(b)};
  const char *names[2] = {a, b};
  for (int which = 0; which < 2; which++)
    for (int level = GAB_DOMAIN_NODE; level < (int)kind; level++) {
      while (lengths[which] > 0 && names[which][lengths[which] - 1] != '/') lengths[which]--;
      if (lengths[which] > 0) lengths[which]--;
    }
  return lengths[0] == lengths[1] && memcmp(a, b, lengths[0]) == 0;
}

static void check_order(const gab_domains *domains, int32_t count)
{
  bool seen[MOST] = {false};
  for (int32_t place = 0; place < count; place++) {
    gab_rank rank = gab_domains_rank(domains, place);
    assert_in_range(rank, 0, count - 1);
    assert_false(seen[rank]);
    seen[rank] = true;
    assert_int_equal(gab_domains_place(domains, rank), place);
  }
}

static void check_kind(const gab_domains *domains, name_text *names, int32_t count, gab_domain_kind kind)
{
  int32_t number = 0;
  for (int32_t place = 0; place < count; place++) {
    gab_places range = gab_domains_range(domains, kind, place);
    assert_in_range(place, range.first, range.first + range.count - 1);
    number += range.first == place;
    for (int32_t other = 0; other < count; other++) {
      gab_rank a = gab_domains_rank(domains, place), b = gab_domains_rank(domains, other);
      bool same = same_domain(names[a], names[b], kind);
      assert_int_equal(other >= range.first && other < range.first + range.count, same);
      assert_int_equal(gab_domains_together(domains, kind, a, b), same);
    }
  }
  assert_int_equal(gab_domains_number(domains, kind), number);
}

static void check_all(name_text *names, int32_t count)
{
  const char *pointers[MOST];
  gab_domains *domains, *again;
  gab_buffer bytes;
  gab_buffer_init(&bytes, GAB_MEMORY_OTHER);
  for (int32_t i = 0; i < count; i++) pointers[i] = names[i];
  assert_int_equal(gab_domains_from_names(pointers, count, &domains), GAB_OK);
  assert_int_equal(gab_domains_pack(domains, &bytes), GAB_OK);
  gab_reader in = gab_reader_of_buffer(&bytes);
  assert_int_equal(gab_domains_unpack(&in, &again), GAB_OK);
  check_order(domains, count);
  check_order(again, count);
  for (int kind = GAB_DOMAIN_NODE; kind <= GAB_DOMAIN_ISLAND; kind++) {
    check_kind(domains, names, count, (gab_domain_kind)kind);
    check_kind(again, names, count, (gab_domain_kind)kind);
  }
  gab_buffer_release(&bytes);
  gab_domains_destroy(&again);
  gab_domains_destroy(&domains);
}

static void any_names_become_ranges_of_one_order(void **state)
{
  (void)state;
  name_text names[MOST];
  for (uint64_t round = 0; round < 400; round++) {
    int32_t count = 1 + (int32_t)(gab_hash_counter(1, round, 0) % 40);
    uint64_t kinds = 1 + gab_hash_counter(1, round, 1) % 6, form = gab_hash_counter(1, round, 2) % 4;
    for (int32_t i = 0; i < count; i++) {
      unsigned a = (unsigned)(gab_hash_counter(2, round, (uint64_t)i) % kinds),
               b = (unsigned)((uint64_t)i % kinds);
      if (form == 0) snprintf(names[i], NAME, "n%u", a);
      else if (form == 1) snprintf(names[i], NAME, "c%u/n%u", a % 2, b);
      else if (form == 2) snprintf(names[i], NAME, "i%u/c%u/n%u", b % 2, a % 2, a);
      else snprintf(names[i], NAME, "node%d", i / (int)kinds);
    }
    check_all(names, count);
  }
}

static gab_domains *of_numbers(int32_t ranks, int32_t (*node)(int32_t rank))
{
  const char **names = calloc((size_t)ranks, sizeof *names);
  char *texts = calloc((size_t)ranks, NAME);
  gab_domains *domains;
  assert_non_null(names);
  assert_non_null(texts);
  for (int32_t i = 0; i < ranks; i++) {
    snprintf(texts + (size_t)i * NAME, NAME, "n%d", node(i));
    names[i] = texts + (size_t)i * NAME;
  }
  assert_int_equal(gab_domains_from_names(names, ranks, &domains), GAB_OK);
  free(names);
  free(texts);
  return domains;
}

static int32_t in_blocks(int32_t rank) { return rank / 48; }
static int32_t one_by_one(int32_t rank) { return rank % 1000; }
static int32_t in_pairs(int32_t rank) { return rank / 2 % 500; }
static int32_t with_a_gap(int32_t rank) { return (rank + (rank > 7777 ? 5 : 0)) / 48; }

static void memory_grows_with_irregularity_only(void **state)
{
  (void)state;
  int32_t (*const placements[])(int32_t) = {in_blocks, one_by_one, with_a_gap};
  for (size_t i = 0; i < sizeof placements / sizeof placements[0]; i++) {
    gab_domains *few = of_numbers(24000, placements[i]), *many = of_numbers(96000, placements[i]);
    assert_in_range(gab_domains_bytes(many), 1, 1000);
    assert_in_range(gab_domains_bytes(many), 1, gab_domains_bytes(few) + 100);
    for (gab_rank rank = 0; rank < 96000; rank += 997) {
      assert_int_equal(gab_domains_rank(many, gab_domains_place(many, rank)), rank);
      assert_true(gab_domains_together(many, GAB_DOMAIN_NODE, rank, rank));
      bool same = placements[i](rank) == placements[i](0);
      assert_int_equal(gab_domains_together(many, GAB_DOMAIN_NODE, rank, 0), same);
    }
    gab_domains_destroy(&few);
    gab_domains_destroy(&many);
  }
  gab_domains *pairs = of_numbers(96000, in_pairs);
  assert_in_range(gab_domains_bytes(pairs), 1, 96000); /* a row for each of its 500 nodes */
  gab_domains_destroy(&pairs);
}

static void regular_ones_need_no_names(void **state)
{
  (void)state;
  gab_domains *domains;
  for (int32_t ranks = 1; ranks <= 30; ranks++)
    for (int32_t per_node = 1; per_node <= 9; per_node++)
      for (int32_t per_island = 0; per_island <= 3; per_island++) {
        name_text names[MOST];
        for (int32_t i = 0; i < ranks; i++)
          snprintf(names[i], NAME, "i%d/c/n%d", per_island ? i / (per_node * per_island) : 0, i / per_node);
        assert_int_equal(gab_domains_regular(ranks, per_node, per_island, &domains), GAB_OK);
        check_order(domains, ranks);
        check_kind(domains, names, ranks, GAB_DOMAIN_NODE);
        check_kind(domains, names, ranks, GAB_DOMAIN_ISLAND);
        gab_domains_destroy(&domains);
      }
}

static void a_file_places_every_rank_once(void **state)
{
  (void)state;
  gab_domains *domains;
  const char *good =
      "# two nodes\nisland/chassis/a: [0-2, 6]\n\n island/chassis/b\t3 4-5 7-9:2 # the rest\nx: 8\n";
  assert_int_equal(gab_domains_parse("f", good, 10, 0, &domains), GAB_OK);
  assert_true(gab_domains_together(domains, GAB_DOMAIN_NODE, 0, 6));
  assert_true(gab_domains_together(domains, GAB_DOMAIN_NODE, 3, 9));
  assert_true(gab_domains_together(domains, GAB_DOMAIN_CHASSIS, 0, 3));
  assert_false(gab_domains_together(domains, GAB_DOMAIN_NODE, 0, 3));
  assert_false(gab_domains_together(domains, GAB_DOMAIN_CHASSIS, 0, 8));
  gab_domains_destroy(&domains);
  static const struct {
    const char *text, *says;
  } bad[] = {{"a 0-2\nb 2-3\n", "f:2: rank 2 was placed in a"},
             {"a 0-4\n", "f:1: there is no rank 4"},
             {"a 0-2\n", "f: rank 3 of 4 has no place"},
             {"a 0-x\n", "f:1: `0-x' are not ranks"},
             {"a 3-0\n", "f:1: `3-0' are not ranks"},
             {"\n\na 0-3:0\n", "f:3: `0-3:0' are not ranks"},
             {": 0-3\n", "f:1: a line is a name"},
             {"", "f: rank 0 of 4"}};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    assert_int_equal(gab_domains_parse("f", bad[i].text, 4, 0, &domains), GAB_ERR_INPUT);
    assert_null(domains);
    if (!strstr(gab_error_message(), bad[i].says)) fail_msg("%s: %s", bad[i].text, gab_error_message());
  }
}

/* ---------------------------------------------------------------- replacement processes */

enum { LATER = 8 };

/* Nodes of two chassis, chassis of two islands, in random order. */
static int32_t draw_names(uint64_t round, name_text *names)
{
  const int32_t count = 2 + (int32_t)(gab_hash_counter(4, round, 0) % 40);
  const uint64_t kinds = 1 + gab_hash_counter(4, round, 1) % 7;
  for (int32_t i = 0; i < count; i++) {
    const unsigned node = (unsigned)(gab_hash_counter(5, round, (uint64_t)i) % kinds);
    snprintf(names[i], NAME, "i%u/c%u/n%u", node % 4 / 2, node % 2, node);
  }
  return count;
}

/* @param[out] names of replacement processes: that of the origin, or a separate place */
static void draw_origins(uint64_t round, int32_t count, gab_process *origins, name_text *names)
{
  for (int32_t i = 0; i < LATER; i++) {
    const uint64_t drawn = gab_hash_counter(6, round, (uint64_t)i);
    origins[i] = drawn % 5 == 0 ? GAB_NO_PROCESS : (gab_process)(drawn / 5 % (uint64_t)count);
    if (origins[i] == GAB_NO_PROCESS) snprintf(names[count + i], NAME, "x%d/c/n", i);
    else memcpy(names[count + i], names[origins[i]], NAME);
  }
}

static void domains_of(name_text *names, int32_t count, gab_domains **domains)
{
  const char *pointers[MOST];
  for (int32_t i = 0; i < count; i++) pointers[i] = names[i];
  assert_int_equal(gab_domains_from_names(pointers, count, domains), GAB_OK);
}

static void require_equal(const gab_domains *a, const gab_domains *b)
{
  gab_buffer left, right;
  gab_buffer_init(&left, GAB_MEMORY_OTHER);
  gab_buffer_init(&right, GAB_MEMORY_OTHER);
  assert_int_equal(gab_domains_pack(a, &left), GAB_OK);
  assert_int_equal(gab_domains_pack(b, &right), GAB_OK);
  assert_int_equal(left.size, right.size);
  assert_memory_equal(left.data, right.data, left.size);
  gab_buffer_release(&left);
  gab_buffer_release(&right);
}

static void require_same_placement(const gab_placement *a, const gab_placement *b, const gab_members *left)
{
  for (gab_rank rank = 0; rank < a->members.ranks; rank++) {
    for (int k = 0; k < gab_placement_copies(a); k++)
      assert_int_equal(gab_placement_holder(a, rank, k), gab_placement_holder(b, rank, k));
    gab_group one = {.count = 0}, other = {.count = 0};
    assert_int_equal(gab_placement_group(a, rank, &one), gab_placement_group(b, rank, &other));
    assert_int_equal(one.count, other.count);
    for (int k = 0; k < one.count; k++) assert_int_equal(one.ranks[k], other.ranks[k]);
    if (gab_members_has(&a->members, rank))
      assert_int_equal(gab_placement_restorer(a, left, rank), gab_placement_restorer(b, left, rank));
  }
}

/* Removes some members before the snapshot and some more before the restore. */
static void draw_members(uint64_t round, int32_t count, gab_members *members, gab_members *left)
{
  gab_members_init(members, count);
  for (gab_rank rank = 1; rank < count; rank++)
    if (gab_hash_counter(7, round, (uint64_t)rank) % 6 == 0)
      assert_int_equal(gab_members_remove(members, rank), GAB_OK);
  gab_members_init(left, 0);
  assert_int_equal(gab_members_copy(left, members), GAB_OK);
  for (gab_rank rank = 1; rank < count; rank++)
    if (gab_hash_counter(8, round, (uint64_t)rank) % 6 == 0)
      assert_int_equal(gab_members_remove(left, rank), GAB_OK);
}

static void check_placements(uint64_t round, int32_t count, const gab_domains *before,
                             const gab_domains *after)
{
  static const gab_scheme *const schemes[] = {&gab_scheme_pairwise, &gab_scheme_ring, &gab_scheme_parity,
                                              &gab_scheme_reed_solomon};
  gab_members members, left;
  draw_members(round, count, &members, &left);
  for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++) {
    const gab_redundancy asked = {.scheme = schemes[i],
                                  .copies = 1 + (int)(round % 2),
                                  .group = 4,
                                  .losses = 2,
                                  .separate = (gab_domain_kind)(GAB_DOMAIN_NODE + round % 3),
                                  .within = GAB_DOMAIN_NONE};
    gab_placement one, other;
    gab_placement_init(&one);
    gab_placement_init(&other);
    assert_int_equal(gab_placement_make(&one, &asked, &members, before), GAB_OK);
    assert_int_equal(gab_placement_make(&other, &asked, &members, after), GAB_OK);
    require_same_placement(&one, &other, &left);
    gab_placement_release(&one);
    gab_placement_release(&other);
  }
  gab_members_release(&members);
  gab_members_release(&left);
}

static void who_comes_later_joins_and_moves_nobody(void **state)
{
  (void)state;
  name_text names[MOST];
  for (uint64_t round = 0; round < 400; round++) {
    const int32_t count = draw_names(round, names);
    gab_process origins[LATER];
    gab_domains *before, *after, *steps, *truth;
    draw_origins(round, count, origins, names);
    domains_of(names, count, &before);
    domains_of(names, count + LATER, &truth);
    assert_int_equal(gab_domains_extend(before, origins, LATER, &after), GAB_OK);
    require_equal(after, truth);
    gab_domains_destroy(&after);
    assert_int_equal(gab_domains_extend(before, origins, 3, &steps),
                     GAB_OK); /* or several recoveries in turn */
    assert_int_equal(gab_domains_extend(steps, origins + 3, LATER - 3, &after), GAB_OK);
    require_equal(after, truth);
    check_placements(round, count, before, after);
    gab_domains_destroy(&before);
    gab_domains_destroy(&steps);
    gab_domains_destroy(&after);
    gab_domains_destroy(&truth);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(any_names_become_ranges_of_one_order),
      cmocka_unit_test(memory_grows_with_irregularity_only),
      cmocka_unit_test(regular_ones_need_no_names),
      cmocka_unit_test(a_file_places_every_rank_once),
      cmocka_unit_test(who_comes_later_joins_and_moves_nobody),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
