/* SPDX-License-Identifier: Apache-2.0 */
/* Work per cell of the multigrid solver. Ghosts of FIELD_U are filled. */
#include "blockforest/elliptic/elliptic_impl.h"

#include "core/messages/collective.h"

#include <math.h>
#include <string.h>

double gab_elliptic_diagonal(const gab_elliptic *elliptic, double width)
{
  const gab_elliptic_operator *a = &elliptic->options.operation;
  return a->alpha + 2 * elliptic->dimension * (a->beta / (width * width));
}

/* ---------------------------------------------------------------- the operator with alpha and beta */

/* A u = centre u - beta/h^2 (sum of the neighbours). */
typedef struct stencil {
  double centre, neighbour;
  int dimension;
} stencil;

static stencil stencil_of(const gab_elliptic *elliptic, double width)
{
  return (stencil){.centre = gab_elliptic_diagonal(elliptic, width),
                   .neighbour = elliptic->options.operation.beta / (width * width),
                   .dimension = elliptic->dimension};
}

/* to = from + weight (f - A u) in a row of cells; `from` is u or NULL, f may be NULL. */
static inline void row(const stencil *a, const gab_field_map *map, const double *u, const double *f,
                       bool adds_u, double weight, double *to, int32_t cells)
{
  const ptrdiff_t y = map->stride[1], z = a->dimension == 3 ? map->stride[2] : 0;
  const double centre = a->centre, neighbour = a->neighbour;
  for (int32_t x = 0; x < cells; x++) {
    double around = (u[x - 1] + u[x + 1]) + (u[x - y] + u[x + y]);
    if (z) around += u[x - z] + u[x + z];
    const double rest = (f ? f[x] : 0) - (centre * u[x] - neighbour * around);
    to[x] = adds_u ? u[x] + weight * rest : weight * rest;
  }
}

typedef enum task { SWEEP, RESIDUAL, APPLY } task;

static void on_piece(const stencil *a, const gab_field *u, const gab_field *f, gab_field *to, task what,
                     double weight)
{
  for (int32_t z = 0; z < u->shape.cells[2]; z++)
    for (int32_t y = 0; y < u->shape.cells[1]; y++) {
      const size_t at = gab_field_index(&u->map, 0, y, z, 0);
      const double *from = (const double *)u->data + at, *right = (const double *)f->data + at;
      double *out = (double *)to->data + at;
      const int32_t cells = u->shape.cells[0];
      if (what == SWEEP) row(a, &u->map, from, right, true, weight, out, cells);
      else if (what == RESIDUAL) row(a, &u->map, from, right, false, 1, out, cells);
      else row(a, &u->map, from, NULL, false, -1, out, cells);
    }
}

/* ---------------------------------------------------------------- an operator of the program */

static gab_elliptic_cells cells_of(const gab_elliptic *elliptic, const elliptic_level *level, ptrdiff_t piece)
{
  gab_elliptic_cells at = {.user = elliptic->options.operation.user,
                           .width = gab_elliptic_width(elliptic, level, piece),
                           .u = gab_elliptic_piece(elliptic, level, piece, FIELD_U)};
  int32_t first[3];
  gab_elliptic_first_cell(elliptic, level, piece, first);
  for (int axis = 0; axis < 3; axis++) {
    at.cells[axis] = at.u->shape.cells[axis];
    at.origin[axis] = elliptic->origin[axis] + first[axis] * at.width;
  }
  at.out = gab_elliptic_piece(elliptic, level, piece, FIELD_NEXT);
  return at;
}

/* NEXT holds A u, and becomes what is asked for. */
static void finish_piece(const gab_elliptic_cells *at, const gab_field *f, const gab_field *diagonal,
                         task what, double weight)
{
  for (int32_t z = 0; z < at->cells[2]; z++)
    for (int32_t y = 0; y < at->cells[1]; y++) {
      const size_t row_at = gab_field_index(&at->u->map, 0, y, z, 0);
      const double *u = (const double *)at->u->data + row_at, *right = (const double *)f->data + row_at,
                   *d = (const double *)diagonal->data + row_at;
      double *out = (double *)at->out->data + row_at;
      for (int32_t x = 0; x < at->cells[0]; x++) {
        const double rest = right[x] - out[x];
        out[x] = what == SWEEP ? u[x] + weight * rest / d[x] : rest;
      }
    }
}

