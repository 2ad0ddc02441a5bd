#include "lbm/lbm_impl.h"

#include <string.h>

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

/* Where what the cells of a box sent in direction q lies. */
static gab_box shifted(const gab_box *box, const gab_lbm_block *block, int q)
{
  gab_box moved = *box;
  for (int axis = 0; axis < 3; ++axis) {
    moved.lo[axis] += block->now->shift[q][axis];
    moved.hi[axis] += block->now->shift[q][axis];
  }
  return moved;
}

static void ghost_pack(void *user, const void *data, int direction, void *bytes)
{
  const gab_lbm_model *model = user;
  const gab_lbm_block *block = data;
  int components[GAB_LATTICE_MAX_Q];
  int count = crossing(model->lattice, direction, components);
  gab_box box = gab_direction_send_box(direction, model->cells, 1);
  size_t each = gab_field_box_bytes(block->src, &box, 1);
  for (int i = 0; i < count; ++i) {
    gab_box there = shifted(&box, block, components[i]);
    gab_field_pack_box(block->src, &there, &block->now->component[components[i]], 1,
                       (unsigned char *)bytes + (size_t)i * each);
  }
}

static void ghost_unpack(void *user, void *data, int direction, const void *bytes)
{
  const gab_lbm_model *model = user;
  gab_lbm_block *block = data;
  int components[GAB_LATTICE_MAX_Q];
  int count = crossing(model->lattice, direction, components);
  gab_box box = gab_direction_receive_box(gab_direction_opposite(direction), model->cells, 1);
  size_t each = gab_field_box_bytes(block->src, &box, 1);
  for (int i = 0; i < count; ++i) {
    gab_box there = shifted(&box, block, components[i]);
    gab_field_unpack_box(block->src, &there, &block->now->component[components[i]], 1,
                         (const unsigned char *)bytes + (size_t)i * each);
  }
}

/* Between blocks of this process nothing is copied yet: what the source sends stays where it is, even while
 * and after the source is swept (storage_impl.h), until its own ghosts are filled again. So it is fetched
 * when the target is swept, into a cache that needs it at once. */
static void ghost_copy(void *user, const void *from, void *to, int direction)
{
  (void)user;
  gab_lbm_block *target = to;
  target->awaited[direction] = from;
}

/* All of a side, or for axis >= 0 only layers lo <= cell < hi. */
static void fetch(const gab_lbm_model *model, gab_lbm_block *target, int direction, int axis, int64_t lo,
                  int64_t hi)
{
  const gab_lbm_block *source = target->awaited[direction];
  int components[GAB_LATTICE_MAX_Q];
  int count = crossing(model->lattice, direction, components);
  gab_box send = gab_direction_send_box(direction, model->cells, 1);
  gab_box receive = gab_direction_receive_box(gab_direction_opposite(direction), model->cells, 1);
  if (axis >= 0) {
    send.lo[axis] = receive.lo[axis] = lo;
    send.hi[axis] = receive.hi[axis] = hi;
  }
  for (int i = 0; i < count; ++i) {
    int q = components[i];
    gab_box here = shifted(&send, source, q), there = shifted(&receive, target, q);
    gab_field_copy_component(target->src, &there, target->now->component[q], source->src, &here,
                             source->now->component[q]);
  }
}

void gab_lbm_fill_ghosts(const gab_lbm_model *model, const gab_lbm_job *job, bool across)
{
  const int axis = model->slab_axis;
  int64_t lo = (int64_t)job->first_slab * model->slab_layers,
          hi = (int64_t)job->last_slab * model->slab_layers;
  if (hi > model->cells[axis]) hi = model->cells[axis];
  for (int direction = 0; direction < GAB_DIRECTIONS; ++direction) {
    int offset[3];
    gab_direction_offset(direction, offset);
    if (!job->block->awaited[direction] || (offset[axis] != 0) != across) continue;
    fetch(model, job->block, direction, across ? -1 : axis, lo, hi);
  }
}

void gab_lbm_forget_ghosts(gab_lbm *lbm)
{
  for (size_t i = 0; i < gab_forest_block_count(lbm->forest); ++i) {
    gab_lbm_block *block = gab_lbm_block_of(lbm, gab_forest_block(lbm->forest, i));
    memset(block->awaited, 0, sizeof block->awaited);
  }
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
