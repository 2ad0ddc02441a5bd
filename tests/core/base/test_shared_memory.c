/* SPDX-License-Identifier: Apache-2.0 */
/* Memory visible to another process of this machine: contents, lifetime, refusals. */
/* gabion-test: labels=quick */
#include "core/memory/memory.h"
#include "core/memory/memory_impl.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SMALL = 10000, LARGE = 3 << 20 };

static unsigned char *take(size_t bytes)
{
  void *memory;
  assert_int_equal(gab_alloc_shared(bytes, GAB_MEMORY_SNAPSHOT, &memory), GAB_OK);
  assert_int_equal((uintptr_t)memory % GAB_ALIGNMENT, 0);
  return memory;
}

static gab_shared_key key_of(const void *memory)
{
  gab_shared_key key;
  assert_true(gab_shared_key_of(memory, &key));
  return key;
}

static unsigned char pattern(size_t at, int seed)
{
  return (unsigned char)(at * 7 + at / 251 + (size_t)seed);
}

static void fill(unsigned char *bytes, size_t count, int seed)
{
  for (size_t i = 0; i < count; i++) bytes[i] = pattern(i, seed);
}

/* Index of the first wrong byte. */
static size_t right_until(const void *memory, size_t count, int seed)
{
  const unsigned char *bytes = memory;
  for (size_t i = 0; i < count; i++)
    if (bytes[i] != pattern(i, seed)) return i;
  return count;
}

/* ---------------------------------------------------------------- another process, that does what it is told */

typedef enum order { ORDER_FILL, ORDER_GROW, ORDER_SHRINK, ORDER_RELEASE, ORDER_TAKE } order;

typedef struct owner {
  pid_t process;
  int orders, keys;
} owner;

static void obey(int orders, int keys)
{
  void *memory = NULL;
  size_t bytes = LARGE;
  unsigned char what[2];
  if (gab_alloc_shared(bytes, GAB_MEMORY_SNAPSHOT, &memory) != GAB_OK) _exit(1);
  for (;;) {
    gab_shared_key key = {.process = 0};
    if (memory) (void)gab_shared_key_of(memory, &key);
    if (write(keys, &key, sizeof key) != sizeof key || read(orders, what, 2) != 2) _exit(0);
    if (what[0] == ORDER_GROW) bytes = 2 * LARGE;
    if (what[0] == ORDER_SHRINK) bytes = SMALL;
    if (what[0] == ORDER_GROW || what[0] == ORDER_SHRINK)
      if (gab_realloc_unset(bytes, GAB_MEMORY_SNAPSHOT, &memory) != GAB_OK) _exit(1);
    if (what[0] == ORDER_RELEASE) gab_free(&memory);
    if (what[0] == ORDER_TAKE && gab_alloc_shared(bytes, GAB_MEMORY_SNAPSHOT, &memory) != GAB_OK) _exit(1);
    if (what[0] == ORDER_FILL) fill(memory, bytes, what[1]);
  }
}

static gab_shared_key answer(const owner *other)
{
  gab_shared_key key;
  assert_int_equal(read(other->keys, &key, sizeof key), sizeof key);
  return key;
}

static owner begin(gab_shared_key *key)
{
  int orders[2], keys[2];
  assert_int_equal(pipe(orders) | pipe(keys), 0);
  const owner other = {.process = fork(), .orders = orders[1], .keys = keys[0]};
  if (other.process == 0) {
    close(orders[1]);
    close(keys[0]);
    obey(orders[0], keys[1]);
  }
  assert_true(other.process > 0);
  close(orders[0]);
  close(keys[1]);
  *key = answer(&other);
  return other;
}

static gab_shared_key tell(const owner *other, order what, int seed)
{
  const unsigned char words[2] = {(unsigned char)what, (unsigned char)seed};
  assert_int_equal(write(other->orders, words, 2), 2);
  return answer(other);
}