/* Coefficients of the faces of a block, by A of a field that is 1 in the ghosts beyond a side and 0 elsewhere. They go to the ghosts of
 * the diagonal, times the square of the width: fluxes through faces of different widths can be compared. Uses FIELD_U and FIELD_NEXT. */
static void find_weights(const gab_elliptic *elliptic, const elliptic_level *level, ptrdiff_t piece)
{
  const gab_elliptic_cells at = cells_of(elliptic, level, piece);
  gab_field *u = gab_elliptic_piece(elliptic, level, piece, FIELD_U),
            *diagonal = gab_elliptic_piece(elliptic, level, piece, FIELD_DIAGONAL);
  const gab_box whole = gab_field_whole(u);
  for (int axis = 0; axis < elliptic->dimension; axis++)
    for (int upper = 0; upper < 2; upper++) {
      gab_box ghosts = gab_field_interior(u);
      ghosts.lo[axis] = upper ? u->shape.cells[axis] : -1;
      ghosts.hi[axis] = ghosts.lo[axis] + 1;
      gab_field_fill(u, 0, &whole, 0);
      gab_field_fill(u, 0, &ghosts, 1);
      elliptic->options.operation.apply(&at);
      int32_t cell[3];
      for (cell[2] = (int32_t)ghosts.lo[2]; cell[2] < ghosts.hi[2]; cell[2]++)
        for (cell[1] = (int32_t)ghosts.lo[1]; cell[1] < ghosts.hi[1]; cell[1]++)
          for (cell[0] = (int32_t)ghosts.lo[0]; cell[0] < ghosts.hi[0]; cell[0]++) {
            int32_t inner[3] = {cell[0], cell[1], cell[2]};
            inner[axis] += upper ? -1 : 1;
            gab_field_set(diagonal, cell[0], cell[1], cell[2], 0,
                          -gab_field_get(at.out, inner[0], inner[1], inner[2], 0) * at.width * at.width);
          }
    }
}

void gab_elliptic_find_diagonal(gab_elliptic *elliptic, elliptic_level *level)
{
  const uint64_t revision = gab_forest_revision(elliptic->forest) + 1;
  const ptrdiff_t pieces = gab_elliptic_pieces(elliptic, level);
  if (!elliptic->options.operation.apply || level->diagonal_of == revision) return;
#pragma omp parallel for schedule(dynamic)
  for (ptrdiff_t i = 0; i < pieces; i++) {
    gab_elliptic_cells at = cells_of(elliptic, level, i);
    at.diagonal = gab_elliptic_piece(elliptic, level, i, FIELD_DIAGONAL);
    elliptic->options.operation.apply(&at);
    if (level->weighs_fluxes) find_weights(elliptic, level, i);
  }
  level->diagonal_of = revision;
}

/* ---------------------------------------------------------------- all pieces */

static void on_all(gab_elliptic *elliptic, elliptic_level *level, task what, double weight)
{
  const ptrdiff_t pieces = gab_elliptic_pieces(elliptic, level);
  const bool is_own = elliptic->options.operation.apply != NULL;
#pragma omp parallel for schedule(dynamic)
  for (ptrdiff_t i = 0; i < pieces; i++) {
    const gab_field *f = gab_elliptic_piece(elliptic, level, i, FIELD_F);
    if (is_own) {
      const gab_elliptic_cells at = cells_of(elliptic, level, i);
      elliptic->options.operation.apply(&at);
      if (what != APPLY)
        finish_piece(&at, f, gab_elliptic_piece(elliptic, level, i, FIELD_DIAGONAL), what, weight);
    } else {
      const stencil a = stencil_of(elliptic, gab_elliptic_width(elliptic, level, i));
      on_piece(&a, gab_elliptic_piece(elliptic, level, i, FIELD_U), f,
               gab_elliptic_piece(elliptic, level, i, FIELD_NEXT), what, weight / a.centre);
    }
  }
}

static gab_status swap(gab_elliptic *elliptic, elliptic_level *level)
{
  for (ptrdiff_t i = 0; i < gab_elliptic_pieces(elliptic, level); i++)
    GAB_TRY(gab_field_swap(gab_elliptic_piece(elliptic, level, i, FIELD_U),
                           gab_elliptic_piece(elliptic, level, i, FIELD_NEXT)));
  return GAB_OK;
}

gab_status gab_elliptic_sweep(gab_elliptic *elliptic, elliptic_level *level, double weight)
{
  on_all(elliptic, level, SWEEP, weight);
  return swap(elliptic, level);
}

