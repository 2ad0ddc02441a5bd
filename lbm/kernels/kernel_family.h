/* SPDX-License-Identifier: Apache-2.0 */
/** @file kernel_family.h
 *  @brief Families of kernels, by name: sweeps over the cells of a flow, also user-defined ones.
 *
 *  A kernel reads the incoming populations of cells, collides, and writes the outgoing ones. Their places are given by
 *  distances, so one function serves two fields, fields in place and sparse blocks (which copy their cells into rows),
 *  on all levels, next to walls and bodies. A program registers a family before the configuration is declared, the
 *  same on all processes, and chooses it by `lbm.kernel` in the parameter file or gab_lbm_options.kernel:
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

/** Precision of stored populations, and of collisions. */
typedef enum gab_kernel_reals {
  GAB_REALS_DOUBLE,
  GAB_REALS_FLOAT,
  GAB_REALS_MIXED, /**< stored as float, computed in double, rounded once when stored */
  GAB_REALS_COUNT
} gab_kernel_reals;

/** Arguments of a kernel. The incoming population of cell `i` in direction q is `from[i + arriving[q]]`, the outgoing
 *  one `to[i + sent[q]]`. No place belongs to two cells, or to two directions of one. With one field these are the
 *  same places, the incoming one of q being that of the outgoing one against q: a cell must be read before it is
 *  written. */
typedef struct gab_sweep {
  const void *from; /**< float or double, as `reals` says */
  void *to;         /**< with one field the same */
  const ptrdiff_t *arriving, *sent;
  const gab_collision_rates *rates;
  const gab_lattice *lattice;
  const gab_collision *collision;
  gab_kernel_reals reals;
  bool forced; /**< false: rates->force is zero */
  /** runs up to there come next: their lines can be asked for ahead. NULL: those of the call alone */
  const gab_run *end;
} gab_sweep;

/** Sweeps the cells of some runs: reads and writes only their places. Called by all threads at once, each with other
 *  runs. Its bits follow from its arguments alone (compile with -ffp-contract=off); otherwise results differ with the
 *  number of processes or threads, and after a fault. */
typedef void (*gab_kernel_fn)(const gab_sweep *sweep, const gab_run *runs, size_t count);

/** Whether blocks store only their fluid cells; blocks next to another level never do. */
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
  /** 0: it gives the bits of the library's kernels, which is verified in some cells whenever a flow is created with
   *  it; states are then interchangeable. Otherwise the revision of its own arithmetic, from 1, to be raised whenever
   *  the same parameters give other bits: part of every checkpoint, so that no run resumes from it with another
   *  kernel. */
  int revision;
} gab_kernel_family;

/** Adds a user-defined family to those that can be chosen by name. Before a configuration is declared, the same on
 *  all processes. @param[in] family  borrowed until the process ends
 *  @return ::GAB_ERR_ARGUMENT if the name is taken or invalid (1 to 40 letters are required), a member is missing, or
 *  the table is full */
gab_status gab_kernel_family_register(const gab_kernel_family *family);
/** The index-th that can be chosen, "auto", which chooses itself, first; NULL behind the last. Pure. */
const gab_kernel_family *gab_kernel_family_at(int index);
/** @param[in] name  NULL: the first. @return NULL with an error message that lists the names if there is none of that name */
const gab_kernel_family *gab_kernel_family_by_name(const char *name);

/** The library's own kernel for a sweep, the fast one if there is one for its collision: for families with additional
 *  work, or with kernels for some lattices and precisions only. */
void gab_kernel_sweep(const gab_sweep *sweep, const gab_run *runs, size_t count);

#ifdef __cplusplus
}
#endif
#endif
