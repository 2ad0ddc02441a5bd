/** @file stencil.h
 *  @brief A physics of fields on cells, explicit in time: a program gives the equation, and has a `gabion` of its own.
 *
 *  The state is some numbers in each cell of a uniform grid whose opposite sides meet. A program says what a cell holds at
 *  first, and how a block follows from itself and one layer of cells around it:
 *  @code
 *    static void diffuse(const stencil_block *at)
 *    {
 *      const double k = gab_config_real(at->config, "heat.k");
 *      ... gab_field_set(at->next, x, y, z, 0, here + k * (around - 6 * here)); for all cells
 *    }
 *    static const stencil heat = {.name = "heat", .title = "conduction of heat", ..., .update = diffuse};
 *    int main(int argc, char **argv) { return stencil_main(argc, argv, &heat); }
 *  @endcode
 *  From that come run, check, plan, help, info and status, strict parameter files with a section `heat`, the steps with their
 *  exchange of ghosts on all processes and threads, fields, slices, a table of sums, checkpoints in memory and on disk, and
 *  drills. apps/tutorial/heat.c and gray_scott.c are whole ones.
 *
 *  Tier: internal.
 */
#ifndef GABION_APPS_DRIVER_STENCIL_H
#define GABION_APPS_DRIVER_STENCIL_H

#include "apps/driver/case/tables.h"
#include "apps/driver/physics.h"
#include "field/field.h"

enum { STENCIL_MOST_FIELDS = 8, STENCIL_MOST_SUMS = 8 };

/** A block whose step is computed. */
typedef struct stencil_block {
  const gab_config *config;
  const gab_forest *forest; /**< for gab_block_cell_centre() */
  const gab_block *block;
  gab_step step;        /**< that is computed, from 0 */
  int32_t cells[3];     /**< of the block; z is 1 in 2D */
  const gab_field *now; /**< component i is field i; one layer of ghosts around it, in 2D none in z */
  gab_field *next;      /**< all cells are to be set, ghosts are not */
} stencil_block;

typedef struct stencil {
  const char *name;           /**< "heat": of its section of parameter files, and of its table of sums */
  const char *title;          /**< with its article, for messages: "a heated plate" */
  int dimension;              /**< 2 or 3, others are refused; 0: it computes both */
  const gab_config_key *keys; /**< of the section; one more, `every', says how often sums are written */
  size_t key_count;
  const char *const *fields; /**< their names, NULL-terminated, at most #STENCIL_MOST_FIELDS */
  /** What a cell holds at first. Pure. NULL: zeros. @param[in] centre  of the cell @param[out] values  zeros; of all fields */
  void (*start)(const gab_config *config, const double centre[3], double *values);
  /** Computes `next` of a block. Pure; called by several threads, each for a block of its own. */
  void (*update)(const stencil_block *at);
  bool diagonals; /**< it needs ghosts beyond edges and corners, too */
  /** Columns of NAME.csv, NULL-terminated, at most #STENCIL_MOST_SUMS: sums over all cells, of which no digit depends on the
   *  number of processes. NULL: no such table. */
  const char *const *sums;
  /** What a cell adds to them. Pure. NULL: the values of its first fields, in their order. */
  void (*add)(const double *values, double *terms);
} stencil;

/** The whole program, for main(). One stencil in a program. @param[in] which  borrowed for ever @return its exit code */
int stencil_main(int argc, char **argv, const stencil *which);

#endif
