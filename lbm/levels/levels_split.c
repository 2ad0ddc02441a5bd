/* SPDX-License-Identifier: Apache-2.0 */
/* Split and merge of the state of blocks. Blocks with solid cells use the packed form, which is independent of their
 * storage; others work row by row (levels_rows.c).
 *
 * A cell and its children have the same density and velocity, to rounding the same mass and momentum in total. The
 * non-equilibrium part represents velocity gradients: after collision it is proportional to (1 / omega - 1) times the
 * gradient per cell, so it is rescaled between levels (after Dupuis & Chopard 2003, Phys. Rev. E 67, 066707). It vanishes
 * for omega -> 1: there the factor goes to 0. Odd non-equilibrium parts represent no first-order gradient and are dropped.
 * Half of the force's source, added by the collision, depends on the level, and so does the drag of porous regions: it is taken out before and
 * added afterwards. */
#include "lbm/levels/level_interface_impl.h"
#include "lbm/porous/drag_impl.h"

#include <string.h>

enum { SOLID = -1 };

/* A block unpacked for access cell by cell. */
typedef struct cells {
  const gab_lbm_model *model;
  const gab_lbm_block *block;
  const gab_block *place;
  int32_t *number; /* number among the fluid cells, else SOLID */
  gab_buffer packed;
  unsigned char *values;
} cells;

static size_t index_of(const gab_lbm_model *model, const int32_t at[3])
{
  return (size_t)at[0] + (size_t)model->cells[0] * ((size_t)at[1] + (size_t)model->cells[1] * (size_t)at[2]);
}

static void cells_close(cells *of)
{
  gab_free(&of->number);
  gab_buffer_release(&of->packed);
}

static gab_status number_cells(cells *of)
{
  const int32_t *size = of->model->cells;
  const size_t count = (size_t)size[0] * (size_t)size[1] * (size_t)size[2];
  GAB_TRY(GAB_NEW_ARRAY(&of->number, count, GAB_MEMORY_OTHER));
  for (size_t i = 0; i < count; i++) of->number[i] = SOLID;
  int32_t next = 0;
  for (size_t k = 0; k < of->block->run_count; k++)
    for (int32_t i = 0; i < of->block->runs[k].length; i++) {
      const gab_run *run = &of->block->runs[k];
      const int32_t at[3] = {run->x + i, run->y, run->z};
      of->number[index_of(of->model, at)] = next++;
    }
  return GAB_OK;
}

/* With the state of the block; if `empty`, only with capacity for it. */
static gab_status cells_open(const gab_lbm_model *model, const gab_lbm_block *block, const gab_block *place,
                             bool empty, cells *of)
{
  *of = (cells){.model = model, .block = block, .place = place};
  gab_buffer_init(&of->packed, GAB_MEMORY_OTHER);
  gab_status status = number_cells(of);
  void *memory;
  if (status == GAB_OK && empty)
    status = gab_buffer_extend(&of->packed, gab_lbm_packed_size(model, block), &memory);
  if (status == GAB_OK && !empty) status = gab_lbm_pack(model, block, &of->packed);
  of->values = of->packed.data;
  if (status != GAB_OK) cells_close(of);
  return status;
}

static gab_status cells_store(cells *of, gab_lbm_block *block)
{
  gab_reader reader = gab_reader_of_buffer(&of->packed);
  return gab_lbm_unpack(of->model, block, &reader);
}

static size_t place_of(const cells *of, int32_t number, int q)
{
  return (size_t)q * (size_t)of->block->fluid_cells + (size_t)number;
}

static bool get(const cells *of, const int32_t at[3], double f[GAB_LATTICE_MAX_Q])
{
  int32_t number = of->number[index_of(of->model, at)];
  for (int q = 0; q < of->model->lattice->q && number != SOLID; q++) {
    size_t place = place_of(of, number, q);
    f[q] = of->model->options.precision == GAB_PRECISION_FLOAT ? (double)((const float *)of->values)[place]
                                                               : ((const double *)of->values)[place];
  }
  if (number != SOLID) gab_porous_take(of->model, of->block, of->place, at, f);
  return number != SOLID;
}

static void put(cells *of, const int32_t at[3], double f[GAB_LATTICE_MAX_Q])
{
  int32_t number = of->number[index_of(of->model, at)];
  gab_porous_put(of->model, of->block, at, f);
  for (int q = 0; q < of->model->lattice->q && number != SOLID; q++) {
    size_t place = place_of(of, number, q);
    if (of->model->options.precision == GAB_PRECISION_FLOAT) ((float *)of->values)[place] = (float)f[q];
    else ((double *)of->values)[place] = f[q];
  }
}

