/* SPDX-License-Identifier: Apache-2.0 */
#include "blockforest/output/output.h"
#include "blockforest/output/output_files_impl.h"
#include "core/base/log.h"
#include "core/messages/collective.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A writer; the pointer that is set gives its kind. */
typedef struct writer {
  gab_schedule schedule;
  gab_output_kind kind;
  gab_volume *volume;
  gab_slice *slice;
  gab_probes *probes;
  gab_particle_output *particles;
  gab_plane *plane;
  gab_series *series; /* of its own, or borrowed from the probes */
  gab_row_fn row;
  gab_rows_fn rows;
  void *user;
  double *values;    /* one row */
  bool looks_around; /* a quantity is not pointwise */
  char *name;        /* of the series, in packed cursors */
  char *files;       /* prefix of their paths */
} writer;

struct gab_output {
  gab_forest *forest;
  char *folder;
  writer *writers;
  size_t count;
  gab_buffer files; /* names of their files */
};

gab_step gab_schedule_step(gab_schedule schedule, int64_t k)
{
  const int64_t of_all = schedule.skip + (schedule.stride > 1 ? k * schedule.stride : k);
  return schedule.start + (schedule.interval > 0 ? (gab_step)llround((double)of_all * schedule.interval)
                                                 : of_all * schedule.every);
}

int64_t gab_schedule_count(gab_schedule schedule, gab_step step)
{
  const gab_step since = step - schedule.start;
  if (since <= 0) return 0;
  if (schedule.stride > 1 || schedule.skip > 0) {
    const gab_schedule all = {
        .every = schedule.every, .start = schedule.start, .interval = schedule.interval};
    const int64_t stride = schedule.stride > 1 ? schedule.stride : 1,
                  left = gab_schedule_count(all, step) - schedule.skip;
    return left > 0 ? (left + stride - 1) / stride : 0;
  }
  if (!(schedule.interval > 0)) return (since + schedule.every - 1) / schedule.every;
  int64_t k = (int64_t)((double)since / schedule.interval); /* at most one off */
  while (k > 0 && gab_schedule_step(schedule, k - 1) >= step) k--;
  while (gab_schedule_step(schedule, k) < step) k++;
  return k;
}

bool gab_schedule_due(gab_schedule schedule, gab_step step)
{
  return schedule.every > 0 && step >= schedule.start &&
         gab_schedule_step(schedule, gab_schedule_count(schedule, step)) == step;
}

gab_status gab_output_create(gab_forest *forest, const char *folder, gab_output **output)
{
  *output = NULL;
  gab_output *made;
  GAB_TRY(GAB_NEW(&made, GAB_MEMORY_OTHER));
  made->forest = forest;
  gab_status status = gab_output_copy_string(folder, &made->folder);
  if (status != GAB_OK) {
    gab_output_destroy(&made);
    return status;
  }
  *output = made;
  return GAB_OK;
}

static void release_writer(writer *old)
{
  if (!old->probes) gab_series_destroy(&old->series);
  gab_probes_destroy(&old->probes);
  gab_slice_destroy(&old->slice);
  gab_volume_destroy(&old->volume);
  gab_particle_output_destroy(&old->particles);
  gab_plane_destroy(&old->plane);
  gab_free(&old->values);
  gab_free(&old->name);
  gab_free(&old->files);
}

void gab_output_destroy(gab_output **output)
{
  gab_output *old = *output;
  *output = NULL;
  if (!old) return;
  for (size_t i = 0; i < old->count; i++) release_writer(&old->writers[i]);
  gab_free(&old->writers);
  gab_buffer_release(&old->files);
  gab_free(&old->folder);
  gab_free(&old);
}

/* ---------------------------------------------------------------------------------------- the list */

static bool some_look_around(const gab_quantity *quantities, size_t count)
{
  for (size_t i = 0; i < count; i++)
    if (!quantities[i].pointwise) return true;
  return false;
}

