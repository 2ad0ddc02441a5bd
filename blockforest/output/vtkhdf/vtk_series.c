/* SPDX-License-Identifier: Apache-2.0 */
#include "blockforest/output/vtkhdf/vtk_series_impl.h"
#include "blockforest/hdf5/hdf5_lock.h"
#include "blockforest/hdf5/hdf5_open.h"
#include "blockforest/output/output_files_impl.h"

#include <hdf5.h>

typedef struct gab_vtk_time {
  gab_step step;
  double time;
} gab_vtk_time;

static gab_status name_file(const char *folder, const char *name, gab_step step,
                            char path[GAB_OUTPUT_PATH_CAPACITY])
{
  return gab_output_path(path, "%s/%s_%010" GAB_PRI_STEP ".vtkhdf", folder, name, step);
}

static gab_status read_time(const char *path, double *time)
{
  gab_hdf5_lock();
  const hid_t file = gab_hdf5_open(path), attribute = file < 0 ? -1 : H5Aopen(file, "time", H5P_DEFAULT);
  const bool read = attribute >= 0 && H5Aread(attribute, H5T_NATIVE_DOUBLE, time) >= 0;
  gab_status status = read ? GAB_OK : gab_hdf5_failure(path);
  if (attribute >= 0) H5Aclose(attribute);
  if (file >= 0) H5Fclose(file);
  gab_hdf5_unlock();
  return status;
}

static const gab_vtk_time *find_time(const gab_buffer *times, gab_step step)
{
  const gab_vtk_time *all = (const gab_vtk_time *)times->data;
  for (size_t i = times->size / sizeof *all; i > 0; i--)
    if (all[i - 1].step == step) return &all[i - 1];
  return NULL;
}

/* Times of all steps in the list; the last one is new. */
static gab_status update_times(gab_vtk_series *series, const char *folder, const char *name, double time)
{
  const gab_step *steps = (const gab_step *)series->files.steps.data;
  const size_t count = series->files.steps.size / sizeof *steps;
  gab_buffer times = {0};
  gab_status status = GAB_OK;
  for (size_t i = 0; i < count && status == GAB_OK; i++) {
    char path[GAB_OUTPUT_PATH_CAPACITY];
    const gab_vtk_time *known = find_time(&series->times, steps[i]);
    gab_vtk_time entry = {.step = steps[i], .time = i + 1 == count ? time : known ? known->time : 0};
    status = name_file(folder, name, steps[i], path);
    if (status == GAB_OK && i + 1 < count && !known) status = read_time(path, &entry.time);
    if (status == GAB_OK) status = gab_put_bytes(&times, &entry, sizeof entry);
  }
  gab_buffer_swap(&times, &series->times);
  gab_buffer_release(&times);
  return status;
}

static gab_status put_text(const gab_buffer *times, const char *name, gab_buffer *text)
{
  const gab_vtk_time *all = (const gab_vtk_time *)times->data;
  const size_t count = times->size / sizeof *all;
  GAB_TRY(gab_put_text(text, "{\n  \"file-series-version\": \"1.0\",\n  \"files\": [\n"));
  for (size_t i = 0; i < count; i++) {
    char number[GAB_OUTPUT_NUMBER];
    gab_output_number(all[i].time, number);
    GAB_TRY(gab_put_text(text, "    {\"name\": \"%s_%010" GAB_PRI_STEP ".vtkhdf\", \"time\": %s}%s\n", name,
                         all[i].step, number, i + 1 < count ? "," : ""));
  }
  return gab_put_text(text, "  ]\n}\n");
}

gab_status gab_vtk_series_write(gab_vtk_series *series, const gab_world *world, const char *folder,
                                const char *name, gab_step step, double time)
{
  static const char *const extensions[] = {".vtkhdf.series", ".hdf.series"};
  gab_buffer text = {0};
  series->files.description = ".vtkhdf";
  GAB_TRY(gab_step_files_update(&series->files, world, folder, name, step));
  GAB_TRY(update_times(series, folder, name, time));
  gab_status status = put_text(&series->times, name, &text);
  for (int k = 0; k < 2 && status == GAB_OK; k++) {
    char path[GAB_OUTPUT_PATH_CAPACITY];
    status = gab_output_path(path, "%s/%s%s", folder, name, extensions[k]);
    if (status == GAB_OK) status = gab_output_file_save(path, text.data, text.size);
  }
  gab_buffer_release(&text);
  return status;
}

void gab_vtk_series_release(gab_vtk_series *series)
{
  gab_step_files_release(&series->files);
  gab_buffer_release(&series->times);
}