static void end(const owner *other, int by)
{
  int status;
  if (by) kill(other->process, by);
  close(other->orders);
  close(other->keys);
  assert_int_equal(waitpid(other->process, &status, 0), other->process);
  assert_int_equal(WIFSIGNALED(status) ? WTERMSIG(status) : 0, by);
  if (!by) assert_int_equal(WEXITSTATUS(status), 0);
}

/* ---------------------------------------------------------------- views */

static void what_another_process_writes_is_seen(void **state)
{
  (void)state;
  gab_shared_key key;
  gab_shared_view view = {.bytes = NULL};
  const owner other = begin(&key);
  assert_int_equal(key.process, other.process);
  tell(&other, ORDER_FILL, 1);
  assert_true(gab_shared_view_open(&view, &key, LARGE));
  assert_int_equal(view.count, LARGE);
  assert_int_equal((uintptr_t)view.bytes % GAB_ALIGNMENT, 0);
  assert_int_equal(right_until(view.bytes, LARGE, 1), LARGE);
  tell(&other, ORDER_FILL, 2); /* the same view, without being opened again */
  assert_int_equal(right_until(view.bytes, LARGE, 2), LARGE);
  gab_shared_view_close(&view);
  assert_null(view.bytes);
  gab_shared_view_close(&view);
  end(&other, 0);
}

static void a_view_outlives_its_process(void **state)
{
  (void)state;
  gab_shared_key key;
  gab_shared_view view = {.bytes = NULL}, late = {.bytes = NULL};
  const owner other = begin(&key);
  tell(&other, ORDER_FILL, 3);
  assert_true(gab_shared_view_open(&view, &key, LARGE));
  end(&other, SIGKILL);
  assert_int_equal(right_until(view.bytes, LARGE, 3), LARGE);
  assert_true(gab_shared_view_open(&view, &key, LARGE)); /* it is open */
  assert_int_equal(right_until(view.bytes, LARGE, 3), LARGE);
  assert_false(gab_shared_view_open(&late, &key, LARGE));
  assert_null(late.bytes);
  gab_shared_view_close(&view);
  assert_false(gab_shared_view_open(&view, &key, LARGE));
}

static void a_view_cannot_be_written_to(void **state)
{
  (void)state;
  unsigned char *block = take(SMALL);
  const gab_shared_key key = key_of(block);
  gab_shared_view view = {.bytes = NULL};
  assert_true(gab_shared_view_open(&view, &key, SMALL));
  int status;
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGSEGV, SIG_DFL);
    *(unsigned char *)(uintptr_t)view.bytes = 1;
    _exit(0);
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
  gab_shared_view_close(&view);
  gab_free(&block);
}

/* A reader is never killed by SIGBUS: truncated parts read as zeros. */
static void a_view_survives_what_becomes_of_the_block(void **state)
{
  (void)state;
  gab_shared_key key;
  gab_shared_view view = {.bytes = NULL};
  const owner other = begin(&key);
  tell(&other, ORDER_FILL, 4);
  assert_true(gab_shared_view_open(&view, &key, LARGE));
  const void *before = view.bytes;
  gab_shared_key now = tell(&other, ORDER_SHRINK, 0);
  assert_memory_equal(&now, &key, sizeof key);
  const unsigned char *seen = view.bytes;
  for (size_t i = SMALL + 4096; i < LARGE; i++) assert_int_equal(seen[i], 0);
  tell(&other, ORDER_FILL, 5);
  assert_true(gab_shared_view_open(&view, &now, SMALL)); /* long enough: unchanged */
  assert_ptr_equal(view.bytes, before);
  assert_int_equal(right_until(view.bytes, SMALL, 5), SMALL);

  now = tell(&other, ORDER_GROW, 0);
  assert_memory_equal(&now, &key, sizeof key);
  tell(&other, ORDER_FILL, 6);
  assert_int_equal(right_until(view.bytes, LARGE, 6), LARGE);
  assert_true(gab_shared_view_open(&view, &now, 2 * LARGE));
  assert_int_equal(view.count, 2 * LARGE);
  assert_int_equal(right_until(view.bytes, 2 * LARGE, 6), 2 * LARGE);
  tell(&other, ORDER_RELEASE, 0);
  assert_int_equal(right_until(view.bytes, 2 * LARGE, 6), 2 * LARGE);
  gab_shared_view_close(&view);
  end(&other, 0);
}