static gab_status name_files(writer *made, const char *folder, const char *within, const char *name)
{
  char path[GAB_OUTPUT_PATH_CAPACITY];
  GAB_TRY(gab_output_path(path, "%s%s/%s_", folder, within, name));
  return gab_output_copy_string(path, &made->files);
}

/* Refuses a schedule without steps, and a name whose files another writer uses. */
static gab_status check_new(const gab_output *output, const writer *made)
{
  const char *kind = made->kind == GAB_OUTPUT_SLICE       ? "slice"
                     : made->kind == GAB_OUTPUT_VOLUME    ? "volume"
                     : made->kind == GAB_OUTPUT_PARTICLES ? "output of particles"
                     : made->kind == GAB_OUTPUT_PLANE     ? "plane"
                                                          : "table";
  const char *name = made->volume      ? gab_volume_name(made->volume)
                     : made->slice     ? gab_slice_name(made->slice)
                     : made->particles ? gab_particle_output_name(made->particles)
                     : made->plane     ? gab_plane_name(made->plane)
                                       : made->name;
  if (made->schedule.every < 0 || made->schedule.start < 0)
    GAB_FAIL(GAB_ERR_ARGUMENT,
             "output `%s': every %" GAB_PRI_STEP " steps from step %" GAB_PRI_STEP
             " on is not a valid schedule",
             made->files, made->schedule.every, made->schedule.start);
  for (size_t i = 0; i < output->count; i++)
    if (strcmp(output->writers[i].files, made->files) == 0)
      GAB_FAIL(GAB_ERR_INPUT, "the files would be those of another %s, which is called '%s' as well", kind,
               name);
  return GAB_OK;
}

/* Files of volumes; NAME_<n>.h5 (particle_output.h); NAME_<n>.png; NAME.csv;
 * NAME.h5 (planes.h). */
static gab_status list_files(gab_output *output, const writer *made)
{
  gab_buffer *files = &output->files;
  if (made->volume) return gab_volume_list_files(made->volume, files);
  if (made->particles) {
    const char *name = gab_particle_output_name(made->particles);
    return gab_put_text(files, "fields/%s.xdmf\nfields/%s_<n>.xdmf\nfields/%s_<n>.h5\n", name, name, name);
  }
  if (made->slice) return gab_put_text(files, "%s_<n>.png\n", gab_slice_name(made->slice));
  if (made->plane) return gab_put_text(files, "%s.h5\n", gab_plane_name(made->plane));
  if (made->probes) return gab_put_text(files, "%s\n", made->name);
  return gab_put_text(files, "%s.csv\n", made->name);
}

gab_status gab_output_list_files(const gab_output *output, gab_buffer *names)
{
  return gab_put_bytes(names, output->files.data, output->files.size);
}

/* Takes ownership of the content of `made`, on failure too. */
static gab_status add(gab_output *output, gab_status status, writer *made)
{
  void *memory = output->writers;
  if (status == GAB_OK) status = check_new(output, made);
  if (status == GAB_OK) {
    status = gab_realloc((output->count + 1) * sizeof(writer), GAB_MEMORY_OTHER, &memory);
  }
  if (status == GAB_OK) status = list_files(output, made);
  if (memory) output->writers = memory;
  if (status != GAB_OK) {
    release_writer(made);
    return status;
  }
  output->writers[output->count++] = *made;
  return GAB_OK;
}

gab_status gab_output_add_volume(gab_output *output, gab_schedule schedule, const gab_volume_options *options)
{
  writer made = {.schedule = schedule, .kind = GAB_OUTPUT_VOLUME};
  gab_volume_options own = *options;
  made.looks_around = some_look_around(own.quantities, own.quantity_count);
  if (!own.folder) own.folder = output->folder;
  gab_status status = gab_volume_create(output->forest, &own, &made.volume);
  if (status == GAB_OK) status = name_files(&made, own.folder, "/fields", gab_volume_name(made.volume));
  return add(output, status, &made);
}

