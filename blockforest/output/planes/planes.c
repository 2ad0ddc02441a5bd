/* SPDX-License-Identifier: Apache-2.0 */
/* Each rank evaluates the points in its blocks; the root assembles the row and writes it alone. */
#include "blockforest/output/planes/planes.h"
#include "blockforest/output/output_files_impl.h"
#include "blockforest/output/planes/plane_file_impl.h"
#include "core/base/hash.h"
#include "core/messages/collective.h"

#include <math.h>
#include <string.h>

struct gab_plane {
  gab_forest *forest;
  char *name;
  gab_quantity quantities[GAB_PLANE_MOST_QUANTITIES];
  char identity[65];
  gab_plane_shape shape;
  int axes[2];        /* along the plane */
  size_t values;      /* of a point */
  double *scratch;    /* one block of the widest quantity */
  unsigned char *row; /* root only, from the first row on */
  uint64_t rows;
  gab_step last;
  gab_plane_file file;
};

/* ---------------------------------------------------------------------------------------- creation */

static double extent_of(const gab_forest_options *domain, int axis)
{
  return (double)((int64_t)domain->grid.roots[axis] * domain->cells[axis]) * domain->dx;
}

static gab_status check(const gab_forest_options *domain, const gab_plane_options *options)
{
  const int axis = options->axis;
  if (!options->folder || !options->name || options->quantity_count == 0 ||
      options->quantity_count > GAB_PLANE_MOST_QUANTITIES || !(options->spacing > 0))
    GAB_FAIL(GAB_ERR_ARGUMENT, "a plane needs a folder, a name, a spacing and 1 to %d quantities",
             (int)GAB_PLANE_MOST_QUANTITIES);
  GAB_TRY(gab_output_name_check(options->name));
  if (axis < 0 || axis >= domain->grid.dimension)
    GAB_FAIL(GAB_ERR_INPUT, "plane %s: in %dD there is no axis %c", options->name, domain->grid.dimension,
             axis < 0 || axis > 2 ? '?' : "xyz"[axis]);
  const double lower = domain->origin[axis], upper = lower + extent_of(domain, axis);
  if (!(options->position >= lower && options->position <= upper))
    GAB_FAIL(GAB_ERR_INPUT, "plane %s: %c = %g is outside the domain, which is [%g, %g]", options->name,
             "xyz"[axis], options -> position, lower, upper);
  for (int k = 0; k < domain->grid.dimension; k++)
    if (k != axis && !(extent_of(domain, k) / options->spacing < 100000))
      GAB_FAIL(GAB_ERR_INPUT, "plane %s: %g points along %c, more than 100000", options->name,
               extent_of(domain, k) / options->spacing, "xyz"[k]);
  return GAB_OK;
}

static void set_grid(gab_plane *made, const gab_forest_options *domain, const gab_plane_options *options)
{
  gab_plane_shape *shape = &made->shape;
  int count = 0;
  shape->dimension = domain->grid.dimension;
  shape->axis = options->axis;
  shape->position = shape->origin[options->axis] = options->position;
  shape->points[0] = shape->points[1] = 1;
  for (int axis = 0; axis < shape->dimension; axis++) {
    if (axis == options->axis) continue;
    const double extent = extent_of(domain, axis), points = nearbyint(extent / options->spacing);
    shape->points[count] = points < 1 ? 1 : (int64_t)points;
    shape->spacing[count] = extent / (double)shape->points[count];
    shape->origin[axis] = domain->origin[axis] + 0.5 * shape->spacing[count];
    made->axes[count++] = axis;
  }
  for (; count < 2; count++) made->axes[count] = 2;
}

static gab_status fill_in(gab_plane *made, const gab_plane_options *options)
{
  char path[GAB_OUTPUT_PATH_CAPACITY];
  size_t widest = 0;
  GAB_TRY(gab_output_path(path, "%s/%s.h5", options->folder, options->name));
  GAB_TRY(gab_output_copy_string(path, &made->file.path));
  GAB_TRY(gab_output_copy_string(options->name, &made->name));
  snprintf(made->identity, sizeof made->identity, "%s", options->identity ? options->identity : "");
  for (size_t q = 0; q < options->quantity_count; q++) {
    GAB_TRY(gab_quantity_check(&options->quantities[q]));
    made->quantities[q] = options->quantities[q];
    made->values += (size_t)options->quantities[q].components;
    const size_t values = gab_quantity_block_values(made->forest, &options->quantities[q]);
    if (values > widest) widest = values;
  }
  made->shape.quantities = made->quantities;
  made->shape.quantity_count = options->quantity_count;
  made->shape.identity = made->identity;
  made->shape.time_unit = options->time_unit;
  set_grid(made, gab_forest_get_options(made->forest), options);
  return GAB_NEW_ARRAY(&made->scratch, widest, GAB_MEMORY_OTHER);
}

