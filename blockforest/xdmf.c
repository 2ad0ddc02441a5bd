#include "blockforest/xdmf_impl.h"
#include "blockforest/output_impl.h"

#include <string.h>

/* What the two readers of VTK and ParaView (XDMF 2 and 3) both take: one dataset per block, since they do not
 * agree on hyperslabs; 3DCoRectMesh also in 2D, with one layer of cells, since they do not agree on
 * 2DCoRectMesh. Extents stand slowest first (z, y, x), as in the arrays, and so do origin and spacing. */

void gab_xdmf_block_name(gab_block_id id, char name[GAB_XDMF_BLOCK_NAME])
{
  snprintf(name, GAB_XDMF_BLOCK_NAME, "block-%" PRIx64, id);
}

static gab_status put_attribute(gab_buffer *text, const char *file, const gab_xdmf_block *block,
                                const gab_quantity *quantity, gab_output_precision precision)
{
  char name[GAB_XDMF_BLOCK_NAME];
  bool vector = quantity->components == 3;
  gab_xdmf_block_name(block->id, name);
  GAB_TRY(gab_put_text(text, "   <Attribute Name=\"%s\" AttributeType=\"%s\" Center=\"Cell\">\n",
                       quantity->name, vector ? "Vector" : "Scalar"));
  return gab_put_text(
      text,
      "    <DataItem Dimensions=\"%" PRId64 " %" PRId64 " %" PRId64
      "%s\" NumberType=\"Float\" Precision=\"%d\" Format=\"HDF\">%s:/fields/%s/%s</DataItem>\n"
      "   </Attribute>\n",
      block->cells[2], block->cells[1], block->cells[0], vector ? " 3" : "",
      precision == GAB_OUTPUT_DOUBLE ? 8 : 4, file, quantity->name, block->dataset ? block->dataset : name);
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
