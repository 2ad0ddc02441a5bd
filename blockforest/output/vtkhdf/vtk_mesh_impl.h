/* SPDX-License-Identifier: Apache-2.0 */
/* Internal: files of dual meshes, to which the files of steps link. */
#ifndef GABION_BLOCKFOREST_VTK_MESH_IMPL_H
#define GABION_BLOCKFOREST_VTK_MESH_IMPL_H

#include "blockforest/output/output_quantity.h"
#include "blockforest/output/vtkhdf/dual_mesh_impl.h"
#include "blockforest/output/vtkhdf/vtk_file_impl.h"

/* Capacity for the name of a file: of an output, "_mesh_", a number. */
enum { GAB_VTK_MESH_NAME = 128 };

/* Writes FOLDER/NAME_mesh_N.h5 unless it exists. N is a hash of the blocks, the missing cells and the domain, so it
 * determines the content. Collective. @param[in] missing  [local block][word]
 * @param[out] file  its name without the folder; the same on all ranks */
gab_status gab_vtk_mesh_write(const gab_dual_mesh *mesh, const uint64_t *missing,
                              gab_output_precision precision, const char *folder, const char *name,
                              char file[GAB_VTK_MESH_NAME]);

/* Makes links to the datasets of a mesh in a group. */
void gab_vtk_mesh_link(gab_hdf5_image *image, hid_t group, const char *file);

#endif
