/* SPDX-License-Identifier: Apache-2.0 */
#include "blockforest/hdf5/hdf5_lock.h"
#include "blockforest/hdf5/hdf5_open.h"

#include <hdf5.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static H5E_auto2_t print;
static void *print_data;

void gab_hdf5_lock(void)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, gab_hdf5_prepare);
  pthread_mutex_lock(&lock);
  H5Eget_auto2(H5E_DEFAULT, &print, &print_data);
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

void gab_hdf5_unlock(void)
{
  H5Eset_auto2(H5E_DEFAULT, print, print_data);
  pthread_mutex_unlock(&lock);
}
