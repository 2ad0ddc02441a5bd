/* SPDX-License-Identifier: Apache-2.0 */
/* The root gathers *rows* of 8-byte numbers (id, position, columns), sorts them by id, and writes the file alone: its
 * bytes do not depend on the owners of particles. */
#include "blockforest/output/particle_output.h"
#include "blockforest/hdf5/hdf5_file_impl.h"
#include "blockforest/hdf5/hdf5_image_impl.h"
#include "blockforest/output/output_files_impl.h"
#include "blockforest/output/fields/step_files_impl.h"
#include "blockforest/output/fields/xdmf_impl.h"
#include "blockforest/particles/particles_impl.h"
#include "core/messages/collective.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORD = 8, FORMAT = 1, HEAD_WORDS = 4 /* id, position */ };

struct gab_particle_output {
  const gab_particles *particles;
  char *folder; /* with /fields */
  char *name;
  gab_particle_column columns[GAB_PARTICLE_MOST_COLUMNS];
  size_t column_count, row_words;
  int compression;
  gab_step_files files; /* root only */
};

/* ---------------------------------------------------------------------------------------- creation */

static gab_status check_column(const gab_particles *particles, const gab_particle_column *column)
{
  if (!column->name) GAB_FAIL(GAB_ERR_ARGUMENT, "a column of particles has no name");
  GAB_TRY(gab_output_name_check(column->name));
  if (strcmp(column->name, "id") == 0 || strcmp(column->name, "position") == 0 ||
      strcmp(column->name, "row") == 0)
    GAB_FAIL(GAB_ERR_ARGUMENT, "column `%s' of particles: it is written anyway", column->name);
  const size_t end = column->offset + (size_t)column->components * WORD;
  if ((column->components != 1 && column->components != 3) || column->offset % WORD != 0 ||
      end > particles->record_bytes)
    GAB_FAIL(GAB_ERR_ARGUMENT,
             "column `%s' of particles: %d components at byte %zu of a record of %zu bytes; 1 or 3 at a "
             "multiple of 8 are possible",
             column->name, column->components, column->offset, particles->record_bytes);
  return GAB_OK;
}

static gab_status check(const gab_particles *particles, const gab_particle_output_options *options)
{
  if (!options->folder || !options->name)
    GAB_FAIL(GAB_ERR_ARGUMENT, "output of particles needs a folder and a name");
  GAB_TRY(gab_output_name_check(options->name));
  if (options->column_count > GAB_PARTICLE_MOST_COLUMNS)
    GAB_FAIL(GAB_ERR_ARGUMENT, "%zu columns of particles: at most %d are possible", options->column_count,
             (int)GAB_PARTICLE_MOST_COLUMNS);
  GAB_TRY(gab_hdf5_compression_check("particles", options->compression));
  for (size_t c = 0; c < options->column_count; c++) GAB_TRY(check_column(particles, &options->columns[c]));
  return GAB_OK;
}

static gab_status fill_in(gab_particle_output *made, const gab_particle_output_options *options)
{
  char folder[GAB_OUTPUT_PATH_CAPACITY];
  GAB_TRY(gab_output_path(folder, "%s/fields", options->folder));
  GAB_TRY(gab_output_copy_string(folder, &made->folder));
  GAB_TRY(gab_output_copy_string(options->name, &made->name));
  made->row_words = HEAD_WORDS;
  made->column_count = options->column_count;
  made->compression = options->compression;
  for (size_t c = 0; c < made->column_count; c++) {
    made->columns[c] = options->columns[c];
    made->row_words += (size_t)made->columns[c].components;
  }
  return GAB_OK;
}

gab_status gab_particle_output_create(const gab_particles *particles,
                                      const gab_particle_output_options *options,
                                      gab_particle_output **output)
{
  *output = NULL;
  GAB_TRY(check(particles, options));
  gab_particle_output *made;
  GAB_TRY(GAB_NEW(&made, GAB_MEMORY_OTHER));
  made->particles = particles;
  const gab_status status = fill_in(made, options);
  if (status != GAB_OK) gab_particle_output_destroy(&made);
  *output = made;
  return status;
}