gab_status gab_plane_create(gab_forest *forest, const gab_plane_options *options, gab_plane **plane)
{
  *plane = NULL;
  GAB_TRY(check(gab_forest_get_options(forest), options));
  gab_plane *made;
  GAB_TRY(GAB_NEW(&made, GAB_MEMORY_OTHER));
  made->forest = forest;
  made->last = -1;
  const gab_status status = fill_in(made, options);
  if (status != GAB_OK) gab_plane_destroy(&made);
  *plane = made;
  return status;
}

void gab_plane_destroy(gab_plane **plane)
{
  gab_plane *old = *plane;
  *plane = NULL;
  if (!old) return;
  if (old->file.overlaps && gab_world_is_root(gab_forest_world(old->forest))) {
    old->file.overlaps = false;
    (void)gab_plane_file_cut(&old->file, &old->shape, old->rows, old->last);
  }
  gab_plane_file_release(&old->file);
  gab_free(&old->name);
  gab_free(&old->scratch);
  gab_free(&old->row);
  gab_free(&old);
}

const char *gab_plane_name(const gab_plane *plane) { return plane->name; }

/* ---------------------------------------------------------------------------------------- a block */

/* A position along an axis in a block. */
typedef struct place {
  int32_t cell, first; /* cell: contains the position; first: first cell of the polynomial */
  int count;
  double off; /* from the centre of the cell, in cells */
  double weight[3];
} place;

/* Stencil: the cell and its neighbours; at an end of the block the cell and the next two. */
static place place_of(int32_t cells, int32_t cell, double off)
{
  place made = {.cell = cell, .first = cell, .count = 1, .off = off, .weight = {1}};
  if (off == 0 || cells == 1) return made;
  if (cells == 2) {
    const double at = cell + off;
    made.first = 0;
    made.count = 2;
    made.weight[0] = 1 - at;
    made.weight[1] = at;
    return made;
  }
  const int32_t middle = cell == 0 ? 1 : cell == cells - 1 ? cells - 2 : cell;
  const double at = off + (cell - middle);
  made.first = middle - 1;
  made.count = 3;
  made.weight[0] = 0.5 * at * (at - 1);
  made.weight[1] = 1 - at * at;
  made.weight[2] = 0.5 * at * (at + 1);
  return made;
}

/* The points of a plane along an axis inside a block. */
typedef struct range {
  int64_t first, count; /* of points */
  int32_t cells;
  int64_t lo;  /* first cell of the block */
  double per;  /* cells of the level per point; the first point is at half of that. 0: one point */
  double at;   /* of a single point, in cells */
  int64_t all; /* cells of the level */
} range;

/* Position in cells of the level, rounded to 2^-32 cells so that all ranks agree on the cell. @return the cell */
static int64_t locate(const range *along, int64_t point, double *off)
{
  double at = along->per > 0 ? ((double)point + 0.5) * along->per : along->at;
  at = ldexp(nearbyint(ldexp(at, 32)), -32);
  int64_t cell = (int64_t)floor(at);
  if (cell >= along->all) cell = along->all - 1;
  *off = at - (double)cell - 0.5;
  return cell;
}

static place place_in(const range *along, int64_t point)
{
  double off;
  const int64_t cell = locate(along, point, &off);
  return place_of(along->cells, (int32_t)(cell - along->lo), off);
}

static bool has_point(const range *along, int64_t point)
{
  double off;
  const int64_t cell = locate(along, point, &off);
  return cell >= along->lo && cell < along->lo + along->cells;
}

static range range_of(const gab_plane *plane, const gab_block *block, int axis)
{
  const gab_forest_options *domain = gab_forest_get_options(plane->forest);
  const gab_box box = gab_block_cells(plane->forest, block);
  const gab_plane_shape *shape = &plane->shape;
  const bool is_flat = axis >= domain->grid.dimension;
  const int level = is_flat ? 0 : gab_block_level(plane->forest, block);
  range made = {.cells = domain->cells[axis],
                .lo = box.lo[axis],
                .all = ((int64_t)domain->grid.roots[axis] * domain->cells[axis]) << level};
  int64_t points = 1;
  if (axis == shape->axis) {
    made.at = ldexp((shape->position - domain->origin[axis]) / domain->dx, level);
  } else if (is_flat) {
    made.at = 0.5;
  } else {
    points = shape->points[axis == plane->axes[0] ? 0 : 1];
    made.per = (double)made.all / (double)points;
    made.first = (int64_t)floor((double)made.lo / made.per) - 1;
    if (made.first < 0) made.first = 0;
  }
  while (made.first < points && !has_point(&made, made.first) &&
         (made.per == 0 || ((double)made.first + 0.5) * made.per < (double)(made.lo + made.cells)))
    made.first++;
  while (made.first + made.count < points && has_point(&made, made.first + made.count)) made.count++;
  return made;
}

