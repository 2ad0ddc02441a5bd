/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: timeout=60 labels=quick */
/* A message log in a file: after a kill anywhere in a write it is that of the last complete epoch; damaged anywhere else it
 * is refused, never read as another one. */
#include "resilience/persist/persist_msglog_file_impl.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { EPOCHS = 4 };
static char parent[64];
static const persist_file_id id = {"key", 0, 3, 5};

static gab_status open_file(persist_file *file)
{
  return gab_persist_file_open(file, parent, "store", &id, false, 0.05);
}

static void store(persist_msglog *msglog, int32_t tag, uint64_t value)
{
  assert_int_equal(gab_persist_msglog_store(msglog, 1, tag, &value, sizeof value, NULL), GAB_OK);
}

/* The newest value of a channel; 0 if there is none. */
static uint64_t newest(const persist_msglog *msglog, int32_t tag)
{
  const uint64_t *at = gab_persist_map_find(&msglog->index, 1, tag);
  uint64_t value = 0;
  if (!at) return 0;
  const persist_channel *channel = &msglog->channels[*at];
  assert_int_equal(channel->records[channel->end - 1].bytes, sizeof value);
  memcpy(&value, channel->records[channel->end - 1].data, sizeof value);
  return value;
}

static void commit(persist_file *file, persist_msglog *msglog)
{
  gab_buffer group = {0};
  assert_int_equal(gab_persist_msglog_close_epoch(msglog, &group), GAB_OK);
  assert_int_equal(gab_persist_file_append(file, &group), GAB_OK);
  assert_int_equal(gab_persist_msglog_complete(msglog), GAB_OK);
  gab_buffer_release(&group);
}

/* EPOCHS epochs with two values each that identify the epoch; returns the content and the end of each epoch. */
static unsigned char *make(size_t *size, size_t ends[EPOCHS + 1])
{
  persist_file file;
  persist_msglog msglog;
  gab_persist_msglog_init(&msglog, 1, false);
  assert_int_equal(open_file(&file), GAB_OK);
  assert_int_equal(gab_persist_file_rewrite(&file, &msglog), GAB_OK);
  ends[0] = file.size;
  for (uint64_t epoch = 1; epoch <= EPOCHS; epoch++) {
    store(&msglog, 7, epoch);
    store(&msglog, 8, 100 + epoch);
    commit(&file, &msglog);
    ends[epoch] = file.size;
  }
  *size = file.size;
  unsigned char *content = malloc(*size);
  assert_int_equal(pread(file.file, content, *size, 0), (ssize_t)*size);
  gab_persist_msglog_release(&msglog);
  gab_persist_file_close(&file);
  return content;
}

static void put_content(const unsigned char *content, size_t size)
{
  char path[100];
  snprintf(path, sizeof path, "%s/store/rank-3", parent);
  const int file = open(path, O_WRONLY | O_TRUNC);
  assert_int_equal(write(file, content, size), (ssize_t)size);
  close(file);
}

/* @return the epoch of the file, or the negative status */
static int load(const persist_file_id *as)
{
  persist_file file;
  persist_msglog msglog;
  bool found = false;
  gab_persist_msglog_init(&msglog, 1, false);
  assert_int_equal(open_file(&file), GAB_OK);
  const gab_status status = gab_persist_file_load(&file, as, &msglog, &found);
  int epoch = -(int)status;
  if (status == GAB_OK) {
    assert_true(found);
    epoch = (int)msglog.epoch;
    assert_int_equal(newest(&msglog, 7), epoch);
    assert_int_equal(newest(&msglog, 8), epoch > 0 ? 100 + epoch : 0);
  }
  gab_persist_msglog_release(&msglog);
  gab_persist_file_close(&file);
  return epoch;
}

static void a_file_that_was_cut_is_that_of_the_last_whole_epoch(void **state)
{
  (void)state;
  size_t size, ends[EPOCHS + 1];
  unsigned char *content = make(&size, ends);
  for (size_t length = ends[0]; length <= size; length++) {
    int expected = 0;
    while (expected < EPOCHS && ends[expected + 1] - 32 <= length) expected++; /* the mark is not needed */
    put_content(content, length);
    assert_int_equal(load(&id), expected);
  }
  for (size_t length = 0; length < ends[0] - 32; length++) { /* which is put in place as a whole */
    put_content(content, length);
    assert_int_equal(load(&id), -GAB_ERR_CORRUPT);
  }
  free(content);
}

