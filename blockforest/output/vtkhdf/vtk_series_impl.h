/* SPDX-License-Identifier: Apache-2.0 */
/* Internal: the index of the VTKHDF files of an output, with the time of each step. Of the root alone. */
#ifndef GABION_BLOCKFOREST_VTK_SERIES_IMPL_H
#define GABION_BLOCKFOREST_VTK_SERIES_IMPL_H

#include "blockforest/output/fields/step_files_impl.h"

typedef struct gab_vtk_series {
  gab_step_files files;
  gab_buffer times; /* gab_vtk_time, in ascending order of steps */
} gab_vtk_series;

/* Writes FOLDER/NAME.vtkhdf.series, and the same as NAME.hdf.series: the steps in the folder up to this one. Times of steps of an earlier run come from
 * their files. */
gab_status gab_vtk_series_write(gab_vtk_series *series, const gab_world *world, const char *folder,
                                const char *name, gab_step step, double time);
void gab_vtk_series_release(gab_vtk_series *series);

#endif
