/* SPDX-License-Identifier: Apache-2.0 */
/* Restricts the listening socket of mpirun, which is bound to all interfaces, to the loopback interface. mpirun is
 * another program, so its socket is duplicated temporarily (pidfd_getfd(2)). */
#include "apps/launch/job.h"

#include "core/system/listeners.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined SYS_pidfd_open && defined SYS_pidfd_getfd

/* @return false if the system does not allow access to descriptors of the process */
static bool restrict_all(int process, DIR *descriptors)
{
  for (struct dirent *entry; (entry = readdir(descriptors));) {
    if (!isdigit((unsigned char)entry->d_name[0])) continue;
    const int own = (int)syscall(SYS_pidfd_getfd, process, atoi(entry->d_name), 0u);
    if (own < 0 && errno == EBADF) continue; /* closed meanwhile */
    if (own < 0) return false;
    const bool fine = !gab_listener_is(own) || gab_listener_restrict(own);
    close(own);
    if (!fine) return false;
  }
  return true;
}

void launch_close_doors(launch_job *job)
{
  char path[64];
  if (job->options->several_nodes || job->are_doors_open) return;
  snprintf(path, sizeof path, "/proc/%ld/fd", (long)job->mpirun);
  const int process = (int)syscall(SYS_pidfd_open, job->mpirun, 0u);
  DIR *descriptors = process >= 0 ? opendir(path) : NULL;
  const bool fine = descriptors && restrict_all(process, descriptors);
  const int why = errno;
  if (descriptors) closedir(descriptors);
  if (process >= 0) close(process);
  if (fine || why == ESRCH || why == ENOENT) return; /* it has ended */
  job->are_doors_open = true;
  if (job->options->verbose) launch_say("mpirun can be reached from other machines: %s", strerror(why));
}

#else

void launch_close_doors(launch_job *job) { (void)job; }

#endif