static void any_byte_that_is_wrong_is_noticed(void **state)
{
  (void)state;
  size_t size, ends[EPOCHS + 1];
  unsigned char *content = make(&size, ends);
  int refused = 0;
  for (size_t at = 0; at < size; at++) {
    content[at] ^= 0x10;
    put_content(content, size);
    const int epoch = load(&id);
    if (at >= size - 32) assert_int_equal(epoch, EPOCHS); /* the last mark is not needed */
    else assert_int_equal(epoch, -GAB_ERR_CORRUPT);
    refused += epoch < 0;
    content[at] ^= 0x10;
  }
  assert_int_equal(refused, size - 32);
  put_content(content, size);
  assert_int_equal(load(&id), EPOCHS);
  free(content);
}

static void what_does_not_fit_is_refused(void **state)
{
  (void)state;
  size_t size, ends[EPOCHS + 1];
  free(make(&size, ends));
  assert_int_equal(load(&(persist_file_id){"other", 0, 3, 5}), -GAB_ERR_INPUT);
  assert_int_equal(load(&(persist_file_id){"key", 1, 3, 5}), -GAB_ERR_INPUT);
  assert_int_equal(load(&(persist_file_id){"key", 0, 2, 5}), -GAB_ERR_INPUT);
  assert_int_equal(load(&(persist_file_id){"key", 0, 3, 6}), -GAB_ERR_INPUT);
  assert_int_equal(load(&id), EPOCHS);
}

static void a_file_is_locked_while_it_is_open(void **state)
{
  (void)state;
  persist_file file, second;
  assert_int_equal(open_file(&file), GAB_OK);
  assert_int_equal(open_file(&second), GAB_ERR_STATE);
  gab_persist_file_close(&file);
  assert_int_equal(open_file(&second), GAB_OK);
  assert_int_equal(gab_persist_file_remove(&second), GAB_OK);
  assert_int_equal(open_file(&file), GAB_OK); /* the lock file is a new one */
  assert_int_equal(open_file(&second), GAB_ERR_STATE);
  assert_int_equal(gab_persist_file_remove(&file), GAB_OK);
}

static void folders_that_are_open_to_others_are_refused(void **state)
{
  (void)state;
  char path[100];
  persist_file file;
  snprintf(path, sizeof path, "%s/store", parent);
  assert_int_equal(mkdir(path, 0777), 0);
  assert_int_equal(chmod(path, 0777), 0);
  assert_int_equal(open_file(&file), GAB_ERR_IO);
  assert_non_null(strstr(gab_error_message(), "open to others"));
  assert_int_equal(rmdir(path), 0);
}

/* A failed commit, repeated, is in the file once. */
static void an_epoch_written_again_replaces_the_first_one(void **state)
{
  (void)state;
  persist_file file;
  persist_msglog msglog;
  gab_buffer group = {0};
  gab_persist_msglog_init(&msglog, 1, false);
  assert_int_equal(open_file(&file), GAB_OK);
  assert_int_equal(gab_persist_file_rewrite(&file, &msglog), GAB_OK);
  store(&msglog, 7, 5);
  assert_int_equal(gab_persist_msglog_close_epoch(&msglog, &group), GAB_OK);
  const uint64_t before = file.size;
  assert_int_equal(gab_persist_file_append(&file, &group), GAB_OK);
  file.size = before;
  store(&msglog, 7, 1);
  store(&msglog, 8, 101);
  commit(&file, &msglog);
  gab_buffer_release(&group);
  gab_persist_msglog_release(&msglog);
  gab_persist_file_close(&file);
  assert_int_equal(load(&id), 1);
}

static int set_up(void **state)
{
  (void)state;
  snprintf(parent, sizeof parent, "/tmp/gabion-persist-file-XXXXXX");
  return mkdtemp(parent) == NULL;
}

static int tear_down(void **state)
{
  (void)state;
  char command[100];
  snprintf(command, sizeof command, "rm -r %s", parent);
  return system(command);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(a_file_that_was_cut_is_that_of_the_last_whole_epoch, set_up, tear_down),
      cmocka_unit_test_setup_teardown(any_byte_that_is_wrong_is_noticed, set_up, tear_down),
      cmocka_unit_test_setup_teardown(what_does_not_fit_is_refused, set_up, tear_down),
      cmocka_unit_test_setup_teardown(a_file_is_locked_while_it_is_open, set_up, tear_down),
      cmocka_unit_test_setup_teardown(folders_that_are_open_to_others_are_refused, set_up, tear_down),
      cmocka_unit_test_setup_teardown(an_epoch_written_again_replaces_the_first_one, set_up, tear_down),
  };
  return cmocka_run_group_tests_name("message logs in files", tests, NULL, NULL);
}
