/* SPDX-License-Identifier: Apache-2.0 */
/* What the writer of checkpoints on disk promises by itself: what is written is the state of the snapshot,
 * however many come after it; one write at a time, each step once; the newest are kept; what is given up
 * leaves nothing; what has changed in memory does not get there. */
/* gabion-test: np=1,2,5 quick=2 timeout=60 */
#include "tests/resilience/disk/writing.h"

#include "resilience/disk/checkpoint_files.h"
#include "resilience/disk/disk_impl.h"
#include "resilience/disk/restart_impl.h"

#include <dirent.h>
#include <sys/resource.h>

static int count_files(const char *folder, const char *ending)
{
  int count = 0;
  DIR *open = opendir(folder);
  for (struct dirent *entry; open && (entry = readdir(open));) {
    size_t length = strlen(entry->d_name);
    count += length > strlen(ending) && strcmp(entry->d_name + length - strlen(ending), ending) == 0;
  }
  if (open) closedir(open);
  return count;
}

static void what_is_written_is_the_snapshot_though_others_follow(writing *w)
{
  gab_restart *restart;
  gab_restart_report report;
  CHECK(write_step(w, 5));
  const uint64_t then = checksum_of(w), total = w->app->total;
  for (gab_step step = 5; step < 9; step++) { /* each snapshot needs the buffer that is being written */
    CHECK(automaton_step(w->app, step) == GAB_OK);
    CHECK(gab_checkpoint_take(w->checkpoint, step + 1) == GAB_OK);
  }
  w->app->total = ~total;
  CHECK(checksum_of(w) != then);
  CHECK(gab_disk_wait(w->disk) == GAB_OK);
  CHECK(!gab_disk_is_busy(w->disk));
  CHECK(gab_world_barrier(w->app->world) == GAB_OK);
  CHECK(gab_restart_find(w->app->world, w->folder, false, &restart) == GAB_OK);
  CHECK(gab_restart_count(restart) == 1);
  CHECK(gab_restart_load(restart, w->checkpoint, &report) == GAB_OK);
  CHECK(report.step == 5 && report.images == 1);
  CHECK(checksum_of(w) == then && w->app->total == total);
  gab_restart_destroy(&restart);
}

static void count_broken(void *user, const char *message)
{
  int *broken = user;
  printf("%s\n", message);
  ++*broken;
}

static void files_hold_the_groups_and_match_their_hashes(writing *w)
{
  char path[GAB_DISK_PATH];
  gab_manifest manifest;
  int broken = 0;
  if (!is_root(w)) return;
  const int ranks = gab_members_count(gab_world_members(w->app->world));
  CHECK(gab_disk_step_folder(path, w->folder, 5) == GAB_OK);
  CHECK(count_files(path, ".h5") == (ranks + 1) / 2);
  CHECK(count_files(path, ".tmp") == 0);
  gab_manifest_init(&manifest);
  CHECK(gab_manifest_read(path, &manifest) == GAB_OK);
  CHECK(manifest.step == 5 && manifest.group == 2 && gab_members_count(&manifest.members) == ranks);
  CHECK(manifest.state.size == 6 && memcmp(manifest.state.data, "a = 1\n", 6) == 0);
  CHECK(gab_checkpoint_files_verify(path, &manifest, count_broken, &broken) == GAB_OK);
  CHECK(broken == 0);
  gab_manifest_release(&manifest);
}

static void one_write_at_a_time_and_each_step_once(writing *w)
{
  CHECK(write_step(w, 20));
  bool busy = gab_disk_is_busy(w->disk), again = write_step(w, 21);
  CHECK(busy && !again);
  CHECK(gab_disk_wait(w->disk) == GAB_OK);
  CHECK(!write_step(w, 20)); /* it exists already */
  CHECK(write_step(w, 22));
  CHECK(gab_disk_wait(w->disk) == GAB_OK);
}

static void the_newest_two_are_kept(writing *w)
{
  gab_restart *restart;
  CHECK(gab_world_barrier(w->app->world) == GAB_OK);
  CHECK(gab_restart_find(w->app->world, w->folder, false, &restart) == GAB_OK);
  CHECK(gab_restart_count(restart) == 2);
  CHECK(gab_restart_manifest(restart, 0)->step == 22 && gab_restart_manifest(restart, 1)->step == 20);
  gab_restart_destroy(&restart);
}

static void what_is_given_up_leaves_no_file_and_can_be_begun_again(writing *w)
{
  char path[GAB_DISK_PATH];
  CHECK(write_step(w, 30));
  CHECK(gab_disk_abandon(w->disk));
  CHECK(!gab_disk_abandon(w->disk));
  CHECK(gab_disk_step_folder(path, w->folder, 30) == GAB_OK);
  CHECK(gab_world_barrier(w->app->world) == GAB_OK);
  CHECK(count_files(path, ".tmp") == 0 && count_files(path, "manifest.json") == 0);
}