/* ------------------------------------------------------------------------------------------ one cell */

/* Guo's source without the rates, as in initial.c. */
static double source(const gab_lbm_model *model, const gab_level_model *at, int q, const double u[3])
{
  const int8_t *c = model->lattice->c[q];
  const double *force = at->rates.force;
  double cu = 0, cf = 0, uf = 0;
  for (int axis = 0; axis < 3; axis++) {
    cu += c[axis] * u[axis];
    cf += c[axis] * force[axis];
    uf += u[axis] * force[axis];
  }
  return model->lattice->weight[q] * (3 * (cf - uf) + 9 * cu * cf);
}

/* Removes the part of the equilibrium beyond second order before the conversion and adds it afterwards, in the same order
 * as levels_rows.c, so that the bits are the same. */
static void add_beyond(const gab_lbm_model *model, double sign, double drho, const double u[3], double *f)
{
  const gab_collision *collision = model->options.collision;
  for (int q = 0; collision->equilibrium_beyond && q < model->lattice->q; q++)
    f[q] += sign * collision->equilibrium_beyond(model->lattice, q, drho, u);
}

/* Converts the state of a cell to another level. */
static void convert(const gab_lbm_model *model, const gab_level_model *from, const gab_level_model *to,
                    double *f)
{
  double drho, u[3], excess[GAB_LATTICE_MAX_Q];
  const gab_lattice *lattice = model->lattice;
  const double scale = gab_lbm_level_factor(from, to);
  gab_lbm_moments(model, from, f, &drho, u);
  add_beyond(model, -1, drho, u, f);
  for (int q = 0; q < lattice->q; q++)
    excess[q] = f[q] - gab_lattice_equilibrium(lattice, q, drho, u) - 0.5 * source(model, from, q, u);
  for (int q = 0; q < lattice->q; q++) {
    const double even = 0.5 * (excess[q] + excess[gab_lattice_opposite(q)]);
    f[q] = gab_lattice_equilibrium(lattice, q, drho, u) + scale * even + 0.5 * source(model, to, q, u);
  }
  add_beyond(model, 1, drho, u, f);
}

/* Adds the fluid cells of a box. @return their number; 0 outside the block */
static int add_box(const cells *of, const int32_t lo[3], const int32_t hi[3], double sum[GAB_LATTICE_MAX_Q])
{
  int count = 0;
  for (int32_t z = lo[2]; z < hi[2]; z++)
    for (int32_t y = lo[1]; y < hi[1]; y++)
      for (int32_t x = lo[0]; x < hi[0]; x++) {
        const int32_t at[3] = {x, y, z}, *size = of->model->cells;
        double f[GAB_LATTICE_MAX_Q];
        if (x < 0 || y < 0 || z < 0 || x >= size[0] || y >= size[1] || z >= size[2] || !get(of, at, f))
          continue;
        for (int q = 0; q < of->model->lattice->q; q++) sum[q] += f[q];
        count++;
      }
  return count;
}

/* The mean of a box or, if it has no fluid cell, of a wider one; else fluid at rest. */
static void mean_of(const cells *of, const int32_t lo[3], const int32_t hi[3], bool may_widen,
                    double f[GAB_LATTICE_MAX_Q])
{
  const gab_lattice *lattice = of->model->lattice;
  const int32_t wide_lo[3] = {lo[0] - 1, lo[1] - 1, lo[2] - 1},
                wide_hi[3] = {hi[0] + 1, hi[1] + 1, hi[2] + 1};
  const double rest[3] = {0, 0, 0};
  memset(f, 0, GAB_LATTICE_MAX_Q * sizeof *f);
  int count = add_box(of, lo, hi, f);
  if (count == 0 && may_widen) count = add_box(of, wide_lo, wide_hi, f);
  for (int q = 0; q < lattice->q; q++)
    f[q] =
        count > 0 ? f[q] / count : gab_lattice_equilibrium(lattice, q, of->model->options.density - 1, rest);
}

/* ------------------------------------------------------------------------------------------ all cells */

/* Origin of a child in its parent. */
static void corner_of(const gab_lbm_model *model, int child, int32_t corner[3])
{
  for (int axis = 0; axis < 3; axis++)
    corner[axis] = axis < model->lattice->dimension ? (child >> axis & 1) * model->cells[axis] / 2 : 0;
}

