/* SPDX-License-Identifier: Apache-2.0 */
/* What run_lock.c and run_lock_owner.c share. Internal. */
#ifndef GABION_RESILIENCE_RUN_LOCK_IMPL_H
#define GABION_RESILIENCE_RUN_LOCK_IMPL_H

#include "resilience/run_folder/run_lock.h"
#include "core/base/buffer.h"

#include <sys/types.h>
#include <time.h>

enum {
  GAB_LOCK_BEAT = 5,     /* seconds between two signs of life */
  GAB_LOCK_SILENCE = 60, /* seconds without one after which an owner that cannot be looked at is dead */
  GAB_LOCK_WORD = 128
};

/* A process, so that another one which got its number later is not taken for it. */
typedef struct lock_process {
  long pid;         /* 0: none */
  uint64_t started; /* clock ticks since the machine was started */
} lock_process;

/* Who holds a lock, as it stands in the file. */
typedef struct lock_owner {
  char run[GAB_LOCK_WORD];     /* of one job */
  char launch[GAB_LOCK_WORD];  /* of one launcher, the same for all jobs that it starts; "": none */
  int attempt;                 /* of that launcher's, from 0 */
  char host[GAB_LOCK_WORD];    /* for people */
  char machine[GAB_LOCK_WORD]; /* boot and numbering of processes: within it process ids mean something */
  lock_process root, starter;  /* the starter: launcher or mpirun, if it is on the same machine */
  int processes;
  double since; /* 1970 */
} lock_owner;

/* Whether an owner lives. */
typedef enum lock_verdict {
  LOCK_LIVES,
  LOCK_DEAD,
  LOCK_BEFORE, /* an earlier attempt of the same run, by this launcher or one that it succeeds */
  LOCK_UNSEEN  /* it cannot be looked at from here: its signs of life have to tell */
} lock_verdict;

/* This process as an owner. */
void gab_lock_owner_self(const char *run, int processes, double since, lock_owner *owner);
/* Appends its line. */
gab_status gab_lock_owner_format(const lock_owner *owner, gab_buffer *text);
/* False if the text is none. */
bool gab_lock_owner_parse(const char *text, size_t length, lock_owner *owner);
lock_verdict gab_lock_owner_judge(const lock_owner *owner, const lock_owner *self);
/* "run 3f… (process 7 on node12, since 2026-11-22 06:33:55)" */
const char *gab_lock_owner_describe(const lock_owner *owner, char *text, size_t capacity);
/* A run's id, 16 hexadecimal digits made by chance. */
void gab_lock_make_id(char id[GAB_LOCK_WORD]);

/** Whether it is still this run's. Local and cheap: for every step. NULL: GAB_OK.
 *  @return ::GAB_ERR_ENDED on the root if somebody else took it over */
gab_status gab_run_lock_check(const gab_run_lock *lock);

/** After a repair of the world: a new root goes on giving signs of life. Local; to be called by all. NULL:
 * nothing. */
void gab_run_lock_follow(gab_run_lock *lock);

/** With the signs of life it is looked whether another part of the run has gone on (fence.h): a root that is cut off
 *  would else take the lock again when that part has ended and given it free. Local.
 *  @param[in] fence  borrowed until the next call; NULL: nobody looks. NULL for lock: nothing */
void gab_run_lock_set_fence(gab_run_lock *lock, const gab_fence *fence);

/** @return the id of the run: given by the launcher, else made by chance. Borrowed. */
const char *gab_run_lock_id(const gab_run_lock *lock);

#endif
