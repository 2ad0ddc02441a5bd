/* Internal: XDMF descriptions of the volume files (light data as XML that points into HDF5). */
#ifndef GABION_BLOCKFOREST_XDMF_IMPL_H
#define GABION_BLOCKFOREST_XDMF_IMPL_H

#include "blockforest/hdf5_output.h"
#include "core/buffer.h"

/* What the description of one block needs. */
typedef struct gab_xdmf_block {
  gab_block_id id;
  size_t index;     /* in the datasets of the file */
  int64_t cells[3]; /* x, y, z */
  double origin[3], spacing;
} gab_xdmf_block;

/* Appends the grid of one block. @param file  name of the HDF5 file, without folder
 * @param blocks  number of blocks in that file */
gab_status gab_xdmf_put_block(gab_buffer *text, const char *file, size_t blocks, const gab_xdmf_block *block,
                              const gab_quantity *quantities, size_t quantity_count,
                              gab_output_precision precision);

/* What stands before and behind the blocks of one step. */
gab_status gab_xdmf_put_step_head(gab_buffer *text, const char *name, double time);
gab_status gab_xdmf_put_step_tail(gab_buffer *text);

/* Appends the time series of steps, each in its own file NAME_STEP.xdmf. */
gab_status gab_xdmf_put_index(gab_buffer *text, const char *name, const gab_step *steps, size_t count);

#endif
