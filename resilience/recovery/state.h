/* SPDX-License-Identifier: Apache-2.0 */
/** @file state.h
 *  @brief Checkpoints of an ordinary MPI program, which names its state by address and size.
 *
 *  For programs with arrays and their own loop, without a forest or a time loop of this framework. With gab_reinit()
 *  they continue at full size after deaths, within the job. Checkpoints are those of Georgakoudis et al. 2020, table 2:
 *  in memory, by default the own copy and one at the next rank, or by any other scheme; and in files. They are those of
 *  resilience/checkpoint/checkpoint.h and resilience/disk/disk.h over a forest without blocks: double-buffered,
 *  committed by an agreement of all, each image verified by its hash.
 *
 *  @code
 *    static gab_status run(gab_state *state, int argc, char **argv)
 *    {
 *      MPI_Comm comm = gab_state_comm(state);           // instead of MPI_COMM_WORLD
 *      gab_step k = 0;
 *      set_up(&x, comm, argc, argv);                    // as at the very start, in every call
 *      GAB_TRY(gab_state_add(state, "x", x.values, x.bytes));
 *      GAB_TRY(gab_state_load(state, &k));              // leaves k and x unchanged if nothing was saved
 *      while (k < steps) {
 *        iterate(&x, comm);                             // return codes of MPI may be ignored
 *        GAB_TRY(gab_state_save(state, ++k));           // returns GAB_ERR_FAULT after a death
 *      }
 *      return GAB_OK;
 *    }
 *    int main(int argc, char **argv) { return gab_state_main(argc, argv, run); }
 *  @endcode
 *
 *  After a death, `iterate` computes with incomplete received data until the next call of this header or of
 *  gab_reinit_test(). It must neither crash on such data nor loop without end. MPI_Sendrecv() from MPI_PROC_NULL
 *  crashes then (a defect of Open MPI 5.0); MPI_Irecv() and MPI_Isend() do not.
 *
 *  Stability: stable.
 */
#ifndef GABION_RESILIENCE_STATE_H
#define GABION_RESILIENCE_STATE_H

#include "core/base/entity.h"
#include "resilience/schemes/placement.h"
#include "resilience/recovery/reinit.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gab_state gab_state;

/** Zero-initialise; every zero has a meaning. The same on all. */
typedef struct gab_state_options {
  gab_redundancy redundancy; /**< scheme NULL: ring, one copy at the next rank */
  const char *folder;        /**< of checkpoints in files (resilience/disk/disk.h); copied; NULL: none */
  gab_step file_every;       /**< interval of checkpoints in files, in steps; 0: all. One that is due
                          while the previous one is still being written is skipped */
  bool file_wait;            /**< gab_state_save() waits until the files are complete;
                       else they are written in the background */
} gab_state_options;

/** Reads options from the environment: GABION_STATE_SCHEME (a name, resilience/schemes/scheme.h),
 *  GABION_STATE_FOLDER, GABION_STATE_EVERY (steps), GABION_STATE_WAIT (0, 1). Local.
 *  @param[out] options  folder: borrowed from the environment
 *  @return ::GAB_ERR_INPUT naming the variable */
gab_status gab_state_options_read(gab_state_options *options);

/** Collective over all processes, spares included; before gab_reinit(). @param[in] options  NULL: as if zero
 *  @param[out] state  owned by the caller
 *  @return ::GAB_ERR_ARGUMENT if numbers of the redundancy are out of range; on all */
gab_status gab_state_create(gab_world *world, const gab_state_options *options, gab_state **state);
/** Abandons files that are still being written; call gab_state_finish() before. */
void gab_state_destroy(gab_state **state);

/** The communicator of active processes, ordered by rank without lost ones, for MPI calls of the program. Changes
 *  with each repair: query it in each call of the program. */
MPI_Comm gab_state_comm(const gab_state *state);
gab_world *gab_state_world(const gab_state *state);

/** Names a part of the state: `bytes` bytes at `memory`, of this process. The same names in the same order on all; all
 *  before the first save. A repeated name (in a further call of the program) replaces address and size; the size must
 *  match the loaded data. Local.
 *  @param[in] memory  borrowed until it is replaced @return ::GAB_ERR_ARGUMENT */
gab_status gab_state_add(gab_state *state, const char *name, void *memory, size_t bytes);
/** The same with callbacks: for data of variable size, data equal on all, or adoptable data. A repeated name
 *  replaces `user` and callbacks; the kind stays. @return ::GAB_ERR_ARGUMENT, also for an entity with separate
 *  buffers (create, restore or swap) */
gab_status gab_state_add_entity(gab_state *state, const gab_entity *entity);

/** Takes a checkpoint of the present state. Collective. @param[in] step of the state, which gab_state_load() returns
 *  @return ::GAB_ERR_FAULT after a fault: this checkpoint or the previous one is valid. Errors of files are reported
 *  in the log, not returned */
gab_status gab_state_save(gab_state *state, gab_step step);

/** Restores the newest saved state: from memory or, if there is none or too little is left,
 *  from files. All copies are complete again when it returns. If no process is left that
 *  took part in a save, memory counts as empty. Collective. @param[in,out] step of that
 *  state; without a saved state, neither step nor state changes, so the program sets up its
 *  initial state first in each call @return ::GAB_ERR_LOST on all if a saved state exists
 *  in neither memory nor files any more, or ranks are lost (gab_reinit_allow_shrinking())
 *  and not all parts can be adopted; ::GAB_ERR_INPUT if files are of another number of
 *  processes and cannot be adopted; ::GAB_ERR_CORRUPT if they have other parts;
 *  ::GAB_ERR_FAULT */
gab_status gab_state_load(gab_state *state, gab_step *step);

/** Waits until this process's part of the files of the last save is complete, if any. */
gab_status gab_state_finish(gab_state *state);

/** Cost for this process in seconds. */
typedef struct gab_state_times {
  uint64_t saves, loads;
  double save;  /**< in gab_state_save() */
  double files; /**< part of it: start of files, and waiting for them */
  double load;  /**< in gab_state_load(), new copies included */
  double away;  /**< gab_state_main(): from the return of the program with ::GAB_ERR_FAULT to its next call */
} gab_state_times;
gab_state_times gab_state_get_times(const gab_state *state);

/** A program, called by gab_reinit(), with its return values. */
typedef gab_status (*gab_state_program)(gab_state *state, int argc, char **argv);

/** The main() of such a program: world, state (gab_state_options_read()), gab_reinit(), a line about the cost
 *  in the log, report of the end to the launcher. Only `program` runs repeatedly. GABION_STATE_LOG=FILE:
 *  writes the log there too, with each save and its time. GABION_STATE_RESPAWN=1:
 *  gab_reinit_allow_respawning(). GABION_STATE_SHRINK=1: gab_reinit_allow_shrinking(), for programs of which
 *  all parts can be adopted.
 *  @return the exit code of the run, for main */
int gab_state_main(int argc, char **argv, gab_state_program program);
#define gab_state_main(...) GAB_WITH_VERSION(gab_state_main(__VA_ARGS__))

#ifdef __cplusplus
}
#endif
#endif
