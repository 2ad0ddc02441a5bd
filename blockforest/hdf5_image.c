#include "blockforest/hdf5_image_impl.h"
#include "blockforest/output_impl.h"

#include <string.h>

/* ---------------------------------------------------------------------------------------- failures */

static herr_t find_cause(unsigned n, const H5E_error2_t *error, void *cause)
{
  (void)n;
  snprintf(cause, GAB_HDF5_CAUSE_CAPACITY, "%.200s", error->desc ? error->desc : "no reason given");
  return 1; /* the innermost one */
}

static void note_failure(gab_hdf5_image *image)
{
  if (image->failed) return;
  image->failed = true;
  snprintf(image->cause, sizeof image->cause, "no reason given");
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, find_cause, image->cause);
}

bool gab_hdf5_check(gab_hdf5_image *image, int64_t returned)
{
  if (returned < 0) note_failure(image);
  return returned >= 0;
}

gab_status gab_hdf5_image_status(const gab_hdf5_image *image, const char *path)
{
  if (!image->failed) return GAB_OK;
  GAB_FAIL(GAB_ERR_IO, "HDF5 cannot make %s: %s", path, image->cause);
}

/* ---------------------------------------------------------------------------------------- content */

void gab_hdf5_put_attribute(gab_hdf5_image *image, hid_t object, const char *name, hid_t type, hsize_t count,
                            const void *values)
{
  if (image->failed) return;
  hid_t space = count == 1 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &count, NULL);
  hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  if (gab_hdf5_check(image, attribute)) {
    gab_hdf5_check(image, H5Awrite(attribute, type, values));
    gab_hdf5_check(image, H5Aclose(attribute));
  }
  H5Sclose(space);
}

void gab_hdf5_put_text(gab_hdf5_image *image, hid_t object, const char *name, const char *text)
{
  hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, strlen(text) + 1);
  gab_hdf5_put_attribute(image, object, name, type, 1, text);
  H5Tclose(type);
}

void gab_hdf5_put_table(gab_hdf5_image *image, hid_t group, const char *name, hid_t type, int rank,
                        const hsize_t *extent, const void *values)
{
  if (image->failed) return;
  hid_t space = H5Screate_simple(rank, extent, NULL);
  hid_t plain = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_obj_track_times(plain, false);
  hid_t table = H5Dcreate2(group, name, type, space, H5P_DEFAULT, plain, H5P_DEFAULT);
  if (gab_hdf5_check(image, table)) {
    gab_hdf5_check(image, H5Dwrite(table, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values));
    gab_hdf5_check(image, H5Dclose(table));
  }
  H5Pclose(plain);
  H5Sclose(space);
}

hid_t gab_hdf5_make_group(gab_hdf5_image *image, const char *name)
{
  if (image->failed) return H5I_INVALID_HID;
  hid_t plain = H5Pcreate(H5P_GROUP_CREATE);
  H5Pset_obj_track_times(plain, false);
  hid_t group = H5Gcreate2(image->file, name, H5P_DEFAULT, plain, H5P_DEFAULT);
  gab_hdf5_check(image, group);
  H5Pclose(plain);
  return group;
}

hid_t gab_hdf5_layout(int rank, const hsize_t *extent, int compression)
{
  hid_t layout = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_obj_track_times(layout, false);
  H5Pset_fill_time(layout, H5D_FILL_TIME_NEVER);
  if (compression > 0) {
    H5Pset_chunk(layout, rank, extent);
    H5Pset_shuffle(layout);
    H5Pset_deflate(layout, (unsigned)compression);
  }
  return layout;
}

void gab_hdf5_put_field(gab_hdf5_image *image, hid_t group, const char *name, int rank, const hsize_t *extent,
                        int compression, const double *values, float *narrow)
{
  if (image->failed) return;
  const void *from = values;
  size_t count = 1;
  for (int k = 0; k < rank; k++) count *= extent[k];
  if (narrow) {
    for (size_t i = 0; i < count; i++) narrow[i] = (float)values[i];
    from = narrow;
  }
  hid_t layout = gab_hdf5_layout(rank, extent, compression), space = H5Screate_simple(rank, extent, NULL);
  hid_t field = H5Dcreate2(group, name, narrow ? H5T_IEEE_F32LE : H5T_IEEE_F64LE, space, H5P_DEFAULT, layout,
                           H5P_DEFAULT);
  if (gab_hdf5_check(image, field)) {
    gab_hdf5_check(image, H5Dwrite(field, narrow ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL,
                                   H5P_DEFAULT, from));
    gab_hdf5_check(image, H5Dclose(field));
  }
  H5Sclose(space);
  H5Pclose(layout);
}

/* ---------------------------------------------------------------------------------------- the file */

void gab_hdf5_image_open(gab_hdf5_image *image, const char *path, size_t increment)
{
  *image = (gab_hdf5_image){.file = H5I_INVALID_HID};
  hid_t in_memory = H5Pcreate(H5P_FILE_ACCESS);
  gab_hdf5_check(image, H5Pset_fapl_core(in_memory, increment, false));
  image->file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, in_memory);
  gab_hdf5_check(image, image->file);
  H5Pclose(in_memory);
}

gab_status gab_hdf5_image_save(gab_hdf5_image *image, const char *path)
{
  void *handle = NULL;
  if (!image->failed) gab_hdf5_check(image, H5Fflush(image->file, H5F_SCOPE_GLOBAL));
  GAB_TRY(gab_hdf5_image_status(image, path));
  ssize_t size = H5Fget_file_image(image->file, NULL, 0);
  gab_hdf5_check(image, size);
  gab_hdf5_check(image,
                 H5Fget_vfd_handle(image->file, H5P_DEFAULT, &handle)); /* where the driver's memory is */
  GAB_TRY(gab_hdf5_image_status(image, path));
  gab_output_file out;
  GAB_TRY(gab_output_file_open(&out, path));
  gab_output_file_write(&out, *(void **)handle, (size_t)size);
  return gab_output_file_commit(&out, GAB_OK);
}

void gab_hdf5_image_close(gab_hdf5_image *image)
{
  if (image->file >= 0) (void)H5Fclose(image->file);
  image->file = H5I_INVALID_HID;
}
