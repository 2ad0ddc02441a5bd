/* SPDX-License-Identifier: Apache-2.0 */
/* Internal: XDMF descriptions of the volume files (light data as XML that points into HDF5). */
#ifndef GABION_BLOCKFOREST_XDMF_IMPL_H
#define GABION_BLOCKFOREST_XDMF_IMPL_H

#include "blockforest/output/output_quantity.h"
#include "core/base/buffer.h"

/* Input for the description of one block. */
typedef struct gab_xdmf_block {
  gab_block_id id;
  const char *name;    /* of the grid; NULL: made of the id */
  const char *dataset; /* its name in each quantity's group */
  int64_t row, rows;   /* index of the block in that dataset, of `rows`; rows 0: a dataset of one block */
  int64_t cells[3];    /* x, y, z */
  double origin[3], spacing[3];
} gab_xdmf_block;

#define GAB_XDMF_BLOCK_NAME 32

/* The name of a block's grid (in files of format 1 also of its datasets): "block-" and its id in hexadecimal
 * digits. */
void gab_xdmf_block_name(gab_block_id id, char name[GAB_XDMF_BLOCK_NAME]);

/* Appends the grid of one block. @param file  name of the HDF5 file, without folder */
gab_status gab_xdmf_put_block(gab_buffer *text, const char *file, const gab_xdmf_block *block,
                              const gab_quantity *quantities, size_t quantity_count,
                              gab_output_precision precision);

/* Text before and after the blocks of one step. */
gab_status gab_xdmf_put_step_head(gab_buffer *text, const char *name, double time);
gab_status gab_xdmf_put_step_tail(gab_buffer *text);

/* Appends the time series of steps, each in its own file NAME_STEP.xdmf. */
gab_status gab_xdmf_put_index(gab_buffer *text, const char *name, const gab_step *steps, size_t count);

#endif
