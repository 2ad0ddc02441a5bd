/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/version.h"

static struct {
  bool differ;
  int major, minor;
} headers; /* of the program; zero while they match the library */

const char *gab_version(void) { return GAB_VERSION; }

/* Only a mismatch is recorded: the library calls itself through the same macros, with matching headers. */
void gab_version_record_headers(int major, int minor)
{
  if (major == GABION_VERSION_MAJOR && minor == GABION_VERSION_MINOR) return;
  headers.differ = true;
  headers.major = major;
  headers.minor = minor;
}

gab_status gab_version_check_headers(void)
{
  if (!headers.differ) return GAB_OK;
  GAB_FAIL(GAB_ERR_STATE,
           "the program was compiled with headers of Gabion %d.%d, the library is version " GAB_VERSION
           "; compile it with the headers of the library, or link libgabion %d.%d",
           headers.major, headers.minor, headers.major, headers.minor);
}
