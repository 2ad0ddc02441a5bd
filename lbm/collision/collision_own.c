/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of user-defined collisions, given as the function of one cell, and of all collisions on user-defined
 * lattices, which are known at run time. A cell reads and writes only its own places (lbm/step/storage_impl.h), so
 * one loop serves fields in place, sparse blocks and two fields. */
#include "lbm/kernels/lattice_list_impl.h"
#include "lbm/lbm_impl.h"

#define RUNS(stored, forced_name, is_forced)                                                                 \
  static void stored##_##forced_name(const gab_sweep *sweep, const gab_run *runs, size_t count)              \
  {                                                                                                          \
    const gab_lattice *lattice = sweep->lattice;                                                             \
    const gab_collision *model = sweep->collision;                                                           \
    void (*const collide)(const gab_lattice *, const gab_collision_rates *, bool, double *) =                \
        model->cell ? model->cell : model->kernels->cell;                                                    \
    double f[GAB_LATTICE_MAX_Q];                                                                             \
    for (size_t k = 0; k < count; k++)                                                                       \
      for (int32_t i = 0; i < runs[k].length; i++) {                                                         \
        const stored *from = (const stored *)sweep->from + runs[k].start + i;                                \
        stored *to = (stored *)sweep->to + runs[k].start + i;                                                \
        for (int q = 0; q < lattice->q; q++) f[q] = (double)from[sweep->arriving[q]];                        \
        collide(lattice, sweep->rates, is_forced, f);                                                        \
        for (int q = 0; q < lattice->q; q++) to[sweep->sent[q]] = (stored)f[q];                              \
      }                                                                                                      \
  }
RUNS(double, free, false)
RUNS(double, forced, true)
RUNS(float, free, false)
RUNS(float, forced, true)

/* In the order of gab_kernel_of(). Populations in float are collided in double, whether that is asked for or not. */
#define TWO(family, id, reals, stored, in_place)                                                             \
  {family "/" #id "/" reals "/own/free", stored##_free, in_place},                                           \
      {family "/" #id "/" reals "/own/forced", stored##_forced, in_place},
#define TABLE(part, family, id, in_place)                                                                    \
  static const gab_kernel part##_##id[GAB_KERNELS_PER_LATTICE] = {                                           \
      TWO(family, id, "double", double, in_place) TWO(family, id, "mixed", float, in_place)                  \
          TWO(family, id, "mixed", float, in_place)};
#define TABLES(id)                                                                                           \
  TABLE(in_place, "in_place", id, true)                                                                      \
  TABLE(sparse, "sparse", id, true)                                                                          \
  TABLE(reference, "reference", id, false)                                                                   \
  static const gab_kernel none_##id[GAB_KERNELS_PER_LATTICE] = {{0}};
GAB_LATTICES(TABLES)

#define IN_PLACE(id)  in_place_##id,
#define SPARSE(id)    sparse_##id,
#define NONE(id)      none_##id,
#define REFERENCE(id) reference_##id,
static const gab_kernel *const all_in_place[GAB_LATTICE_COUNT] = {GAB_LATTICES(IN_PLACE)};
static const gab_kernel *const all_sparse[GAB_LATTICE_COUNT] = {GAB_LATTICES(SPARSE)};
static const gab_kernel *const all_none[GAB_LATTICE_COUNT] = {GAB_LATTICES(NONE)};
static const gab_kernel *const all_reference[GAB_LATTICE_COUNT] = {GAB_LATTICES(REFERENCE)};

/* On lattices of programs: called after the lattice when they are found. */
#define TWO_OF_ANY(family, stored, in_place)                                                                 \
  {family, stored##_free, in_place}, {family, stored##_forced, in_place},
#define ANY(part, family, in_place)                                                                          \
  static const gab_kernel part##_any[GAB_KERNELS_PER_LATTICE] = {TWO_OF_ANY(                                 \
      family, double, in_place) TWO_OF_ANY(family, float, in_place) TWO_OF_ANY(family, float, in_place)};
ANY(in_place, "in_place", true)
ANY(sparse, "sparse", true)
ANY(reference, "reference", false)
static const gab_kernel none_any[GAB_KERNELS_PER_LATTICE] = {{0}};
const gab_kernel *const gab_kernels_of_any_lattice[GAB_FAMILY_COUNT] = {[GAB_FAMILY_IN_PLACE] = in_place_any,
                                                                        [GAB_FAMILY_SPARSE] = sparse_any,
                                                                        [GAB_FAMILY_VECTOR] = none_any,
                                                                        [GAB_FAMILY_REFERENCE] =
                                                                            reference_any};

const gab_collision_kernels gab_collision_kernels_of_cell = {.of = {[GAB_FAMILY_IN_PLACE] = all_in_place,
                                                                    [GAB_FAMILY_SPARSE] = all_sparse,
                                                                    [GAB_FAMILY_VECTOR] = all_none,
                                                                    [GAB_FAMILY_REFERENCE] = all_reference},
                                                             .of_any = gab_kernels_of_any_lattice};
