/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: labels=quick timeout=60 */
/* Meshes that the processes of a node share: the same answers, bit by bit, as one that is not shared; another placement or file is another
 * mesh; a refusal has the same words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "core/base/hash.h"
#include "core/memory/memory.h"
#include "lbm/boundaries/mesh/mesh.h"
#include "mesh_shapes.h"

#include <sys/wait.h>
#include <unistd.h>

enum { FINE = 32, POINTS = 300 }; /* 20480 triangles */
static const double zero[3] = {0, 0, 0};
static char place[] = "/tmp/gabion-mesh-test-XXXXXX", folder[64], file[64], bad[64];

static void write_sphere(const char *path, double radius, bool is_whole)
{
  size_t size;
  facets list = facets_sphere(zero, radius, FINE);
  if (!is_whole) list.count--;
  unsigned char *bytes = facets_stl(&list, &size);
  FILE *to = fopen(path, "wb");
  assert_true(to && fwrite(bytes, 1, size, to) == size && fclose(to) == 0);
  free(bytes);
  facets_release(&list);
}

static int set_up(void **state)
{
  (void)state;
  if (!mkdtemp(place)) return -1;
  snprintf(folder, sizeof folder, "%s/shared", place);
  snprintf(file, sizeof file, "%s/ball.stl", place);
  snprintf(bad, sizeof bad, "%s/bad.stl", place);
  write_sphere(file, 1, true);
  write_sphere(bad, 1, false);
  return 0;
}

static int clear(void **state)
{
  char command[96];
  (void)state;
  snprintf(command, sizeof command, "rm -rf %s", place);
  return system(command);
}

static gab_status load(const char *path, double scale, bool is_shared, gab_mesh *mesh,
                       gab_mesh_report *report)
{
  const gab_mesh_source source = {.file = path, .placement = {.scale = scale, .degrees = {10, 20, 30}}};
  setenv("GABION_SHARED_FILES", is_shared ? folder : "", 1);
  return gab_mesh_load(&source, mesh, report);
}

/* All answers about some points, as a hash. */
static uint64_t answers(const gab_mesh *mesh, const gab_mesh_report *report)
{
  uint64_t hash = gab_hash64(&report->volume, sizeof report->volume, report->triangles);
  for (uint64_t i = 0; i < POINTS; i++) {
    struct {
      double nearest[3], t, distance;
      uint64_t number, crosses;
      int64_t winding, state;
    } all;
    double at[3], to[3];
    size_t triangle;
    bool on_surface;
    memset(&all, 0, sizeof all);
    for (uint64_t axis = 0; axis < 3; axis++) {
      at[axis] = 2.4 * gab_hash_uniform(1, axis, i) - 1.2;
      to[axis] = at[axis] + gab_hash_uniform(2, axis, i) - 0.5;
    }
    all.distance = gab_mesh_distance(mesh, at, all.nearest, &triangle);
    all.number = mesh->number[triangle];
    all.winding = gab_mesh_winding(mesh, at, &on_surface);
    all.crosses = gab_mesh_crossing(mesh, at, to, &all.t);
    all.state = gab_mesh_state_of(mesh, at, at);
    hash = gab_hash64(&all, sizeof all, hash);
  }
  return hash;
}

static void shared_meshes_give_the_same_answers(void **state)
{
  gab_mesh own, made, mapped;
  gab_mesh_report report;
  (void)state;
  const size_t before = gab_memory_now(GAB_MEMORY_OTHER);
  assert_int_equal(load(file, 1, false, &own, &report), GAB_OK);
  assert_null(own.shared.bytes);
  const uint64_t expected = answers(&own, &report);
  const size_t bytes = gab_mesh_bytes(&own);
  gab_mesh_release(&own);
  assert_int_equal(load(file, 1, true, &made, &report), GAB_OK);
  assert_non_null(made.shared.bytes);
  assert_true(answers(&made, &report) == expected && gab_mesh_bytes(&made) == bytes);
  const size_t with_one = gab_memory_now(GAB_MEMORY_OTHER);
  assert_true(with_one >= before + bytes && with_one < before + bytes + 4096);
  assert_int_equal(load(file, 1, true, &mapped, &report), GAB_OK);
  assert_true(mapped.shared.bytes && answers(&mapped, &report) == expected);
  assert_int_equal(gab_memory_now(GAB_MEMORY_OTHER), with_one); /* counted once */
  gab_mesh_release(&made);
  assert_int_equal(gab_memory_now(GAB_MEMORY_OTHER), before);
  assert_true(answers(&mapped, &report) == expected);
  gab_mesh_release(&mapped);
  assert_int_not_equal(access(folder, F_OK), 0);
}

static void another_placement_or_file_is_another_mesh(void **state)
{
  gab_mesh first, second, third;
  gab_mesh_report report;
  (void)state;
  assert_int_equal(load(file, 1, true, &first, &report), GAB_OK);
  assert_int_equal(load(file, 2, true, &second, &report), GAB_OK);
  assert_true(first.hi[0] < 1.01 && second.hi[0] > 1.9);
  write_sphere(file, 3, true);
  assert_int_equal(load(file, 1, true, &third, &report), GAB_OK);
  assert_true(third.hi[0] > 2.9);
  gab_mesh_release(&first);
  gab_mesh_release(&second);
  gab_mesh_release(&third);
  write_sphere(file, 1, true);
}

static void a_refusal_has_the_same_words_for_all(void **state)
{
  enum { CHILDREN = 3 };
  char expected[1024];
  gab_mesh mesh;
  gab_mesh_report report;
  pid_t child[CHILDREN];
  (void)state;
  assert_int_equal(load(bad, 1, false, &mesh, &report), GAB_ERR_INPUT);
  snprintf(expected, sizeof expected, "%s", gab_error_message());
  assert_non_null(strstr(expected, "bad.stl: not a closed"));
  for (int i = 0; i < CHILDREN; i++)
    if ((child[i] = fork()) == 0)
      _exit(load(bad, 1, true, &mesh, &report) == GAB_ERR_INPUT && strcmp(gab_error_message(), expected) == 0
                ? 0
                : 1);
  for (int i = 0; i < CHILDREN; i++) {
    int status;
    assert_int_equal(waitpid(child[i], &status, 0), child[i]);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  assert_int_not_equal(access(folder, F_OK), 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(shared_meshes_give_the_same_answers),
      cmocka_unit_test(another_placement_or_file_is_another_mesh),
      cmocka_unit_test(a_refusal_has_the_same_words_for_all),
  };
  return cmocka_run_group_tests(tests, set_up, clear);
}