gab_status gab_output_add_slice(gab_output *output, gab_schedule schedule, const gab_slice_options *options)
{
  writer made = {.schedule = schedule, .kind = GAB_OUTPUT_SLICE};
  gab_slice_options own = *options;
  made.looks_around = !own.quantity->pointwise;
  if (!own.folder) own.folder = output->folder;
  gab_status status = gab_slice_create(output->forest, &own, &made.slice);
  if (status == GAB_OK) status = name_files(&made, own.folder, "", gab_slice_name(made.slice));
  return add(output, status, &made);
}

gab_status gab_output_add_probes(gab_output *output, gab_schedule schedule, const gab_probes_options *options)
{
  writer made = {.schedule = schedule, .kind = GAB_OUTPUT_SERIES};
  gab_probes_options own = *options;
  made.looks_around = some_look_around(own.quantities, own.quantity_count);
  char path[GAB_OUTPUT_PATH_CAPACITY];
  GAB_TRY(gab_output_path(path, "%s/probes.csv", output->folder));
  if (!own.path) own.path = path;
  gab_status status = gab_probes_create(output->forest, &own, &made.probes);
  if (status == GAB_OK) {
    made.series = gab_probes_series(made.probes);
    const char *slash = strrchr(own.path, '/');
    status = gab_output_copy_string(slash ? slash + 1 : own.path, &made.name);
    if (status == GAB_OK) status = gab_output_copy_string(own.path, &made.files);
  }
  return add(output, status, &made);
}

gab_status gab_output_add_particles(gab_output *output, gab_schedule schedule, const gab_particles *particles,
                                    const gab_particle_output_options *options)
{
  writer made = {.schedule = schedule, .kind = GAB_OUTPUT_PARTICLES};
  gab_particle_output_options own = *options;
  if (!own.folder) own.folder = output->folder;
  gab_status status = gab_particle_output_create(particles, &own, &made.particles);
  if (status == GAB_OK) status = name_files(&made, own.folder, "/fields", own.name);
  return add(output, status, &made);
}

gab_status gab_output_add_plane(gab_output *output, gab_schedule schedule, const gab_plane_options *options)
{
  writer made = {.schedule = schedule, .kind = GAB_OUTPUT_PLANE};
  gab_plane_options own = *options;
  char path[GAB_OUTPUT_PATH_CAPACITY];
  made.looks_around = some_look_around(own.quantities, own.quantity_count);
  if (!own.folder) own.folder = output->folder;
  gab_status status = gab_plane_create(output->forest, &own, &made.plane);
  if (status == GAB_OK) status = gab_output_path(path, "%s.h5", own.name);
  if (status == GAB_OK) status = gab_output_copy_string(path, &made.name);
  if (status == GAB_OK) status = gab_output_path(path, "%s/%s.h5", own.folder, own.name);
  if (status == GAB_OK) status = gab_output_copy_string(path, &made.files);
  return add(output, status, &made);
}

/* @param made  with its functions */
static gab_status add_series(gab_output *output, writer made, const char *name, const char *const *columns,
                             size_t count, gab_series **series)
{
  char path[GAB_OUTPUT_PATH_CAPACITY];
  GAB_TRY(gab_output_name_check(name));
  GAB_TRY(gab_output_path(path, "%s/%s.csv", output->folder, name));
  gab_status status = gab_output_copy_string(name, &made.name);
  if (status == GAB_OK) status = gab_output_copy_string(path, &made.files);
  if (status == GAB_OK) status = GAB_NEW_ARRAY(&made.values, count, GAB_MEMORY_OTHER);
  if (status == GAB_OK) {
    status = gab_series_create(gab_forest_world(output->forest), path, columns, count, &made.series);
  }
  gab_series *borrowed = made.series;
  GAB_TRY(add(output, status, &made));
  if (series) *series = borrowed;
  return GAB_OK;
}

gab_status gab_output_add_series(gab_output *output, gab_schedule schedule, const char *name,
                                 const char *const *columns, size_t count, gab_row_fn row, void *user,
                                 gab_series **series)
{
  const writer made = {.schedule = schedule, .kind = GAB_OUTPUT_SERIES, .row = row, .user = user};
  return add_series(output, made, name, columns, count, series);
}