void gab_particle_output_destroy(gab_particle_output **output)
{
  gab_particle_output *old = *output;
  if (!old) return;
  gab_step_files_release(&old->files);
  gab_free(&old->folder);
  gab_free(&old->name);
  gab_free(output);
}

const char *gab_particle_output_name(const gab_particle_output *output) { return output->name; }

void gab_particle_output_rewind(gab_particle_output *output) { output->files.is_known = false; }

/* ---------------------------------------------------------------------------------------- rows */

static gab_status put_row(const gab_particle_output *output, const gab_particle *record, gab_buffer *rows)
{
  const bool is_flat = gab_forest_get_options(output->particles->forest)->grid.dimension == 2;
  const double at[3] = {record->at[0], record->at[1], is_flat ? 0 : record->at[2]};
  GAB_TRY(gab_put_bytes(rows, &record->id, WORD));
  GAB_TRY(gab_put_bytes(rows, at, sizeof at));
  for (size_t c = 0; c < output->column_count; c++)
    GAB_TRY(gab_put_bytes(rows, (const char *)record + output->columns[c].offset,
                          (size_t)output->columns[c].components * WORD));
  return GAB_OK;
}

static gab_status collect_own(const gab_particle_output *output, gab_buffer *rows)
{
  const gab_particles *particles = output->particles;
  for (size_t b = 0; b < gab_forest_block_count(particles->forest); b++) {
    size_t count;
    const char *records = gab_particles_of(particles, gab_forest_block(particles->forest, b), &count);
    for (size_t i = 0; i < count; i++)
      GAB_TRY(put_row(output, (const void *)(records + i * particles->record_bytes), rows));
  }
  return GAB_OK;
}

static gab_status append_rows(void *user, gab_rank from, gab_reader bytes)
{
  (void)from;
  return gab_put_bytes(user, bytes.at, gab_reader_left(&bytes));
}

/* Rows begin with their id. */
static int by_id(const void *a, const void *b)
{
  uint64_t left, right;
  memcpy(&left, a, WORD);
  memcpy(&right, b, WORD);
  return left < right ? -1 : left > right;
}

/* ---------------------------------------------------------------------------------------- the file */

static hid_t type_of(gab_particle_number type)
{
  return type == GAB_PARTICLE_F64   ? H5T_NATIVE_DOUBLE
         : type == GAB_PARTICLE_I64 ? H5T_NATIVE_INT64
                                    : H5T_NATIVE_UINT64;
}

typedef struct content {
  const gab_particle_output *output;
  const unsigned char *rows;
  size_t count;
  unsigned char *column; /* capacity for three numbers of each row */
  gab_step step;
  double time;
} content;

static void put_rows(gab_hdf5_image *file, const content *what, hid_t group)
{
  const hsize_t extent = what->count;
  for (size_t i = 0; i < what->count; i++) memcpy(what->column + i * WORD, &(int64_t){(int64_t)i}, WORD);
  gab_hdf5_put_table(file, group, "row", H5T_NATIVE_INT64, 1, &extent,
                     what->count > 0 ? what->output->compression : 0, what->column);
}

/* @param[in] first  word of the row */
static void put_column(gab_hdf5_image *file, const content *what, hid_t group,
                       const gab_particle_column *column, size_t first)
{
  const size_t bytes = (size_t)column->components * WORD, row = what->output->row_words * WORD;
  const hsize_t extent[2] = {what->count, (hsize_t)column->components};
  if (file->failed) return;
  for (size_t i = 0; i < what->count; i++)
    memcpy(what->column + i * bytes, what->rows + i * row + first * WORD, bytes);
  gab_hdf5_put_table(file, group, column->name, type_of(column->type), column->components == 1 ? 1 : 2,
                     extent, what->count > 0 ? what->output->compression : 0, what->column);
  if (file->failed) return;
  const hid_t table = H5Dopen2(group, column->name, H5P_DEFAULT);
  if (!gab_hdf5_check(file, table)) return;
  gab_hdf5_put_text(file, table, "unit", column->unit ? column->unit : "");
  gab_hdf5_check(file, H5Dclose(table));
}

