#include "blockforest/block_field.h"

static bool is_face(int direction)
{
  int offset[3];
  gab_direction_offset(direction, offset);
  return (offset[0] != 0) + (offset[1] != 0) + (offset[2] != 0) == 1;
}

static gab_box send_box(const gab_block_field *field, int direction)
{
  return gab_direction_send_box(direction, field->shape.cells, field->shape.ghosts[0]);
}

static gab_box receive_box(const gab_block_field *field, int direction)
{
  return gab_direction_receive_box(gab_direction_opposite(direction), field->shape.cells,
                                   field->shape.ghosts[0]);
}

static size_t ghost_size(void *user, int direction)
{
  const gab_block_field *field = user;
  if (field->faces_only && !is_face(direction)) return 0;
  gab_box box = send_box(field, direction);
  return gab_box_count(&box) * (size_t)field->shape.components *
         gab_precision_bytes(field->shape.precision);
}

static void pack_ghosts(void *user, const void *data, int direction, void *bytes)
{
  const gab_block_field *field = user;
  gab_box box = send_box(field, direction);
  gab_field_pack_box(data, &box, NULL, field->shape.components, bytes);
}

static void unpack_ghosts(void *user, void *data, int direction, const void *bytes)
{
  const gab_block_field *field = user;
  gab_box box = receive_box(field, direction);
  gab_field_unpack_box(data, &box, NULL, field->shape.components, bytes);
}

static void copy_ghosts(void *user, const void *from, void *to, int direction)
{
  const gab_block_field *field = user;
  gab_box source = send_box(field, direction), target = receive_box(field, direction);
  gab_field_copy_box(to, &target, from, &source, NULL, field->shape.components);
}

gab_ghost_kind gab_block_field_ghosts(const gab_block_field *field)
{
  return (gab_ghost_kind){.name = "field",
                          .user = (void *)(uintptr_t)field, /* the callbacks only read it */
                          .size = ghost_size,
                          .pack = pack_ghosts,
                          .unpack = unpack_ghosts,
                          .copy = copy_ghosts};
}

/* -------------------------------------------------------------------------------------------- block data */

static gab_box interior(const gab_block_field *field)
{
  const int32_t *cells = field->shape.cells;
  return (gab_box){.hi = {cells[0], cells[1], cells[2]}};
}

static gab_status create(void *user, const gab_forest *forest, const gab_block *block, void **data)
{
  (void)forest, (void)block;
  const gab_block_field *field = user;
  gab_field *made = NULL;
  gab_status status = gab_field_create(&field->shape, &made);
  *data = made;
  return status;
}

static void destroy(void *user, void *data)
{
  (void)user;
  gab_field *gone = data;
  gab_field_destroy(&gone);
}

static size_t packed_size(void *user, const void *data)
{
  const gab_block_field *field = user;
  gab_box box = interior(field);
  return gab_field_box_bytes(data, &box, field->shape.components);
}

static gab_status pack(void *user, const void *data, gab_buffer *out)
{
  const gab_block_field *field = user;
  gab_box box = interior(field);
  void *bytes;
  GAB_TRY(gab_buffer_extend(out, packed_size(user, data), &bytes));
  gab_field_pack_box(data, &box, NULL, field->shape.components, bytes);
  return GAB_OK;
}

static gab_status unpack(void *user, void *data, gab_reader *in)
{
  const gab_block_field *field = user;
  gab_box box = interior(field);
  gab_reader bytes;
  GAB_TRY(gab_get_view(in, packed_size(user, data), &bytes));
  gab_field_unpack_box(data, &box, NULL, field->shape.components, bytes.at);
  return GAB_OK;
}

gab_block_data_kind gab_block_field_data(const gab_block_field *field, const char *name)
{
  gab_block_data_kind kind = gab_block_field_scratch(field, name);
  kind.packed_size = packed_size;
  kind.pack = pack;
  kind.unpack = unpack;
  return kind;
}

gab_block_data_kind gab_block_field_scratch(const gab_block_field *field, const char *name)
{
  return (gab_block_data_kind){.name = name,
                               .user = (void *)(uintptr_t)field, /* the callbacks only read it */
                               .create = create,
                               .destroy = destroy};
}
