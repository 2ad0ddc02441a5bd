/* SPDX-License-Identifier: Apache-2.0 */
/** @file vtk_fields.h
 *  @brief Volume output as VTKHDF files, which VTK from 9.1 and ParaView from 5.11 read (doc/field-format.md).
 *
 *  Values of cells are values of points at their centres, so filters such as Contour need no conversion, and isosurfaces are
 *  closed across blocks and levels. In FOLDER/fields:
 *
 *  - NAME_0000001000.vtkhdf: step 1000. ImageData over the whole domain if the grid has one level, no block is absent
 *    and no cell lacks a value; else UnstructuredGrid: the dual mesh (dual_mesh_impl.h) of all cells with values.
 *  - NAME_mesh_N.h5: a dual mesh; N is a hash of its content. Steps with the same mesh link to one file.
 *  - NAME.vtkhdf.series: all steps so far, for ParaView. This is the file to open. NAME.hdf.series is the same for ParaView
 *    5.11, which does not know the extension.
 *
 *  A cell lacks a value where all quantities are NaN, except owner and level. All ranks write into one file. Its bytes
 *  depend neither on the number of ranks, nor on owners of blocks, deaths or restarts.
 *
 *  Stability: internal.
 */
#ifndef GABION_BLOCKFOREST_VTK_FIELDS_H
#define GABION_BLOCKFOREST_VTK_FIELDS_H

#include "blockforest/output/output_quantity.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gab_vtk_fields gab_vtk_fields;

typedef struct gab_vtk_fields_options {
  const char *folder, *name;      /**< borrowed; the folder with /fields */
  const gab_quantity *quantities; /**< borrowed */
  size_t quantity_count;          /**< at least 1 */
  gab_output_precision precision; /**< of values and points */
  bool
      has_levels; /**< the grid may have several levels later: never ImageData, so that all steps are of one type */
} gab_vtk_fields_options;

/** Local. @param[in] forest  borrowed as long as the writer lives */
gab_status gab_vtk_fields_create(gab_forest *forest, const gab_vtk_fields_options *options,
                                 gab_vtk_fields **fields);
void gab_vtk_fields_destroy(gab_vtk_fields **fields);

/** Writes the present state as that of `step`. Collective. @return as gab_volume_write() */
gab_status gab_vtk_fields_write(gab_vtk_fields *fields, gab_step step, double time);

/** As gab_volume_rewind(). */
void gab_vtk_fields_rewind(gab_vtk_fields *fields);

#ifdef __cplusplus
}
#endif
#endif