/* Differences to the neighbours with a value, in the block. */
static double change_along(const double *value, ptrdiff_t stride, int32_t cells, const place *at)
{
  const double here = value[0], below = at->cell > 0 ? value[-stride] : NAN,
               above = at->cell + 1 < cells ? value[stride] : NAN;
  if (at->off == 0) return 0;
  if (isfinite(below) && isfinite(above))
    return at->off * 0.5 * (above - below) + at->off * at->off * (0.5 * (above + below) - here);
  if (isfinite(below)) return at->off * (here - below);
  return isfinite(above) ? at->off * (above - here) : 0;
}

static double interpolate(const double *values, const int32_t cells[3], int components, const place at[3])
{
  const ptrdiff_t stride[3] = {components, (ptrdiff_t)components * cells[0],
                               (ptrdiff_t)components * cells[0] * cells[1]};
  double sum = 0;
  for (int z = 0; z < at[2].count; z++)
    for (int y = 0; y < at[1].count; y++)
      for (int x = 0; x < at[0].count; x++)
        sum += at[2].weight[z] * at[1].weight[y] * at[0].weight[x] *
               values[(at[2].first + z) * stride[2] + (at[1].first + y) * stride[1] +
                      (at[0].first + x) * stride[0]];
  if (isfinite(sum)) return sum;
  const double *here = values + at[2].cell * stride[2] + at[1].cell * stride[1] + at[0].cell * stride[0];
  if (!isfinite(*here)) return NAN;
  sum = *here;
  for (int axis = 0; axis < 3; axis++) sum += change_along(here, stride[axis], cells[axis], &at[axis]);
  return sum;
}

/* A piece of the plane for the root: its points, then the values of all quantities. */
typedef struct piece {
  int64_t first[2], count[2];
} piece;

static gab_status put_values(gab_plane *plane, const gab_quantity *quantity, const range along[3],
                             const piece *part, gab_buffer *out)
{
  const int32_t *cells = gab_forest_get_options(plane->forest)->cells;
  place at[3];
  at[plane->shape.axis] = place_in(&along[plane->shape.axis], 0);
  for (int axis = 0; axis < 3; axis++)
    if (axis != plane->shape.axis) at[axis] = place_in(&along[axis], along[axis].first);
  for (int64_t up = 0; up < part->count[1]; up++)
    for (int64_t across = 0; across < part->count[0]; across++) {
      at[plane->axes[0]] = place_in(&along[plane->axes[0]], part->first[0] + across);
      if (plane->shape.dimension == 3)
        at[plane->axes[1]] = place_in(&along[plane->axes[1]], part->first[1] + up);
      for (int k = 0; k < quantity->components; k++)
        GAB_TRY(gab_put_f64(out, interpolate(plane->scratch + k, cells, quantity->components, at)));
    }
  return GAB_OK;
}

static gab_status put_block(gab_plane *plane, const gab_block *block, gab_buffer *out)
{
  range along[3];
  for (int axis = 0; axis < 3; axis++) {
    along[axis] = range_of(plane, block, axis);
    if (along[axis].count == 0) return GAB_OK;
  }
  piece part;
  for (int k = 0; k < 2; k++) {
    part.first[k] = along[plane->axes[k]].first;
    part.count[k] = along[plane->axes[k]].count;
  }
  GAB_TRY(gab_put_bytes(out, &part, sizeof part));
  for (size_t q = 0; q < plane->shape.quantity_count; q++) {
    const gab_quantity *quantity = &plane->quantities[q];
    GAB_TRY(quantity->evaluate(quantity->user, plane->forest, block, plane->scratch));
    GAB_TRY(put_values(plane, quantity, along, &part, out));
  }
  return GAB_OK;
}

static gab_status collect_own(gab_plane *plane, gab_buffer *out)
{
  for (size_t b = 0; b < gab_forest_block_count(plane->forest); b++)
    GAB_TRY(put_block(plane, gab_forest_block(plane->forest, b), out));
  return GAB_OK;
}

/* ---------------------------------------------------------------------------------------- the row */

static gab_status take_piece(gab_plane *plane, gab_reader *in)
{
  const gab_plane_shape *shape = &plane->shape;
  double *to = (double *)(void *)(plane->row + GAB_PLANE_ROW_HEAD);
  piece part;
  GAB_TRY(gab_get_bytes(in, &part, sizeof part));
  for (int k = 0; k < 2; k++)
    if (part.first[k] < 0 || part.count[k] < 1 || part.first[k] > shape->points[k] - part.count[k])
      GAB_FAIL(GAB_ERR_CORRUPT, "plane %s: a piece of points that are not there", plane->name);
  for (size_t q = 0; q < shape->quantity_count; q++) {
    const size_t components = (size_t)plane->quantities[q].components;
    for (int64_t up = 0; up < part.count[1]; up++)
      GAB_TRY(gab_get_f64s(
          in, to + (size_t)((part.first[1] + up) * shape->points[0] + part.first[0]) * components,
          (size_t)part.count[0] * components));
    to += (size_t)(shape->points[0] * shape->points[1]) * components;
  }
  return GAB_OK;
}

