/* SPDX-License-Identifier: Apache-2.0 */
/* Number of spare processes, from the command line or the case. */
#include "apps/launch/launch.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOT_KNOWN = 0, MOST_SPARES = 100000000 };

bool launch_spares_read(const char *text, launch_options *options)
{
  char *end;
  errno = 0;
  const long count = strtol(text, &end, 10);
  const bool per_node = !strcmp(end, "/node");
  if (end == text || !isdigit((unsigned char)*text) || errno || count > MOST_SPARES || (*end && !per_node))
    return false;
  options->spares = (int)count;
  options->spares_per_node = per_node;
  return true;
}

/* ---------------------------------------------------------------- number of nodes */

static bool is_named_before(const char *list, const char *name, size_t length)
{
  for (const char *at = list; at < name; at += strcspn(at, ",") + 1)
    if (strcspn(at, ":,") == length && !strncmp(at, name, length)) return true;
  return false;
}

static int hosts_in(const char *list)
{
  int count = 0;
  for (const char *at = list; *at; at += *at == ',') {
    const size_t length = strcspn(at, ":,");
    count += length > 0 && !is_named_before(list, at, length);
    at += strcspn(at, ",");
  }
  return count;
}

static int nodes_of(const launch_options *options)
{
  static const char *const counts[] = {"SLURM_JOB_NUM_NODES", "SLURM_NNODES"};
  if (options->hosts) return hosts_in(options->hosts);
  if (!options->several_nodes) return 1;
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    const char *value = getenv(counts[i]);
    if (value && atoi(value) > 0) return atoi(value);
  }
  return NOT_KNOWN;
}

bool launch_spares_count(launch_options *options)
{
  const int nodes = options->spares_per_node && options->spares > 0 ? nodes_of(options) : 1;
  if (nodes == NOT_KNOWN) {
    launch_say("--spares %d/node: on how many nodes is not known here: name them with --hosts",
               options->spares);
    return false;
  }
  if (options->spares > (INT_MAX - options->processes) / nodes) {
    launch_say("--spares %d: too many processes", options->spares);
    return false;
  }
  options->all_spares = options->spares * nodes;
  return true;
}

void launch_spares_fit(launch_options *options, int places)
{
  const int nodes = options->spares_per_node ? nodes_of(options) : 1, left = places - options->processes;
  if (options->spares * nodes > left) options->spares = left > 0 ? left / nodes : 0;
  options->all_spares = options->spares * nodes;
}

/* ---------------------------------------------------------------- asking the case */

static bool is_run_of_gabion(char *const *program)
{
  const char *name = strrchr(program[0], '/');
  return !strcmp(name ? name + 1 : program[0], "gabion") && program[1] && !strcmp(program[1], "run");
}

/* In the child: the same command, which only prints the request of the case. Errors are reported by the run later. */
static void become_question(char *const *program, int to_launcher)
{
  int count = 0;
  while (program[count]) count++;
  char **words = calloc((size_t)count + 2, sizeof *words);
  if (!words) _exit(127);
  memcpy(words, program, (size_t)count * sizeof *words);
  words[count] = "--print-spares";
  const int null = open("/dev/null", O_RDWR);
  dup2(null, STDIN_FILENO);
  dup2(null, STDERR_FILENO);
  dup2(to_launcher, STDOUT_FILENO);
  execvp(words[0], words);
  _exit(127);
}

void launch_spares_ask(launch_options *options)
{
  int pipe_ends[2], status = 0;
  char line[64] = "";
  if (!is_run_of_gabion(options->program) || pipe(pipe_ends) != 0) return;
  fflush(NULL);
  const pid_t child = fork();
  if (child == 0) become_question(options->program, pipe_ends[1]);
  close(pipe_ends[1]);
  FILE *answer = fdopen(pipe_ends[0], "r");
  const bool said = child > 0 && answer && fgets(line, sizeof line, answer);
  if (answer) fclose(answer);
  else close(pipe_ends[0]);
  const bool ended =
      child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  line[strcspn(line, "\n")] = '\0';
  if (said && ended && launch_spares_read(line, options) && options->spares > 0 && options->verbose)
    launch_say("the case asks for spare processes: %s", line);
}