static void put_content(gab_hdf5_image *file, const content *what)
{
  const gab_particle_column head[] = {{.name = "id", .components = 1, .type = GAB_PARTICLE_U64},
                                      {.name = "position", .components = 3}};
  const int64_t step = what->step;
  const int32_t format = FORMAT;
  size_t word = HEAD_WORDS;
  gab_hdf5_put_text(file, file->file, "writer", "gabion " GAB_VERSION);
  gab_hdf5_put_attribute(file, file->file, "format", H5T_NATIVE_INT32, 1, &format);
  gab_hdf5_put_attribute(file, file->file, "step", H5T_NATIVE_INT64, 1, &step);
  gab_hdf5_put_attribute(file, file->file, "time", H5T_NATIVE_DOUBLE, 1, &what->time);
  const hid_t group = gab_hdf5_make_group(file, "particles");
  put_rows(file, what, group);
  put_column(file, what, group, &head[0], 0);
  put_column(file, what, group, &head[1], 1);
  for (size_t c = 0; c < what->output->column_count; c++) {
    put_column(file, what, group, &what->output->columns[c], word);
    word += (size_t)what->output->columns[c].components;
  }
  if (group >= 0) gab_hdf5_check(file, H5Gclose(group));
}

static gab_status write_file(const content *what, const char *path)
{
  gab_hdf5_image file;
  gab_hdf5_lock();
  gab_hdf5_image_open(&file, what->count * what->output->row_words * WORD + ((size_t)1 << 16));
  if (!file.failed) put_content(&file, what);
  gab_status status = gab_hdf5_image_finish(&file, path);
  gab_hdf5_unlock();
  if (status == GAB_OK) status = gab_hdf5_image_save(&file, path);
  gab_hdf5_lock();
  gab_hdf5_image_close(&file);
  gab_hdf5_unlock();
  return status;
}

/* ---------------------------------------------------------------------------------------- its description */

static gab_status describe_column(gab_buffer *text, const content *what, const char *file,
                                  const gab_particle_column *column)
{
  /* Readers of unsigned numbers cut them to 32 bits. */
  const char *const kind = column->type == GAB_PARTICLE_F64 ? "Float" : "Int";
  return gab_put_text(text,
                      "   <Attribute Name=\"%s\" AttributeType=\"%s\" Center=\"Node\">\n"
                      "    <DataItem Dimensions=\"%zu%s\" NumberType=\"%s\" Precision=\"8\" "
                      "Format=\"HDF\">%s:/particles/%s</DataItem>\n"
                      "   </Attribute>\n",
                      column->name, column->components == 3 ? "Vector" : "Scalar", what->count,
                      column->components == 3 ? " 3" : "", kind, file, column->name);
}

/* XDMF 3 reads cells only as listed: a row for each particle. */
static gab_status describe_points(gab_buffer *text, const content *what, const char *file)
{
  const gab_particle_column id = {.name = "id", .components = 1, .type = GAB_PARTICLE_U64};
  GAB_TRY(gab_put_text(text,
                       "  <Grid Name=\"particles\" GridType=\"Uniform\">\n"
                       "   <Topology TopologyType=\"Polyvertex\" NumberOfElements=\"%zu\" "
                       "NodesPerElement=\"1\">\n"
                       "    <DataItem Dimensions=\"%zu\" NumberType=\"Int\" Precision=\"8\" "
                       "Format=\"HDF\">%s:/particles/row</DataItem>\n"
                       "   </Topology>\n"
                       "   <Geometry GeometryType=\"XYZ\">\n"
                       "    <DataItem Dimensions=\"%zu 3\" NumberType=\"Float\" Precision=\"8\" "
                       "Format=\"HDF\">%s:/particles/position</DataItem>\n"
                       "   </Geometry>\n",
                       what->count, what->count, file, what->count, file));
  GAB_TRY(describe_column(text, what, file, &id));
  for (size_t c = 0; c < what->output->column_count; c++)
    GAB_TRY(describe_column(text, what, file, &what->output->columns[c]));
  return gab_put_text(text, "  </Grid>\n");
}

