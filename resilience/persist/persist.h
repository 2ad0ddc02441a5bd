/* SPDX-License-Identifier: Apache-2.0 */
/** @file persist.h
 *  @brief Persistent communicators: messages sent through them are stored, and received again after a fault.
 *
 *  After Gracia, Sethi, Struckmann and Keller, Towards Data Persistency for Fault-tolerance Using MPI Semantics (INFOCOMP
 *  2015). A separate library, libgabion-persist, between a program and its MPI (profiling interface, PMPI); it is
 *  independent of simulations and does not change other communicators. User's page: doc/persist.md (durability, results of
 *  a receive after a fault, keys of `info`, supported calls).
 *
 *  @code
 *    MPIX_Comm_persist(comm, "Run A, June 6 2015", MPI_INFO_NULL, &persistent);
 *    if (gab_failure())
 *      MPI_Recv(&value, 1, MPI_INT, rank, TAG, persistent, MPI_STATUS_IGNORE);   // the stored message
 *    ...
 *    MPI_Send(&value, 1, MPI_INT, rank, TAG, persistent);                        // stored, not delivered
 *    gab_persist_commit(persistent);                                             // durable from here on
 *  @endcode
 *
 *  All functions return codes of MPI, and call the error handler of the persistent communicator (which it has from `comm`)
 *  as calls of MPI do; a death calls the error handler of `comm`, if the persistent one still has the same handler. Only
 *  one thread at a time may call functions on persistent communicators, and no other thread may call MPI while one is
 *  opened or freed.
 *
 *  Stability: stable.
 */
#ifndef GABION_RESILIENCE_PERSIST_PERSIST_H
#define GABION_RESILIENCE_PERSIST_PERSIST_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Reason of a failed call. Calls return codes of MPI if there is one (MPI_ERR_TRUNCATE, a death), else of additional error
 * classes with a text (MPI_Error_string). */
typedef enum gab_persist_error {
  GAB_PERSIST_OK = 0,
  GAB_PERSIST_NOTHING,     /**< no stored message matches the receive */
  GAB_PERSIST_UNSUPPORTED, /**< call not supported on a persistent communicator */
  GAB_PERSIST_REFUSED, /**< wrong arguments or info, another number of processes, or settings other than the
                        * stored ones */
  GAB_PERSIST_IN_USE,  /**< the key is in use by another job or by this process */
  GAB_PERSIST_LOST,    /**< no copy of a state is left, or required messages were overwritten */
  GAB_PERSIST_DAMAGED, /**< stored data does not match its checksum */
  GAB_PERSIST_IO,      /**< a file could not be written or read */
  GAB_PERSIST_ERRORS,
  GAB_PERSIST_OTHER = GAB_PERSIST_ERRORS /**< not a code of this library */
} gab_persist_error;

/** Makes a persistent communicator of the processes of `comm`, in its order, and opens the state stored under `key`, if
 * any. Collective over `comm`, an intracommunicator. The same call is used at the first start, in a restarted job, and
 * after a death in the job: then survivors and replacement processes call it with the repaired communicator, of the same
 * size and order, and the same key. The old handle of a survivor becomes invalid. Takes O(processes) of memory temporarily.
 * @param[in] key  name of the run, 1 to 200 characters; locked while in use @param[in] info  see doc/persist.md;
 * MPI_INFO_NULL: files in the present folder, one value per signature, each process its own epochs @param[out] persistent
 * to be freed by MPI_Comm_free(), which keeps the stored state, or gab_persist_discard(); MPI_COMM_NULL on failure @return
 * the same kind of failure on all: REFUSED, IN_USE, LOST, DAMAGED, IO; or the code of a death */
int MPIX_Comm_persist(MPI_Comm comm, const char *key, MPI_Info info, MPI_Comm *persistent);

/** Whether this process resumes from a stored state: 1 after a call of MPIX_Comm_persist() that found a commit of this
 * process (info persist_commit = together: of all), until that communicator is freed. 0 on a survivor, which keeps its
 * state, and if nothing was committed. Local. */
int gab_failure(void);

/** Makes all messages that this process has sent through the communicator since its last commit durable, as one epoch:
 * after a fault either all of them are stored or none. Local; collective with persist_commit = together. @return
 * MPI_SUCCESS: durable. IO, LOST, a death: unknown; nothing is discarded, and the call may be repeated (after a death:
 * through the communicator from a new MPIX_Comm_persist()) */
int gab_persist_commit(MPI_Comm persistent);

/** Ends the reading of restored data: collective operations store again from here on. gab_persist_commit() and a send imply
 * it. Local. */
int gab_persist_recovered(MPI_Comm persistent);

/** Number of the last epoch that this process has committed (0: none), and number of messages of a source to this process
 * that can be received again. Local. @param[out] epoch,waiting  either may be NULL @param[in] source,tag  wildcards allowed
 */
int gab_persist_status(MPI_Comm persistent, long long *epoch, int source, int tag, long long *waiting);

/** Removes all data stored under the key, and frees the communicator: the run is complete. Collective. @param[in,out]
 * persistent  MPI_COMM_NULL afterwards */
int gab_persist_discard(MPI_Comm *persistent);

/** Kind of failure of a code. Local. */
gab_persist_error gab_persist_error_of(int code);
/** Text of the last failure; "" if there was none. Local; valid until the next one. */
const char *gab_persist_message(void);

#ifdef __cplusplus
}
#endif
#endif