/* A block that grows again does not contain what it had before it shrank, except for the rest of a cache line. */
static void what_was_cut_off_is_gone(void **state)
{
  (void)state;
  void *block = take(LARGE);
  fill(block, LARGE, 7);
  assert_int_equal(gab_realloc(SMALL, GAB_MEMORY_SNAPSHOT, &block), GAB_OK);
  assert_int_equal(gab_realloc(LARGE, GAB_MEMORY_SNAPSHOT, &block), GAB_OK);
  assert_int_equal(right_until(block, SMALL, 7), SMALL);
  for (size_t i = SMALL + GAB_ALIGNMENT; i < LARGE; i++) assert_int_equal(((unsigned char *)block)[i], 0);
  gab_free(&block);
}

/* Bytes of the file of a block that use memory. */
static size_t memory_taken(const gab_shared_key *key)
{
  struct stat status;
  assert_int_equal(fstat((int)key->file, &status), 0);
  return (size_t)status.st_blocks * 512;
}

static void what_was_cut_off_takes_no_memory(void **state)
{
  (void)state;
  void *block = take(LARGE);
  const gab_shared_key key = key_of(block);
  fill(block, LARGE, 8);
  assert_true(memory_taken(&key) >= LARGE);
  assert_int_equal(gab_realloc(SMALL, GAB_MEMORY_SNAPSHOT, &block), GAB_OK);
  assert_true(memory_taken(&key) < LARGE);
  gab_free(&block);
}

/* ---------------------------------------------------------------- refused */

static void another_block_is_never_taken_for_it(void **state)
{
  (void)state;
  gab_shared_key key, next;
  gab_shared_view view = {.bytes = NULL};
  const owner other = begin(&key);
  tell(&other, ORDER_RELEASE, 0);
  assert_false(gab_shared_view_open(&view, &key, SMALL));
  next = tell(&other, ORDER_TAKE, 0); /* the number of the file is reused */
  assert_int_equal(next.file, key.file);
  assert_false(gab_shared_view_open(&view, &key, SMALL));
  assert_null(view.bytes);

  /* A view of the old file is not used for the new one. */
  tell(&other, ORDER_FILL, 9);
  assert_true(gab_shared_view_open(&view, &next, LARGE));
  tell(&other, ORDER_RELEASE, 0);
  key = tell(&other, ORDER_TAKE, 0);
  assert_int_equal(next.file, key.file);
  tell(&other, ORDER_FILL, 10);
  assert_true(gab_shared_view_open(&view, &key, LARGE));
  assert_int_equal(right_until(view.bytes, LARGE, 10), LARGE);
  assert_false(
      gab_shared_view_open(&view, &next, LARGE)); /* it no longer exists, and the open view was closed */
  assert_null(view.bytes);
  end(&other, 0);
}

static void a_key_has_to_match_in_all(void **state)
{
  (void)state;
  unsigned char *block = take(SMALL);
  const gab_shared_key key = key_of(block);
  gab_shared_view view = {.bytes = NULL};
  gab_shared_key wrong[6];
  for (int i = 0; i < 6; i++) wrong[i] = key;
  wrong[0].number++;
  wrong[1].device++;
  wrong[2].file += 1000;
  wrong[3].boot[0] ^= 1;
  wrong[4].process = 0;
  wrong[5].file = -1;
  for (int i = 0; i < 6; i++) {
    assert_false(gab_shared_view_open(&view, &wrong[i], SMALL));
    assert_null(view.bytes);
  }
  assert_false(gab_shared_view_open(&view, &key, 2 * SMALL)); /* it is shorter */
  assert_false(gab_shared_view_open(&view, &key, SIZE_MAX));
  assert_false(gab_shared_view_open(&view, &key, (size_t)PTRDIFF_MAX));
  assert_true(gab_shared_view_open(&view, &key, SMALL));
  /* A failed call closes an open view. */
  assert_false(gab_shared_view_open(&view, &wrong[0], SMALL));
  assert_null(view.bytes);
  gab_free(&block);
}

