/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/papers/reinit2020/cg.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- the matrix */

/* Appends the row of cell (x, y, z), z counted over all processes. @return its sum, with which 1 everywhere
 * is the solution */
static double add_row(const cg *cg, int x, int y, int z, size_t *entries)
{
  const int n = cg->edge, height = cg->height, below = cg->first - 1; /* plane of ghosts */
  const size_t first = *entries;
  for (int k = z - 1; k <= z + 1; k++)
    for (int j = y - 1; j <= y + 1; j++)
      for (int i = x - 1; i <= x + 1; i++) {
        if (i < 0 || i >= n || j < 0 || j >= n || k < 0 || k >= height) continue;
        cg->column[*entries] = ((k - below) * n + j) * n + i;
        cg->value[(*entries)++] = i == x && j == y && k == z ? 27 : -1;
      }
  return 27 - (double)(*entries - first - 1);
}

static void make_matrix(cg *cg)
{
  const int n = cg->edge;
  size_t entries = 0, row = 0;
  for (int z = 0; z < cg->planes; z++)
    for (int y = 0; y < n; y++)
      for (int x = 0; x < n; x++) {
        cg->row[row] = entries;
        cg->b[row++] = add_row(cg, x, y, cg->first + z, &entries);
      }
  cg->row[row] = entries;
}

/* ---------------------------------------------------------------- vectors */

static double dot(const cg *cg, const double *a, const double *b)
{
  double all = 0, *sum = cg->sums;
  memset(sum, 0, (size_t)cg->height * sizeof *sum);
  for (size_t i = 0; i < cg->rows; i++) sum[(size_t)cg->first + i / cg->plane] += a[i] * b[i];
  MPI_Allreduce(MPI_IN_PLACE, sum, cg->height, MPI_DOUBLE, MPI_SUM,
                cg->comm); /* of one number each, and zeros */
  for (int z = 0; z < cg->height; z++) all += sum[z];
  return all;
}

static void exchange_ghosts(const cg *cg)
{
  const int count = (int)cg->plane;
  const int below = cg->rank > 0 ? cg->rank - 1 : MPI_PROC_NULL;
  const int above = cg->rank + 1 < cg->processes ? cg->rank + 1 : MPI_PROC_NULL;
  double *p = cg->p;
  proxy_swap(cg->comm, 0, p + cg->plane, count, below, p + cg->plane + cg->rows, count, above);
  proxy_swap(cg->comm, 1, p + cg->rows, count, above, p, count, below);
}

static void multiply(const cg *cg)
{
  for (size_t i = 0; i < cg->rows; i++) {
    double sum = 0;
    for (size_t k = cg->row[i]; k < cg->row[i + 1]; k++) sum += cg->value[k] * cg->p[cg->column[k]];
    cg->Ap[i] = sum;
  }
}

/* ---------------------------------------------------------------- the method */

static void *allocate(size_t count, size_t bytes)
{
  void *memory = calloc(count, bytes);
  if (!memory) MPI_Abort(MPI_COMM_WORLD, 1);
  return memory;
}

int cg_first_plane(int height, int rank, int processes) { return (int)((int64_t)height * rank / processes); }

void cg_begin(cg *cg, MPI_Comm comm, int edge)
{
  int processes;
  MPI_Comm_size(comm, &processes);
  cg_begin_planes(cg, comm, edge, edge * processes);
}

void cg_begin_planes(cg *cg, MPI_Comm comm, int edge, int height)
{
  cg_end(cg);
  cg->comm = comm;
  MPI_Comm_rank(comm, &cg->rank);
  MPI_Comm_size(comm, &cg->processes);
  cg->edge = edge;
  cg->height = height;
  cg->first = cg_first_plane(height, cg->rank, cg->processes);
  cg->planes = cg_first_plane(height, cg->rank + 1, cg->processes) - cg->first;
  cg->plane = (size_t)edge * (size_t)edge;
  cg->rows = cg->plane * (size_t)cg->planes;
  cg->sums = allocate((size_t)height, sizeof *cg->sums);
  cg->row = allocate(cg->rows + 1, sizeof *cg->row);
  cg->column = allocate(27 * cg->rows, sizeof *cg->column);
  cg->value = allocate(27 * cg->rows, sizeof *cg->value);
  cg->b = allocate(cg->rows, sizeof *cg->b);
  cg->Ap = allocate(cg->rows, sizeof *cg->Ap);
  cg->state_bytes = sizeof *cg->state + (3 * cg->rows + 2 * cg->plane) * sizeof(double);
  cg->state = allocate(1, cg->state_bytes);
  cg->x = cg->state->values; /* begins with 0 */
  cg->r = cg->x + cg->rows;
  cg->p = cg->r + cg->rows;
  make_matrix(cg);
  for (size_t i = 0; i < cg->rows; i++) cg->r[i] = cg->p[cg->plane + i] = cg->b[i];
  cg->state->rho = dot(cg, cg->r, cg->r);
}

void cg_iterate(cg *cg)
{
  double *p = cg->p + cg->plane;
  exchange_ghosts(cg);
  multiply(cg);
  const double alpha = cg->state->rho / dot(cg, p, cg->Ap);
  for (size_t i = 0; i < cg->rows; i++) cg->x[i] += alpha * p[i];
  for (size_t i = 0; i < cg->rows; i++) cg->r[i] -= alpha * cg->Ap[i];
  const double rho = dot(cg, cg->r, cg->r), beta = rho / cg->state->rho;
  for (size_t i = 0; i < cg->rows; i++) p[i] = cg->r[i] + beta * p[i];
  cg->state->rho = rho;
}

void cg_report(const cg *cg)
{
  double here = 0, error = 0;
  uint64_t hash = cg->rank == 0 ? proxy_hash(&cg->state->rho, 1, (uint64_t)cg->height) : 0;
  for (size_t i = 0; i < cg->rows; i++) here = fmax(here, fabs(cg->x[i] - 1));
  if (MPI_Reduce(&here, &error, 1, MPI_DOUBLE, MPI_MAX, 0, cg->comm) == MPI_SUCCESS && cg->rank == 0)
    printf("cg: residual %.6e, distance from the solution %.6e\n", sqrt(cg->state->rho), error);
  const double *const vectors[] = {cg->x, cg->r, cg->p + cg->plane};
  for (size_t z = 0; z < (size_t)cg->planes; z++)
    for (size_t k = 0; k < 3; k++)
      hash += proxy_hash(vectors[k] + z * cg->plane, cg->plane, 3 * ((uint64_t)cg->first + z) + k);
  proxy_checksum(cg->comm, "cg", hash);
}

void cg_end(cg *cg)
{
  free(cg->row);
  free(cg->column);
  free(cg->value);
  free(cg->b);
  free(cg->Ap);
  free(cg->sums);
  free(cg->state);
  *cg = (struct cg){.edge = 0};
}