/* A collection of one grid, or of none without particles, since XDMF 2 refuses data without values. */
static gab_status describe(gab_buffer *text, const content *what, const char *file)
{
  GAB_TRY(gab_xdmf_put_step_head(text, what->output->name, what->time));
  if (what->count > 0) GAB_TRY(describe_points(text, what, file));
  return gab_xdmf_put_step_tail(text);
}

/* ---------------------------------------------------------------------------------------- one step */

typedef struct paths {
  char file[GAB_OUTPUT_PATH_CAPACITY], description[GAB_OUTPUT_PATH_CAPACITY];
} paths;

static gab_status write_all(gab_particle_output *output, content *what, const paths *to)
{
  gab_buffer text = {0};
  GAB_TRY(GAB_NEW_ARRAY(&what->column, 3 * WORD * what->count + 1, GAB_MEMORY_OTHER));
  gab_status status = write_file(what, to->file);
  gab_free(&what->column);
  if (status == GAB_OK) status = describe(&text, what, strrchr(to->file, '/') + 1);
  if (status == GAB_OK) status = gab_output_file_save(to->description, text.data, text.size);
  gab_buffer_release(&text);
  if (status != GAB_OK) return status;
  GAB_TRY(gab_step_files_update(&output->files, gab_forest_world(output->particles->forest), output->folder,
                                output->name, what->step));
  return gab_step_files_write_index(&output->files, output->folder, output->name);
}

/* The status is the root's. */
static gab_status gather_and_write(gab_particle_output *output, const gab_buffer *own, const paths *to,
                                   gab_step step, double time)
{
  gab_world *world = gab_forest_world(output->particles->forest);
  gab_buffer rows;
  gab_buffer_init(&rows, GAB_MEMORY_OTHER);
  gab_status status = gab_world_gather(world, own, append_rows, &rows);
  if (status == GAB_OK && gab_world_is_root(world)) {
    const size_t row = output->row_words * WORD;
    content what = {
        .output = output, .rows = rows.data, .count = rows.size / row, .step = step, .time = time};
    if (what.count > 1) qsort(rows.data, what.count, row, by_id);
    (void)unlink(to->description); /* after a rollback the old description does not fit the new file */
    status = write_all(output, &what, to);
  }
  gab_buffer_release(&rows);
  return status;
}

static gab_status name_files(const gab_particle_output *output, gab_step step, paths *to)
{
  GAB_TRY(gab_output_path(to->file, "%s/%s_%010" GAB_PRI_STEP ".h5", output->folder, output->name, step));
  return gab_output_path(to->description, "%s/%s_%010" GAB_PRI_STEP ".xdmf", output->folder, output->name,
                         step);
}

gab_status gab_particle_output_write(gab_particle_output *output, gab_step step, double time)
{
  gab_world *world = gab_forest_world(output->particles->forest);
  paths to;
  gab_buffer own;
  GAB_TRY(gab_world_check(world));
  GAB_TRY(name_files(output, step, &to));
  gab_buffer_init(&own, GAB_MEMORY_MESSAGE);
  gab_status status = gab_world_reduce_status(world, collect_own(output, &own));
  if (status == GAB_OK)
    status = gab_world_reduce_status(world, gather_and_write(output, &own, &to, step, time));
  gab_buffer_release(&own);
  if (status != GAB_OK && status != GAB_ERR_FAULT && gab_world_is_root(world)) {
    output->files.is_known = false;
    (void)unlink(to.file);
    (void)unlink(to.description);
  }
  return status;
}