gab_status gab_output_add_table(gab_output *output, gab_schedule schedule, const char *name,
                                const char *const *columns, size_t count, gab_rows_fn rows, void *user)
{
  const writer made = {.schedule = schedule, .kind = GAB_OUTPUT_SERIES, .rows = rows, .user = user};
  return add_series(output, made, name, columns, count, NULL);
}

/* ---------------------------------------------------------------------------------------- writing */

/* Series and planes: files that grow. */
static bool has_cursor(const writer *which) { return which->series || which->plane; }

static bool is_active(const writer *which)
{
  return which->kind != GAB_OUTPUT_SERIES || which->probes || which->row || which->rows;
}

bool gab_output_due(const gab_output *output, gab_step step)
{
  for (size_t i = 0; i < output->count; i++) {
    if (is_active(&output->writers[i]) && gab_schedule_due(output->writers[i].schedule, step)) return true;
  }
  return false;
}

bool gab_output_looks_around(const gab_output *output, gab_step step)
{
  for (size_t i = 0; i < output->count; i++) {
    const writer *which = &output->writers[i];
    if (which->looks_around && gab_schedule_due(which->schedule, step)) return true;
  }
  return false;
}

static gab_status write_one(gab_output *output, writer *which, gab_step step, double time)
{
  if (which->volume) return gab_volume_write(which->volume, step, time);
  if (which->slice) return gab_slice_write(which->slice, step, time);
  if (which->particles) return gab_particle_output_write(which->particles, step, time);
  if (which->plane) return gab_plane_write(which->plane, step, time);
  if (which->probes) return gab_probes_write(which->probes, step, time);
  if (!(which->row || which->rows) || gab_series_has(which->series, step)) return GAB_OK;
  double *rows = NULL;
  size_t count = 1;
  gab_status status = which->rows ? which->rows(which->user, step, time, &rows, &count)
                                  : which->row(which->user, step, time, which->values);
  if (status == GAB_OK)
    status = gab_series_append_rows(which->series, step, time, rows ? rows : which->values, count);
  gab_free(&rows);
  return gab_world_reduce_status(gab_forest_world(output->forest), status);
}

gab_status gab_output_write(gab_output *output, gab_step step, double time)
{
  if (!gab_output_due(output, step)) return GAB_OK;
  gab_world_enter(gab_forest_world(output->forest), GAB_FAULT_POINT_OUTPUT);
  /* Rows first: they cannot be computed again if a field does not fit on the disk. */
  for (int rows = 1; rows >= 0; rows--)
    for (size_t i = 0; i < output->count; i++) {
      writer *which = &output->writers[i];
      if (has_cursor(which) != rows || !gab_schedule_due(which->schedule, step)) continue;
      GAB_TRY(write_one(output, which, step, time));
    }
  return GAB_OK;
}

gab_status gab_output_write_now(gab_output *output, unsigned kinds, gab_step step, double time)
{
  gab_world_enter(gab_forest_world(output->forest), GAB_FAULT_POINT_OUTPUT);
  for (size_t i = 0; i < output->count; i++) {
    if (!(kinds & (unsigned)output->writers[i].kind)) continue;
    GAB_TRY(write_one(output, &output->writers[i], step, time));
  }
  return GAB_OK;
}

static bool lacks_last(const writer *which, gab_step step)
{
  return which->schedule.last && is_active(which) && !gab_schedule_due(which->schedule, step);
}

bool gab_output_lacks_last(const gab_output *output, gab_step step)
{
  for (size_t i = 0; i < output->count; i++)
    if (lacks_last(&output->writers[i], step)) return true;
  return false;
}

gab_status gab_output_write_last(gab_output *output, gab_step step, double time)
{
  if (!gab_output_lacks_last(output, step)) return GAB_OK;
  gab_world_enter(gab_forest_world(output->forest), GAB_FAULT_POINT_OUTPUT);
  for (size_t i = 0; i < output->count; i++)
    if (lacks_last(&output->writers[i], step)) GAB_TRY(write_one(output, &output->writers[i], step, time));
  return GAB_OK;
}

