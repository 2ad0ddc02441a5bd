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
  gab_step file_every; /**< those of steps that are multiples of this go to files, too; 0: all. One that is
                          due while the one before is still being written is left out */
  bool file_wait; /**< gab_state_save() returns when the files are complete; else they are written behind what
                       follows */
} gab_state_options;

/** Options of a run from its environment: GABION_STATE_SCHEME (a name, resilience/schemes/scheme.h),
 *  GABION_STATE_FOLDER, GABION_STATE_EVERY (steps), GABION_STATE_WAIT (0, 1). Local.
 *  @param[out] options  folder: borrowed from the environment
 *  @return ::GAB_ERR_INPUT naming the variable */
gab_status gab_state_options_read(gab_state_options *options);

/** Collective over all processes, spares included; before gab_reinit(). @param[in] options  NULL: as if zero
 *  @param[out] state  owned by the caller
 *  @return ::GAB_ERR_ARGUMENT if numbers of the redundancy are out of range; on all */
gab_status gab_state_create(gab_world *world, const gab_state_options *options, gab_state **state);
/** What is still being written to files is given up: gab_state_finish() comes before. */
void gab_state_destroy(gab_state **state);

/** The communicator of those that run a rank, for the program's own calls of MPI, in the order of ranks, less
 *  those that are gone. Changes with every repair: fetch it again in each call of the program. */
MPI_Comm gab_state_comm(const gab_state *state);
gab_world *gab_state_world(const gab_state *state);

/** Names a part of the state: `bytes` bytes at `memory`, of this process. The same names in the same order on
 *  all; all before the first save. A name given again (the program was called again) replaces address and
 *  size; the size has to be that of what is loaded. Local.
 *  @param[in] memory  borrowed until it is replaced @return ::GAB_ERR_ARGUMENT */
gab_status gab_state_add(gab_state *state, const char *name, void *memory, size_t bytes);
/** The same with callbacks: for what changes its size, is equal on all, or can be adopted. A name given again
 *  replaces `user` and callbacks; the kind stays.
 *  @return ::GAB_ERR_ARGUMENT, also if it has buffers of its own (create, restore or swap) */
gab_status gab_state_add_entity(gab_state *state, const gab_entity *entity);

/** Makes the present state the one to go back to. Collective.
 *  @param[in] step  of the state: what gab_state_load() tells @return ::GAB_ERR_FAULT if the world broke: this one
 *  or the one before is there. Failures to write files are reported in the log, not returned */
gab_status gab_state_save(gab_state *state, gab_step step);

/** Goes back to the newest saved state: from the memory of the processes; if there is none, or too little is
 *  left of it, from files. Before it returns everything has its copies again. If nobody is left who was there
 *  at a save, nothing was saved as far as memory goes. Collective.
 *  @param[in,out] step  of that state; where nothing was saved before, neither it nor the state is touched:
 *  so the program sets up its initial state first, in each call
 *  @return ::GAB_ERR_LOST on all if something was saved and neither memory nor files hold it any more, or
 *  ranks are gone (gab_reinit_allow_shrinking()) and not all parts per rank can be adopted; ::GAB_ERR_INPUT
 *  if what files hold is of another number of processes and cannot be adopted; ::GAB_ERR_CORRUPT if it is of
 *  other parts; ::GAB_ERR_FAULT */
gab_status gab_state_load(gab_state *state, gab_step *step);

/** Waits until the files of the last save are complete, as far as this process knows; there may be none. */
gab_status gab_state_finish(gab_state *state);

/** What it has cost this process, in seconds. */
typedef struct gab_state_times {
  uint64_t saves, loads;
  double save;  /**< in gab_state_save() */
  double files; /**< of that: beginning of files, and waiting for them */
  double load;  /**< in gab_state_load(), new copies included */
  double away;  /**< gab_state_main(): from the return of the program with ::GAB_ERR_FAULT to its next call */
} gab_state_times;
gab_state_times gab_state_get_times(const gab_state *state);

/** A program, called by gab_reinit(): see there for what it returns. */
typedef gab_status (*gab_state_program)(gab_state *state, int argc, char **argv);

/** All that main() of such a program is: world, state (gab_state_options_read()), gab_reinit(), one line in
 *  the log about what it cost, the end told to the launcher. Nothing of it but `program` runs twice.
 *  GABION_STATE_LOG=FILE: the log goes there, too, with every save and its seconds. GABION_STATE_RESPAWN=1:
 *  gab_reinit_allow_respawning(). GABION_STATE_SHRINK=1: gab_reinit_allow_shrinking(), for programs of which all parts can be
 *  adopted.
 *  @return the exit code of the run, for main */
int gab_state_main(int argc, char **argv, gab_state_program program);
#define gab_state_main(...) GAB_WITH_VERSION(gab_state_main(__VA_ARGS__))

#ifdef __cplusplus
}
#endif
#endif
