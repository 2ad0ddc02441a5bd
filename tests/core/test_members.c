/* Translation between slots and indices, against a plain array. */
#include "core/members.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/hash.h"

enum { SLOTS = 40 };

static void require_like(const gab_members *members, const bool *there)
{
  int32_t index = 0;
  for (gab_slot slot = 0; slot < SLOTS; slot++) {
    assert_int_equal(gab_members_has(members, slot), there[slot]);
    assert_int_equal(gab_members_index(members, slot), there[slot] ? index : -1);
    if (!there[slot]) continue;
    assert_int_equal(gab_members_slot(members, index), slot);
    index++;
  }
  assert_int_equal(gab_members_count(members), index);
  assert_int_equal(gab_members_slot(members, index), GAB_NO_SLOT);
  assert_int_equal(gab_members_slot(members, -1), GAB_NO_SLOT);
  assert_false(gab_members_has(members, -1));
  assert_false(gab_members_has(members, SLOTS));
  assert_int_equal(gab_members_index(members, GAB_NO_SLOT), -1);
}

static void members_translate_like_a_plain_array(void **state)
{
  (void)state;
  for (uint64_t round = 0; round < 50; round++) {
    gab_members members;
    bool there[SLOTS];
    for (int i = 0; i < SLOTS; i++) there[i] = true;
    gab_members_init(&members, SLOTS);
    require_like(&members, there);
    for (uint64_t i = 0; i < SLOTS + 20; i++) {
      const gab_slot slot = (gab_slot)(gab_hash_counter(7, round, i) % (SLOTS + 4)) - 2;
      assert_int_equal(gab_members_remove(&members, slot), GAB_OK);
      if (slot >= 0 && slot < SLOTS) there[slot] = false;
      require_like(&members, there);
    }
    gab_members_release(&members);
  }
}

static void members_can_all_be_gone(void **state)
{
  (void)state;
  gab_members members;
  bool there[SLOTS] = {false};
  gab_members_init(&members, SLOTS);
  for (gab_slot slot = SLOTS - 1; slot >= 0; slot--)
    assert_int_equal(gab_members_remove(&members, slot), GAB_OK);
  require_like(&members, there);
  gab_members_release(&members);
  gab_members_init(&members, 0);
  assert_int_equal(gab_members_count(&members), 0);
  assert_int_equal(gab_members_slot(&members, 0), GAB_NO_SLOT);
  gab_members_release(&members);
}

static void copies_live_apart(void **state)
{
  (void)state;
  gab_members members, copy = {0};
  gab_members_init(&members, SLOTS);
  assert_int_equal(gab_members_remove(&members, 3), GAB_OK);
  assert_int_equal(gab_members_copy(&copy, &members), GAB_OK);
  assert_int_equal(gab_members_remove(&members, 5), GAB_OK);
  assert_int_equal(gab_members_count(&copy), SLOTS - 1);
  assert_true(gab_members_has(&copy, 5));
  assert_int_equal(gab_members_copy(&copy, &members), GAB_OK);
  assert_false(gab_members_has(&copy, 5));
  gab_members_release(&members);
  gab_members_release(&copy);
  assert_int_equal(gab_memory_now(GAB_MEMORY_USE_COUNT), 0);
}

static void packed_members_come_back(void **state)
{
  (void)state;
  gab_members members, back;
  gab_buffer packed = {0};
  bool there[SLOTS];
  for (int i = 0; i < SLOTS; i++) there[i] = i % 3 != 0;
  gab_members_init(&members, SLOTS);
  gab_members_init(&back, 2);
  for (gab_slot slot = 0; slot < SLOTS; slot += 3)
    assert_int_equal(gab_members_remove(&members, slot), GAB_OK);
  assert_int_equal(gab_members_pack(&members, &packed), GAB_OK);
  gab_reader reader = gab_reader_of_buffer(&packed);
  assert_int_equal(gab_members_unpack(&back, &reader), GAB_OK);
  assert_int_equal(gab_reader_left(&reader), 0);
  require_like(&back, there);
  gab_members_release(&members);
  gab_members_release(&back);
  gab_buffer_release(&packed);
}

static void require_refused(int32_t slots, uint64_t count, const gab_slot *gone, size_t given)
{
  gab_buffer packed = {0};
  gab_members members;
  gab_members_init(&members, 5);
  assert_int_equal(gab_put_i32(&packed, slots), GAB_OK);
  assert_int_equal(gab_put_u64(&packed, count), GAB_OK);
  for (size_t i = 0; i < given; i++) assert_int_equal(gab_put_i32(&packed, gone[i]), GAB_OK);
  gab_reader reader = gab_reader_of_buffer(&packed);
  const gab_reader before = reader;
  assert_int_equal(gab_members_unpack(&members, &reader), GAB_ERR_CORRUPT);
  assert_ptr_equal(reader.at, before.at);
  assert_int_equal(gab_members_count(&members), 5);
  gab_members_release(&members);
  gab_buffer_release(&packed);
}

static void nonsense_is_not_unpacked(void **state)
{
  (void)state;
  require_refused(-1, 0, NULL, 0);
  require_refused(4, 2, (gab_slot[]){1}, 1);
  require_refused(4, 2, (gab_slot[]){1, 1}, 2);
  require_refused(4, 2, (gab_slot[]){2, 1}, 2);
  require_refused(4, 1, (gab_slot[]){4}, 1);
  require_refused(4, 1, (gab_slot[]){-1}, 1);
  require_refused(1, 2, (gab_slot[]){0, 1}, 2);
  require_refused(4, UINT64_MAX, (gab_slot[]){0, 1}, 2);
  assert_int_equal(gab_memory_now(GAB_MEMORY_USE_COUNT), 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(members_translate_like_a_plain_array),
      cmocka_unit_test(members_can_all_be_gone),
      cmocka_unit_test(copies_live_apart),
      cmocka_unit_test(packed_members_come_back),
      cmocka_unit_test(nonsense_is_not_unpacked),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
