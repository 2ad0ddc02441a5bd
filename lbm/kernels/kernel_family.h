/* SPDX-License-Identifier: Apache-2.0 */
/** @file kernel_family.h
 *  @brief Families of kernels: how the cells of a flow are swept, by name; a program's own included.
 *
 *  A kernel takes what arrives in each of some cells, collides, and leaves there what the cell sends. Which numbers these are is
 *  said by distances, so one function serves two fields, fields in place and sparse blocks (which copy their cells into rows), on
 *  all levels, beside walls and bodies. A program registers one of its own before the configuration is declared, the same on all
 *  processes, and chooses it by `lbm.kernel` in the parameter file or gab_lbm_options.kernel:
 *  @code
 *    static void sweep(const gab_sweep *at, const gab_run *runs, size_t count)
 *    {
 *      for (size_t k = 0; k < count; k++)
 *        for (int32_t i = 0; i < runs[k].length; i++) {
 *          const double *from = (const double *)at->from + runs[k].start + i;
 *          double *to = (double *)at->to + runs[k].start + i, f[GAB_LATTICE_MAX_Q];
 *          for (int q = 0; q < at->lattice->q; q++) f[q] = from[at->arriving[q]];
 *          ...                                                  collides f[], deviations from the weights
 *          for (int q = 0; q < at->lattice->q; q++) to[at->sent[q]] = f[q];
 *        }
 *    }
 *    static const gab_kernel_family own = {.name = "own", .doc = "my own", .fields = 1, .sweep = sweep, .refuses = ...};
 *    GAB_TRY(gab_kernel_family_register(&own));     lbm: {kernel: own}
 *  @endcode
 *
 *  Stability: extender.
 */
#ifndef GABION_LBM_KERNEL_FAMILY_H
#define GABION_LBM_KERNEL_FAMILY_H

#include "lbm/collision/collision.h"
#include "lbm/kernels/lattice.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Fluid cells that lie side by side along x. */
typedef struct gab_run {
  uint32_t start; /**< index of the first cell in component 0 */
  int32_t length;
  int32_t x, y,
      z; /**< of the first cell in its block, of a block that stores all cells; else without meaning */
} gab_run;

/** What populations are stored as and what collisions are computed in. */
typedef enum gab_kernel_reals {
  GAB_REALS_DOUBLE,
  GAB_REALS_FLOAT,
  GAB_REALS_MIXED, /**< stored as float, computed in double, rounded once when stored */
  GAB_REALS_COUNT
} gab_kernel_reals;

/** What a kernel works on. What arrives in cell `i` with direction q is `from[i + arriving[q]]`, what it sends goes to
 *  `to[i + sent[q]]`. No place belongs to two cells, or to two directions of one. With one field these are the same places, what
 *  arrives with q being where what is sent against q goes: a cell has to be read before it is written. */
typedef struct gab_sweep {
  const void *from; /**< float or double, as `reals` says */
  void *to;         /**< with one field the same */
  const ptrdiff_t *arriving, *sent;
  const gab_collision_rates *rates;
  const gab_lattice *lattice;
  const gab_collision *collision;
  gab_kernel_reals reals;
  bool forced; /**< false: rates->force is zero */
  const gab_run *
      end; /**< runs up to there come next: their lines can be asked for ahead. NULL: those of the call alone */
} gab_sweep;

/** Sweeps the cells of some runs: reads and writes their places and no others. Called by all threads at once, each with runs of
 *  its own; its bits follow from its arguments alone (compile with -ffp-contract=off), else runs on other numbers of processes or
 *  threads, and after a fault, are not the same. */
typedef void (*gab_kernel_fn)(const gab_sweep *sweep, const gab_run *runs, size_t count);

/** Whether blocks store their fluid cells alone; those beside another level never do. */
typedef enum gab_kernel_blocks {
  GAB_KERNEL_BLOCKS_DENSE = 0, /**< they store all cells */
  GAB_KERNEL_BLOCKS_BY_SHARE,  /**< those with few fluid cells */
  GAB_KERNEL_BLOCKS_SPARSE     /**< all */
} gab_kernel_blocks;

/** That there can be, with the library's. */
enum { GAB_MOST_KERNEL_FAMILIES = 16 };

typedef struct gab_kernel_family {
  const char *name;         /**< "in_place": gab_lbm_options.kernel, lbm.kernel in parameter files */
  const char *doc;          /**< a clause */
  int fields;               /**< of populations per block: 1 or 2 */
  gab_kernel_blocks blocks; /**< with two fields: dense */
  gab_kernel_fn sweep;      /**< NULL: the library's, one for each lattice, collision and precision */
  /** @return why it has no kernel for these, a clause; NULL: it has. Pure. NULL: it has kernels for all */
  const char *(*refuses)(const gab_collision *collision, const gab_lattice *lattice, gab_kernel_reals reals,
                         bool forced);
  /** 0: it gives the bits of the library's kernels, which is looked at in some cells whenever a flow is made with it: states
   *  go from the one to the other. Else of its own arithmetic, from 1, to be raised whenever the same parameters give other bits:
   *  part of what a checkpoint records, so that no run goes on from it with another kernel. */
  int revision;
} gab_kernel_family;

/** Adds a family of the program's to those that can be chosen by name. Before a configuration is declared, the same on all
 *  processes. @param[in] family  borrowed for ever
 *  @return ::GAB_ERR_ARGUMENT if the name is taken or cannot be one (1 to 40 letters), something is missing, or the table is full */
gab_status gab_kernel_family_register(const gab_kernel_family *family);
/** The index-th that can be chosen, "auto", which chooses itself, first; NULL behind the last. Pure. */
const gab_kernel_family *gab_kernel_family_at(int index);
/** @param[in] name  NULL: the first. @return NULL with an error message that lists the names if there is none of that name */
const gab_kernel_family *gab_kernel_family_by_name(const char *name);

/** The library's own kernel for a sweep, the fast one if there is one for its collision: for families that do something beside,
 *  or have kernels for some lattices and precisions only. */
void gab_kernel_sweep(const gab_sweep *sweep, const gab_run *runs, size_t count);

#ifdef __cplusplus
}
#endif
#endif
