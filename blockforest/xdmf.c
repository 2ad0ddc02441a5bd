#include "blockforest/xdmf_impl.h"
#include "blockforest/output_impl.h"

#include <string.h>

/* Extents stand slowest first (z, y, x), as in the arrays; origin and spacing of a 3DCoRectMesh too. A domain
 * in 2D is one layer of cells in z: readers agree on that, on 2DCoRectMesh they do not. */

static gab_status put_attribute(gab_buffer *text, const char *file, size_t blocks,
                                const gab_xdmf_block *block, const gab_quantity *quantity,
                                gab_output_precision precision)
{
  const int64_t *cells = block->cells;
  bool vector = quantity->components == 3;
  const char *last = vector ? " 3" : "";
  int rank = vector ? 5 : 4;
  GAB_TRY(gab_put_text(text,
                       "   <Attribute Name=\"%s\" AttributeType=\"%s\" Center=\"Cell\">\n"
                       "    <DataItem ItemType=\"HyperSlab\" Type=\"HyperSlab\" Dimensions=\"%" PRId64
                       " %" PRId64 " %" PRId64 "%s\">\n",
                       quantity->name, vector ? "Vector" : "Scalar", cells[2], cells[1], cells[0], last));
  GAB_TRY(gab_put_text(text,
                       "     <DataItem Dimensions=\"3 %d\" NumberType=\"Int\" Format=\"XML\">"
                       "%zu 0 0 0%s 1 1 1 1%s 1 %" PRId64 " %" PRId64 " %" PRId64 "%s</DataItem>\n",
                       rank, block->index, vector ? " 0" : "", vector ? " 1" : "", cells[2], cells[1],
                       cells[0], last));
  return gab_put_text(text,
                      "     <DataItem Dimensions=\"%zu %" PRId64 " %" PRId64 " %" PRId64
                      "%s\" NumberType=\"Float\" Precision=\"%d\" Format=\"HDF\">%s:/fields/%s</DataItem>\n"
                      "    </DataItem>\n"
                      "   </Attribute>\n",
                      blocks, cells[2], cells[1], cells[0], last, precision == GAB_OUTPUT_DOUBLE ? 8 : 4,
                      file, quantity->name);
}

gab_status gab_xdmf_put_block(gab_buffer *text, const char *file, size_t blocks, const gab_xdmf_block *block,
                              const gab_quantity *quantities, size_t quantity_count,
                              gab_output_precision precision)
{
  GAB_TRY(gab_put_text(text,
                       "  <Grid Name=\"block-%" PRIx64 "\" GridType=\"Uniform\">\n"
                       "   <Topology TopologyType=\"3DCoRectMesh\" Dimensions=\"%" PRId64 " %" PRId64
                       " %" PRId64 "\"/>\n",
                       block->id, block->cells[2] + 1, block->cells[1] + 1, block->cells[0] + 1));
  GAB_TRY(gab_put_text(text,
                       "   <Geometry GeometryType=\"ORIGIN_DXDYDZ\">\n"
                       "    <DataItem Dimensions=\"3\" NumberType=\"Float\" Precision=\"8\" Format=\"XML\">"
                       "%.17g %.17g %.17g</DataItem>\n",
                       block->origin[2], block->origin[1], block->origin[0]));
  GAB_TRY(gab_put_text(text,
                       "    <DataItem Dimensions=\"3\" NumberType=\"Float\" Precision=\"8\" Format=\"XML\">"
                       "%.17g %.17g %.17g</DataItem>\n   </Geometry>\n",
                       block->spacing, block->spacing, block->spacing));
  for (size_t i = 0; i < quantity_count; i++) {
    GAB_TRY(put_attribute(text, file, blocks, block, &quantities[i], precision));
  }
  return gab_put_text(text, "  </Grid>\n");
}

gab_status gab_xdmf_put_step_head(gab_buffer *text, const char *name, double time)
{
  return gab_put_text(text,
                      "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"
                      "<Xdmf Version=\"3.0\">\n"
                      "<Domain>\n"
                      " <Grid Name=\"%s\" GridType=\"Collection\" CollectionType=\"Spatial\">\n"
                      "  <Time TimeType=\"Single\" Value=\"%.17g\"/>\n",
                      name, time);
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