gab_status gab_elliptic_first_sweep(gab_elliptic *elliptic, elliptic_level *level, double weight)
{
  const ptrdiff_t pieces = gab_elliptic_pieces(elliptic, level);
  const bool is_own = elliptic->options.operation.apply != NULL;
#pragma omp parallel for schedule(dynamic)
  for (ptrdiff_t i = 0; i < pieces; i++) {
    gab_field *u = gab_elliptic_piece(elliptic, level, i, FIELD_U);
    const gab_field *f = gab_elliptic_piece(elliptic, level, i, FIELD_F);
    const double *d = is_own ? gab_elliptic_piece(elliptic, level, i, FIELD_DIAGONAL)->data : NULL;
    const double *right = f->data;
    const double constant = weight / gab_elliptic_diagonal(elliptic, gab_elliptic_width(elliptic, level, i));
    double *to = u->data;
    for (int32_t z = 0; z < u->shape.cells[2]; z++)
      for (int32_t y = 0; y < u->shape.cells[1]; y++) {
        const size_t at = gab_field_index(&u->map, 0, y, z, 0);
        for (size_t x = at; x < at + (size_t)u->shape.cells[0]; x++)
          to[x] = d ? weight * right[x] / d[x] : constant * right[x];
      }
  }
  return GAB_OK;
}

void gab_elliptic_residual(gab_elliptic *elliptic, elliptic_level *level)
{
  on_all(elliptic, level, RESIDUAL, 1);
}

void gab_elliptic_apply(gab_elliptic *elliptic, elliptic_level *level) { on_all(elliptic, level, APPLY, 1); }

gab_status gab_elliptic_largest(gab_elliptic *elliptic, elliptic_field which, double *largest)
{
  const ptrdiff_t blocks = (ptrdiff_t)gab_forest_block_count(elliptic->forest);
  double most = 0;
#pragma omp parallel for schedule(dynamic) reduction(max : most)
  for (ptrdiff_t i = 0; i < blocks; i++) {
    const gab_field *field = gab_elliptic_piece(elliptic, &elliptic->levels[0], i, which);
    for (int32_t z = 0; z < field->shape.cells[2]; z++)
      for (int32_t y = 0; y < field->shape.cells[1]; y++) {
        const double *row = (const double *)field->data + gab_field_index(&field->map, 0, y, z, 0);
        for (int32_t x = 0; x < field->shape.cells[0]; x++) {
          const double found = isnan(row[x]) ? (double)INFINITY : fabs(row[x]);
          most = found > most ? found : most;
        }
      }
  }
  GAB_TRY(gab_world_max_f64(gab_forest_world(elliptic->forest), &most, 1));
  *largest = most;
  return GAB_OK;
}

/* ---------------------------------------------------------------- between levels */

/* Cells of the coarse level that a piece of the fine one covers. */
typedef struct cover {
  int32_t cells[3]; /* how many */
  int32_t first[3]; /* in the coarse field */
  int ratio[3];
} cover;

static cover cover_of(const gab_elliptic *elliptic, const elliptic_level *fine, const elliptic_level *coarse,
                      ptrdiff_t piece)
{
  cover made = {.cells = {1, 1, 1}, .ratio = {1, 1, 1}};
  const gab_field *u = gab_elliptic_piece(elliptic, fine, piece, FIELD_U);
  const int ratio =
      gab_elliptic_width(elliptic, coarse, piece) > gab_elliptic_width(elliptic, fine, piece) ? 2 : 1;
  int32_t first[3];
  gab_elliptic_first_cell(elliptic, fine, piece, first);
  for (int axis = 0; axis < elliptic->dimension; axis++) {
    made.ratio[axis] = ratio;
    made.cells[axis] = u->shape.cells[axis] / ratio;
    made.first[axis] = fine->is_whole == coarse->is_whole ? 0 : first[axis] / ratio;
  }
  return made;
}

/* Summed in pairs. @param[in] from  the residual at the lowest child */
static double mean_of_children(const double *from, const gab_field_map *map, const cover *over)
{
  const ptrdiff_t y = map->stride[1], z = map->stride[2];
  if (over->ratio[0] == 1) return from[0];
  const double low = (from[0] + from[1]) + (from[y] + from[y + 1]);
  if (over->ratio[2] == 1) return low / 4;
  return (low + ((from[z] + from[z + 1]) + (from[z + y] + from[z + y + 1]))) / 8;
}

