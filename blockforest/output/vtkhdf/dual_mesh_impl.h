/* SPDX-License-Identifier: Apache-2.0 */
/* Internal: the dual mesh of a forest. Its points are the centres of all cells of blocks, so that they carry the values of
 * cells without interpolation. Its cells join the centres around each corner of the grid inside the domain: hexahedra
 * within a level, and between levels the same with coinciding corners, as pyramids and wedges. The mesh has no hanging
 * nodes, so isosurfaces have no cracks: Weber et al. 2001, "Extraction of crack-free isosurfaces from adaptive mesh
 * refinement data". Points of a block are consecutive, x fastest; blocks in the order of block_scan_impl.h. */
#ifndef GABION_BLOCKFOREST_DUAL_MESH_IMPL_H
#define GABION_BLOCKFOREST_DUAL_MESH_IMPL_H

#include "blockforest/forest/forest.h"

/* Most points of a cell. */
#define GAB_DUAL_CORNERS 8

/* A local block, or a neighbour that a local block needs. */
typedef struct gab_dual_block {
  gab_block_id id;
  uint64_t number; /* position among all blocks */
  int64_t missing; /* index of its row in the table of missing cells; -1: no cell is missing */
} gab_dual_block;

typedef struct gab_dual_mesh {
  const gab_forest *forest;
  size_t block_cells;     /* points of a block */
  size_t row_words;       /* words of a row of missing cells */
  uint64_t *missing;      /* [row][word], a bit for each cell, x fastest */
  gab_dual_block *blocks; /* local blocks and neighbours, ascending ids */
  size_t block_count;
  uint64_t points; /* of all ranks */
} gab_dual_mesh;

/* Words of a row with a bit for each cell of a block. */
size_t gab_dual_row_words(const gab_forest *forest);

/* Numbers all blocks and gets the missing cells of neighbours. Collective.
 * @param[in] missing  [local block][word]: cells that the mesh leaves out */
gab_status gab_dual_mesh_create(const gab_forest *forest, const uint64_t *missing, gab_dual_mesh *mesh);
void gab_dual_mesh_release(gab_dual_mesh *mesh);

/* Position of a local block among all blocks. */
uint64_t gab_dual_mesh_number(const gab_dual_mesh *mesh, const gab_block *block);

/* Takes a cell: its points in the order of VTK_HEXAHEDRON, in 2D of VTK_QUAD. */
typedef void gab_dual_cell_fn(void *user, const uint64_t *points);
/* Visits the cells of a local block: those around corners that touch the block, but no finer block and no earlier block of
 * its level. Local. */
void gab_dual_mesh_visit(const gab_dual_mesh *mesh, const gab_block *block, gab_dual_cell_fn *visit,
                         void *user);

#endif
