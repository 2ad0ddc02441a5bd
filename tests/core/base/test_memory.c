/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: labels=quick */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/memory/memory.h"

static void *allocate(size_t bytes, gab_memory_use use)
{
  void *memory;
  assert_int_equal(gab_alloc(bytes, use, &memory), GAB_OK);
  assert_non_null(memory);
  return memory;
}

static void blocks_are_aligned_and_zeroed(void **state)
{
  (void)state;
  for (size_t bytes = 0; bytes < 5000; bytes += 97) {
    unsigned char *block = allocate(bytes, GAB_MEMORY_OTHER);
    assert_int_equal((uintptr_t)block % GAB_ALIGNMENT, 0);
    for (size_t i = 0; i < bytes; i++) assert_int_equal(block[i], 0);
    if (bytes > 0) memset(block, 0xA5, bytes);
    gab_free(&block);
    assert_null(block);
  }
}

static void growing_and_shrinking_keep_content_and_alignment(void **state)
{
  (void)state;
  void *block = NULL;
  size_t held = 0;
  const size_t sizes[] = {1, 63, 64, 65, 1000, 100000, 37, 0, 12};
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
    assert_int_equal(gab_realloc(sizes[s], GAB_MEMORY_FIELD, &block), GAB_OK);
    assert_int_equal((uintptr_t)block % GAB_ALIGNMENT, 0);
    unsigned char *bytes = block;
    for (size_t i = 0; i < held && i < sizes[s]; i++) assert_int_equal(bytes[i], i % 251);
    for (size_t i = 0; i < sizes[s]; i++) bytes[i] = (unsigned char)(i % 251);
    held = sizes[s];
    assert_int_equal(gab_memory_now(GAB_MEMORY_FIELD), held);
  }
  gab_free(&block);
  assert_int_equal(gab_memory_now(GAB_MEMORY_FIELD), 0);
}

/* From 32 MiB on, pages of a block are moved; smaller blocks exist twice temporarily. */
static void large_blocks_change_size_without_being_there_twice(void **state)
{
  (void)state;
  const size_t mega = (size_t)1 << 20, sizes[] = {5, 9, 48, 6, 100, 33, 4, 3, 40, 41, 32, 31, 30, 32};
  void *block = NULL;
  size_t held = 0;
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
    const size_t wanted = sizes[s] * mega + s * 1000, most = held > wanted ? held : wanted;
    gab_memory_reset_peak();
    assert_int_equal(gab_realloc(wanted, GAB_MEMORY_SNAPSHOT, &block), GAB_OK);
    assert_int_equal((uintptr_t)block % GAB_ALIGNMENT, 0);
    unsigned char *bytes = block;
    for (size_t i = 0; i < held && i < wanted; i += 997) assert_int_equal(bytes[i], i % 251);
    for (size_t i = 0; i < wanted; i += 997) bytes[i] = (unsigned char)(i % 251);
    assert_int_equal(gab_memory_now(GAB_MEMORY_SNAPSHOT), wanted);
    const bool moved = held >= 32 * mega && wanted >= 32 * mega;
    assert_int_equal(gab_memory_peak(GAB_MEMORY_SNAPSHOT), moved ? most : held + wanted);
    held = wanted;
  }
  assert_int_equal(gab_realloc(SIZE_MAX - 4096, GAB_MEMORY_SNAPSHOT, &block), GAB_ERR_MEMORY);
  assert_int_equal(gab_realloc((size_t)PTRDIFF_MAX / 2, GAB_MEMORY_SNAPSHOT, &block), GAB_ERR_MEMORY);
  assert_int_equal(((unsigned char *)block)[997], 997 % 251);
  assert_int_equal(gab_memory_now(GAB_MEMORY_SNAPSHOT), held);
  gab_free(&block);
  assert_int_equal(gab_memory_now(GAB_MEMORY_SNAPSHOT), 0);
}

static void what_is_written_anew_is_never_there_twice(void **state)
{
  (void)state;
  const size_t sizes[] = {100000,  300000,   6000000,  7000000,  200000,
                          6500000, 36000000, 40000000, 34000000, 30000000};
  void *block = NULL;
  size_t held = 0;
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
    gab_memory_reset_peak();
    assert_int_equal(gab_realloc_unset(sizes[s], GAB_MEMORY_SNAPSHOT, &block), GAB_OK);
    memset(block, 7, sizes[s]);
    assert_int_equal(gab_memory_now(GAB_MEMORY_SNAPSHOT), sizes[s]);
    assert_int_equal(gab_memory_peak(GAB_MEMORY_SNAPSHOT), held > sizes[s] ? held : sizes[s]);
    held = sizes[s];
  }
  gab_free(&block);
}

