/* SPDX-License-Identifier: Apache-2.0 */
/* Binds processes to their own cores, threads within, so that memory stays near the core that uses it and caches
 * stay warm. Only if there is a core for every process. */
#include "apps/launch/launch.h"

#include <sched.h>
#include <stdlib.h>

/* The lowest hardware thread of the core of `cpu`, as the kernel lists them; `cpu` itself if it does not. */
static int first_of_core(int cpu)
{
  char path[96], line[256];
  snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
  return launch_read_line(path, line, sizeof line) ? atoi(line) : cpu;
}

/* Cores, not their hardware threads, that this process may use. */
static int cores_of_machine(void)
{
  cpu_set_t mine;
  if (sched_getaffinity(0, sizeof mine, &mine) != 0) return 1;
  int cores = 0;
  for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
    if (!CPU_ISSET(cpu, &mine)) continue;
    int first = first_of_core(cpu);
    cores += first == cpu || first < 0 || first >= CPU_SETSIZE || !CPU_ISSET(first, &mine);
  }
  return cores > 0 ? cores : 1;
}

const char *launch_why_not_pinned(const launch_options *options, int threads)
{
  const int cores = cores_of_machine();
  const long wanted = (long)(options->processes + options->all_spares) * threads;
  double load = 0;
#ifndef GAB_OPEN_MPI
  return "that is known of Open MPI only";
#endif
  if (options->pin == LAUNCH_PIN_NEVER) return "as told";
  if (options->several_nodes) return "the job may span machines: see --mpi-args";
  if (wanted > cores) return "there are fewer cores than threads";
  if (options->pin == LAUNCH_PIN_ALWAYS) return NULL;
  /* Two bound jobs would share the first cores and leave the others idle. */
  if (2 * wanted <= cores) return "the job leaves cores for others on this machine";
  if (getloadavg(&load, 1) == 1 && (double)wanted + load > cores + 0.5) return "others compute here as well";
  return NULL;
}
