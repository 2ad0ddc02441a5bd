/* SPDX-License-Identifier: Apache-2.0 */
/* Meshes in memory that the processes of a node share: one makes the tree, all map it, so that pages far from the blocks of a process are
 * not resident in it. */
#include "lbm/boundaries/mesh/mesh.h"

#include "core/base/hash.h"
#include "core/base/version.h"
#include "core/memory/memory_impl.h"
#include "core/system/file.h"

#include <math.h>
#include <string.h>
#include <sys/stat.h>

enum { LAYOUT = 1, ALIGNMENT = 64, MESSAGE = 1024 };
static const double longest_wait = 600; /* seconds; then each process makes its own */

/* At the beginning of the shared data: the mesh, whose pointers mean nothing, and its report, or why it is refused. */
typedef struct image {
  gab_mesh mesh;
  gab_mesh_report report;
  int32_t is_refused;
  char why[MESSAGE];
} image;

/* ---------------------------------------------------------------- making */

static gab_status make(const gab_mesh_source *source, gab_mesh *mesh, gab_mesh_report *report)
{
  GAB_TRY(gab_mesh_read(source->file, mesh));
  GAB_TRY(gab_mesh_place(mesh, &source->placement, source->file));
  GAB_TRY(gab_mesh_check(mesh, report));
  if (source->is_repaired) {
    gab_mesh_report closed;
    GAB_TRY(gab_mesh_repair(mesh));
    GAB_TRY(gab_mesh_check(mesh, &closed));
    report->volume = fabs(closed.volume); /* it may face inwards */
    report->area = closed.area;
  }
  GAB_TRY(gab_mesh_index(mesh));
  if (source->is_repaired) return GAB_OK;
  GAB_TRY(gab_mesh_check_index(mesh, report));
  return gab_mesh_refuse(report, source->file);
}

static gab_status make_own(const gab_mesh_source *source, gab_mesh *mesh, gab_mesh_report *report)
{
  const gab_status status = make(source, mesh, report);
  if (status != GAB_OK) gab_mesh_release(mesh);
  return status;
}

/* ---------------------------------------------------------------- parts of shared data */

typedef void part_fn(void *user, void *list, size_t bytes);

/* Visits the lists of a mesh in their order. @param[in] list  address of a pointer to the first item */
static void visit_parts(gab_mesh *mesh, part_fn *visit, void *user)
{
  gab_mesh_grid *grid = &mesh->grid;
  gab_mesh_groups *groups = &mesh->groups;
  visit(user, &mesh->node, mesh->node_count * sizeof *mesh->node);
  visit(user, &mesh->corner, 3 * mesh->triangle_count * sizeof *mesh->corner);
  visit(user, &mesh->vertex, 3 * mesh->vertex_count * sizeof *mesh->vertex);
  visit(user, &mesh->number, mesh->triangle_count * sizeof *mesh->number);
  visit(user, &grid->state, (size_t)(grid->count[0] * grid->count[1] * grid->count[2]));
  visit(user, &groups->name, groups->name_count * sizeof *groups->name);
  visit(user, &groups->set, groups->set_count * sizeof *groups->set);
  visit(user, &groups->of, groups->of_count * sizeof *groups->of);
}

static size_t padded(size_t bytes) { return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }

static void add_bytes(void *user, void *list, size_t bytes)
{
  (void)list;
  *(size_t *)user += padded(bytes);
}

static size_t bytes_of(gab_mesh *mesh)
{
  size_t bytes = padded(sizeof(image));
  visit_parts(mesh, add_bytes, &bytes);
  return bytes;
}

/* Pointers may be of any object type, so they are read and written as bytes. */
static void copy_part(void *user, void *list, size_t bytes)
{
  unsigned char **to = user;
  const void *from;
  memcpy(&from, list, sizeof from);
  if (bytes > 0) memcpy(*to, from, bytes);
  *to += padded(bytes);
}

static void point_to_part(void *user, void *list, size_t bytes)
{
  const unsigned char **at = user;
  memcpy(list, at, sizeof *at);
  *at += padded(bytes);
}

/* ---------------------------------------------------------------- sharing */

/* Takes over an open file. @return ::GAB_ERR_STATE if the data is none of this program */
static gab_status attach(gab_shared_file *shared, gab_mesh *mesh, gab_mesh_report *report)
{
  const image *from = shared->bytes;
  if (shared->count < sizeof *from) GAB_FAIL(GAB_ERR_STATE, "a shared mesh of %zu bytes", shared->count);
  if (from->is_refused) {
    char why[MESSAGE];
    memcpy(why, from->why, sizeof why);
    gab_shared_file_close(shared);
    return gab_error_set(GAB_ERR_INPUT, __FILE__, __LINE__, "%s", why);
  }
  gab_mesh made = from->mesh;
  if (shared->count != bytes_of(&made))
    GAB_FAIL(GAB_ERR_STATE, "a shared mesh of %zu bytes instead of %zu", shared->count, bytes_of(&made));
  const unsigned char *at = (const unsigned char *)shared->bytes + padded(sizeof *from);
  visit_parts(&made, point_to_part, &at);
  *report = from->report;
  *mesh = made;
  mesh->shared = *shared;
  mesh->counted = 0;
  return GAB_OK;
}