static void counters_follow_each_use_and_the_total(void **state)
{
  (void)state;
  size_t before = gab_memory_now(GAB_MEMORY_USE_COUNT);
  void *field = allocate(1000, GAB_MEMORY_FIELD), *snapshot = allocate(500, GAB_MEMORY_SNAPSHOT);
  gab_memory_reset_peak();
  void *more = allocate(200, GAB_MEMORY_FIELD);
  assert_int_equal(gab_memory_now(GAB_MEMORY_FIELD), 1200);
  gab_free(&more);
  assert_int_equal(gab_memory_now(GAB_MEMORY_FIELD), 1000);
  assert_int_equal(gab_memory_peak(GAB_MEMORY_FIELD), 1200);
  assert_int_equal(gab_memory_now(GAB_MEMORY_SNAPSHOT), 500);
  assert_int_equal(gab_memory_peak(GAB_MEMORY_SNAPSHOT), 500);
  assert_int_equal(gab_memory_now(GAB_MEMORY_USE_COUNT), before + 1500);
  assert_int_equal(gab_memory_peak(GAB_MEMORY_USE_COUNT), before + 1700);
  gab_free(&field);
  gab_free(&snapshot);
  gab_memory_reset_peak();
  assert_int_equal(gab_memory_peak(GAB_MEMORY_FIELD), 0);
  assert_int_equal(gab_memory_now(GAB_MEMORY_USE_COUNT), before);
}

static void too_much_is_refused_and_changes_nothing(void **state)
{
  (void)state;
  void *block = &block;
  assert_int_equal(gab_alloc(SIZE_MAX, GAB_MEMORY_OTHER, &block), GAB_ERR_MEMORY);
  assert_null(block);
  assert_int_equal(gab_alloc(SIZE_MAX / 2, GAB_MEMORY_OTHER, &block), GAB_ERR_MEMORY);
  assert_non_null(strstr(gab_error_message(), "9223372036854775807"));
  block = allocate(3, GAB_MEMORY_OTHER);
  memcpy(block, "ab", 3);
  void *same = block;
  size_t now = gab_memory_now(GAB_MEMORY_USE_COUNT);
  assert_int_equal(gab_realloc(SIZE_MAX, GAB_MEMORY_OTHER, &block), GAB_ERR_MEMORY);
  assert_ptr_equal(block, same);
  assert_string_equal(block, "ab");
  assert_int_equal(gab_memory_now(GAB_MEMORY_USE_COUNT), now);
  gab_free(&block);
  assert_int_equal(gab_alloc(1, GAB_MEMORY_USE_COUNT, &block), GAB_ERR_ARGUMENT);
}

static void typed_arrays_have_the_size_of_their_elements_and_refuse_what_overflows(void **state)
{
  (void)state;
  const size_t before = gab_memory_now(GAB_MEMORY_FIELD);
  struct {
    double values[5];
  } * one;
  uint16_t *many;
  assert_int_equal(GAB_NEW(&one, GAB_MEMORY_FIELD), GAB_OK);
  assert_int_equal(gab_memory_now(GAB_MEMORY_FIELD) - before, 40);
  gab_free(&one);
  assert_int_equal(GAB_NEW_ARRAY(&many, 3 + 4, GAB_MEMORY_FIELD), GAB_OK);
  assert_int_equal(gab_memory_now(GAB_MEMORY_FIELD) - before, 14);
  for (int i = 0; i < 7; i++) assert_int_equal(many[i], 0);
  many[6] = 9;
  assert_int_equal(GAB_RESIZE_ARRAY(&many, 9, GAB_MEMORY_FIELD), GAB_OK);
  assert_int_equal(gab_memory_now(GAB_MEMORY_FIELD) - before, 18);
  uint16_t *same = many;
  assert_int_equal(GAB_RESIZE_ARRAY(&many, SIZE_MAX / 2 + 2, GAB_MEMORY_FIELD), GAB_ERR_MEMORY);
  assert_ptr_equal(many, same);
  assert_int_equal(many[6], 9);
  gab_free(&many);
  many = same;
  assert_int_equal(GAB_NEW_ARRAY(&many, SIZE_MAX / 2 + 2, GAB_MEMORY_FIELD), GAB_ERR_MEMORY);
  assert_null(many);
  assert_int_equal(gab_memory_now(GAB_MEMORY_FIELD), before);
}

static void freeing_nothing_is_allowed(void **state)
{
  (void)state;
  double *nothing = NULL;
  gab_free(&nothing);
  assert_null(nothing);
}

enum { THREADS = 4, ROUNDS = 2000 };

static void *work(void *failures)
{
  for (int i = 0; i < ROUNDS; i++) {
    void *a = NULL;
    if (gab_alloc((size_t)i, GAB_MEMORY_MESSAGE, &a) != GAB_OK) ++*(int *)failures;
    if (gab_realloc((size_t)i * 2, GAB_MEMORY_MESSAGE, &a) != GAB_OK) ++*(int *)failures;
    gab_free(&a);
  }
  return NULL;
}

