/* SPDX-License-Identifier: Apache-2.0 */
/** @file persist.h
 *  @brief Communicators that remember: what is sent through them is stored, and received again after a fault.
 *
 *  After Gracia, Sethi, Struckmann and Keller, Towards Data Persistency for Fault-tolerance Using MPI Semantics (INFOCOMP
 *  2015). A library of its own, libgabion-persist: it stands between a program and its MPI (profiling interface, PMPI),
 *  needs nothing of a simulation, and leaves other communicators as they are. doc/persist.md is the user's page: what
 *  is durable when, what a receive returns after a fault, the keys of `info`, the calls that are supported.
 *
 *  @code
 *    MPIX_Comm_persist(comm, "Run A, June 6 2015", MPI_INFO_NULL, &persistent);
 *    if (gab_failure())
 *      MPI_Recv(&value, 1, MPI_INT, rank, TAG, persistent, MPI_STATUS_IGNORE);   // what was stored
 *    ...
 *    MPI_Send(&value, 1, MPI_INT, rank, TAG, persistent);                        // stored, not delivered
 *    gab_persist_commit(persistent);                                             // from here on it outlives us
 *  @endcode
 *
 *  All functions return codes of MPI, and call the error handler of the persistent communicator (which it has from `comm`)
 *  as calls of MPI do; a death goes to the error handler of `comm`, if it still is that of the persistent one. One
 *  thread may be in a call on persistent communicators at a time, and none elsewhere in MPI while one is opened or freed.
 *
 *  Stability: stable.
 */
#ifndef GABION_RESILIENCE_PERSIST_PERSIST_H
#define GABION_RESILIENCE_PERSIST_PERSIST_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Why a call failed. The codes that calls return are those of MPI where MPI has one (MPI_ERR_TRUNCATE, a death), else
 *  of error classes of their own, with a text (MPI_Error_string). */
typedef enum gab_persist_error {
  GAB_PERSIST_OK = 0,
  GAB_PERSIST_NOTHING,     /**< nothing is stored that would match the receive */
  GAB_PERSIST_UNSUPPORTED, /**< no such call on a persistent communicator */
  GAB_PERSIST_REFUSED, /**< wrong arguments or info, another number of processes, other settings than stored */
  GAB_PERSIST_IN_USE,  /**< the key is in use: by another job, or by this process */
  GAB_PERSIST_LOST,    /**< no copy of a state is left, or messages that are needed were overwritten */
  GAB_PERSIST_DAMAGED, /**< what is stored does not match its checksum */
  GAB_PERSIST_IO,      /**< a file could not be written or read */
  GAB_PERSIST_ERRORS,
  GAB_PERSIST_OTHER = GAB_PERSIST_ERRORS /**< a code that is none of this library */
} gab_persist_error;

/** Makes a persistent communicator of the processes of `comm`, in its order; opens what is stored under `key`, if
 *  there is anything. Collective over `comm`, an intracommunicator. The same call serves the first start, a job that is
 *  started again, and a death in the job: then the survivors, and who takes the place of the dead, call it with the
 *  repaired communicator, of the same size and order, and the same key. The old handle of a survivor becomes invalid.
 *  Takes O(processes) of memory while it runs.
 *  @param[in] key  name of the run, 1 to 200 characters; locked while in use @param[in] info  see doc/persist.md;
 *  MPI_INFO_NULL: files in the present folder, one value per signature, each process its own epochs
 *  @param[out] persistent  to be freed by MPI_Comm_free(), which keeps what is stored, or gab_persist_discard();
 *  MPI_COMM_NULL on failure
 *  @return the same kind of failure on all: REFUSED, IN_USE, LOST, DAMAGED, IO; or what a death gives */
int MPIX_Comm_persist(MPI_Comm comm, const char *key, MPI_Info info, MPI_Comm *persistent);

/** Whether this process goes on from what was stored: 1 from a call of MPIX_Comm_persist() that found a commit of this
 *  process (info persist_commit = together: of all), until that communicator is freed. 0 on a survivor that keeps its state,
 *  and where nothing had been committed. Local. */
int gab_failure(void);

/** Makes all that this process has sent through the communicator since its last commit durable, as one epoch: after a fault
 *  either all of it is there or nothing. Local; collective if info says persist_commit = together.
 *  @return MPI_SUCCESS: it is durable. IO, LOST, a death: it is not known to be, nothing is forgotten, and the call may be
 *  made again (after a death: through the communicator that MPIX_Comm_persist() then gives) */
int gab_persist_commit(MPI_Comm persistent);

/** Ends the reading of what was restored: collective operations store again from here on. gab_persist_commit() and a
 *  send imply it. Local. */
int gab_persist_recovered(MPI_Comm persistent);

/** Number of the last epoch that this process has committed (0: none), and how many messages of a source to this process wait
 *  to be received again. Local. @param[out] epoch,waiting  either may be NULL @param[in] source,tag  wildcards allowed */
int gab_persist_status(MPI_Comm persistent, long long *epoch, int source, int tag, long long *waiting);

/** Removes all that is stored under the key, and frees the communicator: the run is over. Collective.
 *  @param[in,out] persistent  MPI_COMM_NULL afterwards */
int gab_persist_discard(MPI_Comm *persistent);

/** What kind of failure a code is. Local. */
gab_persist_error gab_persist_error_of(int code);
/** What the last failure was, in words; "" if there was none. Local; valid until the next one. */
const char *gab_persist_message(void);

#ifdef __cplusplus
}
#endif
#endif