static void restrict_piece(const gab_elliptic *elliptic, const elliptic_level *fine,
                           const elliptic_level *coarse, ptrdiff_t piece)
{
  const cover over = cover_of(elliptic, fine, coarse, piece);
  const gab_field *rest = gab_elliptic_piece(elliptic, fine, piece, FIELD_NEXT);
  const bool gathers = coarse->is_whole && !fine->is_whole;
  gab_field *f = gathers ? NULL : gab_elliptic_piece(elliptic, coarse, piece, FIELD_F);
  for (int32_t z = 0; z < over.cells[2]; z++)
    for (int32_t y = 0; y < over.cells[1]; y++) {
      const double *from = (const double *)rest->data +
                           gab_field_index(&rest->map, 0, y * over.ratio[1], z * over.ratio[2], 0);
      const size_t at =
          gathers ? ((size_t)(over.first[2] + z) * (size_t)coarse->cells[1] + (size_t)(over.first[1] + y)) *
                            (size_t)coarse->cells[0] +
                        (size_t)over.first[0]
                  : gab_field_index(&f->map, 0, y, z, 0);
      for (int32_t x = 0; x < over.cells[0]; x++) {
        const double mean = mean_of_children(from + x * over.ratio[0], &rest->map, &over);
        if (gathers) memcpy(&elliptic->gathered[at + (size_t)x], &mean, sizeof mean);
        else ((double *)f->data)[at + (size_t)x] = mean;
      }
    }
}

void gab_elliptic_restrict(gab_elliptic *elliptic, const elliptic_level *fine, const elliptic_level *coarse)
{
  const ptrdiff_t pieces = gab_elliptic_pieces(elliptic, fine);
  if (coarse->is_whole && !fine->is_whole)
    memset(elliptic->gathered, 0,
           (size_t)coarse->cells[0] * (size_t)coarse->cells[1] * (size_t)coarse->cells[2] * sizeof(uint64_t));
#pragma omp parallel for schedule(dynamic)
  for (ptrdiff_t i = 0; i < pieces; i++) restrict_piece(elliptic, fine, coarse, i);
}

/* A coarse cell hands its value and a quarter of the difference to the neighbour on the side of the child, or, to a V-cycle that has to be
 * symmetric, the value alone: the transpose of the mean, and right where a coefficient jumps. */
static void prolong_piece(const gab_elliptic *elliptic, const elliptic_level *fine,
                          const elliptic_level *coarse, ptrdiff_t piece)
{
  const cover over = cover_of(elliptic, fine, coarse, piece);
  gab_field *u = gab_elliptic_piece(elliptic, fine, piece, FIELD_U);
  const gab_field *from = gab_elliptic_piece(elliptic, coarse, coarse->is_whole ? 0 : piece, FIELD_U);
  const int32_t *cells = u->shape.cells;
  const bool is_same = over.ratio[0] == 1;
  const bool is_constant = is_same || elliptic->options.method == GAB_ELLIPTIC_CONJUGATE_MULTIGRID;
  for (int32_t z = 0; z < cells[2]; z++)
    for (int32_t y = 0; y < cells[1]; y++) {
      double *to = (double *)u->data + gab_field_index(&u->map, 0, y, z, 0);
      const double *row_from = (const double *)from->data +
                               gab_field_index(&from->map, over.first[0], over.first[1] + y / over.ratio[1],
                                               over.first[2] + z / over.ratio[2], 0);
      const ptrdiff_t beside_y = (y % 2 ? 1 : -1) * from->map.stride[1],
                      beside_z = elliptic->dimension == 3 ? (z % 2 ? 1 : -1) * from->map.stride[2] : 0;
      for (int32_t x = 0; x < cells[0]; x++) {
        const double *at = row_from + (is_same ? x : x / 2);
        if (is_constant) {
          to[x] += at[0];
          continue;
        }
        double slope = (at[x % 2 ? 1 : -1] - at[0]) + (at[beside_y] - at[0]);
        if (beside_z) slope += at[beside_z] - at[0];
        to[x] += at[0] + 0.25 * slope;
      }
    }
}

void gab_elliptic_prolong(gab_elliptic *elliptic, const elliptic_level *fine, const elliptic_level *coarse)
{
  const ptrdiff_t pieces = gab_elliptic_pieces(elliptic, fine);
#pragma omp parallel for schedule(dynamic)
  for (ptrdiff_t i = 0; i < pieces; i++) prolong_piece(elliptic, fine, coarse, i);
}
