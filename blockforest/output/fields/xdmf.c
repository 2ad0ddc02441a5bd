/* SPDX-License-Identifier: Apache-2.0 */
#include "blockforest/output/fields/xdmf_impl.h"
#include "blockforest/output/output_files_impl.h"

#include <string.h>

/* XDMF that all readers of VTK and ParaView accept (XDMF 2; XDMF 3 with either kind of series). 3DCoRectMesh also in
 * 2D, with one layer of cells, since readers differ on 2DCoRectMesh. Extents, origin and spacing are slowest first
 * (z, y, x), as in the arrays.
 *
 * Readers also differ on hyperslabs. XDMF 2 accepts an item of type HyperSlab with selection and dataset as children;
 * XDMF 3 knows that type, but VTK gets no values from it. XDMF 3 accepts a selection after the name of the dataset,
 * "|start:stride:count:extent"; XDMF 2 reads it as a part of the name. One item therefore has both, and its type is
 * spelt Hyperslab. XDMF 2 ignores case, finds the type and ignores the text; XDMF 3 does not know the type, and reads
 * the text. */

void gab_xdmf_block_name(gab_block_id id, char name[GAB_XDMF_BLOCK_NAME])
{
  snprintf(name, GAB_XDMF_BLOCK_NAME, "block-%" PRIx64, id);
}

#define EXTENT "%" PRId64 " %" PRId64 " %" PRId64 "%s" /* z, y, x, and components of a vector */

/* One block of a dataset with several blocks. */
static gab_status put_selection(gab_buffer *text, const char *file, const gab_xdmf_block *block,
                                const gab_quantity *quantity, int precision)
{
  const bool vector = quantity->components == 3;
  const char *components = vector ? " 3" : "", *zeros = vector ? "0 0 0 0" : "0 0 0";
  const char *ones = vector ? "1 1 1 1 1" : "1 1 1 1";
  const int64_t x = block->cells[0], y = block->cells[1], z = block->cells[2];
  GAB_TRY(gab_put_text(text,
                       "    <DataItem ItemType=\"Hyperslab\" Dimensions=\"" EXTENT
                       "\" NumberType=\"Float\" Precision=\"%d\" Format=\"HDF\">%s:/fields/%s/%s|%" PRId64
                       " %s:%s:1 " EXTENT ":%" PRId64 " " EXTENT "\n",
                       z, y, x, components, precision, file, quantity->name, block->dataset, block->row,
                       zeros, ones, z, y, x, components, block->rows, z, y, x, components));
  GAB_TRY(gab_put_text(
      text, "     <DataItem Dimensions=\"3 %d\" Format=\"XML\">%" PRId64 " %s %s 1 " EXTENT "</DataItem>\n",
      vector ? 5 : 4, block->row, zeros, ones, z, y, x, components));
  return gab_put_text(text,
                      "     <DataItem Dimensions=\"%" PRId64 " " EXTENT
                      "\" NumberType=\"Float\" Precision=\"%d\" Format=\"HDF\">%s:/fields/%s/%s</DataItem>\n"
                      "    </DataItem>\n",
                      block->rows, z, y, x, components, precision, file, quantity->name, block->dataset);
}

static gab_status put_attribute(gab_buffer *text, const char *file, const gab_xdmf_block *block,
                                const gab_quantity *quantity, gab_output_precision chosen)
{
  const bool vector = quantity->components == 3;
  const int precision = chosen == GAB_OUTPUT_DOUBLE ? 8 : 4;
  GAB_TRY(gab_put_text(text, "   <Attribute Name=\"%s\" AttributeType=\"%s\" Center=\"Cell\">\n",
                       quantity->name, vector ? "Vector" : "Scalar"));
  if (block->rows > 0) GAB_TRY(put_selection(text, file, block, quantity, precision));
  else
    GAB_TRY(
        gab_put_text(text,
                     "    <DataItem Dimensions=\"" EXTENT
                     "\" NumberType=\"Float\" Precision=\"%d\" Format=\"HDF\">%s:/fields/%s/%s</DataItem>\n",
                     block->cells[2], block->cells[1], block->cells[0], vector ? " 3" : "", precision, file,
                     quantity->name, block->dataset));
  return gab_put_text(text, "   </Attribute>\n");
}

/* Three numbers, given x first. */
static gab_status put_vector(gab_buffer *text, const double values[3])
{
  char x[GAB_OUTPUT_NUMBER], y[GAB_OUTPUT_NUMBER], z[GAB_OUTPUT_NUMBER];
  gab_output_number(values[0], x);
  gab_output_number(values[1], y);
  gab_output_number(values[2], z);
  return gab_put_text(text,
                      "    <DataItem Dimensions=\"3\" NumberType=\"Float\" Precision=\"8\" Format=\"XML\">"
                      "%s %s %s</DataItem>\n",
                      z, y, x);
}

gab_status gab_xdmf_put_block(gab_buffer *text, const char *file, const gab_xdmf_block *block,
                              const gab_quantity *quantities, size_t quantity_count,
                              gab_output_precision precision)
{
  char name[GAB_XDMF_BLOCK_NAME];
  gab_xdmf_block_name(block->id, name);
  GAB_TRY(gab_put_text(
      text,
      "  <Grid Name=\"%s\" GridType=\"Uniform\">\n"
      "   <Topology TopologyType=\"3DCoRectMesh\" Dimensions=\"%" PRId64 " %" PRId64 " %" PRId64 "\"/>\n",
      block->name ? block->name : name, block->cells[2] + 1, block->cells[1] + 1, block->cells[0] + 1));
  GAB_TRY(gab_put_text(text, "   <Geometry GeometryType=\"ORIGIN_DXDYDZ\">\n"));
  GAB_TRY(put_vector(text, block->origin));
  GAB_TRY(put_vector(text, block->spacing));
  GAB_TRY(gab_put_text(text, "   </Geometry>\n"));
  for (size_t i = 0; i < quantity_count; i++) {
    GAB_TRY(put_attribute(text, file, block, &quantities[i], precision));
  }
  return gab_put_text(text, "  </Grid>\n");
}

gab_status gab_xdmf_put_step_head(gab_buffer *text, const char *name, double time)
{
  char number[GAB_OUTPUT_NUMBER];
  gab_output_number(time, number);
  return gab_put_text(text,
                      "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"
                      "<Xdmf Version=\"3.0\">\n"
                      "<Domain>\n"
                      " <Grid Name=\"%s\" GridType=\"Collection\" CollectionType=\"Spatial\">\n"
                      "  <Time TimeType=\"Single\" Value=\"%s\"/>\n",
                      name, number);
}

gab_status gab_xdmf_put_step_tail(gab_buffer *text)
{
  return gab_put_text(text, " </Grid>\n</Domain>\n</Xdmf>\n");
}

gab_status gab_xdmf_put_index(gab_buffer *text, const char *name, const gab_step *steps, size_t count)
{
  GAB_TRY(gab_put_text(text,
                       "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"
                       "<Xdmf Version=\"3.0\" xmlns:xi=\"http://www.w3.org/2001/XInclude\">\n"
                       "<Domain>\n"
                       " <Grid Name=\"%s\" GridType=\"Collection\" CollectionType=\"Temporal\">\n",
                       name));
  for (size_t i = 0; i < count; i++) {
    GAB_TRY(gab_put_text(text,
                         "  <xi:include href=\"%s_%010" GAB_PRI_STEP
                         ".xdmf\" xpointer=\"xpointer(//Xdmf/Domain/Grid)\"/>\n",
                         name, steps[i]));
  }
  return gab_put_text(text, " </Grid>\n</Domain>\n</Xdmf>\n");
}
