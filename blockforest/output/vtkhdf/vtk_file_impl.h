/* SPDX-License-Identifier: Apache-2.0 */
/* Internal: an HDF5 file of known size, written by all ranks at once.
 *
 * HDF5 makes the head of the file in the memory of the root: all metadata, and the places of the arrays behind them. The
 * root writes the head, then every rank writes its parts of the arrays with pwrite(). No rank calls HDF5 for data, none
 * stores more than its own, and the bytes do not depend on the number of ranks. */
#ifndef GABION_BLOCKFOREST_VTK_FILE_IMPL_H
#define GABION_BLOCKFOREST_VTK_FILE_IMPL_H

#include "blockforest/hdf5/hdf5_image_impl.h"
#include "blockforest/output/output_files_impl.h"

enum { GAB_VTK_MOST_ARRAYS = 64, GAB_VTK_MOST_AXES = 4 };

typedef enum gab_vtk_type { GAB_VTK_F32, GAB_VTK_F64, GAB_VTK_I32, GAB_VTK_I64, GAB_VTK_U8 } gab_vtk_type;

/* An array of a file. */
typedef struct gab_vtk_array {
  char path[160];   /* of the dataset; its group exists */
  const char *unit; /* attribute; NULL: none */
  gab_vtk_type type;
  int axes;
  hsize_t extent[GAB_VTK_MOST_AXES]; /* slowest axis first */
  hsize_t chunk[GAB_VTK_MOST_AXES];  /* divides the extent; chunk[0] == 0: the array is contiguous */
} gab_vtk_array;

typedef struct gab_vtk_file {
  gab_world *world;
  int descriptor, error; /* error: errno of the first failure */
  char path[GAB_OUTPUT_PATH_CAPACITY], temporary[GAB_OUTPUT_PATH_CAPACITY];
  uint64_t at[GAB_VTK_MOST_ARRAYS]; /* first byte of each array */
} gab_vtk_file;

/* Content of a file except its arrays. */
typedef struct gab_vtk_head {
  void (*describe)(void *user,
                   gab_hdf5_image *image); /* makes attributes, groups, links, small datasets; root only */
  void *user;
  const gab_vtk_array *arrays;
  size_t array_count;
} gab_vtk_head;

size_t gab_vtk_type_bytes(gab_vtk_type type);

/* Makes the file under a temporary name, and opens it on all ranks. Collective.
 * @return on all ranks the same; unless it is GAB_OK, nothing is left */
gab_status gab_vtk_file_open(gab_vtk_file *file, gab_world *world, const char *path,
                             const gab_vtk_head *head);
/* Writes bytes of an array, from `offset` on; of an array in chunks the chunks follow one another, the last axis fastest.
 * Local. Failures are recorded for the commit. Waits while the disk refuses. */
void gab_vtk_file_put(gab_vtk_file *file, size_t array, uint64_t offset, const void *bytes, size_t count);
/* Closes the file; renames it if all ranks passed GAB_OK and could write. Collective. @param[in] status  of this rank
 * @return on all ranks the same */
gab_status gab_vtk_file_commit(gab_vtk_file *file, gab_status status);

#endif
