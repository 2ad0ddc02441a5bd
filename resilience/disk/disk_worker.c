/* SPDX-License-Identifier: Apache-2.0 */
#include "resilience/disk/disk_impl.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

struct gab_worker {
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t come, gone; /* work has been submitted; a piece of work is done */
  gab_work *first, *last;
  bool busy, ending;
};

static void *work_on(void *user)
{
  gab_worker *worker = user;
#ifdef _OPENMP
  omp_set_num_threads(1); /* in libraries called by it: the cores compute steps */
#endif
  pthread_mutex_lock(&worker->lock);
  for (;;) {
    while (!worker->first && !worker->ending) pthread_cond_wait(&worker->come, &worker->lock);
    gab_work *work = worker->first;
    if (!work) break;
    worker->first = work->next;
    worker->busy = true;
    pthread_mutex_unlock(&worker->lock);
    work->run(work);
    pthread_mutex_lock(&worker->lock);
    work->pending = false;
    worker->busy = false;
    pthread_cond_broadcast(&worker->gone);
  }
  pthread_mutex_unlock(&worker->lock);
  return NULL;
}

gab_status gab_worker_create(gab_worker **worker)
{
  *worker = NULL;
  gab_worker *made;
  GAB_TRY(GAB_NEW(&made, GAB_MEMORY_OTHER));
  pthread_mutex_init(&made->lock, NULL);
  pthread_cond_init(&made->come, NULL);
  pthread_cond_init(&made->gone, NULL);
  /* Signals are handled by the computing thread. */
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int error = pthread_create(&made->thread, NULL, work_on, made);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (error) {
    gab_free(&made);
    GAB_FAIL(GAB_ERR_MEMORY, "cannot start the thread that writes checkpoints: %s", strerror(error));
  }
  *worker = made;
  return GAB_OK;
}

void gab_worker_destroy(gab_worker **worker)
{
  gab_worker *gone = *worker;
  if (!gone) return;
  pthread_mutex_lock(&gone->lock);
  gone->ending = true;
  pthread_cond_broadcast(&gone->come);
  pthread_mutex_unlock(&gone->lock);
  pthread_join(gone->thread, NULL);
  pthread_cond_destroy(&gone->come);
  pthread_cond_destroy(&gone->gone);
  pthread_mutex_destroy(&gone->lock);
  gab_free(worker);
}

void gab_worker_submit(gab_worker *worker, gab_work *work)
{
  pthread_mutex_lock(&worker->lock);
  work->next = NULL;
  work->pending = true;
  if (worker->first) worker->last->next = work;
  else worker->first = work;
  worker->last = work;
  pthread_cond_signal(&worker->come);
  pthread_mutex_unlock(&worker->lock);
}

bool gab_worker_is_done(gab_worker *worker, const gab_work *work)
{
  pthread_mutex_lock(&worker->lock);
  bool done = !work->pending;
  pthread_mutex_unlock(&worker->lock);
  return done;
}

void gab_worker_drain(gab_worker *worker)
{
  pthread_mutex_lock(&worker->lock);
  while (worker->first || worker->busy) pthread_cond_wait(&worker->gone, &worker->lock);
  pthread_mutex_unlock(&worker->lock);
}
