/* SPDX-License-Identifier: Apache-2.0 */
#include "blockforest/output/fields/hdf5_output.h"
#include "blockforest/hdf5/hdf5_file_impl.h"
#include "blockforest/output/output_files_impl.h"
#include "blockforest/output/fields/step_files_impl.h"
#include "blockforest/output/fields/xdmf_impl.h"
#include "blockforest/output/vtkhdf/vtk_fields.h"
#include "core/messages/collective.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct gab_volume {
  gab_forest *forest;
  char *folder; /* with /fields */
  char *name;
  gab_quantity *quantities;
  size_t quantity_count;
  gab_output_precision precision;
  int compression;
  size_t widest; /* most numbers of a quantity on a block */
  gab_step_files files;
  unsigned formats;
  gab_vtk_fields *vtk; /* NULL without VTKHDF */
};

static gab_status fill_in(gab_volume *volume, const gab_volume_options *options)
{
  char folder[GAB_OUTPUT_PATH_CAPACITY];
  GAB_TRY(gab_output_path(folder, "%s/fields", options->folder));
  GAB_TRY(gab_output_copy_string(folder, &volume->folder));
  if (options->name) GAB_TRY(gab_output_name_check(options->name));
  GAB_TRY(gab_output_copy_string(options->name ? options->name : "fields", &volume->name));
  GAB_TRY(GAB_NEW_ARRAY(&volume->quantities, options->quantity_count, GAB_MEMORY_OTHER));
  for (size_t i = 0; i < options->quantity_count; i++) {
    GAB_TRY(gab_quantity_check(&options->quantities[i]));
    volume->quantities[i] = options->quantities[i];
    size_t values = gab_quantity_block_values(volume->forest, &options->quantities[i]);
    if (values > volume->widest) volume->widest = values;
  }
  volume->quantity_count = options->quantity_count;
  volume->precision = options->precision;
  volume->compression = options->compression;
  volume->formats = options->formats ? options->formats : GAB_VOLUME_GABION;
  if (!(volume->formats & GAB_VOLUME_VTKHDF)) return GAB_OK;
  const gab_vtk_fields_options vtk = {.folder = volume->folder,
                                      .name = volume->name,
                                      .quantities = volume->quantities,
                                      .quantity_count = volume->quantity_count,
                                      .precision = volume->precision,
                                      .has_levels = options->has_levels};
  return gab_vtk_fields_create(volume->forest, &vtk, &volume->vtk);
}

int gab_volume_usual_compression(void) { return gab_hdf5_can_compress() ? 1 : 0; }

gab_status gab_volume_create(gab_forest *forest, const gab_volume_options *options, gab_volume **volume)
{
  *volume = NULL;
  if (!options->folder || options->quantity_count == 0) {
    GAB_FAIL(GAB_ERR_ARGUMENT, "volume output needs a folder and quantities");
  }
  GAB_TRY(gab_hdf5_compression_check("volume output", options->compression));
  gab_volume *made;
  GAB_TRY(GAB_NEW(&made, GAB_MEMORY_OTHER));
  made->forest = forest;
  gab_status status = fill_in(made, options);
  if (status != GAB_OK) {
    gab_volume_destroy(&made);
    return status;
  }
  *volume = made;
  return GAB_OK;
}

const char *gab_volume_name(const gab_volume *volume) { return volume->name; }

gab_status gab_volume_list_files(const gab_volume *volume, gab_buffer *names)
{
  const char *const name = volume->name;
  if (volume->formats & GAB_VOLUME_GABION)
    GAB_TRY(
        gab_put_text(names, "fields/%s.xdmf\nfields/%s_<n>.xdmf\nfields/%s_<n>.s<n>.h5\n", name, name, name));
  if (!volume->vtk) return GAB_OK;
  return gab_put_text(
      names, "fields/%s.vtkhdf.series\nfields/%s.hdf.series\nfields/%s_<n>.vtkhdf\nfields/%s_mesh_<n>.h5\n",
      name, name, name, name);
}

void gab_volume_destroy(gab_volume **volume)
{
  gab_volume *old = *volume;
  *volume = NULL;
  if (!old) return;
  gab_vtk_fields_destroy(&old->vtk);
  gab_free(&old->folder);
  gab_free(&old->name);
  gab_free(&old->quantities);
  gab_step_files_release(&old->files);
  gab_free(&old);
}

void gab_volume_rewind(gab_volume *volume)
{
  volume->files.is_known = false;
  if (volume->vtk) gab_vtk_fields_rewind(volume->vtk);
}

/* ---------------------------------------------------------------------------------------- one step */

static gab_status rank_file_name(const gab_volume *volume, gab_step step, char path[GAB_OUTPUT_PATH_CAPACITY])
{
  return gab_output_path(path, "%s/%s_%010" GAB_PRI_STEP ".s%04" GAB_PRI_RANK ".h5", volume->folder,
                         volume->name, step, gab_world_rank(gab_forest_world(volume->forest)));
}

