/* SPDX-License-Identifier: Apache-2.0 */
/** @file hdf5_input.h
 *  @brief Reading volume output: the files of blockforest/output/fields/hdf5_output.h of one step, by this version or
 *  an earlier one.
 *
 *  The blocks of the files need not be those of the forest; only the domain must agree. Files of all ranks of a step
 *  are searched for requested blocks; only their number is kept. All functions are local; reads of several threads are
 *  serialised.
 *
 *  Stability: internal.
 */
#ifndef GABION_BLOCKFOREST_HDF5_INPUT_H
#define GABION_BLOCKFOREST_HDF5_INPUT_H

#include "blockforest/forest/forest.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gab_volume_files gab_volume_files;

/** Finds the files of a step and lists their blocks.
 *  @param[in] path  OUT/fields/NAME_0000001000, with or without .xdmf
 *  @param[in] forest  the required domain: the same cells along each axis, all of level 0
 *  @return ::GAB_ERR_INPUT if there are none, or their blocks do not fill that domain, with the numbers; ::GAB_ERR_IO
 *  for unreadable files */
gab_status gab_volume_files_open(const char *path, const gab_forest_options *forest,
                                 gab_volume_files **files);
void gab_volume_files_close(gab_volume_files **files);
/** Adds the bytes of all files of a step to a hash, in the order of their names. For gab_config_key.content. Local.
 *  @param[in] path  as of gab_volume_files_open() */
gab_status gab_volume_files_hash(const char *path, gab_hash64_stream *hash);

/** Whether a scalar quantity is there. */
bool gab_volume_files_have(const gab_volume_files *files, const char *quantity);
/** The names of all that are there, with commas between them. */
const char *gab_volume_files_names(const gab_volume_files *files);
/** Cells of a block of the files: the same for all. */
const int32_t *gab_volume_files_cells(const gab_volume_files *files);

/** Reads the block with a cell of the domain. @param[in] quantities  names of scalars that are there
 *  @param[out] box  its cells of the domain  @param[out] values  [quantity][z][y][x]
 *  @return ::GAB_ERR_IO or ::GAB_ERR_CORRUPT with file and data set */
gab_status gab_volume_files_read(gab_volume_files *files, const int64_t cell[3],
                                 const char *const *quantities, size_t count, gab_box *box, double *values);

#ifdef __cplusplus
}
#endif
#endif
