/* SPDX-License-Identifier: Apache-2.0 */
/* The equation of poisson_gabion.c solved by PFMG of hypre, one process: poisson_hypre N. */
#include <HYPRE_struct_ls.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void set_matrix(HYPRE_StructMatrix matrix, int n, double *values)
{
  int low[3] = {0, 0, 0}, high[3] = {n - 1, n - 1, n - 1}, entries[7] = {0, 1, 2, 3, 4, 5, 6};
  const double scale = (double)n * n;
  double *row = values;
  for (int z = 0; z < n; z++)
    for (int y = 0; y < n; y++)
      for (int x = 0; x < n; x++, row += 7) {
        const int at[3] = {x, y, z};
        row[0] = 6 * scale;
        for (int axis = 0; axis < 3; axis++) {
          row[1 + 2 * axis] = at[axis] > 0 ? -scale : 0;
          row[2 + 2 * axis] = at[axis] < n - 1 ? -scale : 0;
          row[0] += scale * ((at[axis] == 0) + (at[axis] == n - 1));
        }
      }
  HYPRE_StructMatrixSetBoxValues(matrix, low, high, 7, entries, values);
}

static void set_right(HYPRE_StructVector right, int n, double *values)
{
  int low[3] = {0, 0, 0}, high[3] = {n - 1, n - 1, n - 1};
  const double pi = acos(-1), h = 1.0 / n;
  double *cell = values;
  for (int z = 0; z < n; z++)
    for (int y = 0; y < n; y++)
      for (int x = 0; x < n; x++)
        *cell++ = 3 * pi * pi * sin(pi * (x + 0.5) * h) * sin(pi * (y + 0.5) * h) * sin(pi * (z + 0.5) * h) +
                  ((x * 7 + y * 13 + z * 29) % 17 - 8);
  HYPRE_StructVectorSetBoxValues(right, low, high, values);
}

static HYPRE_StructVector vector_on(HYPRE_StructGrid grid)
{
  HYPRE_StructVector made;
  HYPRE_StructVectorCreate(MPI_COMM_WORLD, grid, &made);
  HYPRE_StructVectorInitialize(made);
  return made;
}

int main(int argc, char **argv)
{
  const int n = argc > 1 ? atoi(argv[1]) : 64;
  int low[3] = {0, 0, 0}, high[3] = {n - 1, n - 1, n - 1}, cycles;
  int offsets[7][3] = {{0, 0, 0}, {-1, 0, 0}, {1, 0, 0}, {0, -1, 0}, {0, 1, 0}, {0, 0, -1}, {0, 0, 1}};
  HYPRE_StructGrid grid;
  HYPRE_StructStencil stencil;
  HYPRE_StructMatrix matrix;
  HYPRE_StructSolver solver;
  MPI_Init(&argc, &argv);
  HYPRE_Init();
  double *values = malloc((size_t)n * (size_t)n * (size_t)n * 7 * sizeof *values);
  if (!values) return 1;
  HYPRE_StructGridCreate(MPI_COMM_WORLD, 3, &grid);
  HYPRE_StructGridSetExtents(grid, low, high);
  HYPRE_StructGridAssemble(grid);
  HYPRE_StructStencilCreate(3, 7, &stencil);
  for (int i = 0; i < 7; i++) HYPRE_StructStencilSetElement(stencil, i, offsets[i]);
  HYPRE_StructMatrixCreate(MPI_COMM_WORLD, grid, stencil, &matrix);
  HYPRE_StructMatrixInitialize(matrix);
  set_matrix(matrix, n, values);
  HYPRE_StructMatrixAssemble(matrix);
  HYPRE_StructVector right = vector_on(grid), solution = vector_on(grid);
  set_right(right, n, values);
  HYPRE_StructVectorAssemble(right);
  HYPRE_StructVectorAssemble(solution);
  HYPRE_StructPFMGCreate(MPI_COMM_WORLD, &solver);
  HYPRE_StructPFMGSetTol(solver, 1e-10);
  HYPRE_StructPFMGSetMaxIter(solver, 200);
  HYPRE_StructPFMGSetRelaxType(solver, 3); /* red-black Gauss-Seidel */
  const double start = MPI_Wtime();
  HYPRE_StructPFMGSetup(solver, matrix, right, solution);
  const double ready = MPI_Wtime();
  HYPRE_StructPFMGSolve(solver, matrix, right, solution);
  HYPRE_StructPFMGGetNumIterations(solver, &cycles);
  printf("hypre   %4d^3  %3d cycles  set-up %.3f s, solve %8.3f s\n", n, cycles, ready - start,
         MPI_Wtime() - ready);
  free(values);
  MPI_Finalize();
  return 0;
}