static gab_status take_pieces(void *user, gab_rank from, gab_reader bytes)
{
  (void)from;
  while (gab_reader_left(&bytes) > 0) GAB_TRY(take_piece(user, &bytes));
  return GAB_OK;
}

static gab_status begin_row(gab_plane *plane, gab_step step, double time)
{
  const size_t bytes = gab_plane_row_bytes(&plane->shape);
  const int64_t number = step;
  if (!plane->row) GAB_TRY(GAB_NEW_ARRAY(&plane->row, bytes, GAB_MEMORY_OTHER));
  memcpy(plane->row, &number, sizeof number);
  memcpy(plane->row + 8, &time, sizeof time);
  double *values = (double *)(void *)(plane->row + GAB_PLANE_ROW_HEAD);
  for (size_t i = 0; i < (bytes - GAB_PLANE_ROW_HEAD) / sizeof *values; i++) values[i] = NAN;
  return GAB_OK;
}

/* The status is the root's. */
static gab_status gather_and_write(gab_plane *plane, const gab_buffer *own, gab_step step, double time)
{
  gab_world *world = gab_forest_world(plane->forest);
  const gab_status begun = gab_world_is_root(world) ? begin_row(plane, step, time) : GAB_OK;
  GAB_TRY(gab_world_reduce_status(world, begun));
  GAB_TRY(gab_world_gather(world, own, take_pieces, plane));
  return gab_world_is_root(world) ? gab_plane_file_write(&plane->file, &plane->shape, plane->rows, plane->row)
                                  : GAB_OK;
}

gab_status gab_plane_write(gab_plane *plane, gab_step step, double time)
{
  gab_world *world = gab_forest_world(plane->forest);
  gab_buffer own;
  GAB_TRY(gab_world_check(world));
  if (step <= plane->last) return GAB_OK;
  gab_buffer_init(&own, GAB_MEMORY_MESSAGE);
  gab_status status = gab_world_reduce_status(world, collect_own(plane, &own));
  if (status == GAB_OK) status = gab_world_reduce_status(world, gather_and_write(plane, &own, step, time));
  gab_buffer_release(&own);
  if (status != GAB_OK) return status;
  plane->rows++;
  plane->last = step;
  return GAB_OK;
}

/* ---------------------------------------------------------------------------------------- cursors */

gab_status gab_plane_pack(const gab_plane *plane, gab_buffer *out)
{
  GAB_TRY(gab_put_u64(out, plane->rows));
  return gab_put_i64(out, plane->last);
}

gab_status gab_plane_unpack(gab_plane *plane, gab_reader *in)
{
  gab_world *world = gab_forest_world(plane->forest);
  uint64_t rows = 0;
  int64_t last = 0;
  GAB_TRY(gab_get_u64(in, &rows));
  GAB_TRY(gab_get_i64(in, &last));
  if (rows > INT64_MAX || last < -1 || (last < 0) != (rows == 0))
    GAB_FAIL(GAB_ERR_CORRUPT, "cursor of plane %s cannot be: %" PRIu64 " rows up to step %" GAB_PRI_STEP,
             plane->name, rows, last);
  plane->rows = rows;
  plane->last = last;
  plane->file.overlaps = gab_world_get_policy(world) == GAB_POLICY_MARK_DOWN;
  return gab_world_is_root(world) ? gab_plane_file_cut(&plane->file, &plane->shape, rows, last) : GAB_OK;
}

gab_status gab_plane_begin_anew(gab_plane *plane)
{
  plane->rows = 0;
  plane->last = -1;
  return gab_world_is_root(gab_forest_world(plane->forest))
             ? gab_plane_file_set_aside(&plane->file, "was begun by a run with another plane")
             : GAB_OK;
}

uint64_t gab_plane_hash(const gab_plane *plane)
{
  const gab_plane_shape *shape = &plane->shape;
  const int64_t numbers[4] = {shape->axis, shape->dimension, shape->points[0], shape->points[1]};
  uint64_t hash = gab_hash64(numbers, sizeof numbers, 0);
  hash = gab_hash64(shape->origin, sizeof shape->origin, hash);
  hash = gab_hash64(shape->spacing, sizeof shape->spacing, hash);
  for (size_t q = 0; q < shape->quantity_count; q++)
    hash = gab_hash64(shape->quantities[q].name, strlen(shape->quantities[q].name) + 1, hash);
  return hash;
}
