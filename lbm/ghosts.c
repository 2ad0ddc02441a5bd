#include "lbm/lbm_impl.h"

/* Only the populations that move across the common face, edge or corner are needed on the other side: those
 * whose velocity agrees with every non-zero component of the direction. */
static int crossing(const gab_lattice *lattice, int direction, int components[GAB_LATTICE_MAX_Q])
{
  int offset[3], count = 0;
  gab_direction_offset(direction, offset);
  if (direction == GAB_DIRECTION_CENTRE) return 0;
  for (int q = 1; q < lattice->q; ++q) {
    bool crosses = true;
    for (int axis = 0; axis < 3; ++axis)
      crosses = crosses && (offset[axis] == 0 || lattice->c[q][axis] == offset[axis]);
    if (crosses) components[count++] = q;
  }
  return count;
}

static size_t ghost_size(void *user, int direction)
{
  const gab_lbm_model *model = user;
  int components[GAB_LATTICE_MAX_Q];
  int count = crossing(model->lattice, direction, components);
  if (count == 0) return 0;
  gab_box box = gab_direction_send_box(direction, model->cells, 1);
  return gab_box_count(&box) * (size_t)count * gab_precision_bytes(model->options.precision);
}

static void ghost_pack(void *user, const void *data, int direction, void *bytes)
{
  const gab_lbm_model *model = user;
  const gab_lbm_block *block = data;
  int components[GAB_LATTICE_MAX_Q];
  int count = crossing(model->lattice, direction, components);
  gab_box box = gab_direction_send_box(direction, model->cells, 1);
  gab_field_pack_box(block->src, &box, components, count, bytes);
}

static void ghost_unpack(void *user, void *data, int direction, const void *bytes)
{
  const gab_lbm_model *model = user;
  gab_lbm_block *block = data;
  int components[GAB_LATTICE_MAX_Q];
  int count = crossing(model->lattice, direction, components);
  gab_box box = gab_direction_receive_box(gab_direction_opposite(direction), model->cells, 1);
  gab_field_unpack_box(block->src, &box, components, count, bytes);
}

static void ghost_copy(void *user, const void *from, void *to, int direction)
{
  const gab_lbm_model *model = user;
  const gab_lbm_block *source = from;
  gab_lbm_block *target = to;
  int components[GAB_LATTICE_MAX_Q];
  int count = crossing(model->lattice, direction, components);
  gab_box send = gab_direction_send_box(direction, model->cells, 1);
  gab_box receive = gab_direction_receive_box(gab_direction_opposite(direction), model->cells, 1);
  gab_field_copy_box(target->src, &receive, source->src, &send, components, count);
}

gab_ghost_kind gab_lbm_ghost_kind(gab_lbm_model *model)
{
  return (gab_ghost_kind){.name = "lbm.populations",
                          .user = model,
                          .size = ghost_size,
                          .pack = ghost_pack,
                          .unpack = ghost_unpack,
                          .copy = ghost_copy};
}