static void fill_child(const cells *parent, cells *child, const int32_t corner[3])
{
  const gab_lbm_model *model = parent->model;
  const int32_t *size = model->cells;
  for (int32_t z = 0; z < size[2]; z++)
    for (int32_t y = 0; y < size[1]; y++)
      for (int32_t x = 0; x < size[0]; x++) {
        const int32_t at[3] = {x, y, z};
        int32_t lo[3], hi[3];
        double f[GAB_LATTICE_MAX_Q];
        if (child->number[index_of(model, at)] == SOLID) continue;
        for (int axis = 0; axis < 3; axis++) {
          lo[axis] = corner[axis] + (axis < model->lattice->dimension ? at[axis] / 2 : at[axis]);
          hi[axis] = lo[axis] + 1;
        }
        mean_of(parent, lo, hi, true, f);
        convert(model, parent->block->at, child->block->at, f);
        put(child, at, f);
      }
}

static void fill_part(const cells *child, cells *parent, const int32_t corner[3])
{
  const gab_lbm_model *model = parent->model;
  const int dimension = model->lattice->dimension;
  const int32_t *size = model->cells;
  for (int32_t z = 0; z < (dimension == 3 ? size[2] / 2 : 1); z++)
    for (int32_t y = 0; y < size[1] / 2; y++)
      for (int32_t x = 0; x < size[0] / 2; x++) {
        const int32_t at[3] = {corner[0] + x, corner[1] + y, corner[2] + z};
        const int32_t lo[3] = {2 * x, 2 * y, 2 * z},
                      hi[3] = {2 * x + 2, 2 * y + 2, dimension == 3 ? 2 * z + 2 : 1};
        double f[GAB_LATTICE_MAX_Q];
        if (parent->number[index_of(model, at)] == SOLID) continue;
        mean_of(child, lo, hi, false, f);
        convert(model, child->block->at, parent->block->at, f);
        put(parent, at, f);
      }
}

static gab_status split_cells(const gab_lbm_model *model, const gab_lbm_block *parent, const gab_block *place,
                              gab_lbm_block *child, const int32_t corner[3])
{
  cells from, to;
  GAB_TRY(cells_open(model, parent, place, false, &from));
  gab_status status = cells_open(model, child, NULL, true, &to);
  if (status == GAB_OK) {
    fill_child(&from, &to, corner);
    status = cells_store(&to, child);
    cells_close(&to);
  }
  cells_close(&from);
  return status;
}

/* The parts of other children are kept. */
static gab_status merge_cells(const gab_lbm_model *model, const gab_lbm_block *child, const gab_block *place,
                              gab_lbm_block *parent, const int32_t corner[3])
{
  cells from, to;
  GAB_TRY(cells_open(model, parent, NULL, false, &to));
  gab_status status = cells_open(model, child, place, false, &from);
  if (status == GAB_OK) {
    fill_part(&from, &to, corner);
    status = cells_store(&to, parent);
    cells_close(&from);
  }
  cells_close(&to);
  return status;
}

gab_status gab_lbm_split(void *user, const gab_forest *forest, const gab_block *parent,
                         const void *parent_data, const gab_block *const *children,
                         void *const *children_data)
{
  const gab_lbm_model *model = user;
  (void)forest;
  (void)children;
  for (int child = 0, done; child < 1 << model->lattice->dimension; child += done) {
    int32_t corner[3];
    done = 1;
    if (!children_data[child]) continue;
    corner_of(model, child, corner);
    gab_lbm_block *const pair[2] = {children_data[child], child % 2 == 0 ? children_data[child + 1] : NULL};
    const int in_rows = gab_lbm_split_rows(model, parent_data, pair, corner);
    if (in_rows > 0) done = in_rows;
    else GAB_TRY(split_cells(model, parent_data, parent, pair[0], corner));
  }
  return GAB_OK;
}

gab_status gab_lbm_merge(void *user, const gab_forest *forest, const gab_block *const *children,
                         const void *const *children_data, const gab_block *parent, void *parent_data)
{
  const gab_lbm_model *model = user;
  (void)forest;
  (void)parent;
  for (int child = 0, done; child < 1 << model->lattice->dimension; child += done) {
    int32_t corner[3];
    done = 1;
    if (!children_data[child]) continue;
    corner_of(model, child, corner);
    const gab_lbm_block *const pair[2] = {children_data[child],
                                          child % 2 == 0 ? children_data[child + 1] : NULL};
    const int in_rows = gab_lbm_merge_rows(model, pair, parent_data, corner);
    if (in_rows > 0) done = in_rows;
    else GAB_TRY(merge_cells(model, pair[0], children[child], parent_data, corner));
  }
  return GAB_OK;
}