/* A key to an open file descriptor of this process. */
static gab_shared_key key_to(int file)
{
  unsigned char *block = take(SMALL);
  gab_shared_key key = key_of(block);
  struct stat status;
  assert_int_equal(fstat(file, &status), 0);
  key.file = file;
  key.device = (uint64_t)status.st_dev;
  key.number = (uint64_t)status.st_ino;
  gab_free(&block);
  return key;
}

static void keys_to_other_things_are_refused_at_once(void **state)
{
  (void)state;
  char folder[] = "/tmp/gabion-test-XXXXXX", name[64];
  int ends[2];
  gab_shared_view view = {.bytes = NULL};
  assert_non_null(mkdtemp(folder));
  snprintf(name, sizeof name, "%s/fifo", folder);
  assert_int_equal(mkfifo(name, 0600), 0);
  assert_int_equal(pipe(ends), 0);
  const int fifo = open(name, O_RDWR), directory = open(folder, O_RDONLY),
            nothing = open("/dev/null", O_RDWR);
  const int files[] = {fifo, ends[0], ends[1], directory, nothing};
  alarm(20); /* waiting would end the test */
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    assert_true(files[i] >= 0);
    const gab_shared_key key = key_to(files[i]);
    assert_false(gab_shared_view_open(&view, &key, 1000));
    close(files[i]);
  }
  alarm(0);
  unlink(name);
  rmdir(folder);
}

static void other_memory_has_no_key(void **state)
{
  (void)state;
  gab_shared_key key;
  void *block;
  assert_false(gab_shared_key_of(NULL, &key));
  assert_int_equal(gab_alloc(SMALL, GAB_MEMORY_SNAPSHOT, &block), GAB_OK);
  assert_false(gab_shared_key_of(block, &key));
  gab_free(&block);
  assert_int_equal(gab_alloc_shared(SMALL, GAB_MEMORY_USE_COUNT, &block), GAB_ERR_ARGUMENT);
  assert_int_equal(gab_alloc_shared(SIZE_MAX, GAB_MEMORY_SNAPSHOT, &block), GAB_ERR_MEMORY);
  assert_null(block);
}

/* ---------------------------------------------------------------- the block itself */

static int open_files(void)
{
  int count = 0;
  DIR *entries = opendir("/proc/self/fd");
  assert_non_null(entries);
  while (readdir(entries)) count++;
  closedir(entries);
  return count;
}

static void counters_follow_it_and_files_are_closed(void **state)
{
  (void)state;
  const size_t before = gab_memory_now(GAB_MEMORY_SNAPSHOT), all = gab_memory_now(GAB_MEMORY_USE_COUNT);
  const int files = open_files();
  gab_shared_view view = {.bytes = NULL};
  void *block = take(SMALL);
  const size_t sizes[] = {LARGE, 17, 0, SMALL, 2 * LARGE, LARGE};
  assert_int_equal(gab_memory_now(GAB_MEMORY_SNAPSHOT), before + SMALL);
  for (int unset = 0; unset < 2; unset++)
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
      assert_int_equal((unset ? gab_realloc_unset : gab_realloc)(sizes[i], GAB_MEMORY_SNAPSHOT, &block),
                       GAB_OK);
      assert_int_equal(gab_memory_now(GAB_MEMORY_SNAPSHOT), before + sizes[i]);
      assert_int_equal(gab_memory_now(GAB_MEMORY_USE_COUNT), all + sizes[i]);
    }
  const gab_shared_key key = key_of(block);
  assert_true(gab_shared_view_open(&view, &key, LARGE));
  assert_int_equal(gab_memory_now(GAB_MEMORY_USE_COUNT),
                   all + LARGE); /* a view does not count as memory of this process */
  assert_int_equal(open_files(), files + 1);
  gab_free(&block);
  assert_int_equal(gab_memory_now(GAB_MEMORY_SNAPSHOT), before);
  assert_int_equal(gab_memory_now(GAB_MEMORY_USE_COUNT), all);
  assert_int_equal(open_files(), files);
  gab_shared_view_close(&view);
}