static gab_status describe_blocks(const gab_volume *volume, const char *path, gab_buffer *text)
{
  const gab_forest *forest = volume->forest;
  const int32_t *cells = gab_forest_get_options(forest)->cells;
  const int dimension = gab_forest_get_options(forest)->grid.dimension;
  const size_t count = gab_forest_block_count(forest);
  size_t described = 0;
  for (int level = 0; described < count; level++) {
    char dataset[GAB_HDF5_LEVEL_NAME];
    gab_xdmf_block about = {.dataset = dataset,
                            .row = 0,
                            .rows = (int64_t)gab_hdf5_blocks_of_level(forest, level),
                            .cells = {cells[0], cells[1], cells[2]}};
    gab_hdf5_level_name(level, dataset);
    for (size_t i = 0; i < count && about.row < about.rows; i++) {
      const gab_block *block = gab_forest_block(forest, i);
      double width;
      if (gab_block_level(forest, block) != level) continue;
      about.id = gab_block_get_id(block);
      gab_output_block_origin(forest, block, about.origin, &width);
      for (int axis = 0; axis < 3; axis++) about.spacing[axis] = width;
      if (dimension == 2) about.spacing[2] = gab_forest_dx(forest, 0); /* equally thick on all levels */
      GAB_TRY(gab_xdmf_put_block(text, strrchr(path, '/') + 1, &about, volume->quantities,
                                 volume->quantity_count, volume->precision));
      about.row++;
    }
    described += (size_t)about.rows;
  }
  return GAB_OK;
}

/* One block, allocated during the write only: most outputs are for steps that the run has not reached. */
static gab_status write_blocks(const gab_volume *volume, const char *path, gab_hdf5_content *content)
{
  double *values = NULL;
  float *narrow = NULL;
  gab_status status = GAB_NEW_ARRAY(&values, volume->widest, GAB_MEMORY_OTHER);
  if (status == GAB_OK && volume->precision == GAB_OUTPUT_FLOAT)
    status = GAB_NEW_ARRAY(&narrow, volume->widest, GAB_MEMORY_OTHER);
  content->values = values;
  content->narrow = narrow;
  if (status == GAB_OK) status = gab_hdf5_write_blocks(path, content);
  gab_free(&values);
  gab_free(&narrow);
  return status;
}

/* File of this rank, and the description of its blocks. */
static gab_status write_own(gab_volume *volume, const char *path, gab_step step, double time,
                            gab_buffer *text)
{
  if (gab_forest_block_count(volume->forest) == 0) {
    (void)unlink(path); /* from before the rollback */
    return GAB_OK;
  }
  gab_hdf5_content content = {.forest = volume->forest,
                              .quantities = volume->quantities,
                              .quantity_count = volume->quantity_count,
                              .precision = volume->precision,
                              .compression = volume->compression,
                              .step = step,
                              .time = time};
  GAB_TRY(write_blocks(volume, path, &content));
  return describe_blocks(volume, path, text);
}

static gab_status append_part(void *user, gab_rank from, gab_reader bytes)
{
  (void)from;
  gab_output_file_write(user, bytes.at, gab_reader_left(&bytes));
  return GAB_OK;
}

/* Description of the step, part by part in the order of the ranks. Collective; the status is the root's. */
static gab_status write_description(gab_volume *volume, const char *path, double time, const gab_buffer *part)
{
  gab_world *world = gab_forest_world(volume->forest);
  gab_output_file file = {.is_open = false};
  gab_buffer frame = {0};
  gab_status status = GAB_OK, gathered;
  if (!gab_world_is_root(world)) return gab_world_gather(world, part, append_part, &file);

  status = gab_output_file_open(&file, path);
  if (status == GAB_OK) status = gab_xdmf_put_step_head(&frame, volume->name, time);
  file.error = status == GAB_OK ? 0 : EIO; /* consumes the parts of the others without writing them */
  gab_output_file_write(&file, frame.data, frame.size);
  gathered = gab_world_gather(world, part, append_part, &file);
  if (status == GAB_OK) status = gathered;
  gab_buffer_clear(&frame);
  if (status == GAB_OK) status = gab_xdmf_put_step_tail(&frame);
  if (status == GAB_OK) gab_output_file_write(&file, frame.data, frame.size);
  status = gab_output_file_commit(&file, status);
  gab_buffer_release(&frame);
  return gathered == GAB_ERR_FAULT ? gathered : status;
}

static gab_status write_index(gab_volume *volume, gab_step step)
{
  GAB_TRY(gab_step_files_update(&volume->files, gab_forest_world(volume->forest), volume->folder,
                                volume->name, step));
  return gab_step_files_write_index(&volume->files, volume->folder, volume->name);
}

/* The files of ranks, with their description. */
static gab_status write_of_ranks(gab_volume *volume, gab_step step, double time)
{
  gab_world *world = gab_forest_world(volume->forest);
  char own[GAB_OUTPUT_PATH_CAPACITY], description[GAB_OUTPUT_PATH_CAPACITY];
  GAB_TRY(gab_world_check(world));
  GAB_TRY(rank_file_name(volume, step, own));
  GAB_TRY(
      gab_output_path(description, "%s/%s_%010" GAB_PRI_STEP ".xdmf", volume->folder, volume->name, step));
  /* After a rollback the old description does not fit the new files. */
  if (gab_world_is_root(world)) (void)unlink(description);

  gab_buffer part = {0};
  gab_status status = gab_world_reduce_status(world, write_own(volume, own, step, time, &part));
  if (status == GAB_OK) {
    status = write_description(volume, description, time, &part);
    if (status == GAB_OK && gab_world_is_root(world)) status = write_index(volume, step);
    status = gab_world_reduce_status(world, status);
  }
  gab_buffer_release(&part);
  if (status != GAB_OK && status != GAB_ERR_FAULT) { /* a step is complete or absent */
    volume->files.is_known = false;
    (void)unlink(own);
    if (gab_world_is_root(world)) (void)unlink(description);
  }
  return status;
}

gab_status gab_volume_write(gab_volume *volume, gab_step step, double time)
{
  if (volume->formats & GAB_VOLUME_GABION) GAB_TRY(write_of_ranks(volume, step, time));
  return volume->vtk ? gab_vtk_fields_write(volume->vtk, step, time) : GAB_OK;
}