/* The mesh continues in the shared file; without space there it stays as it is. */
static gab_status publish(gab_shared_file *shared, gab_mesh *mesh, gab_mesh_report *report)
{
  const size_t bytes = bytes_of(mesh);
  unsigned char *to = gab_shared_file_reserve(shared, bytes);
  if (!to) return GAB_OK;
  *(image *)(void *)to = (image){.mesh = *mesh, .report = *report};
  to += padded(sizeof(image));
  visit_parts(mesh, copy_part, &to);
  gab_shared_file_publish(shared);
  gab_mesh_release(mesh);
  gab_memory_count(GAB_MEMORY_OTHER, bytes, true);
  GAB_TRY(attach(shared, mesh, report));
  mesh->counted = bytes;
  return GAB_OK;
}

/* All that wait learn why, without making the mesh one after the other. */
static void publish_refusal(gab_shared_file *shared)
{
  image *to = gab_shared_file_reserve(shared, sizeof *to);
  if (!to) return;
  *to = (image){.is_refused = 1};
  snprintf(to->why, sizeof to->why, "%s", gab_error_message());
  gab_shared_file_publish(shared);
}

static gab_status hash_file(const char *file, uint64_t *content)
{
  gab_hash64_stream hash;
  gab_hash64_begin(&hash, LAYOUT);
  GAB_TRY(gab_file_hash(file, &hash));
  *content = gab_hash64_of(&hash);
  return GAB_OK;
}

/* All that the mesh and its messages depend on, with the program: another version may make another tree. */
static uint64_t key_of(const gab_mesh_source *source, uint64_t content)
{
  const gab_mesh_placement *at = &source->placement;
  const double placed[] = {at->scale,          at->degrees[0],     at->degrees[1],     at->degrees[2],
                           at->translation[0], at->translation[1], at->translation[2], at->fit_lo[0],
                           at->fit_lo[1],      at->fit_lo[2],      at->fit_hi[0],      at->fit_hi[1],
                           at->fit_hi[2],      at->fits,           source->is_repaired};
  gab_hash64_stream key;
  struct stat program;
  gab_hash64_begin(&key, content);
  gab_hash64_add(&key, placed, sizeof placed);
  gab_hash64_add(&key, source->file, strlen(source->file));
  gab_hash64_add(&key, gab_version(), strlen(gab_version()));
  if (stat("/proc/self/exe", &program) == 0) {
    const uint64_t built[] = {(uint64_t)program.st_dev, (uint64_t)program.st_ino, (uint64_t)program.st_size,
                              (uint64_t)program.st_mtim.tv_sec, (uint64_t)program.st_mtim.tv_nsec};
    gab_hash64_add(&key, built, sizeof built);
  }
  return gab_hash64_of(&key);
}

static gab_status make_shared(const gab_mesh_source *source, uint64_t content, gab_shared_file *shared,
                              gab_mesh *mesh, gab_mesh_report *report)
{
  uint64_t now;
  const gab_status status = make_own(source, mesh, report);
  if (status == GAB_ERR_INPUT) { /* the file may be gone, which would replace the message */
    publish_refusal(shared);
  } else if (status == GAB_OK && hash_file(source->file, &now) == GAB_OK && now == content) {
    GAB_TRY(publish(shared, mesh, report));
  }
  if (!mesh->shared.bytes) gab_shared_file_close(shared);
  return status;
}

gab_status gab_mesh_load(const gab_mesh_source *source, gab_mesh *mesh, gab_mesh_report *report)
{
  gab_shared_file shared = {.bytes = NULL};
  uint64_t content;
  struct stat about;
  *mesh = (gab_mesh){0};
  *report = (gab_mesh_report){0};
  if (stat(source->file, &about) != 0 || (uint64_t)about.st_size < GAB_MESH_SHARED_FROM)
    return make_own(source, mesh, report);
  GAB_TRY(hash_file(source->file, &content));
  switch (gab_shared_file_open(&shared, key_of(source, content), longest_wait)) {
  case GAB_SHARED_FILE_TO_MAKE:
    return make_shared(source, content, &shared, mesh, report);
  case GAB_SHARED_FILE_READY: {
    const gab_status status = attach(&shared, mesh, report);
    if (status != GAB_ERR_STATE) return status;
    gab_shared_file_close(&shared);
    break;
  }
  case GAB_SHARED_FILE_NONE:
    break;
  }
  return make_own(source, mesh, report);
}