static void it_keeps_content_and_key_whatever_its_size(void **state)
{
  (void)state;
  void *block = take(SMALL);
  const gab_shared_key key = key_of(block);
  size_t held = SMALL;
  const size_t sizes[] = {LARGE, SMALL, 40 << 20, LARGE, 63, 5 * LARGE};
  for (size_t i = 0; i < SMALL; i++) assert_int_equal(((unsigned char *)block)[i], 0);
  fill(block, SMALL, 11);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    assert_int_equal(gab_realloc(sizes[i], GAB_MEMORY_SNAPSHOT, &block), GAB_OK);
    assert_int_equal((uintptr_t)block % GAB_ALIGNMENT, 0);
    const size_t kept = held < sizes[i] ? held : sizes[i];
    assert_int_equal(right_until(block, kept, 11), kept);
    fill(block, sizes[i], 11);
    held = sizes[i];
    const gab_shared_key now = key_of(block);
    assert_memory_equal(&now, &key, sizeof key);
  }
  /* A request that is too large has no effect. */
  assert_int_equal(gab_realloc(SIZE_MAX - 4096, GAB_MEMORY_SNAPSHOT, &block), GAB_ERR_MEMORY);
  assert_int_equal(gab_realloc((size_t)PTRDIFF_MAX / 2, GAB_MEMORY_SNAPSHOT, &block), GAB_ERR_MEMORY);
  assert_int_equal(right_until(block, held, 11), held);
  gab_free(&block);
  assert_null(block);
}

/* Files above the limit of the process are refused; the system would kill it. */
static void a_limit_of_files_is_kept(void **state)
{
  (void)state;
  int status;
  const pid_t child = fork();
  if (child == 0) {
    void *block, *other;
    const struct rlimit limit = {.rlim_cur = LARGE, .rlim_max = LARGE};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0 ||
        gab_alloc_shared(LARGE / 2, GAB_MEMORY_SNAPSHOT, &block) != GAB_OK)
      _exit(1);
    fill(block, LARGE / 2, 12);
    if (gab_alloc_shared(2 * LARGE, GAB_MEMORY_SNAPSHOT, &other) != GAB_ERR_MEMORY) _exit(2);
    if (gab_realloc(2 * LARGE, GAB_MEMORY_SNAPSHOT, &block) != GAB_ERR_MEMORY) _exit(3);
    _exit(right_until(block, LARGE / 2, 12) == LARGE / 2 ? 0 : 4);
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_another_process_writes_is_seen),
      cmocka_unit_test(a_view_outlives_its_process),
      cmocka_unit_test(a_view_cannot_be_written_to),
      cmocka_unit_test(a_view_survives_what_becomes_of_the_block),
      cmocka_unit_test(what_was_cut_off_is_gone),
      cmocka_unit_test(what_was_cut_off_takes_no_memory),
      cmocka_unit_test(another_block_is_never_taken_for_it),
      cmocka_unit_test(a_key_has_to_match_in_all),
      cmocka_unit_test(keys_to_other_things_are_refused_at_once),
      cmocka_unit_test(other_memory_has_no_key),
      cmocka_unit_test(counters_follow_it_and_files_are_closed),
      cmocka_unit_test(it_keeps_content_and_key_whatever_its_size),
      cmocka_unit_test(a_limit_of_files_is_kept),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
