/* SPDX-License-Identifier: Apache-2.0 */
#include "blockforest/hdf5/hdf5_open.h"

#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* H5Pset_file_locking() is in 1.10.7 and later ones of 1.10, and in 1.12.1 and later. Older ones read the environment; a user's own
 * setting stays. */
#if (H5_VERSION_GE(1, 10, 7) && !H5_VERSION_GE(1, 11, 0)) || H5_VERSION_GE(1, 12, 1)
#define SET_WITHOUT_LOCKS(access) H5Pset_file_locking(access, false, true)
void gab_hdf5_prepare(void) {}
#else
#define SET_WITHOUT_LOCKS(access) ((void)(access))
void gab_hdf5_prepare(void) { setenv("HDF5_USE_FILE_LOCKING", "FALSE", 0); }
#endif

/* Kept until HDF5 ends: to close it after a failure would clear what HDF5 says about that failure. */
static hid_t access_without_locks(void)
{
  static hid_t made = H5I_INVALID_HID;
  if (made < 0) {
    made = H5Pcreate(H5P_FILE_ACCESS);
    if (made >= 0) SET_WITHOUT_LOCKS(made);
  }
  return made < 0 ? H5P_DEFAULT : made;
}

int64_t gab_hdf5_open(const char *path) { return H5Fopen(path, H5F_ACC_RDONLY, access_without_locks()); }

int64_t gab_hdf5_create(const char *path)
{
  return H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access_without_locks());
}

/* What the errors say, the innermost one first. */
typedef struct failure {
  gab_status status;
  char words[200];
} failure;

static herr_t look_at(unsigned number, const H5E_error2_t *error, void *user)
{
  failure *found = user;
  const char *words = error->desc ? error->desc : "";
  if (number == 0) snprintf(found->words, sizeof found->words, "%.190s", words);
  /* So HDF5 writes of every call of the system that failed, in all versions. */
  if (strstr(words, "errno = ")) found->status = GAB_ERR_IO;
  else if (error->maj_num == H5E_RESOURCE && error->min_num == H5E_NOSPACE) found->status = GAB_ERR_MEMORY;
  else return 0;
  snprintf(found->words, sizeof found->words, "%.190s", words);
  return 1;
}

gab_status gab_hdf5_failure(const char *subject)
{
  failure found = {.status = GAB_ERR_CORRUPT};
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, look_at, &found);
  return gab_error_set(found.status, __FILE__, __LINE__, "%s: %s%s", subject,
                       found.status == GAB_ERR_CORRUPT ? "its content is damaged: " : "",
                       found.words[0] ? found.words : "HDF5 gives no reason");
}

gab_status gab_hdf5_unreadable(const char *path)
{
  char subject[1024];
  snprintf(subject, sizeof subject, "%.900s cannot be read as HDF5", path);
  (void)gab_hdf5_failure(subject);
  return GAB_ERR_IO;
}