static gab_status flush_own(gab_output *output)
{
  for (size_t i = 0; i < output->count; i++) {
    if (output->writers[i].series) GAB_TRY(gab_series_flush(output->writers[i].series));
  }
  return GAB_OK;
}

gab_status gab_output_flush(gab_output *output)
{
  return gab_world_reduce_status(gab_forest_world(output->forest), flush_own(output));
}

/* ---------------------------------------------------------------------------------------- cursors */

static uint32_t cursor_count(const gab_output *output)
{
  uint32_t count = 0;
  for (size_t i = 0; i < output->count; i++) count += has_cursor(&output->writers[i]);
  return count;
}

static uint64_t columns_hash(const writer *which)
{
  return which->plane ? gab_plane_hash(which->plane) : gab_series_columns_hash(which->series);
}

/* "forces\n0123456789abcdef": a series and its columns. */
static gab_status put_name(gab_buffer *out, const writer *which)
{
  char text[GAB_OUTPUT_PATH_CAPACITY];
  GAB_TRY(gab_output_path(text, "%s\n%016" PRIx64, which->name, columns_hash(which)));
  return gab_put_string(out, text);
}

gab_status gab_output_pack(gab_output *output, gab_buffer *out)
{
  GAB_TRY(gab_put_u32(out, cursor_count(output)));
  for (size_t i = 0; i < output->count; i++) {
    writer *which = &output->writers[i];
    if (!has_cursor(which)) continue;
    GAB_TRY(put_name(out, which));
    GAB_TRY(which->plane ? gab_plane_pack(which->plane, out) : gab_series_pack(which->series, out));
  }
  return GAB_OK;
}

/* The cursor of one series. This run may lack the series, or have it with other columns. */
static gab_status unpack_one(gab_output *output, gab_reader *in, bool *known)
{
  char name[GAB_OUTPUT_PATH_CAPACITY];
  gab_reader cursor;
  GAB_TRY(gab_get_string(in, name, sizeof name));
  GAB_TRY(gab_get_view(in, sizeof(uint64_t) + sizeof(int64_t), &cursor));
  char *columns = strchr(name, '\n'); /* cursors of older programs lack the columns */
  if (columns) *columns++ = '\0';
  for (size_t i = 0; i < output->count; i++) {
    writer *which = &output->writers[i];
    if (!has_cursor(which) || strcmp(name, which->name) != 0) continue;
    if (columns && strtoull(columns, NULL, 16) != columns_hash(which)) return GAB_OK;
    known[i] = true;
    return which->plane ? gab_plane_unpack(which->plane, &cursor) : gab_series_unpack(which->series, &cursor);
  }
  return GAB_OK;
}

gab_status gab_output_unpack(gab_output *output, gab_reader *in)
{
  uint32_t count = 0;
  GAB_TRY(gab_get_u32(in, &count));
  bool *known;
  GAB_TRY(GAB_NEW_ARRAY(&known, output->count + 1, GAB_MEMORY_OTHER));
  gab_status status = GAB_OK;
  for (uint32_t i = 0; i < count && status == GAB_OK; i++) status = unpack_one(output, in, known);
  for (size_t i = 0; i < output->count && status == GAB_OK; i++) {
    writer *which = &output->writers[i];
    if (which->volume) gab_volume_rewind(which->volume);
    if (which->particles) gab_particle_output_rewind(which->particles);
    if (which->series && !known[i]) status = gab_series_begin_anew(which->series);
    if (which->plane && !known[i]) status = gab_plane_begin_anew(which->plane);
  }
  gab_free(&known);
  return status;
}

static gab_status pack_cursors(void *user, gab_buffer *out) { return gab_output_pack(user, out); }
static gab_status unpack_cursors(void *user, gab_reader *in) { return gab_output_unpack(user, in); }

gab_entity gab_output_entity(gab_output *output)
{
  return (gab_entity){.name = "output",
                      .kind = GAB_ENTITY_REPLICATED,
                      .user = output,
                      .pack = pack_cursors,
                      .unpack = unpack_cursors};
}