static void counters_are_right_when_threads_allocate(void **state)
{
  (void)state;
  size_t before = gab_memory_now(GAB_MEMORY_USE_COUNT);
  pthread_t threads[THREADS];
  int failures[THREADS] = {0};
  gab_memory_reset_peak();
  for (int i = 0; i < THREADS; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, work, &failures[i]), 0);
  for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_join(threads[i], NULL), 0);
  for (int i = 0; i < THREADS; i++) assert_int_equal(failures[i], 0);
  assert_int_equal(gab_memory_now(GAB_MEMORY_MESSAGE), 0);
  assert_int_equal(gab_memory_now(GAB_MEMORY_USE_COUNT), before);
  assert_in_range(gab_memory_peak(GAB_MEMORY_MESSAGE), 3 * (ROUNDS - 1), THREADS * 3 * (ROUNDS - 1));
}

/* Fields of some hundred kilobytes share huge pages; their memory is reused, and released. */
enum { FIELDS = 300, FIELD_BYTES = 100000 };

static unsigned char *filled_field(void)
{
  unsigned char *field = allocate(FIELD_BYTES, GAB_MEMORY_FIELD);
  assert_int_equal((uintptr_t)field % GAB_ALIGNMENT, 0);
  for (size_t i = 0; i < FIELD_BYTES; i++)
    if (field[i] != 0) fail_msg("byte %zu of a new field is %d", i, field[i]);
  memset(field, 0x5A, FIELD_BYTES);
  return field;
}

static size_t resident_bytes(void)
{
  FILE *file = fopen("/proc/self/statm", "r");
  assert_non_null(file);
  size_t all, resident;
  assert_int_equal(fscanf(file, "%zu %zu", &all, &resident), 2);
  fclose(file);
  return resident * (size_t)sysconf(_SC_PAGESIZE);
}

static void small_fields_are_zeroed_again_and_keep_what_they_hold(void **state)
{
  (void)state;
  unsigned char *fields[FIELDS];
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < FIELDS; i++)
      if (round == 0 || i % 3 != 0) fields[i] = filled_field();
    assert_int_equal(gab_memory_now(GAB_MEMORY_FIELD), (size_t)FIELDS * FIELD_BYTES);
    for (int i = 0; i < FIELDS; i++)
      for (size_t k = 0; k < FIELD_BYTES; k += 97)
        if (fields[i][k] != 0x5A) fail_msg("byte %zu of field %d was changed", k, i);
    for (int i = 0; i < FIELDS; i++)
      if (round == 2 || i % 3 != 0) gab_free(&fields[i]);
  }
  assert_int_equal(gab_memory_now(GAB_MEMORY_FIELD), 0);
}

static void memory_of_fields_goes_back_to_the_system(void **state)
{
  (void)state;
#ifdef __SANITIZE_ADDRESS__
  skip(); /* a sanitizer keeps freed memory */
#endif
  const size_t before = resident_bytes(), all = (size_t)FIELDS * FIELD_BYTES;
  unsigned char *fields[FIELDS];
  for (int i = 0; i < FIELDS; i++) fields[i] = filled_field();
  assert_true(resident_bytes() >= before + all * 9 / 10);
  for (int i = 1; i < FIELDS; i++) gab_free(&fields[i]);
  assert_true(resident_bytes() <= before + all * 6 / 10);
  gab_free(&fields[0]);
  assert_true(resident_bytes() <= before + all / 10);
}

static void held_memory_stays_until_it_is_let_go(void **state)
{
  (void)state;
#ifdef __SANITIZE_ADDRESS__
  skip();
#endif
  const size_t before = resident_bytes(), all = (size_t)FIELDS * FIELD_BYTES;
  unsigned char *fields[FIELDS];
  for (int i = 0; i < FIELDS; i++) fields[i] = filled_field();
  gab_memory_hold(true);
  for (int i = 0; i < FIELDS; i++) gab_free(&fields[i]);
  assert_true(resident_bytes() >= before + all * 9 / 10);
  for (int i = 0; i < FIELDS; i++) fields[i] = filled_field();
  assert_true(resident_bytes() <= before + all * 11 / 10);
  for (int i = 0; i < FIELDS; i++) gab_free(&fields[i]);
  gab_memory_hold(false);
  assert_true(resident_bytes() <= before + all / 10);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(blocks_are_aligned_and_zeroed),
      cmocka_unit_test(growing_and_shrinking_keep_content_and_alignment),
      cmocka_unit_test(large_blocks_change_size_without_being_there_twice),
      cmocka_unit_test(what_is_written_anew_is_never_there_twice),
      cmocka_unit_test(counters_follow_each_use_and_the_total),
      cmocka_unit_test(too_much_is_refused_and_changes_nothing),
      cmocka_unit_test(typed_arrays_have_the_size_of_their_elements_and_refuse_what_overflows),
      cmocka_unit_test(freeing_nothing_is_allowed),
      cmocka_unit_test(counters_are_right_when_threads_allocate),
      cmocka_unit_test(small_fields_are_zeroed_again_and_keep_what_they_hold),
      cmocka_unit_test(memory_of_fields_goes_back_to_the_system),
      cmocka_unit_test(held_memory_stays_until_it_is_let_go),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
