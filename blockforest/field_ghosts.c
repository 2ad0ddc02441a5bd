#include "blockforest/field_ghosts.h"

static bool is_face(int direction)
{
  int offset[3];
  gab_direction_offset(direction, offset);
  return (offset[0] != 0) + (offset[1] != 0) + (offset[2] != 0) == 1;
}

static gab_box send_box(const gab_field_ghosts *ghosts, int direction)
{
  return gab_direction_send_box(direction, ghosts->shape.cells, ghosts->shape.ghosts[0]);
}

static gab_box receive_box(const gab_field_ghosts *ghosts, int direction)
{
  return gab_direction_receive_box(gab_direction_opposite(direction), ghosts->shape.cells,
                                   ghosts->shape.ghosts[0]);
}

static size_t size(void *user, int direction)
{
  const gab_field_ghosts *ghosts = user;
  if (ghosts->faces_only && !is_face(direction)) return 0;
  gab_box box = send_box(ghosts, direction);
  return gab_box_count(&box) * (size_t)ghosts->shape.components *
         gab_precision_bytes(ghosts->shape.precision);
}

static void pack(void *user, const void *data, int direction, void *bytes)
{
  const gab_field_ghosts *ghosts = user;
  gab_box box = send_box(ghosts, direction);
  gab_field_pack_box(data, &box, NULL, ghosts->shape.components, bytes);
}

static void unpack(void *user, void *data, int direction, const void *bytes)
{
  const gab_field_ghosts *ghosts = user;
  gab_box box = receive_box(ghosts, direction);
  gab_field_unpack_box(data, &box, NULL, ghosts->shape.components, bytes);
}

static void copy(void *user, const void *from, void *to, int direction)
{
  const gab_field_ghosts *ghosts = user;
  gab_box source = send_box(ghosts, direction), target = receive_box(ghosts, direction);
  gab_field_copy_box(to, &target, from, &source, NULL, ghosts->shape.components);
}

gab_ghost_kind gab_field_ghost_kind(const gab_field_ghosts *ghosts)
{
  return (gab_ghost_kind){.name = "field",
                          .user = (void *)(uintptr_t)ghosts, /* the callbacks only read it */
                          .size = size,
                          .pack = pack,
                          .unpack = unpack,
                          .copy = copy};
}