/* Out of file descriptors, or a file system that is temporarily unavailable: the checkpoint is intact. */
static void what_cannot_be_opened_for_now_is_not_set_aside(writing *w)
{
  const gab_rank last = gab_members_count(gab_world_members(w->app->world)) - 1;
  struct rlimit before, none;
  gab_restart *restart;
  gab_restart_report report;
  CHECK(gab_restart_find(w->app->world, w->folder, false, &restart) == GAB_OK &&
        gab_restart_count(restart) == 2);
  CHECK(getrlimit(RLIMIT_NOFILE, &before) == 0);
  none = before;
  none.rlim_cur = 3;
  if (gab_world_rank(w->app->world) == last) CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0);
  CHECK(gab_restart_load(restart, w->checkpoint, &report) != GAB_OK);
  CHECK(setrlimit(RLIMIT_NOFILE, &before) == 0);
  gab_restart_destroy(&restart);
  CHECK(gab_world_barrier(w->app->world) == GAB_OK);
  CHECK(gab_restart_find(w->app->world, w->folder, false, &restart) == GAB_OK &&
        gab_restart_count(restart) == 2);
  CHECK(gab_restart_load(restart, w->checkpoint, &report) == GAB_OK && report.step == 22);
  gab_restart_destroy(&restart);
}

/* Hashes of files are computed from memory, so they do not detect earlier changes there. */
static void what_has_changed_in_memory_does_not_become_a_checkpoint(writing *w)
{
  const gab_rank last = gab_members_count(gab_world_members(w->app->world)) - 1;
  gab_restart *restart;
  for (gab_step step = 40; step < 42; step++) { /* the image of a rank; replicated data */
    bool begun = false;
    CHECK(gab_checkpoint_take(w->checkpoint, step) == GAB_OK);
    gab_snapshot *snapshot = &w->checkpoint->snapshots[w->checkpoint->valid];
    gab_buffer *bytes = step == 40 ? &snapshot->own : &snapshot->replicated;
    if (gab_world_rank(w->app->world) == (step == 40 ? last : 0)) bytes->data[bytes->size - 1] ^= 4;
    CHECK(gab_disk_begin(w->disk, &begun) == GAB_OK && begun);
    CHECK(gab_disk_wait(w->disk) == GAB_OK);
    CHECK(gab_world_barrier(w->app->world) == GAB_OK);
    if (is_root(w)) CHECK(gab_disk_get_stats(w->disk).failed == (uint64_t)(step - 39));
  }
  CHECK(gab_restart_find(w->app->world, w->folder, false, &restart) == GAB_OK);
  CHECK(gab_restart_count(restart) == 2 && gab_restart_manifest(restart, 0)->step == 22);
  gab_restart_destroy(&restart);
}

static void differences_of_cases_are_named(void)
{
  gab_buffer theirs = {0}, mine = {0}, text = {0};
  const char *a = "a.b = 1\na.c = [1, 2]\nd = \"x = y\"\n", *b = "a.b = 2\nb = 3\nd = \"x = y\"\n";
  CHECK(gab_put_bytes(&theirs, a, strlen(a)) == GAB_OK && gab_put_bytes(&mine, b, strlen(b)) == GAB_OK);
  CHECK(gab_manifest_compare(&theirs, &mine, "in the checkpoint", "now", NULL, NULL, &text) == 3);
  const char *expected = "  a.b: 1 in the checkpoint, 2 now\n  a.c: [1, 2] in the checkpoint, nothing now\n"
                         "  b: nothing in the checkpoint, 3 now\n";
  CHECK(text.size == strlen(expected) && memcmp(text.data, expected, text.size) == 0);
  CHECK(gab_manifest_compare(&theirs, &theirs, "in the checkpoint", "now", NULL, NULL, &text) == 0);
  gab_buffer_release(&theirs);
  gab_buffer_release(&mine);
  gab_buffer_release(&text);
}

int main(void)
{
  gab_world *world;
  automaton app;
  writing w;
  REQUIRE_OK(gab_world_create(NULL, NULL, &world));
  CHECK(automaton_create(&app, world, (const int32_t[3]){5, 2, 1}) == GAB_OK);
  begin_writing(&w, &app, "mpi_disk");
  what_is_written_is_the_snapshot_though_others_follow(&w);
  files_hold_the_groups_and_match_their_hashes(&w);
  one_write_at_a_time_and_each_step_once(&w);
  the_newest_two_are_kept(&w);
  what_cannot_be_opened_for_now_is_not_set_aside(&w);
  what_is_given_up_leaves_no_file_and_can_be_begun_again(&w);
  what_has_changed_in_memory_does_not_become_a_checkpoint(&w);
  end_writing(&w);
  differences_of_cases_are_named();
  automaton_destroy(&app);
  return test_end(&world);
}
