/* SPDX-License-Identifier: Apache-2.0 */
/** @file shared_file.h
 *  @brief Read-only data that the processes of a node share: one process makes it, all map the same pages.
 *
 *  Data is found by a key that holds all that it depends on, so any process can make it: the first one that asks does, the others wait.
 *  Its file is in a private folder of this user in /dev/shm (core/system/own_folder.h) and has a lock (flock), which ends with a process:
 *  exclusive while it is made, shared while it is mapped. So the data of a maker that has died is made again by the next process. The
 *  last process that closes a file removes it, the next one that opens any file removes what killed processes have left. No
 *  process needs another one that lives: where anything fails, each makes the data for itself.
 *
 *  The folder is /dev/shm/gabion-shared-USER, or what GABION_SHARED_FILES names; an empty name turns sharing off.
 *
 *  Depends on own_folder.h only: gabion-launch compiles it in.
 *
 *  Stability: internal.
 */
#ifndef GABION_CORE_SHARED_FILE_H
#define GABION_CORE_SHARED_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What gab_shared_file_open() found. */
typedef enum gab_shared_file_state {
  GAB_SHARED_FILE_NONE,  /**< nothing can be shared: make the data in memory */
  GAB_SHARED_FILE_READY, /**< the data is in `bytes` */
  GAB_SHARED_FILE_TO_MAKE /**< this process makes it: gab_shared_file_reserve() and gab_shared_file_publish(), or close */
} gab_shared_file_state;

/** A file. Zero-initialise; closed by gab_shared_file_close() in any state. */
typedef struct gab_shared_file {
  const void *bytes; /**< the data, aligned to 64 bytes; NULL: none */
  size_t count;
  void *mapped; /**< the whole file */
  size_t mapped_bytes;
  int descriptor, folder; /**< valid while `name` is not empty */
  char name[24];
} gab_shared_file;

/** Opens data by its key. Waits while another process makes it. Local. @param[in] seconds  longest wait; then NONE */
gab_shared_file_state gab_shared_file_open(gab_shared_file *file, uint64_t key, double seconds);
/** Space for data, to be written before gab_shared_file_publish(). Local. @return NULL if the folder has not that much, or a limit of the
 *  process forbids it; the file is then closed */
void *gab_shared_file_reserve(gab_shared_file *file, size_t count);
/** Others may use the data; `bytes` has it. Local. */
void gab_shared_file_publish(gab_shared_file *file);
/** Unmaps. Removes the file if it is not ready, or if no other process has it. Local. */
void gab_shared_file_close(gab_shared_file *file);

/** Removes the files that no process has, and the folder if it is empty then. Local. @return their number */
int gab_shared_file_sweep(void);

#ifdef __cplusplus
}
#endif

#endif
